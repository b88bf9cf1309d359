"""Numbers N 2^e with integers N: products, sums and traces of doubles without any rounding.

A double is such a number, so all that is linear or quadratic in the data (a squared distance, X = F F',
sum_k lam_k A_k) comes out exact, at the cost of integer arithmetic. What follows from it (eigenvalues,
logarithms) is left to 60 digits of mpmath.
"""

from typing import Any, final

import mpmath
import numpy as np

__all__ = ["Exact", "multiprecision"]

DIGITS = 60
multiprecision = mpmath.MPContext()
multiprecision.dps = DIGITS


@final
class Exact:
    """An array of numbers N 2^e with one exponent e for all."""

    def __init__(self, integers: np.ndarray, exponent: int) -> None:
        self.integers = integers
        self.exponent = exponent

    @classmethod
    def of(cls, x: Any) -> "Exact":
        """Take doubles as they are, all of them finite."""
        array = np.asarray(x, dtype=float)
        mantissa, exponent = np.frexp(array)
        least = int(exponent[array != 0].min()) - 53 if np.any(array) else 0
        shift = np.where(array != 0, exponent - 53 - least, 0)
        integers = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
        return cls(np.asarray(integers * _powers(shift), dtype=object), least)

    def _aligned(self, other: "Exact") -> tuple[np.ndarray, np.ndarray, int]:
        least = min(self.exponent, other.exponent)
        mine, theirs = (x.integers * (1 << (x.exponent - least)) for x in (self, other))
        return mine, theirs, least

    def __add__(self, other: "Exact") -> "Exact":
        mine, theirs, least = self._aligned(other)
        return Exact(mine + theirs, least)

    def __sub__(self, other: "Exact") -> "Exact":
        mine, theirs, least = self._aligned(other)
        return Exact(mine - theirs, least)

    def __mul__(self, other: "Exact") -> "Exact":
        return Exact(self.integers * other.integers, self.exponent + other.exponent)

    def __matmul__(self, other: "Exact") -> "Exact":
        return Exact(self.integers @ other.integers, self.exponent + other.exponent)

    def __getitem__(self, key: Any) -> "Exact":
        return Exact(self.integers[key], self.exponent)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.integers.shape

    @property
    def T(self) -> "Exact":  # noqa: N802 - as NumPy has it
        """The transpose of a matrix."""
        return Exact(self.integers.T, self.exponent)

    def sum(self, axis: Any = None) -> "Exact":
        """The sum over these axes."""
        return Exact(np.asarray(self.integers.sum(axis=axis), dtype=object), self.exponent)

    def halved(self) -> "Exact":
        """x / 2."""
        return Exact(self.integers, self.exponent - 1)

    def nearest(self) -> np.ndarray:
        """To doubles."""
        e = self.exponent
        convert = np.frompyfunc(lambda n: float(multiprecision.ldexp(int(n), e)), 1, 1)
        return np.asarray(convert(self.integers), dtype=float)

    def rounded(self) -> np.ndarray:
        """To 60 digits: an array of numbers of mpmath."""
        mp, e = multiprecision, self.exponent
        convert = np.frompyfunc(lambda n: mp.ldexp(mp.mpf(int(n)), e), 1, 1)
        return np.asarray(convert(self.integers), dtype=object)


def _powers(shift: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(lambda s: 1 << int(s), 1, 1)(shift), dtype=object)
