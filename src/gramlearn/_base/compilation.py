"""numba.njit whose result is kept on disk where it can be, and compiled again each time where it cannot.

Numba keeps it beside the source, or in the user's cache. Where neither may be written to, it refuses to compile
at all, and where the disk is full, a call ends after it has compiled: for want of a convenience.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba

__all__ = ["compiled"]


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator, with the options of numba.njit."""

    def compile_later(function: Callable[..., Any]) -> Any:
        try:
            found = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # there is no folder to keep it in
            return numba.njit(**options)(function)
        save = found._cache.save_overload

        def save_if_possible(*args: Any) -> None:
            with suppress(OSError):
                save(*args)

        found._cache.save_overload = save_if_possible
        return found

    return compile_later
