"""tr K <= sum_k lam_k d_k + z T  for every feasible K of maximum variance unfolding: how good an answer is.

K is feasible if it is PSD and centered with t_k = d_k, where t_k = <A_k, K> are squared distances of neighbors
and d_k their targets. With V a basis of the directions that such a K can have (`facial_reduction`), any
multipliers lam give a bound. Let

    Z = V' (sum_k lam_k A_k - I) V,      z = max(0, -least eigenvalue of Z),      T = 1/(2n) sum_ij g_ij^2

with g_ij the length of the shortest path from i to j along the graph. Then every feasible K has

    tr K <= sum_k lam_k d_k + z T.

Proof. K = V S V' with S >= 0, so sum_k lam_k t_k - tr K = <Z, S> >= -z tr S = -z tr K, and t_k = d_k. K = R R'
is centered, so tr K = 1/(2n) sum_ij |r_i - r_j|^2, and |r_i - r_j| is at most the length of any path from i to
j, whose edges have kept their lengths: tr K <= T. With t_k <= d_k in place of t_k = d_k the same holds for
lam >= 0.

The gap adds to <Z, S> what K gains by violating distances: |bound - tr K| <= <Z, S> + z T + |lam'(d - t)|.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from gramlearn.methods.unfolding.differences import Differences
from gramlearn.methods.unfolding.facial_reduction import Piece, common_range, find_pieces
from gramlearn.methods.unfolding.independent_pairs import independent_pairs
from gramlearn.methods.unfolding.interior_step import Interior, Program, begin
from gramlearn.methods.unfolding.local_start import local_weights
from gramlearn.problem.certificate import Certificate


@final
@dataclass(frozen=True, eq=False)
class UnfoldingProblem:
    """maximize tr K over centered PSD K that keeps the squared distances of pairs i, j, or makes them smaller.

    It certifies every answer, in units in which the mean squared distance is 1.
    """

    points: np.ndarray
    i: np.ndarray
    j: np.ndarray
    at_most: bool

    @cached_property
    def unit(self) -> float:
        """The mean squared distance of the pairs."""
        return float(np.mean(np.sum((self.points[self.i] - self.points[self.j]) ** 2, axis=1)))

    @cached_property
    def squared(self) -> np.ndarray:
        """d, in units of its mean."""
        apart = (self.points[self.i] - self.points[self.j]) / np.sqrt(self.unit)
        return np.asarray(np.sum(apart**2, axis=1))

    @cached_property
    def _pieces(self) -> list[Piece]:
        return find_pieces(self.points, self.i, self.j, rigid=not self.at_most)

    @cached_property
    def basis(self) -> np.ndarray:
        """V."""
        return common_range(self.points.shape[0], self._pieces)

    @cached_property
    def differences(self) -> Differences:
        """v_i - v_j for each pair, of the rows of V."""
        return Differences(self.i, self.j, self.points.shape[0])

    @property
    def kept(self) -> np.ndarray:
        """The pairs whose distances are not fixed by those of others, in the range of V."""
        return self._independent[0]

    @cached_property
    def _independent(self) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that are kept, and the weights of theirs from which interior points start."""
        if self.at_most:
            kept = np.flatnonzero(self.squared > 0)
            return kept, np.ones(kept.shape[0])
        weights = local_weights(self.points / np.sqrt(self.unit), self.i, self.j)
        return independent_pairs(self.points.shape[0], self.i, self.j, self._pieces, weights)

    @cached_property
    def program(self) -> Program:
        """The same in coordinates of V, and of the pairs that are kept."""
        differences = self.differences.take(self.kept)
        return Program(self.basis, differences, self.squared[self.kept], self.at_most)

    def start(self) -> Interior:
        """A point inside both cones."""
        return begin(self.program, self._independent[1])

    @cached_property
    def largest_trace(self) -> float:
        """T: 1/(2n) times the sum of squared lengths of shortest paths."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import shortest_path

        n, total = self.points.shape[0], 0.0
        # In a sparse matrix a zero is not an edge; the least positive number stands for it.
        lengths = np.maximum(np.sqrt(self.squared), np.finfo(float).tiny)
        # The search of paths needs 32-bit indices; SciPy before 1.15 does not convert them.
        places = self.i.astype(np.int32), self.j.astype(np.int32)
        graph = coo_array((lengths, places), shape=(n, n)).tocsr()
        for at in range(0, n, 256):
            rows = np.arange(at, min(at + 256, n))
            total += float(np.sum(shortest_path(graph, directed=False, indices=rows) ** 2))
        return total / (2 * n)

    def certificate(self, F: np.ndarray, lam: np.ndarray, z: float | None = None) -> Certificate:
        """How good K = F F' is: -tr K as the value to minimize, -(sum lam d + z T) as its bound.

        The columns of F, one row a point, are in the range of V. With a z that is taken on trust it is an
        estimate.
        """
        t = self.differences.squares(F)
        z = self._negative_part(lam) if z is None else z
        trace, bound = float(np.sum(F**2)), float(lam @ self.squared) + z * self.largest_trace
        if self.at_most and np.any(lam < 0):
            bound = np.inf
        short = float(lam @ (self.squared - t))
        inner = max(float(np.sum(F * (self.differences.laplacian(lam) @ F - F))), 0.0)
        # Each of the two values is rounded, and so is their difference.
        rounding = 4.0 * np.finfo(float).eps * (trace + abs(bound))
        gap = inner + z * self.largest_trace + abs(short) + rounding
        errors = t - self.squared
        errors = np.maximum(errors, 0.0) if self.at_most else np.abs(errors)
        return Certificate(-trace, -bound, gap if bound < np.inf else np.inf, float(errors.max()))

    def _negative_part(self, lam: np.ndarray) -> float:
        """z, or a little more: where Z plus its rounding has a Cholesky factor, no eigenvalue is needed."""
        Z = self.differences.weighted(self.basis, lam)
        Z[np.diag_indices_from(Z)] -= 1.0
        rounding = np.finfo(float).eps * float(np.abs(Z).sum(axis=1).max())
        try:
            # It errs by as much as eigenvalues do.
            np.linalg.cholesky(Z + rounding * np.eye(Z.shape[0]))
        except np.linalg.LinAlgError:
            return max(0.0, rounding - float(np.linalg.eigvalsh(Z)[0]))
        return 2.0 * rounding

    def feasible(self, F: np.ndarray) -> np.ndarray:
        """F, scaled down where distances may only shrink and some are too long."""
        if not self.at_most:
            return F
        t = self.differences.squares(F)
        positive = self.squared > 0
        return F / np.sqrt(max(1.0, float(np.max(t[positive] / self.squared[positive]))))
