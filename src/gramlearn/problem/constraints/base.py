"""t_k = offset_k + <A_k, X>: what every kind of constraint says of itself."""

import math
from abc import ABC, abstractmethod
from typing import Any

from gramlearn._base.arrays import Array, as_real
from gramlearn._base.validation import as_float, as_numbers, check_finite, check_per_constraint
from gramlearn.problem.linear_maps import LinearMap


class Constraints(ABC):
    """t_k = offset_k + <A_k, X> for k = 1..c."""

    offset: Any

    @property
    @abstractmethod
    def size(self) -> int:
        """c, the number of constraints."""

    @abstractmethod
    def restricted_map(self, basis: Array | None, dimension: int, like: Array) -> LinearMap:
        """Give the map of S, where X = basis S basis' is dimension x dimension (None: the identity).

        Raises where the constraints do not fit the dimension.
        """

    @abstractmethod
    def describe(self, k: int) -> str:
        """Name constraint k in the user's words, such as "squared distance of points 4 and 17"."""

    @classmethod
    @abstractmethod
    def examples(cls, n: int) -> list["Constraints"]:
        """Instances over n points, n >= 4, that the catalogue tests run on."""


def check_offset(offset: Any, size: int) -> Any:
    """A number, or one a row."""
    if isinstance(offset, int | float) and math.isfinite(as_float(offset)):
        return float(offset)
    offset = as_real(as_numbers(offset, "offset"))
    check_per_constraint(offset, "offset", size)
    check_finite(offset, "offset")
    return offset if offset.ndim else float(offset)
