"""MetricLearner or ITML on one instance after another, in a process of its own.

    python -m benchmarks.scripts.metric_learn_fits FOLDER NAME LIMIT [RANK]

Every folder in FOLDER holds an instance. What is timed is what a user calls, from row numbers to a fitted
estimator, after all is loaded and compiled: MetricLearner has learned from the first instance once before, and
ITML from a few of its pairs. The matrix goes into NAME.npy beside the instance and the rest into NAME.json; a
fit that takes more than LIMIT seconds of the processor is ended, with the memory it had taken. It needs NumPy
alone, for metric-learn lives in an environment of its own.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import numpy as np
from tools.launch import SOLVING
from tools.meter import PeakMemory, list_versions

from benchmarks.contestants import metric_learn_itml
from benchmarks.instance import Instance, load

__all__ = ["GRAMLEARN", "METRIC_LEARN"]

GRAMLEARN, METRIC_LEARN = "gramlearn", "metric-learn"
_SWEEPS, _TOL = 1000, 1e-3  # the defaults of ITML
_FEW = 50  # pairs of each kind to warm up with


class Fit(NamedTuple):
    """Seconds by the clock, W where it is a matrix of its own, and what the learner says of itself."""

    seconds: float
    W: np.ndarray | None
    facts: dict[str, Any]


def gramlearn(instance: Instance, rank: int | None) -> Fit:
    """MetricLearner with its defaults, but the price and the bounds of the instance."""
    from gramlearn import MetricLearner, Pairs

    table, alike = np.stack([instance.i, instance.j], axis=1), instance.alike
    bounds = (instance.upper, instance.lower)
    began = time.perf_counter()
    side = Pairs(table[:alike], table[alike:], n_points=len(instance.points))
    learner = MetricLearner(C=instance.spec.price, bounds=bounds, rank=rank, random_state=0)
    learner.fit(instance.points, side=side)
    seconds = time.perf_counter() - began
    facts = {
        "iterations": learner.n_iter_,
        "dual": learner.solution_.dual,
        "relative_gap": learner.solution_.relative_gap,
    }
    return Fit(seconds, None if rank else learner.get_mahalanobis_matrix(), facts)


def metric_learn(instance: Instance, rank: int | None) -> Fit:
    """ITML with its defaults, but the price and the bounds of the instance; it knows no rank."""
    del rank
    rows = np.arange(instance.i.shape[0])
    seconds, W, sweeps = metric_learn_itml.fit(instance, rows, _SWEEPS, _TOL)
    return Fit(seconds, W, {"iterations": sweeps})


def a_sweep(instance: Instance, rank: int | None) -> float:
    """Seconds of the processor for one sweep of ITML over all pairs, from one over a few."""
    del rank
    rows = metric_learn_itml.some_of_each_kind(instance, _FEW)
    began = time.process_time()
    metric_learn_itml.fit(instance, rows, 1, 0.0)
    return (time.process_time() - began) * instance.i.shape[0] / rows.size


_FITS: Mapping[str, Callable[[Instance, int | None], Fit]] = {
    GRAMLEARN: gramlearn,
    METRIC_LEARN: metric_learn,
}
_WARM_UPS: Mapping[str, Callable[[Instance, int | None], object]] = {
    GRAMLEARN: gramlearn,
    METRIC_LEARN: a_sweep,
}
_PACKAGES = {
    GRAMLEARN: ("gramlearn", "scikit-learn", "numpy", "scipy", "numba"),
    METRIC_LEARN: metric_learn_itml.CONTESTANT.packages,
}


def main(folder: Path, name: str, limit: float, rank: int | None) -> None:
    """Fit, and write down."""
    places = sorted(place for place in folder.iterdir() if place.is_dir())
    _WARM_UPS[name](load(places[0]), rank)
    for place in places:
        report = _measured(place, name, limit, rank)
        (place / f"{name}.json").write_text(json.dumps(report), encoding="utf-8")


def _measured(place: Path, name: str, limit: float, rank: int | None) -> dict[str, Any]:
    instance = load(place)
    report: dict[str, Any] = {"status": "done", "versions": list_versions(_PACKAGES[name])}
    if name == METRIC_LEARN:
        report["sweep_seconds"] = a_sweep(instance, rank)
    memory, over = PeakMemory("numpy"), Event()
    started, began = time.perf_counter(), time.process_time()

    def watch() -> None:
        while not over.wait(min(0.05, limit)):
            if time.process_time() - began > limit:
                memory.__exit__()
                ended = {"status": "ended", "seconds": time.perf_counter() - started}
                ended |= {"processor_seconds": limit, "peak_bytes": memory.above}
                (place / f"{name}.json").write_text(json.dumps(report | ended), encoding="utf-8")
                os._exit(0)  # nothing else ends a loop of the main thread

    print(SOLVING, flush=True)
    with memory:
        Thread(target=watch, daemon=True).start()
        fitted = _FITS[name](instance, rank)
        report["processor_seconds"] = time.process_time() - began
        over.set()
    if fitted.W is not None:
        np.save(place / f"{name}.npy", fitted.W)
    return report | fitted.facts | {"seconds": fitted.seconds, "peak_bytes": memory.above}


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        sys.argv[2],
        float(sys.argv[3]),
        int(sys.argv[4]) if len(sys.argv) > 4 else None,
    )
