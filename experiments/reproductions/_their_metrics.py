"""The metrics of metric-learn, in an environment and a process of their own, with values to choose from.

    python -m experiments.reproductions._their_metrics FOLDER NAME LIMIT

metric-learn needs a scikit-learn older than gramlearn's. Parameters are its defaults, but for those to choose
from, the number of constraints, which is gramlearn's 40 c^2 for c classes, and the chunks of RCA where there
are not as many points. LMNN is not tried with several values, as a fit takes it seconds; nor is MMC tried in
full, which takes it minutes.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants import metric_learn_itml

from experiments.reproductions._choosing import Candidates, Embedding, Task, judged
from experiments.reproductions._elsewhere import answer, ask

__all__ = ["THEIRS", "judge_all"]


def _fit(
    name: str, parameters: dict[str, Any], X: np.ndarray, y: np.ndarray, seed: int
) -> Embedding:
    import metric_learn

    sizes = np.unique(y, return_counts=True)[1]
    if name == "RCA_Supervised":
        parameters = {**parameters, "n_chunks": min(100, int(np.sum(sizes // 2)))}
    elif name.endswith("_Supervised"):
        parameters = {**parameters, "n_constraints": 40 * len(sizes) ** 2}
    if name != "LFDA":
        parameters = {**parameters, "random_state": seed}
    learner = getattr(metric_learn, name)(**parameters).fit(X, y)
    return lambda points: np.asarray(learner.transform(points))


def _with(name: str, parameter: str, *values: Any) -> Candidates:
    return {f"{parameter} = {value}": partial(_fit, name, {parameter: value}) for value in values}


THEIRS: dict[str, Candidates] = {
    "metric-learn ITML": _with("ITML_Supervised", "gamma", 0.01, 0.1),
    "metric-learn LMNN": {"": partial(_fit, "LMNN", {})},
    "metric-learn MMC, diagonal": {"": partial(_fit, "MMC_Supervised", {"diagonal": True})},
    "metric-learn NCA": {"": partial(_fit, "NCA", {})},
    "metric-learn RCA": {"": partial(_fit, "RCA_Supervised", {})},
    "metric-learn LFDA": _with("LFDA", "embedding_type", "weighted", "orthonormalized"),
}


def judge_all(task: Task, limit: float, may_make: bool) -> dict[str, dict[str, Any]]:
    """What came of each method."""
    requirements = metric_learn_itml.CONTESTANT.requirements
    return ask(THEIRS, task._asdict(), requirements, __name__, limit, may_make)


if __name__ == "__main__":
    import metric_learn  # noqa: F401  # before the clock runs

    answer(
        Path(sys.argv[1]),
        {
            name: lambda given, candidates=candidates: judged(
                candidates, Task.of(given), float(sys.argv[3])
            )
            for name, candidates in THEIRS.items()
        },
    )
