"""What the routes do: questions and answers of the desk, what the process beside learned, files in and out.

Everything that comes from the page is looked at here: its fields are texts and numbers, and nothing else.
"""

from typing import Any, final

from gramlearn.app.studio.desk import (
    ClosedQuestionError,
    Desk,
    NoQuestionError,
    Question,
)
from gramlearn.app.studio.exchange import Exchange
from gramlearn.app.studio.items import Items
from gramlearn.app.studio.learning import Learning
from gramlearn.app.studio.store import Answer
from gramlearn.app.studio.whys import find_contradictory

_LONGEST_NAME = 80  # letters of a judge's name, and of a number of the page
_OF_A_PAGE = 50  # answers at a time
_LISTS = ("last", "contradictions", "suspects", "disagreements")

Content = dict[str, Any]


@final
class WrongRequestError(Exception):
    """What the page asked for cannot be done: the code of HTTP, and what it is told."""

    def __init__(self, code: int, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.code = code
        self.content: Content = {"error": sentence} | more


@final
class Studio:
    """Desk, items, learning and files of one store.

    Parameters
    ----------
    desk : Desk
    items : Items
    learning : Learning
    exchange : Exchange
    judge : str
        Who judges where the page names nobody.
    """

    def __init__(
        self, desk: Desk, items: Items, learning: Learning, exchange: Exchange, judge: str
    ) -> None:
        self.items = items
        self._desk = desk
        self._learning = learning
        self._exchange = exchange
        self._judge = judge

    # -- questions and answers ------------------------------------------------------------------------

    def next(self, given: Content) -> Content:
        """Another question."""
        return self._next(self._judge_of(given))

    def answer(self, given: Content) -> Content:
        """Keep an answer, and ask the next question."""
        judge = self._judge_of(given)
        event, question, answer = (_text(given, name) for name in ("event", "question", "answer"))
        try:
            seq = self._desk.answer(event, question, judge, answer, self._items_of(given))
        except ClosedQuestionError as error:
            raise WrongRequestError(409, str(error), next=self._next(judge)) from None
        self._learning.notice()
        return {"seq": seq, "next": self._next(judge)}

    def undo(self, given: Content) -> Content:
        """Take back the last answer of a judge, and ask again."""
        judge = self._judge_of(given)
        undone, question = self._desk.undo(_text(given, "event"), judge)
        self._learning.notice()
        return {
            "undone": None if undone is None else self._answer_shown(undone),
            "next": self._next(judge) if question is None else self._question_shown(question),
        }

    def change(self, given: Content) -> Content:
        """Answer again what was answered, or take it back where the answer is null."""
        seq = given.get("seq")
        if not isinstance(seq, int) or isinstance(seq, bool):
            raise WrongRequestError(400, "`seq` must be the number of an answer.")
        event = _text(given, "event")
        answer = None if given.get("answer") is None else _text(given, "answer")
        changed = self._desk.change(event, seq, self._judge_of(given), answer)
        self._learning.notice()
        return {"seq": changed}

    # -- what is known --------------------------------------------------------------------------------

    def state(self, given: Content) -> Content:
        """Counts, judges, scores, and what is to be said."""
        del given
        with self._desk.looking():
            asked = self._desk.asked
            agreement = asked.agreement
            counts: Content = {
                "kind": asked.kind,
                "n_points": len(self.items.rows),
                "n_answers": len(asked.answers),
                "n_unsure": asked.n_unsure,
                "n_random": asked.n_random,
                "judges": [
                    {"name": name, "n_answers": n} for name, n in sorted(asked.n_of_judge.items())
                ],
                "judge": self._judge,
            }
        learned = self._learning.learned
        problems = [*self.items.notes]
        if self._learning.problem is not None:
            problems.append(self._learning.problem)
        return counts | {
            "agreement_of_judges": {"rate": agreement.same / agreement.n, "n": agreement.n}
            if agreement.n
            else None,
            "learned": None if learned is None else learned.summary(),
            "problem": " ".join(problems) or None,
        }

    def map(self, given: Content) -> Content:
        """The points before and now."""
        del given
        learned = self._learning.learned
        if learned is None:
            return {"version": 0, "rows": [], "before": [], "now": [], "pairs": [], "suspects": []}
        return learned.map

    def item(self, given: dict[str, str]) -> Content:
        """One item, by the number of its point."""
        number = given.get("number", "")
        if not (number.isascii() and number.isdigit() and len(number) < 12):
            raise WrongRequestError(400, "`number` must be the number of a point.")
        if int(number) >= len(self.items.names):
            n = len(self.items.names)
            raise WrongRequestError(
                404, f"`number` is {number}; the points have the numbers 0 to {n - 1:,}."
            )
        return self.items.show(int(number))

    def answers(self, given: dict[str, str]) -> Content:
        """Answers to look at again, the last ones first."""
        which = given.get("which", "last")
        if which not in _LISTS:
            raise WrongRequestError(
                400, f"`which` is {which!r:.60}; it must be one of {', '.join(_LISTS)}."
            )
        after = given.get("after", "") or "0"
        if not (after.isascii() and after.isdigit() and len(after) < 16):
            raise WrongRequestError(400, "`after` must be the number of an answer.")
        found = self._listed(which)
        judge = given.get("judge")
        if judge:
            found = [(answer, why) for answer, why in found if answer.judge == judge]
        if int(after):
            places = [k for k, (answer, _) in enumerate(found) if answer.seq == int(after)]
            found = found[places[0] + 1 :] if places else []
        return {
            "answers": [
                self._answer_shown(answer) | {"why": why} for answer, why in found[:_OF_A_PAGE]
            ],
            "more": len(found) > _OF_A_PAGE,
        }

    # -- files ----------------------------------------------------------------------------------------

    def export(self, format: str) -> tuple[str, str, bytes]:
        """The kind of content, a name for the file, and its bytes."""
        with self._desk.looking():
            answers = list(self._desk.asked.answers.values())
        return self._exchange.write(answers, format)

    def import_file(self, name: str, data: bytes) -> Content:
        """Answers of a file are answers as if given here."""
        sentence, n_added = self._exchange.read(name, data)
        self._desk.follow()
        self._learning.notice()
        return {"read": sentence, "added": n_added}

    # -- inside ---------------------------------------------------------------------------------------

    def _next(self, judge: str) -> Content:
        try:
            return self._question_shown(self._desk.next(judge))
        except NoQuestionError as error:
            return {"none": str(error)}

    def _question_shown(self, question: Question) -> Content:
        return {
            "question": question.question,
            "kind": self._desk.kind,
            "number": self._desk.asked.n_of_judge.get(question.judge, 0) + 1,
            "items": [self.items.show(number) for number in question.items],
        }

    def _answer_shown(self, answer: Answer) -> Content:
        return {
            "seq": answer.seq,
            "at": answer.at,
            "judge": answer.judge,
            "kind": answer.kind,
            "items": [self.items.show(number) for number in answer.items],
            "answer": answer.answer,
        }

    def _listed(self, which: str) -> list[tuple[Answer, str | None]]:
        with self._desk.looking():
            asked = self._desk.asked
            if which == "disagreements":
                return [
                    (answer, "Judges say different things.") for answer in asked.disagreements()
                ]
            answers = dict(asked.answers)
        # No question waits for what follows.
        if which == "last":
            return [(answer, None) for answer in reversed(answers.values())]
        if which == "contradictions":
            return find_contradictory(asked.kind, answers.values(), len(self.items.names))
        learned = self._learning.learned
        suspects = [] if learned is None else learned.suspects
        return [
            (answers[seq], "The other answers speak against it.")
            for seq in suspects
            if seq in answers
        ]

    def _items_of(self, given: Content) -> list[int] | None:
        """What the page has shown, if that was a question of this kind."""
        items = given.get("items")
        if given.get("kind") != self._desk.kind or not isinstance(items, list):
            return None
        are_numbers = all(isinstance(k, int) and not isinstance(k, bool) for k in items)
        return items if are_numbers else None

    def _judge_of(self, given: Content) -> str:
        if given.get("judge") in (None, ""):
            return self._judge
        return _text(given, "judge")


def _text(given: Content, name: str) -> str:
    found = given.get(name)
    if not isinstance(found, str) or not found.strip() or len(found) > _LONGEST_NAME:
        raise WrongRequestError(
            400,
            f"`{name}` must be a text of 1 to {_LONGEST_NAME} letters in the body of the request.",
        )
    if not found.isprintable():
        raise WrongRequestError(400, f"`{name}` has signs that cannot be printed.")
    return found.strip()
