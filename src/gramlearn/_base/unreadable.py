"""Say in one sentence why an argument is not a table of real numbers, and which entry is at fault.

Array libraries refuse such arguments in their own terms, or accept them silently: entries under a mask, dates
as counts of seconds. Only what they refuse is examined here, entry by entry.
"""

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import is_elsewhere, namespace, to_numpy

_RESHAPE = "Reshape your data: {0}.reshape(-1, 1) if it is one feature, {0}.reshape(1, -1) if it is one point"


def check_no_list_of_tensors(x: Any, name: str, least: int = 1) -> None:
    """Refuse lists of tensors of so many dimensions: NumPy makes an array of them, or cannot, from a GPU."""
    first = x
    while isinstance(first, list | tuple) and len(first):
        first = first[0]
    if first is not x and is_elsewhere(first) and first.ndim >= least:
        library = namespace(first).__name__.rsplit(".", 1)[-1]
        raise TypeError(
            f"`{name}` is a {type(x).__name__} of {library} arrays; pass one array, such as "
            f"{library}.stack({name})."
        )


def refuse_pairs_as_points(name: str, shape: tuple[int, ...]) -> None:
    """Say how pairs of points are passed where points are asked for."""
    if name == "X" and len(shape) == 3 and shape[1] == 2:
        raise ValueError(
            f"`X` has shape {shape}, which are pairs of points, but its rows are the points; pass X = "
            f"pairs.reshape(-1, {shape[2]}), of which rows 2k and 2k + 1 are pair k, and side=Pairs(similar, "
            "dissimilar, n_points=len(X)) of such row numbers."
        )


def check_unmasked(x: Any, name: str) -> Any:
    """x as it is; of a masked array the array itself, where nothing is masked."""
    if not isinstance(x, np.ma.MaskedArray):
        return x
    hidden = np.ma.getmaskarray(x)
    if hidden.any():
        where = tuple(int(k) for k in np.argwhere(hidden)[0])
        raise ValueError(
            f"`{name}` is a masked array with {int(hidden.sum())} masked entries (first at {_place(where)}), "
            "which would be taken as they lie under the mask; remove or impute them first."
        )
    return np.asarray(x)


def complaint(x: Any, name: str, *, flat: bool = True, finite: bool = True) -> Exception | None:
    """What keeps x from being numbers, two-dimensional if `flat`, all `finite`; None where nothing does."""
    if x is None or isinstance(x, str | bytes | Mapping | Set | Iterator):
        wanted = "be a table of numbers, one row a point" if flat else "hold numbers"
        kind = "None" if x is None else f"a {type(x).__name__}"
        return TypeError(f"`{name}` must {wanted}; got {kind}.")
    if issparse(x):
        return _not_numbers(x.data, name) or (_not_finite(x.tocoo(), name) if finite else None)
    if hasattr(x, "columns") and hasattr(x, "dtypes"):
        return _of_frame(x, name, finite)
    try:
        array = to_numpy(x)
    except ValueError:
        return _ragged(x, name)
    wrong = _not_numbers(array, name)
    if wrong is not None:
        return wrong
    if flat and array.ndim != 2:
        advice = f" {_RESHAPE.format(name)}." if array.ndim == 1 else ""
        return ValueError(
            f"`{name}` must be two-dimensional, one row a point; got shape {array.shape}.{advice}"
        )
    return _not_finite(array, name) if finite else None


def _place(where: tuple[int, ...]) -> str:
    if len(where) == 2:
        return f"row {where[0]}, column {where[1]}"
    return f"row {where[0]}" if len(where) == 1 else f"{where}"


def _at(where: tuple[int, ...]) -> str:
    """The place of an entry; of a number by itself, none."""
    return f" at {_place(where)}" if where else ""


def _ragged(x: Any, name: str) -> Exception:
    """Rows of different lengths, or what else makes no array."""
    sizes = [len(row) if hasattr(row, "__len__") else None for row in x]
    other = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
    if other is None:
        return ValueError(
            f"`{name}` holds lists of different lengths; pass as many numbers in each."
        )
    lengths = [f"row {k} has {'no' if sizes[k] is None else sizes[k]} entries" for k in (0, other)]
    return ValueError(
        f"`{name}` has rows of different lengths: {' and '.join(lengths)}; pass as many numbers for each point."
    )


def _not_numbers(array: np.ndarray, name: str) -> Exception | None:
    kind = array.dtype.kind
    if kind == "c":
        return ValueError(
            f"Complex data not supported: `{name}` has dtype {array.dtype}; pass real numbers, such as "
            f"{name}.real."
        )
    if kind in "mM":
        return TypeError(
            f"`{name}` holds dates or times ({array.dtype}); pass numbers, such as days since the first."
        )
    if kind == "V":
        return TypeError(
            f"`{name}` holds records ({array.dtype}); pass a table of numbers, one column a field."
        )
    if kind in "OUS":
        return _first_that_is_none(array, name)
    return None


def _first_that_is_none(array: np.ndarray, name: str) -> Exception | None:
    for where, entry in np.ndenumerate(array):
        if entry is None:
            continue  # a number that is missing, as NaN is
        try:
            float(entry)
        except OverflowError:
            return ValueError(
                f"`{name}` holds a whole number{_at(where)} beyond the range of numbers, 1.8e308; pass a "
                "smaller one."
            )
        except (TypeError, ValueError) as refused:
            if type(entry).__name__ == "NAType":
                continue
            # A type that is no number, or a word that does not read as one; scikit-learn tells the two apart.
            kind = TypeError if isinstance(refused, TypeError) else ValueError
            shown = entry.item() if isinstance(entry, np.generic) else entry
            return kind(
                f"`{name}` holds {shown!r:.40}{_at(where)}; each entry of the argument must be a "
                "number, or a string that reads as a number: encode it as numbers, or leave it out."
            )
    return None


def _of_frame(frame: Any, name: str, finite: bool) -> Exception | None:
    for place, column in enumerate(frame.columns):
        values = (
            to_numpy(frame.iloc[:, place]) if hasattr(frame, "iloc") else to_numpy(frame[column])
        )
        wrong = _not_numbers(values, f"{name}[{column!r}]")
        if wrong is not None:
            return wrong
    try:
        return _not_finite(np.asarray(frame, dtype=np.float64), name) if finite else None
    except (TypeError, ValueError):  # NA of pandas, which is no float
        return ValueError(f"`{name}` has missing entries; remove or impute those entries first.")


def _not_finite(array: Any, name: str) -> Exception | None:
    values = array.data if issparse(array) else array
    with np.errstate(over="ignore", invalid="ignore"):
        wrong = ~np.isfinite(values.astype(np.float64))
    if not wrong.any():
        return None
    where = np.argwhere(wrong)[0]
    row = array.coords[0][where[0]] if issparse(array) else where[0] if len(where) else 0
    return ValueError(
        f"`{name}` contains NaN or infinity (first at row {int(row)}); remove or impute those entries first."
    )
