"""Checks of index tables and of the numbers that go with their rows.

All of them are a few array operations in the library of the indices, so that millions of pairs are
checked in the time of a sort. A row is looked at alone only to word the message about it.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gramlearn._base.arrays import Array, as_index, as_real, is_array, namespace, read, where_true
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import as_float, as_numbers, as_row_numbers, check_count, not_whole

_MOST_POINTS = math.isqrt(2**63 - 1)  # whose pairs have numbers of 64 bits

__all__ = [
    "check_bounds",
    "check_differ",
    "check_n_points",
    "check_numbers",
    "check_once",
    "check_range",
    "check_rows",
    "check_table",
    "contiguous_columns",
    "first_true",
    "pair_keys",
    "rows_of",
]


def check_n_points(value: Any, owner: str) -> int:
    """The number of points, without which an index that is too large cannot be told."""
    if value is None:
        raise TypeError(
            f"`{owner}(...)` needs n_points=, the number of points its indices refer to: "
            "n_points=len(X)."
        )
    try:
        return check_count(value, "n_points", most=_MOST_POINTS)
    except TypeError:
        raise TypeError(
            f"`n_points` must be a whole number of at least 1; got {value!r}."
        ) from None


def first_true(mask: Array) -> int:
    """Give the first index at which the mask holds."""
    xp = namespace(mask)
    return int(xp.argmax(xp.astype(mask, xp.int8)))


def check_table(x: Any, name: str, widths: tuple[int, ...], n_points: int) -> Array:
    """An m x w table of row indices as int64, w one of `widths`, in its own library."""
    wanted = " or ".join(f"(m, {w})" for w in widths)
    table = as_row_numbers(x, name)
    xp = namespace(table)
    if 0 in table.shape:
        # An empty list has neither a width nor a dtype of its own.
        return xp.zeros((0, widths[0]), dtype=xp.int64)
    if table.ndim == 3 and table.shape[1] in widths:
        _, w, d = table.shape
        rows = ", ".join([f"{w}k", *(f"{w}k + {c}" for c in range(1, w))])
        raise ValueError(
            f"`{name}` has shape {tuple(table.shape)}, which are points; pass their row numbers, of shape "
            f"{wanted}: with X = all_points.reshape(-1, {d}), those of all_points[k] are ({rows})."
        )
    if table.ndim != 2 or table.shape[1] not in widths:
        raise ValueError(
            f"`{name}` must have the shape {wanted}, one row for each; got shape "
            f"{tuple(table.shape)}."
            + (f" For one row pass {name}=[[...]]." if table.ndim == 1 else "")
        )
    if not xp.isdtype(table.dtype, "integral"):
        raise TypeError(not_whole(table, name))
    check_range(table, name, n_points)
    return xp.astype(table, xp.int64, copy=False)


def check_range(index: Array, name: str, n_points: int) -> None:
    """Every entry in [0, n_points)."""
    xp = namespace(index)
    least, largest = int(xp.min(index)), int(xp.max(index))
    if least < 0:
        raise ValueError(
            f"`{name}` contains {least}; row indices start at 0, and negative ones are not counted "
            "from the end."
        )
    if largest >= n_points:
        raise ValueError(
            f"`{name}` refers to row {largest}, but n_points is {n_points}: rows are 0 to {n_points - 1}."
        )


def check_differ(table: Array, name: str, columns: tuple[int, int], why: str) -> None:
    """No row with the same index in the two columns."""
    first, second = columns
    equal = table[:, first] == table[:, second]
    if bool(namespace(table).any(equal)):
        k = first_true(equal)
        row = tuple(int(table[k, c]) for c in range(table.shape[1]))
        raise ValueError(f"`{name}` contains {row} (row {k}); {why}.")


def pair_keys(table: Array, n_points: int) -> Array:
    """One number for each pair, the same for (i, j) and (j, i): min * n_points + max."""
    xp = namespace(table)
    i, j = table[:, 0], table[:, 1]
    return xp.minimum(i, j) * n_points + xp.maximum(i, j)


def check_once(table: Array, name: str, n_points: int, advice: str) -> None:
    """No pair twice, in either order."""
    keys = pair_keys(table, n_points)
    xp = namespace(keys)
    ordered = xp.sort(keys, stable=False)
    again = ordered[1:] == ordered[:-1]
    if bool(xp.any(again)):
        key = int(ordered[first_true(again)])
        places = where_true(keys == key)
        raise ValueError(
            f"{name} lists the pair {divmod(key, n_points)} twice, at positions "
            f"{int(places[0])} and {int(places[1])}; {advice}."
        )


def check_numbers(
    x: Any,
    name: str,
    index: Array,
    describe: Callable[[int], str],
    *,
    positive: bool = False,
    infinite: bool = False,
) -> Any:
    """None, one number as a float, or a vector with one for each row of `index`; never negative.

    `positive` excludes zero, `infinite` admits +inf.
    """
    if x is None:
        return None
    size = int(index.shape[0])
    xp = namespace(index)
    x = check_unmasked(x, name)
    try:
        given = x if is_array(x) else np.asarray(x, dtype=np.float64)
    except OverflowError:
        given = x  # a whole number with too many digits, which `as_numbers` names
    except (TypeError, ValueError):
        raise TypeError(
            f"`{name}` must be one number, or one for each row; got {x!r:.60}."
        ) from None
    numbers = as_real(as_numbers(given, name), xp.astype(index[:0, 0], xp.float64))
    if numbers.ndim and tuple(numbers.shape) != (size,):
        raise ValueError(
            f"`{name}` has shape {tuple(numbers.shape)}, but {size} numbers are expected; pass one "
            "number for all, or one for each."
        )
    rule = "positive" if positive else "at least 0"
    rule = rule if infinite else f"{rule} and finite"
    right = (numbers > 0) if positive else (numbers >= 0)  # NaN is neither
    right = right if infinite else right & xp.isfinite(numbers)
    if bool(xp.all(right)):
        return numbers if numbers.ndim else read(numbers)
    if not numbers.ndim:
        raise ValueError(f"`{name}` must be {rule}; got {read(numbers)}.")
    k = first_true(~right)
    raise ValueError(f"`{name}` is {read(numbers[k])} for {describe(k)}; it must be {rule}.")


def check_bounds(bounds: Any) -> tuple[float | None, float | None]:
    """(upper, lower) in squared distances, either of them None where it is not known."""
    if bounds is None:
        return None, None
    try:
        upper, lower = (None if b is None else as_float(b) for b in bounds)
    except (TypeError, ValueError):
        raise TypeError(
            f"`bounds` must be (upper, lower), two squared distances; got {bounds!r}."
        ) from None
    for name, b in (("upper", upper), ("lower", lower)):
        if b is not None and not (math.isfinite(b) and b >= 0):
            raise ValueError(
                f"`bounds=(upper, lower)`: {name} must be at least 0 and finite; got {b}."
            )
    return upper, lower


def check_rows(x: Any, n_points: int, like: Array) -> Array:
    """Distinct row indices, or a mask of n_points booleans, in the library of `like`."""
    rows = as_row_numbers(x, "rows")
    xp = namespace(rows)
    if rows.ndim != 1:
        raise ValueError(f"`rows` must be one-dimensional; got shape {tuple(rows.shape)}.")
    if xp.isdtype(rows.dtype, "bool"):
        if rows.shape[0] != n_points:
            raise ValueError(
                f"`rows` is a mask of length {rows.shape[0]}, but n_points is {n_points}."
            )
        rows = where_true(rows)
    if rows.shape[0] == 0:
        raise ValueError("`rows` is empty; a subset needs at least one point.")
    if not xp.isdtype(rows.dtype, "integral"):
        raise TypeError(not_whole(rows, "rows"))
    check_range(rows, "rows", n_points)
    rows = as_index(rows, like)
    xp = namespace(rows)
    ordered = xp.sort(rows, stable=False)
    twice = ordered[1:] == ordered[:-1]
    if bool(xp.any(twice)):
        raise ValueError(
            f"`rows` lists row {int(ordered[first_true(twice)])} twice; a point is in a subset "
            "once, or not at all."
        )
    return rows


def rows_of(x: Any, keep: Array) -> Any:
    """The entries of a vector at `keep`; None and one number stay as they are."""
    return x if x is None or isinstance(x, float) else namespace(x).take(x, keep)


def contiguous_columns(table: Array) -> tuple[Array, ...]:
    """The columns as vectors of their own; a strided view would slow down every later scan."""
    return tuple(table[:, c] + 0 for c in range(table.shape[1]))
