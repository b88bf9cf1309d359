"""A worker stands where it was made, as long as somebody wants it, and is asked one question at a time."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gramlearn._base.workers import posts

NAME = ("crew", 0)


class Waiter:
    """Counts who asks it at the same time, and when it was let go."""

    def __init__(self) -> None:
        self.here = self.most = self.closed = 0

    def wait(self, seconds: float) -> int:
        self.here += 1
        self.most = max(self.most, self.here)
        time.sleep(seconds)
        self.here -= 1
        return self.most

    def lack(self) -> None:
        raise KeyError("its own")

    def close(self) -> None:
        self.closed += 1


def test_a_worker_that_is_let_go_while_it_is_made_is_closed() -> None:
    made, began, may_end = Waiter(), threading.Event(), threading.Event()

    def make() -> Waiter:
        began.set()
        may_end.wait(10)
        return made

    thread = threading.Thread(target=posts.settle, args=(NAME, make))
    thread.start()
    began.wait(10)
    with pytest.raises(posts.VacantError):
        posts.ask(NAME, "wait", (0.0,))
    posts.forget(NAME)
    may_end.set()
    thread.join(10)
    assert made.closed == 1
    assert NAME not in posts.POSTS


def test_one_that_cannot_be_made_leaves_the_next_one_where_it_is() -> None:
    began, may_end = threading.Event(), threading.Event()

    def fail() -> Waiter:
        began.set()
        may_end.wait(10)
        raise MemoryError

    def settle() -> None:
        with pytest.raises(MemoryError):
            posts.settle(NAME, fail)

    def make() -> Waiter:
        may_end.set()
        thread.join(10)
        return Waiter()

    thread = threading.Thread(target=settle)
    thread.start()
    began.wait(10)
    posts.settle(NAME, make)
    assert posts.ask(NAME, "wait", (0.0,)) == 1
    posts.forget(NAME)


def test_the_next_one_takes_the_place_of_the_one_before() -> None:
    first, second = Waiter(), Waiter()

    def make() -> Waiter:
        assert first.closed == 1  # so that there is room for the next
        return second

    posts.settle(NAME, lambda: first)
    posts.settle(NAME, make)
    posts.forget(NAME)
    posts.forget(NAME)
    assert second.closed == 1


def test_questions_wait_for_each_other_and_errors_are_those_of_the_worker() -> None:
    posts.settle(NAME, Waiter)
    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(posts.ask, NAME, "wait", (0.02,)) for _ in range(3)]
        assert [future.result() for future in found] == [1, 1, 1]
    with pytest.raises(KeyError, match="its own"):
        posts.ask(NAME, "lack", ())
    posts.forget(NAME)
