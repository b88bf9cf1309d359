"""Two arithmetics, one set of formulas: doubles of NumPy, and exact products followed by 60 digits.

A formula takes its arithmetic as the argument `a`. `a.data` reads what is given, `a.real` goes on to numbers
of which logarithms and eigenvalues can be taken.
"""

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from stress.exact import Exact, multiprecision

__all__ = ["DOUBLE", "SIXTY", "Arithmetic"]

INF = float("inf")


class Arithmetic(ABC):
    """What the formulas of the judge ask of numbers."""

    eps: float  # of one operation on reals

    @abstractmethod
    def data(self, x: Any) -> Any:
        """Given numbers, ready for +, -, *, @ and sum."""

    @abstractmethod
    def real(self, x: Any) -> np.ndarray:
        """Numbers of `data`, or given ones, as an array of reals."""

    @abstractmethod
    def eigh(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues, ascending, and eigenvectors of a symmetric matrix of reals."""

    @abstractmethod
    def squared_singular(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of M M', descending, and their eigenvectors."""

    @abstractmethod
    def log(self, x: np.ndarray) -> np.ndarray:
        """log x of positive x."""

    @abstractmethod
    def log1p(self, x: np.ndarray) -> np.ndarray:
        """log(1 + x) of x > -1, with all its digits near 0."""

    @abstractmethod
    def exp(self, x: np.ndarray) -> np.ndarray:
        """exp x."""

    @abstractmethod
    def expm1(self, x: np.ndarray) -> np.ndarray:
        """exp x - 1, with all its digits near 0."""

    @abstractmethod
    def power(self, x: np.ndarray, exponent: float) -> np.ndarray:
        """x ** exponent of x >= 0."""


@final
class _Double(Arithmetic):
    eps = 2.0**-52

    def data(self, x: Any) -> Any:
        return np.asarray(x, dtype=float)

    def real(self, x: Any) -> np.ndarray:
        return np.asarray(x, dtype=float)

    def eigh(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.linalg.eigh((S + S.T) / 2)

    def squared_singular(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        U, sigma, _ = np.linalg.svd(M)
        squares = np.zeros(M.shape[0])
        squares[: sigma.size] = sigma**2
        return squares, U

    def log(self, x: np.ndarray) -> np.ndarray:
        return np.log(x)

    def log1p(self, x: np.ndarray) -> np.ndarray:
        return np.log1p(x)

    def exp(self, x: np.ndarray) -> np.ndarray:
        return np.exp(x)

    def expm1(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # infinite it is
            return np.expm1(x)

    def power(self, x: np.ndarray, exponent: float) -> np.ndarray:
        return x**exponent


@final
class _Sixty(Arithmetic):
    eps = 1e-55

    def data(self, x: Any) -> Exact:
        return Exact.of(x)

    def real(self, x: Any) -> np.ndarray:
        if isinstance(x, Exact):
            return x.rounded()
        array = np.asarray(x)
        if array.dtype == object:
            return array
        return np.asarray(np.frompyfunc(multiprecision.mpf, 1, 1)(array.astype(float)), object)

    def eigh(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = multiprecision.eigsy(multiprecision.matrix(((S + S.T) / 2).tolist()))
        n = S.shape[0]
        return (
            np.asarray([values[k] for k in range(n)], dtype=object),
            np.asarray([[vectors[i, k] for k in range(n)] for i in range(n)], dtype=object),
        )

    def squared_singular(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = self.eigh(M @ M.T)
        return np.maximum(values[::-1], 0), vectors[:, ::-1]

    def log(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.frompyfunc(multiprecision.log, 1, 1)(x), object)

    def log1p(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.frompyfunc(multiprecision.log1p, 1, 1)(x), object)

    def exp(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.frompyfunc(multiprecision.exp, 1, 1)(x), object)

    def expm1(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.frompyfunc(multiprecision.expm1, 1, 1)(x), object)

    def power(self, x: np.ndarray, exponent: float) -> np.ndarray:
        # An exponent that is a ratio of doubles in the library's eyes is one here, too.
        power = multiprecision.mpf(exponent)
        return np.asarray(np.frompyfunc(lambda v: v**power if v else v * 0, 1, 1)(x), object)


DOUBLE: Arithmetic = _Double()
SIXTY: Arithmetic = _Sixty()
