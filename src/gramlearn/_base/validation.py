"""Checks of what users pass. A message says what was given, what was expected and what to do."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import (
    Array,
    as_index,
    detached,
    is_array,
    is_finite,
    is_narrow,
    is_numpy,
    is_strided,
    namespace,
    read,
    to_numpy,
)
from gramlearn._base.matrices import transpose
from gramlearn._base.unreadable import check_no_list_of_tensors, check_unmasked, complaint

_SHORT = 60  # letters of what was given that an error repeats
Choice = TypeVar("Choice")

LARGEST_EXPONENT = 100.0  # with it, x^p of numbers that differ a thousandfold do not overflow
_LARGEST = 1e100  # a price, a rate or a tolerance
RANGE = 1e280  # numbers up to here can be added up without overflow


def check_positive(
    value: Any, name: str, owner: str, *, largest: float = _LARGEST, any_size: bool = False
) -> float:
    """A positive number, as in `Hinge(C=...)`, such that neither its square nor that of its inverse overflows.

    A number in units of the points, such as the width of a kernel, or one that is never squared, such as a
    tolerance, may be of `any_size`.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"`{owner}({name}={value!r})`: {name} must be a positive number; got {type(value).__name__}."
        )
    number = as_float(value)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError(
            f"`{owner}({name}={value!r})`: {name} must be positive and finite; got {number}."
        )
    if not (any_size or 1 / _LARGEST <= number <= largest):
        raise ValueError(
            f"`{owner}({name}={value!r})`: {name} must lie between {1 / _LARGEST:g} and {largest:g}: powers "
            "that are formed on the way are no numbers otherwise."
        )
    return number


def check_number(value: Any, name: str) -> float:
    """A finite number."""
    if not isinstance(value, Real) or not math.isfinite(as_float(value)):
        raise ValueError(f"`{name}` must be a finite number; got {value!r:.60}.")
    return float(value)


