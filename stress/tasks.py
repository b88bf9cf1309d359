"""Streams of tasks, each task a function of (seed, index) alone.

A new stream is a row of `STREAMS`: how to draw task number `index`, how to try it, shrink it and print it.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from stress import calls, code, commands, problems, readers, shrink, trial
from stress.outcome import Outcome

__all__ = ["GROUPS", "STREAMS", "Stream", "Task"]


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
    """How tasks of a kind are drawn, tried, made smaller while they show a finding, and printed."""

    draw: Callable[[int, int], Any]
    attempt: Callable[[Any], Outcome]
    shrink: Callable[[Any, Callable[[Any], bool], float], Any]
    program: Callable[[Any, str], str]
    group: str  # what a run may be kept to, and what is counted together


def _problems(kind: str) -> Stream:
    def draw(seed: int, index: int) -> Any:
        return problems.draw(kind, seed, index)

    return Stream(draw, trial.ask, shrink.shrink, code.write_program, "problems")


STREAMS: Mapping[str, Stream] = {
    "mild": _problems("mild"),
    "wild": _problems("wild"),
    "estimators": Stream(calls.draw, calls.attempt, calls.shrink, calls.Call.program, "estimators"),
    "readers": Stream(
        readers.draw, readers.attempt, readers.shrink, readers.BadFile.program, "readers"
    ),
    "commands": Stream(
        commands.draw, commands.attempt, commands.shrink, commands.CommandLine.program, "commands"
    ),
}
GROUPS = tuple(dict.fromkeys(stream.group for stream in STREAMS.values()))
