"""Fits in many threads and processes at once: same answers, constant memory, unchanged thread limits.

    python -m stress.load --minutes 10 --out stress/results/load.json

Every process has its threads, each of which fits one estimator after the other in an order of its own.

The same answers: to the bit where BLAS has one thread, in every other process. In the others it has as many as
there are cores. A number of threads is BLAS's for the whole process, and small fits hold it at one, so a fit
beside them may have one thread where alone it has two, and round differently: every answer has to be
certified, and without a certificate it may differ by a rounding.

Flat memory: now and then all threads rest between two fits. What is alive then, after a collection of garbage,
is counted: blocks of Python, and what the process has in memory, less what the allocator keeps free. A leak
grows with every fit; caches and arenas of threads are full after a third of the time.
"""

import argparse
import ctypes
import gc
import json
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
from tools.atomic_files import write_atomically

from gramlearn.problem.status import Status
from stress.fits import FITS, Fit, digest

__all__ = ["is_flawless", "main", "run_load"]

Found = TypeVar("Found")

_RESTS = 15
_GROWTH = {"blocks": 0.01, "MiB": 0.05}  # the most, between a third of the time and the end
_ROUNDING = 1e-9  # of the largest entry
_SIZE = 1.5
# Of products so large that a fit lets BLAS have its threads.
_LARGE = ("MetricLearner", 8.0)


class _Task(NamedTuple):
    """A fit, its data, and what it finds alone."""

    name: str
    fit: Fit
    data: tuple[Any, ...]
    alone: list[np.ndarray]


def run_load(
    minutes: float, processes: int, threads: int, seed: int = 0, names: list[str] | None = None
) -> dict[str, Any]:
    """Fit in this many processes and threads for this long; summarize."""
    sizes = [(name, _SIZE) for name in names or FITS] + ([] if names else [_LARGE])
    context = multiprocessing.get_context("spawn")
    heard = context.SimpleQueue()
    crew = [
        context.Process(
            target=_run_process,
            args=(heard, minutes * 60, threads, [seed, k], sizes, _numbers_of_threads()[k % 2]),
            daemon=True,
        )
        for k in range(processes)
    ]
    for process in crew:
        process.start()
    found = []
    while len(found) < processes and any(p.is_alive() for p in crew):
        while not heard.empty():
            found.append(heard.get())
        time.sleep(0.05)
    while not heard.empty():
        found.append(heard.get())
    for process in crew:
        process.join()
    ended = processes - len(found) + sum(p.exitcode != 0 for p in crew)
    return _summarize(minutes, processes, threads, found, ended)


def _numbers_of_threads() -> tuple[int, int]:
    return 1, max(2, os.cpu_count() or 2)


def _summarize(
    minutes: float, processes: int, threads: int, found: list[Any], ended: int
) -> dict[str, Any]:
    bits = sum((Counter(one["other_bits"]) for one in found), Counter[str]())
    return {
        "minutes": minutes,
        "processes": processes,
        "threads": threads,
        "threads_of_BLAS": [one["blas"] for one in found],
        "fits": sum(one["fits"] for one in found),
        "other_answers": sorted({words for one in found for words in one["other"]}),
        "other_bits": dict(bits),
        "largest_difference": max((one["difference"] for one in found), default=0.0),
        "errors": sorted({error for one in found for error in one["errors"]}),
        "processes_that_ended_early": ended,
        "thread_limits_changed": sum(one["limits_changed"] for one in found),
        "memory": [one["memory"] for one in found],
        "memory_grew": sum(one["grew"] for one in found),
    }


# --------------------------------------------------------------------------------------------------
# One process


