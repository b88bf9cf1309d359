"""Which question next: one that was begun, a random one by a coin of 0.15, or the first of the queue.

Nothing is worked out here, so that a question is there at once: the queue comes from the process beside, and
where it is empty, questions are drawn at random. A question that was handed out is another page's for some
minutes. Random questions are drawn evenly from all that were not asked, and never learned from.
"""

import random
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from threading import RLock
from typing import Any, final
from uuid import uuid4

import numpy as np

from gramlearn.app.studio.asked import WIDTH, Asked, Key, key_of, n_questions
from gramlearn.app.studio.store import Answer, Store

SHARE_RANDOM = 0.15
SECONDS_HELD = 180.0  # how long a question that was handed out waits for its answer
_MOST_HANDED = 10_000  # questions remembered for their answers
_TRIES = 300  # of drawing a question that was not asked, before all are gone through
_ALL = 100_000  # questions that may be gone through


@final
@dataclass(frozen=True)
class Question:
    """A question as it was handed out: its items in the order in which they are shown."""

    question: str
    items: tuple[int, ...]
    key: Key
    random: bool
    judge: str


class NoQuestionError(Exception):
    """There is none, and why, in a sentence."""


class ClosedQuestionError(Exception):
    """An answer to what was never asked, too long ago, or answered by others since."""


