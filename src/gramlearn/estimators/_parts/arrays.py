"""Array("m", "d"): arrays, whose sizes by the same name are the same in all of a file."""

import math
from typing import Any, final

import numpy as np

from gramlearn.estimators._parts.base import FilePart, Incoming, Outgoing
from gramlearn.estimators._parts.plain import NotPlainError, Plain
from gramlearn.estimators._parts.words import read_word
from gramlearn.files.model_file import is_storable


@final
class Array(FilePart):
    """An array of such sizes: a number, or a symbol that stands for the same size wherever it comes.

    `kind` is that of its type, "f" for floats, "i" for whole numbers, which are at least 0. A size may be 0
    where its symbol ends with a question mark, and is that number where it is one.
    """

    is_plain = False

    def __init__(
        self,
        *sizes: str,
        kind: str = "f",
        least: float = -math.inf,
        points: bool = False,
        may_be_infinite: bool = False,
    ) -> None:
        self.sizes, self._kind, self._points = sizes, kind, points
        self._least = 0 if kind == "i" else least
        self._may_be_infinite = may_be_infinite

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        array = np.asarray(value)
        wrong = None if is_storable(array) else f"has the type {array.dtype}"
        if (wrong := wrong or self._complaint(array)) is not None:
            raise ValueError(f"the model cannot be saved: its `{name}` {wrong}.")
        return to.keep(array, name, are_points=self._points)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        array = of.array(given, name)
        if (wrong := self._complaint(array)) is not None:
            of.fail(name, wrong)
        for symbol, size in zip(self.sizes, array.shape, strict=True):
            if size == 0 and not symbol.endswith("?"):
                of.fail(name, "is empty")
            if symbol.isdecimal() and size != int(symbol):
                of.fail(name, f"has {size} of what should be {symbol}")
            of.agree(symbol.rstrip("?"), size, name)
        return array

    def _complaint(self, array: np.ndarray) -> str | None:
        if array.dtype.kind != self._kind or array.ndim != len(self.sizes):
            return f"is an array of {array.dtype} with {array.ndim} dimensions"
        wrong = np.isnan if self._may_be_infinite else _are_not_finite
        if self._kind == "f" and wrong(array).any():
            return "holds NaN" if self._may_be_infinite else "holds NaN or infinity"
        if array.size and array.min() < self._least:
            return f"holds numbers below {self._least:g}"
        return None


@final
class Either(FilePart):
    """An array of one number of dimensions or of another."""

    is_plain = False

    def __init__(self, *arrays: Array) -> None:
        self._by_dimension = {len(array.sizes): array for array in arrays}

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return self._by_dimension[np.ndim(value)].write(value, name, to)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        dimensions = of.array(given, name).ndim
        if dimensions not in self._by_dimension:
            of.fail(name, f"has {dimensions} dimensions")
        return self._by_dimension[dimensions].read(given, name, of)


@final
class Labels(FilePart):
    """Numbers, or words: as an array, or as a list of what JSON has."""

    is_plain = False

    def __init__(self, symbol: str) -> None:
        self._symbol = symbol

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        labels = np.asarray(value)
        if labels.dtype.kind not in "OU":
            if not is_storable(labels):
                kind = labels.dtype
                raise ValueError(f"the model cannot be saved: its `{name}` are {kind}; use text.")
            return to.keep(labels, name)
        try:
            words = [Plain().write(label, name, to) for label in labels.tolist()]
        except NotPlainError as error:
            raise ValueError(
                f"the model cannot be saved: `{name}` holds {error}; use text or numbers."
            ) from None
        return {"words": words, "are_objects": labels.dtype.kind == "O"}

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if not isinstance(given, dict) or set(given) != {"words", "are_objects"}:
            labels = of.array(given, name)
            if labels.ndim != 1 or (labels.dtype.kind == "f" and np.isnan(labels).any()):
                of.fail(name, "is no vector of labels")
        else:
            words = given["words"]
            if not isinstance(words, list) or not isinstance(given["are_objects"], bool):
                of.fail(name, "is no list of labels")
            found = [read_word(word, name, of) for word in words]
            if not given["are_objects"] and not all(isinstance(word, str) for word in found):
                of.fail(name, "is no list of texts")
            longest = max((len(str(word)) for word in found), default=0)
            # As an array all words take as much as the longest.
            if not given["are_objects"] and longest * len(found) > 2**24:
                of.fail(name, "has words that are too long")
            labels = np.empty(len(found), dtype=object)
            labels[:] = found
            labels = labels if given["are_objects"] else labels.astype(str)
        of.agree(self._symbol, len(labels), name)
        return labels


def _are_not_finite(array: np.ndarray) -> np.ndarray:
    return ~np.isfinite(array)
