"""How many cores others leave: what the system counts, and what follows from two readings."""

import os
import subprocess
import sys
import time

import pytest

from gramlearn._base import free_cores
from gramlearn._base.free_cores import Reading, cores, free_between, free_now, read

LINUX = pytest.mark.skipif(read() is None, reason="the system does not tell")


def burn(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@pytest.mark.parametrize(
    ("busy", "own", "taken"), [(0.0, 0.0, 0.0), (2.0, 2.0, 0.0), (3.0, 1.0, 1.0), (0.9, 1.0, 0.0)]
)
def test_what_others_had_is_not_free(busy, own, taken):
    first, second = Reading(10.0, 5.0, 3.0), Reading(12.0, 5.0 + busy, 3.0 + own)
    assert free_between(first, second) == pytest.approx(len(cores()) - taken)


@LINUX
def test_own_work_is_not_that_of_others():
    first = read()
    burn(0.3)
    second = read()
    # Busy time is counted in hundredths of a second a core, and others may work here as well.
    assert second.busy - first.busy >= second.own - first.own - 0.02 * len(cores())
    assert second.clock - first.clock >= 0.3
    assert 0.0 - 0.1 <= free_between(first, second) <= len(cores())


@LINUX
def test_a_process_that_works_takes_a_core():
    work = [sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(work) for _ in cores()]
    try:
        time.sleep(0.3)
        first = read()
        time.sleep(0.5)
        assert free_between(first, read()) < 0.5
        if len(cores()) == os.cpu_count():
            assert free_now() < 1.0 + 0.5 * len(cores())
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def test_without_the_files_of_linux_all_cores_are_free(monkeypatch):
    def missing(*args, **kwargs):
        raise FileNotFoundError(args[0])

    monkeypatch.setattr("builtins.open", missing)
    assert free_cores.read() is None
    assert free_cores.free_now() == len(cores())


def test_others_on_other_cores_are_not_counted(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: len(cores()) + 1)
    assert free_now() == len(cores())
