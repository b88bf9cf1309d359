"""Questions that could be asked, at random, and of pairs some that are near neighbors; none asked before.

Where hardly any two points are alike, only near neighbors are. More of them than a tenth would be chosen too
often: a metric is learned from the pairs that are far apart.
"""

import numpy as np

from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.evaluation.questions.kinds import Kind

_EVERY = 200_000  # so many questions or fewer are all looked at
_ANCHORS = 100  # points whose neighbors are looked at: a cost of this times the number of points
_OF_EACH = 3  # pairs of an anchor and a neighbor
_NEIGHBORS = 30  # among which they are drawn


def draw_candidates(
    Z: np.ndarray, kind: Kind, asked: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(questions, whether each was drawn as one about near neighbors), in random order, each once."""
    near = (
        _without(_near(Z, max(_ANCHORS, n), rng), asked)
        if kind.has_near
        else np.empty((0, kind.width), dtype=int)
    )
    count = max(kind.n_candidates, 4 * n) - len(near)
    far = kind.every(len(Z)) if kind.count(len(Z)) <= _EVERY else _far(len(Z), kind, count, rng)
    far = rng.permutation(_without(far, np.concatenate([asked, near])))[:count]
    order = rng.permutation(len(near) + len(far))
    return np.concatenate([near, far])[order], order < len(near)


def _far(n: int, kind: Kind, count: int, rng: np.random.Generator) -> np.ndarray:
    rows = rng.integers(n, size=(count, kind.width))
    ordered = np.sort(rows, axis=1)
    return kind.in_order(rows[np.all(ordered[:, 1:] != ordered[:, :-1], axis=1)])


def _near(Z: np.ndarray, n_anchors: int, rng: np.random.Generator) -> np.ndarray:
    """Pairs of an anchor and one of its nearest neighbors."""
    from sklearn.neighbors import NearestNeighbors

    anchors = rng.permutation(len(Z))[:n_anchors]
    count = min(_NEIGHBORS, len(Z) - 1)
    search = NearestNeighbors(n_neighbors=count + 1, algorithm="brute").fit(Z)
    found = search.kneighbors(Z[anchors], return_distance=False)
    # Of equal points one may not find itself among its nearest; it is drawn last where it does.
    turn = np.where(found == anchors[:, None], 2.0, rng.random(found.shape))
    each = min(_OF_EACH, count)
    drawn = np.take_along_axis(found, np.argsort(turn, axis=1)[:, :each], axis=1)
    return np.sort(np.column_stack([np.repeat(anchors, each), drawn.ravel()]), axis=1)


def _without(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distinct rows that are not among others."""
    rows = distinct_rows(rows).rows
    points = np.unique(rows)
    if not len(points):
        return rows
    # Numbered among the points of the rows alone, so that a row is one number whatever n is.
    others = others[np.isin(others, points).all(axis=1)]
    key, other = (_keys(np.searchsorted(points, table), len(points)) for table in (rows, others))
    return rows[~np.isin(key, other)]


def _keys(table: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(table @ (n ** np.arange(table.shape[1], dtype=np.int64)))
