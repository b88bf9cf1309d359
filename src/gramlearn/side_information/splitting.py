"""held = the statements of a share, so drawn that nothing said in them is said in the rest as well.

"statements"   all statements about the same points are on one side: a judgment that was made twice, its
opposite, and the two comparisons of one "odd one out"
"points"       what is held back is about points drawn at random, each alone or with others; the rest is
about none of them
"""

from collections.abc import Callable, Mapping

import numpy as np

from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.validation import check_choice, check_count, check_share


def choose_held(table: np.ndarray, share: float, by: str, rng: np.random.Generator) -> np.ndarray:
    """A mask of the statements to hold back: about a share of them, neither none nor all.

    Row k of the table has the points of statement k.
    """
    choose_turns = check_choice(by, "by", _TURNS)
    target = check_share(share, "share") * len(table)
    if len(table) < 2:
        raise ValueError(f"`split` needs two statements or more; the number here is {len(table)}.")
    turn = choose_turns(table, target, rng)
    # How many have a turn up to each, of which the number nearest to the target is taken.
    counts = np.cumsum(np.bincount(turn))
    possible = np.flatnonzero((counts > 0) & (counts < len(table)))
    if not possible.size:
        about = "the same points" if by == "statements" else "one point that all of them share"
        advice = "" if by == "statements" else ', or pass by="statements"'
        raise ValueError(
            f"`split`: all {len(table)} statements are about {about}, so that none can be held back without "
            f"telling the rest; add others{advice}."
        )
    last = possible[np.argmin(np.abs(counts[possible] - target))]
    return np.asarray(turn <= last)


def choose_folds(table: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """The fold of each statement, those about the same points in one; folds of as many such sets each."""
    count = check_count(n_folds, "n_folds", least=2)
    kind = distinct_rows(np.sort(table, axis=1)).kind
    n_sets = int(kind.max(initial=-1)) + 1
    if n_sets < count:
        raise ValueError(
            f"`n_folds={count}` needs as many statements about different points; there are {n_sets}: pass "
            "fewer folds, or more statements."
        )
    return np.asarray(rng.permutation(n_sets)[kind] % count)


def _of_statements(table: np.ndarray, target: float, rng: np.random.Generator) -> np.ndarray:
    """A random turn for each set of points."""
    del target
    sets = distinct_rows(np.sort(table, axis=1))
    # Sets are numbered as they come, so that where none repeats, the draw is that of a permutation.
    number = np.argsort(np.argsort(sets.first))
    return np.asarray(rng.permutation(len(sets.first))[number[sets.kind]])


def _of_points(table: np.ndarray, target: float, rng: np.random.Generator) -> np.ndarray:
    """The first turn of the points of each statement.

    Points in more statements than are to be held back come last: one of them alone would hold back too many.
    """
    points, places = np.unique(table, return_inverse=True)
    places = places.reshape(table.shape)
    order = rng.permutation(len(points))
    degree = np.bincount(np.unique(_with_number(places)) % len(points), minlength=len(points))
    order = order[np.argsort(degree[order] > max(target, 1.0), kind="stable")]
    turn = np.empty(len(points), dtype=np.intp)
    turn[order] = np.arange(len(points))
    return np.asarray(turn[places].min(axis=1))


def _with_number(places: np.ndarray) -> np.ndarray:
    """One number for each statement and point of it."""
    n_points = int(places.max()) + 1
    return np.asarray(np.arange(len(places))[:, None] * n_points + places)


_TURNS: Mapping[str, Callable[[np.ndarray, float, np.random.Generator], np.ndarray]] = {
    "statements": _of_statements,
    "points": _of_points,
}
