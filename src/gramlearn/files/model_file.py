"""model file = length of the header, 8 bytes | header, JSON | numbers: safetensors, read with suspicion.

The header has an entry for each array, {"dtype", "shape", "data_offsets"}, and under `__metadata__` one string,
"gramlearn", which is the JSON of the model. Any reader of safetensors reads the arrays. Nothing in such a file
is a program: there are numbers and text, and what they mean is decided here.

What a file says of its sizes is held against its own size before memory is taken, so that reading never takes
much more than the file has. Text is limited, too: a header has at most 16 MB, and 300,000 values.
"""

import json
import os
from collections.abc import Iterable, Mapping
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramlearn._base.printable import printable, with_printable_texts
from gramlearn.files.writing import replacing
from gramlearn.sources.errors import FileError

NAME = "gramlearn"  # of the metadata that is the model
_LENGTH = 8  # bytes, before the header
_LONGEST_HEADER = 16 * 2**20
_MOST_VALUES = 300_000  # of a header
_DEEPEST = 40  # lists and objects within each other
_MOST_DIMENSIONS = 4
_TOO_DEEP = "it is nested too deeply"
_LARGEST = 2**48  # numbers along a dimension
DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}
_CODES = {np.dtype(kind).newbyteorder("="): code for code, kind in DTYPES.items()}


class ArrayEntry(NamedTuple):
    """What the header says of an array: its numbers are bytes `begin` to `end` of the last part of the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """The model as JSON, what arrays there are, the byte where the first begins, and the size of the file."""

    model: dict[str, Any]
    entries: dict[str, ArrayEntry]
    start: int
    size: int


def is_storable(array: np.ndarray) -> bool:
    """Whether a file can hold an array of this type."""
    return array.dtype.newbyteorder("=") in _CODES and array.ndim <= _MOST_DIMENSIONS


def write_model_file(
    path: str | Path, model: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write the model and its arrays; they take the place of an old file at the end, or not at all."""
    # The widest numbers first, so that all of them begin where numbers of their width may.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header: dict[str, Any] = {"__metadata__": {NAME: json.dumps(model, allow_nan=False)}}
    begin = 0
    for name in order:
        array = arrays[name]
        end = begin + array.nbytes
        code = _CODES[array.dtype.newbyteorder("=")]
        header[name] = {
            "dtype": code,
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _LENGTH)
    wrong = _TOO_DEEP if _is_too_deep(model) else _complaint_of_text(text)
    if wrong is not None:
        raise ValueError(
            f"the model cannot be saved: {wrong}; learn from fewer classes or kernels, or from features "
            "without names."
        )
    with replacing(path) as beside, beside.open("wb") as file:
        file.write(len(text).to_bytes(_LENGTH, "little"))
        file.write(text)
        for name in order:
            array = arrays[name]
            kind = DTYPES[_CODES[array.dtype.newbyteorder("=")]]
            file.write(np.ascontiguousarray(array, dtype=kind).data)


def read_header(path: str | Path) -> Header:
    """The header alone, checked against the size of the file; its texts are fit for a terminal."""
    with _opened(path) as file:
        header = _header_of(file, str(path))
    entries = {printable(name): entry for name, entry in header.entries.items()}
    return header._replace(model=with_printable_texts(header.model), entries=entries)


