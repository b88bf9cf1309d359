"""Metrics of LMNN, NCA, RCA and MMC by metric-learn, of MCML by pyDML, and the clusters of MPCK-means.

    python -m experiments.reproductions._rivals FOLDER PACKAGE LIMIT

Packages need a scikit-learn older than gramlearn's, and so environments and processes of their own, in which
this file is run as well: it needs NumPy alone. Parameters are the packages' defaults, but for the number of
chunks of RCA, 100 or as many as there are. A fit that takes more than LIMIT seconds of the processor is ended.
What a package raises is its result, and so is that it cannot be installed. MPCK-means, which learns a diagonal
metric as it clusters, is of active-semi-supervised-clustering; no package of HMRF-KMeans was found.
"""

import importlib
import json
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants import metric_learn_itml
from benchmarks.data import UnavailableError
from benchmarks.environments import interpreter
from benchmarks.launch import launch
from benchmarks.worker import SOLVING

from experiments.limits import ended_after

__all__ = ["RIVALS", "fit_rivals"]

RIVALS = {
    "LMNN": "metric-learn",
    "NCA": "metric-learn",
    "RCA": "metric-learn",
    "MMC": "metric-learn",
    "MCML": "pyDML",
    "MPCK-means": "active-semi-supervised-clustering",
}
_PACKAGES = {
    "metric-learn": metric_learn_itml.CONTESTANT.requirements,
    "pyDML": ("pyDML==0.1.0",),
    "active-semi-supervised-clustering": (
        "active-semi-supervised-clustering==0.0.1",
        *metric_learn_itml.CONTESTANT.requirements,
    ),
}
_MODULES = {
    "metric-learn": "metric_learn",
    "pyDML": "dml",
    "active-semi-supervised-clustering": "active_semi_clustering.semi_supervised.pairwise_constraints",
}
_PATIENCE = 10  # times the limit, by the clock, of a process that does not keep it


def fit_rivals(
    rivals: Sequence[str],
    tasks: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]],
    may_make: bool,
    limit: float,
) -> dict[str, list[dict[str, Any]]]:
    """Of each rival and task (points, labels, alike pairs, unlike pairs): status, reason, and what it gave.

    That is W, or the numbers of the clusters, as "answer".
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for package, requirements in _PACKAGES.items():
        names = [rival for rival in rivals if RIVALS[rival] == package]
        if not names:
            continue
        python, reason = _python_with(requirements, may_make)
        if python:
            found |= _fits(python, package, names, tasks, limit)
        else:
            missing = {"status": "unavailable", "reason": reason}
            found |= {name: [dict(missing) for _ in tasks] for name in names}
    return found


@cache  # an environment that cannot be made is tried once
def _python_with(requirements: tuple[str, ...], may_make: bool) -> tuple[str, str]:
    """(the interpreter, ""), or ("", why there is none)."""
    try:
        return interpreter(requirements, may_make), ""
    except UnavailableError as reason:
        return "", str(reason)


def _fits(
    python: str, package: str, names: list[str], tasks: Sequence[Any], limit: float
) -> dict[str, list[dict[str, Any]]]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "rivals.json").write_text(json.dumps(names), encoding="utf-8")
        for number, (points, labels, alike, unlike) in enumerate(tasks):
            given = {"points": points, "labels": labels, "alike": alike, "unlike": unlike}
            np.savez(folder / f"{number:03d}.npz", **given)
        ending = launch(
            python, folder, package, limit, solves=_PATIENCE, alone=True, module=__name__
        )
        file = folder / "answers.json"
        if not file.exists():
            lost = {"status": "failed", "reason": ending}
            return {name: [dict(lost) for _ in tasks] for name in names}
        found: dict[str, list[dict[str, Any]]] = json.loads(file.read_text(encoding="utf-8"))
        for name, answers in found.items():
            for number, answer in enumerate(answers):
                array = folder / f"{number:03d}-{name}.npy"
                if array.exists():
                    answer["answer"] = np.load(array)
    return found


def main(folder: Path, package: str, limit: float) -> None:
    """Fit the rivals asked for to all tasks, and write down."""
    names = json.loads((folder / "rivals.json").read_text(encoding="utf-8"))
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    importlib.import_module(_MODULES[package])  # before the clock runs
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as given:
            task = dict(given)
        for name in names:
            print(SOLVING, flush=True)
            answer, array = _fit(name, task, limit)
            answers[name].append(answer)
            if array is not None:
                np.save(folder / f"{file.stem}-{name}.npy", array)
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


def _fit(
    name: str, task: dict[str, np.ndarray], limit: float
) -> tuple[dict[str, Any], np.ndarray | None]:
    try:
        with warnings.catch_warnings(), ended_after(limit):
            warnings.simplefilter("ignore")
            array = _clusters(task) if name == "MPCK-means" else _metric(name, task)
    except KeyboardInterrupt:
        return {"status": "ended", "reason": f"it was ended after {limit:g} s"}, None
    except Exception as error:  # whatever it raises is its result
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}, None
    if not np.isfinite(array).all():
        return {"status": "failed", "reason": "its answer is not finite"}, None
    return {"status": "done", "reason": ""}, array


def _metric(name: str, task: dict[str, np.ndarray]) -> np.ndarray:
    points, labels = task["points"], task["labels"]
    if name == "MCML":
        from dml import MCML

        return np.asarray(MCML().fit(points, labels).metric())
    import metric_learn

    if name == "MMC":
        pairs = np.concatenate([task["alike"], task["unlike"]])
        kinds = np.repeat([1, -1], [len(task["alike"]), len(task["unlike"])])
        learner = metric_learn.MMC(preprocessor=points, random_state=0).fit(pairs, kinds)
    elif name == "RCA":
        chunks = min(100, int(np.sum(np.unique(labels, return_counts=True)[1] // 2)))
        learner = metric_learn.RCA_Supervised(n_chunks=chunks, random_state=0).fit(points, labels)
    else:
        learner = getattr(metric_learn, name)(random_state=0).fit(points, labels)
    return np.asarray(learner.get_mahalanobis_matrix())


def _clusters(task: dict[str, np.ndarray]) -> np.ndarray:
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans

    np.random.seed(0)  # noqa: NPY002  # it draws from the generator that all share
    alike, unlike = (list(map(tuple, task[kind].tolist())) for kind in ("alike", "unlike"))
    learner = MPCKMeans(n_clusters=len(np.unique(task["labels"])))
    return np.asarray(learner.fit(task["points"], ml=alike, cl=unlike).labels_)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
