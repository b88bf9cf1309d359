"""primal - dual <= gap, how it closed, and all that was tried before: the numbers that prove an answer."""

from math import isfinite
from typing import Any

from gramlearn._base.mixture import words_of_mixture
from gramlearn.plots.report.scores import chosen_row

_MOST_RECORDS = 400


def certificate_of(learner: Any) -> dict[str, Any] | None:
    """The certificate of a learner, and its history; None where it has none."""
    solution = getattr(learner, "solution_", None)
    if solution is None:
        return None
    history = list(getattr(solution, "history", None) or [])
    step = max(1, len(history) // _MOST_RECORDS)
    kept = [*history[:-1:step], *history[-1:]]
    return {
        "primal": _number(solution.primal),
        "dual": _number(solution.dual),
        "gap": _number(solution.gap),
        "relative_gap": _number(solution.relative_gap),
        "violation": _number(solution.violation),
        "status": solution.status.name,
        "sentence": solution.status.value,
        "is_answer": bool(solution.status.is_answer),
        "mixture": words_of_mixture(learner),
        "iterations": int(solution.iterations),
        "seconds": float(solution.seconds),
        "tol": _number(getattr(learner, "tol", None)),
        "history": [[r.seconds, _number(r.certificate.relative_gap)] for r in kept],
    }


def trials_of(learner: Any) -> dict[str, Any] | None:
    """What was tried, the best first."""
    tried = getattr(learner, "cv_results_", None)
    if tried is None:
        return None
    is_judged = "mean_test_score" in tried
    n = len(tried["param_prior"])
    order = sorted(range(n), key=lambda k: int(tried["rank_test_score"][k]) if is_judged else k)
    chosen = chosen_row(learner, tried)
    rows = []
    for k in order:
        row = {
            "prior": str(tried["param_prior"][k]),
            "statements": tried["param_statements"][k],
            "strength": _number(tried["param_strength"][k]),
            "columns": tried["param_n_components"][k],
            "prior_share": _number(tried["param_prior_share"][k]),
            "is_chosen": k == chosen,
            "is_plain": k == 0,
        }
        if is_judged:
            row["score"] = [
                _number(tried[f"{name}_test_score"][k]) for name in ("mean", "std_error")
            ]
            row["gain"] = [_number(tried[f"{name}_gain"][k]) for name in ("mean", "std_error")]
        rows.append(row)
    return {"is_judged": is_judged, "rows": rows}


def _number(value: Any) -> float | None:
    """A finite number; None for what JSON cannot say."""
    return float(value) if value is not None and isfinite(value) else None
