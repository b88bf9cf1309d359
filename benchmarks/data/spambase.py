"""Spambase: 4,601 messages of 57 features, each of mean 0 and deviation 1; n of them drawn.

Read from `spambase.npz`: X of shape 4601 x 57, y 1 for spam and 0 for the rest.
"""

from typing import Any

import numpy as np

from benchmarks.data._draw import Draw
from benchmarks.data._real import choose_rows, data_file
from benchmarks.instance import Spec

__all__ = ["points"]


def points(spec: Spec, draw: Draw) -> tuple[Any, Any]:
    """The first r features, and whether a message is spam."""
    with np.load(data_file("spambase.npz")) as file:
        X, y = file["X"].astype(float), file["y"].astype(np.int64)
    rows = choose_rows(spec, *X.shape)
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    return draw.array(standardized[rows][:, : spec.r]), draw.array(y[rows])
