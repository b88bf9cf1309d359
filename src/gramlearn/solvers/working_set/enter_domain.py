"""lam with Y0 - sum_k lam_k A_k < ceiling I, for problems whose start lies outside the domain of phi*.

A linear term can push Y out of the domain at lam = 0: above zero for LogDet, and for other regularizers to
where phi* overflows. The ceiling is the largest y at which it does not. Shifted by kappa I, with kappa above
the largest eigenvalue of Y, any lam is inside. Newton steps that raise log det(kappa I - Y), without regard to
the losses, pull the eigenvalues down, and kappa follows them until it is not needed any more.

Where the steps end first there is no such lam. X = (kappa I - Y)^-1 then has every <A_k, X> zero or on the side
that costs nothing. For LogDet the objective falls without end along such an X if

    <Y0, X> - sum_k sup {lam <A_k, X> : lam in the box} >= 0,

which is checked, rounding included, before it is claimed. Such an X vanishes on the range of every positive
semidefinite A_k with an unbounded price, where prices lose all digits: so X is sought on the null space of
these A_k, too. All other regularizers grow faster than any linear term: their optimum exists, and where the
same inequality holds for Y0 - ceiling I it overflows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, final

from gramlearn._base.arrays import Array, clipped, constant, machine_eps, namespace, read
from gramlearn._base.matrices import symmetric_part, transpose
from gramlearn.problem.dual import Dual, Origin, Part
from gramlearn.problem.losses import Loss
from gramlearn.problem.regularizers import LogDet
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import Status
from gramlearn.solvers.working_set.newton_step import newton_step
from gramlearn.solvers.working_set.rays import (
    common_null_space,
    negligible_share,
    null_space,
    steepest_fall,
)

INF = float("inf")
_STEPS = 300
_BISECTIONS = 60
_CENTERED = 0.1  # a step that raises log det by less has converged, and kappa may follow
_NEARER = 0.1  # share of its distance from the largest eigenvalue that kappa keeps then
_ACCURACY = 0.1


class Entry(NamedTuple):
    """A lam inside the domain, or how the solve ends without one."""

    lam: Array | None
    ending: Status | None = None


def enter_domain(dual: Dual, lam: Array) -> Entry:
    """Find a lam of the box at which the dual is finite."""
    ceiling = _ceiling(dual.regularizer, dual.like)
    losses = [_Costless.of_part(part, dual.like) for part in dual.parts]
    V, seen = common_null_space(dual)
    if _falls_on_face(dual, losses, ceiling, V, seen):
        return Entry(None, Status.OVERFLOW if ceiling > 0 else Status.UNBOUNDED)
    entry = _enter(dual, lam, losses, ceiling)
    is_known = entry.lam is not None or entry.ending is Status.UNBOUNDED
    if is_known or ceiling > 0 or not any(loss.is_cut for loss in losses):
        return entry
    # No price below overflow is enough: would larger ones be?
    beyond = _enter(dual, lam, [loss.on_whole_box(dual.like) for loss in losses], ceiling)
    return beyond if beyond.lam is None else Entry(None, Status.OVERFLOW)


def _enter(dual: Dual, lam: Array, losses: list["_Costless"], ceiling: float) -> Entry:
    """Find a lam at which no eigenvalue of Y is above the ceiling, in the boxes of these losses."""
    xp = namespace(lam)
    barrier, limits = _barrier(dual, losses, ceiling), _limits(dual, losses, ceiling)
    lam, before, is_inside, steepest = _pull_down(barrier, lam, lambda F: steepest_fall(limits, F))
    if is_inside:
        return Entry(_pull_back(barrier, before, lam, ceiling) if ceiling > 0 else lam)
    without_end = Status.OVERFLOW if ceiling > 0 else Status.UNBOUNDED
    falls = steepest >= -negligible_share(dual)
    if not falls:
        # Where prices have grown without end, X has to vanish on the range of sum_k lam_k A_k.
        none = xp.zeros_like(lam, dtype=xp.bool)
        falls = _falls_on_face(dual, losses, ceiling, null_space(dual.adjoint(lam)), none)
    return Entry(None, without_end if falls else Status.STALLED)


def _barrier(dual: Dual, losses: list["_Costless"], ceiling: float) -> Dual:
    """log det(kappa I - Y) as a dual, for kappa = ceiling."""
    free = tuple(Part(p.map, loss, 0.0) for p, loss in zip(dual.parts, losses, strict=True))
    origin = dual.origin.shifted(-ceiling)
    return replace(dual, regularizer=LogDet(), parts=free, constant=0.0, origin=origin)


def _limits(dual: Dual, losses: list["_Costless"], ceiling: float) -> list[Dual]:
    """The duals to check for a fall: this one, or that of Y0 - ceiling I, with and without overflow."""
    if not ceiling > 0:
        return [dual]
    everything = [loss.on_whole_box(dual.like) for loss in losses]
    return [_barrier(dual, some, ceiling) for some in (losses, everything)]


def _pull_down(
    barrier: Dual, lam: Array, fall: Callable[[Array], float]
) -> tuple[Array, Array, bool, float]:
    """(lam, the one before it, whether Y < 0 there, the steepest `fall` found along some X)."""
    xp, start = namespace(lam), barrier.origin
    lam = before = clipped(lam, *barrier.box)
    top = _largest_eigenvalue(barrier, lam)
    shift = top + max(abs(top), read(xp.max(xp.abs(start.matrix))), 1.0)
    factor = None
    for _ in range(_STEPS if barrier.size else 0):
        term_sizes = start.spread + barrier.spread(lam)
        if top < -4 * machine_eps(lam) * read(xp.sum(term_sizes)):  # beyond its rounding
            return lam, before, True, -INF
        point = replace(barrier, origin=start.shifted(-shift)).at(lam)
        if point.value == -INF or not point.conjugate.value < INF:
            break  # kappa equals the largest eigenvalue up to rounding
        factor = point.conjugate.factor
        better = newton_step(point, _ACCURACY)
        rise = 0.0 if better is None else better.value - point.value
        is_centered = rise <= _CENTERED
        steepest = fall(factor) if is_centered else -INF
        if steepest > 0:
            return lam, before, False, steepest
        before, lam = lam, lam if better is None else better.lam
        top = _largest_eigenvalue(barrier, lam)
        nearer = top + _NEARER * (shift - top) if is_centered else shift
        if better is None and not nearer < shift:
            break
        shift = nearer
    if factor is None:
        # There are no prices to choose: take the eigenvector that Y0 rewards most.
        factor = xp.linalg.eigh(symmetric_part(start.matrix))[1][:, -1:]
    return lam, before, False, fall(factor)


def _falls_on_face(
    dual: Dual, losses: list["_Costless"], ceiling: float, V: Array, seen: Array
) -> bool:
    """Whether the objective falls along some X = V S V'; the rows `seen` vanish there and have no prices."""
    if not 0 < V.shape[1] < dual.rank:
        return False
    xp = namespace(V)
    slope, U = xp.linalg.eigh(symmetric_part(transpose(V) @ (dual.origin.matrix @ V)))
    Q = V @ U
    parts = tuple(replace(part, map=part.map.restrict(Q)) for part in dual.parts)
    face = replace(dual, origin=Origin(slope), parts=parts)
    pieces = zip(losses, dual.split(seen), strict=True)
    barrier = _barrier(face, [loss.without(rows) for loss, rows in pieces], ceiling)
    limits, start = _limits(dual, losses, ceiling), constant(0.0, V, dual.size)
    return _pull_down(barrier, start, lambda F: steepest_fall(limits, Q @ F))[-1] > 0


