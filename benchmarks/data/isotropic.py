"""Ten classes with no axis better than another: center N(0, I), noise N(0, I).

The variance of an axis says nothing about the classes, unlike in `synthetic`.
"""

from typing import Any

from benchmarks.data._draw import Draw
from benchmarks.instance import Spec

__all__ = ["points"]

_CLASSES = 10


def points(spec: Spec, draw: Draw) -> tuple[Any, Any]:
    """Points and their classes."""
    y = draw.below(_CLASSES, spec.n)
    centers = draw.normal(_CLASSES, spec.r)
    noise = draw.normal(spec.n, spec.r)
    noise += centers[y]
    return noise, y
