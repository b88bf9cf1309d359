"""Threads and processes that fit at once: the same answers as alone, flat memory, thread limits as they were.

    python -m stress.load --minutes 10

Every process has its threads, each of which fits one estimator after the other in an order of its own. Memory
is what a process has after a collection of garbage; it may grow by `_GROWTH` at most between the end of the
warm-up, a third of the time, and the end.
"""

import argparse
import gc
import json
import multiprocessing
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from stress.fits import FITS, digest

__all__ = ["load", "main"]

_GROWTH = 0.10  # of what a process has after its warm-up
_SIZE = 1.5


def load(
    minutes: float, processes: int, threads: int, seed: int = 0, names: list[str] | None = None
) -> dict[str, Any]:
    """Fit in so many processes of so many threads for so long; sum up."""
    chosen = names or list(FITS)
    context = multiprocessing.get_context("spawn")
    heard = context.SimpleQueue()
    crew = [
        context.Process(
            target=_work, args=(heard, minutes * 60, threads, [seed, k], chosen), daemon=True
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
    return _summary(minutes, processes, threads, found, [p.exitcode for p in crew])


def _summary(
    minutes: float, processes: int, threads: int, found: list[Any], codes: list[Any]
) -> dict[str, Any]:
    return {
        "minutes": minutes,
        "processes": processes,
        "threads": threads,
        "fits": sum(one["fits"] for one in found),
        "other_answers": sum(one["other"] for one in found),
        "errors": sorted({error for one in found for error in one["errors"]}),
        "processes_that_ended_early": processes - len(found) + sum(code != 0 for code in codes),
        "thread_limits_changed": sum(one["limits_changed"] for one in found),
        "memory_MiB": [one["memory"] for one in found],
        "memory_grew_by_more_than": _GROWTH,
        "memory_grew": sum(one["grew"] > _GROWTH for one in found),
    }


def _work(heard: Any, seconds: float, threads: int, seed: list[int], names: list[str]) -> None:
    """One process: the right answers alone, then all threads at once."""
    warnings.simplefilter("ignore")
    data = {name: FITS[name].data(_SIZE) for name in names}
    right = {name: _answer(name, data) for name in names}
    limits, began = _limits(), time.monotonic()
    counts, errors = [0, 0], list[str]()
    lock, memory = threading.Lock(), list[tuple[float, float]]()

    def fit(thread: int) -> None:
        rng = np.random.default_rng([*seed, thread])
        while time.monotonic() - began < seconds:
            name = names[rng.integers(len(names))]
            try:
                same = _answer(name, data) == right[name]
            except Exception as error:
                with lock:
                    errors.append(f"{name}: {type(error).__name__}: {error}")
                continue
            with lock:
                counts[0] += 1
                counts[1] += not same

    crew = [threading.Thread(target=fit, args=(k,)) for k in range(threads)]
    for thread in crew:
        thread.start()
    while any(thread.is_alive() for thread in crew):
        time.sleep(min(1.0, seconds / 20))
        gc.collect()
        memory.append((time.monotonic() - began, _resident()))
    for thread in crew:
        thread.join()
    warm = [mib for at, mib in memory if at >= seconds / 3] or [memory[-1][1]]
    # Medians of the first and of the last tenth: what a fit needs while it runs comes and goes.
    some = max(1, len(warm) // 10)
    first, last = float(np.median(warm[:some])), float(np.median(warm[-some:]))
    heard.put(
        {
            "fits": counts[0],
            "other": counts[1],
            "errors": errors[:20],
            "limits_changed": _limits() != limits,
            "memory": {"after_warm_up": round(first), "at_the_end": round(last)},
            "grew": last / first - 1,
        }
    )


def _answer(name: str, data: dict[str, Any]) -> str:
    fit = FITS[name]
    return digest(fit.answers(fit.run(fit.make(), data[name]), data[name]))


def _limits() -> list[int]:
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info()]


def _resident() -> float:
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
    found = load(args.minutes, args.processes, args.threads, args.seed)
    text = json.dumps(found, indent=1) + "\n"
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text, encoding="utf-8")
    print(text, end="")
    return int(not is_flawless(found))


if __name__ == "__main__":
    sys.exit(main())
