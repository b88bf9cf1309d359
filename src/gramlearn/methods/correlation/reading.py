"""X = Z + m I, m = `min_eigenvalue`: what users ask of a correlation matrix X, as `Entries` of Z.

Z is positive semidefinite with a diagonal of d = 1 - m, so |X_ij| <= d off the diagonal. An entry that is NaN
has the weight zero. All weights are divided by the largest one.
"""

from typing import Any, NamedTuple, final

from gramlearn._base.arrays import Array, as_real, clipped, constant, eye, namespace, read, to_numpy
from gramlearn._base.matrices import symmetric_part, transpose
from gramlearn._base.validation import (
    as_numbers,
    check_extent,
    check_finite,
    check_number,
    check_points,
    check_symmetric,
    describe_value,
)
from gramlearn.methods.correlation.entries import Entries
from gramlearn.problem.status import InfeasibleError

_ROUNDING = 1e-8  # by which a diagonal of one may be off in data


@final
class Matrix(NamedTuple):
    """`matrix` as it was given, with zeros in the place of NaN, and where NaN was."""

    values: Array
    unknown: Array

    @property
    def has_unknown(self) -> bool:
        """Whether an entry is unknown."""
        return bool(namespace(self.unknown).any(self.unknown))


@final
class Asked(NamedTuple):
    """What is asked of Z, by how much X is more, and the largest weight."""

    entries: Entries
    shift: float
    unit: float


def read_matrix(matrix: Any) -> Matrix:
    """A symmetric matrix, whose entries may be NaN; a data frame has the same rows as columns."""
    if is_frame(matrix):
        _check_labels(matrix)
        matrix = _frame_values(matrix)
    given = as_numbers(matrix, "matrix")
    xp = namespace(given)
    is_real = xp.isdtype(given.dtype, "real floating")
    unknown = xp.isnan(given) if is_real else xp.zeros_like(given, dtype=xp.bool)
    values = xp.where(unknown, xp.zeros_like(given), given)
    values = check_symmetric(as_real(check_points(values, "matrix")), "matrix")
    uneven = unknown & ~transpose(unknown)
    if bool(xp.any(uneven)):
        i, j = _first(uneven)
        raise ValueError(
            f"`matrix` has NaN at row {i}, column {j}, but a number at row {j}, column {i}; an entry is "
            "unknown in both places, so set both to NaN or to the number."
        )
    return Matrix(values, unknown)


def is_frame(x: Any) -> bool:
    """Whether x is a data frame, with labels for its rows and its columns."""
    return hasattr(x, "columns") and hasattr(x, "index") and hasattr(x, "to_numpy")


def like_frame(X: Array, frame: Any) -> Any:
    """X in a data frame with the labels of another one."""
    return type(frame)(to_numpy(X), index=frame.index, columns=frame.columns)


def read_entries(
    matrix: Matrix, weights: Any, fixed: Any, bounds: Any, min_eigenvalue: Any
) -> Asked:
    """What the options of `nearest_correlation` ask for, those not given being None."""
    C = symmetric_part(matrix.values)
    xp, n = namespace(C), int(C.shape[0])
    shift = 0.0 if min_eigenvalue is None else _check_shift(min_eigenvalue)
    d = 1.0 - shift
    off_diagonal = eye(n, C) == 0
    W = constant(1.0, C, (n, n)) if weights is None else _read_weights(weights, C)
    W = xp.where(matrix.unknown, xp.zeros_like(W), W)
    unit = read(xp.max(xp.where(off_diagonal, W, xp.zeros_like(W)))) or 1.0
    kept = xp.zeros_like(off_diagonal) if fixed is None else _read_fixed(fixed, matrix)
    lower, upper = (None, None) if bounds is None else _read_bounds(bounds)
    lower, upper = _read_end(lower, 0, C), _read_end(upper, 1, C)
    _check_ends(lower, upper, off_diagonal)
    _check_possible(C, kept & off_diagonal, lower, upper, off_diagonal, shift)
    held = clipped(C, low=-d, high=d)
    lower = xp.where(kept, held, clipped(lower, low=-d))
    upper = xp.where(kept, held, clipped(upper, high=d))
    whole = constant(d, C, (n, n))
    entries = Entries(
        target=C - shift * eye(n, C),
        weight=W / unit,
        lower=xp.where(off_diagonal, lower, whole),
        upper=xp.where(off_diagonal, upper, whole),
        diagonal=d,
    )
    return Asked(entries, shift, unit)


def check_same_labels(matrix: Any, option: Any, name: str) -> None:
    """Data frames are matched by position, so their labels must be those of `matrix`, in the same order."""
    if not (is_frame(matrix) and is_frame(option)):
        return
    _check_labels(option, name)
    if list(matrix.index) != list(option.index):
        raise ValueError(
            f"`{name}` has other labels than `matrix`, or in another order; pass "
            f"{name}.loc[matrix.index, matrix.columns]."
        )


def _check_labels(frame: Any, name: str = "matrix") -> None:
    if list(frame.index) != list(frame.columns):
        raise ValueError(
            f"`{name}` is a data frame whose rows and columns have different labels, or in another order; pass "
            f"{name}.loc[{name}.columns, {name}.columns], or an array."
        )


def _frame_values(frame: Any) -> Any:
    """The numbers of a frame, with NaN for pandas' NA; the frame itself where they are none."""
    try:
        return frame.to_numpy(dtype="float64", na_value=float("nan"))
    except (TypeError, ValueError):
        return frame


