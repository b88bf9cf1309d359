"""Y = S + W diag(w) W': a sparse matrix and one of low rank, known by their products; never written out."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np


@final
@dataclass(frozen=True, eq=False)
class SparsePlusLowRank:
    """S, n x n and symmetric, W, n x c, and w, of length c."""

    sparse: Any
    W: np.ndarray
    w: np.ndarray

    @staticmethod
    def of(Y: Any) -> "SparsePlusLowRank":
        """Y itself, or a sparse matrix with no columns W."""
        if isinstance(Y, SparsePlusLowRank):
            return Y
        return SparsePlusLowRank(Y, np.zeros((Y.shape[0], 0)), np.zeros(0))

    @property
    def shape(self) -> tuple[int, int]:
        """n x n."""
        return int(self.W.shape[0]), int(self.W.shape[0])

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        image = self.sparse @ V
        return image if not self.w.size else image + (self.W * self.w) @ (self.W.T @ V)

    def toarray(self) -> np.ndarray:
        """All entries."""
        return np.asarray(self.sparse.toarray() + (self.W * self.w) @ self.W.T)

    def rows(self) -> np.ndarray:
        """The rows that may have entries other than zero."""
        touched = np.asarray(abs(self.sparse).sum(axis=1)).ravel() + np.abs(self.W) @ np.abs(self.w)
        return np.flatnonzero(touched)

    def among(self, rows: np.ndarray) -> "SparsePlusLowRank":
        """These rows and columns."""
        return SparsePlusLowRank(self.sparse[rows][:, rows], self.W[rows], self.w)

    def moved(self, center: float, half: float) -> "SparsePlusLowRank":
        """(Y - c I) / h."""
        from scipy.sparse import eye_array

        shifted = (self.sparse - center * eye_array(self.shape[0])) / half
        return SparsePlusLowRank(shifted.tocsr(), self.W, self.w / half)

    def interval(self) -> tuple[float, float]:
        """Bounds on the eigenvalues: Gershgorin's for S, plus those of W diag(w) W'."""
        diagonal = self.sparse.diagonal()
        radius = np.asarray(abs(self.sparse).sum(axis=1)).ravel() - np.abs(diagonal)
        low, high = float((diagonal - radius).min()), float((diagonal + radius).max())
        if not self.w.size:
            return low, high
        R = np.linalg.qr(self.W)[1]
        s = np.linalg.eigvalsh((R * self.w) @ R.T)
        return low + min(float(s[0]), 0.0), high + max(float(s[-1]), 0.0)
