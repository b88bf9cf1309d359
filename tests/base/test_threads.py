"""BLAS has one number of threads for the whole process; overlapping blocks that limit it restore it."""

import os
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from gramlearn._base import free_cores, threads
from gramlearn._base.free_cores import Reading
from gramlearn._base.threads import one_thread, threads_that_help
from gramlearn.estimators import MetricLearner
from gramlearn.solvers import loop

LIBRARIES = ThreadpoolController().select(user_api="blas").lib_controllers


def numbers() -> list[int]:
    return [library.num_threads for library in LIBRARIES]


def set_numbers(number: int) -> None:
    for library in LIBRARIES:
        library.set_num_threads(number)
        getattr(library, "clear_controlling_thread", lambda: None)()


@pytest.fixture(autouse=True)
def _two_threads():
    """A machine with one core, or tests run on one thread, would have nothing to restore."""
    before = max(numbers())
    set_numbers(2)
    try:
        if 1 in numbers():
            pytest.skip("BLAS has one thread only here")
        yield
    finally:
        set_numbers(before)


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="the system does not list libraries"
)
def test_every_loaded_blas_is_found() -> None:
    """That of NumPy and that of SciPy, as the system lists what is loaded."""
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    blas = {path for path in loaded if re.search(r"/lib\w*(openblas|mkl_rt)[^/]*$", path)}
    found = {os.path.realpath(library.filepath) for library in threads._libraries.__wrapped__()}
    assert {os.path.realpath(path) for path in blas} <= found


def test_a_block_has_one_thread_and_leaves_as_many_as_before() -> None:
    before = numbers()
    with one_thread():
        assert set(numbers()) == {1}
        with one_thread(), one_thread(when=False):
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}
    assert numbers() == before


@pytest.mark.parametrize("first_out", ["first in", "last in"])
def test_blocks_that_overlap_end_with_the_last(first_out: str) -> None:
    before = numbers()
    blocks = [one_thread(), one_thread()]
    for block in blocks:
        block.__enter__()
    order = blocks if first_out == "first in" else blocks[::-1]
    order[0].__exit__(None, None, None)
    assert set(numbers()) == {1}
    order[1].__exit__(None, None, None)
    assert numbers() == before


def test_an_exception_leaves_the_block() -> None:
    before = numbers()

    def fail() -> None:
        with one_thread():
            with pytest.raises(ValueError, match="inside"), one_thread():
                raise ValueError("inside")
            assert set(numbers()) == {1}
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert numbers() == before


def test_many_threads_at_once() -> None:
    before = numbers()
    wrong: list[list[int]] = []
    barrier = threading.Barrier(8)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        barrier.wait()
        for _ in range(50):
            try:
                with one_thread():
                    now = numbers()
                    if set(now) != {1}:
                        wrong.append(now)
                    if rng.random() < 0.3:
                        raise ValueError
            except ValueError:
                pass

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert numbers() == before


