"""When two numbers agree, each a mean of draws with their standard deviation; and words for many numbers.

error:    s / sqrt(n)                  margin:      t_0.975 s / sqrt(n)
                                       near:        |a - b| <= 2 sqrt(s_a^2 / n_a + s_b^2 / n_b)
alike:    1 / f <= a / b <= f          reaches:     a >= b - 2 sqrt(s_a^2 / n_a + s_b^2 / n_b)
mcnemar:  sqrt(m + s - (m - s)^2 / n)  comparable:  |a - b| <= max(s_a, s_b)
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf
from statistics import mean, stdev
from typing import final

from scipy.stats import norm, t

__all__ = [
    "NEAR",
    "REACHES",
    "Spread",
    "alike",
    "listed",
    "mcnemar",
    "prose",
    "set_by_set",
    "span",
    "spread_of",
]

NEAR = "within two standard errors of the difference"
REACHES = "not below by more than two standard errors of the difference"


@final
@dataclass(frozen=True)
class Spread:
    """A mean, the standard deviation of the draws, and how many there were.

    One draw of a mean whose standard error is known has that error for its deviation.
    """

    center: float
    deviation: float
    count: int = 1

    def __iter__(self) -> Iterator[float]:
        """Center and deviation: what a table shows, and a bar of errors."""
        return iter((self.center, self.deviation))

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / self.count**0.5

    @property
    def margin(self) -> float:
        """Half of Student's 95 % interval of the mean; one draw of unknown error says nothing."""
        if self.count > 1:
            return float(t.ppf(0.975, self.count - 1)) * self.error
        return float(norm.ppf(0.975)) * self.deviation if self.deviation else inf

    @property
    def is_above_zero(self) -> bool:
        """Whether the interval is."""
        return self.center > self.margin

    @property
    def is_below_zero(self) -> bool:
        """Whether the interval is."""
        return -self.center > self.margin

    def above(self, other: "Spread") -> "Spread":
        """How much it is above the other, drawn on its own, with the standard error of that."""
        return Spread(self.center - other.center, hypot(self.error, other.error))

    def near(self, other: "Spread") -> bool:
        """Whether they differ by no more than two standard errors of the difference."""
        difference = self.above(other)
        return abs(difference.center) <= 2 * difference.error

    def reaches(self, other: "Spread") -> bool:
        """Whether it is near the other or above it."""
        return self.center >= other.center or self.near(other)

    def comparable(self, other: "Spread") -> bool:
        """Whether they differ by no more than one draw does from another: a question of size, not of proof."""
        return abs(self.center - other.center) <= max(self.deviation, other.deviation)


def spread_of(numbers: Sequence[float]) -> Spread:
    """Of some draws; one draw has a deviation of zero."""
    deviation = stdev(numbers) if len(numbers) > 1 else 0.0
    return Spread(mean(numbers), deviation, len(numbers))


def alike(ours: float, paper: float, factor: float = 2.0) -> bool:
    """Whether neither number is more than `factor` times the other."""
    return paper / factor <= ours <= paper * factor


def mcnemar(mended: float, spoiled: float, n: int) -> Spread:
    """The gain, as a share of n answers of which some were mended and some spoiled, and its standard error."""
    variance = mended + spoiled - (mended - spoiled) ** 2 / n
    return Spread((mended - spoiled) / n, max(variance, 0.0) ** 0.5 / n)


def span(numbers: Iterable[float], form: str) -> str:
    """The least and the greatest: "0.8 to 2.0"."""
    found = list(numbers)
    least, greatest = format(min(found), form), format(max(found), form)
    return least if least == greatest else f"{least} to {greatest}"


def listed(words: Iterable[str]) -> str:
    """Words in a row: "iris, protein and wine", "none"."""
    found = list(words)
    if len(found) < 2:
        return found[0] if found else "none"
    return f"{', '.join(found[:-1])} and {found[-1]}"


def set_by_set(pairs: Mapping[str, tuple[Spread, Spread]]) -> dict[str, str]:
    """Ours and the paper's with their deviations, set by set, as `ours` and `paper` of a claim."""
    return {
        "ours": listed(
            f"{ours.center:.1f} ± {ours.deviation:.1f} ({name})"
            for name, (ours, _) in pairs.items()
        ),
        "paper": listed(
            f"{paper.center} ± {paper.deviation} ({name})" for name, (_, paper) in pairs.items()
        ),
    }


def prose(text: str) -> str:
    """Sentences written over several lines, in one."""
    return " ".join(text.split())