def _ceiling(regularizer: Regularizer, like: Array) -> float:
    """The largest power of two at which h* is finite, with room for squares; 0 where there is none."""
    xp = namespace(like)
    most = float(xp.finfo(like.dtype).max) ** 0.5
    for power in range(int(xp.log2(constant(most, like, 1))[0]), -64, -1):
        if read(regularizer.conjugate(constant(2.0**power, like, 1))[0]) <= most:
            return float(2.0**power)
    return 0.0


def _largest_eigenvalue(dual: Dual, lam: Array) -> float:
    Y = symmetric_part(dual.origin.matrix - dual.adjoint(lam))
    return read(namespace(Y).linalg.eigvalsh(Y)[-1])


def _pull_back(dual: Dual, outside: Array, inside: Array, depth: float) -> Array:
    """A lam between the two at which the largest eigenvalue is below zero, but not by more than `depth`.

    Farther inside, an exponential underflows to zero, and so does its gradient.
    """
    for _ in range(_BISECTIONS):
        if _largest_eigenvalue(dual, inside) >= -depth:
            break
        middle = (outside + inside) / 2
        if _largest_eigenvalue(dual, middle) < 0:
            inside = middle
        else:
            outside = middle
    return inside


@final
@dataclass(frozen=True, eq=False)
class _Costless(Loss):
    """loss*(lam) = 0 on the box of another loss, except where the loss* of that one overflows."""

    of: Loss
    ends: tuple[Any, Any]
    is_cut: bool = False

    @staticmethod
    def of_part(part: Part, like: Array) -> "_Costless":
        xp = namespace(like)
        lo, hi = part.loss.box(like, part.size)
        most = float(xp.finfo(like.dtype).max) ** 0.25
        ends = []
        for side, end in ((-1.0, lo), (1.0, hi)):
            reach, size = end, most
            unknown = xp.isinf(end)
            while bool(xp.any(unknown)) and size > 1 / most:
                tried = xp.where(unknown, side * size, xp.zeros_like(end))
                finite = unknown & (part.loss.conjugate(tried) <= most)
                reach = xp.where(finite, tried, reach)
                unknown, size = unknown & ~finite, size / 2
            ends.append(xp.where(unknown, xp.zeros_like(end), reach))
        is_cut = bool(xp.any(ends[0] != lo) | xp.any(ends[1] != hi))
        return _Costless(of=part.loss, ends=(ends[0], ends[1]), is_cut=is_cut)

    def without(self, rows: Array) -> "_Costless":
        """The same with prices of zero for these rows."""
        lo, hi = (
            namespace(end).where(rows, namespace(end).zeros_like(end), end) for end in self.ends
        )
        return replace(self, ends=(lo, hi))

    def on_whole_box(self, like: Array) -> "_Costless":
        """The same on the whole box."""
        return replace(self, ends=self.of.box(like, int(self.ends[0].shape[0])), is_cut=False)

    @property
    def has_open_end(self) -> bool:
        return self.of.has_open_end

    @property
    def can_be_slack(self) -> bool:
        return self.of.can_be_slack

    def box(self, like: Array, size: int) -> tuple[Array, Array]:
        del like, size
        return self.ends

    def conjugate(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)

    conjugate_derivative = conjugate_second = conjugate

    def value(self, t: Array) -> Array:
        return namespace(t).zeros_like(t)

    def take(self, rows: Array) -> Self:
        xp = namespace(self.ends[0])
        lo, hi = (xp.take(end, rows) for end in self.ends)
        return replace(self, of=self.of.take(rows), ends=(lo, hi))

    def is_slack(self, low: Array, high: Array) -> Array:
        return self.of.is_slack(low, high)

    def prepare(self, size: int, like: Array) -> Self:
        return replace(self, of=self.of.prepare(size, like))

    def describe(self, k: int) -> str:
        return self.of.describe(k)

    @classmethod
    def examples(cls) -> list[Loss]:
        return []
