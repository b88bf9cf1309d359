"""The mean difference of paired draws, with Student's interval: mean +- t s / sqrt(n)."""

from collections.abc import Sequence
from statistics import mean, stdev
from typing import NamedTuple, final

from scipy.stats import t

__all__ = ["Difference"]

_SURE = 0.95


@final
class Difference(NamedTuple):
    """A mean over draws and its standard error; `margin` is half of the 95 % interval."""

    center: float
    error: float
    margin: float

    @classmethod
    def of(cls, draws: Sequence[float]) -> "Difference":
        n = len(draws)
        if n < 2:
            return cls(mean(draws), 0.0, 0.0)
        error = stdev(draws) / n**0.5
        return cls(mean(draws), error, float(t.ppf((1 + _SURE) / 2, n - 1)) * error)

    @property
    def is_above(self) -> bool:
        """Whether zero is below the interval."""
        return self.center > self.margin

    @property
    def is_below(self) -> bool:
        """Whether zero is above the interval."""
        return -self.center > self.margin
