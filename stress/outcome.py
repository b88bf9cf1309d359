"""What came of one task, and what was found wrong with it."""

from dataclasses import dataclass
from typing import NamedTuple, final

__all__ = ["UNFINISHED", "Finding", "Outcome"]

UNFINISHED = frozenset({"ITERATION_LIMIT", "TIME_LIMIT", "STALLED", "STOPPED"})


class Finding(NamedTuple):
    """One thing that is wrong: its class, a key that equal findings share, and a sentence."""

    kind: str
    key: str
    words: str


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