class _Gate:
    """Where threads come by between two fits: at a rest all of them wait there."""

    def __init__(self, threads: int) -> None:
        self._threads, self._waiting = threads, 0
        self._is_closed, self._is_over = False, False
        self._changed = threading.Condition()

    def goes_on(self) -> bool:
        """Wait for the end of a pause; give whether there is more to do."""
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._is_closed)
            self._waiting -= 1
            return not self._is_over

    def rest(self, look: Callable[[], Found], *, is_last: bool) -> Found:
        """Measure while all threads wait."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: self._waiting == self._threads)
            try:
                return look()
            finally:
                self._is_closed, self._is_over = False, is_last
                self._changed.notify_all()


def _run_process(
    heard: Any,
    seconds: float,
    threads: int,
    seed: list[int],
    sizes: list[tuple[str, float]],
    blas: int,
) -> None:
    """The right answers alone, then all threads at once."""
    warnings.simplefilter("ignore")
    threadpool_limits(blas, user_api="blas")
    tasks = []
    for name, size in sizes:
        fit, data = FITS[name], FITS[name].data(size)
        tasks.append(_Task(name, fit, data, fit.answers(fit.run(fit.make(), data), data)))
    limits, began, gate = _limits(), time.monotonic(), _Gate(threads)
    lock, fits, difference = threading.Lock(), 0, 0.0
    bits, other, errors = Counter[str](), list[str](), list[str]()

    def fit_on(thread: int) -> None:
        nonlocal fits, difference
        rng = np.random.default_rng([*seed, thread])
        while gate.goes_on():
            task = tasks[rng.integers(len(tasks))]
            try:
                far, words = _fit_and_compare(task, blas == 1)
            except Exception as error:
                with lock:
                    errors.append(f"{task.name}: {type(error).__name__}: {error}")
                continue
            with lock:
                fits, difference = fits + 1, max(difference, far)
                bits[task.name] += far > 0
                other.extend([f"{task.name} with {blas} threads of BLAS: {words}"] if words else [])

    crew = [threading.Thread(target=fit_on, args=(k,), daemon=True) for k in range(threads)]
    for thread in crew:
        thread.start()
    seen, changed, is_last = [], 0, False
    while not is_last:
        time.sleep(seconds / _RESTS)
        is_last = time.monotonic() - began >= seconds
        memory, now = gate.rest(lambda: (_measure_memory(), _limits()), is_last=is_last)
        seen.append(memory)
        changed += now != limits
    for thread in crew:
        thread.join()
    found, grew = _measure_growth(seen)
    heard.put(
        {
            "blas": blas,
            "fits": fits,
            "other": other[:20],
            "other_bits": dict(+bits),
            "difference": difference,
            "errors": errors[:20],
            "limits_changed": changed + (_limits() != limits),
            "memory": found,
            "grew": grew,
        }
    )


def _fit_and_compare(task: _Task, to_the_bit: bool) -> tuple[float, str]:
    """Fit; how far the answer is from the one alone (0: the same bits), and what is wrong with it."""
    estimator = task.fit.run(task.fit.make(), task.data)
    arrays = task.fit.answers(estimator, task.data)
    if digest(arrays) == digest(task.alone):
        return 0.0, ""
    if [a.shape for a in arrays] != [a.shape for a in task.alone]:
        return np.inf, "another shape"
    far = max(
        float(np.abs(a - b).max() / max(float(np.abs(b).max()), sys.float_info.min))
        for a, b in zip(arrays, task.alone, strict=True)
    )
    far = max(far, sys.float_info.min)
    if to_the_bit:
        return far, "other bits"
    solution = getattr(estimator, "solution_", None)
    status = getattr(getattr(solution, "solution", solution), "status", None)
    if status is None:
        return far, "" if far <= _ROUNDING else f"{far:.1e} from the one alone"
    return far, "" if status is Status.OPTIMAL else f"the status {status.name}"


def _limits() -> list[int]:
    return [library["num_threads"] for library in threadpool_info()]


def _measure_memory() -> dict[str, float]:
    """The memory in use while nothing runs."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
    return {"blocks": sys.getallocatedblocks(), "MiB": _resident_memory()}


def _measure_growth(seen: list[dict[str, float]]) -> tuple[dict[str, Any], bool]:
    """Medians of the first and of the last third after the warm-up, which is a third of the time."""
    warm = seen[len(seen) // 3 :]
    some = max(1, len(warm) // 3)
    found, grew = dict[str, Any](), False
    for key, most in _GROWTH.items():
        values = [one[key] for one in warm]
        first, last = float(np.median(values[:some])), float(np.median(values[-some:]))
        found[key] = {"after_warm_up": round(first), "at_the_end": round(last)}
        grew |= len(seen) >= _RESTS // 2 and last > first * (1 + most)
    return found, grew


def _resident_memory() -> float:
    """MiB of this process in memory."""
    status = Path("/proc/self/status")
    if not status.exists():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(row for row in status.read_text().splitlines() if row.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def is_flawless(found: dict[str, Any]) -> bool:
    """Whether nothing was found."""
    keys = ("other_answers", "errors", "processes_that_ended_early", "thread_limits_changed")
    return not any(found[key] for key in (*keys, "memory_grew"))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m stress.load", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a file for what was found, as JSON")
    args = parser.parse_args(arguments)
    found = run_load(args.minutes, args.processes, args.threads, args.seed)
    text = json.dumps(found, indent=1) + "\n"
    if args.out:
        write_atomically(args.out, text)
    print(text, end="")
    return int(not is_flawless(found))


if __name__ == "__main__":
    sys.exit(main())
