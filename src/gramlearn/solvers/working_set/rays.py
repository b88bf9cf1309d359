"""<Y0, X> - sum_k sup {lam <A_k, X> : lam in the box}: how steeply an objective of linear growth falls along X.

The rays are variants of a given X: moved to <A_k, X> = 0 where prices are unbounded, or without its small
directions. The fall that is claimed holds whatever rounding may have done.
"""

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    constant,
    eye,
    machine_eps,
    namespace,
    read,
    where_true,
)
from gramlearn._base.matrices import cholesky_or_none, symmetric_part
from gramlearn.problem.dual import Dual, Part
from gramlearn.solvers.symmetric import Coordinates

INF = float("inf")
_CORRECTIONS = 4  # of a ray
_PROVEN = 1e-9  # a sum below this share of its terms is zero
_STRAIGHTENED = 500_000  # the most entries of a system that is solved for a proof
_ROUNDINGS = 512  # an <A_k, X> of fewer rounding errors of its largest possible value is zero


def steepest_fall(limits: list[Dual], factor: Array) -> float:
    """How steeply an objective of linear growth falls along a ray next to X = F F', see `_fall_along`."""
    nearby = _straighten, _drop_small_directions
    return max(_fall_along(dual, ray(dual, factor)) for dual in limits for ray in nearby)


def _fall_along(dual: Dual, factor: Array) -> float:
    """How steeply the objective falls along this X, relative to the sizes of all terms, less its rounding.

    An unbounded price forbids an <A_k, X> on its side that exceeds rounding. Other prices are paid for the
    largest <A_k, X> within rounding.
    """
    xp, unit = namespace(factor), _unit(dual)
    eps = machine_eps(factor)
    size = whole = read(xp.sum((unit[:, None] * factor) ** 2))
    slope = read(xp.sum(factor * (dual.origin.matrix @ factor)))
    for part in dual.parts:
        if part.size:
            t, lost = _growth(part, factor, unit, whole)
            lo, hi = part.loss.box(t, part.size)
            dearest = xp.maximum(_largest_cost(hi, t, lost), _largest_cost(-lo, -t, lost))
            cost = read(xp.sum(dearest))
            slope, size = slope - cost, size + cost
    if not size < INF:
        return -INF
    return slope / size - _ROUNDINGS * eps if size > 0 else 0.0


def _largest_cost(end: Array, t: Array, lost: Array) -> Array:
    """sup {lam t : 0 <= lam <= end}, for any t within `lost` of this one; an infinite end ignores t <= lost."""
    xp = namespace(t)
    zero = xp.zeros_like(t)
    is_endless = xp.isinf(end)
    forbidden = xp.where(t > lost, xp.full_like(t, INF), zero)
    known = xp.where(is_endless, zero, end)
    return xp.where(is_endless, forbidden, known * clipped(t + lost, low=0.0))


def _growth(part: Part, factor: Array, unit: Array, size: float) -> tuple[Array, Array]:
    """(<A_k, X>, its rounding error) of X = F F', whose size is that of F in these units."""
    xp = namespace(factor)
    one, eps = constant(1.0, factor, 1), machine_eps(factor)
    framed = part.map.restrict(factor)
    norms = part.map.restrict(eye(int(unit.shape[0]), factor) / unit).diagonal(one[:, None])
    largest = xp.sqrt(clipped(norms, low=0.0)) * size
    return framed.traces(one), _ROUNDINGS * eps * xp.maximum(largest, framed.magnitudes(one))


def negligible_share(dual: Dual) -> float:
    """A share that counts as zero in this precision."""
    return max(_PROVEN, _ROUNDINGS * machine_eps(dual.like))


def _unit(dual: Dual) -> Array:
    """The unit of each row of F, in which Y0 has entries of about one."""
    spread = dual.origin.spread
    xp = namespace(spread)
    return xp.sqrt(xp.where(spread > 0, spread, xp.ones_like(spread)))


def _drop_small_directions(dual: Dual, factor: Array) -> Array:
    """F without its small directions, which vanish in the limit of kappa."""
    xp, unit = namespace(factor), _unit(dual)
    U, singular, _ = xp.linalg.svd(unit[:, None] * factor, full_matrices=False)
    large = where_true(singular > negligible_share(dual) ** 0.5 * read(singular[0]))
    return xp.take(U * singular, large, axis=1) / unit[:, None]


def common_null_space(dual: Dual) -> tuple[Array, Array]:
    """(V, rows): the rows with A_k >= 0 and an unbounded price, and a basis V of their common null space.

    <A_k, X> = 0 for X = V S V', and for no other X >= 0.
    """
    like = dual.like
    xp = namespace(like)
    total = constant(0.0, like, (dual.rank, dual.rank))
    one, rows = constant(1.0, like, (1, 1)), []
    for part in dual.parts:
        sizes = xp.sqrt(clipped(part.map.diagonal(one), low=0.0)) if part.size else like[:0]
        endless = xp.isinf(part.loss.box(like, part.size)[1]) & (sizes > 0)
        endless = endless & part.map.is_nonnegative
        rows.append(endless)
        if part.size:
            zero = xp.zeros_like(sizes)
            shares = xp.where(endless, 1 / xp.where(endless, sizes, 1 + zero), zero)
            total = total + part.map.adjoint(shares)
    return null_space(total), concat(rows, like)


def null_space(S: Array) -> Array:
    """A basis of the null space of S, up to rounding."""
    xp = namespace(S)
    e, U = xp.linalg.eigh(symmetric_part(S))
    share = max(_PROVEN, 32 * int(S.shape[0]) * machine_eps(S))
    return xp.take(U, where_true(xp.abs(e) <= share * read(xp.max(xp.abs(e)))), axis=1)


def _straighten(dual: Dual, factor: Array) -> Array:
    """F of an X nearby with <A_k, X> = 0, as nearly as possible, where a price is unbounded on that side."""
    xp, columns = namespace(factor), int(factor.shape[1])
    factor = factor / xp.max(xp.abs(factor))
    coordinates = Coordinates(columns, factor)
    lo, hi = dual.box
    chosen = xp.zeros_like(lo, dtype=xp.bool)
    unit = _unit(dual)
    for _ in range(_CORRECTIONS):
        size = read(xp.sum((unit[:, None] * factor) ** 2))
        found = [_growth(part, factor, unit, size) for part in dual.parts if part.size]
        t, lost = (concat([piece[k] for piece in found], factor[:, 0]) for k in (0, 1))
        endless = xp.isinf(xp.where(t > 0, hi, lo)) & (xp.abs(t) > lost)
        # A row that was brought to zero stays there while others follow.
        chosen = chosen | endless
        rows = where_true(chosen)
        if not bool(xp.any(endless)) or rows.shape[0] * coordinates.size > _STRAIGHTENED:
            break
        maps = [part.map.restrict(factor) for part in dual.parts]
        stack, excess = coordinates.some_rows(maps, rows), xp.take(t, rows)
        sizes = xp.max(xp.abs(stack), axis=1)
        sizes = xp.where(sizes > 0, sizes, xp.ones_like(sizes))
        S = coordinates.matrix(-xp.linalg.pinv(stack / sizes[:, None]) @ (excess / sizes))
        C = cholesky_or_none(eye(columns, factor) + S)
        if C is None:
            break
        factor = factor @ C
    return factor
