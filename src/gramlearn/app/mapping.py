"""Points through a learned map, some at a time: X may be a memory map larger than what there is of memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramlearn.app.output import say
from gramlearn.files.points import Points
from gramlearn.sources.errors import FileError

_NUMBERS = 2**24  # at once


def in_order_of(learner: Any, points: Points, *, quietly: bool = False) -> Any:
    """X with the features that the learner knows, in its order, where both have names."""
    tell = (lambda words: None) if quietly else say
    width = getattr(learner, "n_features_in_", points.X.shape[1])
    known = getattr(learner, "feature_names_in_", None)
    if known is None or points.feature_names is None:
        if points.X.shape[1] != width:
            raise FileError(
                f"{points.source} has {points.X.shape[1]} features, but the model was learned from {width}; "
                "pass points of the same kind."
            )
        if known is not None:
            tell(
                f"gramlearn: note: {points.source} has no names of features; its columns are taken to be "
                f"{known[0]}, {known[min(1, len(known) - 1)]}, ... as the model knows them."
            )
        return points.X
    place = {name: k for k, name in enumerate(points.feature_names)}
    if missing := [name for name in known if name not in place]:
        raise FileError(
            f"{points.source} lacks {len(missing)} of the {len(known)} features that the model knows, "
            f"such as {missing[0]!r}; pass points with these columns."
        )
    others = [name for name in points.feature_names if name not in set(known)]
    if others:
        tell(
            f"gramlearn: note: {len(others)} columns of {points.source} are left out, which the model does not "
            f"know, such as {others[0]!r}."
        )
    columns = [place[name] for name in known]
    return points.X if columns == list(range(points.X.shape[1])) else points.X[:, columns]


def mapped_blocks(learner: Any, X: Any) -> Iterator[np.ndarray]:
    """transform(X) in blocks of rows, in the precision of X."""
    step = max(1, _NUMBERS // max(X.shape[1], 1))
    is_single = X.dtype == np.float32
    for start in range(0, len(X), step):
        block = np.asarray(learner.transform(np.asarray(X[start : start + step])))
        yield block.astype(np.float32, copy=False) if is_single else block


def mapped(learner: Any, X: Any) -> np.ndarray:
    """All of transform(X)."""
    return np.concatenate(list(mapped_blocks(learner, X)))
