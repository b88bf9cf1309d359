"""SIGINT at random moments of a fit: it ends within a second, with the best answer or none, and no side effect.

The fits run in a process of their own, one after the other, and the signal comes from outside, so that no
thread of the fit has to be awake for it. The clock is the one that all processes of a machine share.

    answer     SolveInterrupted, and the estimator is fitted with the answer so far: it does all it promises
    nothing    KeyboardInterrupt, and the estimator holds the very objects that it held before
    over       the fit was over before the signal came
"""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from copy import copy
from typing import Any

import numpy as np

from gramlearn import SolveInterrupted
from gramlearn.problem.status import Status
from stress.fits import FITS, Fit, digest

__all__ = ["find_trouble", "interrupt_fits"]


def interrupt_fits(name: str, moments: int, seed: int, size: float) -> dict[str, Any]:
    """Send SIGINT at this many moments of a fit; summarize the outcomes."""
    rng = np.random.default_rng([seed, *name.encode()])
    command = [sys.executable, "-m", "stress.interrupts", name, str(moments), str(size)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            seconds = _read_message(child)["seconds"]
            trials = [_interrupt_once(child, rng.random() * seconds) for _ in range(moments)]
        finally:
            child.kill()
    return _summarize(name, seconds, trials)


def _read_message(child: subprocess.Popen[str]) -> dict[str, Any]:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise RuntimeError(f"the process of the fits ended with the status {child.wait()}")
    return json.loads(line)


def _interrupt_once(child: subprocess.Popen[str], delay: float) -> dict[str, Any]:
    _read_message(child)  # the fit begins
    time.sleep(delay)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    found = _read_message(child)
    return {**found, "seconds": max(found.pop("at") - sent, 0.0)}


def _summarize(name: str, seconds: float, trials: list[dict[str, Any]]) -> dict[str, Any]:
    hit = [trial for trial in trials if trial["outcome"] != "over"]
    waits = [trial["seconds"] for trial in hit]
    gaps = [t["gap"] for t in hit if t["outcome"] == "answer" and t["gap"] is not None]
    return {
        "fit": name,
        "seconds_of_a_fit": round(seconds, 3),
        "moments": len(trials),
        "outcomes": dict(Counter(trial["outcome"] for trial in trials)),
        "seconds_to_control": {
            "median": round(float(np.median(waits)), 4) if waits else None,
            "largest": round(max(waits), 4) if waits else None,
        },
        "relative_gap_so_far": {
            "median": float(np.median(gaps)) if gaps else None,
            "largest": max(gaps, default=None),
        },
        "next_fit_differs": sum(not trial["same"] for trial in trials),
        "traces_left": sum(not trial["clean"] for trial in trials),
        "troubles": sorted({trial["trouble"] for trial in trials if trial["trouble"]}),
    }


# --------------------------------------------------------------------------------------------------
# The process of the fits


class _Watch:
    """Ctrl-C as Python has it while a fit runs; noted, and no more, before and after."""

    def __init__(self) -> None:
        self.count, self.is_armed = 0, False
        signal.signal(signal.SIGINT, self._hear)

    def _hear(self, number: int, frame: Any) -> None:
        self.count += 1
        if self.is_armed:
            signal.default_int_handler(number, frame)


def _child(name: str, moments: int, size: float) -> None:
    warnings.simplefilter("ignore")
    fit, watch = FITS[name], _Watch()
    data, earlier = fit.data(size), fit.data(1.0)
    fitted = fit.run(fit.make(), earlier)
    right = digest(fit.answers(fit.run(fit.make(), data), data))  # what is compiled is compiled
    _say(seconds=float(np.median([_seconds(fit, data) for _ in range(5)])))
    threads = _threads()
    for trial in range(moments):
        # Every other time the estimator has been fitted before.
        estimator = fit.make() if trial % 2 else copy(fitted)
        before = dict(vars(estimator))
        found = _fit_interrupted(fit, estimator, data, watch)
        found["trouble"] = find_trouble(
            fit, estimator, data, before, found.pop("stop"), found["outcome"]
        )
        same = digest(fit.answers(fit.run(fit.make(), data), data)) == right
        handler = signal.getsignal(signal.SIGINT) == watch._hear
        _say(**found, same=same, clean=handler and _threads() == threads)


def _seconds(fit: Fit, data: Any) -> float:
    began = time.monotonic()
    fit.run(fit.make(), data)
    return time.monotonic() - began


def _fit_interrupted(fit: Fit, estimator: Any, data: Any, watch: _Watch) -> dict[str, Any]:
    count, stop, outcome = watch.count, None, "over"
    _say(begins=True)
    try:
        watch.is_armed = True
        fit.run(estimator, data)
        watch.is_armed = False
    except SolveInterrupted as error:
        outcome, stop = "answer" if error.fitted else "nothing", error
    except KeyboardInterrupt:
        outcome = "nothing"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {error}"
    watch.is_armed = False
    at = time.monotonic()
    while watch.count == count:
        time.sleep(0.001)
    gap = getattr(getattr(stop, "solution", None), "relative_gap", None)
    gap = None if gap is None or not np.isfinite(gap) else float(gap)
    return {"outcome": outcome, "at": at, "stop": stop, "gap": gap}


def find_trouble(
    fit: Fit, estimator: Any, data: Any, before: dict[str, Any], stop: Any, outcome: str
) -> str:
    """What is wrong with the estimator afterwards; an empty string if nothing is."""
    if outcome == "nothing":
        now = vars(estimator)
        kept = now.keys() == before.keys() and all(now[key] is before[key] for key in now)
        return "" if kept else "the estimator is not what it was before"
    if outcome not in ("answer", "over"):
        return outcome
    try:
        arrays = fit.answers(estimator, data)
    except Exception as error:
        return f"a fitted estimator raises {type(error).__name__}: {error}"
    if not all(np.isfinite(array).all() for array in arrays):
        return "a fitted estimator gives numbers that are not finite"
    solution = getattr(stop, "solution", None)
    inner = getattr(solution, "solution", solution)
    if getattr(inner, "status", Status.INTERRUPTED).is_answer:
        return "an answer so far has the status of a finished one"
    if outcome == "answer" and not np.isfinite(getattr(solution, "relative_gap", 0.0)):
        return "an answer so far has no finite gap"
    return ""


def _threads() -> list[int]:
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info()]


def _say(**facts: Any) -> None:
    os.write(1, (json.dumps(facts) + "\n").encode())


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
