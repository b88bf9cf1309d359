"""A first call that compiles says so: on a terminal, in one line that goes away; in a log, nothing."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["announced"]


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
