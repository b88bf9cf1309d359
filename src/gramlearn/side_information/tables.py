"""Tables of row indices and the numbers that go with their rows: checked, joined, merged, renumbered.

All of it is a few array operations in the library of the indices, so that millions of pairs take the time of
a sort. A row is looked at alone only to word the message about it.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gramlearn._base.arrays import (
    Array,
    as_index,
    as_real,
    clipped,
    constant,
    every_row,
    is_array,
    is_missing,
    namespace,
    read,
    to_numpy,
    where_true,
)
from gramlearn._base.unreadable import check_unmasked
from gramlearn._base.validation import as_numbers, as_row_numbers, check_count, not_whole

DIFFERENT = "a pair needs two different points"
_ODD = 0x1E3779B97F4A7C15  # of 61 bits, which look random
_MOST_POINTS = math.isqrt(2**63 - 1)  # whose pairs have numbers of 64 bits


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
        return xp.reshape(every_row(0, table), (0, widths[0]))
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
    if not index.shape[0]:
        return
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


def views(table: Array) -> tuple[Array, ...]:
    """The columns where they are."""
    return tuple(table[:, c] for c in range(table.shape[1]))


def number_of(row: int) -> str:
    """Where a row is, in a table that has one number for each."""
    return f"row {row}"


def check_differ(
    columns: Sequence[Array],
    name: str,
    pair: tuple[int, int],
    why: str,
    place: Callable[[int], str] = number_of,
) -> None:
    """No row with the same index in the two columns."""
    first, second = pair
    equal = columns[first] == columns[second]
    if bool(namespace(equal).any(equal)):
        k = first_true(equal)
        raise ValueError(f"{name} contains {row_of(columns, k)} ({place(k)}); {why}.")


def row_of(columns: Sequence[Array], k: int) -> tuple[int, ...]:
    """The numbers of a row."""
    return tuple(int(column[k]) for column in columns)


def check_comparisons(
    columns: Sequence[Array], name: str, place: Callable[[int], str] = number_of
) -> None:
    """Three different points a row, or two different pairs, each of two different points."""
    if len(columns) == 3:
        for pair in ((0, 1), (0, 2), (1, 2)):
            check_differ(columns, name, pair, "a triplet needs three different points", place)
        return
    for pair in ((0, 1), (2, 3)):
        check_differ(columns, name, pair, DIFFERENT, place)
    i, j, k, l = columns  # noqa: E741 - the letters of (i, j, k, l)
    same = ((i == k) & (j == l)) | ((i == l) & (j == k))
    if bool(namespace(same).any(same)):
        at = first_true(same)
        raise ValueError(
            f"{name} contains {row_of(columns, at)} ({place(at)}); it compares a pair with itself."
        )


def pair_keys(table: Array, n_points: int) -> Array:
    """One number for each pair, the same for (i, j) and (j, i): min * n_points + max."""
    xp = namespace(table)
    i, j = table[:, 0], table[:, 1]
    return xp.minimum(i, j) * n_points + xp.maximum(i, j)


def repeated(numbers: Array) -> Array:
    """The numbers that occur again, in ascending order; one that occurs three times is listed twice."""
    if not numbers.shape[0]:
        return numbers
    ordered = namespace(numbers).sort(numbers, stable=False)
    return ordered[1:][ordered[1:] == ordered[:-1]]


def check_once(table: Array, name: str, n_points: int, advice: str) -> None:
    """No pair twice, in either order."""
    keys = pair_keys(table, n_points)
    if (twice := repeated(keys)).shape[0]:
        key = int(twice[0])
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
    like = xp.astype(index[:0, ...], xp.float64)
    numbers = as_real(as_numbers(given, name), like, names=(f"`{name}`", "the row numbers"))
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
    rows = as_index(rows, like, ("`rows`", "the row numbers of the statements"))
    if (twice := repeated(rows)).shape[0]:
        raise ValueError(
            f"`rows` lists row {int(twice[0])} twice; a point is in a subset once, or not at all."
        )
    return rows


def rows_left(mask: Array, like: Array) -> Array:
    """The statements that a mask does not leave out, in the library of their row numbers."""
    return as_index(where_true(~mask), like, ("`mask`", "the row numbers of the statements"))


def rows_of(x: Any, keep: Array) -> Any:
    """The entries of a vector at `keep`; None and one number stay as they are."""
    return x if x is None or isinstance(x, float) else namespace(x).take(x, keep)


def contiguous_columns(table: Array) -> tuple[Array, ...]:
    """The columns as vectors of their own; a strided view would slow down every later scan."""
    return tuple(table[:, c] + 0 for c in range(table.shape[1]))


def renumber(table: Array, rows: Any, n_points: int) -> tuple[Array, Array, int]:
    """(the table within `rows`, in new numbers; which of its rows these are; the new n_points)."""
    rows = check_rows(rows, n_points, table)
    xp = namespace(table)
    order = xp.argsort(rows)
    ordered = xp.take(rows, order)
    # The new number of every old point, by one search for 0..n-1 instead of one a table entry.
    old = every_row(n_points, table)
    place = clipped(xp.searchsorted(ordered, old), high=rows.shape[0] - 1)
    kept = xp.take(ordered, place) == old
    new = xp.where(kept, xp.take(order, place), xp.full_like(old, -1))
    columns = [xp.take(new, table[:, c]) for c in range(table.shape[1])]
    renumbered = xp.stack(columns, axis=1)
    inside = where_true(xp.all(renumbered >= 0, axis=1))
    return xp.take(renumbered, inside, axis=0), inside, int(rows.shape[0])


def join_tables(first: Array, second: Array) -> Array:
    """The rows of one table, then those of the other, in the library of the first that has any."""
    like = first if first.shape[0] else second
    return namespace(like).concat([as_index(first, like), as_index(second, like)])


def join_numbers(given: tuple[Any, Any], sizes: tuple[int, int], table: Array, name: str) -> Any:
    """The numbers of two tables of these sizes, joined as `table` is; one number where all are the same.

    A table without rows is ignored. None, a bound yet to be found, cannot be joined with a number.
    """
    first, second = given
    if not all(sizes):
        return first if sizes[0] else second
    if first is None and second is None:
        return None
    if first is None or second is None:
        raise ValueError(
            f"one of the two has `{name}` and the other has none; pass it to both, or to neither."
        )
    if isinstance(first, float) and isinstance(second, float) and first == second:
        return first
    xp = namespace(table)
    like = xp.astype(table[:0, 0], xp.float64)
    parts = [
        constant(x, like, size) if isinstance(x, float) else as_real(x, like)
        for x, size in zip(given, sizes, strict=True)
    ]
    return xp.concat(parts)


def join_weights(given: tuple[Any, Any], sizes: tuple[int, int], table: Array) -> Any:
    """The weights of two tables, joined; they are 1 where none are given."""
    first, second = (1.0 if weight is None else weight for weight in given)
    joined = join_numbers((first, second), sizes, table, "weight")
    return None if isinstance(joined, float) and joined == 1.0 else joined


def weights_in_full(weight: Any, size: int) -> np.ndarray:
    """One weight for each row, in host memory."""
    return np.broadcast_to(1.0 if weight is None else to_numpy(weight), size)


def rows_with(keys: Array, some: Array) -> Array:
    """The rows whose key is one of `some`, which ascend and are few."""
    return where_true(~is_missing(keys, some))


def rows_alike(keys: Sequence[Array]) -> Array:
    """The rows that may have the keys of another row: all that do, and next to no others."""
    # Keys are 64 bits, whose sums wrap around; odd multiples tell which key is which.
    mixed = keys[0]
    for key in keys[1:]:
        mixed = mixed * _ODD + key
    return rows_with(mixed, repeated(mixed))


def merge_repeats(
    table: Array, rows: Array, keys: Sequence[Array], numbers: Any, weight: Any
) -> tuple[Array, Any, Any]:
    """(table, numbers, weight) with each statement once; the weights of repeated ones add up, 1 without any.

    Two rows are the same statement where `keys` and `numbers` are equal, which is asked of `rows` alone; keys
    are those of these rows. The first of them stays, in its place.
    """
    if rows.shape[0] < 2:
        return table, numbers, weight
    xp = namespace(table)
    own = rows_of(numbers, rows)
    codes, *others = keys if own is None or isinstance(own, float) else [*keys, own]
    for other in others:  # by their ranks, for a product of the keys themselves may overflow
        ranks, more = (xp.unique_inverse(x).inverse_indices for x in (codes, other))
        codes = ranks * table.shape[0] + more
    _, first, group = np.unique(to_numpy(codes), return_index=True, return_inverse=True)
    if len(first) == len(group):
        return table, numbers, weight
    some = to_numpy(rows)
    total = weights_in_full(weight, table.shape[0]).copy()
    total[some[first]] = np.bincount(group, weights=total[some])
    stays = np.ones(len(total), dtype=bool)
    stays[np.delete(some, first)] = False
    kept = as_index(np.flatnonzero(stays), table)
    like = xp.astype(table[:0, 0], xp.float64)
    return xp.take(table, kept, axis=0), rows_of(numbers, kept), as_real(total[stays], like)
