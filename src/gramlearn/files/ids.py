"""7, 7.0, "7" and " 7 " are the id "7": ids are joined as text."""

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

_POINT_ZERO = re.compile(r"-?\d+\.0")
_MOST_EXACT = 2.0**53


def id_texts(cells: Any) -> list[str | None]:
    """The cells of a column as ids; None where there is none.

    Where every cell is like 7.0, the column is of whole numbers that were written as others: pandas does so
    where one of them is missing.
    """
    if isinstance(cells, np.ndarray) and cells.ndim == 1:
        cells = cells.tolist()
    texts = [_text(cell) for cell in cells]
    if _are_whole_numbers(texts):
        return [None if text is None else text[:-2] for text in texts]
    return texts


def _text(cell: Any) -> str | None:
    if isinstance(cell, str):
        return cell.strip() or None
    if cell is None:
        return None
    if isinstance(cell, float | np.floating):
        number = float(cell)
        if math.isnan(number):
            return None
        is_whole = abs(number) <= _MOST_EXACT and number == int(number)
        return str(int(number) if is_whole else number)
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace").strip() or None
    return str(cell).strip() or None


def _are_whole_numbers(texts: Iterable[str | None]) -> bool:
    some = False
    for text in texts:
        if text is not None:
            if not _POINT_ZERO.fullmatch(text):
                return False
            some = True
    return some
