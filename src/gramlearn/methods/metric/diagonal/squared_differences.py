"""A_kf = sum_s weight_s (x_if + sign_s x_jf)^2 over the directions s of statement k: t = A w.

A row has the numbers that a squared distance, or a difference of two, is made of. Few of them are written out,
and so are those of sparse points, where most are zero. Many are made anew wherever they are needed, in compiled
passes over the pairs.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

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

    @property
    @abstractmethod
    def uncanceled(self) -> "SquaredDifferences":
        """What no entry of A exceeds in size: A itself where nothing is subtracted."""

    @abstractmethod
    def rows(self, chosen: Any) -> Any:
        """These rows of A, as an array or a sparse one."""


class _Direction(NamedTuple):
    """weight (x_i + sign x_j)^2, for a row of A each."""

    weight: float
    i: np.ndarray
    sign: int
    j: np.ndarray


def squared_differences(points: Any, constraints: Sequence[PointConstraints]) -> SquaredDifferences:
    """A of constraints of one kind, one after another; the points may be sparse."""
    columns = [np.concatenate(column) for column in zip(*map(_columns, constraints), strict=True)]
    directions = tuple(
        _Direction(d.weight, columns[d.first], d.sign, columns[d.second])
        for d in constraints[0].directions
    )
    scanned = _Scanned(points, directions)
    c, d = scanned.shape
    few = issparse(points) or c * d <= _WRITTEN_OUT
    return _Written(scanned.rows(slice(None))) if few else scanned


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

    @cached_property
    def uncanceled(self) -> "_Written":
        return self if self.A.min() >= 0 else _Written(abs(self.A))

    def rows(self, chosen: Any) -> Any:
        return self.A[chosen]


@final
@dataclass(frozen=True, eq=False)
class _Scanned(SquaredDifferences):
    """A as the points and the directions; it has no rows of its own."""

    points: Any
    directions: tuple[_Direction, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.directions[0].i), int(self.points.shape[1])

    def times(self, w: np.ndarray) -> np.ndarray:
        from gramlearn.methods.metric.diagonal.scan import weighted_sums

        parts = (d.weight * weighted_sums(self.points, d.i, d.j, d.sign, w) for d in self.directions)
        return np.asarray(sum(parts))

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        from gramlearn.methods.metric.diagonal.scan import sums_of_rows

        parts = (d.weight * sums_of_rows(self.points, d.i, d.j, d.sign, v) for d in self.directions)
        return np.asarray(sum(parts))

    @cached_property
    def uncanceled(self) -> "_Scanned":
        if all(d.weight > 0 for d in self.directions):
            return self
        return _Scanned(self.points, tuple(d._replace(weight=abs(d.weight)) for d in self.directions))

    def rows(self, chosen: Any) -> Any:
        P = csr_array(self.points) if issparse(self.points) else self.points
        squares = ((P[d.i[chosen]] + d.sign * P[d.j[chosen]]) ** 2 for d in self.directions)
        parts = [d.weight * square for d, square in zip(self.directions, squares, strict=True)]
        return sum(parts[1:], start=parts[0])
