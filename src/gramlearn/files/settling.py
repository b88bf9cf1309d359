"""lead = weight of those who call a pair alike - of those who do not; where it is zero, no row of it counts.

`Pairs.from_judgments` decides alike. Here the rows that it leaves out are found, so that they can be named, and
rows may have weights.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.side_information import Pairs

CONFLICTS = ("majority", "drop", "similar", "dissimilar", "raise")


@final
@dataclass(frozen=True)
class Verdicts:
    """For each row, its pair, and whether the row counts; and which pairs are judged both ways."""

    pairs: np.ndarray
    kind: np.ndarray
    lead: np.ndarray
    is_open: np.ndarray
    counts: np.ndarray


def settle(
    i: np.ndarray,
    j: np.ndarray,
    alike: np.ndarray,
    weight: np.ndarray,
    conflicts: str,
    *,
    is_ordered: bool = False,
) -> Verdicts:
    """What the rows of each pair come to: the weight of those that say alike less that of the others.

    Where pairs are ordered, as queries and documents are, (i, j) is another pair than (j, i).
    """
    pairs = np.stack([i, j], axis=1)
    distinct = distinct_rows(pairs if is_ordered else np.sort(pairs, axis=1))
    size = len(distinct.rows)
    for_it = np.bincount(distinct.kind, weight * alike, size)
    against = np.bincount(distinct.kind, weight * ~alike, size)
    is_open = (for_it > 0) & (against > 0)
    counts = np.ones(len(alike), dtype=bool)
    of_open = is_open[distinct.kind]
    if conflicts == "drop":
        counts = ~of_open
    elif conflicts in ("similar", "dissimilar"):
        counts = ~of_open | (alike == (conflicts == "similar"))
    signed = np.where(alike, weight, -weight) * counts
    lead = np.bincount(distinct.kind, signed, size)
    # Sums of weights such as 0.1 + 0.2 - 0.3 are ties, too.
    lead[np.abs(lead) <= 1e-12 * (for_it + against)] = 0
    counts &= lead[distinct.kind] != 0
    return Verdicts(distinct.rows, distinct.kind, lead, is_open, counts)


def as_pairs(verdicts: Verdicts, n_points: int) -> Pairs:
    """Pairs of either sign, the size of their lead as weight."""
    similar, unlike = verdicts.lead > 0, verdicts.lead < 0
    return Pairs(
        verdicts.pairs[similar],
        verdicts.pairs[unlike],
        n_points=n_points,
        similar_weight=verdicts.lead[similar],
        dissimilar_weight=-verdicts.lead[unlike],
    )
