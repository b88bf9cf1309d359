"""c* = argmax_c sum_i w_i score_ci over what was held back, where it clearly beats the plain distance.

What is learned begins at the prior that scores best by itself, unless that prior is right nearly always.

The candidate that scores best among many scores too well. So what it gains is measured by things that did
not choose it: they are dealt into five groups, each group is judged by the candidate that is best on the
other four, and the mean of these differences from the plain distance, with its standard error, is the verdict.
It says what a user may expect; where it is not above two standard errors, the plain distance is kept, and up to
three a gain is called probable. An item
of weight w counts w times.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn.methods.choosing.candidates import PLAIN, Candidate, Family
from gramlearn.methods.choosing.judges import Judge, group_of
from gramlearn.methods.choosing.learning import Setting, learn_family
from gramlearn.methods.choosing.tasks import Task

_FEWEST = 20  # things held back that can tell a better metric from a lucky one
_NEARLY_ALL = 0.985  # right, by a prior alone: what is left to gain could not be told from chance
_DIGITS = 9  # of a mean score
# Standard errors. Where nothing can be learned, the best of several candidates may be above by chance:
# benchmarks/scripts/no_signal.py counts how often.
_CLEAR = 2.0
_SURE = 3.0


class Gain(NamedTuple):
    """By how much a score is above that of the plain distance, with the standard error."""

    mean: float
    error: float
    n_items: float

    @property
    def is_clear(self) -> bool:
        """Whether it is well above its standard error, and at least one thing more comes out right."""
        return self.mean > _CLEAR * self.error and self.mean * self.n_items >= 1.0


@final
class Judged(NamedTuple):
    """The scores of candidates on the things held back, the weights of these, and their numbers."""

    scores: np.ndarray  # candidates x items
    weights: np.ndarray
    items: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The candidate chosen, all that were tried with their scores, and what the chosen one gains."""

    candidate: Candidate
    candidates: Sequence[Candidate]
    scores: np.ndarray  # candidates x items held back
    weights: np.ndarray  # of the items
    gain: Gain | None
    what: str = ""
    is_cut: bool = False  # whether it was over before all were tried

    @property
    def helps(self) -> bool:
        """Whether something was learned that beat the plain distance on what was held back."""
        return self.gain is not None and not self.candidate.is_plain

    @property
    def verdict(self) -> str:
        """In a sentence: does what was learned help, and how much."""
        if self.gain is None:
            return (
                f"Not judged: too little is known to hold back {_FEWEST} things of it, which it takes to tell "
                "metrics apart. So the plain distance is kept; pass more labels or statements, or C."
            )
        plain = 100 * float(_mean(self.scores[0], self.weights))
        mean = round(100 * self.gain.mean, 1) + 0.0  # no "-0.0"
        by = f"{mean:.1f} points (standard error {100 * self.gain.error:.1f})"
        of = f"of {self.scores.shape[1]} held back, by {self.what}"
        if self.helps:
            sure = self.gain.mean > _SURE * self.gain.error
            words = "The learned metric helps" if sure else "The learned metric probably helps"
            return f"{words}: {by} above the plain distance, which scores {plain:.1f} %, {of}."
        return (
            f"No learned metric is clearly better than the plain distance, which scores {plain:.1f} %, {of}; "
            f"the best gains {by}. So the plain distance is kept."
        )

    @property
    def results(self) -> dict[str, Any]:
        """A table of what was tried, a list or an array a column, as scikit-learn's `cv_results_`."""
        table: dict[str, Any] = {"params": [vars(c) for c in self.candidates]}
        for name in ("prior", "statements", "strength", "n_components"):
            table[f"param_{name}"] = [getattr(c, name) for c in self.candidates]
        if self.gain is not None:
            above = self.scores - self.scores[0]
            table["mean_test_score"] = _mean(self.scores, self.weights)
            table["std_error_test_score"] = _standard_error(self.scores, self.weights)
            table["mean_gain"] = _mean(above, self.weights)
            table["std_error_gain"] = _standard_error(above, self.weights)
            order = np.argsort(np.argsort(-table["mean_test_score"], kind="stable"))
            table["rank_test_score"] = order + 1
        return table


