"""Answers as numbers: which items, what was said of them, and how far these are apart before all learning.

The distances of a question are those of its items 0 and 1; of three also of 0 and 2, and of 1 and 2. An answer
foretells itself: a pair is alike where its distance is at most a threshold, of two others that is nearer whose
distance is less, and odd is who is not in the least distance of three.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.app.studio.asked import WIDTH
from gramlearn.app.studio.store import Answer
from gramlearn.side_information import Pairs, Triplets

_SIDES = ((0, 1), (0, 2), (1, 2))
_SAID = {"unsure": -1, "alike": 1, "unlike": 0, "first": 0, "second": 1, "third": 2}
MARGIN = 1.0  # half the mean squared distance of points of mean squared length 1


@final
@dataclass(frozen=True, eq=False)
class Told:
    """Answers of one kind, by their numbers.

    Attributes
    ----------
    kind : {"pair", "triplet", "odd"}
    seq : vector of m numbers, ascending
    items : array m x 2, or m x 3
    said : vector
        1 for alike and 0 for unlike; else the place of the item that was chosen; -1 for unsure.
    random : vector of bool
    plain : array m x 1, or m x 3
        Squared distances of all features.
    """

    kind: str
    seq: np.ndarray
    items: np.ndarray
    said: np.ndarray
    random: np.ndarray
    plain: np.ndarray

    @classmethod
    def of(cls, kind: str, answers: Sequence[Answer], X: Any = None) -> Self:
        """As they are in the store, in the order of their numbers."""
        answers = sorted(answers, key=lambda answer: answer.seq)
        items = np.array([answer.items for answer in answers], dtype=np.int64)
        items = items.reshape(-1, WIDTH[kind])
        return cls(
            kind,
            np.array([answer.seq for answer in answers], dtype=np.int64),
            items,
            np.array([_SAID[answer.answer] for answer in answers], dtype=np.int64),
            np.array([answer.random for answer in answers], dtype=bool),
            distances(items, X),
        )

    def __len__(self) -> int:
        return len(self.seq)

    def __getitem__(self, rows: Any) -> "Told":
        return Told(
            self.kind,
            self.seq[rows],
            self.items[rows],
            self.said[rows],
            self.random[rows],
            self.plain[rows],
        )

    def changed(self, come: "Told", gone: np.ndarray) -> "Told":
        """Without those whose numbers have gone, and with those that have come."""
        kept = self[~np.isin(self.seq, gone)]
        new = come[~np.isin(come.seq, kept.seq)]
        joined = Told(
            self.kind,
            *(
                np.concatenate([getattr(kept, name), getattr(new, name)])
                for name in ("seq", "items", "said", "random", "plain")
            ),
        )
        return joined[np.argsort(joined.seq)]

    @cached_property
    def question(self) -> np.ndarray:
        """The number of the question of each answer: the same for the same items, as `key_of` has it."""
        fixed = 1 if self.kind == "triplet" else 0
        keys = np.concatenate(
            [self.items[:, :fixed], np.sort(self.items[:, fixed:], axis=1)], axis=1
        )
        return distinct_rows(keys).kind

    @cached_property
    def teaches(self) -> np.ndarray:
        """Which are learned from: sure answers to questions of which no answer judges.

        So a question that judges teaches nothing by another answer either, such as one of a file.
        """
        return (self.said >= 0) & ~np.isin(self.question, self.question[self.random])

    @property
    def taught(self) -> "Told":
        """Those that are learned from."""
        return self[self.teaches]

    @property
    def judging(self) -> "Told":
        """Sure answers to random questions."""
        return self[self.random & (self.said >= 0)]

    @property
    def statements(self) -> np.ndarray:
        """What each sure answer says, whatever the order of its items, in three numbers.

        (i, j, alike) with i < j; (i, the nearer one, the other one); (i, j, the odd one) with i < j.
        """
        if self.kind == "pair":
            return np.column_stack([np.sort(self.items, axis=1), self.said])
        if self.kind == "triplet":
            order = np.array([[0, 1, 2], [0, 1, 2], [0, 2, 1]])[self.said]
            return np.take_along_axis(self.items, order, axis=1)
        order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[self.said]
        rows = np.take_along_axis(self.items, order, axis=1)
        return np.column_stack([np.sort(rows[:, :2], axis=1), rows[:, 2]])

    def side(self, points: np.ndarray) -> Pairs | Triplets | None:
        """What they teach, with items numbered by their places among these points, ascending.

        Of a pair that judges disagree about it is what more of them say. None where there is nothing to learn:
        no answers, or pairs that are all alike or all unlike.
        """
        if not len(self):
            return None
        n = len(points)
        if self.kind != "pair":
            rows = np.searchsorted(points, self.statements)
            make = Triplets if self.kind == "triplet" else Triplets.from_odd_one_out
            return make(rows, n_points=n, margin=MARGIN)
        i, j = np.searchsorted(points, self.items).T
        pair = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_inverse=True)[1]
        lead = np.bincount(pair, weights=2 * self.said - 1)
        if lead.max() <= 0 or lead.min() >= 0:
            return None
        return Pairs.from_judgments(i, j, self.said == 1, n)

    def who_say(self, side: Pairs | Triplets, points: np.ndarray, numbers: np.ndarray) -> list[int]:
        """The numbers of the answers that make these statements of `side`, in that order."""
        if isinstance(side, Pairs):
            tables = [to_numpy(table) for table in (side.similar, side.dissimilar)]
            alike = np.repeat([1, 0], [len(table) for table in tables])
            rows = np.column_stack([points[np.concatenate(tables)], alike])[numbers]
        else:
            rows = points[to_numpy(side.triplets)][numbers]
        if self.kind == "odd":
            rows[:, :2] = np.sort(rows[:, :2], axis=1)
        of: dict[tuple[int, ...], list[int]] = {}
        for row, seq in zip(self.statements.tolist(), self.seq.tolist(), strict=True):
            of.setdefault(tuple(row), []).append(seq)
        return list(dict.fromkeys(seq for row in rows.tolist() for seq in of[tuple(row)]))

    def lines(self) -> np.ndarray:
        """(an answer, two of its items, whether it calls these near rather than far), a row each."""
        number = np.arange(len(self))
        near = {
            "pair": lambda: self.said[:, None] == 1,
            "triplet": lambda: np.stack([self.said == 1, self.said == 2], axis=1),
            "odd": lambda: self.said[:, None] == 2 - np.arange(3),
        }[self.kind]()
        rows = [
            np.stack([number, self.items[:, a], self.items[:, b], near[:, k]], axis=1)
            for k, (a, b) in enumerate(_SIDES[: near.shape[1]])
        ]
        return np.stack(rows, axis=1).reshape(-1, 4)

    def foretold(self, apart: np.ndarray, threshold: float | None) -> np.ndarray:
        """Whether squared distances say the same as each answer; equal ones tell nothing apart.

        The threshold, a squared distance, is for pairs alone.
        """
        if self.kind == "pair":
            return np.asarray((apart[:, 0] <= threshold) == (self.said == 1))
        if self.kind == "triplet":
            nearer = np.where(self.said == 1, apart[:, 1] - apart[:, 0], apart[:, 0] - apart[:, 1])
            return np.asarray(nearer > 0)
        least = 2 - self.said  # the two others' distance
        others = apart.copy()
        np.put_along_axis(others, least[:, None], np.inf, axis=1)
        return np.asarray(
            np.take_along_axis(apart, least[:, None], axis=1)[:, 0] < others.min(axis=1)
        )


def distances(items: np.ndarray, X: Any, root: np.ndarray | None = None) -> np.ndarray:
    """Squared distances between the items of each row, in the order of the module, after X root'."""
    count = items.shape[1] * (items.shape[1] - 1) // 2
    found = np.zeros((len(items), count))
    for start in range(
        0, len(items), 1000
    ):  # points of thousands of features are not all copied at once
        some = items[start : start + 1000]
        for k, (a, b) in enumerate(_SIDES[:count]):
            apart = np.asarray(X[some[:, a]], dtype=np.float64) - X[some[:, b]]
            apart = apart if root is None else apart @ root.T
            found[start : start + 1000, k] = np.vecdot(apart, apart)
    return found
