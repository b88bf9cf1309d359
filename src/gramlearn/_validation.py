"""Checks of what users pass. A message says what was given, what was expected and what to do."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from gramlearn._arrays import (
    Array,
    as_index,
    is_array,
    is_finite,
    namespace,
    read,
    to_numpy,
    transpose,
)

__all__ = [
    "check_basis",
    "check_choice",
    "check_count",
    "check_either_way",
    "check_finite",
    "check_host_points",
    "check_indices",
    "check_per_constraint",
    "check_points",
    "check_positive",
    "check_symmetric",
    "generator",
]

Choice = TypeVar("Choice")


def check_positive(value: Any, name: str, owner: str) -> float:
    """A finite positive number, as in `Hinge(C=...)`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"`{owner}({name}={value!r})`: {name} must be a positive number; got {type(value).__name__}."
        )
    number = float(value)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError(
            f"`{owner}({name}={value!r})`: {name} must be positive and finite; got {number}."
        )
    return number


def check_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Real) or value % 1 != 0 or value < least:
        raise ValueError(f"`{name}` must be a whole number of at least {least}; got {value!r}.")
    return int(float(value))


def check_choice(value: Any, name: str, choices: Mapping[str, Choice]) -> Choice:
    """One of the names in a table."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(key) for key in choices)
        raise ValueError(f"`{name}={value!r}` is not known; choose one of {known}.")
    return choices[value]


def check_finite(x: Array, name: str) -> Array:
    """No NaN and no infinity."""
    if not is_finite(x):
        xp = namespace(x)
        row = int(xp.argmax(xp.astype(xp.reshape(~xp.isfinite(x), (-1,)), xp.int8)))
        where = f" (first at row {row // x.shape[-1]})" if x.ndim == 2 else f" (first at {row})"
        raise ValueError(
            f"`{name}` contains NaN or infinity{where}; remove or impute those entries first."
        )
    return x


def check_points(x: Any, name: str) -> Array:
    """Two-dimensional finite numbers with at least one row and one column, in their own library."""
    xp = namespace(x)
    x = x if is_array(x) else xp.asarray(x)
    if x.ndim != 2:
        raise ValueError(f"`{name}` must be two-dimensional; got {x.ndim} dimension(s).")
    if 0 in x.shape:
        raise ValueError(
            f"`{name}` has shape {tuple(x.shape)}; at least one row and one column are needed."
        )
    if not xp.isdtype(x.dtype, ("real floating", "integral", "bool")):
        raise TypeError(f"`{name}` must hold real numbers; got dtype {x.dtype}.")
    return check_finite(x, name) if xp.isdtype(x.dtype, "real floating") else x


def check_host_points(x: Any, name: str) -> np.ndarray:
    """Points as `check_points` has them, of any library, as float64 in host memory."""
    if issparse(x):
        raise TypeError(f"`{name}` is sparse; pass a dense array, such as {name}.toarray().")
    return np.asarray(to_numpy(check_points(x, name)), dtype=np.float64)


def check_basis(basis: Any, rank: int | None) -> np.ndarray:
    """The columns of a matrix, all of which are used: no more than the rank, where there is one."""
    columns = check_host_points(basis, "basis")
    if rank is not None and columns.shape[1] > rank:
        raise ValueError(
            f"`basis` has {columns.shape[1]} columns, and `rank={rank}` is less; pass rank=None to use all of "
            "them, or fewer columns."
        )
    return columns


def check_symmetric(x: Array, name: str, otherwise: str = "", *, tolerance: float = 1e-8) -> Array:
    """A square matrix equal to its transpose up to rounding, a share `tolerance` of its largest entry.

    `otherwise` says what else it may be.
    """
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ValueError(f"`{name}` must be a square matrix; got shape {tuple(x.shape)}.")
    xp = namespace(x)
    size = read(xp.max(xp.abs(x)))
    excess = read(xp.max(xp.abs(x - transpose(x))))
    if excess > tolerance * size:
        raise ValueError(
            f"`{name}` is not symmetric (largest difference from its transpose {excess:.3g}); "
            f"pass ({name} + {name}.T) / 2 if rounding is the cause{otherwise}."
        )
    return x


def check_either_way(block: np.ndarray, words: str, tolerance: float) -> np.ndarray:
    """k(x, y) = k(y, x), up to rounding, in the values of a kernel for some points with each other."""
    excess = float(np.abs(block - block.T).max())
    if excess > tolerance * np.abs(block).max():
        raise ValueError(
            f"{words} is not symmetric: k(x, y) and k(y, x) differ by up to {excess:.3g}, and a kernel gives "
            "the same value either way; choose another function, or the mean of k(A, B) and k(B, A).T."
        )
    return block


def check_indices(x: Any, name: str, n_points: int | None = None) -> Array:
    """A vector of row numbers, each in [0, n_points) where n_points is known."""
    index = as_index(x)
    xp = namespace(index)
    if index.ndim != 1:
        raise ValueError(f"`{name}` must be one-dimensional; got shape {tuple(index.shape)}.")
    if index.shape[0] == 0:
        return xp.astype(index, xp.int64)
    if not xp.isdtype(index.dtype, "integral"):
        raise TypeError(f"`{name}` must hold whole numbers (row indices); got dtype {index.dtype}.")
    index = xp.astype(index, xp.int64, copy=False)
    least, largest = int(xp.min(index)), int(xp.max(index))
    if least < 0:
        raise ValueError(f"`{name}` contains {least}; row indices start at 0.")
    if n_points is not None and largest >= n_points:
        raise ValueError(f"`{name}` refers to row {largest}, but there are {n_points} rows.")
    return index


def check_per_constraint(x: Any, name: str, size: int) -> None:
    """One number, or one for each of `size` constraints."""
    if is_array(x) and x.ndim > 0 and tuple(x.shape) != (size,):
        raise ValueError(
            f"`{name}` has shape {tuple(x.shape)}, but there are {size} constraints; pass one number, or "
            "one for each constraint."
        )


def generator(random_state: Any) -> np.random.Generator:
    """Make a Generator of a seed, a Generator, None, or a RandomState as scikit-learn passes it."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise TypeError(
            "`random_state` must be None, a whole number of at least 0 or a numpy Generator; got "
            f"{random_state!r}."
        ) from None
