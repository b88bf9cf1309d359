"""learned_from_ = {kind, count, n_points, digest, words}: what was learned from, in numbers."""

from typing import Any

import numpy as np

from gramlearn.estimators._parts.answers import StoredAnswer
from gramlearn.side_information import SideInformation
from gramlearn.side_information.digest import as_bytes, digest, digest_statements
from gramlearn.side_information.sampling import read_labels


def learned_from(side: SideInformation | None, y: Any, n_points: int) -> dict[str, Any]:
    """How many statements or labels of what kind there were; the digest is the same for the same ones."""
    if side is not None:
        kind = type(side).__name__
        return told(kind, side.size, n_points, digest_statements(side), repr(side))
    labels, labeled = read_labels(y)
    classes = np.unique(labels[labeled])
    words = f"{len(labeled)} labels of {len(classes)} classes, {n_points} points"
    return told("labels", len(labeled), n_points, digest("labels", [as_bytes(labels)]), words)


def told(kind: str, count: int, n_points: int | None, digest: str, words: str) -> dict[str, Any]:
    """What is kept of it."""
    return {
        "kind": kind,
        "count": int(count),
        "n_points": None if n_points is None else int(n_points),
        "digest": digest,
        "words": words,
    }


def is_from_file(estimator: Any) -> bool:
    """Whether it was read from a model file, and not fitted since."""
    return isinstance(getattr(estimator, "solution_", None), StoredAnswer)
