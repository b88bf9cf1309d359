"""numba.njit whose result is cached on disk where possible, and compiled again each time where not.

Numba itself refuses to compile where neither the folder of the source nor the user's cache can be written to,
and raises after compiling where the disk is full. On a terminal, a first call says that it compiles.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator, with the options of numba.njit."""
    import numba  # here, since only modules of compiled functions need it

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


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Show that `what` is being compiled, while it is, wherever Numba does not find it on disk."""
    if not sys.stderr.isatty():
        yield
        return
    from numba.core import event

    class Announcer(event.Listener):
        said = False

        def on_start(self, event: Any) -> None:
            del event
            if not self.said:
                sys.stderr.write(f"\rcompiling {what}, once; the result is kept on disk ...")
                sys.stderr.flush()
            self.said = True

        def on_end(self, event: Any) -> None:
            del event

    announcer = Announcer()
    with event.install_listener("numba:compile", announcer):
        yield
    if announcer.said:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
