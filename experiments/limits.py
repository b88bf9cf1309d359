"""A limit on the processor's seconds of a block, and a fit that may fail: what came of it, whatever it was."""

import _thread
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

__all__ = ["TooLongError", "attempt", "ended_after"]

_LOOK = 0.05  # seconds between two looks at the clock
_AGAIN = 1.0  # seconds until a block that went on is interrupted again


class TooLongError(BaseException):
    """A block took more than its seconds; no Exception, for packages catch those and go on."""


@contextmanager
def ended_after(limit: float) -> Iterator[None]:
    """Raise TooLongError in the main thread, in which it is called, once the process has used so many seconds.

    The way there is that of Ctrl-C, which goes on to do what it did before; a process that was started in the
    background ignores it, but not its limit. A block that catches the error and goes on gets another.
    """
    is_over, too_late, began = Event(), Event(), time.process_time()
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: Any) -> None:
        if not too_late.is_set():
            if callable(before):
                before(number, frame)
        elif not is_over.is_set():
            raise TooLongError(f"a fit took more than {limit:g} s")

    def watch() -> None:
        while not is_over.wait(_AGAIN if too_late.is_set() else _LOOK):
            if time.process_time() - began > limit:
                too_late.set()
                _thread.interrupt_main()

    signal.signal(signal.SIGINT, interrupted)
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        try:
            is_over.set()  # from here on, an interrupt that is late is none
            watcher.join()
        finally:
            is_over.set()
            signal.signal(signal.SIGINT, before)


def attempt(fit: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """What `fit` gave, with "status" done, "reason" "" and its "seconds"; or "status" and "reason" alone.

    The status is "ended" where it ran into a limit and "failed" where it raised. Its warnings are not shown.
    """
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fit()
    except TooLongError as reason:
        return {"status": "ended", "reason": str(reason)}
    except Exception as error:  # whatever a method raises is its result
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        return {"status": "failed", "reason": words}
    return {"status": "done", "reason": "", "seconds": time.process_time() - began, **found}
