"""A_kf = sum_s weight_s (x_if - x_jf)^2 over the pairs s of statement k: t = A w.

A row has the numbers that a squared distance, or a difference of two, is made of. Few of them are written out,
and so are those of sparse points, where most are zero. Many are made anew wherever they are needed, in compiled
passes over the pairs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.sparse import csr_array, issparse

from gramlearn.problem.constraints import PointConstraints

_WRITTEN_OUT = 1 << 25  # numbers: 256 MB


class SquaredDifferences(ABC):
    """A, c x d."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(c, d)."""

    @abstractmethod
    def times(self, w: np.ndarray) -> np.ndarray:
        """A w."""

    @abstractmethod
    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """A'v."""

    @abstractmethod
    def quick_gram(self, c: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """w -> A' diag(c) A w, to a few digits."""

    @property
    @abstractmethod
    def uncanceled(self) -> "SquaredDifferences":
        """What no entry of A exceeds in size: A itself where nothing is subtracted."""

    @abstractmethod
    def rows(self, chosen: Any) -> Any:
        """These rows of A, as an array or a sparse one."""


def squared_differences(points: Any, constraints: Sequence[PointConstraints]) -> SquaredDifferences:
    """A of constraints of one kind, one after another; the points may be sparse."""
    columns = [np.concatenate(column) for column in zip(*map(_columns, constraints), strict=True)]
    table = constraints[0].directions
    weight = np.array([d.weight for d in table])
    first = np.stack([columns[d.first] for d in table], axis=1)
    second = np.stack([columns[d.second] for d in table], axis=1)
    scanned = _Scanned(points, (weight, first, second))
    c, d = scanned.shape
    few = issparse(points) or c * d <= _WRITTEN_OUT
    return _Written(scanned.rows(slice(None))) if few else scanned


def no_differences(d: int) -> SquaredDifferences:
    """A of no statement about d features."""
    return _Written(np.zeros((0, d)))


def _columns(constraints: PointConstraints) -> list[np.ndarray]:
    return [np.asarray(column, dtype=np.intp) for column in constraints.columns.values()]


@final
@dataclass(frozen=True, eq=False)
class _Written(SquaredDifferences):
    """A as an array, dense or sparse."""

    A: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.A.shape[0]), int(self.A.shape[1])

    def times(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(self.A @ w)

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(v @ self.A)

    def quick_gram(self, c: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return lambda w: self.adjoint(c * self.times(w))

    @cached_property
    def uncanceled(self) -> "_Written":
        return self if self.A.shape[0] == 0 or self.A.min() >= 0 else _Written(abs(self.A))

    def rows(self, chosen: Any) -> Any:
        return self.A[chosen]


@final
@dataclass(frozen=True, eq=False)
class _Scanned(SquaredDifferences):
    """A as the points and the pairs (weight_s, i, j), a row of i and j for each row of A."""

    points: Any
    pairs: tuple[np.ndarray, np.ndarray, np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.pairs[1]), int(self.points.shape[1])

    def times(self, w: np.ndarray) -> np.ndarray:
        from gramlearn.methods.metric.diagonal import scan

        return scan.times(self.points, self.pairs, w)

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        from gramlearn.methods.metric.diagonal import scan

        return scan.adjoint(self.points, self.pairs, v)

    def quick_gram(self, c: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        from gramlearn.methods.metric.diagonal import scan

        points, unit = self._in_single
        weight, first, second = self.pairs
        pairs = (weight.astype(np.float32), first, second)
        # In units in which no number is near the ends of single precision.
        largest = float(np.max(c)) or 1.0
        shares = (c / largest).astype(np.float32)

        def product(w: np.ndarray) -> np.ndarray:
            scaled = unit**2 * w
            size = float(np.max(np.abs(scaled))) or 1.0
            found = scan.gram_times(points, pairs, shares, (scaled / size).astype(np.float32))
            return np.asarray(unit**2 * (largest * size * found.astype(np.float64)))

        return product

    @cached_property
    def _in_single(self) -> tuple[np.ndarray, np.ndarray]:
        """The points from their mean, in units of their columns, and these: differences lose few digits."""
        centered = self.points - self.points.mean(axis=0)
        unit = np.abs(centered).max(axis=0)
        unit[unit == 0] = 1.0
        return (centered / unit).astype(np.float32), unit

    @cached_property
    def uncanceled(self) -> "_Scanned":
        weight, first, second = self.pairs
        return self if weight.min() > 0 else _Scanned(self.points, (np.abs(weight), first, second))

    def rows(self, chosen: Any) -> Any:
        P = csr_array(self.points) if issparse(self.points) else self.points
        weight, first, second = self.pairs
        both = zip(weight, first[chosen].T, second[chosen].T, strict=True)
        squares = [w * (P[i] - P[j]) ** 2 for w, i, j in both]
        return sum(squares[1:], start=squares[0])
