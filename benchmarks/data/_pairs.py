"""Pairs from classes, and bounds from percentiles, without a loop over either.

With the points sorted by class, the partners of a point are one interval of places (alike), or all
places but one interval (unlike): a partner is one random number, shifted past what is left out.
"""

from typing import Any

from benchmarks.data._draw import Draw

__all__ = ["draw_pairs", "find_bounds"]

_SAMPLE = 100_000  # pairs whose squared distances give the percentiles


def draw_pairs(y: Any, alike: int, total: int, draw: Draw) -> tuple[Any, Any]:
    """(i, j): the first `alike` pairs of one class, the others of two classes; never i = j."""
    xp = draw.xp
    n = int(y.shape[0])
    order = xp.argsort(y, stable=True)
    ordered = y[order]
    first = xp.searchsorted(ordered, ordered, side="left")  # of the class of each place
    size = xp.searchsorted(ordered, ordered, side="right") - first
    sociable = xp.nonzero(size > 1)[0]
    if sociable.shape[0] == 0 or bool(xp.max(size) == n):
        raise ValueError(
            f"{n} points were drawn, and pairs need two classes, one of them with two points; "
            "take more points."
        )
    place = sociable[draw.below(int(sociable.shape[0]), alike)]
    other = first[place] + draw.below(size[place] - 1, alike)
    other = other + (other >= place)
    stranger = draw.below(n, total - alike)
    away = draw.below(n - size[stranger], total - alike)
    away = xp.where(away >= first[stranger], away + size[stranger], away)
    i = order[xp.concat([place, stranger])]
    j = order[xp.concat([other, away])]
    return i, j


def find_bounds(points: Any, draw: Draw) -> tuple[float, float]:
    """(upper, lower): the 5th and 95th percentile of squared distances of random pairs."""
    xp = draw.xp
    n = int(points.shape[0])
    a = draw.below(n, _SAMPLE)
    b = (a + 1 + draw.below(n - 1, _SAMPLE)) % n
    parts = []
    for start in range(0, _SAMPLE, _SAMPLE // 10):
        rows = slice(start, start + _SAMPLE // 10)
        z = points[a[rows]] - points[b[rows]]
        parts.append(xp.vecdot(z, z))
    squared = xp.sort(xp.concat(parts))
    return float(squared[round(0.05 * _SAMPLE)]), float(squared[round(0.95 * _SAMPLE)])
