"""max_q I(answer to q; errors of the metric | answers so far): the question whose answer tells most.

A logistic curve over learned distances, fitted to the known answers, says what an answer may be. What it tells
is worked out for the errors of the metric that the known answers leave possible. Each question that is chosen
counts as answered for those after it, so that no two ask the same.
"""

from typing import Any, final

import numpy as np
from scipy.special import expit

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_choice, check_count, check_host_points, generator
from gramlearn.evaluation.questions.candidates import draw_candidates
from gramlearn.evaluation.questions.kinds import KINDS, Kind, Known
from gramlearn.evaluation.questions.posterior import Posterior, fit_curve
from gramlearn.side_information import Pairs, Triplets, tables
from gramlearn.side_information.stored import refuse_stored

_KNOWN = 1000  # known answers that count: those that leave the curve most open


def questions(
    model: Any,
    X: Any,
    known: Pairs | Triplets | None = None,
    kind: str = "pair",
    n: int = 10,
    random_state: Any = None,
    *,
    asked: Any = None,
) -> np.ndarray:
    """Choose which questions to ask a person next: rows of point numbers, those most worth asking first.

    No question comes again, in whatever order of its points, and no point twice in one call where there are
    enough. Fewer than n rows, or none, come where nearly all has been asked. Without answers, or with pairs
    that are all alike or all unlike, questions are drawn at random, of pairs every other one near neighbors.

    Parameters
    ----------
    model : fitted estimator or None
        With `transform`, such as MetricLearner or KernelLearner, learned from what is known; None is the plain
        distance.
    X : array, sparse matrix or data frame n x d, or None
        The points. None for a kernel of given points with a `factor_`, such as NonparametricKernel.
    known : Pairs or Triplets, optional
        The answers so far: Pairs for pairs; Triplets for the others, such as `Triplets.from_odd_one_out`.
    kind : {"pair", "triplet", "odd"}
        Whether two points are alike; which of two others is nearer to the first point of a row; which of three
        points is the odd one out.
    n : int
        How many questions.
    random_state : int, Generator or None
        Seeds the draw of what to choose from.
    asked : table of row numbers, optional
        Further questions not to ask again, whatever came of them.

    Returns
    -------
    rows : array m x 2 for pairs, m x 3 for the others, m <= n
    """
    about = check_choice(kind, "kind", KINDS)
    Z = _coordinates(model, X)
    if len(Z) < about.width:
        raise ValueError(
            f"`X` has too few rows, {len(Z)}: kind={kind!r} asks about {about.width} points at a time."
        )
    answered = about.read(_check_known(known, kind, about, len(Z)), Z)
    done = [answered.rows]
    if asked is not None:
        done.append(to_numpy(tables.check_table(asked, "asked", (about.width,), len(Z))))
    count, rng = check_count(n, "n"), generator(random_state)
    rows, is_near = draw_candidates(Z, about, about.in_order(np.concatenate(done)), count, rng)
    judge: _AtRandom | _Learned = _AtRandom(is_near)
    if len(rows) and _is_told(about, answered):
        judge = _Learned(about, rows, Z, answered)
    return rows[_choose(judge, rows, count, len(Z))]


def _coordinates(model: Any, X: Any) -> np.ndarray:
    """Where the model puts the points, in units in which they have length 1 in the mean."""
    if X is None:
        if not hasattr(model, "factor_"):
            raise ValueError(
                f"`X` is None, and {type(model).__name__} has no `factor_`; pass the points, or a fitted "
                "kernel of given points, such as NonparametricKernel."
            )
        points = check_host_points(model.factor_, "factor_")
    else:
        points = check_host_points(X if model is None else model.transform(X), "X")
    points = points - points.mean(axis=0)
    length = float(np.sqrt(np.mean(np.vecdot(points, points))))
    return points / length if length > 0 else points


def _check_known(known: Any, kind: str, about: Kind, n_points: int) -> Any:
    if known is None:
        return about.learned_from(np.empty((0, about.width), dtype=int), n_points=n_points)
    refuse_stored(known, "`known`")
    if not isinstance(known, about.learned_from):
        raise TypeError(
            f"`known` is {type(known).__name__}, but what is known for kind={kind!r} is "
            f"{about.learned_from.__name__}; pass those, or None."
        )
    known.check_fits(n_points)
    return known


def _is_told(about: Kind, answered: Known) -> bool:
    """Whether answers say where the curve lies; with a threshold it takes some of both sides."""
    count = int(answered.is_true.sum())
    return 0 < count < len(answered.is_true) if about.offset else count > 0


@final
class _AtRandom:
    """A near one, a far one, a near one: those that come first."""

    def __init__(self, is_near: np.ndarray) -> None:
        self._is_near, self._place = is_near, np.arange(len(is_near))

    def worth(self, turn: int) -> np.ndarray:
        return np.where(self._is_near == (turn % 2 == 0), len(self._place), 0) - self._place

    def add(self, k: int) -> None:
        del k


@final
class _Learned:
    """The one that tells most, given answers to those before it."""

    def __init__(self, about: Kind, rows: np.ndarray, Z: np.ndarray, answered: Known) -> None:
        known, weights = answered.statements, answered.weights
        threshold, slope = fit_curve(known, answered.is_true, weights)
        chance = expit(threshold + slope * known.sizes[:, 0])
        curvature = weights * chance * (1 - chance)
        used = np.argsort(-curvature, kind="stable")[:_KNOWN]
        candidates = about.state(rows, Z)
        self._answers = about.answers
        self._mean = threshold + slope * candidates.sizes
        self._posterior = Posterior(candidates, known[used], curvature[used], slope)

    def worth(self, turn: int) -> np.ndarray:
        del turn
        return self._answers.information(self._mean, self._posterior.covariance)

    def add(self, k: int) -> None:
        root = self._answers.curvature_root(self._mean[k], self._posterior.covariance[k])
        self._posterior.add(k, root)


def _choose(judge: _AtRandom | _Learned, rows: np.ndarray, n: int, n_points: int) -> list[int]:
    """The numbers of n rows, the best first; about points that no other is about while there are such."""
    is_left, is_used, chosen = np.ones(len(rows), dtype=bool), np.zeros(n_points, dtype=bool), []
    for turn in range(min(n, len(rows))):
        is_new = is_left & ~is_used[rows].any(axis=1)
        k = int(
            np.argmax(np.where(is_new if is_new.any() else is_left, judge.worth(turn), -np.inf))
        )
        chosen.append(k)
        is_left[k], is_used[rows[k]] = False, True
        judge.add(k)
    return chosen
