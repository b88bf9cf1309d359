"""Squared distances of pairs called near and far, before and after, counted in bins of a logarithmic axis."""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn.plots.report.reading import Given
from gramlearn.side_information import Bounds, Pairs

_BINS = 40
_MOST_PAIRS = 100_000
_SPAN = 1e12  # the largest distance over the least that is told from none


def lengths_of(given: Given) -> dict[str, Any] | None:
    """Shares of the pairs in each bin, with the bounds that were asked; None where no pair is called either."""
    if given.pairs is None:
        return None
    i, j, alike = (to_numpy(column) for column in given.pairs.near_and_far())
    alike = alike.astype(bool)
    if not len(i):
        return None
    n_pairs = len(i)
    if n_pairs > _MOST_PAIRS:
        some = np.random.default_rng(given.seed).choice(n_pairs, _MOST_PAIRS, replace=False)
        i, j, alike = i[some], j[some], alike[some]
    found = [np.asarray(of(i, j), dtype=float) for of in given.lengths]
    bounds = getattr(given.learner, "bounds_", None)
    threshold = getattr(given.learner, "threshold_", None)
    lines: list[tuple[str, float]] = []
    if bounds is not None:
        lines = [("upper bound", float(bounds[0])), ("lower bound", float(bounds[1]))]
    elif threshold is not None:
        lines = [("threshold", float(threshold) ** 2)]
    edges = _edges(np.concatenate(found), [value for _, value in lines])
    return {
        "edges": [float(edge) for edge in edges],
        "lines": [[name, value] for name, value in lines if edges[0] < value < edges[-1]],
        "is_threshold": bounds is None,
        "before": _two_kinds(found[0], alike, edges),
        "after": _two_kinds(found[1], alike, edges),
        "n_pairs": n_pairs,
        "n_counted": len(i),
        "is_drawn": given.side is None,
        "names": ["alike", "unlike"]
        if isinstance(given.pairs, Pairs)
        else ["with an upper bound", "with a lower bound"]
        if isinstance(given.pairs, Bounds)
        else ["called nearer", "called farther"],
    }


def _two_kinds(squared: np.ndarray, alike: np.ndarray, edges: np.ndarray) -> list[dict[str, Any]]:
    """Of pairs called near, and of those called far."""
    return [_counted(squared[kind], edges) for kind in (alike, ~alike)]


def _counted(squared: np.ndarray, edges: np.ndarray) -> dict[str, Any]:
    if not squared.size:
        return {"n": 0, "shares": [], "median": None}
    # Equal points have no place on a logarithmic axis; they count as the nearest there is.
    counts, _ = np.histogram(np.clip(squared, edges[0], edges[-1]), edges)
    shares = [round(float(share), 6) for share in counts / squared.size]
    return {"n": int(squared.size), "shares": shares, "median": float(np.median(squared))}


def _edges(squared: np.ndarray, lines: list[float]) -> np.ndarray:
    """Bins of equal width on a logarithmic axis, over all positive numbers and the lines."""
    seen = np.concatenate([squared, np.asarray(lines, dtype=float)])
    seen = seen[(seen > 0) & np.isfinite(seen)]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (1.0, 1.0)
    low = max(low, high / _SPAN)
    return np.geomspace(low / 1.1, high * 1.1, _BINS + 1)
