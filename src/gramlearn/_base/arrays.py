"""What knows array libraries, NumPy, PyTorch, CuPy, through the array API: this file and `matrices`, no other.

Everything else receives `xp = namespace(x)` and writes array-API calls. What the standard lacks is here: sums
at equal indices, the size of a chunk.
"""

from collections.abc import Iterator
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np

Array = Any

_UNNAMED = ("one array", "another")
_STAGED_FROM_BYTES = 1 << 20  # what is copied to a GPU while it computes
_BYTES_OF_SINGLE = 4
_CHUNK_BYTES_HOST = 4 << 20  # stays in a core's cache
_CHUNK_BYTES_DEVICE = 1 << 30  # large enough to hide the launch of a kernel
# The namespace of arrays of each type: to ask anew takes a good part of the time of small problems.
_NAMESPACES: dict[type, Any] = {}
_ASSIGN_AT_ROWS = (  # libraries that assign at row numbers, see `scatter`
    array_api_compat.is_numpy_namespace,
    array_api_compat.is_torch_namespace,
    array_api_compat.is_cupy_namespace,
)


def is_array(x: object) -> bool:
    """Whether x belongs to an array library (a list or a number does not)."""
    return bool(array_api_compat.is_array_api_obj(x))


def is_elsewhere(x: object) -> bool:
    """Whether x is an array of another library than NumPy that computes at once, such as a tensor."""
    return is_array(x) and not (
        array_api_compat.is_numpy_array(x) or array_api_compat.is_dask_array(x)
    )


def detached(x: Any) -> Any:
    """x without the record of how it came about, for no gradients pass through what is learned."""
    return x.detach() if array_api_compat.is_torch_array(x) and x.requires_grad else x


def place_of(x: Array) -> str:
    """The library and the device of an array, in words."""
    library = namespace(x).__name__.rsplit(".", 1)[-1]
    return f"{library} on {array_api_compat.device(x)}"


def namespace(*arrays: Array) -> Any:
    """Give the array-API namespace the arrays share; lists and numbers count as NumPy."""
    kind = type(arrays[0])
    if len(arrays) == 1 and kind in _NAMESPACES:
        return _NAMESPACES[kind]
    known = [a for a in arrays if is_array(a)]
    found = array_api_compat.array_namespace(*known) if known else array_api_compat.numpy
    if len(arrays) == 1:
        _NAMESPACES[kind] = found
    return found


def as_real(
    x: Any, like: Array | None = None, dtype: str = "float64", names: tuple[str, str] = _UNNAMED
) -> Array:
    """Bring x to a floating array: of `dtype` in its own library, or of the type of `like`.

    Host data (lists, NumPy) moves to the library and device of `like`; arrays of other libraries are
    refused, by the names that the user has for x and `like`.
    """
    x = detached(x)
    if like is None:
        xp = namespace(x)
        target = getattr(xp, dtype)
        return xp.astype(x, target, copy=False) if is_array(x) else xp.asarray(x, dtype=target)
    return _bring(x, like, like.dtype, names)


def as_index(x: Any, like: Array | None = None, names: tuple[str, str] = _UNNAMED) -> Array:
    """Bring x to an integer array: as it is in its own library, or int64 in that of `like`; int32 stays so."""
    if like is None:
        return x if is_array(x) else namespace(x).asarray(x)
    xp = namespace(like)
    return _bring(x, like, xp.int32 if is_narrow(x) else xp.int64, names)


def is_narrow(index: Any) -> bool:
    """Whether these are integers of 32 bits, which number rows in half the memory."""
    xp = namespace(index)
    return is_array(index) and bool(xp.isdtype(index.dtype, xp.int32))


def flat_index(i: Array, j: Array, width: int) -> Array:
    """i * width + j: where entries (i, j) of a matrix stand in a vector of all its rows."""
    xp = namespace(i)
    return xp.astype(i, xp.int64, copy=False) * width + j


def brought(x: Any, like: Array) -> Array:
    """Bring x, of numbers of any type, to the library and the device of `like`."""
    return _bring(detached(x), like, None, _UNNAMED)


