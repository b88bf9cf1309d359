"""When two numbers agree, each with its standard deviation; and words for many numbers.

near:     |a - b| <= max(s_a, s_b)            as good:   a >= b - max(s_a, s_b)
alike:    1 / f <= a / b <= f                 doubt:     sqrt(sum p (1 - p) / n)
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, stdev
from typing import NamedTuple, final

__all__ = ["NEAR", "Spread", "alike", "doubt", "listed", "prose", "set_by_set", "span", "spread_of"]

NEAR = "within one standard deviation, theirs or ours"


@final
class Spread(NamedTuple):
    """A mean and a standard deviation."""

    center: float
    deviation: float

    def near(self, other: "Spread") -> bool:
        """Whether they differ by no more than the larger of their deviations."""
        return abs(self.center - other.center) <= max(self.deviation, other.deviation)

    def as_good(self, other: "Spread") -> bool:
        """Whether it is near the other or above it."""
        return self.center >= other.center or self.near(other)


def spread_of(numbers: Sequence[float]) -> Spread:
    """Of some draws; one draw has a deviation of zero."""
    return Spread(mean(numbers), stdev(numbers) if len(numbers) > 1 else 0.0)


def alike(ours: float, paper: float, factor: float = 2.0) -> bool:
    """Whether neither number is more than `factor` times the other."""
    return paper / factor <= ours <= paper * factor


def doubt(shares: Iterable[float], count: int) -> float:
    """The standard error of the difference of independent shares, each of `count`."""
    return float(sum(max(0.0, share * (1 - share)) for share in shares) / count) ** 0.5


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
    """Means of ours and of the paper by the name of the set, as `ours` and `paper` of a claim."""
    return {
        "ours": listed(f"{ours.center:.1f} ({name})" for name, (ours, _) in pairs.items()),
        "paper": listed(f"{paper.center} ({name})" for name, (_, paper) in pairs.items()),
    }


def prose(text: str) -> str:
    """Sentences written over several lines, in one."""
    return " ".join(text.split())
