"""What there is to try: streams of tasks, each a function of (seed, index) alone.

A new stream is a row of `STREAMS`: how to draw task number `index`, and how to try it.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from stress import calls, problems, trial
from stress.outcome import Outcome

__all__ = ["STREAMS", "Stream", "Task"]


class Task(NamedTuple):
    """Task number `index` of a stream."""

    stream: str
    seed: int
    index: int

    @property
    def id(self) -> str:
        """Such as wild-0-57."""
        return f"{self.stream}-{self.seed}-{self.index}"

    @classmethod
    def of(cls, text: str) -> "Task":
        """Read an id."""
        stream, seed, index = [*text.split("-"), "", ""][:3]
        if stream not in STREAMS or not (seed.isdigit() and index.isdigit()):
            raise ValueError(
                f"there is no task {text!r}; an id is STREAM-SEED-INDEX, such as wild-0-57, with one of "
                f"the streams {', '.join(STREAMS)}."
            )
        return cls(stream, int(seed), int(index))

    def draw(self) -> Any:
        """What is to be tried."""
        return STREAMS[self.stream].draw(self.seed, self.index)

    def attempt(self) -> dict[str, Any]:
        """Try it: a line of the store."""
        drawn = self.draw()
        outcome = STREAMS[self.stream].attempt(drawn)
        return self.line(outcome, drawn.labels)

    def line(self, outcome: Outcome, labels: list[str]) -> dict[str, Any]:
        """The outcome as plain data."""
        findings = [finding._asdict() for finding in outcome.findings]
        facts = {name: value for name, value in asdict(outcome).items() if name != "findings"}
        return {
            "id": self.id,
            "stream": self.stream,
            "labels": labels,
            **facts,
            "findings": findings,
        }


class Stream(NamedTuple):
    """How tasks of a kind are drawn and tried."""

    draw: Callable[[int, int], Any]
    attempt: Callable[[Any], Outcome]
    group: str  # "problems" or "estimators"


STREAMS: Mapping[str, Stream] = {
    "mild": Stream(lambda seed, index: problems.draw("mild", seed, index), trial.ask, "problems"),
    "wild": Stream(lambda seed, index: problems.draw("wild", seed, index), trial.ask, "problems"),
    "estimators": Stream(calls.draw, calls.attempt, "estimators"),
}
