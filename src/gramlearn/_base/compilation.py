"""numba.njit whose result is kept on disk where it can be, and compiled again each time where it cannot.

Numba keeps it beside the source, or in the user's cache. Where neither may be written to, it refuses to compile
at all, and where the disk is full, a call ends after it has compiled: for want of a convenience. A first call
that compiles says so: on a terminal, in one line that goes away; in a log, nothing.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator, with the options of numba.njit."""
    import numba  # the modules of compiled functions are imported when they are needed; this one before

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