@final
class Desk:
    """Hands out questions, and takes answers.

    Parameters
    ----------
    store : Store
    kind : {"pair", "triplet", "odd"}
    rows : vector of int
        The points that can be asked about.
    repeats : int
        How many judges answer the same question.
    seed : int, optional
        Of what is drawn at random; without it nobody can tell.
    clock : function, optional
        Seconds, ever growing.
    """

    def __init__(
        self,
        store: Store,
        kind: str,
        rows: np.ndarray,
        repeats: int = 1,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.kind = kind
        self.repeats = repeats
        self._store = store
        self._rows = [int(row) for row in rows]
        self._may_be_asked = frozenset(self._rows)
        self._rng = random.Random(secrets.randbits(64) if seed is None else seed)
        self._clock = clock
        self._lock = RLock()
        # Held while an answer goes to the disk, when questions are handed out still.
        self._writing = RLock()
        self._asked = Asked(kind)
        self._queue: deque[Key] = deque()
        self._held: dict[Key, dict[str, float]] = {}  # which question is out, and until when
        self._handed: dict[str, Question] = {}
        self._begun: dict[Key, bool] = {}  # wanting further judges; whether they are random ones
        self._waiting: dict[str, deque[Key]] = {}  # of those, what each judge has not answered
        self._follow()

    # -- questions ------------------------------------------------------------------------------------

    def next(self, judge: str) -> Question:
        """Another question for a judge; NoQuestionError where there is none."""
        with self._lock:
            key, is_random = self._choose(judge)
            return self._hand_out(key, self._shuffled(key), is_random, judge)

    def put(self, queue: Iterable[Iterable[int]]) -> None:
        """The questions to ask from now on, in this order."""
        with self._lock:
            self._queue = deque(key_of(self.kind, row) for row in queue)

    @property
    def n_queued(self) -> int:
        """How many questions wait."""
        return len(self._queue)

    # -- answers --------------------------------------------------------------------------------------

    def answer(
        self, event: str, question: str, judge: str, answer: str, items: Iterable[int] | None = None
    ) -> int:
        """Keep an answer; the number of the event. The same again is the same event.

        With the items, as they were shown, also where the studio was started again since the question was
        handed out. ValueError where it is no answer to such a question, ClosedQuestionError where that is not
        known, or has all its answers: it was another page's after its time was up.
        """
        with self._writing:
            with self._lock:
                known = self._asked.by_question.get(question)
                if known is not None and known.judge == judge:
                    return known.seq  # sent again, perhaps after the server was started again
                asked = self._handed.get(question) or self._take_up(question, judge, items)
                if not self._is_wanted(asked.key, judge):
                    raise ClosedQuestionError(
                        "This question was answered on another page meanwhile; here is another."
                    )
            seq = self._store.answer(
                event, question, judge, self.kind, asked.items, answer, asked.random
            )
            with self._lock:
                self._release(asked)
                self._follow()
            return seq

    def undo(self, event: str, judge: str) -> tuple[Answer | None, Question | None]:
        """Take back the last answer of a judge: that, and its question, to be asked again."""
        undone = self._store.undo(event, judge)
        with self._lock:
            self._follow()
            if undone is None or undone.kind != self.kind:
                return undone, None
            key = key_of(self.kind, undone.items)
            return undone, self._hand_out(key, undone.items, undone.random, judge)

    def change(self, event: str, seq: int, judge: str, answer: str | None) -> int:
        """Answer again what was answered, or with None take it back; its number now.

        ValueError where that answer does not stand.
        """
        known = self._store.seq_of(event)
        if known is not None:  # sent again
            return seq if answer is None else known
        with self._lock:
            old = self._asked.answers.get(seq)
        if old is None:
            raise ValueError(
                f"`seq` is {seq}, which is no answer that stands: it was taken back or replaced; look at the "
                "answers again."
            )
        if answer is None:
            self._store.undo(event, judge, of=seq)
            self.follow()
            return seq
        changed = self._store.answer(
            event, old.question, judge, old.kind, old.items, answer, old.random, of=seq
        )
        self.follow()
        return changed

    def follow(self) -> None:
        """Take over what stands in the store, where others wrote to it."""
        with self._lock:
            self._follow()

    @property
    def asked(self) -> Asked:
        """What was asked and answered; look at it `with desk.looking()`."""
        return self._asked

    def looking(self) -> Any:
        """A context in which nothing changes."""
        return self._lock

    # -- inside ---------------------------------------------------------------------------------------

    def _follow(self) -> None:
        come, gone = self._asked.follow(self._store.answers())
        if self.repeats == 1:
            return
        for answer in (*come, *gone):
            key = key_of(self.kind, answer.items)
            n_judges = len(self._asked.judges_of(key))
            if not 0 < n_judges < self.repeats:
                self._begun.pop(key, None)
                continue
            self._begun[key] = answer.random
            for waiting in self._waiting.values():
                waiting.append(key)

    def _choose(self, judge: str) -> tuple[Key, bool]:
        width = WIDTH[self.kind]
        if len(self._rows) < width:
            raise NoQuestionError(
                f"A question needs {width} points that can be shown, and there are {len(self._rows)}; start "
                "the studio with more points."
            )
        begun = self._next_begun(judge)
        if begun is not None:
            return begun, self._begun[begun]
        is_random = self._rng.random() < SHARE_RANDOM
        while self._queue and not is_random:
            key = self._queue.popleft()
            if self._is_free(key, judge) and not self._asked.by_key.get(key):
                return key, False
        return self._draw(judge), is_random

    def _next_begun(self, judge: str) -> Key | None:
        """A question that other judges have answered, and that wants this one, too."""
        waiting = self._waiting.setdefault(judge, deque(self._begun))
        for _ in range(len(waiting)):
            key = waiting.popleft()
            if key not in self._begun or judge in self._asked.judges_of(key):
                continue
            waiting.append(key)  # until it is answered
            if self._is_free(key, judge):
                return key
        return None

    def _draw(self, judge: str) -> Key:
        """A question that was not asked, each as likely as any other."""
        width = WIDTH[self.kind]
        for _ in range(_TRIES):
            key = key_of(self.kind, self._rng.sample(self._rows, width))
            if self._is_new(key, judge):
                return key
        n_all = n_questions(self.kind, len(self._rows))
        left = [key for key in self._all() if self._is_new(key, judge)] if n_all <= _ALL else []
        if left:
            return self._rng.choice(left)
        if len(self._asked.by_key) < n_all:
            raise NoQuestionError(
                "All questions that are left are on other pages or wait for other judges; they come back "
                f"after {SECONDS_HELD / 60:.0f} minutes without an answer."
            )
        raise NoQuestionError(
            f"There are no more questions: all {n_all:,} about these {len(self._rows):,} points have been "
            "answered. The answers can be looked at, changed and exported."
        )

    def _all(self) -> Iterator[Key]:
        if self.kind != "triplet":
            yield from combinations(sorted(self._rows), WIDTH[self.kind])
            return
        for first in self._rows:
            for others in combinations(sorted(self._rows), 2):
                if first not in others:
                    yield (first, *others)

    def _is_new(self, key: Key, judge: str) -> bool:
        return key not in self._asked.by_key and self._is_free(key, judge)

    def _is_wanted(self, key: Key, judge: str) -> bool:
        """Whether the judge has not answered it, and other judges are not all that were asked for."""
        judges = self._asked.judges_of(key)
        return judge not in judges and len(judges) < self.repeats

    def _is_free(self, key: Key, judge: str) -> bool:
        """Whether it is wanted, and not on as many pages already as it has judges to come."""
        held = self._held_now(key)
        if judge in held or not self._is_wanted(key, judge):
            return False
        return len(self._asked.judges_of(key)) + len(held) < self.repeats

    def _held_now(self, key: Key) -> dict[str, float]:
        held = self._held.get(key)
        if held is None:
            return {}
        now = self._clock()
        held = {judge: until for judge, until in held.items() if until > now}
        if held:
            self._held[key] = held
        else:
            del self._held[key]
        return held

    def _hand_out(self, key: Key, items: tuple[int, ...], is_random: bool, judge: str) -> Question:
        question = Question(str(uuid4()), items, key, is_random, judge)
        self._held.setdefault(key, {})[judge] = self._clock() + SECONDS_HELD
        self._handed[question.question] = question
        if len(self._handed) > _MOST_HANDED:
            del self._handed[next(iter(self._handed))]
        return question

    def _take_up(self, question: str, judge: str, items: Iterable[int] | None) -> Question:
        """A question of before, if it may still be answered; random where another judge's answer was."""
        shown = tuple(items or ())
        if len(set(shown)) == len(shown) == WIDTH[self.kind] and self._may_be_asked.issuperset(
            shown
        ):
            key = key_of(self.kind, shown)
            if self._is_free(key, judge):
                return Question(question, shown, key, self._begun.get(key, False), judge)
        raise ClosedQuestionError(
            "This question was asked too long ago, or before the studio was started; here is another."
        )

    def _release(self, asked: Question) -> None:
        held = self._held.get(asked.key)
        if held is not None:
            held.pop(asked.judge, None)
            if not held:
                del self._held[asked.key]

    def _shuffled(self, key: Key) -> tuple[int, ...]:
        """The items in an order that says nothing."""
        first, *others = key
        if self.kind == "triplet":
            self._rng.shuffle(others)
            return (first, *others)
        items = [first, *others]
        self._rng.shuffle(items)
        return tuple(items)