def test_fits_in_parallel_threads_leave_the_number() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.repeat([0, 1, 2], 20)
    before = numbers()
    found: list[np.ndarray] = []
    work = [
        threading.Thread(
            target=lambda: found.append(MetricLearner(random_state=0, C=1.0).fit(X, y).components_)
        )
        for _ in range(6)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert numbers() == before
    assert all(np.array_equal(found[0], other) for other in found)
    assert len(found) == 6


def test_a_number_of_threads_set_inside_a_block_stays() -> None:
    with one_thread():
        set_numbers(3)
        chosen = numbers()
    assert numbers() == chosen


def test_a_limit_set_by_the_user_in_another_thread_stays() -> None:
    def work() -> None:
        with one_thread():
            pass

    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = numbers()
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        assert numbers() == before


@pytest.mark.parametrize("where", ["enter", "leave"])
def test_ctrl_c_at_any_call_restores_the_threads(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th call of anything on the way in or out is interrupted, for every n."""
    before = numbers()
    libraries = threads._libraries()

    class Interrupting:
        left: int | None = None

        def __init__(self, library) -> None:
            self._library = library

        def _count(self) -> None:
            if Interrupting.left is not None:
                Interrupting.left -= 1
                if Interrupting.left < 0:
                    Interrupting.left = None
                    raise KeyboardInterrupt

        def __getattr__(self, name):
            return getattr(self._library, name)

        @property
        def num_threads(self):
            self._count()
            return self._library.num_threads

        def set_num_threads(self, number) -> None:
            self._count()
            self._library.set_num_threads(number)
            self._count()

    watched = [Interrupting(library) for library in libraries]
    monkeypatch.setattr(threads, "_libraries", lambda: watched)
    for n in range(6 * len(watched)):
        Interrupting.left = n if where == "enter" else None
        try:
            with one_thread():
                Interrupting.left = n if where == "leave" else Interrupting.left
        except KeyboardInterrupt:
            pass
        Interrupting.left = None
        assert numbers() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_inside_another_threads_block() -> None:
    """The child has none of the other threads, so their blocks are over there, and it may open its own."""
    inside, over = threading.Event(), threading.Event()

    def hold() -> None:
        with one_thread():
            inside.set()
            over.wait()

    before = numbers()
    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            first = numbers()
            with one_thread():
                second = numbers()
            os.write(writer, repr((first, second, numbers())).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        answer = said.read()
    os.waitpid(child, 0)
    over.set()
    holder.join()
    assert answer == repr((before, [1] * len(before), before))
    assert numbers() == before


# -- other processes -----------------------------------------------------------------------------------


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The free cores that looks see: at once, and over the time since the last look, which was long ago."""
    seen = {"now": 2.0, "since": 2.0}
    monkeypatch.setattr(free_cores, "read", lambda: Reading(time.perf_counter(), 0.0, 0.0))
    monkeypatch.setattr(free_cores, "free_now", lambda: seen["now"])
    monkeypatch.setattr(free_cores, "free_between", lambda first, second: seen["since"])
    monkeypatch.setattr(threads, "_FIRST_LOOK", 0.0)
    monkeypatch.setattr(threads, "_NEXT_LOOK", 0.0)
    return seen


def test_one_thread_while_others_leave_no_second_core(free: dict[str, float]) -> None:
    before = numbers()
    free["now"] = 1.0
    with threads_that_help() as look:
        assert set(numbers()) == {1}
        for since, expected in [
            (2.0, before),
            (1.0, [1]),
            (1.6, [1]),
            (1.9, before),
            (1.6, before),
        ]:
            free["since"] = since
            look()
            assert set(numbers()) == set(expected)
        free["since"] = 0.5
        look()
        assert set(numbers()) == {1}
    assert numbers() == before


def test_an_exception_ends_the_watch(free: dict[str, float]) -> None:
    before = numbers()
    free["now"] = 0.0

    def fail() -> None:
        with threads_that_help():
            assert set(numbers()) == {1}
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert numbers() == before


def test_free_cores_and_a_system_that_tells_nothing_change_nothing(
    free: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = numbers()
    with threads_that_help() as look:
        look()
        assert numbers() == before
    free["now"] = free["since"] = 1.0
    with threads_that_help(when=False) as look:
        look()
        assert numbers() == before
    monkeypatch.setattr(free_cores, "read", lambda: None)
    with threads_that_help() as look:
        look()
        assert numbers() == before


def test_one_thread_of_the_user_is_not_watched(
    free: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_cores, "read", lambda: pytest.fail("there is nothing to decide"))
    with one_thread(), threads_that_help() as look:
        look()
        assert set(numbers()) == {1}


def test_a_look_between_two_looks_is_only_at_the_clock(
    free: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_FIRST_LOOK", 3600.0)
    with threads_that_help() as look:
        monkeypatch.setattr(free_cores, "read", lambda: pytest.fail("it is too early"))
        look()


def test_a_large_solve_looks_after_every_step(
    free: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_SMALL", -1.0)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.repeat([0, 1, 2], 20)
    before, seen = numbers(), list[set[int]]()

    def record(_: object) -> None:
        seen.append(set(numbers()))
        free["since"] = 1.0

    MetricLearner(random_state=0, callback=record, C=1.0).fit(X, y)
    assert seen[0] == set(before)
    assert len(seen) > 1
    assert set().union(*seen[1:]) == {1}
    assert numbers() == before
