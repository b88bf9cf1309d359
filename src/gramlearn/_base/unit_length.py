"""x / |x| of each row, by its largest entry first, so that no square leaves the range of numbers."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse


def of_unit_length(X: Any, name: str, advice: str, first: int = 0) -> Any:
    """Rows `first` onwards of `name`, dense or sparse, in their precision; a row of zeros is refused."""
    size = abs(X).max(axis=1)
    size = np.asarray(size.toarray() if issparse(size) else size).reshape(-1)
    if not (size >= np.finfo(X.dtype).tiny).all():
        row = first + int(np.argmin(size))
        raise ValueError(
            f"`{name}` has a row of zeros (row {row}), which has no direction; {advice}."
        )
    X = _divided_rows(X, size)
    squares = X.multiply(X).sum(axis=1) if issparse(X) else (X * X).sum(axis=1)
    return _divided_rows(X, np.sqrt(np.asarray(squares).reshape(-1)))


def _divided_rows(X: Any, by: np.ndarray) -> Any:
    if not issparse(X):
        return X / by[:, None]
    return csr_array(X.multiply((1 / by)[:, None]), dtype=X.dtype)
