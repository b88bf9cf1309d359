"""Where what is known of statements stands in a table, and a chunk of it in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from gramlearn._base.validation import describe_value
from gramlearn.side_information import tables
from gramlearn.sources.columns import NUMBERS, ROW_NUMBERS, YES_OR_NO, Wanted


@final
@dataclass(frozen=True, eq=False)
class Chunk:
    """Statements in memory: the points of each, and what else is known of it.

    `numbers` holds for each name one number for all statements, one for each, or None.
    """

    points: tuple[np.ndarray, ...]
    numbers: Mapping[str, Any]

    @property
    def size(self) -> int:
        """How many statements there are."""
        return len(self.points[0])

    def take(self, rows: np.ndarray) -> "Chunk":
        """Some of the statements, by their numbers or by a mask."""
        if rows.dtype == bool:
            if rows.all():
                return self
            rows = np.flatnonzero(
                rows
            )  # six times as fast as to take by the mask, for several columns
        numbers = {
            name: value[rows] if isinstance(value, np.ndarray) else value
            for name, value in self.numbers.items()
        }
        return Chunk(tuple(column[rows] for column in self.points), numbers)

    @staticmethod
    def join(parts: Sequence["Chunk"]) -> "Chunk":
        """The statements of all parts."""
        columns = zip(*(part.points for part in parts), strict=True)
        numbers = {
            name: np.concatenate([part.numbers[name] for part in parts])
            if isinstance(value, np.ndarray)
            else value
            for name, value in parts[0].numbers.items()
        }
        return Chunk(tuple(np.concatenate(column) for column in columns), numbers)


def is_file(given: Any) -> bool:
    """Whether this is the path of a file, and not a number."""
    return isinstance(given, str | Path)


def one_for_all(given: Any, name: str, otherwise: str) -> float | None:
    """One number that counts for all statements, as a float, or None."""
    if np.ndim(given):
        raise TypeError(
            f"`{name}` must be {otherwise}, or one number for all statements; got {describe_value(given)}."
        )
    none = np.zeros((0, 2))
    found: float | None = tables.check_numbers(
        given, name, none, str, positive=name.endswith("weight")
    )
    return found


@final
@dataclass(frozen=True)
class Layout:
    """Where what is known of a statement stands: the name of its column, or one value for all statements."""

    points: Mapping[str, str]
    flags: Mapping[str, str | bool]
    numbers: Mapping[str, str | float | None]

    def __post_init__(self) -> None:
        for name, given in self.points.items():
            if not isinstance(given, str):
                raise TypeError(f"`{name}` must be the name of a column; got {given!r:.60}.")
        for name, flag in self.flags.items():
            if not isinstance(flag, str | bool):
                raise TypeError(
                    f"`{name}` must be the name of a column, or True or False for all rows; got {flag!r:.60}."
                )
        numbers = {
            name: given
            if isinstance(given, str)
            else one_for_all(given, name, "the name of a column")
            for name, given in self.numbers.items()
        }
        object.__setattr__(self, "numbers", numbers)

    @property
    def stored(self) -> dict[str, str]:
        """The names of the columns that are read, by what they are for."""
        every: dict[str, object] = {**self.points, **self.flags, **self.numbers}
        return {name: given for name, given in every.items() if isinstance(given, str)}

    @property
    def wanted(self) -> list[Wanted]:
        """The same columns, and what they must hold."""
        kinds = [dict.fromkeys(self.points, ROW_NUMBERS), dict.fromkeys(self.flags, YES_OR_NO)]
        kind_of = {**kinds[0], **kinds[1]}
        return [
            Wanted(name, column, kind_of.get(name, NUMBERS)) for name, column in self.stored.items()
        ]
