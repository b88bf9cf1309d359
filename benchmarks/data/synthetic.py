"""Ten classes along axes that matter less and less, like principal components.

centre = 2 k^(-1/2) N(0, 1),   noise = k^(-1/2) N(0, 1)   along axis k = 1, ..., r
"""

from typing import Any

from benchmarks.data._draw import Draw
from benchmarks.instance import Spec

__all__ = ["points"]

_CLASSES = 10
_SPREAD = 2.0


def points(spec: Spec, draw: Draw) -> tuple[Any, Any]:
    """Points and their classes."""
    scale = (draw.array(list(range(1, spec.r + 1))) * 1.0) ** -0.5
    y = draw.below(_CLASSES, spec.n)
    centers = _SPREAD * draw.normal(_CLASSES, spec.r)
    noise = draw.normal(spec.n, spec.r)
    noise += centers[y]
    noise *= scale
    return noise, y
