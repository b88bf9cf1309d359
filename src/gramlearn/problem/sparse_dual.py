"""Y = Y0 - sum_k lam_k A_k as a sparse matrix: the dual where X is a kernel over many points.

Linear terms, whose price is fixed, may also be of low rank: Y is then a sparse matrix and one of low rank.

The dual, the gradient and the gap are those of `dual`, for regularizers whose h* vanishes below zero
(Frobenius, Schatten). X = grad phi*(Y) then needs the positive eigenvalues of Y alone, theta with vectors V,
and comes as a factor n x r; nothing n x n is written out. With bounds `above` on all eigenvalues of Y

    dual(lam) >= constant - sum h*(above) - sum_k [loss_k*(lam_k) - offset_k lam_k]
    primal(X) - that = sum h*(above) - sum h*(theta) + sum_k [loss_k(t_k) + loss_k*(lam_k) - lam_k t_k]

so the gap holds however accurate the eigenvalues are, if none of the largest is missed. Where tr X^p <= B
replaces phi = tr X^p / p, B^(1/p) |Y+|_q replaces phi* (Hoelder), and X has tr X^p = B.
"""

from functools import cached_property
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import machine_eps
from gramlearn._base.eigen.positive_part import PositivePart, positive_part
from gramlearn._base.eigen.sparse_plus_low_rank import SparsePlusLowRank
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.linear_maps import Entries, RankOnes
from gramlearn.problem.problem import Problem

_USUAL_PRICE = 1e-2  # a guess at the price of a capacity
_AT_ONCE = 4_000_000  # numbers of X worked out at a time


