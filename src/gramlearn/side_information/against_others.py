"""(i, j, k) for every similar pair (i, j), with k drawn from all points: i is nearer to j than to most others.

Two points drawn at random are mostly unlike, so that every similar pair tells as much as there are points to
compare it with, judged or not. A k that is like i after all is an error among many, which a soft loss bears.
"""

from typing import NamedTuple, final

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn.side_information.pairs import Pairs
from gramlearn.side_information.tables import pair_keys

_TRIES = 20  # draws of another k for one that will not do


@final
class Compared(NamedTuple):
    """Rows (i, j, k), and what each weighs."""

    rows: np.ndarray
    weight: np.ndarray


def compare_with_others(pairs: Pairs, n_others: int, rng: np.random.Generator) -> Compared:
    """Each point of a similar pair with the other, against others at random and those it is unlike.

    The comparisons of a similar pair with points at random weigh together what the pair weighs, and so do those
    that a dissimilar pair (i, k) gives: each of its points is nearer to one that it is like, where it has one.
    """
    similar, dissimilar = to_numpy(pairs.similar), to_numpy(pairs.dissimilar)
    weights = pairs.pair_weights()
    both = np.concatenate([similar, similar[:, ::-1]])
    ends = np.repeat(both, n_others, axis=0)
    weight = np.repeat(np.tile(weights[: len(similar)], 2), n_others) / (2 * n_others)
    third, is_drawn = _draw_thirds(ends, similar, pairs.n_points, rng)
    drawn = Compared(np.column_stack([ends, third])[is_drawn], weight[is_drawn])
    unlike = np.concatenate([dissimilar, dissimilar[:, ::-1]])
    mate, has_mate = _draw_mates(unlike[:, 0], both, pairs.n_points, rng)
    told = np.column_stack([unlike[:, 0], mate, unlike[:, 1]])
    of_unlike = np.tile(weights[len(similar) :], 2) / 2
    found = (drawn, Compared(told[has_mate], of_unlike[has_mate]))
    return Compared(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _draw_thirds(
    ends: np.ndarray, similar: np.ndarray, n_points: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(k for each row (i, j), whether it is neither of the two nor known to be like i)."""
    known = np.unique(pair_keys(similar, n_points))
    third = rng.integers(n_points, size=len(ends))
    is_wrong = np.ones(len(ends), dtype=bool)
    for attempt in range(_TRIES):
        rows = np.flatnonzero(is_wrong)
        if attempt:
            third[rows] = rng.integers(n_points, size=rows.size)
        with_i = np.column_stack([ends[rows, 0], third[rows]])
        is_known = np.isin(pair_keys(with_i, n_points), known)
        is_wrong[rows] = is_known | (with_i[:, 0] == with_i[:, 1])
        if not is_wrong.any():
            break
    return third, ~is_wrong


def _draw_mates(
    points: np.ndarray, both: np.ndarray, n_points: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(one that each point is like, at random, whether there is one)."""
    ordered = both[np.argsort(both[:, 0], kind="stable")]
    counts = np.bincount(ordered[:, 0], minlength=n_points)
    starts = np.cumsum(counts) - counts
    place = starts[points] + (rng.random(len(points)) * counts[points]).astype(np.intp)
    has_mate = counts[points] > 0
    mate = np.zeros(len(points), dtype=both.dtype)
    mate[has_mate] = ordered[place[has_mate], 1]
    return mate, has_mate