def together(first: Array, second: Array, names: tuple[str, str]) -> tuple[Array, Array]:
    """Both as they are; where one is in host memory and the other is not, both in double precision there."""
    if is_elsewhere(second):
        return as_real(first, as_real(second), names=names), second
    if is_elsewhere(first):
        return first, as_real(second, as_real(first), names=names[::-1])
    return first, second


def check_together(x: Array, like: Array, names: tuple[str, str]) -> None:
    """Refuse arrays of two libraries, or on two devices: where the work is done is for the user to say."""
    if namespace(x) is not namespace(like):
        kinds = [f"{type(a).__module__}.{type(a).__name__}" for a in (x, like)]
        raise TypeError(
            f"{names[0]} is a {kinds[0]} and {names[1]} a {kinds[1]}; all arrays of a problem must come from "
            "one library. Convert them before the call."
        )
    one, other = (str(array_api_compat.device(a)) for a in (x, like))
    if one != other:
        raise ValueError(
            f"{names[0]} is on the device {one} and {names[1]} on {other}; all arrays of a problem must be on "
            "one device. Move them before the call."
        )


def has_double(like: Array) -> bool:
    """Whether the device of `like` knows numbers in double precision."""
    xp = namespace(like)
    try:
        none = xp.zeros(0, dtype=xp.float64, device=array_api_compat.device(like))
    except (TypeError, ValueError, RuntimeError):
        return False
    return bool(none.dtype == xp.float64)  # JAX gives single precision, unless it is told otherwise


def is_strided(x: Array) -> bool:
    """Whether all entries are in memory, which they are not of the sparse tensors of PyTorch."""
    return not array_api_compat.is_torch_array(x) or str(x.layout) == "torch.strided"


def _bring(x: Any, like: Array, dtype: Any, names: tuple[str, str]) -> Array:
    """Bring host data, or an array of the library and the device of `like`, there."""
    xp = namespace(like)
    if is_numpy(x):
        if x.nbytes >= _STAGED_FROM_BYTES and is_on_gpu(like):
            from gramlearn._base.staged_copies import sent

            return sent(x, like, dtype)
        # Other libraries refuse memory that is read-only or runs backwards.
        x = x if is_numpy(like) else np.array(x)
    elif is_array(x):
        check_together(x, like, names)
    return xp.asarray(x, dtype=dtype, device=array_api_compat.device(like))


def to_numpy(x: Array) -> np.ndarray:
    """Copy x to host memory. For graph algorithms and files only; the core never calls it."""
    if isinstance(x, np.ndarray):
        return x
    if array_api_compat.is_torch_array(x):
        x = x.detach().cpu().resolve_neg()
        # NumPy knows no bfloat16, nor numbers of eight bits.
        is_short = x.is_floating_point() and x.element_size() < _BYTES_OF_SINGLE
        return np.asarray(x.float() if is_short else x)
    if array_api_compat.is_cupy_array(x):
        return np.asarray(x.get())
    # Of what lies on another device, `np.asarray` is refused; of Arrow, DLPack is, where there are words.
    by_dlpack = is_array(x) and hasattr(x, "__dlpack__")
    return np.from_dlpack(x, device="cpu") if by_dlpack else np.asarray(x)


def placed_like(x: Any, like: Array) -> Array:
    """x in double precision where `like` is; to NumPy's from any library."""
    return as_real(to_numpy(x)) if is_numpy(like) else as_real(x, as_real(like))


def constant(value: float, like: Array, shape: int | tuple[int, ...]) -> Array:
    """Give an array filled with value, of the type and on the device of `like`."""
    xp = namespace(like)
    return xp.full(shape, value, dtype=like.dtype, device=array_api_compat.device(like))


def eye(size: int, like: Array) -> Array:
    """Give the identity matrix, of the type and on the device of `like`."""
    xp = namespace(like)
    return xp.eye(size, dtype=like.dtype, device=array_api_compat.device(like))


def copied(x: Array) -> Array:
    """A copy, so that what the caller does with it changes nothing else."""
    return namespace(x).asarray(x, copy=True)


