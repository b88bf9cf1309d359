"""Whether LogDet and von Neumann perform alike: what the first is ahead by, on the same draws."""

from collections.abc import Mapping

from experiments.experiment import Claim
from experiments.intervals import Spread, listed

__all__ = ["alike_claim"]


def alike_claim(
    words: str, paper: str, ahead: Mapping[int, Spread], setting: str, also: str
) -> Claim:
    """`ahead` is what the NMI of LogDet is above that of von Neumann by, for each number of constraints."""
    above = [str(count) for count, spread in ahead.items() if spread.is_above_zero]
    below = [str(count) for count, spread in ahead.items() if spread.is_below_zero]
    most = max(ahead.values(), key=lambda spread: abs(spread.center))
    least = min(ahead.values(), key=lambda spread: abs(spread.center))
    return Claim(
        words=words,
        paper=paper,
        ours=f"{setting}, LogDet above von Neumann by {least.center:+.3f} ± {least.margin:.3f} where they "
        f"are nearest and {most.center:+.3f} ± {most.margin:.3f} where they are farthest, over the same draws",
        criterion="zero is within the 95 % interval of the draws, at every number of constraints",
        agrees=not above and not below,
        reason=f"On the same draws LogDet is ahead at {listed(above)}, and von Neumann at {listed(below)}. "
        f"{also}",
    )
