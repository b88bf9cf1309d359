"""The outcome of one task, and its findings."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, final

__all__ = ["UNFINISHED", "Finding", "Outcome", "drop_repeated"]

UNFINISHED = frozenset({"ITERATION_LIMIT", "TIME_LIMIT", "STALLED", "STOPPED"})


class Finding(NamedTuple):
    """One thing that is wrong: its class, a key that equal findings share, and a sentence."""

    kind: str
    key: str
    words: str


def drop_repeated(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The first finding of each key."""
    by_key: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        by_key.setdefault((finding.kind, finding.key), finding)
    return tuple(by_key.values())


@final
@dataclass(frozen=True)
class Outcome:
    """How a task ended.

    `ending` is "answered" with a status, "refused" with a sentence, "unfinished" where it was stopped from
    outside, or "broken".
    """

    ending: str
    status: str = ""
    solver: str = ""
    seconds: float = 0.0
    words: str = ""
    findings: tuple[Finding, ...] = ()
