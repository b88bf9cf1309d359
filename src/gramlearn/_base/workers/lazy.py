"""Arrays of Dask, known by their methods: what is made of them is made where and when it is asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np


def is_lazy(X: object) -> bool:
    """Whether this is an array of Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "map_blocks")


def is_any_lazy(*arrays: object) -> bool:
    """Whether one of these is."""
    return any(is_lazy(X) for X in arrays)


def rows_by_rows(
    function: Callable[..., Any], first: Any, *others: Any, columns: int | None, dtype: Any
) -> Any:
    """function(some rows of the first, the same rows of the others), where and when it is asked for.

    It gives so many columns, or one number for each row where that is None. What the function holds, such as a
    large matrix, is sent once to each process, and not along with each block.
    """
    from gramlearn._base.workers.on_dask import as_task

    whole = first.rechunk(dict.fromkeys(range(1, first.ndim), -1))
    beside = [other.rechunk({0: whole.chunks[0], 1: -1}) for other in others]
    given: dict[str, Any] = {"dtype": dtype, "meta": np.empty((0,) * (2 if columns else 1), dtype)}
    if columns is None:
        given["drop_axis"] = list(range(1, first.ndim))
    else:
        given["chunks"] = (whole.chunks[0], (columns,))
    return whole.map_blocks(_call, *beside, function=as_task(function), **given)


def number_of_all(function: Callable[..., float], first: Any, *others: Any) -> Any:
    """function(all rows of each), one number, which is made in one place when it is asked for."""
    whole, *beside = (X.rechunk(-1) for X in (first, *others))
    axes = list(range(whole.ndim))
    return whole.map_blocks(
        _as_array, *beside, function=function, drop_axis=axes, dtype=float, meta=np.empty((), float)
    )


def _call(*arrays: np.ndarray, function: Callable[..., Any]) -> Any:
    return function(*arrays)


def _as_array(*arrays: np.ndarray, function: Callable[..., float]) -> np.ndarray:
    return np.asarray(function(*arrays), dtype=float)
