"""Pairs that are read chunk by chunk, from one table that says which are alike, or from two lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn.problem.losses import BoundedLoss
from gramlearn.side_information import tables
from gramlearn.side_information.layout import Chunk, Layout, is_file, one_for_all
from gramlearn.side_information.pairs import Pairs
from gramlearn.side_information.percentiles import check_not_crossed
from gramlearn.side_information.stated import (
    PairsOfOneKind,
    Stated,
    missing_bounds,
    own_or_given,
    state_pairs,
)
from gramlearn.side_information.stored import StoredStatements
from gramlearn.sources.columns import (
    CHUNK_ROWS,
    NUMBERS,
    ROW_NUMBERS,
    ArrayColumns,
    Columns,
    JoinedColumns,
)
from gramlearn.sources.drawn_columns import DrawnPairs
from gramlearn.sources.npy_columns import NpyColumns, NpyTable

_SIDES = {"similar": True, "dissimilar": False}


class _List(NamedTuple):
    """Columns i and j of pairs of one kind; "bound" and "weight" where these are columns, else one for all."""

    columns: Columns
    bound: Any
    weight: Any


@final
@dataclass(frozen=True, eq=False, repr=False)
class StoredPairs(StoredStatements):
    """d(i, j) <= upper for the pairs that are alike, d(i, j) >= lower for the others, chunk by chunk."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_crossed(self.layout.numbers["upper"], self.layout.numbers["lower"], "")

    @classmethod
    def of(cls, pairs: Pairs, chunk_rows: int = CHUNK_ROWS) -> Self:
        """Pairs in memory, chunk by chunk: views of their tables."""
        pairs.check_not_empty()
        lists = {}
        for side, table, bound, weight in (
            ("similar", pairs.similar, pairs.upper, pairs.similar_weight),
            ("dissimilar", pairs.dissimilar, pairs.lower, pairs.dissimilar_weight),
        ):
            i, j = to_numpy(table).T
            arrays = {"i": i, "j": j}
            numbers: list[Any] = [bound, weight]
            for place, (name, x) in enumerate((("bound", bound), ("weight", weight))):
                if not (x is None or isinstance(x, float)):
                    arrays[name], numbers[place] = to_numpy(x), name
            if len(i):
                lists[side] = _List(ArrayColumns(arrays, chunk_rows), *numbers)
        return cls.of_lists(lists, pairs.n_points)

    @classmethod
    def of_arrays(
        cls, lists: Mapping[str, Any], n_points: Any, numbers: Mapping[str, Mapping[str, Any]]
    ) -> Self:
        """Lists in files of .npy; `numbers` has the bound and the weight of each, by their arguments."""
        opened = {}
        for side, path in lists.items():
            if path is None:
                continue
            arrays = [NpyTable.open(path, side, [("i", "j")], ROW_NUMBERS)]
            given: list[Any] = []
            for name, (argument, value) in zip(
                ("bound", "weight"), numbers[side].items(), strict=True
            ):
                if is_file(value):
                    arrays.append(NpyTable.open(value, argument, [(name,)], NUMBERS))
                    given.append(name)
                else:
                    given.append(one_for_all(value, argument, "the path of a .npy file"))
            opened[side] = _List(NpyColumns(tuple(arrays)), *given)
        return cls.of_lists(opened, n_points)

    @classmethod
    def of_lists(cls, lists: Mapping[str, "_List"], n_points: Any) -> Self:
        """Of "similar" and "dissimilar" pairs, or of one of them."""
        if not lists:
            raise TypeError("there are no pairs; pass `similar`, `dissimilar`, or both.")
        weights = {each.weight for each in lists.values()}
        weight = weights.pop() if len(weights) == 1 else "weight"
        constants = []
        for side, each in lists.items():
            same: dict[str, float | bool] = {"alike": _SIDES[side]}
            if each.bound != "bound":
                same["bound"] = np.nan  # that counts for pairs of the other list alone
            if each.weight != "weight":
                same["weight"] = 1.0 if each.weight is None else each.weight
            constants.append(same)
        columns = JoinedColumns(tuple(each.columns for each in lists.values()), tuple(constants))
        bounds = {side: each.bound for side, each in lists.items()}
        alike = "alike" if len(lists) == 2 else _SIDES[next(iter(lists))]
        numbers = {
            "upper": bounds.get("similar"),
            "lower": bounds.get("dissimilar"),
            "weight": weight,
        }
        return cls(columns, Layout({"i": "i", "j": "j"}, {"alike": alike}, numbers), n_points)

    @property
    def has_bounds(self) -> bool:
        """Whether some say how far apart they are to be."""
        numbers = self.layout.numbers
        return numbers["upper"] is not None or numbers["lower"] is not None

    def beside_drawn(self, n_drawn: int, weight: float, seed: int) -> Self:
        """These, and so many dissimilar pairs drawn among all points, which are mostly unlike.

        The weight is that of each, where these have some.
        """
        if not n_drawn:
            return self
        names = self.layout.points["i"], self.layout.points["j"]
        drawn = DrawnPairs(names, self.n_points, n_drawn, seed, max(self.columns.sizes))
        flags, numbers = dict(self.layout.flags), self.layout.numbers
        own: dict[str, float | bool] = {}
        if isinstance(alike := flags["alike"], bool):
            own, flags["alike"] = {"alike": alike}, "alike"
        same: dict[str, float | bool] = {str(flags["alike"]): False}
        if isinstance(numbers["weight"], str):
            same[numbers["weight"]] = weight
        columns = JoinedColumns((self.columns, drawn), (own, same))
        layout = Layout(self.layout.points, flags, numbers)
        return type(self)(columns, layout, self.n_points, n_drawn)

    def _check(self, points: Sequence[np.ndarray], place: Callable[[int], str]) -> None:
        tables.check_differ(points, "the table", (0, 1), tables.DIFFERENT, place)

    def _uses(self, found: Chunk, name: str) -> np.ndarray | None:
        alike = found.numbers["alike"]
        return {"upper": alike, "lower": ~alike}.get(name)

    def _state(self, found: Chunk, loss: BoundedLoss, bounds: Any) -> list[Stated]:
        alike, numbers = found.numbers["alike"], self.layout.numbers
        given = self.layout.flags["alike"]
        needed = given is not False, given is not True
        upper, lower = own_or_given((numbers["upper"], numbers["lower"]), bounds)
        if missing := missing_bounds(upper, lower, needed):
            raise ValueError(
                f"no bound is known ({missing}); pass `bounds=(upper, lower)` in squared distances."
            )
        if all(needed):
            check_not_crossed(upper, lower, "; pass both, so that they fit each other")

        def of_kind(mask: np.ndarray, name: str, bound: Any) -> PairsOfOneKind:
            own = found.take(mask)
            return (
                own.points,
                own.numbers[name] if isinstance(bound, str) else bound,
                own.numbers["weight"],
            )

        near = of_kind(alike, "upper", upper) if needed[0] else None
        far = of_kind(~alike, "lower", lower) if needed[1] else None
        return state_pairs(loss, near, far)

    def _consistent(self, found: Chunk) -> Chunk:
        i, j = (column.astype(np.int64) for column in found.points)
        pair = np.minimum(i, j) * self.n_points + np.maximum(i, j)
        alike = found.numbers["alike"]
        both = np.intersect1d(pair[alike], pair[~alike])
        return found.take(~np.isin(pair, both))

    def _in_memory(self, found: Chunk) -> Pairs:
        alike = found.numbers["alike"]
        near, far = found.take(alike), found.take(~alike)
        return Pairs(
            np.stack(near.points, axis=1),
            np.stack(far.points, axis=1),
            n_points=self.n_points,
            upper=near.numbers["upper"],
            lower=far.numbers["lower"],
            similar_weight=near.numbers["weight"],
            dissimilar_weight=far.numbers["weight"],
        )

    def _order(self, found: Chunk) -> np.ndarray:
        return np.argsort(~found.numbers["alike"], kind="stable")

    def _name(self, found: Chunk, row: int) -> str:
        side = "similar" if found.numbers["alike"][row] else "dissimilar"
        return f"the {side} pair {tables.row_of(found.points, row)}"
