"""maximize over lam in a box   phi*(Y0) - phi*(Y) - sum_k [loss_k*(lam_k) - offset_k lam_k].

Here Y = Y0 - sum_k lam_k A_k and Y0 = grad phi(X0). At any lam the matrix X(lam) = grad phi*(Y) is positive
semidefinite, and with t = offset + <A, X(lam)>

    gradient_k = t_k - loss_k*'(lam_k)
    primal(X(lam)) - dual(lam) = sum_k [loss_k(t_k) + loss_k*(lam_k) - lam_k t_k]

so the gap is a sum of nonnegative terms, each zero at the optimum. A `Dual` is the problem in this form, for
all constraints or for a working set; a `DualPoint` is one lam, with one factorization.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    constant,
    count_true,
    every_row,
    eye,
    machine_eps,
    namespace,
    read,
    rows_of,
)
from gramlearn.problem.hessian import Hessian
from gramlearn.problem.linear_maps import LinearMap, split
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import ConjugatePoint, Regularizer

INF = float("inf")
LEAST_SHARE = 1e-6  # the least share of the size of a problem that rounding leaves visible
_LEAST_ROUNDINGS = 1e5  # the same in rounding errors, for single precision


@final
@dataclass(frozen=True, eq=False)
class Part:
    """One term: t = offset + map(X), and the loss of t.

    `unit` is the usual size of t, against which violations of a bound of zero are measured.
    """

    map: LinearMap
    loss: Loss
    offset: Any
    unit: float = 1.0

    @property
    def size(self) -> int:
        """The number of its constraints."""
        return self.map.size

    def t_error(self, framed: LinearMap, x: Array, frame: Array) -> Array:
        """How far t may be off, by rounding, where X is diag(x) in the frame of this map.

        A direction z nearly orthogonal to a large vector of the frame is less so once it is rounded: each
        z'q_a is off by a rounding of |z| |q_a|, and t = sum_a x_a (z'q_a)^2 accordingly.
        """
        xp = namespace(x)
        eps = machine_eps(x)
        norms = (
            clipped(self.map.diagonal(constant(1.0, x, (1, 1))), low=0.0) if self.size else x[:0]
        )
        cross_sizes = xp.sqrt(framed.magnitudes(x**2 * xp.sum(frame**2, axis=0)))
        term_sizes = framed.magnitudes(x) + xp.abs(self.offset + 0 * x[:1])
        return eps * xp.maximum(4 * term_sizes, 2 * term_sizes + norms**0.25 * cross_sizes)

    def materialize_rows(self, rows: Array) -> "Part":
        """Keep these constraints only, in the form that is fastest to work with."""
        return self._cut(self.map.materialize_rows(rows), rows)

    def index_rows(self, rows: Array) -> "Part":
        """Keep these constraints only, in the form they have."""
        return self._cut(self.map.index_rows(rows), rows)

    def every(self, stride: int, like: Array) -> "Part":
        """Keep every `stride`-th constraint only; where that can be, without a copy."""
        if stride == 1:
            return self
        return self._cut(self.map.every(stride, like), slice(None, None, stride))

    def _cut(self, linear: LinearMap, rows: Array | slice) -> "Part":
        offset = rows_of(self.offset, rows)
        return replace(self, map=linear, loss=self.loss.take(rows), offset=offset)


@final
@dataclass(frozen=True, eq=False)
class Origin:
    """Y0 = diag(slope) - sum_k price_k A_k: grad phi at the prior, less the terms of fixed price.

    The r x r matrix is made only when asked for: where X is a large kernel, Y stays sparse.
    """

    slope: Array
    fixed: tuple[tuple[Part, Array], ...] = ()

    @cached_property
    def matrix(self) -> Array:
        """Y0, written out."""
        Y0 = eye(self.slope.shape[0], self.slope) * self.slope
        for part, price in self.fixed:
            Y0 = Y0 - part.map.adjoint(price)
        return Y0

    @cached_property
    def spread(self) -> Array:
        """s >= 0 with |Y0[i, j]| <= sqrt(s_i s_j), before the terms of fixed price cancel."""
        sizes = (part.map.spread(price) for part, price in self.fixed)
        return sum(sizes, start=namespace(self.slope).abs(self.slope))

    def shifted(self, by: float) -> "Origin":
        """Y0 + by I."""
        return replace(self, slope=self.slope + by)


@final
@dataclass(frozen=True, eq=False)
class Dual:
    """The dual over a list of parts; lam is one vector, part after part.

    `constant` is phi*(Y0) of the prior, and what terms of fixed price add to the value.
    """

    regularizer: Regularizer
    origin: Origin
    constant: float
    parts: tuple[Part, ...]

    @property
    def like(self) -> Array:
        """A vector, for its library, type and device."""
        return self.origin.slope

    @property
    def rank(self) -> int:
        """The size of X."""
        return int(self.origin.slope.shape[0])

    @property
    def size(self) -> int:
        """The number of dual variables."""
        return sum(part.size for part in self.parts)

    @property
    def every_row(self) -> list[Array]:
        """The numbers of all constraints of each part."""
        return [every_row(part.size, self.like) for part in self.parts]

    @property
    def least(self) -> float:
        """The least optimum that rounding of phi*(Y0) does not hide: a millionth; in single, a hundredth."""
        return max(LEAST_SHARE, _LEAST_ROUNDINGS * machine_eps(self.like)) * abs(self.constant)

    @cached_property
    def eigenvalue_error(self) -> float:
        """How far an eigenvalue of Y0 may be off, by rounding."""
        xp = namespace(self.like)
        return 8 * machine_eps(self.like) * read(xp.sum(self.origin.spread))

    def prior_rounding(self, n_zero: int) -> float:
        """phi* of `n_zero` eigenvalues of Y that are zero up to that error: no gap is known to be smaller."""
        if self.regularizer.keeps_range:
            return 0.0
        error = constant(self.eigenvalue_error, self.like, 1)
        return n_zero * read(self.regularizer.conjugate(error)[0])

    def prior_rounding_among(self, y: Array) -> float:
        """The prior rounding of these eigenvalues of Y."""
        return self.prior_rounding(count_true(namespace(y).abs(y) <= self.eigenvalue_error))

    def split(self, vector: Array) -> list[Array]:
        """Cut a vector over all constraints into its parts."""
        return split(self.parts, vector)

    def each(self, function: Callable[..., Array], *vectors: Array) -> Array:
        """Join function(part, piece, ...) over the parts."""
        pieces = zip(self.parts, *(self.split(v) for v in vectors), strict=True)
        return concat([function(*args) for args in pieces], self.like)

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """(lo, hi), the box of lam."""
        ends = [part.loss.box(self.like, part.size) for part in self.parts]
        return concat([lo for lo, _ in ends], self.like), concat([hi for _, hi in ends], self.like)

    @cached_property
    def squared_norms(self) -> Array:
        """(<A_k, A_k>)_k."""
        one = constant(1.0, self.like, (1, 1))
        return concat([part.map.diagonal(one) for part in self.parts if part.size], self.like)

    @cached_property
    def idle(self) -> Array:
        """Hard constraints with A_k = 0, up to rounding: they hold or they do not, and no price helps."""
        eps = machine_eps(self.like)
        return self.each(
            lambda p, norms: (norms <= (8 * eps * p.map.magnitude()) ** 2) & p.loss.is_hard,
            self.squared_norms,
        )

    def ceiling(self, lam: Array) -> Array:
        """How far up a step from lam may go: to the end of the box, or near it where the loss* is +inf."""
        return self.each(
            lambda part, v, hi: v + 0.95 * (hi - v) if part.loss.has_open_end else hi,
            lam,
            self.box[1],
        )

    def violation(self, t: Array, t_errors: Array | None = None) -> float:
        """How far a t lies (or may lie) outside the domain of its loss, relative to the bound; the largest."""
        pieces = self.split(t)
        unsure = [None] * len(pieces) if t_errors is None else self.split(t_errors)
        parts = zip(self.parts, pieces, unsure, strict=True)
        return max((p.loss.violation(piece, p.unit, d) for p, piece, d in parts), default=0.0)

    def t_errors(self, framed: list[LinearMap], x: Array, frame: Array) -> Array:
        """How far every t may be off, by rounding; see `Part.t_error`."""
        pairs = zip(self.parts, framed, strict=True)
        return concat([part.t_error(mapped, x, frame) for part, mapped in pairs], self.like)

    def t_of(self, framed: list[LinearMap], x: Array) -> Array:
        """t of X = diag(x) in the frame of these maps."""
        pairs = zip(self.parts, framed, strict=True)
        return concat([part.offset + mapped.traces(x) for part, mapped in pairs], self.like)

    def multiple_at_bounds(self, x: Array) -> float:
        """The c at which t of c diag(x), before it cancels, is as large as the bounds of some part."""
        return largest_ratio(self.sizes_at(x))

    def sizes_at(self, x: Array) -> list[tuple[float, float]]:
        """For every part the sum of the sizes of its bounds, and that of t of diag(x) before it cancels."""
        xp, found = namespace(self.like), []
        for part in self.parts:
            zero = constant(0.0, self.like, part.size)
            asked = read(xp.sum(xp.abs(part.loss.conjugate_derivative(zero) - part.offset)))
            found.append((asked, read(xp.sum(part.map.magnitudes(x)))))
        return found

    def gap(self, t: Array, lam: Array) -> float:
        """sum_k [loss_k(t_k) + loss_k*(lam_k) - lam_k t_k]."""
        gaps = self.each(lambda p, t, v: p.loss.gap(t, v), t, lam)
        return max(read(namespace(gaps).sum(gaps)), 0.0)  # rounding may leave a little less

    def gap_error(self, t: Array, lam: Array, t_errors: Array) -> float:
        """How much larger the gap may be, since every t is rounded."""
        errors = self.each(lambda p, t, v, d: p.loss.gap_error(t, v, d), t, lam, t_errors)
        return read(namespace(errors).sum(errors))

    def materialize_rows(self, rows: list[Array]) -> "Dual":
        """Cut down to these rows of each part."""
        parts = (p.materialize_rows(chosen) for p, chosen in zip(self.parts, rows, strict=True))
        return replace(self, parts=tuple(parts))

    def adjoint(self, lam: Array) -> Array:
        """sum_k lam_k A_k."""
        total = constant(0.0, self.like, (self.rank, self.rank))
        for part, piece in zip(self.parts, self.split(lam), strict=True):
            if part.size:
                total = total + part.map.adjoint(piece)
        return total

    def spread(self, v: Array) -> Array:
        """s >= 0 with sum_k |v_k| |A_k[i, j]| <= sqrt(s_i s_j): of sum_k v_k A_k before it cancels."""
        parts = zip(self.parts, self.split(v), strict=True)
        spreads = (part.map.spread(piece) for part, piece in parts if part.size)
        return sum(spreads, start=constant(0.0, self.like, self.rank))

    def at(self, lam: Array) -> "DualPoint":
        """Evaluate the dual at lam."""
        return DualPoint(self, lam)

    def next_to(self, lam: Array) -> "DualPoint | None":
        """The point at lam, or near it where rounding in another order puts a singular Y outside the domain."""
        for less in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
            point = self.at(lam - less * lam)
            if point.value > -INF:
                return point
        return None


def largest_ratio(sizes: Iterable[tuple[float, float]]) -> float:
    """The largest ratio of two sizes that are numbers, or 1."""
    known = (asked / given for asked, given in sizes if 0 < asked < INF and 0 < given < INF)
    return max(known, default=1.0)


@final
class DualPoint:
    """The dual at one lam. The value is computed at once, everything else when asked for."""

    def __init__(self, dual: Dual, lam: Array) -> None:
        self.dual = dual
        self.lam = lam
        xp = namespace(lam)
        cost = dual.each(lambda p, v: p.loss.conjugate(v) - p.offset * v, lam)
        self._cost = read(xp.sum(cost))
        self.value = -INF
        if self.is_at_prior:
            self.value = 0.0
        elif self._cost < INF:
            value = dual.constant - self.conjugate.value - self._cost
            self.value = value if value > -INF else -INF  # inf - inf overflows, too

    @cached_property
    def is_at_prior(self) -> bool:
        """Whether nothing has a price: X(lam) is the prior, and the value 0, to the last bit."""
        return not self.dual.origin.fixed and not bool(namespace(self.lam).any(self.lam != 0))

    @cached_property
    def conjugate(self) -> ConjugatePoint:
        """phi* at Y = Y0 - sum_k lam_k A_k."""
        return self.dual.regularizer.at(self.dual.origin.matrix - self.dual.adjoint(self.lam))

    @cached_property
    def noise(self) -> float:
        """A bound on the rounding errors of the dual and the primal value together.

        Both the terms that Y is the sum of, which may cancel, and the terms of the value are rounded.
        """
        if self.is_at_prior:
            return 0.0
        xp, dual = namespace(self.lam), self.dual
        eps = machine_eps(self.lam)
        costs = dual.each(lambda p, v: xp.abs(p.loss.conjugate(v)) + xp.abs(p.offset * v), self.lam)
        terms = abs(dual.constant) + abs(self.conjugate.value) + read(xp.sum(costs))
        term_sizes = dual.origin.spread + dual.spread(self.lam)
        return 8 * eps * terms + self.conjugate.rounding(4 * eps * term_sizes)

    @cached_property
    def gap_error(self) -> float:
        """How much larger the gap may be, since every t is rounded."""
        return self.dual.gap_error(self.t, self.lam, self._t_errors)

    @property
    def prior_rounding(self) -> float:
        """The part of the gap that rounding of the prior makes."""
        y = namespace(self.lam).linalg.diagonal(self.conjugate.image)
        return self.dual.prior_rounding_among(y)

    @property
    def possible_violation(self) -> float:
        """The same as `violation`, with the rounding of every t."""
        return self.dual.violation(self.t, self._t_errors)

    @cached_property
    def _t_errors(self) -> Array:
        return self.dual.t_errors(self._framed, self.conjugate.spectrum, self.conjugate.frame)

    @cached_property
    def _framed(self) -> list[LinearMap]:
        return [part.map.restrict(self.conjugate.frame) for part in self.dual.parts]

    @cached_property
    def t(self) -> Array:
        """t_k = offset_k + <A_k, X(lam)>."""
        return self.dual.t_of(self._framed, self.conjugate.spectrum)

    @cached_property
    def gradient(self) -> Array:
        """t - loss*'(lam)."""
        return self.t - self.dual.each(lambda p, v: p.loss.conjugate_derivative(v), self.lam)

    @cached_property
    def gap(self) -> float:
        """primal(X(lam)) - dual(lam) over the constraints of this dual."""
        return self.dual.gap(self.t, self.lam)

    @cached_property
    def violation(self) -> float:
        """How far a t lies outside the domain of its loss, relative to the bound; the largest."""
        return self.dual.violation(self.t)

    def hessian(self, rows: Array) -> Hessian:
        """Minus the second derivative of the dual, on these rows of lam."""
        xp = namespace(self.lam)
        maps, seconds, start = [], [], 0
        for part, framed in zip(self.dual.parts, self._framed, strict=True):
            inside = rows[(rows >= start) & (rows < start + part.size)] - start
            everything = inside.shape[0] == part.size
            maps.append(framed if everything else framed.materialize_rows(inside))
            lam = xp.take(self.lam[start : start + part.size], inside)
            loss = part.loss if everything else part.loss.take(inside)
            seconds.append(loss.conjugate_second(lam))
            start += part.size
        Phi = self.conjugate.divided_differences
        return Hessian(maps, Phi, concat(seconds, self.lam), self.dual.rank)
