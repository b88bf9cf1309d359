"""primal(X) - dual(lam) = sum_k [loss_k(t_k) + loss_k*(lam_k) - lam_k t_k]: the judge of every answer.

`review` looks at all constraints of a problem, at an X(lam) whose lam is zero outside a working set. It gives
the certificate, and the violators that the working set lacks. No solver computes a gap of its own.

Most constraints need no look. If X and an earlier R, at which every <A_k, R> is known, satisfy
low R <= X <= high R, then low <A_k, R> <= <A_k, X> <= high <A_k, R> for every A_k that is positive
semidefinite; where that interval lies on the right side of the bound, the constraint is satisfied. As X
settles, low and high approach 1 and only constraints near their bounds are left to look at.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    constant,
    every_row,
    is_missing,
    namespace,
    read,
    transpose,
    where_true,
)
from gramlearn.problem.dual import DualPoint, Part
from gramlearn.problem.linear_maps import Estimates, Products
from gramlearn.problem.problem import Problem

__all__ = ["UNKNOWN", "Certificate", "Reference", "Review", "review"]

INF = float("inf")


class Certificate(NamedTuple):
    """How good an X is: primal - dual <= gap, and the largest relative violation of a hard constraint.

    The gap includes a bound on the rounding errors of the values. `scaling` is the number by which X(lam)
    was multiplied to satisfy the hard constraints, `least` what the gap is measured against at least, and
    `dust` the part of the gap that rounding of the prior makes.
    """

    primal: float
    dual: float
    gap: float
    violation: float
    scaling: float = 1.0
    least: float = 0.0
    dust: float = 0.0

    @property
    def relative_gap(self) -> float:
        """What the gap is above dust, against the larger of |primal|, |dual| and `least`."""
        if self.gap <= self.dust:
            return 0.0
        if not self.gap < INF:
            return INF
        primal = abs(self.primal) if abs(self.primal) < INF else 0.0
        against = max(abs(self.dual), primal, self.least)
        return (self.gap - self.dust) / against if against > 0 else INF

    @property
    def badness(self) -> float:
        """The worse of relative gap and violation."""
        return max(self.relative_gap, self.violation)

    def times(self, unit: float) -> "Certificate":
        """The same where all values are so many times as large."""
        return self._replace(
            primal=self.primal * unit,
            dual=self.dual * unit,
            gap=self.gap * unit,
            least=self.least * unit,
            dust=self.dust * unit,
        )

    def is_within(self, tol: float) -> bool:
        """Whether the relative gap and the violation are at most tol."""
        return self.badness <= tol


UNKNOWN = Certificate(INF, -INF, INF, INF)


@final
@dataclass(frozen=True, eq=False)
class Reference:
    """<A_k, R> of every constraint of a part, at R = F F', with F^-1."""

    inverse_factor: Array | None  # None where nothing can be compared with R
    estimates: Estimates

    def interval(self, factor: Array) -> tuple[float, float] | None:
        """(low, high) with low R <= X <= high R, wider than rounding asks for; None where it asks for much."""
        if self.inverse_factor is None:
            return None
        xp = namespace(factor)
        sigma = xp.linalg.svdvals(self.inverse_factor @ factor)
        largest, least = read(sigma[0]), read(sigma[-1])
        eps = float(xp.finfo(factor.dtype).eps)
        margin = 32 * eps * factor.shape[0] * largest / least if least > 0 else INF
        if margin > 1e-4:
            return None
        return (least * (1 - margin)) ** 2, (largest * (1 + margin)) ** 2


@final
@dataclass(frozen=True, eq=False)
class Review:
    """What a look at all constraints found."""

    certificate: Certificate
    violators: list[Array]  # rows of each part outside the working set, ascending
    severities: list[Array]  # of the violators
    references: list[Reference | None]


