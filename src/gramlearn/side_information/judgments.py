"""lead_ij = (how many call i and j alike) - (how many call them unlike): what many people say of a pair.

Judgments repeat and do not always agree. Those that agree count as often as they were made; what to do with a
pair that they disagree about is the caller's choice.
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn._base.validation import as_numbers, check_choice
from gramlearn.side_information.closure import refuse_pairs_on_both_sides
from gramlearn.side_information.tables import check_differ, check_n_points, check_table, views

_SETTLED_BY = dict.fromkeys(("majority", "drop", "similar", "dissimilar", "raise"))


def settle_judgments(
    i: Any, j: Any, alike: Any, n_points: Any, conflicts: str
) -> tuple[np.ndarray, np.ndarray]:
    """(pairs i < j, lead): similar where the lead is positive, else dissimilar; the weight is |lead|."""
    check_choice(conflicts, "conflicts", _SETTLED_BY)
    n = check_n_points(n_points, "from_judgments")
    table = to_numpy(check_table(_columns(i, j), "(i, j)", (2,), n))
    given = to_numpy(as_numbers(alike, "alike"))
    if given.shape != (len(table),):
        raise ValueError(
            f"`alike` has shape {given.shape}, but there are {len(table)} pairs; pass one for each."
        )
    if not np.isin(given, (1, 0, -1)).all():
        raise ValueError("`alike` must hold booleans, or 1 for alike and -1 or 0 for not.")
    check_differ(
        views(table), "`(i, j)`", (0, 1), "a point is not judged with itself; leave it out"
    )
    pairs = distinct_rows(np.sort(table, axis=1))
    n_alike = np.bincount(pairs.kind, weights=given == 1, minlength=len(pairs.rows))
    n_unlike = pairs.counts - n_alike
    is_open = (n_alike > 0) & (n_unlike > 0)
    if conflicts == "raise" and is_open.any():
        refuse_pairs_on_both_sides(
            [(int(a), int(b)) for a, b in pairs.rows[is_open]], "called both alike and not"
        )
    if conflicts in ("drop", "dissimilar"):
        n_alike[is_open] = 0
    if conflicts in ("drop", "similar"):
        n_unlike[is_open] = 0
    lead = n_alike - n_unlike
    if not lead.any():
        raise ValueError(
            f"`alike` leaves no pair decided with conflicts={conflicts!r}; nothing is left to learn from."
        )
    return pairs.rows[lead != 0], lead[lead != 0]


def _columns(i: Any, j: Any) -> np.ndarray:
    i, j = to_numpy(as_numbers(i, "i")), to_numpy(as_numbers(j, "j"))
    if i.ndim != 1 or i.shape != j.shape:
        raise ValueError(f"`i` and `j` must be of one length; got shapes {i.shape} and {j.shape}.")
    return np.stack([i, j], axis=1)
