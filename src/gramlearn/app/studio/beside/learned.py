"""What the process beside has found out, as it comes to the server."""

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

_DIGITS = 4  # of coordinates


@final
class Score(NamedTuple):
    """After n answers: the shares of n_random ones foretold, and the standard error of the learned one."""

    n: int
    n_random: int
    learned: float
    plain: float
    error: float


@final
@dataclass(frozen=True, eq=False)
class Map:
    """Rows of points, where they are before and now, and lines (place, place, near or far) between them."""

    rows: np.ndarray
    before: np.ndarray
    now: np.ndarray
    lines: np.ndarray

    def content(self) -> dict[str, Any]:
        """As the page takes it."""
        return {
            "rows": self.rows.tolist(),
            "before": np.round(self.before, _DIGITS).tolist(),
            "now": np.round(self.now, _DIGITS).tolist(),
            "pairs": self.lines.tolist(),
        }


@final
@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, for the page.

    Attributes
    ----------
    verdict : str
    advice : str or None
    scores : list of Score
    n_from : int
        How many answers it was learned from.
    seconds : float
        Of the last fit.
    points : Map
    suspects : list of int
        The numbers of answers, the most suspicious first.
    version : int
        Counted by the server.
    """

    verdict: str
    advice: str | None
    scores: list[Score]
    n_from: int
    seconds: float
    points: Map
    suspects: list[int]
    version: int = 0

    def summary(self) -> dict[str, Any]:
        """What a page that looks again and again is told."""
        return {
            "verdict": self.verdict,
            "advice": self.advice,
            "map_version": self.version,
            "scores": [score._asdict() for score in self.scores],
            "from": self.n_from,
            "seconds": self.seconds,
        }

    @property
    def map(self) -> dict[str, Any]:
        """What a page draws."""
        return {"version": self.version, "suspects": self.suspects, **self.points.content()}