def inverse_or_zero(x: Array, is_used: Array | None = None) -> Array:
    """1 / x, and 0 where x is not positive, or is not used."""
    xp = namespace(x)
    used = x > 0 if is_used is None else is_used
    return xp.where(used, 1 / xp.where(used, x, xp.ones_like(x)), xp.zeros_like(x))


def read(x: Array) -> float:
    """Read a zero-dimensional array as a float (on a GPU this waits for the device)."""
    return float(x)


def clipped(x: Array, low: Any = None, high: Any = None) -> Array:
    """x, but no less than `low` and no more than `high`."""
    # NumPy's own, without the checks around it, which take a good part of the time of small problems.
    clip = np.clip if type(x) is np.ndarray else namespace(x).clip
    return clip(x, low, high)


def exponential(name: str, x: Array) -> Array:
    """Give "exp" or "expm1" of x, and +inf in silence where it overflows."""
    xp = namespace(x)
    ceiling = 709.0 if x.dtype == xp.float64 else 88.0
    inside = getattr(xp, name)(clipped(x, high=ceiling))
    return xp.where(x > ceiling, xp.full_like(x, float("inf")), inside)


def machine_eps(x: Array) -> float:
    """The relative rounding error of numbers of the type of x."""
    return float(namespace(x).finfo(x.dtype).eps)


def is_finite(x: Array) -> bool:
    """Whether no entry of x is NaN or infinite."""
    xp = namespace(x)
    return bool(xp.all(xp.isfinite(x)))


def concat(parts: list[Array], like: Array) -> Array:
    """Join vectors; none at all gives the empty vector of the type of `like`."""
    if not parts:
        return constant(0.0, like, 0)
    return parts[0] if len(parts) == 1 else namespace(like).concat(parts)


def largest(x: Array, count: int) -> Array:
    """Give the indices of the `count` largest entries of a vector, in any order."""
    xp = namespace(x)
    if array_api_compat.is_numpy_namespace(xp):
        return np.argpartition(-x, count)[:count] if count < x.shape[0] else np.arange(x.shape[0])
    if array_api_compat.is_torch_namespace(xp):
        return xp.topk(x, min(count, x.shape[0]), sorted=False).indices
    return xp.argsort(x, descending=True)[: min(count, x.shape[0])]


def is_missing(rows: Array, known: Array) -> Array:
    """Say which of `rows` do not stand in `known`, which ascends; sorted `rows` are quicker."""
    xp = namespace(rows)
    if known.shape[0] == 0 or rows.shape[0] == 0:
        return xp.ones_like(rows, dtype=xp.bool)
    place = clipped(xp.searchsorted(known, rows), high=known.shape[0] - 1)
    return xp.take(known, place) != rows


def rows_of(x: Any, rows: Array | slice) -> Any:
    """Take rows of what is given one a constraint, a slice without a copy; one number for all stays so."""
    if not (is_array(x) and x.ndim == 1):
        return x
    return x[rows] if isinstance(rows, slice) else namespace(x).take(x, rows)


def _assigns_at_rows(xp: Any) -> bool:
    return any(known(xp) for known in _ASSIGN_AT_ROWS)


def entries_at(matrix: Array, i: Array, j: Array) -> Array:
    """The entries (i_k, j_k) of a matrix."""
    xp = namespace(matrix)
    i, j = as_index(i, matrix), as_index(j, matrix)
    if _assigns_at_rows(xp):
        return matrix[i, j]
    return xp.take(xp.reshape(matrix, (-1,)), flat_index(i, j, matrix.shape[1]))


def scatter(values: Array, rows: Array, size: int) -> Array:
    """Give the vector of `size` that holds the values at these rows (ascending) and 0 elsewhere."""
    xp = namespace(values)
    out = xp.zeros(size, dtype=values.dtype, device=array_api_compat.device(values))
    if _assigns_at_rows(xp):
        out[rows] = values
    elif rows.shape[0]:
        # The standard assigns where booleans hold, and not at row numbers.
        out[~is_missing(every_row(size, values), rows)] = values
    return out


