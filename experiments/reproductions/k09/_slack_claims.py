"""What came out with slack, by divergence and number of constraints, and what K09 says of both sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any, final

from experiments.experiment import Claim, Result
from experiments.intervals import Spread, listed, spread_of
from experiments.reproductions.k09._running import draws_of, steps_taken

__all__ = ["NAMES", "TIMED", "Found", "improvement_claim", "time_claim"]

TIMED = 3  # of the draws, which come first
NAMES = {"logdet": "LogDet", "von_neumann": "von Neumann"}


@final
@dataclass(frozen=True)
class Found:
    """What came out, by the number of constraints; `variants` by the name of the variant, too."""

    draws: Mapping[int, list[Any]]
    variants: Mapping[str, Mapping[int, list[Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Sequence[Result]) -> "Found":
        """Of results, those of variants by themselves."""
        by_variant: dict[str, list[Result]] = {}
        for result in results:
            by_variant.setdefault(result.parameters.get("variant", ""), []).append(result)
        own = draws_of(by_variant.pop("", []))
        return cls(own, {name: draws_of(found) for name, found in by_variant.items()})

    def variant(self, name: str) -> "Found":
        """What came out of a variant."""
        return Found(self.variants[name])

    @property
    def counts(self) -> list[int]:
        """The numbers of constraints, but for none."""
        return [count for count in self.draws if count]

    def nmi(self, name: str, count: int) -> Spread:
        """Mean and deviation of the clusters' score, under the kernel where projections stop."""
        return spread_of([draw[name]["nmi_stopped"] for draw in self.draws[count]])

    def gain(self, name: str, count: int) -> Spread:
        """What the mean score is above that without constraints."""
        return self.nmi(name, count).above(self.nmi(name, 0))

    def ahead(self, count: int) -> Spread:
        """What the score of LogDet is above that of von Neumann by, on the same draws."""
        scores = [[draw[name]["nmi_stopped"] for name in NAMES] for draw in self.draws[count]]
        return spread_of([logdet - von_neumann for logdet, von_neumann in scores])

    def cycles(self, name: str, count: int) -> float:
        """The mean over the draws that came to an end, or over all where none did."""
        answers = [draw[name]["projections"] for draw in self.draws[count]]
        return mean(steps_taken(answers) or [answer["cycles"] for answer in answers])

    def unfinished(self, solver: str) -> int:
        """How many solves, of all draws, did not come to an end."""
        answers = [d[name][solver] for ds in self.draws.values() for d in ds for name in NAMES]
        return len(answers) - len(steps_taken(answers))

    def seconds(self, name: str, count: int) -> float:
        """The median over the draws that had nothing beside them, the first of which compiles."""
        return median(draw[name]["projections"]["seconds"] for draw in self.draws[count][:TIMED])

    def ratio(self, count: int) -> float:
        """How many times the cycles of von Neumann LogDet takes."""
        return self.cycles("logdet", count) / self.cycles("von_neumann", count)


def improvement_claim(found: Found, reason: str = "") -> Claim:
    """K09 of both sets, and both divergences."""
    most = max(found.counts)
    gains = {name: found.gain(name, most) for name in NAMES}
    return Claim(
        words="both divergences improve the clusters",
        paper="in words: 'similar improvements in clustering accuracy'",
        ours=listed(
            f"NMI from {found.nmi(name, 0).center:.3f} to {found.nmi(name, most).center:.3f} with {most} "
            f"constraints, by {gain.center:+.3f} ± {gain.margin:.3f} ({NAMES[name]})"
            for name, gain in gains.items()
        ),
        criterion="the 95 % interval of the gain is above zero, with both",
        agrees=all(gain.is_above_zero for gain in gains.values()),
        reason=reason,
    )


def time_claim(found: Found) -> Claim:
    """K09 of both sets: the time in all is often lower, for a cycle is cheaper."""
    counts, most = found.counts, max(found.counts)
    lower = [c for c in counts if found.seconds("logdet", c) < found.seconds("von_neumann", c)]
    each = {name: found.seconds(name, most) / found.cycles(name, most) for name in NAMES}
    return Claim(
        words="LogDet takes less time in all than von Neumann, though more cycles",
        paper="in words: 'the overall running time is often lower'",
        ours=f"less with {listed(map(str, lower))} constraints; with {most}, "
        + listed(f"{found.seconds(name, most):.2g} s for {NAMES[name]}" for name in NAMES),
        criterion="the median is lower at more than half of the numbers of constraints",
        agrees=2 * len(lower) > len(counts),
        reason=f"With {most} constraints a cycle takes "
        + listed(f"{1000 * seconds:.2g} ms for {NAMES[name]}" for name, seconds in each.items())
        + f", and LogDet takes {found.ratio(most):.1f} times as many; with {min(counts)} "
        f"constraints it takes {found.ratio(min(counts)):.0f} times as many.",
    )
