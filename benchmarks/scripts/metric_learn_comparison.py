"""MetricLearner beside metric-learn's ITML: the same pairs, bounds and gamma; errors, and seconds of a fit.

    GRAMLEARN_DATA=folder python -m benchmarks.scripts.metric_learn_comparison

Errors are those of k nearest neighbors after both directions of a 2-fold split, as in J12 6: the pairs are
drawn from one half, 100 alike and 100 unlike for each class, with the 1st and 99th percentile of its squared
distances as bounds, and points of the other half look for neighbors in it. Features are standardized by the
half that is learned from, since they come in different units. gamma is 0.1, the largest power of ten at which
ITML comes to an end by itself on most splits, so that both solve the same problem; at 1, the default of both,
it is stopped by its 1000 sweeps (`--gammas 1`). Tolerances are the defaults. Pairs of equal points are left
out, which ITML cannot stand. A repeat is one split, and what is compared is the difference of the errors on
it.

Seconds are those of `fit` on synthetic points, one learner after the other, each in a process of its own.
Results are written after each part, and what is there already for the same settings on the same machine is not
done again.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np
from tools.arguments import whole_number
from tools.atomic_files import write_atomically
from tools.environments import UnavailableError, find_interpreter
from tools.launch import launch
from tools.meter import describe_commit, describe_machine

from benchmarks import judge
from benchmarks.contestants import metric_learn_itml
from benchmarks.data import make_generator, synthetic
from benchmarks.instance import Spec, save
from benchmarks.scripts.metric_learn_fits import GRAMLEARN, METRIC_LEARN
from benchmarks.scripts.metric_learn_report import EUCLIDEAN, picture, tables
from benchmarks.scripts.metric_learn_splits import errors, instance_of, splits

__all__ = ["QUICK", "Settings", "main", "run"]

_PATIENCE = 20  # times the limit, which is of the processor's seconds: a clock on a busy machine goes further
_OUT = Path(__file__).resolve().parents[1] / "results" / "metric_learn"


@final
@dataclass(frozen=True)
class Settings:
    """What is compared; the defaults are the full run. A race is (features, pairs, points, rank)."""

    sets: tuple[str, ...] = (
        "iris", "wine", "ionosphere", "balance_scale", "soybean_small", "breast_cancer_wdbc",
        "pendigits_389_317",
    )  # fmt: skip
    repeats: int = 20
    neighbors: tuple[int, ...] = (4, 10)
    per_class: int = 100
    percentiles: tuple[int, int] = (1, 99)
    gammas: tuple[float, ...] = (0.1,)
    race_gamma: float = 1.0
    races: tuple[tuple[int, int, int, int | None], ...] = (
        (100, 10_000, 2000, None),
        (2000, 10_000, 5000, 100),
    )
    race_limit: float = 1800.0
    limit_with_rank: float = 120.0


QUICK = Settings(
    sets=("iris",),
    repeats=2,
    per_class=10,
    gammas=(1.0,),
    races=((10, 200, 100, None), (40, 200, 100, 5)),
    race_limit=20.0,
    limit_with_rank=5.0,
)


def accuracy(
    name: str,
    gamma: float,
    settings: Settings,
    pythons: dict[str, str],
    done: Callable[[], object],
) -> dict[str, Any]:
    """Errors of all learners on one data set, one for each repeat, k and learner."""
    tasks = list(splits(name, settings.repeats, settings.per_class, settings.percentiles, gamma))
    reports: dict[str, list[dict[str, Any]]] = {}
    metrics: dict[str, list[np.ndarray]] = {EUCLIDEAN: [np.eye(t.instance.spec.r) for t in tasks]}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number, task in enumerate(tasks):
            (folder / f"{number:04d}").mkdir()
            save(task.instance, folder / f"{number:04d}")
        for learner, python in pythons.items():
            reports[learner] = _fits(folder, learner, python, settings.race_limit, None, done)
            metrics[learner] = [
                np.load(folder / f"{number:04d}" / f"{learner}.npy") for number in range(len(tasks))
            ]
    found: dict[str, Any] = {
        learner: {"errors": {str(k): errors(tasks, Ws, k) for k in settings.neighbors}}
        for learner, Ws in metrics.items()
    }
    for learner, of_fits in reports.items():
        gaps = [
            judge.relative_gap(judge.primal(task.instance, W), ours["dual"])
            for task, W, ours in zip(tasks, metrics[learner], reports[GRAMLEARN], strict=True)
        ]
        found[learner] |= {
            "processor_seconds": float(np.median([f["processor_seconds"] for f in of_fits])),
            "iterations": float(np.median([f["iterations"] for f in of_fits])),
            "relative_gap": float(np.median(gaps)),
        }
    pairs = float(np.median([task.instance.spec.c for task in tasks]))
    first = tasks[0]
    shape = len(first.labels) + len(first.others), first.instance.spec.r
    versions = {learner: reports[learner][0]["versions"] for learner in reports}
    return {"points": shape[0], "features": shape[1], "pairs": pairs, "learners": found} | {
        "versions": versions
    }


def race(
    features: int,
    pairs: int,
    points: int,
    rank: int | None,
    settings: Settings,
    pythons: dict[str, str],
    done: Callable[[], object],
) -> dict[str, Any]:
    """Seconds of one fit of each learner on synthetic points."""
    from gramlearn import Pairs
    from gramlearn.side_information import percentile_bounds

    spec = Spec("synthetic", n=points, r=features, c=pairs)
    X, y = synthetic.points(spec, make_generator("numpy", spec.seed))
    side = Pairs.from_labels(y, pairs, random_state=0)
    bounds = percentile_bounds(X, random_state=0)
    instance = instance_of("synthetic", X, side, bounds, spec.seed, settings.race_gamma)
    found: dict[str, Any] = {}
    for learner, python in pythons.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "0").mkdir()
            save(instance, folder / "0")
            limit = settings.limit_with_rank if rank else settings.race_limit
            found[learner] = _fits(folder, learner, python, limit, rank, done)[0]
            if rank is None and found[learner]["status"] == "done":
                W = np.load(folder / "0" / f"{learner}.npy")
                value = judge.primal(instance, W)
                gap = judge.relative_gap(value, found[GRAMLEARN]["dual"])
                found[learner]["relative_gap"] = gap
    facts = {"features": features, "pairs": instance.spec.c, "points": points, "rank": rank}
    return facts | {"learners": found}


def _fits(
    folder: Path,
    learner: str,
    python: str,
    limit: float,
    rank: int | None,
    done: Callable[[], object],
) -> list[dict[str, Any]]:
    """What a learner reports of all instances in a folder."""
    ending = launch(
        "benchmarks.scripts.metric_learn_fits",
        python,
        folder,
        learner,
        limit,
        _PATIENCE,
        alone=learner == METRIC_LEARN,
        extra=(str(rank),) if rank else (),
        heard=done,
    )
    reports = []
    for place in sorted(folder.iterdir()):
        file = place / f"{learner}.json"
        if place.is_dir():
            if not file.exists():
                raise RuntimeError(f"{learner} gave no answer: {ending}.")
            reports.append(json.loads(file.read_text(encoding="utf-8")))
    return reports


def run(settings: Settings, out: Path, may_make: bool = True) -> dict[str, Any]:
    """Do what is not done; write `out`/comparison.json after each part and give its content."""
    from tqdm import tqdm

    from gramlearn.datasets import DatasetNotFoundError

    path, skipped = out / "comparison.json", {}
    pythons = {GRAMLEARN: sys.executable}
    try:
        pythons[METRIC_LEARN] = find_interpreter(
            metric_learn_itml.CONTESTANT.requirements, may_make
        )
    except UnavailableError as reason:
        skipped[METRIC_LEARN] = str(reason)
    result = {**_kept(path, settings, tuple(pythons)), "skipped": skipped}
    left = [
        (gamma, name)
        for gamma in settings.gammas
        for name in settings.sets
        if name not in result["accuracy"].get(str(gamma), {})
    ]

    def write() -> None:
        result["commit"] = describe_commit()
        result["date"] = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        write_atomically(path, json.dumps(result, indent=1) + "\n")

    races = settings.races[len(result["races"]) :]
    total = (len(left) * settings.repeats * 2 + len(races)) * len(pythons)
    # disable=None: a bar on a terminal, nothing in a log.
    with tqdm(total=total, desc="fits", disable=None) as bar:
        for gamma, name in left:
            try:
                found = accuracy(name, gamma, settings, pythons, bar.update)
                result["accuracy"].setdefault(str(gamma), {})[name] = found
            except DatasetNotFoundError as reason:
                skipped[name] = str(reason)
            write()
        for features, pairs, points, rank in races:
            found = race(features, pairs, points, rank, settings, pythons, bar.update)
            result["races"].append(found)
            write()
    return result


def _kept(path: Path, settings: Settings, learners: tuple[str, ...]) -> dict[str, Any]:
    """What an earlier run of the same learners and settings on the same machine found."""
    facts = {
        "settings": json.loads(json.dumps(asdict(settings))),
        "machine": describe_machine(),
        "learners": list(learners),
    }
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if _without_choice(before) == _without_choice(facts):
            return {**before, **facts}
    return {**facts, "accuracy": {}, "races": []}


def _without_choice(result: dict[str, Any]) -> tuple[Any, ...]:
    """What results must agree in to stand in one file: all but which sets and which gammas were asked for."""
    rest = {
        key: value for key, value in result["settings"].items() if key not in ("sets", "gammas")
    }
    return rest, result["machine"], result["learners"]


def main(arguments: list[str] | None = None) -> int:
    """Run, print the tables and draw the picture; give the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one small set, in seconds")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="these data sets alone")
    parser.add_argument("--gammas", nargs="+", type=float, metavar="G", help="default: 0.1")
    parser.add_argument(
        "--repeats", type=whole_number(1), metavar="N", help="splits of each (default: 20)"
    )
    parser.add_argument("--out", type=Path, default=_OUT, metavar="DIR", help=f"default: {_OUT}")
    given = parser.parse_args(arguments)
    settings = QUICK if given.quick else Settings()
    if given.sets:
        settings = replace(settings, sets=tuple(given.sets))
    if given.gammas:
        settings = replace(settings, gammas=tuple(given.gammas))
    if given.repeats:
        settings = replace(settings, repeats=given.repeats)
    try:
        result = run(settings, given.out, may_make=not given.quick)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(tables(result), end="")
    if find_spec("matplotlib"):
        print(f"\n{picture(result, given.out / 'comparison.png')}")
    return 0


if __name__ == "__main__":
    # One thread each: threads that wait for each other on a busy machine measure the others' work.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # An ending from outside shall end the fits too, as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
