"""f(x + s d) >= f(x) + c s f'(x) d: how far to go along a direction in which f rises (Armijo).

Where rounding hides the rise, a smaller duality gap decides. Where the slope at the end of a step is known, a
step is also refused if f falls more steeply there than it rose at the start, since the way back is slow on an
exponential, and prolonged if f still rises nearly as steeply.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

INF = float("inf")
_SUFFICIENT = 1e-4  # share of the promised rise that a step must deliver (c1 of Nocedal and Wright)
_STEEP = 0.3  # a slope at the end of a step of this share of the first one: the step was too short
_PROLONGATIONS = 15


class Step(NamedTuple):
    """Where a step of some size leads.

    `point` has the gap there, and is None outside the domain. `promise` is the rise to first order, `slope` the
    same of a second such step, or None where only the rise counts; `is_whole`: the box cut nothing off.
    """

    point: Any
    rise: float
    promise: float
    slope: float | None = None
    is_whole: bool = True


def line_search(
    take: Callable[[float], Step | None],
    start: Any,
    noise: float,
    *,
    tries: int,
    shrink: float = 0.5,
) -> Any:
    """Give the point of the first step that is good enough, or None; the first size is 1.

    Parameters
    ----------
    take : function of a size
        Takes a step of this size, or gives None where it promises no rise.
    start : a point
        That of size 0. Its gap is asked for where rounding hides a rise.
    noise : float
        The rounding error of the values.
    tries : int
        The largest number of sizes to try.
    shrink : float
        The factor for a step that leaves the domain, or rises too little where no slope is known.
    """
    size, too_long, best = 1.0, INF, None
    for _ in range(tries):
        step = take(size)
        if step is None:
            size /= 2
            continue
        if step.point is None:
            too_long, size = size, size * shrink
            continue
        if step.promise <= noise:
            if step.rise > (0.0 if step.promise > 0 else noise) or (
                step.rise >= -noise and step.point.gap < start.gap
            ):
                return step.point
            size /= 2
            continue
        slope = step.slope
        if step.rise >= _SUFFICIENT * step.promise:
            best = step if best is None or step.rise > best.rise else best
            if slope is not None and slope > _STEEP * step.promise and step.is_whole:
                return _prolong(take, best, size, too_long).point
            if slope is None or slope >= -step.promise:
                return best.point
        elif best is not None:
            return best.point
        too_long = size
        if slope is None:
            size *= shrink
        else:
            # The secant of the slope, kept within bounds, points to the maximum along the line.
            size *= min(max(step.promise / (step.promise - min(slope, 0.0)), 0.1), 0.5)
    return None if best is None else best.point


def _prolong(
    take: Callable[[float], Step | None], best: Step, size: float, too_long: float
) -> Step:
    """Go on while f rises nearly as steeply as at first: twice as far, or half way (in logs) to a refused size.

    On an exponential, and where X is flat, a Newton step may be too short by any factor.
    """
    for _ in range(_PROLONGATIONS):
        longer = 2 * size if too_long == INF else (size * too_long) ** 0.5
        if not longer > 1.1 * size:
            break
        step = take(longer)
        if step is None or step.point is None or not step.rise > best.rise:
            too_long = longer
            continue
        size, best = longer, step
        if step.slope is None or not step.slope > _STEEP * step.promise:
            break
    return best