@final
class SparseDual:
    """The dual of a problem whose constraints have few entries each: Y has one pattern for every lam.

    Where the problem has a capacity, tr X^p is bounded by it instead of priced.
    """

    def __init__(self, problem: Problem) -> None:
        from scipy.sparse import coo_array, csr_array

        self.dual = dual = problem.dual
        self.capacity = problem.capacity
        n = self.n = dual.rank
        tables, start = [], 0
        for part in dual.parts:
            k, i, j, w = _entries(part.map)
            tables.append((k + start, i, j, -w))
            start += part.size
        every = np.arange(n)
        tables.append((np.full(n, start), every, every, np.asarray(dual.origin.slope)))
        size, start, prices = start, start + 1, [np.ones(1)]
        wide = [(np.zeros((n, 0)), np.zeros(0))]
        for part, price in dual.origin.fixed:
            few = part.map.few_rank_ones() if part.map.nonzeros() is None else None
            if few is not None:
                wide.append(_columns(few, -np.asarray(price)))
                continue
            k, i, j, w = _entries(part.map)
            tables.append((k + start, i, j, -w))
            prices.append(np.asarray(price))
            start += part.size
        self._W = np.hstack([W for W, _ in wide])
        self._w = np.concatenate([w for _, w in wide])
        k, i, j, w = (np.concatenate(columns) for columns in zip(*tables, strict=True))
        # Row k holds what lam_k adds to every entry of the pattern; the last rows hold the terms of Y0.
        places, where = np.unique(i * n + j, return_inverse=True)
        table = coo_array((w, (k, where)), shape=(start, places.shape[0])).tocsr()
        self._origin = table[size:].T @ np.concatenate(prices)
        self._size_of_origin = abs(table[size:]).T @ np.abs(np.concatenate(prices))
        self._changes = table[:size].tocsr()
        self._rows, self._columns = places // n, places % n
        self._pattern = csr_array((self._origin, (self._rows, self._columns)), shape=(n, n))
        # X is computed at the entries that some constraint reads, and once for (i, j) and (j, i).
        read = np.unique(self._changes.indices)
        self._read = read[self._rows[read] <= self._columns[read]]
        twice = 1.0 + (self._rows[self._read] < self._columns[self._read])
        self._reader = (self._changes.tocsc()[:, self._read] * twice).tocsr()

    @cached_property
    def unit(self) -> float:
        """The size of the problem: twice its losses at X = 0, or where they are infinite a share of |Y|^2."""
        zero = np.zeros(self.dual.size)
        losses = float(np.sum(self.dual.each(lambda p, t: p.loss.value(p.offset + t), zero)))
        return 2 * losses if losses < np.inf else 1e-3 * float(self._origin @ self._origin)

    def matrix(self, lam: np.ndarray) -> SparsePlusLowRank:
        """Y."""
        Y = self._pattern.copy()
        Y.data = self._origin + self._changes.T @ lam
        return SparsePlusLowRank(Y, self._W, self._w)

    def weighed(self, lam: np.ndarray, F: np.ndarray) -> float:
        """A bound on <|E|, |X|>, for an E as large as the terms of Y at each entry; X = F F'."""
        norms = np.linalg.norm(F, axis=1)
        term_sizes = self._size_of_origin + abs(self._changes).T @ np.abs(lam)
        wide = float(np.abs(self._w) @ np.sum((F.T @ self._W) ** 2, axis=0))
        return float(term_sizes @ (norms[self._rows] * norms[self._columns])) + wide

    def values(self, F: np.ndarray) -> np.ndarray:
        """(<A_k, F F'>)_k."""
        i, j = self._rows[self._read], self._columns[self._read]
        X = np.empty(i.shape[0])
        step = max(_AT_ONCE // max(F.shape[1], 1), 1)
        for at in range(0, X.shape[0], step):
            piece = slice(at, at + step)
            X[piece] = np.einsum("ij,ij->i", F[i[piece]], F[j[piece]])
        return -(self._reader @ X)

    def measured(self, part: PositivePart, unit: float) -> tuple[float, float, float]:
        """(s, phi*(Y), its bound) for X = s grad phi*(Y / unit), from the eigenvalues and their bounds."""
        h = self.dual.regularizer.conjugate
        found = float(np.sum(h(part.theta / unit)))
        bound = float(np.sum(h(part.above / unit)) + part.n_rest * h(np.asarray(part.rest / unit)))
        if self.capacity is None:
            return 1.0, found, bound
        q = self.q
        share = self.capacity ** (1 - 1 / q)
        scale = share * (q * found) ** (1 / q - 1) if found > 0 else 0.0
        return scale, share * unit * (q * found) ** (1 / q), share * unit * (q * bound) ** (1 / q)

    @cached_property
    def q(self) -> float:
        """Of h*(y) = max(y, 0)^q / q."""
        return 1 / float(self.dual.regularizer.conjugate(np.ones(1))[0])


def _columns(few: RankOnes, price: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W and w with W diag(w) W' = sum_k price_k B_k."""
    rows, start, first, second, sign, weight = (np.asarray(column) for column in few)
    k = np.repeat(np.arange(price.shape[0]), np.diff(start))
    return (rows[first] + sign[:, None] * rows[second]).T, price[k] * weight


def _entries(linear: Any) -> Entries:
    found = linear.nonzeros()
    if found is None:
        raise ValueError("constraints on points have no few entries in X.")
    return Entries(*(np.asarray(column) for column in found))


@final
class SparsePoint:
    """The dual at one lam, near a point at which it was evaluated before."""

    def __init__(
        self,
        sparse: SparseDual,
        lam: np.ndarray,
        near: "SparsePoint | None" = None,
        accuracy: float = 1e-8,
    ) -> None:
        self.lam = lam
        self._sparse, self._dual = sparse, sparse.dual
        self._cost = float(
            np.sum(self._dual.each(lambda p, v: p.loss.conjugate(v) - p.offset * v, lam))
        )
        self.value = -np.inf
        if not self._cost < np.inf:
            return
        block = None if near is None else near.part.block
        Y = sparse.matrix(lam)
        if not np.all(np.isfinite(Y.sparse.data)):
            return  # Y overflowed
        unit = sparse.unit
        if sparse.capacity is not None:
            # The unit of sums of squares, which a price turns into values.
            unit *= _USUAL_PRICE if near is None else min(near.price, 1.0)
        self.part: PositivePart = positive_part(Y, block, accuracy, unit)
        # Powers of eigenvalues in units of the largest do not overflow.
        largest = max(self.part.above.max(initial=0.0), self.part.rest)
        self._unit = float(largest) if sparse.capacity is not None and largest > 0 else 1.0
        self.scale, self._found, self._bound = sparse.measured(self.part, self._unit)
        value = self._dual.constant - self._bound - self._cost
        self.value = value if value > -np.inf else -np.inf  # inf - inf overflows, too

    @cached_property
    def factor(self) -> np.ndarray:
        """F with F F' = X(lam)."""
        slope = self._dual.regularizer.conjugate_derivative(self.part.theta / self._unit)
        return self.part.V * np.sqrt(self.scale * slope)

    @property
    def value_error(self) -> float:
        """How far the value may be from that of exact eigenvalues."""
        return max(self._bound - self._found, 0.0)

    @property
    def price(self) -> float:
        """The G at which X minimizes (G/p) tr X^p - <Y, X>."""
        if self.scale == 0:
            return np.inf
        return float(self._unit * self.scale ** (1 / (1 - self._sparse.q)))

    @cached_property
    def t(self) -> np.ndarray:
        """t_k = offset_k + <A_k, X(lam)>."""
        return self._dual.each(lambda p, v: p.offset + v, self._sparse.values(self.factor))

    @cached_property
    def gradient(self) -> np.ndarray:
        """t - loss*'(lam)."""
        return self.t - self._dual.each(lambda p, v: p.loss.conjugate_derivative(v), self.lam)

    @cached_property
    def certificate(self) -> Certificate:
        """How good X(lam) is."""
        gap = self._dual.gap(self.t, self.lam) + self.value_error
        violation = self._dual.violation(self.t)
        prior_rounding = self._dual.prior_rounding(self.part.n_zero(self._dual.eigenvalue_error))
        # Each value with its rounding, so that the optimum lies between the two.
        rounding, least = self._rounding, self._dual.least
        primal, dual = self.value + gap + rounding, self.value - rounding
        gap += 2 * rounding
        return Certificate(primal, dual, gap, violation, least=least, prior_rounding=prior_rounding)

    @property
    def _rounding(self) -> float:
        """A rounding of every term of the value, and of the terms of Y at this X."""
        eps = machine_eps(self._dual.like)
        terms = abs(self._dual.constant) + abs(self._bound) + abs(self._cost)
        return 4 * eps * (terms + self._sparse.weighed(self.lam, self.factor))
