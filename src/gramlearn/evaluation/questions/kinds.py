"""The kinds of questions: which points a row of numbers holds, which distances its answer compares.

A row is written in one order: pairs and odd ones out ascending, triplets with the anchor first and the two
others ascending.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn.evaluation.questions.answers import Answers, ThreeAnswers, TwoAnswers
from gramlearn.evaluation.questions.posterior import Statements
from gramlearn.side_information import Pairs, Triplets


class Known(NamedTuple):
    """Answers so far: the questions, their log-odds, whether each is true, and how often it was given."""

    rows: np.ndarray
    statements: Statements
    is_true: np.ndarray
    weights: np.ndarray


@final
@dataclass(frozen=True)
class Kind:
    """A question about `width` points, of which the first `fixed` have a place of their own.

    Parameters
    ----------
    compared : tuple of (int, int)
        The places in a row between which distances are taken.
    signs, offset
        As in Statements: what the log-odds of the answers are of these distances.
    has_near : bool
        Whether some candidates are about near neighbors. Near pairs tell where alike ends; three points that
        are all near each other compare small distances, and tell little of the metric.
    """

    width: int
    fixed: int
    compared: tuple[tuple[int, int], ...]
    signs: tuple[tuple[float, ...], ...]
    offset: float
    answers: Answers
    learned_from: type[Any]
    read: Callable[[Any, np.ndarray], Known]
    n_candidates: int
    has_near: bool

    def in_order(self, rows: np.ndarray) -> np.ndarray:
        """The same questions, each written in the one way there is."""
        return np.concatenate(
            [rows[:, : self.fixed], np.sort(rows[:, self.fixed :], axis=1)], axis=1
        )

    def count(self, n: int) -> int:
        """How many questions there are about n points."""
        return (
            n * (n - 1) // 2 if self.width == 2 else n * (n - 1) * (n - 2) // (6 - 4 * self.fixed)
        )

    def every(self, n: int) -> np.ndarray:
        """All of them."""
        sets = np.array(list(combinations(range(n), self.width)), dtype=np.int64)
        turns = range(self.width if self.fixed else 1)
        return self.in_order(np.concatenate([np.roll(sets, turn, axis=1) for turn in turns]))

    def state(self, rows: np.ndarray, Z: np.ndarray) -> Statements:
        """The log-odds of the answers to questions."""
        differences = [Z[rows[:, a]] - Z[rows[:, b]] for a, b in self.compared]
        return Statements(np.stack(differences, axis=1), np.array(self.signs), self.offset)


def _read_pairs(known: Pairs, Z: np.ndarray) -> Known:
    i, j, alike = (to_numpy(column) for column in known.near_and_far())
    statements = Statements((Z[i] - Z[j])[:, None, :], np.array([[-1.0]]), 1.0)
    return Known(np.stack([i, j], axis=1), statements, alike, known.weights())


def _read_comparisons(known: Triplets, Z: np.ndarray) -> Known:
    """Questions are those comparisons alone whose two distances are from one point."""
    i, j, _ = (to_numpy(column) for column in known.near_and_far())
    (i, k), (j, m) = np.split(i, 2), np.split(j, 2)
    rows = [
        np.stack([a, b, d], axis=1)[a == c]
        for a, b in ((i, j), (j, i))
        for c, d in ((k, m), (m, k))
    ]
    differences = np.stack([Z[k] - Z[m], Z[i] - Z[j]], axis=1)
    statements = Statements(differences, np.array([[1.0, -1.0]]), 0.0)
    return Known(np.concatenate(rows), statements, np.ones(len(i), dtype=bool), known.weights())


# The more candidates, the more are worth asking; an odd one out costs three times as much as the others.
KINDS: Mapping[str, Kind] = {
    "pair": Kind(2, 0, ((0, 1),), ((-1.0,),), 1.0, TwoAnswers(), Pairs, _read_pairs, 3000, True),
    "triplet": Kind(
        3,
        1,
        ((0, 2), (0, 1)),
        ((1.0, -1.0),),
        0.0,
        TwoAnswers(),
        Triplets,
        _read_comparisons,
        3000,
        False,
    ),
    "odd": Kind(
        3,
        0,
        ((1, 2), (0, 2), (0, 1)),
        ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)),
        0.0,
        ThreeAnswers(),
        Triplets,
        _read_comparisons,
        600,
        False,
    ),
}
