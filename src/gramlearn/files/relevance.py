"""(query, relevant, irrelevant): of the documents judged for a query, each relevant with each irrelevant one.

Where that is more than a million, each relevant document is compared with fewer, in turn, so that every judged
document still takes part.
"""

import numpy as np

_MOST = 1_000_000


def compare_documents(
    queries: np.ndarray, documents: np.ndarray, relevant: np.ndarray, most: int = _MOST
) -> tuple[np.ndarray, str]:
    """(triplets, what has to be said about them)."""
    order = np.argsort(queries, kind="stable")
    starts = np.flatnonzero(np.diff(queries[order], prepend=-1))
    groups = np.split(order, starts[1:])
    tables, n_all = [], 0
    share = max(1, most // len(groups))
    for rows in groups:
        good = np.unique(documents[rows[relevant[rows]]])
        bad = np.unique(documents[rows[~relevant[rows]]])
        n_all += len(good) * len(bad)
        # No fewer than it takes for every irrelevant document to be in one.
        each = min(len(bad), max(-(-len(bad) // len(good)), share // len(good), 1))
        places = (np.arange(len(good))[:, None] * each + np.arange(each)) % len(bad)
        query = np.full(len(good) * each, queries[rows[0]])
        tables.append(np.stack([query, np.repeat(good, each), bad[places].ravel()], axis=1))
    table = np.concatenate(tables)
    if len(table) == n_all:
        return table, ""
    return table, (
        f"Of {n_all:,} comparisons of a relevant with an irrelevant document {len(table):,} are used, every "
        "judged document in some."
    )
