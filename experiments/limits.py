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


class TooLongError(BaseException):
    """A block took more than its seconds; no Exception, for packages catch those and go on."""


@contextmanager
def ended_after(limit: float) -> Iterator[None]:
    """Raise TooLongError in the main thread, in which it is called, once the process has used so many seconds.

    The way there is that of Ctrl-C, which goes on to do what it did before; a process that was started in the
    background ignores it, but not its limit.
    """
    in_time, too_late, began = Event(), Event(), time.process_time()
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: Any) -> None:
        if too_late.is_set():
            raise TooLongError(f"a fit took more than {limit:g} s")
        if callable(before):
            before(number, frame)

    def watch() -> None:
        while not in_time.wait(_LOOK):
            if time.process_time() - began > limit:
                too_late.set()
                _thread.interrupt_main()
                return

    signal.signal(signal.SIGINT, interrupted)
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        in_time.set()
        watcher.join()
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
