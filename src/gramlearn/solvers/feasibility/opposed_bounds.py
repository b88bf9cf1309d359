"""<A_a, X> >= l > u >= <A_b, X> with A_a = A_b: two bounds on the same thing, and nothing between them.

With v_a = -1 and v_b = 1 the sum of v_k A_k is zero, so that not even the rounding of an X far larger than its
bounds stands against this proof, see `refutation`. Nor does it take prices that grow without end.
"""

from gramlearn._base.arrays import Array, concat, constant, every_row, namespace, read, where_true
from gramlearn.problem.dual import Dual
from gramlearn.problem.refutation import domain_of

__all__ = ["opposed_bounds"]

_ROUNDINGS = 16  # of two bounds, by which they may oppose each other and mean the same


def opposed_bounds(dual: Dual) -> Array | None:
    """Find the v of two hard rows that oppose each other most, or None."""
    zero = constant(0.0, dual.like, dual.size)
    xp = namespace(zero)
    hard = dual.each(lambda part, z: z + (1.0 if part.loss.is_hard else 0.0), zero)
    first, second = _marks(dual)
    rows = where_true((hard > 0) & (first != 0))  # of A_k = 0 see `impossible`
    if rows.shape[0] < 2:
        return None
    offset = dual.each(lambda part, z: z + part.offset, zero)
    low, high = (end - offset for end in domain_of(dual))
    kinds = xp.take(first, rows)
    asking = xp.take(rows, _least_of_each(kinds, -xp.take(low, rows)))
    allowing = xp.take(rows, _least_of_each(kinds, xp.take(high, rows)))
    asked, allowed = xp.take(low, asking), xp.take(high, allowing)
    sizes = xp.abs(asked) + xp.abs(allowed)
    sizes = sizes + xp.abs(xp.take(offset, asking)) + xp.abs(xp.take(offset, allowing))
    comparable = xp.isfinite(sizes) & (xp.take(second, asking) == xp.take(second, allowing))
    safe = xp.where(comparable & (sizes > 0), sizes, xp.ones_like(sizes))
    excess = xp.where(comparable, (asked - allowed) / safe, xp.zeros_like(sizes))
    worst = xp.argmax(excess)
    if not read(excess[worst]) > _ROUNDINGS * float(xp.finfo(zero.dtype).eps):
        return None
    every = every_row(dual.size, zero)
    below = xp.astype(every == asking[worst], zero.dtype)
    return xp.astype(every == allowing[worst], zero.dtype) - below


def _marks(dual: Dual) -> tuple[Array, Array]:
    """(q' A_k q)_k for two q of no special direction: the same A_k have the same, to the last bit."""
    xp, one = namespace(dual.like), constant(1.0, dual.like, 1)
    numbers = xp.astype(every_row(dual.rank, dual.like) + 1, dual.like.dtype)

    def along(q: Array) -> Array:
        pieces = [part.map.restrict(q).traces(one) for part in dual.parts if part.size]
        return concat(pieces, dual.like)

    return along(xp.cos(numbers)[:, None]), along(xp.cos(2 * numbers)[:, None])


def _least_of_each(kinds: Array, values: Array) -> Array:
    """Which row has the least value among those of the same kind: one row a kind, the kinds ascending."""
    xp = namespace(kinds)
    by_value = xp.argsort(values, stable=True)
    order = xp.take(by_value, xp.argsort(xp.take(kinds, by_value), stable=True))
    ordered = xp.take(kinds, order)
    is_new = xp.concat([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]])
    return xp.take(order, where_true(is_new))
