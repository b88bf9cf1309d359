"""An object from one device to another: the same object, with every array that it holds moved.

What holds arrays is taken apart and put together as by pickle, which knows how: maps, kernels, statements,
certificates, and what they share stays shared. Arrays themselves go by reference, and are moved one by one.
"""

import io
import pickle
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import (
    Array,
    brought,
    check_together,
    is_array,
    is_elsewhere,
    is_numpy,
    to_numpy,
)

Held = TypeVar("Held")
_BY_REFERENCE = (FunctionType, ModuleType, type)  # the user's, maybe, which pickle would not find


def moved(held: Held, move: Callable[[Array], Array]) -> Held:
    """A copy with move(a) in place of each array a, wherever it is held."""
    file, arrays = _packed(held)
    # An array that two hold is moved once, and both hold the new one.
    found = {id(x): move(x) if is_array(x) else x for x in arrays}
    return _Unpacker(file, [found[id(x)] for x in arrays]).load()


def in_host_memory(held: Held) -> Held:
    """The same with NumPy arrays; itself where it has no others."""
    _, arrays = _packed(held)
    return moved(held, to_numpy) if any(is_elsewhere(x) for x in arrays) else held


def beside(held: Held, points: Any) -> Held:
    """The same with arrays in the library, and on the device, of these points, which may be sparse."""
    return (
        held if is_numpy(points) or issparse(points) else moved(held, lambda x: brought(x, points))
    )


def check_beside(held: Any, X: Any, name: str) -> None:
    """Refuse what holds arrays of another library than X, or on another device, and not in host memory."""
    like = np.zeros(0) if issparse(X) else X
    for x in _packed(held)[1]:
        if is_elsewhere(x):
            check_together(x, like, (f"what `{name}` holds", "`X`"))


def _packed(held: Any) -> tuple[io.BytesIO, list[Any]]:
    """What pickle needs to make it again, and the arrays, which stay as they are."""
    arrays: list[Any] = []
    file = io.BytesIO()
    _Packer(file, arrays).dump(held)
    file.seek(0)
    return file, arrays


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, arrays: list[Any]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._arrays = arrays

    def persistent_id(self, held: Any) -> int | None:
        if not (is_array(held) or isinstance(held, _BY_REFERENCE)):
            return None
        self._arrays.append(held)
        return len(self._arrays) - 1


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: list[Any]) -> None:
        super().__init__(file)
        self._arrays = arrays

    def persistent_load(self, number: Any) -> Any:
        return self._arrays[number]