def _check_shift(value: Any) -> float:
    number = check_number(value, "min_eigenvalue")
    if not 0 <= number <= 1:
        raise ValueError(
            f"`min_eigenvalue={value!r}` must lie between 0 and 1, which is the mean of the eigenvalues of a "
            "correlation matrix."
        )
    return number


def _read_weights(weights: Any, C: Array) -> Array:
    """W, of a matrix, or of a vector w as w_i w_j."""
    given, n = as_numbers(weights, "weights"), int(C.shape[0])
    if tuple(given.shape) not in ((n,), (n, n)):
        raise ValueError(
            f"`weights` has shape {tuple(given.shape)}, but `matrix` has {n} rows; pass {n} x {n} weights of "
            f"entries, or {n} weights of rows."
        )
    W = check_extent(check_finite(as_real(given, C), "weights"), "weights", power=4)
    xp = namespace(W)
    least = read(xp.min(W))
    if least < 0:
        raise ValueError(
            f"`weights` has an entry of {least:.3g}; pass weights of at least 0, with 0 for unknown entries."
        )
    if W.ndim == 1:
        return W[:, None] * W[None, :]
    return symmetric_part(check_symmetric(W, "weights"))


def _read_fixed(fixed: Any, matrix: Matrix) -> Array:
    """Where an entry is to be kept: as said of it, or of its mirror image."""
    C = matrix.values
    given = as_numbers(fixed, "fixed")
    if tuple(given.shape) != tuple(C.shape):
        raise ValueError(
            f"`fixed` has shape {tuple(given.shape)}, but `matrix` has shape {tuple(C.shape)}; pass True or "
            "False for each of its entries."
        )
    number = as_real(given, C)
    if not bool(namespace(C).all((number == 0) | (number == 1))):
        raise ValueError(
            "`fixed` must hold True or False for each entry of `matrix`, and holds other numbers; pass the "
            "values themselves in `matrix`."
        )
    kept = (number + transpose(number)) > 0
    unknown = kept & matrix.unknown
    if bool(namespace(C).any(unknown)):
        i, j = _first(unknown)
        raise ValueError(
            f"`fixed` asks to keep row {i}, column {j} of `matrix`, which is NaN; put a number there, or leave "
            "it out of `fixed`."
        )
    return kept


def _read_bounds(bounds: Any) -> tuple[Any, Any]:
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise ValueError(
            "`bounds` must be a pair (lower, upper) of numbers, n x n arrays or None; got "
            f"{describe_value(bounds)}."
        )
    return bounds[0], bounds[1]


def _read_end(end: Any, place: int, C: Array) -> Array:
    """One of the two bounds of all entries; a correlation is between -1 and 1 anyway."""
    name, xp = f"bounds[{place}]", namespace(C)
    if end is None:
        return constant(2.0 * place - 1.0, C, tuple(C.shape))
    given = as_numbers(end, name)
    if tuple(given.shape) not in ((), tuple(C.shape)):
        raise ValueError(
            f"`{name}` has shape {tuple(given.shape)}, but `matrix` has shape {tuple(C.shape)}; pass one "
            "number, or one for each entry."
        )
    value = as_real(given, C)
    if bool(xp.any(xp.isnan(value))):
        raise ValueError(
            f"`{name}` contains NaN; pass {(-1, 1)[place]} where there is no bound, or None for none at all."
        )
    # Beyond 2 all numbers say the same, infinity too.
    value = clipped(value, low=-2.0, high=2.0) + xp.zeros_like(C)
    return symmetric_part(check_symmetric(value, name))


def _check_ends(lower: Array, upper: Array, off_diagonal: Array) -> None:
    crossed = (lower > upper) & off_diagonal
    if bool(namespace(lower).any(crossed)):
        i, j = _first(crossed)
        raise ValueError(
            f"`bounds` asks for at least {read(lower[i, j]):g} and at most {read(upper[i, j]):g} at row {i}, "
            f"column {j}; pass (lower, upper) with lower <= upper."
        )


def _check_possible(
    C: Array, kept: Array, lower: Array, upper: Array, off_diagonal: Array, shift: float
) -> None:
    """Refuse what a single entry contradicts."""
    xp, d = namespace(C), 1.0 - shift
    most = f"between {-d:g} and {d:g}" + (f", as min_eigenvalue={shift:g} asks" if shift else "")
    outside = kept & ((lower - C > _ROUNDING) | (C - upper > _ROUNDING))
    if bool(xp.any(outside)):
        i, j = _first(outside)
        raise InfeasibleError(
            f"entry ({i}, {j}) is fixed at {read(C[i, j]):.6g} and `bounds` asks for "
            f"{read(lower[i, j]):g} to {read(upper[i, j]):g} there; leave one of them out."
        )
    large = kept & (xp.abs(C) > d + _ROUNDING)
    if bool(xp.any(large)):
        i, j = _first(large)
        raise InfeasibleError(
            f"entry ({i}, {j}) is fixed at {read(C[i, j]):.6g}, but a correlation lies {most}; leave it out "
            "of `fixed`."
        )
    beyond = ~kept & off_diagonal & ((lower > d) | (upper < -d))
    if bool(xp.any(beyond)):
        i, j = _first(beyond)
        raise InfeasibleError(
            f"`bounds` asks for {read(lower[i, j]):g} to {read(upper[i, j]):g} at entry ({i}, {j}), but a "
            f"correlation lies {most}; widen `bounds`."
        )


def _first(mask: Array) -> tuple[int, int]:
    """The row and the column of the first entry that is true."""
    i, j = namespace(mask).nonzero(mask)
    return int(i[0]), int(j[0])
