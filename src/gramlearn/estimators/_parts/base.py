"""value <-> JSON and arrays: the form of all parts of a model file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Never, final

import numpy as np

from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.files.model_file import damaged


@final
class Outgoing:
    """The arrays of a model that is being written; one that is used twice is written once."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._points: list[np.ndarray] = []
        self._names: dict[int, str] = {}

    @property
    def n_points(self) -> int:
        """How many of the points learned from are among them."""
        if len(self._points) < 2:
            return sum(len(points) for points in self._points)
        return len(distinct_rows(np.concatenate(self._points)).first)

    def keep(self, array: np.ndarray, name: str, *, are_points: bool = False) -> dict[str, Any]:
        """The JSON that stands for an array."""
        if are_points and id(array) not in self._names:
            self._points.append(array)
        name = self._names.setdefault(id(array), name)
        if self.arrays.setdefault(name, array) is not array:
            raise RuntimeError(f"two arrays would have the name {name!r:.80}; please report it.")
        # Products with a matrix may round in another way where it lies in memory in another order.
        flags = array.flags
        return {"array": name, "order": "F"} if flags.fnc else {"array": name}


@final
class Incoming:
    """The arrays of a file that is read, and the sizes that they have agreed on so far."""

    def __init__(self, path: str | Path, arrays: Mapping[str, np.ndarray]) -> None:
        self.path = path
        self.arrays = arrays
        self.sizes: dict[str, int] = {}
        self.used: set[str] = set()
        self._turned: dict[str, np.ndarray] = {}

    def fail(self, name: str, why: str) -> Never:
        """Refuse the file."""
        raise damaged(self.path, f"`{name:.120}` {why}")

    def array(self, given: Any, name: str) -> np.ndarray:
        """The array that this JSON stands for."""
        is_one = isinstance(given, dict) and set(given) <= {"array", "order"}
        key = given.get("array") if is_one else None
        order = given.get("order", "C") if is_one else None
        if not isinstance(key, str) or key not in self.arrays or order not in ("C", "F"):
            self.fail(name, "names no array of the file")
        self.used.add(key)
        if order == "C":
            return self.arrays[key]
        if key not in self._turned:
            self._turned[key] = np.asfortranarray(self.arrays[key])
        return self._turned[key]

    def agree(self, symbol: str, size: int, name: str) -> None:
        """Sizes by the same name are the same; one that begins with a dot, among the fields of an object."""
        if symbol.startswith("."):
            symbol = name.rpartition(".")[0] + symbol
        known = self.sizes.setdefault(symbol, size)
        if known != size:
            self.fail(name, f"has a size of {size} where others have {known}")


class FilePart(ABC):
    """How one value is written and read."""

    is_plain = True
    """Whether the header alone tells the value."""

    is_needed = True
    """Whether a file without it is refused."""

    @abstractmethod
    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        """The JSON of a value."""

    @abstractmethod
    def read(self, given: Any, name: str, of: Incoming) -> Any:
        """The value of JSON that may be anything."""
