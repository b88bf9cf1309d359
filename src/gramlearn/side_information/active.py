"""m_i = |sum_j T_ij K_ij| / l_i over the l_i pairs of point i: which statements are worth having (Z11 5.3).

f(x_i) = sum_j y_j K_ij is a prediction for point i, and y_i f(x_i) = sum_j T_ij K_ij its margin. A small one
means that a kernel leaves open what the pairs say of the point: those are the pairs to learn from first.
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_count, check_host_points, generator
from gramlearn.side_information.pairs import Pairs, check_pairs
from gramlearn.side_information.tables import pair_keys

_CANDIDATES = 200  # pairs to choose each one from
_AT_ONCE = 20_000  # pairs worked out at a time
_ALL = 500_000  # up to so many pairs, all are looked at
_ROUNDING = 1e-9  # of the longest row: a row below this is zero


def margins(pairs: Pairs, factor: Any) -> tuple[np.ndarray, np.ndarray]:
    """(m, l): the margin of every point under the kernel F F', and the number of its pairs."""
    F = check_host_points(factor, "factor")
    check_pairs(pairs, "pairs", len(F))
    total, counts = np.zeros(len(F)), np.zeros(len(F), dtype=int)
    for table, sign in ((pairs.similar, 1.0), (pairs.dissimilar, -1.0)):
        rows = to_numpy(table)
        if len(rows):
            agreement = sign * np.vecdot(F[rows[:, 0]], F[rows[:, 1]])
            for ends in rows.T:
                np.add.at(total, ends, agreement)
                np.add.at(counts, ends, 1)
    return np.abs(total) / np.maximum(counts, 1), counts


def select_pairs(pairs: Pairs, factor: Any, n_pairs: int) -> Pairs:
    """Keep n_pairs of the pairs: those of the points that the kernel F F' is least certain about.

    Points are taken in the order of their margins, the smallest first, each with all of its pairs, until
    there are enough; of the last point the first pairs are kept.

    Parameters
    ----------
    pairs : Pairs
        What to choose from.
    factor : array n x r
        Coordinates, of which F F' is the kernel before learning: the points themselves, or an earlier factor.
    n_pairs : int
        How many to keep; all where there are fewer.
    """
    count = check_count(n_pairs, "n_pairs")
    margin, _ = margins(pairs, factor)
    place = np.empty(len(margin), dtype=int)
    place[np.argsort(margin, kind="stable")] = np.arange(len(margin))
    ends = np.concatenate([to_numpy(table) for table in (pairs.similar, pairs.dissimilar)])
    turn = place[ends].min(axis=1)  # at which a pair is taken
    left_out = np.ones(len(ends), dtype=bool)
    left_out[np.argsort(turn, kind="stable")[:count]] = False
    return pairs.drop(left_out)


def pairs_to_ask(
    factor: Any, n_pairs: int, *, known: Pairs | None = None, random_state: Any = None
) -> np.ndarray:
    """The pairs of points that the kernel F F' calls neither alike nor unlike: m x 2, the most open first.

    That is, those with the smallest |K_ij| / sqrt(K_ii K_jj), each point in one of them at most, so that
    answers tell different things. Points of which nothing is known, K_ii = 0, are the most open of all.

    Parameters
    ----------
    factor : array n x r
    n_pairs : int
        How many; n / 2 at most, as each point is in one pair.
    known : Pairs, optional
        Pairs that were asked before, and are not asked again.
    random_state : int, Generator or None
        Orders equally open pairs, and draws the pairs to look at where there are too many.
    """
    F = check_host_points(factor, "factor")
    n = len(F)
    count = min(check_count(n_pairs, "n_pairs"), n // 2)
    rng = generator(random_state)
    i, j = _candidates(n, count, rng)
    if known is not None:
        check_pairs(known, "known", n)
        asked = [pair_keys(to_numpy(table), n) for table in (known.similar, known.dissimilar)]
        new = ~np.isin(i * n + j, np.concatenate(asked))
        i, j = i[new], j[new]
    unit = unit_rows(F)
    # What differs by rounding is equally open.
    cosines = [
        np.vecdot(unit[i[at : at + _AT_ONCE]], unit[j[at : at + _AT_ONCE]])
        for at in range(0, len(i), _AT_ONCE)
    ]
    openness = np.round(np.abs(np.concatenate([np.zeros(0), *cosines])), 9)
    taken, chosen = np.zeros(n, dtype=bool), []
    for k in np.argsort(openness, kind="stable"):
        if not (taken[i[k]] or taken[j[k]]):
            taken[i[k]] = taken[j[k]] = True
            chosen.append(k)
            if len(chosen) == count:
                break
    return np.column_stack([i[chosen], j[chosen]])


def unit_rows(F: np.ndarray) -> np.ndarray:
    """F with rows of length one; rows that are zero up to rounding are zero."""
    lengths = np.sqrt(np.vecdot(F, F))[:, None]
    known = lengths > _ROUNDING * lengths.max(initial=0.0)
    return np.divide(F, lengths, out=np.zeros_like(F), where=known)


def _candidates(n: int, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j in random order: all of them, or as many as it takes to choose from."""
    asked = max(_CANDIDATES * count, _ALL)
    if n * (n - 1) // 2 <= asked:
        i, j = np.triu_indices(n, 1)
        order = rng.permutation(len(i))
        return i[order], j[order]
    ends = rng.integers(n, size=(asked, 2))
    numbers = np.unique(ends.min(axis=1) * n + ends.max(axis=1))
    numbers = rng.permutation(numbers[numbers // n < numbers % n])
    return numbers // n, numbers % n
