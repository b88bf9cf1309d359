"""One BLAS thread for small products, where several threads would mostly wait for each other.

The number of threads of BLAS is usually one number for the whole process, and blocks of several Python threads
overlap. So blocks are counted: the first sets the number to one, and the last sets it back. Where each Python
thread has its own number, as with OpenMP, each sets its own. A number that others have set meanwhile stays.

Large products wait as well where other processes want the cores: a product is done when its slowest thread is,
and that one may not be running. So `threads_that_help` looks, now and then, for a second core that is free.

Compiled scans have threads of their own, as many as Numba would take, or fewer where somebody says so: several
workers of a cluster on one machine share its cores.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple, final

from gramlearn._base import free_cores

_FIRST_LOOK, _NEXT_LOOK = 0.1, 0.5  # seconds: /proc/stat counts hundredths of them
_TWO = 1.5  # fewer free cores than this are one: others had more than half of the second
_TWO_AGAIN = 1.75  # the same, once there was one

_MOST_OF_SCAN: ContextVar[float] = ContextVar("threads of a scan", default=float("inf"))


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    from threadpoolctl import ThreadpoolController  # which comes with scikit-learn

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _is_shared(library: Any) -> bool:
    """Whether one number holds for all Python threads."""
    return not (
        hasattr(library, "clear_controlling_thread")
        and getattr(library, "threading_layer", None) == "openmp"
    )


def _limit(before: list[tuple[Any, int]]) -> None:
    for library, number in before:
        if number != 1:
            library.set_num_threads(1)


def _restore(before: list[tuple[Any, int]]) -> None:
    for library, number in before:
        if library.num_threads == 1 != number:
            # Newer threadpoolctl lets only the first thread that set the number change it; here it is the
            # last block that sets it back.
            release = getattr(library, "clear_controlling_thread", lambda force: None)
            release(force=True)
            library.set_num_threads(number)
            release(force=False)


class _Block(NamedTuple):
    """The Python thread of an open block, and the numbers of this thread alone before it."""

    thread: int
    own: list[tuple[Any, int]]


@final
class _Blocks:
    """The blocks that are open, and what the numbers were before the first of them.

    Ctrl-C may come anywhere in `enter` and `leave`, and `leave` may be called twice: so its data are stored
    before anything is changed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[object, _Block] = {}
        self._before: list[tuple[Any, int]] = []

    def enter(self, key: object) -> None:
        numbers = [(library, library.num_threads) for library in _libraries()]
        own = [(library, number) for library, number in numbers if not _is_shared(library)]
        with self._lock:
            if not self._open:
                self._before = [
                    (library, library.num_threads) for library, _ in numbers if _is_shared(library)
                ]
            self._open[key] = _Block(threading.get_ident(), own)
            if len(self._open) == 1:
                _limit(self._before)
        _limit(own)

    def leave(self, key: object) -> None:
        with self._lock:
            block = self._open.get(key)
            if block is None:
                return
            if block.thread == threading.get_ident():
                _restore(block.own)
            if len(self._open) == 1:
                _restore(self._before)
            del self._open[key]

    def forked(self) -> None:
        """Clean up in the child of a fork, which has one thread; another one may have held the lock."""
        self._lock = threading.Lock()
        mine = threading.get_ident()
        for key in [key for key, block in self._open.items() if block.thread != mine]:
            self.leave(key)


_BLOCKS = _Blocks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BLOCKS.forked)


@contextmanager
def one_thread(when: bool = True) -> Iterator[None]:
    """Let BLAS use one thread inside the block."""
    if not when:
        yield
        return
    key = object()
    try:
        _BLOCKS.enter(key)
        yield
    finally:
        try:
            _BLOCKS.leave(key)
        except KeyboardInterrupt:
            _BLOCKS.leave(key)
            raise


@contextmanager
def threads_that_help(when: bool = True) -> Iterator[Callable[[], None]]:
    """Let BLAS use one thread while others leave no second core to it; gives a function that looks again.

    The function is cheap enough to be called after every step: most of the time it looks at the clock only.
    """
    with ExitStack() as blocks:
        watch = _Watch(blocks)
        if when:
            watch.begin()
        yield watch.look


@final
class _Watch:
    """Whether one thread is used now, and when to look again."""

    def __init__(self, blocks: ExitStack) -> None:
        self._outer = blocks
        self._one: ExitStack | None = None
        self._last: free_cores.Reading | None = None
        self._next = float("inf")

    def begin(self) -> None:
        """Begin by what is seen at once: a look over some time follows soon."""
        if all(library.num_threads == 1 for library in _libraries()):
            return
        self._last = free_cores.read()
        if self._last is not None:
            self._next = self._last.clock + _FIRST_LOOK
            self.use_one(free_cores.free_now() < _TWO)

    def look(self) -> None:
        """Look at what others had since the last time, if that was long ago."""
        if time.perf_counter() < self._next or self._last is None:
            return
        now = free_cores.read()
        if now is None:
            return
        free = free_cores.free_between(self._last, now)
        self._last, self._next = now, now.clock + _NEXT_LOOK
        self.use_one(free < (_TWO if self._one is None else _TWO_AGAIN))

    def use_one(self, wanted: bool) -> None:
        """Open a block of one thread, or end it."""
        if wanted and self._one is None:
            self._one = self._outer.enter_context(ExitStack())
            self._one.enter_context(one_thread())
        elif not wanted and self._one is not None:
            self._one.close()
            self._one = None


@contextmanager
def at_most_in_scans(threads: int) -> Iterator[None]:
    """Let a compiled scan of this Python thread use no more threads than these inside the block."""
    before = _MOST_OF_SCAN.set(threads)
    try:
        yield
    finally:
        _MOST_OF_SCAN.reset(before)


def threads_of_scan(threads: int) -> int:
    """So many threads, or the most that a scan may use here."""
    return int(min(threads, _MOST_OF_SCAN.get()))
