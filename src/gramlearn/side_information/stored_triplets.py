"""Comparisons that are read chunk by chunk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn.problem.losses import BoundedLoss
from gramlearn.side_information import tables
from gramlearn.side_information.layout import Chunk, Layout, is_file, one_for_all
from gramlearn.side_information.stated import Stated, state_comparisons
from gramlearn.side_information.stored import StoredStatements
from gramlearn.side_information.triplets import Triplets
from gramlearn.sources.columns import CHUNK_ROWS, NUMBERS, ROW_NUMBERS, ArrayColumns
from gramlearn.sources.npy_columns import NpyColumns, NpyTable

_POINTS = ("i", "j", "k", "l")


@final
@dataclass(frozen=True, eq=False, repr=False)
class StoredTriplets(StoredStatements):
    """d(i, j) <= d(i, k) - margin, or d(i, j) <= d(k, l) - margin, chunk by chunk."""

    @classmethod
    def of(cls, triplets: Triplets, chunk_rows: int = CHUNK_ROWS) -> Self:
        """Comparisons in memory, chunk by chunk: views of their table."""
        triplets.check_not_empty()
        arrays = dict(zip(_POINTS, to_numpy(triplets.triplets).T, strict=False))
        numbers = {"margin": triplets.margin, "weight": triplets.weight}
        for name, given in numbers.items():
            if not (given is None or isinstance(given, float)):
                arrays[name], numbers[name] = to_numpy(given), name
        points = {name: name for name in _POINTS if name in arrays}
        layout = Layout(points, {}, numbers)
        return cls(ArrayColumns(arrays, chunk_rows), layout, triplets.n_points)

    @classmethod
    def of_arrays(cls, path: Any, n_points: Any, numbers: dict[str, Any]) -> Self:
        """A table in a file of .npy, with margins and weights that are files or one number for all."""
        opened = [NpyTable.open(path, "triplets", [_POINTS[:3], _POINTS], ROW_NUMBERS)]
        points = {name: name for name in opened[0].names}
        given: dict[str, Any] = {}
        for name, value in numbers.items():
            if is_file(value):
                opened.append(NpyTable.open(value, name, [(name,)], NUMBERS))
                given[name] = name
            else:
                given[name] = one_for_all(value, name, "the path of a .npy file")
        return cls(NpyColumns(tuple(opened)), Layout(points, {}, given), n_points)

    def _check(self, points: Sequence[np.ndarray], place: Callable[[int], str]) -> None:
        tables.check_comparisons(points, "the table", place)

    def _uses(self, found: Chunk, name: str) -> np.ndarray | None:
        del found, name
        return None

    def _state(self, found: Chunk, loss: BoundedLoss, bounds: Any) -> list[Stated]:
        del bounds
        margin = found.numbers["margin"]
        margin = 1.0 if margin is None else margin
        return state_comparisons(loss, found.points, margin, found.numbers["weight"])

    def _in_memory(self, found: Chunk) -> Triplets:
        return Triplets(
            np.stack(found.points, axis=1),
            n_points=self.n_points,
            margin=found.numbers["margin"],
            weight=found.numbers["weight"],
        )

    def _order(self, found: Chunk) -> np.ndarray:
        return np.arange(found.size)

    def _name(self, found: Chunk, row: int) -> str:
        return f"the comparison {tables.row_of(found.points, row)}"
