"""What has been asked, of whom, and what was answered: by question, whatever the order of its items.

A question is known by its kind and items: a pair and an odd one out in any order, a triplet by its first item
and the other two in any order. Two answers agree where they say the same of the same items.
"""

from collections.abc import Iterable
from itertools import takewhile
from math import comb
from typing import Any, NamedTuple, final

from gramlearn.app.studio.store import Answer

UNSURE = "unsure"
_PLACES = {"first": 0, "second": 1, "third": 2}
WIDTH = {"pair": 2, "triplet": 3, "odd": 3}

Key = tuple[int, ...]


def key_of(kind: str, items: Iterable[int]) -> Key:
    """The items, in the one order of all that make the same question."""
    first, *others = items
    return (first, *sorted(others)) if kind == "triplet" else tuple(sorted([first, *others]))


def n_questions(kind: str, n: int) -> int:
    """How many questions there are about n points."""
    return n * comb(n - 1, 2) if kind == "triplet" else comb(n, WIDTH[kind])


def said(answer: Answer) -> Any:
    """What an answer says of the items, whatever their order."""
    if answer.answer in _PLACES:
        return answer.items[_PLACES[answer.answer]]
    return answer.answer


class Agreement(NamedTuple):
    """How often two judges said the same of a question, of so many times that two did."""

    same: int
    n: int


@final
class Asked:
    """The answers of one kind that stand, kept up as they come and go."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.answers: dict[int, Answer] = {}
        self.by_key: dict[Key, dict[int, Answer]] = {}
        self.by_question: dict[str, Answer] = {}
        self.n_of_judge: dict[str, int] = {}
        self.n_unsure = self.n_random = 0
        self._same = self._both = 0
        self._n_standing, self._last = 0, -1  # of all kinds

    def follow(self, standing: list[Answer]) -> tuple[list[Answer], list[Answer]]:
        """Take over what stands now; what has come and what has gone since the last time.

        Numbers grow, so one answer more costs the same however many there are; one less costs a look at all.
        """
        come = list(takewhile(lambda answer: answer.seq > self._last, reversed(standing)))[::-1]
        gone = []
        if len(standing) - len(come) < self._n_standing:
            left = {answer.seq for answer in standing}
            gone = [answer for seq, answer in self.answers.items() if seq not in left]
        self._n_standing = len(standing)
        self._last = come[-1].seq if come else self._last
        come = [answer for answer in come if answer.kind == self.kind]
        for answer in gone:
            del self.answers[answer.seq]
            self._count(answer, -1)
        for answer in come:
            self.answers[answer.seq] = answer
            self._count(answer, 1)
        return come, gone

    def judges_of(self, key: Key) -> set[str]:
        """Who has answered a question."""
        return {answer.judge for answer in self.by_key.get(key, {}).values()}

    @property
    def agreement(self) -> Agreement:
        """Between judges, over all questions that two or more have answered."""
        return Agreement(self._same, self._both)

    def disagreements(self) -> list[Answer]:
        """The answers to questions of which two judges say different things."""
        return [
            answer
            for answers in self.by_key.values()
            if len(answers) > 1
            and _agreement(answers.values())[0] < _agreement(answers.values())[1]
            for answer in answers.values()
        ]

    def _count(self, answer: Answer, sign: int) -> None:
        key = key_of(answer.kind, answer.items)
        answers = self.by_key.setdefault(key, {})
        before = _agreement(answers.values())
        if sign > 0:
            answers[answer.seq] = answer
            self.by_question[answer.question] = answer
        else:
            del answers[answer.seq]
            if self.by_question.get(answer.question) == answer:
                del self.by_question[answer.question]
        after = _agreement(answers.values())
        self._same += after[0] - before[0]
        self._both += after[1] - before[1]
        if not answers:
            del self.by_key[key]
        self.n_unsure += sign * (answer.answer == UNSURE)
        self.n_random += sign * answer.random
        self.n_of_judge[answer.judge] = self.n_of_judge.get(answer.judge, 0) + sign
        if not self.n_of_judge[answer.judge]:
            del self.n_of_judge[answer.judge]


def _agreement(answers: Iterable[Answer]) -> Agreement:
    """Over pairs of answers of different judges that are sure."""
    sure = [answer for answer in answers if answer.answer != UNSURE]
    same = both = 0
    for k, one in enumerate(sure):
        for other in sure[:k]:
            if one.judge != other.judge:
                both += 1
                same += said(one) == said(other)
    return Agreement(same, both)
