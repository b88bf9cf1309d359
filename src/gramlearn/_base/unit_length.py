"""x / |x| of each row, by its largest entry first, so that no square leaves the range of numbers."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramlearn._base.arrays import Array, namespace
from gramlearn._base.points import row_squares


def of_unit_length(X: Any, name: str, advice: str, first: int = 0) -> Any:
    """Rows `first` onwards of `name`, dense or sparse, in their precision; a row of zeros is refused."""
    xp = np if issparse(X) else namespace(X)
    size = abs(X).max(axis=1).toarray().reshape(-1) if issparse(X) else xp.max(xp.abs(X), axis=1)
    if not xp.all(size >= float(xp.finfo(X.dtype).smallest_normal)):
        row = first + int(xp.argmin(size))
        raise ValueError(
            f"`{name}` has a row of zeros (row {row}), which has no direction; {advice}."
        )
    X = _divided_rows(X, size)
    return _divided_rows(X, xp.sqrt(row_squares(X)))


def _divided_rows(X: Any, by: Array) -> Any:
    if not issparse(X):
        return X / by[:, None]
    return csr_array(X.multiply((1 / by)[:, None]), dtype=X.dtype)
