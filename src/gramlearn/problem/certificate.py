"""primal(X) - dual(lam) = sum_k [loss_k(t_k) + loss_k*(lam_k) - lam_k t_k]: how far an answer is from optimal.

`review` scans all constraints of a problem at an X(lam) whose lam is zero outside a working set. It gives the
certificate, and the violators outside the working set. No solver computes a gap of its own.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

from gramlearn._base.arrays import Array, clipped, constant, every_row, is_missing, namespace, read
from gramlearn._base.matrices import transpose
from gramlearn.problem.dual import DualPoint, Part
from gramlearn.problem.linear_maps import Products
from gramlearn.problem.problem import Problem
from gramlearn.problem.scan import Reference, scan

INF = float("inf")


class Certificate(NamedTuple):
    """How good an X is: primal - dual <= gap, and the largest relative violation of a hard constraint.

    The gap includes a bound on the rounding errors of the values. `scaling` is the number by which X(lam) was
    multiplied to satisfy the hard constraints, `least` the least size that the gap is relative to, and
    `prior_rounding` the part of the gap that is due to rounding of the prior, or of
    other numbers that were given.
    """

    primal: float
    dual: float
    gap: float
    violation: float
    scaling: float = 1.0
    least: float = 0.0
    prior_rounding: float = 0.0

    @property
    def relative_gap(self) -> float:
        """What the gap is above the prior rounding, against the larger of |primal|, |dual| and `least`."""
        if self.gap <= self.prior_rounding:
            return 0.0
        if not self.gap < INF:
            return INF
        primal = abs(self.primal) if abs(self.primal) < INF else 0.0
        against = max(abs(self.dual), primal, self.least)
        return (self.gap - self.prior_rounding) / against if against > 0 else INF

    @property
    def badness(self) -> float:
        """The worse of relative gap and violation."""
        return max(self.relative_gap, self.violation)

    def times(self, unit: float) -> "Certificate":
        """The same certificate with all values multiplied by `unit`."""
        names = ("primal", "dual", "gap", "least", "prior_rounding")
        return self._replace(**{name: getattr(self, name) * unit for name in names})

    def is_within(self, tol: float) -> bool:
        """Whether the relative gap and the violation are at most tol."""
        return self.badness <= tol


UNKNOWN = Certificate(INF, -INF, INF, INF)


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
    """Certify X(lam), where `point` is the dual restricted to `rows` and lam is zero elsewhere.

    With a stride only every `stride`-th constraint and those in `rows` are scanned, and the certificate is that
    of this smaller problem. Reviews of the same point may share their `products`.
    """
    parts = problem.dual.parts
    hard = any(part.loss.is_hard for part in parts)
    products = {} if products is None else products
    factor = point.conjugate.factor
    references = list(references or [None] * len(parts))
    gap, violation = point.gap, point.possible_violation
    violators, severities = [], []
    for k, part in enumerate(parts):
        is_whole = stride == 1
        # Hard constraints may make X be scaled, which needs the values of all constraints.
        known = references[k] if is_whole and not hard else None
        looked = scan(
            part, point.conjugate, products, stride=stride, known=known, exact=is_whole and hard
        )
        if is_whole:
            references[k] = looked.reference
        costly, t = looked.costly()
        new = is_missing(costly, rows[k])
        costly, t = costly[new], t[new]
        loss = part.loss.take(costly)
        xp = namespace(t)
        none = xp.zeros_like(t)
        t_error = _t_error(part, costly, factor)
        gap += read(xp.sum(loss.gap(t, none) + loss.gap_error(t, none, t_error)))
        violation = max(violation, loss.violation(t, part.unit, t_error))
        violators.append(costly)
        severities.append(loss.severity(t, part.unit))
    # Each value with its share of the rounding, so that the optimum lies between the two.
    rounding = point.noise / 2
    gap += point.gap_error + rounding
    dual, primal = point.value - rounding, point.value + gap
    least = problem.dual.least
    certificate = Certificate(
        primal, dual, gap + rounding, violation, least=least, prior_rounding=point.prior_rounding
    )
    if stride == 1 and violation > 0 and hard:
        certificate = _scaled(problem, point, references, certificate)
    return Review(certificate, violators, severities, references)


def _t_error(part: Part, rows: Array, factor: Array) -> Array:
    """How far the t of these rows may be off."""
    some = part.index_rows(rows)
    return some.t_error(some.map.restrict(factor), constant(1.0, factor, 1), factor)


def _scaled(
    problem: Problem, point: DualPoint, references: list[Reference | None], as_it_is: Certificate
) -> Certificate:
    """Where X violates a hard constraint but c X satisfies all of them, certify c X instead."""
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
            t_error = _t_error(part, every_row(part.size, t), factor)
            low, high = part.loss.domain()
            # Where it is, except for the rounding of the scaling.
            t = clipped(clipped(t, low=low), high=high)
            violation = max(violation, part.loss.violation(t, part.unit, t_error))
        else:
            primal += read(xp.sum(part.loss.value(t)))
    if primal == INF:
        return as_it_is
    primal += point.noise / 2 + point.gap_error
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
