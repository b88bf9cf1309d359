"""Tensors in, tensors out: points of any array library are learned from where they are, and answered there.

scikit-learn has that for estimators with the tag `array_api_support`, once `array_api_dispatch` is set. Here
that is no matter of a setting: what is given as tensors is answered in tensors. Everything follows X: labels,
statements and parameters in host memory go where X is. A model learned from NumPy arrays measures tensors where
these are; one learned from tensors takes such on the same device alone, and `to_numpy` brings it back.
"""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from gramlearn._base.arrays import (
    Array,
    brought,
    constant,
    has_double,
    is_array,
    is_elsewhere,
    namespace,
    place_of,
    to_numpy,
)
from gramlearn._base.moving import beside, in_host_memory
from gramlearn._base.unreadable import refuse_pairs_as_points
from gramlearn._base.validation import as_numbers, check_finite


class FollowsArrays:
    """An estimator that learns where X is, and keeps there what it learned."""

    _takes_tensors: ClassVar[bool] = False
    _home: Array | None = None
    """An array of no numbers where the points learned from were, if they were tensors."""

    def __sklearn_tags__(self) -> Any:
        # Of a mixin, only the class that takes it knows what comes next.
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.array_api_support = self._takes_tensors and not self._needs_numpy
        return tags

    @property
    def _needs_numpy(self) -> str:
        """The parameter that takes NumPy arrays alone, in words; none where all of them take tensors."""
        return ""

    def to_numpy(self) -> Self:
        """The same estimator with NumPy arrays in place of all tensors: to be saved, or used without a GPU."""
        check_is_fitted(self)
        self._work_out()
        names = self.get_params(deep=False)  # type: ignore[attr-defined]
        of_user = {name: value for name, value in vars(self).items() if name in names}
        found = {name: value for name, value in vars(self).items() if name not in names}
        found.pop("_home", None)
        copy = object.__new__(type(self))
        copy.__dict__.update(
            {name: to_numpy(x) if is_array(x) else x for name, x in of_user.items()},
            **in_host_memory(found),
        )
        return copy

    def _beside(self, held: Any, points: Any) -> Any:
        """What was learned, where these points are; what was learned from tensors is there."""
        if self._home is None and is_elsewhere(points):
            self._work_out()
            return beside(held, points)
        return held

    def _work_out(self) -> None:
        """Find what is found when it is asked for, so that copies elsewhere have the same."""

    def _at_home(self, found: np.ndarray) -> Array:
        """Numbers that were found in host memory, where the points learned from were."""
        return found if self._home is None else brought(found, self._home)


def validated_elsewhere(
    estimator: Any,
    X: Any,
    name: str,
    *,
    dtype: Any = np.float64,
    reset: bool = True,
    method: str = "transform",
    allow_nd: bool = False,
    ensure_all_finite: bool = True,
    ensure_min_samples: int = 1,
    accept_sparse: Any = False,
) -> Array:
    """Points in an array library other than NumPy, with the checks of scikit-learn, left where they are."""
    del accept_sparse
    check_takes_tensors(estimator, X, name)
    if not reset:
        check_same_place(estimator, X, method)
    X = checked_elsewhere(
        X,
        name,
        dtype=dtype,
        allow_nd=allow_nd,
        ensure_all_finite=ensure_all_finite,
        ensure_min_samples=ensure_min_samples,
    )
    if reset:
        estimator._home = constant(0.0, X, 0)
    return validate_data(estimator, X, reset=reset, skip_check_array=True)


def checked_elsewhere(
    X: Any,
    name: str,
    *,
    dtype: Any = np.float64,
    allow_nd: bool = False,
    ensure_all_finite: bool = True,
    ensure_min_samples: int = 1,
    accept_sparse: Any = False,
) -> Array:
    """A table of finite numbers in one of these precisions, the first of them where it is in none."""
    del accept_sparse
    X = as_numbers(X, name)
    if not allow_nd:
        refuse_pairs_as_points(name, tuple(X.shape))
    if X.ndim != 2 and not (allow_nd and X.ndim > 2):
        hint = ""
        if X.ndim == 1:
            hint = f" Reshape your data: {name}[:, None] if it is one feature, {name}[None, :] if one point."
        raise ValueError(
            f"Expected 2D array: `{name}` must have one row for each point; got shape {tuple(X.shape)}.{hint}"
        )
    if X.shape[0] < ensure_min_samples or 0 in X.shape:
        raise ValueError(
            f"`{name}` has shape {tuple(X.shape)}, with {X.shape[0]} sample(s) and {X.shape[1]} feature(s), "
            f"while a minimum of {ensure_min_samples} row(s) and 1 column is required; pass more."
        )
    xp = namespace(X)
    if not has_double(X):
        raise TypeError(
            f"`{name}` is in {place_of(X)}, which has no double precision, in which all is computed; pass "
            f"{name}.cpu()."
        )
    if dtype != "numeric":
        kept = dtype if isinstance(dtype, tuple) else (dtype,)
        names = [np.dtype(kind).name for kind in kept]
        if not any(X.dtype == getattr(xp, kind) for kind in names):
            X = xp.astype(X, getattr(xp, names[0]))
    if ensure_all_finite and xp.isdtype(X.dtype, "real floating"):
        check_finite(X, name)
    return X


def check_takes_tensors(estimator: Any, X: Any, name: str) -> None:
    """Refuse tensors where nothing could be done with them but to move them."""
    if not get_tags(estimator).array_api_support:
        kind, words = type(X), getattr(estimator, "_needs_numpy", "")
        owner = type(estimator).__name__ + (f" with {words}" if words else "")
        raise TypeError(
            f"`{name}` is a {kind.__module__}.{kind.__name__}, and {owner} works on NumPy arrays alone; pass "
            f"such an array, as by {name}.cpu().numpy()."
        )


def check_same_place(estimator: Any, X: Any, method: str = "transform") -> None:
    """Refuse points elsewhere than those that were learned from, where these were tensors."""
    home = getattr(estimator, "_home", None)
    if home is None:
        return
    here = place_of(X) if is_array(X) else f"a {type(X).__name__}"
    if here != place_of(home):
        owner = type(estimator).__name__
        raise ValueError(
            f"Inputs passed to {owner}.{method}() must use the same namespace and the same device as those "
            f"passed to fit(), {place_of(home)}; got {here}. Move them there, or use to_numpy(), which gives "
            f"this {owner} with NumPy arrays."
        )
