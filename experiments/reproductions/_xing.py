"""max sum_D |x - y|_W with sum_S |x - y|_W^2 <= 1: Xing et al. (2002), by metric-learn's MMC.

    python -m experiments.reproductions._xing FOLDER NAME LIMIT

For every comparison (i, j, k), the pair (i, j) is in S and (i, k) in D, as F07 has it. metric-learn needs a
scikit-learn older than gramlearn's, and so an environment and a process of its own, in which this file is run
as well: it needs NumPy alone. Parameters are MMC's defaults, for W in full and for a diagonal one. A fit that
takes more than LIMIT seconds of the processor is ended. What MMC raises is its result, and so is an answer that
is the W it started from.
"""

import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contestants import metric_learn_itml
from benchmarks.data import UnavailableError
from benchmarks.environments import interpreter
from benchmarks.launch import launch
from benchmarks.worker import SOLVING

from experiments.limits import ended_after

__all__ = ["LIMIT", "VARIANTS", "fit_both"]

VARIANTS = {"full": False, "diagonal": True}
LIMIT = 15.0
_PATIENCE = 10  # times the limit, by the clock, of a process that does not keep it


def fit_both(
    points: np.ndarray, triplets: np.ndarray, may_make: bool, limit: float = LIMIT
) -> dict[str, dict[str, Any]]:
    """For each variant its status, reason and seconds, and W as "matrix" where there is one."""
    try:
        python = interpreter(metric_learn_itml.CONTESTANT.requirements, may_make)
    except UnavailableError as reason:
        missing = {"status": "unavailable", "reason": str(reason)}
        return {variant: dict(missing) for variant in VARIANTS}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        np.savez(folder / "given.npz", points=points, triplets=triplets)
        ending = launch(python, folder, "MMC", limit, solves=_PATIENCE, alone=True, module=__name__)
        answers = folder / "answers.json"
        if not answers.exists():
            lost = {"status": "failed", "reason": ending}
            return {variant: dict(lost) for variant in VARIANTS}
        found: dict[str, dict[str, Any]] = json.loads(answers.read_text(encoding="utf-8"))
        for variant, answer in found.items():
            file = folder / f"{variant}.npy"
            if file.exists():
                answer["matrix"] = np.load(file)
    return found


def main(folder: Path, limit: float) -> None:
    """Fit both, and write down: W into a file of its own, and the rest into answers.json."""
    import metric_learn  # noqa: F401  # before the clock runs

    with np.load(folder / "given.npz") as given:
        points, triplets = given["points"], given["triplets"]
    answers = {}
    for variant, diagonal in VARIANTS.items():
        print(SOLVING, flush=True)
        answers[variant], W = _fit(points, triplets, diagonal, limit)
        if W is not None:
            np.save(folder / f"{variant}.npy", W)
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


def _fit(
    points: np.ndarray, triplets: np.ndarray, diagonal: bool, limit: float
) -> tuple[dict[str, Any], np.ndarray | None]:
    from metric_learn import MMC

    pairs = np.concatenate([triplets[:, [0, 1]], triplets[:, [0, 2]]])
    kind = np.repeat([1, -1], len(triplets))
    began = time.process_time()
    try:
        with warnings.catch_warnings(), ended_after(limit):
            warnings.simplefilter("ignore")
            learner = MMC(diagonal=diagonal, preprocessor=points).fit(pairs, kind)
    except KeyboardInterrupt:
        return {"status": "ended", "reason": f"it was ended after {limit:g} s"}, None
    except Exception as error:  # whatever it raises is its result
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}, None
    W = learner.get_mahalanobis_matrix()
    return {
        "status": "done",
        "reason": "",
        "seconds": time.process_time() - began,
        # The diagonal variant does not say.
        "converged": bool(getattr(learner, "converged_", True)),
        "is_start": bool(np.allclose(W, np.eye(len(W)))),
    }, W


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[3]))