def read_model_file(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The model as JSON, and its arrays; each is read once, into memory of its size."""
    with _opened(path) as file:
        header = _header_of(file, str(path))
        arrays = {}
        for name, entry in header.entries.items():
            file.seek(header.start + entry.begin)
            stored = np.empty(entry.shape, dtype=entry.dtype)
            if (
                stored.size
                and file.readinto(stored.reshape(-1).view(np.uint8).data) != stored.nbytes
            ):
                raise damaged(path, "it became shorter while it was read")
            arrays[name] = stored.astype(entry.dtype.newbyteorder("="), copy=False)
            is_bool = entry.dtype.kind == "b"
            if is_bool and stored.size and int(stored.view(np.uint8).max()) > 1:
                raise damaged(path, f"the array {name!r:.60} holds neither true nor false")
    return header.model, arrays


def damaged(path: str | Path, why: str) -> FileError:
    """The error of a file that is no model."""
    return FileError(
        f"{path} is no model file of gramlearn, or it is damaged: {printable(why)}; save the model again, "
        "or copy the file anew."
    )


def _opened(path: str | Path) -> BufferedReader:
    place = Path(path)
    if place.exists() and not place.is_file():
        what = "a folder" if place.is_dir() else "no file on a disk"
        raise FileError(f"{path} is {what}; pass a model file, as `save` writes it.")
    return place.open("rb")


def _header_of(file: BufferedReader, path: str) -> Header:
    size = os.fstat(file.fileno()).st_size
    if size < _LENGTH:
        raise damaged(path, f"it has {size} bytes")
    length = int.from_bytes(file.read(_LENGTH), "little")
    if length > size - _LENGTH:
        raise damaged(
            path, f"it has {size} bytes, and its first eight say that the header has {length}"
        )
    if length > _LONGEST_HEADER:
        raise damaged(path, f"its header has {length} bytes, of at most {_LONGEST_HEADER}")
    text = file.read(length)
    if len(text) != length:
        raise damaged(path, "it became shorter while it was read")
    given = _object(_parsed(text, path, "its header"), path, "its header")
    start = _LENGTH + length
    metadata = given.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get(NAME), str):
        raise damaged(path, f"its header has no text {NAME!r} in `__metadata__`")
    model_text = metadata[NAME].encode("utf-8", "replace")
    model = _object(_parsed(model_text, path, "its model"), path, "its model")
    entries = {name: _entry(name, entry, path) for name, entry in given.items()}
    _check_tiling(entries, size - start, path)
    return Header(model, entries, start, size)


def _complaint_of_text(text: bytes) -> str | None:
    """What is too large about JSON, as JSON that is read takes many times the memory of its text."""
    if len(text) > _LONGEST_HEADER:
        return f"its header has {len(text)} bytes, of at most {_LONGEST_HEADER}"
    if sum(text.count(mark) for mark in (b",", b"[", b"{")) > _MOST_VALUES:
        return f"its header has more than {_MOST_VALUES} values"
    return None


def _parsed(text: bytes, path: str, what: str) -> Any:
    """JSON in which no name comes twice, and every number is one."""
    if (wrong := _complaint_of_text(text)) is not None:
        raise damaged(path, wrong)
    try:
        value = json.loads(
            text.decode(), object_pairs_hook=_without_twins, parse_constant=_refuse_constant
        )
        if _is_too_deep(value):
            raise ValueError(_TOO_DEEP)
        return value
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        why = _TOO_DEEP if deep else " ".join(str(error).split())[:120]
        raise damaged(path, f"{what} is not JSON as it should be ({why})") from None


def _is_too_deep(value: Any) -> bool:
    """Whether more lists and objects are within each other than any model has."""
    level = [value]
    for _ in range(_DEEPEST):
        holders = [one for one in level if isinstance(one, dict | list)]
        level = [
            inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


def _without_twins(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r:.60} comes twice")
        found[name] = value
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _object(given: Any, path: str, what: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise damaged(path, f"{what} is no JSON object")
    return given


def _entry(name: str, given: Any, path: str) -> ArrayEntry:
    if not isinstance(given, dict) or set(given) != {"dtype", "shape", "data_offsets"}:
        raise damaged(path, f"the array {name!r:.60} has no dtype, shape and data_offsets alone")
    code, shape, ends = given["dtype"], given["shape"], given["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        raise damaged(
            path, f"the array {name!r:.60} has the dtype {code!r:.40}, not of {', '.join(DTYPES)}"
        )
    # NumPy multiplies the sizes beside one of 0, too.
    if (
        not _are_counts(shape)
        or len(shape) > _MOST_DIMENSIONS
        or prod(size for size in shape if size) > _LARGEST
    ):
        raise damaged(path, f"the array {name!r:.60} has the shape {shape!r:.40}")
    if not _are_counts(ends) or len(ends) != 2:
        raise damaged(path, f"the array {name!r:.60} has the data_offsets {ends!r:.40}")
    dtype = np.dtype(DTYPES[code])
    wanted = prod(shape) * dtype.itemsize
    if ends[1] - ends[0] != wanted:
        raise damaged(
            path,
            f"the array {name!r:.60} of shape {shape!r:.60} has {wanted} bytes, and its data_offsets are of "
            f"{ends[1] - ends[0]}",
        )
    return ArrayEntry(dtype, tuple(shape), *ends)


def _are_counts(given: Any) -> bool:
    """Whether it is a list of whole numbers that an array may have along a dimension."""
    return isinstance(given, list) and all(
        type(number) is int and 0 <= number <= _LARGEST for number in given
    )


def _check_tiling(entries: Mapping[str, ArrayEntry], n_bytes: int, path: str) -> None:
    """The arrays follow each other, without holes and overlaps, to the end of the file."""
    place = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != place:
            raise damaged(
                path, f"the array {name!r:.60} begins at {entry.begin}, and not at {place}"
            )
        place = entry.end
    if place != n_bytes:
        raise damaged(path, f"its arrays have {place} bytes, and the file holds {n_bytes} of them")
