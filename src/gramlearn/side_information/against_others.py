"""(i, j, k) for every similar pair (i, j), with k drawn from all points: i is nearer to j than to most others.

Two points drawn at random are mostly unlike, so that every similar pair tells as much as there are points to
compare it with, judged or not. A k that is like i after all is an error among many, which a soft loss bears.
"""

from typing import NamedTuple, final

import numpy as np

from gramlearn._base.arrays import is_missing, to_numpy
from gramlearn.side_information.pairs import Pairs
from gramlearn.side_information.tables import pair_keys

_TRIES = 20  # draws of another k for one that will not do


@final
class Compared(NamedTuple):
    """Rows (i, j, k), and what each weighs."""

    rows: np.ndarray
    weight: np.ndarray


def compare_with_others(
    pairs: Pairs, n_others: int, rng: np.random.Generator, most: int | None = None
) -> Compared:
    """Each point of a similar pair with the other, against others at random and those it is unlike.

    The comparisons of a similar pair with points at random weigh together what the pair weighs, and so do those
    that a dissimilar pair (i, k) gives: each of its points is nearer to one that it is like, where it has one.
    Where these are more than `most`, a similar pair has fewer, and then fewer pairs weigh as much.
    """
    similar, dissimilar = to_numpy(pairs.similar), to_numpy(pairs.dissimilar)
    weights = pairs.pair_weights()
    both = np.concatenate([similar, similar[:, ::-1]])
    near = Compared(similar, weights[: len(similar)])
    far = Compared(dissimilar, weights[len(similar) :])
    if most is not None:
        has_mate = np.bincount(both[:, 0], minlength=pairs.n_points)[dissimilar] > 0
        if 2 * n_others * len(similar) + np.count_nonzero(has_mate) > most:
            far = Compared(*(column[has_mate.any(axis=1)] for column in far))
            n_near, n_far = shares_of_lists((len(similar), len(far.rows)), most // 4)
            n_others = min(max((most // 2 - n_far) // max(n_near, 1), 1), n_others)
            near, far = _thinned(near, n_near, rng), _thinned(far, n_far, rng)
    ends = np.repeat(np.concatenate([near.rows, near.rows[:, ::-1]]), n_others, axis=0)
    weight = np.repeat(np.tile(near.weight, 2), n_others) / (2 * n_others)
    third, is_drawn = _draw_thirds(ends, similar, pairs.n_points, rng)
    drawn = Compared(np.column_stack([ends, third])[is_drawn], weight[is_drawn])
    unlike = np.concatenate([far.rows, far.rows[:, ::-1]])
    mate, has_mate = _draw_mates(unlike[:, 0], both, pairs.n_points, rng)
    told = np.column_stack([unlike[:, 0], mate, unlike[:, 1]])
    found = (drawn, Compared(told[has_mate], np.tile(far.weight, 2)[has_mate] / 2))
    return Compared(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def shares_of_lists(counts: tuple[int, int], most: int) -> tuple[int, int]:
    """How many stay of two lists where that many do of both: of a short one all, or half of them."""
    if sum(counts) <= most:
        return counts
    short = min(*counts, most // 2)
    return (short, most - short) if counts[0] <= counts[1] else (most - short, short)


def _thinned(pairs: Compared, count: int, rng: np.random.Generator) -> Compared:
    """So many of these, drawn at random, that weigh as much."""
    if count == len(pairs.rows):
        return pairs
    rows = np.sort(rng.permutation(len(pairs.rows))[:count])
    return Compared(pairs.rows[rows], pairs.weight[rows] * (len(pairs.rows) / count))


def _draw_thirds(
    ends: np.ndarray, similar: np.ndarray, n_points: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(k for each row (i, j), whether it is neither of the two nor known to be like i)."""
    known = np.sort(pair_keys(similar, n_points))
    third = rng.integers(n_points, size=len(ends))
    is_wrong = np.ones(len(ends), dtype=bool)
    for attempt in range(_TRIES):
        rows = np.flatnonzero(is_wrong)
        if attempt:
            third[rows] = rng.integers(n_points, size=rows.size)
        with_i = np.column_stack([ends[rows, 0], third[rows]])
        is_known = ~is_missing(pair_keys(with_i, n_points), known)
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
