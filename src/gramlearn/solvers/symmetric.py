"""<S, T> = s't: a symmetric r x r matrix as r(r+1)/2 numbers, those off the diagonal times sqrt 2.

Newton systems in X are written out in these coordinates, at a quarter of the size that all r^2 entries take.
"""

from collections.abc import Callable
from typing import final

from gramlearn._base.arrays import (
    Array,
    chunks,
    concat,
    constant,
    every_row,
    eye,
    is_finite,
    largest,
    machine_eps,
    namespace,
    read,
    scatter,
    where_true,
)
from gramlearn._base.matrices import cholesky_or_none, transpose
from gramlearn.problem.linear_maps import LinearMap, split

# With a pivot below this, of a matrix with a unit diagonal, a QR factorization is used instead.
_LEAST_PIVOT = 1e-5
_DAMPINGS = (4.0, 4e2, 4e4, 4e6)  # in units of rounding


@final
class Coordinates:
    """The entries on and below the diagonal, row by row, with their weights 1 and sqrt 2."""

    def __init__(self, rank: int, like: Array) -> None:
        xp = namespace(like)
        every = every_row(rank * rank, like)
        row, column = every // rank, every % rank
        self._lower = where_true(row >= column)
        self._i, self._j = xp.take(row, self._lower), xp.take(column, self._lower)
        high, low = xp.maximum(row, column), xp.minimum(row, column)
        # The place of each of the r^2 entries among the coordinates.
        self._place = high * (high + 1) // 2 + low
        one = constant(1.0, like, int(self._lower.shape[0]))
        self._weight = xp.where(self._i == self._j, one, 2**0.5 * one)
        self.rank = rank
        self.size = rank * (rank + 1) // 2

    def entries(self, S: Array) -> Array:
        """Give the entries of S as they are, without weights."""
        xp = namespace(S)
        return xp.take(xp.reshape(S, (-1,)), self._lower)

    def vector(self, S: Array) -> Array:
        """Give the coordinates of S."""
        return self.entries(S) * self._weight

    def matrix(self, s: Array) -> Array:
        """Give the matrix of these coordinates."""
        xp = namespace(s)
        return xp.reshape(xp.take(s / self._weight, self._place), (self.rank, self.rank))

    def rows(self, linear: LinearMap) -> Array:
        """Give the coordinates of every B_k, as row k."""
        return linear.entries(self._i, self._j) * self._weight

    def some_rows(self, maps: list[LinearMap], chosen: Array) -> Array:
        """Give the coordinates of some of the B_k, numbered (ascending) through all maps."""
        xp = namespace(chosen)
        found, start = [], 0
        for linear in maps:
            inside = chosen[(chosen >= start) & (chosen < start + linear.size)] - start
            if inside.shape[0]:
                found.append(self.rows(linear.materialize_rows(inside)))
            start += linear.size
        return xp.concat(found)

    def gram(self, maps: list[LinearMap], weights: Array) -> Array:
        """sum_k w_k b_k b_k', over the coordinates b_k of every B_k."""
        total = constant(0.0, weights, (self.size, self.size))
        for linear, w in zip(maps, split(maps, weights), strict=True):
            every = every_row(linear.size, weights)
            for some in chunks(linear.size, self.size, weights):
                b = self.rows(linear.materialize_rows(every[some]))
                total = total + transpose(b * w[some][:, None]) @ b
        return total

    def congruence(self, K: Array) -> Array:
        """Give the matrix of S -> K S K'."""
        xp = namespace(K)

        def at(rows: Array, columns: Array) -> Array:
            return xp.take(xp.take(K, rows, axis=0), columns, axis=1)

        i, j, w = self._i, self._j, self._weight
        both = at(i, i) * at(j, j) + at(i, j) * at(j, i)
        return both * (w[:, None] * w[None, :] / 2)


def factorize(
    coordinates: Coordinates, maps: list[LinearMap], base: Array, weights: Array
) -> Callable[[Array], Array] | None:
    """Invert base + sum_k w_k b_k b_k', whose terms may be of very different sizes.

    Where rounding in the sum would hide the small ones, the largest sqrt(w_k) b_k are left out of it and
    stacked on a factor of the rest, for a QR decomposition with the largest rows first.
    """
    if not (is_finite(weights) and is_finite(base)):
        return None
    xp = namespace(weights)
    factor = _cholesky(base + coordinates.gram(maps, weights), _LEAST_PIVOT)
    if factor is None:
        one = constant(1.0, weights, (1, 1))
        sizes = weights * concat([m.diagonal(one) for m in maps if m.size], weights)
        top = xp.sort(largest(sizes, min(2 * coordinates.size, int(sizes.shape[0]))))
        of_top = xp.take(weights, top)
        rest = weights - scatter(of_top, top, int(weights.shape[0]))
        lower = _cholesky(base + coordinates.gram(maps, rest), 0.0)
        if lower is None:
            return None
        rows = coordinates.some_rows(maps, top) * xp.sqrt(of_top)[:, None]
        order = xp.argsort(-xp.vecdot(rows, rows))
        stacked = xp.concat([xp.take(rows, order, axis=0), transpose(lower)])
        factor = transpose(xp.linalg.qr(stacked, mode="reduced")[1])
    if not read(xp.min(xp.abs(xp.linalg.diagonal(factor)))) > 0:
        return None
    inverse = xp.linalg.inv(factor)
    return (lambda v: transpose(inverse) @ (inverse @ v)) if is_finite(inverse) else None


def _cholesky(matrix: Array, least_pivot: float) -> Array | None:
    """Factorize a matrix scaled to a unit diagonal, with the least damping for which that succeeds."""
    xp = namespace(matrix)
    scale = xp.sqrt(xp.linalg.diagonal(matrix))
    if not (is_finite(scale) and read(xp.min(scale)) > 0):
        return None
    scaled = matrix / scale[:, None] / scale[None, :]
    unit = machine_eps(matrix) * eye(int(scale.shape[0]), scale)
    for damping in _DAMPINGS:
        lower = cholesky_or_none(scaled + damping * unit)
        if lower is not None:
            pivot = read(xp.min(xp.linalg.diagonal(lower)))
            return lower * scale[:, None] if pivot >= least_pivot else None
        if least_pivot > 0:
            return None
    return None
