"""n x d, one row a point, or two sides of pairs of points: what estimators are given, checked in one place.

What scikit-learn refuses is refused in words that say what to do. Points in units so large or so small that
powers of distances leave the range of numbers are refused by `check_extent`: beyond 1e70, or below 1e-70, where
a metric is learned; beyond 1e140 where all is measured in units that the points themselves give.

Learning is done in double precision, and what `transform` gives follows the points: float32 in, float32 out.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array, validate_data

from gramlearn._base import unit_length
from gramlearn._base.arrays import Array, is_elsewhere, place_of, together
from gramlearn._base.unreadable import (
    check_no_list_of_tensors,
    check_unmasked,
    complaint,
    refuse_pairs_as_points,
)
from gramlearn._base.validation import check_count, check_extent
from gramlearn.estimators._tensors import (
    check_same_place,
    check_takes_tensors,
    checked_elsewhere,
    validated_elsewhere,
)

FLOATS = (np.float64, np.float32)  # what `transform` takes as it is; all else becomes the first


class KeepsPrecision:
    """A transformer that gives float32 for float32, as embeddings and the indexes they go to mostly are."""

    _requires_y = False

    def __sklearn_tags__(self) -> Any:
        # Of a mixin, only the class that takes it knows what comes next.
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = self._requires_y
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def validated(
    estimator: Any, X: Any, name: str = "X", method: str = "transform", **options: Any
) -> Any:
    """X by scikit-learn's `validate_data`, with errors that say what to do; tensors stay what they are.

    `method` is the one that takes X, where that is not `fit`.
    """
    if is_elsewhere(X):
        return validated_elsewhere(estimator, X, name, method=method, **options)
    X = _refuse_unreadable(X, name)
    if options.get("reset", True):
        estimator.__dict__.pop("_home", None)  # of an earlier fit
    else:
        check_same_place(estimator, X, method)
    try:
        with np.errstate(invalid="ignore"):  # of infinities, whose sum scikit-learn looks at
            return validate_data(estimator, X, **options)
    except (TypeError, ValueError, OverflowError):
        _explain_refusal(X, name, **options)
        raise


def validated_array(X: Any, name: str, **options: Any) -> Any:
    """The same by `check_array`, for what is not the X of an estimator."""
    if is_elsewhere(X):
        return checked_elsewhere(X, name, **options)
    X = _refuse_unreadable(X, name)
    try:
        with np.errstate(invalid="ignore"):
            return check_array(X, input_name=name, **options)
    except (TypeError, ValueError, OverflowError):
        _explain_refusal(X, name, **options)
        raise


def check_components(n_components: Any, most: int, what: str) -> int:
    """How many columns `transform` shall give: as many as there can be, at most."""
    count = check_count(n_components, "n_components")
    if count > most:
        raise ValueError(
            f"`n_components={count}` is more than the {most} dimensions that {what} can have; pass fewer."
        )
    return count


def two_sides(estimator: Any, pairs: Any, *, ensure_all_finite: bool = True) -> tuple[Any, Any]:
    """The points of pairs, row k of one with row k of the other, as `pair_distance` takes them."""
    options = {"dtype": np.float64, "ensure_all_finite": ensure_all_finite}
    n_features = estimator.n_features_in_
    sides = pairs if _are_two_sides(pairs) else (pairs,)
    for side in sides:
        if is_elsewhere(side):
            check_takes_tensors(estimator, side, "pairs")
    place = next((side for side in sides if is_elsewhere(side)), sides[0])
    check_same_place(estimator, place, "pair_distance")
    if _are_two_sides(pairs):
        for side in pairs:
            # The names of columns alone: what else is wrong is said of `pairs`, below.
            validate_data(estimator, side, reset=False, skip_check_array=True, ensure_2d=False)
        first, second = (
            validated_array(side, "pairs", accept_sparse="csr", **options) for side in pairs
        )
        if is_elsewhere(place) and (issparse(first) or issparse(second)):
            raise TypeError(
                f"one side of `pairs` is sparse and the other in {place_of(place)}; pass both in one kind."
            )
        if issparse(first) != issparse(second):
            first, second = (csr_array(side) for side in (first, second))
        elif not issparse(first):
            first, second = together(first, second, ("one side of `pairs`", "the other"))
    else:
        if issparse(pairs):
            raise TypeError("`pairs` is one sparse matrix; pass the two sides, (A, B).")
        array = validated_array(pairs, "pairs", allow_nd=True, **options)
        if array.ndim != 3 or array.shape[1] != 2:
            raise ValueError(
                f"`pairs` must have the shape (m, 2, {n_features}), or be two arrays (A, B) of {n_features} "
                f"columns; got shape {tuple(array.shape)}."
            )
        first, second = array[:, 0, :], array[:, 1, :]
    if first.shape != second.shape:
        raise ValueError(
            f"`pairs` has two sides of shapes {tuple(first.shape)} and {tuple(second.shape)}; row k of both is "
            "pair k."
        )
    if first.shape[1] != n_features:
        raise ValueError(
            f"`pairs` has points of {first.shape[1]} features, but {n_features} were learned from."
        )
    return first, second


def of_unit_length(X: Any, name: str) -> Any:
    """x / |x| of each row, dense or sparse, in the precision of X; a row of zeros is refused."""
    return unit_length.of_unit_length(X, name, "leave it out, or pass normalize=False")


def are_pairs(X: Any) -> bool:
    """Whether these are pairs of points, and not points: m x 2 x d, or two tables."""
    return _are_two_sides(X) or len(_shape(X)) == 3


def _are_two_sides(pairs: Any) -> bool:
    """Whether it is (A, B), or a list of two tables; lists of numbers are pairs, however they are nested."""
    if not isinstance(pairs, tuple | list) or len(pairs) != 2:
        return False
    return isinstance(pairs, tuple) or any(len(getattr(side, "shape", ())) == 2 for side in pairs)


def validated_for_kernel(
    estimator: Any, X: Any, kernel: Any, *, reset: bool = True, method: str = "transform"
) -> Array:
    """Points, as float64; a kernel in the precision it came in, on which hangs what is rounding in it."""
    is_kernel = isinstance(kernel, str) and kernel == "precomputed"
    dtype = "numeric" if is_kernel else np.float64
    points = validated(estimator, X, dtype=dtype, reset=reset, method=method)
    points = check_extent(points, power=2)
    return points if is_elsewhere(points) else np.asarray(points)


def _refuse_unreadable(X: Any, name: str) -> Any:
    """Refuse what scikit-learn would silently take: masked entries, and dates as numbers."""
    check_no_list_of_tensors(X, name)
    X = check_unmasked(X, name)
    if getattr(getattr(X, "dtype", None), "kind", "f") in "mM":
        wrong = complaint(X, name)
        assert wrong is not None
        raise wrong
    return X


def _explain_refusal(X: Any, name: str, **options: Any) -> None:
    """Raise an error that says what to do, where the entries of X or its shape are wrong."""
    if issparse(X) and not options.get("accept_sparse"):
        return
    shape = _shape(X)
    if not options.get("allow_nd"):
        refuse_pairs_as_points(name, shape)
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
