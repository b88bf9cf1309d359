"""When two numbers agree, each a mean of draws with their standard deviation; and formatting of many numbers.

error:    e = s / sqrt(n)                    margin:      t_0.975 e, Student's with n - 1 degrees of freedom
above:    a - b, e^2 = e_a^2 + e_b^2, and Welch's e^4 / (e_a^4 / (n_a - 1) + e_b^4 / (n_b - 1)) of them
alike:    1 / f <= a / b <= f                near:        |a - b| <= margin of a - b
mcnemar:  s^2 = (m + s - (m - s)^2 / n) / n  reaches:     a - b >= -margin
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf
from statistics import mean, stdev
from typing import final

from scipy.stats import t

ANOTHER_MACHINE = "Seconds of another machine."
ANOTHER_METHOD = "Iterations of another method."
NEAR = "the 95 % interval of the difference has zero in it"
REACHES = "the 95 % interval of the difference is not below zero"


@final
@dataclass(frozen=True)
class Spread:
    """A mean, the standard deviation of the draws, and how many there were, or are as good as."""

    center: float
    deviation: float
    count: float = 1

    def __iter__(self) -> Iterator[float]:
        """Center and deviation: what a table shows, and a bar of errors."""
        return iter((self.center, self.deviation))

    def __format__(self, form: str) -> str:
        """0.50 ± 0.03; of a form such as +.2f the deviation has no sign."""
        return f"{self.center:{form}} ± {self.deviation:{form.lstrip('+')}}"

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / self.count**0.5

    @property
    def margin(self) -> float:
        """Half of Student's 95 % interval of the mean; one draw says nothing."""
        return float(t.ppf(0.975, self.count - 1)) * self.error if self.count > 1 else inf

    @property
    def interval(self) -> "Spread":
        """The mean ± its margin, to be shown."""
        return Spread(self.center, self.margin)

    @property
    def is_above_zero(self) -> bool:
        """Whether the interval is."""
        return self.center > self.margin

    @property
    def is_below_zero(self) -> bool:
        """Whether the interval is."""
        return -self.center > self.margin

    def above(self, other: "Spread") -> "Spread":
        """How much it is above the other, drawn on its own; as good as so many draws as Welch says."""
        error, count = hypot(self.error, other.error), min(self.count, other.count)
        if error and count > 1:
            count = 1 + error**4 / sum(s.error**4 / (s.count - 1) for s in (self, other))
        return Spread(self.center - other.center, error * count**0.5, count)

    def near(self, other: "Spread") -> bool:
        """Whether the interval of the difference has zero in it."""
        difference = self.above(other)
        return not (difference.is_above_zero or difference.is_below_zero)

    def reaches(self, other: "Spread") -> bool:
        """Whether it is near the other or above it."""
        return not self.above(other).is_below_zero


def measure_spread(numbers: Sequence[float]) -> Spread:
    """Of some draws; one draw has a deviation of zero."""
    deviation = stdev(numbers) if len(numbers) > 1 else 0.0
    return Spread(mean(numbers), deviation, len(numbers))


def compare_pairwise(ours: Sequence[float], others: Sequence[float]) -> Spread:
    """What the first are above the others by, draw by draw."""
    return measure_spread([a - b for a, b in zip(ours, others, strict=True)])


def are_alike(ours: float, paper: float, factor: float = 2.0) -> bool:
    """Whether neither number is more than `factor` times the other."""
    return paper / factor <= ours <= paper * factor


def mcnemar_gain(mended: float, spoiled: float, n: int) -> Spread:
    """The gain, as a share of n answers of which some were mended and some spoiled: 1, -1 or 0 each."""
    variance = (mended + spoiled - (mended - spoiled) ** 2 / n) / n
    return Spread((mended - spoiled) / n, max(variance, 0.0) ** 0.5, n)


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


def compare_by_set(pairs: Mapping[str, tuple[Spread, Spread]]) -> dict[str, str]:
    """Ours and the paper's with their deviations, set by set, as `ours` and `paper` of a claim."""
    return {
        "ours": listed(f"{ours:.1f} ({name})" for name, (ours, _) in pairs.items()),
        "paper": listed(f"{paper} ({name})" for name, (_, paper) in pairs.items()),
    }


def prose(text: str) -> str:
    """Sentences written over several lines, in one."""
    return " ".join(text.split())
