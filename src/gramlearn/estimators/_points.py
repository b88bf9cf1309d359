"""n x d, one row a point: what estimators learn from. Pairs name rows of X, and are not X themselves.

What scikit-learn refuses is refused in words that say what to do. Points in units so large or so small that
powers of distances leave the range of numbers are refused by `check_extent`: beyond 1e70, or below 1e-70, where
a metric is learned; beyond 1e140 where all is measured in units that the points themselves give.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from gramlearn._base.unreadable import check_unmasked, complaint
from gramlearn._base.validation import check_extent

__all__ = ["validated", "validated_array", "validated_for_kernel"]


def validated(estimator: Any, X: Any, name: str = "X", **options: Any) -> Any:
    """X by scikit-learn's `validate_data`; what it refuses is refused in words that say what to do."""
    X = _looked_at(X, name)
    try:
        with np.errstate(invalid="ignore"):  # of infinities, whose sum scikit-learn looks at
            return validate_data(estimator, X, **options)
    except (TypeError, ValueError, OverflowError):
        _say_why(X, name, **options)
        raise


def validated_array(X: Any, name: str, **options: Any) -> Any:
    """The same by `check_array`, for what is not the X of an estimator."""
    X = _looked_at(X, name)
    try:
        with np.errstate(invalid="ignore"):
            return check_array(X, input_name=name, **options)
    except (TypeError, ValueError, OverflowError):
        _say_why(X, name, **options)
        raise


def validated_for_kernel(estimator: Any, X: Any, kernel: Any) -> np.ndarray:
    """Points, as float64; a kernel in the precision it came in, on which hangs what is rounding in it."""
    is_kernel = isinstance(kernel, str) and kernel == "precomputed"
    points = validated(estimator, X, dtype="numeric" if is_kernel else np.float64)
    return np.asarray(check_extent(points, power=2))


def _looked_at(X: Any, name: str) -> Any:
    """What scikit-learn would take without a word: masked entries, and dates as numbers."""
    X = check_unmasked(X, name)
    if getattr(getattr(X, "dtype", None), "kind", "f") in "mM":
        wrong = complaint(X, name)
        assert wrong is not None
        raise wrong
    return X


def _say_why(X: Any, name: str, **options: Any) -> None:
    """Raise in words of the user's, where the fault lies in the entries of X or in its shape."""
    if issparse(X) and not options.get("accept_sparse"):
        return
    shape = _shape(X)
    if name == "X" and len(shape) == 3 and shape[1] == 2 and not options.get("allow_nd"):
        raise ValueError(
            f"`X` has shape {shape}, which are pairs of points, but its rows are the points; pass X = "
            f"pairs.reshape(-1, {shape[2]}), of which rows 2k and 2k + 1 are pair k, and side=Pairs(similar, "
            "dissimilar, n_points=len(X)) of such row numbers."
        )
    if options.get("allow_nd") and len(shape) < 2:
        raise ValueError(f"`{name}` must have at least two dimensions; got shape {shape}.")
    wrong = complaint(
        X,
        name,
        flat=not options.get("allow_nd"),
        finite=bool(options.get("ensure_all_finite", True)),
    )
    if wrong is not None:
        raise wrong from None


def _shape(X: Any) -> tuple[int, ...]:
    """Of lists, too; as objects, those of different lengths are an array."""
    return tuple(X.shape if hasattr(X, "shape") else np.asarray(X, dtype=object).shape)
