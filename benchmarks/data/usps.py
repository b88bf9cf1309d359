"""The first r principal components of the 7,291 training digits of USPS, n of them drawn.

Read from `usps.npz`: X of shape 7291 x 256, y of length 7291.
"""

from typing import Any

import numpy as np

from benchmarks.data._draw import Draw
from benchmarks.data._real import choose_rows, data_file, principal_components
from benchmarks.instance import Spec

__all__ = ["points"]


def points(spec: Spec, draw: Draw) -> tuple[Any, Any]:
    """Points and their digits."""
    with np.load(data_file("usps.npz")) as file:
        X, y = file["X"].astype(float), file["y"].astype(np.int64)
    rows = choose_rows(spec, *X.shape)
    return draw.array(principal_components(X, spec.r)[rows]), draw.array(y[rows])
