"""Points that an export holds: n x d numbers with n ids, looked at and handed on a block of rows at a time.

So a table of vectors that is larger than memory, as a .npy file on disk, can be mapped and written.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from gramlearn.sources.errors import FileError

_BLOCK = 2**22  # numbers in a block: 32 MB
_FLOATS = (np.float32, np.float64)


@final
@dataclass(frozen=True, eq=False)
class Points:
    """Rows of numbers, and an id for each: whole numbers, or texts."""

    rows: np.ndarray
    ids: np.ndarray
    are_named: bool  # by ids that were given; else these are row numbers

    @classmethod
    def of(cls, points: Any, ids: Any, n_features: int, names: Sequence[str] | None) -> Self:
        """Points from an array, a data frame or the path of a .npy file; ids are row numbers if None."""
        if isinstance(points, str | os.PathLike):
            points = _on_disk(Path(points))
        rows = as_vectors(points, "points", n_features, names)
        return cls(rows, read_ids(ids, len(rows)), ids is not None)

    @property
    def has_texts(self) -> bool:
        """Whether the ids are texts."""
        return self.ids.dtype == object

    def blocks(self, width: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """(number of the first row, ids, rows in double precision), for output of `width` columns."""
        step = max(1, _BLOCK // max(width, self.rows.shape[1]))
        for first in range(0, len(self.rows), step):
            rows = np.asarray(self.rows[first : first + step], dtype=np.float64)
            yield first, self.ids[first : first + step], finite_block(rows, "points", first)


def as_vectors(
    X: Any, name: str, n_features: int | None = None, names: Sequence[str] | None = None
) -> np.ndarray:
    """A table of real numbers with the columns that the map takes, in their order."""
    # Imported here, for it needs more than NumPy.
    from gramlearn._base.arrays import to_numpy
    from gramlearn._base.validation import as_numbers

    columns = getattr(X, "columns", None)
    if names is not None and columns is not None and list(map(str, columns)) != list(names):
        given = list(map(str, columns))
        other = next(
            (k for k, (a, b) in enumerate(zip(given, names, strict=False)) if a != b), None
        )
        if other is not None:
            raise ValueError(
                f"`{name}` has {given[other]!r} as column {other}, where the map was learned from "
                f"{names[other]!r}; pass the columns in that order."
            )
    table = np.asarray(to_numpy(as_numbers(X, name)))
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"`{name}` must be a table of at least one row and one column; got shape {table.shape}."
        )
    if n_features is not None and table.shape[1] != n_features:
        raise ValueError(
            f"`{name}` has {table.shape[1]} columns, but the map takes vectors of {n_features}; pass "
            "vectors of the model that it was learned from."
        )
    return table


def finite_block(block: np.ndarray, name: str, first: int = 0) -> np.ndarray:
    """Floating numbers without NaN and infinity; what is no float becomes double precision."""
    block = block if block.dtype in _FLOATS else block.astype(np.float64)
    wrong = ~np.isfinite(block).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"`{name}` contains NaN or infinity (first at row {first + int(np.argmax(wrong))}); remove or "
            "impute those entries first."
        )
    return block


def of_length_one(X: np.ndarray, name: str, first: int = 0) -> np.ndarray:
    """x / |x| of each row, rows `first` onwards of `name`."""
    # Imported here, for it needs more than NumPy.
    from gramlearn._base.unit_length import of_unit_length

    advice = "leave it out, for the map is of points scaled to length one"
    return np.asarray(of_unit_length(X, name, advice, first))


def read_ids(ids: Any, n: int) -> np.ndarray:
    """int64, or texts as objects, all different, one a row; row numbers if None."""
    if ids is None:
        return np.arange(n)
    given = ids if isinstance(ids, np.ndarray) else None
    if given is None and not isinstance(ids, str | bytes) and hasattr(ids, "__len__"):
        # As objects: NumPy would make texts of numbers that stand beside texts.
        given = np.empty(len(ids), dtype=object)
        given[:] = list(ids)
    if given is None or given.ndim != 1:
        raise ValueError("`ids` must be a list of whole numbers or of texts, one for each row.")
    if len(given) != n:
        raise ValueError(
            f"`ids` has {len(given)} entries, but `points` has {n} rows; pass one for each."
        )
    kept = _of_one_kind(given)
    distinct, counts = np.unique(kept, return_counts=True)
    if len(distinct) < n:
        twice = distinct[np.argmax(counts > 1)]
        rows = np.flatnonzero(kept == twice)[:2].tolist()
        raise ValueError(
            f"`ids` has {twice!r:.60} twice (rows {rows[0]} and {rows[1]}); pass a different one for each row."
        )
    return kept


def _of_one_kind(ids: np.ndarray) -> np.ndarray:
    if ids.dtype.kind == "U":
        return ids.astype(object)
    kinds = {int} if ids.dtype.kind in "iu" else {_kind(x) for x in ids}
    if kinds == {str}:
        return ids
    if kinds != {int}:
        found = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(
            f"`ids` must be whole numbers, or texts, all of one kind; got {found}: convert them, "
            "such as by str."
        )
    if not all(-(2**63) <= int(end) < 2**63 for end in (ids.min(), ids.max())):
        raise ValueError("`ids` has whole numbers beyond 64 bits; pass them as texts.")
    return ids.astype(np.int64)


def _kind(x: Any) -> type:
    is_whole = isinstance(x, int | np.integer) and not isinstance(x, bool)
    return str if isinstance(x, str) else int if is_whole else type(x)


def _on_disk(path: Path) -> np.ndarray:
    if path.suffix != ".npy":
        raise FileError(
            f"`points` is read from a .npy file, and {path} is none; read it, and pass the vectors as an array."
        )
    try:
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise FileError(f"{path}, the file of `points`, does not exist; check its name.") from None
    except (ValueError, EOFError, OSError) as error:
        raise FileError(
            f"{path} is not a .npy file of numbers ({error}); write it by numpy.save."
        ) from None