def review(
    problem: Problem,
    rows: list[Array],
    point: DualPoint,
    references: list[Reference | None] | None = None,
    stride: int = 1,
    products: Products | None = None,
) -> Review:
    """Judge X(lam), where `point` is the dual cut down to `rows` and lam is zero elsewhere.

    With a stride only every so-manieth constraint is looked at, beside those in `rows`; the certificate
    then is one of that smaller problem. Reviews of the same point may share their `products`.
    """
    parts = problem.dual.parts
    hard = any(part.loss.is_hard for part in parts)
    products = {} if products is None else products
    factor = point.conjugate.factor
    references = list(references or [None] * len(parts))
    gap, violation = point.gap, point.possible_violation
    violators, severities = [], []
    for k, part in enumerate(parts):
        if stride == 1:
            # Hard constraints may make X be scaled, which needs the values of all constraints.
            low, high, references[k] = _bounds(
                part, point, None if hard else references[k], products, exact=hard
            )
            costly, t = _costly(part, factor, low, high)
        else:
            sample = every_row(-(-part.size // stride), point.lam) * stride
            some = part.select(sample)
            low, high, _ = _bounds(some, point, None, products, exact=False)
            costly, t = _costly(some, factor, low, high)
            costly = costly * stride
        new = is_missing(costly, rows[k])
        costly, t = costly[new], t[new]
        loss = part.loss.take(costly)
        xp = namespace(t)
        none = xp.zeros_like(t)
        doubt = _doubt(part, costly, factor)
        gap += read(xp.sum(loss.gap(t, none) + loss.slip(t, none, doubt)))
        violation = max(violation, loss.violation(t, part.unit, doubt))
        violators.append(costly)
        severities.append(loss.severity(t, part.unit))
    # Each value with its share of the rounding, so that the optimum lies between the two.
    rounding = point.noise / 2
    gap += point.slip + rounding
    dual, primal = point.value - rounding, point.value + gap
    least = problem.dual.least
    certificate = Certificate(primal, dual, gap + rounding, violation, least=least, dust=point.dust)
    if stride == 1 and violation > 0 and hard:
        certificate = _scaled(problem, point, references, certificate)
    return Review(certificate, violators, severities, references)


def _bounds(
    part: Part, point: DualPoint, known: Reference | None, products: Products, exact: bool
) -> tuple[Array, Array, Reference]:
    """(low, high) of t_k: from what is known, where that decides most constraints, or from a scan."""
    factor = point.conjugate.factor
    interval = None if known is None else known.interval(factor)
    if known is not None and interval is not None and part.map.is_nonnegative:
        low, high = known.estimates.bounds(part.offset, *interval)
        undecided = where_true(~part.loss.is_slack(low, high))
        if 2 * undecided.shape[0] < part.size:
            return low, high, known
    if exact:
        values = part.map.restrict(factor, products).traces(constant(1.0, factor, 1))
        estimates = Estimates(values, 0.0, 0.0)
        return *estimates.bounds(part.offset), Reference(None, estimates)
    estimates = part.map.estimates(factor, products)
    x = point.conjugate.spectrum
    xp = namespace(x)
    singular = read(xp.min(x)) <= 1e-14 * read(xp.max(x))
    known = Reference(None if singular else xp.linalg.inv(factor), estimates)
    return *estimates.bounds(part.offset), known


def _costly(part: Part, factor: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Find the constraints whose loss is not zero at X, and their t."""
    rows = where_true(~part.loss.is_slack(low, high))
    some = part.select(rows)
    t = some.offset + some.map.restrict(factor).traces(constant(1.0, factor, 1))
    costly = where_true(~some.loss.is_slack(t, t))
    return rows[costly], t[costly]


def _doubt(part: Part, rows: Array, factor: Array) -> Array:
    """How far the t of these rows may be off."""
    some = part.select(rows)
    return some.doubt(some.map.restrict(factor), constant(1.0, factor, 1), factor)


def _scaled(
    problem: Problem, point: DualPoint, references: list[Reference | None], as_it_is: Certificate
) -> Certificate:
    """Where X violates a hard constraint but c X satisfies all of them, judge c X instead."""
    values = [known.estimates.values for known in references if known is not None]
    scaling = _feasible_scaling(problem.dual.parts, values)
    if scaling is None:
        return as_it_is
    xp, violation = namespace(point.lam), 0.0
    factor = scaling**0.5 * point.conjugate.factor
    S = factor @ transpose(factor)
    primal = problem.divergence_of(factor) + problem.linear_value(S)
    for part, value in zip(problem.dual.parts, values, strict=True):
        if not part.size:
            continue
        t = part.offset + scaling * value
        if part.loss.is_hard:
            doubt = _doubt(part, every_row(part.size, t), factor)
            low, high = part.loss.domain()
            t = clipped(
                clipped(t, low=low), high=high
            )  # where it is but for the rounding of scaling
            violation = max(violation, part.loss.violation(t, part.unit, doubt))
        else:
            primal += read(xp.sum(part.loss.value(t)))
    if primal == INF:
        return as_it_is
    primal += point.noise / 2 + point.slip
    gap = max(primal - as_it_is.dual, 0.0)
    return as_it_is._replace(primal=primal, gap=gap, violation=violation, scaling=scaling)


def _feasible_scaling(parts: tuple[Part, ...], values: list[Array]) -> float | None:
    """Find the c > 0 nearest to 1 with offset + c value on the right side of every hard bound."""
    low, high = 0.0, INF
    for part, value in zip(parts, values, strict=True):
        if not part.loss.is_hard or not part.size:
            continue
        if not part.loss.can_be_slack:
            return None
        # Right is side (offset + c value) <= side b, that is, c slope <= room.
        xp = namespace(value)
        side = -1.0 if read(part.loss.box(value, 1)[0][0]) < 0 else 1.0
        slope = side * value
        room = side * (part.loss.conjugate_derivative(xp.zeros_like(value)) - part.offset)
        if bool(xp.any((slope == 0) & (room < 0))):
            return None
        ratio = room / xp.where(slope == 0, xp.ones_like(slope), slope)
        unlimited = xp.full_like(ratio, INF)
        high = min(high, read(xp.min(xp.where(slope > 0, ratio, unlimited))))
        low = max(low, read(xp.max(xp.where(slope < 0, ratio, -unlimited))))
    return None if high <= 0 or low > high else min(max(1.0, low), high)
