"""mean_after - mean_before, each with its standard error: what the statements say of both distances.

A statement scores as in `evaluation.statements`, and those that share a point may go together. Of pairs the
mean is one number of two samples: a pair of a kind of weight W_kind adds U + (u - U) W / W_kind to it, so that
the standard error is that of both (U the mean, u the pair's own score, W the weight of all).
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn.evaluation.statements import label_scores, statement_scores
from gramlearn.methods.choosing.choose import Judged
from gramlearn.plots.report.reading import Given
from gramlearn.side_information import Bounds, Pairs, SideInformation, Triplets

_LABELED = 10_000  # points, of those with a label, among which labels are judged

_MEANING = {
    Pairs: "how often an alike pair is nearer than an unlike one",
    Triplets: "the share of the comparisons that hold",
    Bounds: "how far bounds are kept: 1 less the share by which each is missed",
}
_OF_ONE_KIND = {
    True: "how often an alike pair is nearer than a random one",
    False: "how often an unlike pair is farther than a random one",
}
_OF_LABELS = "how often near neighbors are of the same class"


def score_given(given: Given) -> dict[str, Any] | None:
    """Before and after on what was given; None where that is nothing that could be judged."""
    if given.side is not None:
        return _of_statements(given, given.side)
    if len(given.names) > 1:
        return _of_labels(given)
    return None


def _of_statements(given: Given, side: SideInformation) -> dict[str, Any]:
    rows = np.stack([_kinds_apart(side, statement_scores(side, f)) for f in given.lengths])
    points = to_numpy(side.statement_points())
    found = _compare(Judged(rows, side.weights(), np.arange(side.size), points))
    words = _MEANING[type(side)]
    if isinstance(side, Pairs) and _n_similar(side) in (0, side.size):
        words = _OF_ONE_KIND[_n_similar(side) > 0]
    return found | {
        "what": words,
        "of": f"{side.size:,} statements",
        "was_learned_from": given.was_learned_from(type(side).__name__, side.size),
    }


def _of_labels(given: Given) -> dict[str, Any]:
    rows = np.flatnonzero(given.classes >= 0)
    learned_from = given.was_learned_from("labels", len(rows))
    of = f"{len(rows):,} labeled points"
    if len(rows) > _LABELED:
        rows = np.sort(np.random.default_rng(given.seed).choice(rows, _LABELED, replace=False))
        of = f"{len(rows):,} of {of}, drawn at random"
    classes = np.unique(given.classes[rows], return_inverse=True)[1]
    asked, before = label_scores(given.before[rows], classes)
    _, after = label_scores(given.after[rows], classes)
    judged = Judged(np.stack([before, after]), np.ones(len(asked)), asked, asked[:, None])
    return _compare(judged) | {"what": _OF_LABELS, "of": of, "was_learned_from": learned_from}


def _compare(judged: Judged) -> dict[str, Any]:
    above = judged.scores[1] - judged.scores[0]
    means = judged.mean()
    errors: list[float | None] = [None, None]
    of_gain = None
    if len(judged.items) > 1:
        errors = [float(error) for error in judged.error(judged.scores)]
        of_gain = float(judged.error(above))
    return {
        "before": [float(means[0]), errors[0]],
        "after": [float(means[1]), errors[1]],
        "gain": [float(judged.mean(above)), of_gain],
    }


def _kinds_apart(side: SideInformation, scores: np.ndarray) -> np.ndarray:
    """What each pair adds to the mean over both kinds; other statements score as they do."""
    if not isinstance(side, Pairs) or _n_similar(side) in (0, side.size):
        return scores
    weights = side.weights()
    is_near = np.arange(side.size) < _n_similar(side)
    U = float(scores[is_near] @ weights[is_near] / weights[is_near].sum())
    of_kind = np.where(is_near, weights[is_near].sum(), weights[~is_near].sum())
    return np.asarray(U + (scores - U) * weights.sum() / of_kind)


def _n_similar(side: Pairs) -> int:
    return int(side.similar.shape[0])


def score_held_back(learner: Any) -> dict[str, Any] | None:
    """What was chosen, and the plain distance, on what was held back of what was learned from."""
    tried = getattr(learner, "cv_results_", None)
    if tried is None or "mean_test_score" not in tried:
        return None
    k = chosen_row(learner, tried)
    means, errors = tried["mean_test_score"], tried["std_error_test_score"]
    return {
        "before": [float(means[0]), float(errors[0])],
        "after": [float(means[k]), float(errors[k])],
        "gain": [float(tried["mean_gain"][k]), float(tried["std_error_gain"][k])],
        "n_tried": len(means),
        "is_plain": k == 0,
    }


def chosen_row(learner: Any, tried: Any) -> int:
    """The candidate that was chosen: the best of those with its prior, statements and strength."""
    rows = [
        k
        for k, strength in enumerate(tried["param_strength"])
        if tried["param_statements"][k] == learner.statements_ and strength == learner.strength_
    ]
    # A prior that was given moves the points beforehand, and is called the identity in the table.
    rows = [k for k in rows if tried["param_prior"][k] == learner.prior_] or rows or [0]
    scores = tried.get("mean_test_score")
    return rows[0] if scores is None else max(rows, key=lambda k: float(scores[k]))