def each_once(rows: Array, size: int) -> Array:
    """The row numbers, of 0, ..., size - 1, each once and ascending."""
    xp = namespace(rows)
    if not _assigns_at_rows(xp):
        return xp.unique_values(rows)
    # Marks are many times as quick as the hash table or the sort of a library.
    found = xp.zeros(size, dtype=xp.bool, device=array_api_compat.device(rows))
    found[rows] = True
    return xp.astype(where_true(found), rows.dtype)


def in_single(x: Array) -> Array:
    """x in single precision, infinite in silence where it is too large for that."""
    xp = namespace(x)
    with np.errstate(over="ignore"):
        return xp.astype(x, xp.float32)


def concat_in_single(parts: list[Array]) -> Array:
    """Join arrays by their rows, in single precision, infinite in silence where that is too small."""
    if not is_numpy(parts[0]):
        return concat([in_single(part) for part in parts], parts[0])
    with np.errstate(over="ignore"):
        return np.concatenate(parts, dtype=np.float32, casting="same_kind")


def is_numpy(x: Array) -> bool:
    """Whether x is a NumPy array, in host memory."""
    return isinstance(x, np.ndarray)


def is_on_host(x: Array) -> bool:
    """Whether x is in the memory of the processor, of whatever library it is."""
    return str(array_api_compat.device(x)).lower().startswith("cpu")


def on_gpu(x: np.ndarray) -> Array:
    """The same numbers on the GPU that PyTorch has in this process; as they are, where it has none."""
    try:
        import torch
    except ImportError:
        return x
    return torch.as_tensor(x).to("cuda") if torch.cuda.is_available() else x


def is_on_gpu(x: Array) -> bool:
    """Whether x is a tensor in the memory of a GPU."""
    return bool(array_api_compat.is_torch_array(x)) and bool(x.is_cuda)


def free_bytes(like: Array) -> float:
    """The free memory of the device of `like`; infinite where that is the host, which can lend from a disk."""
    if not is_on_gpu(like):
        return float("inf")
    from gramlearn._base.staged_copies import free_bytes as free_on_gpu

    return free_on_gpu(like)


def added_at(x: Array, rows: Array, values: Array) -> Array:
    """Give x with values[k] added to entry rows[k], for every k; a row may come more than once."""
    xp = namespace(x)
    if array_api_compat.is_torch_namespace(xp):
        return xp.index_add(x, 0, rows, values)
    if array_api_compat.is_numpy_namespace(xp) or array_api_compat.is_cupy_namespace(xp):
        out = xp.asarray(x, copy=True)
        xp.add.at(out, rows, values)
        return out
    # The standard has no sum over equal indices: a product with the matrix that says which goes where.
    return x + xp.astype(every_row(x.shape[0], x)[:, None] == rows[None, :], x.dtype) @ values


def every_row(size: int, like: Array) -> Array:
    """Give 0, 1, ..., size - 1, on the device of `like`."""
    xp = namespace(like)
    return xp.arange(size, dtype=xp.int64, device=array_api_compat.device(like))


def where_true(mask: Array) -> Array:
    """Give the indices at which a vector of booleans holds, ascending."""
    return namespace(mask).nonzero(mask)[0]


def count_true(mask: Array) -> int:
    """How many entries of an array of booleans hold."""
    xp = namespace(mask)
    return int(xp.sum(xp.astype(mask, xp.int64)))


def decay_over(x: Array) -> Array:
    """exp(min(x, 0)), written over x where its library can."""
    if is_numpy(x):
        np.minimum(x, 0.0, out=x)
        return np.exp(x, out=x)
    if array_api_compat.is_torch_array(x):
        return x.clamp_(max=0.0).exp_()
    return namespace(x).exp(clipped(x, high=0.0))


def chunks(n_rows: int, n_columns: int, like: Array) -> Iterator[slice]:
    """Cut n_rows into slices whose n_rows x n_columns block fits the cache (or the device)."""
    limit = _CHUNK_BYTES_HOST if is_on_host(like) else _CHUNK_BYTES_DEVICE
    step = max(1, limit // (8 * max(1, n_columns)))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
