"""lam with Y0 - sum_k lam_k A_k < ceiling I, for problems whose start lies outside the domain of phi*.

A linear term can push Y out of the domain at lam = 0: above zero for LogDet, and for other regularizers to
where phi* overflows. The ceiling is the largest y at which it does not. Shifted by kappa I, with kappa above
the largest eigenvalue of Y, any lam is inside; Newton steps that raise log det(kappa I - Y), whatever the
losses cost, pull the eigenvalues down, and kappa follows them until it is not needed any more.

Where the steps end first there is no such lam. X = (kappa I - Y)^-1 then has <A_k, X> = 0, or on the side that
costs nothing. For LogDet the objective falls without end along such an X, if

    <Y0, X> - sum_k sup {lam <A_k, X> : lam in the box} >= 0,

which is checked before it is claimed. All other regularizers grow faster than any linear term: their optimum
exists, and where the same holds of Y0 - ceiling I it is too large to be written down.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, final

from gramlearn._arrays import (
    Array,
    cholesky_or_none,
    clipped,
    concat,
    constant,
    eye,
    namespace,
    read,
    symmetric_part,
    transpose,
    where_true,
)
from gramlearn.dual import Dual, Part
from gramlearn.losses import Loss
from gramlearn.regularizers import LogDet, Regularizer
from gramlearn.solvers._newton import newton_step
from gramlearn.solvers._symmetric import Coordinates
from gramlearn.status import Status

__all__ = ["Entry", "enter_domain"]

INF = float("inf")
_STEPS = 300
_BISECTIONS = 60
_CENTERED = 0.1  # a step that raises log det by less has come to rest, and kappa may go on
_ACCURACY = 0.1
_PROVEN = 1e-9  # share of what a sum is made of, below which it is zero
_STRAIGHTENED = 500_000  # entries of a system that is solved for a proof, at most
_ROUNDINGS = 512  # of the largest it could be, below which <A_k, X> is zero


class Entry(NamedTuple):
    """A lam inside the domain, or how a solve ends that has none."""

    lam: Array | None
    ending: Status | None = None


def enter_domain(dual: Dual, lam: Array) -> Entry:
    """Find a lam of the box at which the dual is finite."""
    ceiling = _ceiling(dual.regularizer, dual.like)
    losses = [_Costless.of_part(part, dual.like) for part in dual.parts]
    entry = _entered(dual, lam, losses, ceiling)
    is_known = entry.lam is not None or entry.ending is Status.UNBOUNDED
    if is_known or ceiling > 0 or not any(loss.is_cut for loss in losses):
        return entry
    # No price that can be written down is enough: are those beyond?
    beyond = _entered(dual, lam, [loss.whole(dual.like) for loss in losses], ceiling)
    return beyond if beyond.lam is None else Entry(None, Status.OVERFLOW)


def _entered(dual: Dual, lam: Array, losses: list["_Costless"], ceiling: float) -> Entry:
    """Find a lam at which no eigenvalue of Y is above the ceiling, in the boxes of these losses."""
    xp = namespace(lam)
    start = dual.origin.shifted(-ceiling)
    free = tuple(Part(p.map, loss, 0.0) for p, loss in zip(dual.parts, losses, strict=True))
    barrier = replace(dual, regularizer=LogDet(), parts=free, constant=0.0, origin=start)
    lo, hi = barrier.box
    lam = clipped(lam, lo, hi)
    top = _largest_eigenvalue(barrier, lam)
    shift = top + max(abs(top), read(xp.max(xp.abs(start.matrix))), 1.0)
    steps = _STEPS if dual.size else 0
    before, factor = lam, None
    for _ in range(steps):
        if top < -_rounding(barrier, lam):
            return Entry(_no_farther(barrier, before, lam, ceiling) if ceiling > 0 else lam)
        point = replace(barrier, origin=start.shifted(-shift)).at(lam)
        if point.value == -INF:
            break  # kappa is so near the largest eigenvalue that rounding hides the difference
        factor = point.conjugate.factor
        better = newton_step(point, _ACCURACY)
        rise = 0.0 if better is None else better.value - point.value
        if rise <= 1e-9 and _falls(barrier, factor):
            break
        before, lam = lam, lam if better is None else better.lam
        top = _largest_eigenvalue(barrier, lam)
        if rise <= _CENTERED:
            shift = top + 0.1 * (shift - top)
    if factor is None:
        # Nothing has a price to choose: along the eigenvector that Y0 rewards most.
        factor = xp.linalg.eigh(symmetric_part(start.matrix))[1][:, -1:]
    if ceiling > 0:
        return Entry(None, Status.OVERFLOW if _falls(barrier, factor) else Status.STALLED)
    return Entry(None, Status.UNBOUNDED if _falls(dual, factor) else Status.STALLED)


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


def _no_farther(dual: Dual, outside: Array, inside: Array, depth: float) -> Array:
    """A lam between the two at which the largest eigenvalue is below zero, but not by more than `depth`.

    Farther in an exponential is zero to the last bit, and shows no way back.
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


def _rounding(dual: Dual, lam: Array) -> float:
    """How far an eigenvalue of Y may be off."""
    xp = namespace(lam)
    made_of = dual.origin.spread + dual.spread(lam)
    return 4 * float(xp.finfo(lam.dtype).eps) * read(xp.sum(made_of))


def _falls(dual: Dual, factor: Array) -> bool:
    """Whether an objective of linear growth falls along a ray next to X = F F', or stays, up to rounding."""
    return any(_falls_along(dual, ray) for ray in _rays(dual, factor))


