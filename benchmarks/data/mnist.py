"""The first r principal components of the 60,000 training digits of MNIST, pixels between 0 and 1.

Read from `mnist.npz`: X of shape 60000 x 784, y of length 60000. The components are those of all digits; n of
them are then drawn.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data._draw import Draw
from benchmarks.data._real import choose_rows, data_file, principal_components
from benchmarks.instance import Spec

__all__ = ["points"]

_PIXELS = 784


def points(spec: Spec, draw: Draw) -> tuple[Any, Any]:
    """Points and their digits."""
    components, y = _read(data_file("mnist.npz"), min(spec.r, _PIXELS))
    rows = choose_rows(spec, len(y), _PIXELS)
    return draw.array(components[rows]), draw.array(y[rows])


@lru_cache(maxsize=1)  # one run has many instances of the same points
def _read(path: Path, r: int) -> tuple[np.ndarray, np.ndarray]:
    with np.load(path) as file:
        return principal_components(file["X"] / 255.0, r), file["y"].astype(np.int64)
