"""The gap of every answer: first what the judge says of it, then how far it is from the best bound.

    judged_gap = (primal(X) - bound) / max(|primal|, |bound|),   bound = the largest dual value of all

The bound is the best of what the contestants' duals prove and, where somebody without duals takes part, of a
reference. A contestant that certifies itself is rated by its own certificates, and the judge computes the last
of them anew from its X and its duals: one that claims too much has failed.
"""

import math
from typing import Any

import numpy as np

from benchmarks import judge
from benchmarks.instance import Instance

__all__ = ["GAPS", "judge_answers", "rate_results"]

GAPS = (1e-2, 1e-4, 1e-6)
_MOST_JUDGED = 100  # answers of one contestant
_ROUNDING = 1e-8  # by which a certificate and the judge may differ


def judge_answers(
    answers: list[dict[str, Any]], arrays: Any, instance: Instance
) -> list[dict[str, Any]]:
    """Add the primal value of every X, or of some where there are many, and the dual value of its duals."""
    with_matrix = [k for k in range(len(answers)) if f"X{k}" in arrays]
    if len(with_matrix) > _MOST_JUDGED:
        places = np.linspace(0, len(with_matrix) - 1, _MOST_JUDGED).round().astype(int)
        with_matrix = [with_matrix[place] for place in places]
    judged = [dict(answer) for answer in answers]
    for k in with_matrix:
        judged[k]["primal"] = judge.primal(instance, _bring(instance, arrays[f"X{k}"]))
        if f"duals{k}" in arrays:
            lam = np.zeros(instance.i.shape[0])
            lam[arrays[f"rows{k}"]] = arrays[f"duals{k}"]
            judged[k]["dual"] = judge.dual(instance, _bring(instance, lam))
    return judged


def _bring(instance: Instance, x: np.ndarray) -> Any:
    if isinstance(instance.points, np.ndarray):
        return x
    return instance.xp.asarray(x, device=instance.points.device)


def rate_results(run: dict[str, Any]) -> None:
    """Find the best bound of a run, and give every answer its gaps and every result its times."""
    proven = [
        (answer["dual"], result["contestant"])
        for result in run["results"]
        for answer in result["curve"]
        if _is_finite(answer.get("dual"))
    ]
    if run["reference"] and _is_finite(run["reference"]["dual"]):
        proven.append((run["reference"]["dual"], "reference"))
    bound, finder = max(proven, default=(-math.inf, None))
    best = math.inf
    for result in run["results"]:
        for answer in result["curve"]:
            if _is_finite(answer.get("primal")):
                best = min(best, answer["primal"])
        _rate(result, bound)
    gap = judge.relative_gap(best, bound)
    run["bound"] = {"dual": bound, "found_by": finder, "relative_gap": gap}


def _rate(result: dict[str, Any], bound: float) -> None:
    for answer in result["curve"]:
        answer["relative_gap"] = answer["certified_gap"]
        if "primal" not in answer:
            continue
        value = math.inf if answer["primal"] is None else answer["primal"]
        answer["judged_gap"] = judge.relative_gap(value, bound)
        if answer["certified_gap"] is None:
            answer["relative_gap"] = answer["judged_gap"]
        if "dual" in answer:
            own = -math.inf if answer["dual"] is None else answer["dual"]
            answer["relative_gap"] = judge.relative_gap(value, own)
    false = _find_false_claim(result["curve"])
    if false is not None:
        claimed, found = false["certified_gap"], false["relative_gap"]
        result["status"] = "failed"
        result["reason"] = f"it certified a gap of {claimed:.1e}, and the judge finds {found:.1e}"
        result["curve"] = [false]
    # A step without any certificate says nothing.
    result["curve"] = [a for a in result["curve"] if "primal" in a or _is_finite(a["relative_gap"])]
    result["reached"] = _seconds_to_gaps(result["curve"])


def _find_false_claim(curve: list[dict[str, Any]]) -> dict[str, Any] | None:
    for answer in curve:
        claimed, found = answer["certified_gap"], answer["relative_gap"]
        if "dual" in answer and claimed is not None and found > 1.01 * claimed + _ROUNDING:
            return answer
    return None


def _seconds_to_gaps(curve: list[dict[str, Any]]) -> dict[str, float | None]:
    """The least seconds of an answer within each gap."""
    return {
        f"{gap:.0e}": min((a["seconds"] for a in curve if a["relative_gap"] <= gap), default=None)
        for gap in GAPS
    }


def _is_finite(x: float | None) -> bool:
    return x is not None and math.isfinite(x)