def choose(
    task: Task,
    setting: Setting,
    rng: np.random.Generator,
    report: Callable[[], object] = lambda: None,
    is_over: Callable[[], bool] = lambda: False,
) -> Choice:
    """Try the families of a task on what is held back; `report` is called after each.

    Once it `is_over` no other family is tried.
    """
    folds = task.folds(rng)
    every = [candidate for family in task.families for candidate in family]
    nothing = np.zeros((len(every), 0)), np.zeros(0)
    items = [fold.judge.items for fold in folds]
    group = group_of(np.unique(np.concatenate(items))) if items else np.zeros(0)
    if len(group) < _FEWEST or np.all(group == group[0]):
        return Choice(PLAIN, every, *nothing, None)

    def judge(families: Sequence[Family]) -> tuple[list[Family], Judged]:
        tried: list[Family] = []
        scores: list[list[np.ndarray]] = [[] for _ in folds]
        for family in families:
            if is_over() and not family.is_plain:
                break
            for fold, of_fold in zip(folds, scores, strict=True):
                roots: list[Any] = [None]
                if not family.is_plain:
                    roots = list(learn_family(family, task, fold.part, setting, rng))
                of_fold += [fold.judge.score(F) for F in roots]
            tried.append(family)
            report()
        return tried, _join_folds([fold.judge for fold in folds], scores)

    wanted = [family for family in task.families if not family.statements]
    alone, judged = judge(wanted)
    means = _mean(judged.scores, judged.weights)
    promising = []
    if np.max(means) < _NEARLY_ALL:
        promising = _from_best_prior(task.families, alone, means)
    learned, of_learned = judge(promising)
    table = np.concatenate([judged.scores, of_learned.scores])
    candidates = [candidate for family in (*alone, *learned) for candidate in family]
    is_whole = np.asarray([candidate.n_components is None for candidate in candidates])
    gain = measure_gain(table, judged.weights, group, is_whole)
    best = candidates[_best(table, judged.weights, is_whole)]
    chosen = best if gain.is_clear else PLAIN
    is_cut = len(alone) + len(learned) < len(wanted) + len(promising)
    return Choice(
        chosen, candidates, table, judged.weights, gain, folds[0].judge.what, is_cut=is_cut
    )


def _from_best_prior(
    families: Sequence[Family], alone: Sequence[Family], means: np.ndarray
) -> list[Family]:
    """Those in which something is learned, from the prior that scores best by itself."""
    learned = [family for family in families if family.statements]
    priors = list(dict.fromkeys(family.prior for family in learned))
    score = {
        family.prior: mean for family, mean in zip(alone, means, strict=True) if family.is_whole
    }
    first = priors[_first_of_best([score.get(prior, -np.inf) for prior in priors])]
    return [family for family in learned if family.prior == first]


def _best(scores: np.ndarray, weights: np.ndarray, is_whole: np.ndarray) -> int:
    """The best candidate; of few columns only where that beats the best of all by a standard error."""
    means = _mean(scores, weights)
    first = _first_of_best(means)
    whole = np.flatnonzero(is_whole)
    best_whole = int(whole[_first_of_best(means[whole])])
    above = scores[first] - scores[best_whole]
    is_better = _mean(above, weights) > _standard_error(above, weights)
    return first if is_whole[first] or is_better else best_whole


def _first_of_best(means: Any) -> int:
    """Of the best, up to rounding: priors may be the same."""
    return int(np.argmax(np.round(means, _DIGITS)))


def measure_gain(
    scores: np.ndarray, weights: np.ndarray, group: np.ndarray, is_whole: np.ndarray
) -> Gain:
    """What the best candidate gains over the first, by items whose group had no part in choosing it."""
    n = scores.shape[1]
    above = np.empty(n)
    for k in np.unique(group):
        here = group == k
        best = _best(scores[:, ~here], weights[~here], is_whole)
        above[here] = scores[best, here] - scores[0, here]
    # So many items of equal weights have the same standard error.
    n_items = float(weights.sum() ** 2 / (weights**2).sum())
    return Gain(float(_mean(above, weights)), float(_standard_error(above, weights)), n_items)


def _mean(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """sum_k w_k s_k / sum_k w_k along the last axis."""
    return np.asarray(scores @ weights / weights.sum())


def _standard_error(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of that mean, of independent items, of which there are two or more."""
    n = len(weights)
    squares = (scores - _mean(scores, weights)[..., None]) ** 2 @ weights**2
    return np.asarray(np.sqrt(squares * n / (n - 1)) / weights.sum())


def _join_folds(judges: Sequence[Judge], scores: Sequence[Sequence[np.ndarray]]) -> Judged:
    """Each item once: what was held back twice has the mean of both scores."""
    items = np.concatenate([judge.items for judge in judges])
    weights = np.concatenate([judge.weights for judge in judges])
    which, first, place = np.unique(items, return_index=True, return_inverse=True)
    rows = [np.concatenate(of_candidate) for of_candidate in zip(*scores, strict=True)]
    total = np.zeros((len(rows), len(which)))
    for row, of_candidate in zip(total, rows, strict=True):
        np.add.at(row, place, of_candidate)
    return Judged(total / np.bincount(place), weights[first], which)
