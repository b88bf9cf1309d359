"""7, "7" and " 7 " are the id "7": ids are joined as text.

Tools write whole numbers as 7 or as 7.0, so these two mean one point, unless the points have both.
"""

import math
import re
from typing import Any

import numpy as np

_WHOLE = re.compile(r"(-?\d+)(\.0)?")
_MOST_EXACT = 2.0**53


def id_texts(cells: Any) -> list[str | None]:
    """The cells of a column as ids; None where there is none."""
    if isinstance(cells, np.ndarray) and cells.ndim == 1:
        cells = cells.tolist()
    return [_text(cell) for cell in cells]


def other_spelling(text: str) -> str | None:
    """7 for 7.0 and 7.0 for 7; None of all that is no whole number."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    return match[1] if match[2] else f"{text}.0"


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
