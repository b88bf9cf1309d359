"""c* = argmax_c sum_i w_i score_ci over what was held back, where it clearly beats the plain distance.

Priors are tried by themselves, and what is learned from each of them at one strength; then the other strengths
from the best of these, unless a prior alone is right nearly always. Where the best of a sample is the strongest
or the mildest, the next one is tried, as long as it clearly gains, and a point at least: the stronger, the less
is left of what no statement is about.

The candidate that scores best among many scores too well. So what it gains is measured by things that did
not choose it: they are dealt into five groups, each group is judged by the candidate that is best on the
other four, and the mean of these differences from the plain distance, with its standard error, is the verdict.
(Which prior is learned from at other strengths is told by all things.) It says what a user may expect; where it
is not above two standard errors, the plain distance is kept, and up to three a gain is called probable. An item
of weight w counts w times.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from scipy.sparse import coo_array

from gramlearn.methods.choosing.candidates import PLAIN, Candidate, Family
from gramlearn.methods.choosing.judges import Judge, group_of
from gramlearn.methods.choosing.learning import Setting, learn_family
from gramlearn.methods.choosing.tasks import Task

_FEWEST = 20  # things held back that can tell a better metric from a lucky one
_NEARLY_ALL = 0.985  # right, by a prior alone: what is left to gain could not be told from chance
_DIGITS = 9  # of a mean score
# Standard errors. Where nothing can be learned, the best of several candidates may be above by chance:
# benchmarks/scripts/no_signal.py counts how often.
CLEAR = 2.0
SURE = 3.0
# Few columns serve one end. Statements as they are come out right more often than they help: comparisons with
# all points do more for a search, in unseen groups above all.
_OF_FEW_COLUMNS = 1.0
_OF_GIVEN = 2.0
# Of a score: what is gained beyond the strengths that are always tried, or without pairs drawn at random, has
# to be worth what is lost of groups that no statement is about.
_WORTH_IT = 0.01


class Gain(NamedTuple):
    """By how much a score is above that of the plain distance, with the standard error."""

    mean: float
    error: float
    n_items: float

    @property
    def is_clear(self) -> bool:
        """Whether it is well above its standard error, and at least one thing more comes out right."""
        return self.mean > CLEAR * self.error and self.mean * self.n_items >= 1.0


@final
class Judged(NamedTuple):
    """The scores of candidates on the things held back, the weights of these, their numbers and points."""

    scores: np.ndarray  # candidates x items
    weights: np.ndarray
    items: np.ndarray
    points: np.ndarray  # a row for each item, of the points that it is about

    def mean(self, rows: np.ndarray | None = None) -> np.ndarray:
        """sum_k w_k s_k / sum_k w_k, of all candidates or of rows of other numbers."""
        numbers = self.scores if rows is None else rows
        return np.asarray(numbers @ self.weights / self.weights.sum())

    def error(self, rows: np.ndarray) -> np.ndarray:
        """The standard error of that mean, where items that share a point may go together.

        The variance is the sum of d_i d_j over all items that share a point, d_i = w_i (s_i - mean); that of
        independent items, sum d_i^2, where that is more.
        """
        n, of_each = self.points.shape
        d = np.atleast_2d((rows - self.mean(rows)[..., None]) * self.weights)
        item = np.repeat(np.arange(n), of_each)
        is_about = coo_array((np.ones(item.size), (self.points.reshape(-1), item)))
        own = np.sum(d**2, axis=1)
        shared = np.sum((is_about @ d.T) ** 2, axis=0) - (of_each - 1) * own
        variance = np.maximum(own, shared) * n / (n - 1)
        return np.asarray(np.sqrt(variance).reshape(rows.shape[:-1]) / self.weights.sum())

    def some(self, items: np.ndarray) -> "Judged":
        """The same of some of the items."""
        return Judged(
            self.scores[:, items], self.weights[items], self.items[items], self.points[items]
        )


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The candidate chosen, all that were tried with their scores, and what the chosen one gains."""

    candidate: Candidate
    candidates: Sequence[Candidate]
    judged: Judged | None = None
    gain: Gain | None = None
    what: str = ""
    is_cut: bool = False  # whether it was over before all were tried

    @property
    def helps(self) -> bool:
        """Whether something was learned that beat the plain distance on what was held back."""
        return self.gain is not None and not self.candidate.is_plain

    def verdict(self, plain: str = "the plain distance") -> str:
        """In a sentence: does what was learned help, and how much; `plain` names the first candidate."""
        if self.gain is None or self.judged is None:
            return (
                f"Not judged: too little is known to hold back {_FEWEST} things of it, which it takes to tell "
                f"metrics apart. So {plain} is kept; pass more labels or statements, or C."
            )
        score = 100 * float(self.judged.mean(self.judged.scores[0]))
        of = f"of {len(self.judged.items):,} held back, by {self.what}"
        if len(self.candidates) == 1:
            return f"Nothing was tried beside {plain}, which scores {score:.1f} %, {of}. So {plain} is kept."
        mean = round(100 * self.gain.mean, 1) + 0.0  # no "-0.0"
        by = f"{mean:.1f} points (standard error {100 * self.gain.error:.1f})"
        if self.helps:
            sure = self.gain.mean > SURE * self.gain.error
            words = "The learned metric helps" if sure else "The learned metric probably helps"
            return f"{words}: {by} above {plain}, which scores {score:.1f} %, {of}."
        return (
            f"No learned metric is clearly better than {plain}, which scores {score:.1f} %, {of}; "
            f"the best gains {by}. So {plain} is kept."
        )

    @property
    def results(self) -> dict[str, Any]:
        """A table of what was tried, a list or an array a column, as scikit-learn's `cv_results_`."""
        table: dict[str, Any] = {"params": [dict(vars(c)) for c in self.candidates]}
        for name in ("prior", "statements", "strength", "n_components", "prior_share"):
            table[f"param_{name}"] = [getattr(c, name) for c in self.candidates]
        if self.judged is not None:
            scores = self.judged.scores
            above = scores - scores[0]
            table["mean_test_score"] = self.judged.mean(scores)
            table["std_error_test_score"] = self.judged.error(scores)
            table["mean_gain"] = self.judged.mean(above)
            table["std_error_gain"] = self.judged.error(above)
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
    items = [fold.judge.items for fold in folds]
    group = group_of(np.unique(np.concatenate(items))) if items else np.zeros(0)
    if len(group) < _FEWEST or np.all(group == group[0]):
        return Choice(PLAIN, [candidate for family in task.families for candidate in family])
    judges = [fold.judge for fold in folds]
    tried: list[Family] = []
    table: list[list[np.ndarray]] = [[] for _ in folds]
    n_wanted = 0

    def judge(families: Sequence[Family]) -> None:
        nonlocal n_wanted
        n_wanted += len(families)
        for family in families:
            if is_over() and not family.is_plain:
                break
            for fold, scores in zip(folds, table, strict=True):
                roots: list[Any] = [None]
                if not family.is_plain:
                    roots = list(learn_family(family, task, fold.part, setting, rng))
                scores += [fold.judge.score(F, family.is_whole) for F in roots]
            tried.append(family)
            report()

    judge([family for family in task.families if not family.statements])
    n_alone = len(tried)
    if np.max(_join_folds(judges, table).mean()) < _NEARLY_ALL:
        learned = [family for family in task.families if family.statements]
        judge([_at_one_strength(family) for family in learned])
        means = _join_folds(judges, table).mean()[n_alone:]
        if len(means):
            best = tried[n_alone:][_first_of_best(means)].prior
            judge([_at_other_strengths(family) for family in learned if family.prior == best])

    def judged_so_far() -> tuple[list[Candidate], Judged, np.ndarray]:
        candidates = [candidate for family in tried for candidate in family]
        return candidates, _join_folds(judges, table), _reserves(candidates)

    candidates, judged, reserve = judged_so_far()
    while setting.of_sample:
        leader = _best(judged, reserve)
        beyond = _beyond(candidates[leader], candidates)
        if beyond is None:
            break
        judge([beyond])
        if len(tried) < n_wanted:
            break
        candidates, judged, reserve = judged_so_far()
        further = _gain_of(judged.scores[-1] - judged.scores[leader], judged)
        if not (further.is_clear and further.mean >= _WORTH_IT):
            _leave_out_last(reserve)
            break
    gain = measure_gain(judged, reserve)
    found = candidates[_best(judged, reserve)] if gain.is_clear else PLAIN
    is_cut = len(tried) < n_wanted
    return Choice(found, candidates, judged, gain, judges[0].what, is_cut)


