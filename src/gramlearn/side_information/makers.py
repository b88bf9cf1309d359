"""Pairs and triplets from what people have: classes, distances, similarities, clicks.

from_classes         m alike pairs of each class, and m of each class with others (J12 6)
relative_bounds      alike at most (1 - eps) of the distance they have, unlike at least (1 + eps) (K09 7.1)
from_similarities    the most and the least similar pairs of a matrix
from_clicks          i is nearer to what was chosen than to what was passed over
from_judgments       (i, j, alike or not), as people give them: repeated, and not always of one mind
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import namespace, to_numpy
from gramlearn._base.distances import squared_distances
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.validation import (
    as_numbers,
    check_count,
    check_finite,
    check_points,
    check_share,
    check_symmetric,
    generator,
)
from gramlearn.side_information.checks import check_table
from gramlearn.side_information.indexing import Triangles, distinct_numbers
from gramlearn.side_information.labels import read_labels
from gramlearn.side_information.pairs import Pairs, check_pairs
from gramlearn.side_information.percentiles import check_percentiles
from gramlearn.side_information.triplets import Triplets

__all__ = [
    "from_classes",
    "from_clicks",
    "from_judgments",
    "from_similarities",
    "relative_bounds",
]


def from_classes(y: Any, per_class: int = 100, *, random_state: Any = None) -> Pairs:
    """`per_class` pairs within each class, and as many with one point in it and the other outside (J12 6).

    A pair that two classes drew is listed once, so that there may be a few less; and a class that has fewer
    pairs gives all of them. Labels as in `from_labels`.
    """
    labels, labeled = read_labels(y)
    per_class = check_count(per_class, "per_class")
    rng = generator(random_state)
    if np.unique(labels[labeled]).size < 2:
        raise ValueError("`y` has fewer than two classes; unlike pairs need at least two.")
    alike, unlike = [], []
    for label in np.unique(labels[labeled]):
        is_inside = labels[labeled] == label
        inside, outside = labeled[is_inside], labeled[~is_inside]
        within = Triangles(np.asarray([0]), np.asarray([inside.size]))
        i, j = within.places(distinct_numbers(rng, within.total, min(per_class, within.total)))
        alike.append(np.stack([inside[i], inside[j]], axis=1))
        total = inside.size * outside.size
        numbers = distinct_numbers(rng, total, min(per_class, total))
        across = [inside[numbers // max(outside.size, 1)], outside[numbers % max(outside.size, 1)]]
        unlike.append(np.sort(np.stack(across, axis=1), axis=1))
    return Pairs(
        np.concatenate(alike), distinct_rows(np.concatenate(unlike)).rows, n_points=labels.size
    )


def relative_bounds(pairs: Pairs, points: Any, eps: float = 0.25) -> Pairs:
    """The same pairs, each with its own bound: (1 - eps) d if similar, (1 + eps) d if not (K09 7.1).

    d is the squared distance that the pair has now. Pairs of equal points keep theirs under every metric, and
    are left out.
    """
    eps = check_share(eps, "eps")
    points = points.tocsr() if issparse(points) else check_points(points, "points")
    check_pairs(pairs, "pairs", int(points.shape[0]))
    i, j, alike = pairs.judged()
    d = squared_distances(points, i, j)
    xp = namespace(d)
    equal = d == 0
    if bool(xp.all(equal)):
        raise ValueError("all pairs are of equal points, whose distance no metric changes.")
    kept = pairs.without(equal) if bool(xp.any(equal)) else pairs
    d, alike = d[~equal], alike[~equal]
    return replace(kept, upper=(1 - eps) * d[alike], lower=(1 + eps) * d[~alike])


def from_similarities(
    S: Any,
    n_pairs: int | None = None,
    percentiles: tuple[float, float] = (5, 95),
    *,
    random_state: Any = None,
) -> Pairs:
    """Similar are the pairs above the upper percentile of S_ij, dissimilar those below the lower one.

    Parameters
    ----------
    S : array n x n
        Symmetric similarities, the larger the more alike; its diagonal does not matter.
    n_pairs : int, optional
        How many to draw of them, half of each kind; all where it is not given.
    percentiles : (low, high)
        Of the entries above the diagonal.
    random_state : int, Generator or None
        Seeds the draw.
    """
    S = np.array(to_numpy(as_numbers(S, "S")), dtype=np.float64)
    if S.ndim == 2:
        np.fill_diagonal(
            S, 0.0
        )  # how similar a point is to itself, infinitely perhaps, is no matter
    check_symmetric(check_finite(S, "S"), "S")
    percentiles = check_percentiles(percentiles)
    i, j = np.triu_indices(len(S), 1)
    if not i.size:
        raise ValueError("`S` has one row; pairs need at least two points.")
    low, high = np.percentile(S[i, j], percentiles)
    if not low < high:
        raise ValueError(
            f"`S` has the same similarity, {low:.6g}, at both of `percentiles={percentiles}`: no pair is more "
            "alike than another; choose other percentiles."
        )
    rng = generator(random_state)

    def draw(rows: np.ndarray) -> np.ndarray:
        size = rows.size if n_pairs is None else check_count(n_pairs, "n_pairs", least=2) // 2
        chosen = rows[np.sort(distinct_numbers(rng, rows.size, min(size, rows.size)))]
        return np.stack([i[chosen], j[chosen]], axis=1)

    similar, dissimilar = np.flatnonzero(S[i, j] >= high), np.flatnonzero(S[i, j] <= low)
    return Pairs(draw(similar), draw(dissimilar), n_points=len(S))


def from_clicks(rows: Any, n_points: int, margin: float = 1.0) -> Triplets:
    """Triplets of rows (query, chosen, passed over): the query is nearer to what was chosen.

    Rows that repeat become one triplet of that weight. Opposite ones stay, for a soft loss to weigh. All
    three number the rows of one X.
    """
    table = to_numpy(check_table(rows, "rows", (3,), check_count(n_points, "n_points")))
    if not len(table):
        raise ValueError("`rows` is empty; pass at least one (query, chosen, passed over).")
    same = (
        (table[:, 0] == table[:, 1]) | (table[:, 0] == table[:, 2]) | (table[:, 1] == table[:, 2])
    )
    if same.any():
        k = int(np.argmax(same))
        raise ValueError(
            f"`rows` contains {tuple(int(x) for x in table[k])} (row {k}); query, chosen and passed over are "
            "three different points."
        )
    distinct = distinct_rows(table)
    weight = distinct.counts.astype(float) if distinct.counts.max() > 1 else None
    return Triplets(distinct.rows, n_points=n_points, margin=margin, weight=weight)


def from_judgments(i: Any, j: Any, alike: Any, n_points: int) -> Pairs:
    """Pairs of judgments "i and j are alike", or not; a pair may be judged many times, in either order.

    Each pair is listed once, on the side of the majority, with its lead as its weight; where as many say yes as
    no, it is left out. `alike` holds booleans, or 1 for yes and -1 or 0 for no.
    """
    table = to_numpy(check_table(_columns(i, j), "(i, j)", (2,), check_count(n_points, "n_points")))
    given = to_numpy(as_numbers(alike, "alike"))
    if given.shape != (len(table),):
        raise ValueError(
            f"`alike` has shape {given.shape}, but there are {len(table)} pairs; pass one for each."
        )
    if not np.isin(given, (1, 0, -1)).all():
        raise ValueError("`alike` must hold booleans, or 1 for alike and -1 or 0 for not.")
    itself = table[:, 0] == table[:, 1]
    if itself.any():
        k = int(np.argmax(itself))
        raise ValueError(
            f"judgment {k} is about point {int(table[k, 0])} and itself; leave it out."
        )
    distinct = distinct_rows(np.sort(table, axis=1))
    lead = np.bincount(distinct.kind, weights=np.where(given == 1, 1.0, -1.0))
    if not lead.any():
        raise ValueError(
            "`alike` has as many for as against for every pair; nothing is left to learn."
        )
    yes, no = lead > 0, lead < 0
    return Pairs(
        distinct.rows[yes],
        distinct.rows[no],
        n_points=n_points,
        similar_weight=lead[yes] if yes.any() else None,
        dissimilar_weight=-lead[no] if no.any() else None,
    )


def _columns(i: Any, j: Any) -> np.ndarray:
    i, j = to_numpy(as_numbers(i, "i")), to_numpy(as_numbers(j, "j"))
    if i.ndim != 1 or i.shape != j.shape:
        raise ValueError(f"`i` and `j` must be of one length; got shapes {i.shape} and {j.shape}.")
    return np.stack([i, j], axis=1)