def describe_value(value: Any) -> str:
    """What was given, in a few words for an error."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if is_array(value):
        return f"an array of shape {tuple(value.shape)}"
    text = repr(value)
    if len(text) <= _SHORT and "\n" not in text:
        return text
    is_list = isinstance(value, list | tuple)
    return f"{type(value).__name__} of length {len(value)}" if is_list else type(value).__name__


def check_no_class(function: Any, name: str) -> Any:
    """A function, not a class: to call a class makes an object and computes nothing."""
    if isinstance(function, type):
        kind = function.__name__
        raise TypeError(
            f"`{name}` is the class {kind}; pass an object of it, such as {kind}(), or a function."
        )
    return function


def check_count(value: Any, name: str, least: int = 1, most: int = 2**62) -> int:
    """A whole number that is at least `least`, and can be counted."""
    if isinstance(value, bool) or not isinstance(value, Real) or value % 1 != 0 or value < least:
        raise ValueError(f"`{name}` must be a whole number of at least {least}; got {value!r}.")
    if as_float(value) > most:
        raise ValueError(f"`{name}={value!r}` is more than can be counted; pass at most {most:,}.")
    return int(as_float(value))


def as_float(value: Any) -> float:
    """A number; infinity where it is a whole number with too many digits."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_flag(value: Any, name: str) -> bool:
    """True or False, or what counts as one of them."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be True or False; got {value!r:.40}.") from None


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


def check_points(x: Any, name: str, any_unit: bool = False) -> Array:
    """Two-dimensional finite numbers with at least one row and one column, in their own library.

    Their squares must not overflow, unless the caller works in `any_unit`.
    """
    x = as_numbers(x, name)
    if x.ndim != 2:
        hint = f" For one column pass {name}[:, None]." if x.ndim == 1 else ""
        raise ValueError(f"`{name}` must be two-dimensional; got shape {tuple(x.shape)}.{hint}")
    if 0 in x.shape:
        raise ValueError(
            f"`{name}` has shape {tuple(x.shape)}; at least one row and one column are needed."
        )
    if not namespace(x).isdtype(x.dtype, "real floating"):
        return x
    x = check_finite(x, name)
    return x if any_unit else check_extent(x, name, power=2)


def as_numbers(x: Any, name: str) -> Array:
    """An array of real numbers, of any shape, in its own library; lists become one of NumPy."""
    check_no_list_of_tensors(x, name)
    x = check_unmasked(x, name)
    if isinstance(x, np.matrix):
        x = np.asarray(x)
    if issparse(x):
        raise TypeError(f"`{name}` is sparse; pass a dense array, such as {name}.toarray().")
    if not is_strided(x):
        raise TypeError(
            f"`{name}` is a tensor with the layout {x.layout}; pass a dense one, such as {name}.to_dense()."
        )
    given = x
    x = detached(x)
    if not is_array(x):
        try:
            x = np.asarray(x)
        except (TypeError, ValueError):
            x = np.zeros((), dtype=object)
    xp = namespace(x)
    if is_numpy(x) and x.dtype.kind in "OUSMmV":
        wrong = complaint(given, name, flat=False, finite=False)
        if wrong is not None:
            raise wrong
        try:
            x = np.asarray(given, dtype=np.float64)  # numbers, kept as objects
        except (TypeError, ValueError):  # of which pandas' NA is none
            raise ValueError(
                f"`{name}` has missing entries; remove or impute those entries first."
            ) from None
    if not xp.isdtype(x.dtype, ("real floating", "integral", "bool")):
        raise TypeError(f"`{name}` must hold real numbers; got dtype {x.dtype}.")
    return x


def check_host_points(x: Any, name: str, any_unit: bool = False) -> np.ndarray:
    """Points as `check_points` has them, of any library, as float64 in host memory."""
    return np.asarray(to_numpy(check_points(x, name, any_unit)), dtype=np.float64)


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


def check_extent(x: Any, name: str = "X", power: int = 4, of: str = "entries") -> Any:
    """Numbers, dense or sparse, whose powers up to `power` neither overflow nor underflow.

    Learning forms squares of squared distances (4); what only measures distances needs 2.
    """
    values = x.data if issparse(x) else x
    xp = namespace(values)
    if 0 in values.shape or not xp.isdtype(values.dtype, "real floating"):
        return x
    # The absolute values would be a copy.
    largest = max(read(xp.max(values)), -read(xp.min(values)))
    limit = RANGE ** (1 / power)
    if largest and not 1 / limit < largest < limit:
        powers = "squares" if power == 2 else "squares of squared distances"
        raise ValueError(
            f"`{name}` has {of} of up to {largest:.1e}, and {powers} are out of the range of numbers; pass "
            f"{name} in other units, such as {name} / {largest:.0e}."
        )
    return x


def check_either_way(block: Array, words: str, tolerance: float) -> Array:
    """k(x, y) = k(y, x), up to rounding, in the values of a kernel for some points with each other."""
    xp = namespace(block)
    excess = read(xp.max(xp.abs(block - block.T)))
    if excess > tolerance * read(xp.max(xp.abs(block))):
        raise ValueError(
            f"{words} is not symmetric: k(x, y) and k(y, x) differ by up to {excess:.3g}, and a kernel gives "
            "the same value either way; choose another function, or the mean of k(A, B) and k(B, A).T."
        )
    return block


def as_row_numbers(x: Any, name: str) -> Array:
    """Row numbers as an array of any shape and type, in its own library."""
    x = check_unmasked(x, name)
    if issparse(x):
        raise TypeError(f"`{name}` is sparse; pass a dense array of row numbers.")
    try:
        return as_index(x)
    except (TypeError, ValueError):
        check_no_list_of_tensors(x, name, least=0)
        raise ValueError(
            f"`{name}` must hold whole numbers (row indices); got rows of different lengths."
        ) from None


def not_whole(index: Array, name: str) -> str:
    """Say what is wrong with row numbers of this type."""
    is_real = namespace(index).isdtype(index.dtype, "real floating")
    cast = "such: x.astype(int)" if is_numpy(index) else "int64"
    hint = f" If they are whole, pass them as {cast}." if is_real else ""
    return f"`{name}` must hold whole numbers (row indices); got dtype {index.dtype}.{hint}"


def check_indices(
    x: Any, name: str, n_points: int | None = None, *, may_be_narrow: bool = False
) -> Array:
    """A vector of row numbers, each in [0, n_points) where n_points is known, as int64.

    Numbers of 32 bits stay so, and are not copied, where they `may_be_narrow`.
    """
    index = as_row_numbers(x, name)
    xp = namespace(index)
    if index.ndim != 1:
        raise ValueError(f"`{name}` must be one-dimensional; got shape {tuple(index.shape)}.")
    if index.shape[0] == 0:
        return xp.astype(index, xp.int64)
    if not xp.isdtype(index.dtype, "integral"):
        raise TypeError(not_whole(index, name))
    # As they came: a number of 64 bits without a sign would become negative.
    least, largest = int(xp.min(index)), int(xp.max(index))
    if least < 0:
        raise ValueError(f"`{name}` contains {least}; row indices start at 0.")
    if n_points is not None and largest >= n_points:
        raise ValueError(
            f"`{name}` refers to row {largest}, but there are {n_points} rows, 0 to {n_points - 1}."
        )
    if largest >= 2**63:
        raise ValueError(f"`{name}` refers to row {largest}, which is more than can be counted.")
    return index if may_be_narrow and is_narrow(index) else xp.astype(index, xp.int64, copy=False)


def check_share(value: Any, name: str) -> float:
    """A number between 0 and 1, neither of them."""
    if not isinstance(value, Real) or not 0 < as_float(value) < 1:
        raise ValueError(f"`{name}` must be a number between 0 and 1; got {value!r}.")
    return float(value)


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


def state_of(random_state: Any) -> Any:
    """The state of what is drawn from, which another draw changes; None of seeds."""
    if isinstance(random_state, np.random.RandomState):
        return random_state.get_state(legacy=False)
    if isinstance(random_state, np.random.Generator):
        return random_state.bit_generator.state
    return random_state.state if isinstance(random_state, np.random.BitGenerator) else None
