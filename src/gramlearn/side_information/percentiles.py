"""upper, lower = the 5th and 95th percentile of squared distances: what is near and what is far.

Alike pairs shall be nearer than nearly all pairs are now, unlike ones farther (K09 7.2). The
percentiles are those of a random sample of pairs, of which no more than the sample is ever in
memory.
"""

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import Array, namespace, read
from gramlearn._base.distances import squared_distances
from gramlearn._base.validation import as_float, check_count, check_points, generator
from gramlearn.side_information.indexing import Triangles, distinct_numbers

_PAIRS = 100_000


def percentile_bounds(
    points: Any,
    percentiles: tuple[float, float] = (5, 95),
    *,
    n_pairs: int = _PAIRS,
    random_state: Any = None,
) -> tuple[float, float]:
    """(upper, lower): percentiles of the squared distances |p_i - p_j|^2 over pairs i < j.

    Pairs of equal points are left out: their distance is 0 under every metric and says nothing
    about its scale. Both bounds are therefore positive. Percentiles are interpolated linearly, as
    by `numpy.percentile`.

    Parameters
    ----------
    points : array or sparse matrix n x d
        In any array library, which also does the work.
    percentiles : (p, q) with 0 <= p <= q <= 100
        Of the squared distances; `upper` is the p-th, `lower` the q-th.
    n_pairs : int
        How many different pairs are drawn; all of them where there are no more.
    random_state : int, Generator or None
        Seeds the draw. The same seed gives the same bounds, up to rounding, in every library.
    """
    return percentiles_of(points, percentiles, n_pairs, random_state, "points")


def percentiles_of(
    points: Any, percentiles: Any, n_pairs: int = _PAIRS, random_state: Any = None, name: str = "X"
) -> tuple[float, float]:
    """The same of points that the user knows by another name."""
    points = points.tocsr() if issparse(points) else check_points(points, name)
    low, high = check_percentiles(percentiles)
    n, n_pairs = int(points.shape[0]), check_count(n_pairs, "n_pairs")
    if n < 2:
        raise ValueError(f"`{name}` has one row; distances need at least two.")
    every = Triangles(np.asarray([0]), np.asarray([n]))
    total = every.total
    rng = generator(random_state)
    numbers = np.arange(total) if total <= n_pairs else distinct_numbers(rng, total, n_pairs)
    i, j = every.places(numbers)
    squared = squared_distances(points, i, j)
    xp = namespace(squared)
    squared = xp.sort(squared)
    squared = squared[int(xp.count_nonzero(squared == 0)) :]
    if squared.shape[0] == 0:
        raise ValueError(
            f"all {i.size} pairs of rows of `{name}` that were looked at are equal, so no bounds "
            "can be found from them; check the points, or pass `bounds=(upper, lower)` in squared "
            "distances."
        )
    return _percentile(squared, low), _percentile(squared, high)


def check_percentiles(percentiles: Any) -> tuple[float, float]:
    """Two numbers in ascending order, in percent: shares, such as (0.05, 0.95), are taken for a slip."""
    try:
        low, high = (as_float(p) for p in percentiles)
    except (TypeError, ValueError):
        low = high = float("nan")
    if not 0 <= low <= high <= 100:
        raise ValueError(
            f"`percentiles` must be two numbers, 0 <= first <= second <= 100; got {percentiles!r}."
        )
    if 0 < high < 1:
        raise ValueError(
            f"`percentiles={percentiles!r}` are both below 1 percent; percentiles go from 0 to 100, such as "
            f"({100 * low:.6g}, {100 * high:.6g})."
        )
    return low, high


def check_bounds(bounds: Any) -> tuple[float | None, float | None]:
    """(upper, lower) in squared distances, either of them None where it is not known."""
    if bounds is None:
        return None, None
    try:
        upper, lower = (None if b is None else as_float(b) for b in bounds)
    except (TypeError, ValueError):
        raise TypeError(
            f"`bounds` must be (upper, lower), two squared distances; got {bounds!r}."
        ) from None
    for name, b in (("upper", upper), ("lower", lower)):
        if b is not None and not (math.isfinite(b) and b >= 0):
            raise ValueError(
                f"`bounds=(upper, lower)`: {name} must be at least 0 and finite; got {b}."
            )
    return upper, lower


def check_not_crossed(upper: Any, lower: Any, addition: str) -> None:
    """Of two numbers, upper must not exceed lower."""
    if isinstance(upper, float) and isinstance(lower, float) and upper > lower:
        raise ValueError(
            f"alike pairs are at most `upper` apart and unlike ones at least `lower`, so upper "
            f"must not exceed lower; got upper={upper:.6g} and lower={lower:.6g}{addition}."
        )


def _percentile(ordered: Array, p: float) -> float:
    place = p / 100 * (ordered.shape[0] - 1)
    below = int(place)
    above = min(below + 1, ordered.shape[0] - 1)
    low, high = read(ordered[below]), read(ordered[above])
    return low + (place - below) * (high - low)
