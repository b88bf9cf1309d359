"""C X with C_ji = w_i / (d_i - theta_j) / |.|, the eigenvectors of D + rho w w', in O(n p log p) for X p x n.

d and theta are sorted and interlace (`eigen.secular`), so an off-diagonal block of C is a smooth function of
both, except at its corner: up to rounding its rank is a few dozen, whatever its size (about a hundred where d
crowd together at the corner). C is cut in four; the two off-diagonal blocks become products L R of that rank,
and the two others are cut in turn, down to `leaf` rows.

L spans the images of random directions. Once some of them in a row are not new, it is complete (Halko,
Martinsson and Tropp 2011), and R = L' times the block; otherwise the block is kept as it is. The rows of C have
length one, and the error is of the size of rounding: C stays orthogonal.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

LEAF = 256  # rows; cutting fewer saves no time
_NEW = 2e-15  # the least length of a new direction, for rows of length one
_DIRECTIONS = 40  # at first; twice as many where they do not suffice
_IN_A_ROW = 6

Cauchy = tuple[np.ndarray, ...]  # C, as `rank_one_cauchy` returns it
Range = tuple[int, int]


class Rows(ABC):
    """Some rows of C."""

    @abstractmethod
    def fill(self, out: np.ndarray, X: np.ndarray, seen: list[np.ndarray]) -> None:
        """out = C X in these rows, where `seen` are the R X of the cuts around them, the widest first."""


@final
@dataclass(frozen=True, eq=False)
class Leaf(Rows):
    """(B, L_1, L_2, ...): a block on the diagonal, then the L of each cut around it."""

    rows: slice
    matrix: np.ndarray

    def fill(self, out: np.ndarray, X: np.ndarray, seen: list[np.ndarray]) -> None:
        np.matmul(self.matrix, np.concatenate([X[self.rows], *seen]), out=out[self.rows])


@final
@dataclass(frozen=True, eq=False)
class Cut(Rows):
    """Two halves, each as (rows, columns of the other half, R); R is None where it would be the identity."""

    halves: list[tuple[Rows, slice, np.ndarray | None]]

    def fill(self, out: np.ndarray, X: np.ndarray, seen: list[np.ndarray]) -> None:
        for rows, others, R in self.halves:
            rows.fill(out, X, [*seen, X[others] if R is None else R @ X[others]])


def times(C: Rows, X: np.ndarray) -> np.ndarray:
    """C X."""
    out = np.empty_like(X)
    C.fill(out, X, [])
    return out


def compressed(cauchy: Cauchy, leaf: int = LEAF) -> Rows:
    """C, cut down to blocks of at most `leaf` rows."""
    return _rows(cauchy, (0, len(cauchy[0])), [], leaf)


def _rows(cauchy: Cauchy, rows: Range, lefts: list[np.ndarray], leaf: int) -> Rows:
    """These rows; `lefts` are their L of the cuts around them, the widest first."""
    from gramlearn._base.eigen.secular import cauchy_block

    first, last = rows
    if last - first <= leaf:
        return Leaf(slice(first, last), np.hstack([cauchy_block(cauchy, rows, rows), *lefts]))
    middle = (first + last) // 2
    halves = []
    for half, other in (((first, middle), (middle, last)), ((middle, last), (first, middle))):
        L, R = _low_rank(cauchy_block(cauchy, half, other))
        above = [left[half[0] - first : half[1] - first] for left in lefts]
        halves.append((_rows(cauchy, half, [*above, L], leaf), slice(*other), R))
    return Cut(halves)


def _low_rank(block: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(L, R) with L R the block; R is None, and L the block, where its rank saves nothing."""
    size = _DIRECTIONS
    while 2 * size <= min(block.shape):
        # The same directions every time: a step depends on nothing but its input.
        directions = np.random.default_rng(0).standard_normal((block.shape[1], size))
        Q, triangle = np.linalg.qr(block @ directions)
        found = np.abs(np.diag(triangle))
        new = np.flatnonzero(found > _NEW * max(1.0, found[0]))
        rank = int(new[-1]) + 1 if len(new) else 0
        if rank <= size - _IN_A_ROW:
            L = Q[:, :rank]
            return L, L.T @ block
        size *= 2
    return block, None