def _rays(dual: Dual, factor: Array) -> Iterator[Array]:
    """F of rays that may do, next to this one and beside all that is seen of it."""
    yield _straightened(dual, factor)
    yield _cut(dual, factor)
    V = _unseen(dual, factor)
    if 0 < V.shape[1] < dual.rank:
        yield _straightened(dual, V @ (transpose(V) @ factor))
        image = symmetric_part(transpose(V) @ (dual.origin.matrix @ V))
        yield V @ namespace(V).linalg.eigh(image)[1][:, -1:]


def _falls_along(dual: Dual, factor: Array) -> bool:
    """Whether it does along this X."""
    xp = namespace(factor)
    eps, one = float(xp.finfo(factor.dtype).eps), constant(1.0, factor, 1)
    unit = _unit(dual)
    size = read(xp.sum((unit[:, None] * factor) ** 2))
    slope = read(xp.sum(factor * (dual.origin.matrix @ factor)))
    for part in dual.parts:
        if not part.size:
            continue
        framed = part.map.restrict(factor)
        norms = part.map.restrict(eye(dual.rank, factor) / unit).diagonal(one[:, None])
        t, largest = framed.traces(one), xp.sqrt(clipped(norms, low=0.0)) * size
        lost = _ROUNDINGS * eps * xp.maximum(largest, framed.magnitudes(one))
        t = xp.where(xp.abs(t) <= lost, xp.zeros_like(t), t)
        lo, hi = part.loss.box(t, part.size)
        end = xp.where(t > 0, hi, xp.where(t < 0, lo, xp.zeros_like(t)))
        dearest = read(xp.sum(xp.abs(end * t)))
        if not dearest < INF:
            return False
        slope -= read(xp.sum(end * t))
        size += dearest
    return slope >= -_PROVEN * size


def _unit(dual: Dual) -> Array:
    """The unit of each row of F, in which Y0 has entries of about one."""
    spread = dual.origin.spread
    xp = namespace(spread)
    return xp.sqrt(xp.where(spread > 0, spread, xp.ones_like(spread)))


def _cut(dual: Dual, factor: Array) -> Array:
    """F without its small directions: towards the limit of kappa they vanish."""
    xp, unit = namespace(factor), _unit(dual)
    U, singular, _ = xp.linalg.svd(unit[:, None] * factor, full_matrices=False)
    large = where_true(singular > _PROVEN**0.5 * read(singular[0]))
    return xp.take(U * singular, large, axis=1) / unit[:, None]


def _unseen(dual: Dual, like: Array) -> Array:
    """A basis of what positive semidefinite A_k whose prices have no end see nothing of: <A_k, X> = 0 there."""
    xp = namespace(like)
    seen = constant(0.0, like, (dual.rank, dual.rank))
    one = constant(1.0, like, (1, 1))
    for part in dual.parts:
        if part.size and part.map.is_nonnegative:
            sizes = xp.sqrt(clipped(part.map.diagonal(one), low=0.0))
            endless = xp.isinf(part.loss.box(like[:, 0], part.size)[1]) & (sizes > 0)
            zero = xp.zeros_like(sizes)
            seen = seen + part.map.adjoint(
                xp.where(endless, 1 / xp.where(endless, sizes, 1 + zero), zero)
            )
    e, U = xp.linalg.eigh(symmetric_part(seen))
    return xp.take(U, where_true(e <= _PROVEN * max(read(e[-1]), 0.0)), axis=1)


def _straightened(dual: Dual, factor: Array) -> Array:
    """F of the X next to it with <A_k, X> = 0, or as near as can be, where a price has no end on that side."""
    xp, columns = namespace(factor), int(factor.shape[1])
    factor = factor / xp.max(xp.abs(factor))
    maps = [part.map.restrict(factor) for part in dual.parts]
    one, eps = constant(1.0, factor, 1), float(xp.finfo(factor.dtype).eps)
    t = concat([linear.traces(one) for linear in maps], factor)
    lost = eps * concat([linear.magnitudes(one) for linear in maps], factor)
    lo, hi = dual.box
    endless = where_true(xp.isinf(xp.where(t > 0, hi, lo)) & (xp.abs(t) > lost))
    if not 0 < int(endless.shape[0]) * (columns * (columns + 1) // 2) <= _STRAIGHTENED:
        return factor
    coordinates = Coordinates(columns, factor)
    rows, off = coordinates.some_rows(maps, endless), xp.take(t, endless)
    sizes = xp.max(xp.abs(rows), axis=1)  # not 0, as t is not
    S = coordinates.matrix(-xp.linalg.pinv(rows / sizes[:, None]) @ (off / sizes))
    C = cholesky_or_none(eye(columns, factor) + S)
    return factor if C is None else factor @ C


@final
@dataclass(frozen=True, eq=False)
class _Costless(Loss):
    """loss*(lam) = 0 on the box of another loss, as far as the loss* of that one does not overflow."""

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

    def whole(self, like: Array) -> "_Costless":
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

    def conjugate_derivative(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)

    def conjugate_second(self, lam: Array) -> Array:
        return namespace(lam).zeros_like(lam)

    def take(self, rows: Array) -> Self:
        xp = namespace(self.ends[0])
        lo, hi = (xp.take(end, rows) for end in self.ends)
        return replace(self, of=self.of.take(rows), ends=(lo, hi))

    def value(self, t: Array) -> Array:
        return namespace(t).zeros_like(t)

    def excess(self, t: Array) -> Array:
        return namespace(t).zeros_like(t)

    def scale(self, t: Array, unit: float = 1.0) -> Array:
        return namespace(t).full_like(t, unit)

    def is_slack(self, low: Array, high: Array) -> Array:
        return self.of.is_slack(low, high)

    def prepare(self, size: int, like: Array) -> Self:
        return replace(self, of=self.of.prepare(size, like))

    def describe(self, k: int) -> str:
        return self.of.describe(k)

    @classmethod
    def examples(cls) -> list[Loss]:
        return []
