"""n x d, one row a point: what estimators learn from. Pairs name rows of X, and are not X themselves."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

__all__ = ["validated"]


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """X by scikit-learn's `validate_data`; for pairs of points, m x 2 x d, a sentence that says how."""
    try:
        return validate_data(estimator, X, **options)
    except ValueError:
        # Of lists; as objects, those of different lengths are an array, too.
        shape = X.shape if hasattr(X, "shape") else np.asarray(X, dtype=object).shape
        if len(shape) != 3 or shape[1] != 2:
            raise
    raise ValueError(
        f"`X` has shape {tuple(shape)}, which are pairs of points, but its rows are the points; pass X = "
        f"pairs.reshape(-1, {shape[2]}), of which rows 2k and 2k + 1 are pair k, and side=Pairs(similar, "
        "dissimilar, n_points=len(X)) of such row numbers."
    )
