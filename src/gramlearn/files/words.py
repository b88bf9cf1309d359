"""Yes, same, must-link, 1 -> alike; no, different, cannot-link, 0, -1 -> unlike: judgments in words."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

ALIKE, UNLIKE, NEITHER, NOT_KNOWN = 1, 0, 2, 3

_ALIKE = (
    *("true", "t", "yes", "y", "same", "samegroup", "sameclass", "similar", "alike", "identical"),
    *("match", "matches", "matched", "matching", "positive", "pos", "mustlink", "must", "ml"),
    *("duplicate", "duplicates", "entailment", "equal", "equivalent", "together"),
)
_UNLIKE = (
    *("false", "f", "no", "n", "notsame", "different", "differentgroup", "differentclass"),
    *("dissimilar", "notsimilar", "unlike", "notalike", "distinct", "mismatch", "nomatch"),
    *("notmatch", "nonmatch", "unmatched", "negative", "neg", "cannotlink", "cannot", "cl"),
    *("notduplicate", "nonduplicate", "contradiction", "unequal", "apart"),
)
_NEITHER = (
    *("neutral", "unsure", "skip", "skipped", "unknown", "undecided", "maybe", "dontknow", "idk"),
    *("tie", "unclear", "na", "none"),
)
_WORDS = {
    **dict.fromkeys(_ALIKE, ALIKE),
    **dict.fromkeys(_UNLIKE, UNLIKE),
    **dict.fromkeys(_NEITHER, NEITHER),
}
_IGNORED = re.compile(r"[\s_\-'.’]+")


def read_words(cells: Sequence[Any] | np.ndarray) -> np.ndarray:
    """What each cell says: ALIKE, UNLIKE, NEITHER or NOT_KNOWN."""
    meanings: dict[Any, int] = {}
    said = np.empty(len(cells), dtype=np.int8)
    for row, cell in enumerate(cells.tolist() if isinstance(cells, np.ndarray) else cells):
        key = (type(cell), str(cell))
        if key not in meanings:
            meanings[key] = _meaning(cell)
        said[row] = meanings[key]
    if _is_of_three(cells):
        said[[number_of(cell) == 0 for cell in cells]] = NEITHER
    return said


def are_scores(cells: Sequence[Any] | np.ndarray) -> bool:
    """Whether the cells are numbers, and others among them than -1, 0 and 1."""
    numbers = [number_of(cell) for cell in cells if is_filled(cell)]
    if not numbers or any(number is None for number in numbers):
        return False
    return not set(numbers) <= {-1.0, 0.0, 1.0}


def simple(cell: Any) -> str:
    """A word without spaces, hyphens and the like, in lower case."""
    return _IGNORED.sub("", str(cell)).lower()


def numbers_of(cells: Sequence[Any] | np.ndarray) -> set[float]:
    """The numbers that occur."""
    return {number for cell in cells if (number := number_of(cell)) is not None}


def _is_of_three(cells: Sequence[Any] | np.ndarray) -> bool:
    """Whether the numbers are 1, 0 and -1, and nothing else: then 0 is between alike and unlike."""
    filled = [cell for cell in cells if is_filled(cell)]
    numbers = {number_of(cell) for cell in filled}
    return numbers == {-1.0, 0.0, 1.0}


def _meaning(cell: Any) -> int:
    number = number_of(cell)
    if number is not None:
        return {1.0: ALIKE, 0.0: UNLIKE, -1.0: UNLIKE}.get(number, NOT_KNOWN)
    return _WORDS.get(simple(cell), NOT_KNOWN)


def number_of(cell: Any) -> float | None:
    """The number that a cell is, if it is one."""
    if cell is None or isinstance(cell, list | dict | np.ndarray):
        return None
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_000 as a number
        return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def is_filled(cell: Any) -> bool:
    """Whether there is anything in a cell."""
    return cell is not None and not (isinstance(cell, str) and not cell.strip())
