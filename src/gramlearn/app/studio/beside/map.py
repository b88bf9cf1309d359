"""The points by two principal directions, of the plain distance and of the learned one, and what was judged.

Directions are turned and mirrored so that the points move as little as they can since the last map: the nearest
orthogonal matrix (Procrustes). Of many points some thousand are shown, always those of the last answers.
"""

from typing import final

import numpy as np

from gramlearn.app.studio.beside.learned import Map
from gramlearn.app.studio.beside.told import Told

_SHOWN = 2000  # points, whatever was judged
_LAST = 1000  # answers that are drawn


@final
class Maps:
    """Maps of points P, of which `rows` may be shown, one after the other."""

    def __init__(self, P: np.ndarray, rows: np.ndarray) -> None:
        self._P = P
        self._spread = np.atleast_2d(np.cov(P.T)) if len(P) > 1 else np.eye(P.shape[1])
        some = rows
        if len(rows) > _SHOWN:
            drawn = np.random.default_rng(0).choice(len(rows), _SHOWN, replace=False)
            some = rows[np.sort(drawn)]
        self._some = some
        self._directions = self._plane(np.eye(P.shape[1]))
        self._first = self._directions

    def draw(self, told: Told, A: np.ndarray) -> Map:
        """The next map, for a learned metric A."""
        last = told[told.said >= 0][-_LAST:]
        lines = last.lines()[:, 1:]
        rows = np.concatenate([self._some, np.setdiff1d(lines[:, :2], self._some)])
        shown = self._P[rows]
        self._directions = self._turned(self._plane(A))
        order = np.argsort(rows)
        places = order[np.searchsorted(rows, lines[:, :2], sorter=order)]
        return Map(
            rows,
            shown @ self._first,
            shown @ self._directions,
            np.column_stack([places, lines[:, 2]]),
        )

    def _plane(self, A: np.ndarray) -> np.ndarray:
        """A' V with V the two leading eigenvectors of the covariance of P A'; k x 2."""
        V = np.linalg.eigh(A @ self._spread @ A.T)[1][:, ::-1][:, :2]
        found = np.zeros((len(A), 2))
        found[:, : V.shape[1]] = A.T @ V
        return found

    def _turned(self, directions: np.ndarray) -> np.ndarray:
        """Q of directions Q with the least distance of all points from their last places."""
        left, _, right = np.linalg.svd(directions.T @ self._spread @ self._directions)
        return np.asarray(directions @ left @ right)
