"""One contestant on one instance, in a process of its own.

    python -m benchmarks.worker FOLDER NAME LIMIT [PASSES]

Reads the instance from FOLDER, and writes there what the contestant did: report.json, and the
matrices of its answers and their duals in answers.npz. One solve may take LIMIT seconds, and no
longer than PASSES passes take here. It needs NumPy alone, for a contestant may live in an
environment of its own.
"""

import json
import math
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from tools.launch import SOLVING
from tools.meter import PeakMemory, list_versions, measure_pass_seconds

from benchmarks.contestants import Answer, Contestant, find
from benchmarks.instance import Instance, load

__all__ = ["measure"]


def main(folder: Path, name: str, limit: float, passes: float = math.inf) -> None:
    """Measure, and write down."""
    contestant = find(name)
    instance = load(folder)
    report, answers = measure(contestant, instance, limit, passes)
    arrays: dict[str, np.ndarray] = {}
    for k, answer in enumerate(answers):
        if answer.X is not None:
            arrays[f"X{k}"] = _host(answer.X)
        if answer.duals is not None:  # most are zero
            duals = _host(answer.duals)
            arrays[f"rows{k}"] = rows = np.flatnonzero(duals)
            arrays[f"duals{k}"] = duals[rows]
    np.savez(folder / "answers.npz", **arrays)
    report["answers"] = [
        {"seconds": a.seconds, "certified_gap": a.relative_gap, "note": a.note} for a in answers
    ]
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")


def measure(
    contestant: Contestant, instance: Instance, limit: float, passes: float
) -> tuple[dict[str, Any], list[Answer]]:
    """Warm up, then solve between two measurements of a pass; an exception becomes the reason."""
    spec = instance.spec
    report: dict[str, Any] = {"status": "done", "reason": "", "limit_seconds": limit}
    answers: list[Answer] = []
    memory = PeakMemory(spec.library)
    measured = []
    try:
        began = time.perf_counter()
        contestant.warm_up(instance)
        report["warm_up_seconds"] = time.perf_counter() - began
        measured.append(measure_pass_seconds(spec.c, spec.r, spec.library))
        report["limit_seconds"] = limit = min(limit, passes * measured[0])
        print(SOLVING, limit, flush=True)
        with memory:
            answers.extend(contestant.solve(instance, limit))
        measured.append(measure_pass_seconds(spec.c, spec.r, spec.library))
    except Exception as error:  # whatever a contestant raises is its result
        traceback.print_exc()
        report["status"] = "failed"
        report["reason"] = f"{type(error).__name__}: {error}"
    report["pass_seconds"] = measured
    report["level_bytes"], report["peak_bytes"] = memory.level, memory.above
    report["versions"] = list_versions(contestant.packages)
    return report, answers


def _host(X: Any) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.cpu().numpy()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:]))