def _at_one_strength(family: Family) -> Family:
    """The candidate of the middle strength alone, the milder one of two."""
    strengths = list(family.strengths)
    return replace(family, strengths=strengths[(len(strengths) - 1) // 2 :][:1])


def _at_other_strengths(family: Family) -> Family:
    """The candidates of the other strengths."""
    tried = _at_one_strength(family).strengths
    return replace(family, strengths=[s for s in family.strengths if s not in tried])


def _beyond(best: Candidate, candidates: Sequence[Candidate]) -> Family | None:
    """The next strength beyond those tried, where the best is the strongest or the mildest of several."""
    if best.strength is None:
        return None
    strengths = sorted(
        c.strength for c in candidates if c.strength and replace(c, strength=best.strength) == best
    )
    if best.strength == strengths[-1]:
        strengths = strengths[::-1]
    if best.strength != strengths[0] or len(strengths) == 1:
        return None
    family = Family(best.prior, best.statements, (), best.n_components, best.prior_share)
    return replace(family, strengths=[best.strength * best.strength / strengths[1]])


def _reserves(candidates: Sequence[Candidate]) -> np.ndarray:
    """By how many standard errors, and by how much, each has to beat the best of those that need not."""
    kinds = {candidate.statements for candidate in candidates}
    of_given = _OF_GIVEN * bool(kinds & {"others", "drawn"}), _WORTH_IT * ("drawn" in kinds)
    found = [
        (_OF_FEW_COLUMNS, 0.0)
        if candidate.n_components is not None
        else of_given
        if candidate.statements == "given"
        else (0.0, 0.0)
        for candidate in candidates
    ]
    return np.asarray(found).T


def _leave_out_last(reserve: np.ndarray) -> None:
    """No lead is large enough for the last candidate."""
    reserve[:, -1] = 1.0, np.inf


def _best(judged: Judged, reserve: np.ndarray) -> int:
    """The best candidate, if it is better by its reserve than the best of those that need none."""
    means = judged.mean()
    errors, least = reserve
    free = np.flatnonzero(errors == 0)
    best = int(free[_first_of_best(means[free])])
    for k in np.argsort(-means, kind="stable"):
        above = judged.scores[k] - judged.scores[best]
        if errors[k] and judged.mean(above) > max(errors[k] * judged.error(above), least[k]):
            return int(k)
    return best


def _first_of_best(means: Any) -> int:
    """Of the best, up to rounding: priors may be the same."""
    return int(np.argmax(np.round(means, _DIGITS)))


def measure_gain(judged: Judged, reserve: np.ndarray) -> Gain:
    """What the best candidate gains over the first, by items whose group had no part in choosing it."""
    group = group_of(judged.items)
    above = np.empty(len(group))
    for k in np.unique(group):
        here = group == k
        best = _best(judged.some(~here), reserve)
        above[here] = judged.scores[best, here] - judged.scores[0, here]
    return _gain_of(above, judged)


def _gain_of(above: np.ndarray, judged: Judged) -> Gain:
    """The mean of differences of scores, a number for each item."""
    # So many items of equal weights have the same standard error.
    n_items = float(judged.weights.sum() ** 2 / (judged.weights**2).sum())
    return Gain(float(judged.mean(above)), float(judged.error(above)), n_items)


def _join_folds(judges: Sequence[Judge], scores: Sequence[Sequence[np.ndarray]]) -> Judged:
    """Each item once, with the mean by weight of its scores, and the weight that it has in a fold."""
    items = np.concatenate([judge.items for judge in judges])
    weights = np.concatenate([judge.weights for judge in judges])
    points = np.concatenate([judge.points for judge in judges])
    fold = np.repeat(np.arange(len(judges)), [len(judge.items) for judge in judges])
    which, first, place = np.unique(items, return_index=True, return_inverse=True)
    rows = [np.concatenate(of_candidate) for of_candidate in zip(*scores, strict=True)]
    total = np.zeros((len(rows), len(which)))
    for row, of_candidate in zip(total, rows, strict=True):
        np.add.at(row, place, weights * of_candidate)
    weight = np.bincount(place, weights)
    n_folds = np.bincount(np.unique(place * len(judges) + fold) // len(judges))
    means = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    return Judged(means, weight / n_folds, which, points[first])
