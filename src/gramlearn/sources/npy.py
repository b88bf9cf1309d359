""".npy -> an array that stays on the disk, once its header agrees with the size of the file."""

import gzip
import io
import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gramlearn.sources.errors import FileError
from gramlearn.sources.opening import name_of, opened

_MAGIC = b"\x93NUMPY"


def read_npy(path: str | Path) -> np.ndarray:
    """The array of a .npy file as a memory map; of stdin, and of a packed file, in memory."""
    name = name_of(path)
    with opened(path) as file:
        head = file.read(len(_MAGIC))
        if not head:
            raise FileError(f"{name} is empty.")
        if head[:4] == b"PK\x03\x04":
            raise FileError(
                f"{name} is an archive of arrays (.npz); save the one array with np.save."
            )
        if head != _MAGIC:
            raise FileError(f"{name} is not an array of NumPy; write it with np.save(path, array).")
        file.seek(0)
        shape, is_fortran, dtype = _read_header(file, name)
        start = file.tell()
        size = _check_size(file, start, shape, dtype, name)
        if size and not isinstance(file, io.BytesIO | gzip.GzipFile):
            order: Any = "F" if is_fortran else "C"
            return np.memmap(Path(path), dtype, "r", start, shape, order)
        file.seek(start)
        flat = np.frombuffer(file.read(size), dtype=dtype)
        return flat.reshape(shape, order="F" if is_fortran else "C")


def _read_header(file: BinaryIO, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(file)
    except Exception as error:  # whatever a header that lies may raise on the way
        raise FileError(
            f"{name} has a damaged header; write it anew with np.save(path, array)."
        ) from error
    if dtype.hasobject:
        raise FileError(
            f"{name} holds Python objects (a pickle), which are not opened as they may run code; save numbers: "
            "np.save(path, np.asarray(array, dtype=float))."
        )
    return shape, is_fortran, dtype


def _check_size(
    file: BinaryIO, start: int, shape: tuple[int, ...], dtype: np.dtype[Any], name: str
) -> int:
    """The bytes of the numbers, which must be there."""
    if any(length < 0 for length in shape):
        raise FileError(f"{name} has a damaged header; write it anew with np.save(path, array).")
    size = math.prod(shape) * dtype.itemsize
    there = file.seek(0, io.SEEK_END) - start
    if there < size:
        raise FileError(
            f"{name} is cut off: an array of shape {shape} takes {size:,} bytes, and it has {there:,}; write "
            "or fetch it again."
        )
    return size
