"""A limit on the processor's seconds of a block: KeyboardInterrupt when they are over, as if by Ctrl-C."""

import _thread
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

__all__ = ["ended_after"]

_LOOK = 0.05  # seconds between two looks at the clock


@contextmanager
def ended_after(limit: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread once the process has used so many seconds.

    It is called in the main thread. A process that was started in the background ignores Ctrl-C, and would
    ignore this: for as long as the block takes, it does not.
    """
    over, began = Event(), time.process_time()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def watch() -> None:
        while not over.wait(_LOOK):
            if time.process_time() - began > limit:
                _thread.interrupt_main()
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        signal.signal(signal.SIGINT, before)
