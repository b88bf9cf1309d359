"""X(Y - delta A) in the form that makes it cheap: an inverse for LogDet, an exponential for von Neumann.

A form is begun at one X, runs through constraints in a given order, and can say at any time what X is.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import final

import numpy as np

from gramlearn._base.threads import one_thread
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.solvers.projections.constraint_table import Table


class FormOfX(ABC):
    """X between two projections."""

    @abstractmethod
    def __init__(self, at: ConjugatePoint, block: int, approximate: bool) -> None: ...

    @abstractmethod
    def run(self, order: np.ndarray, table: Table, lam: np.ndarray, counts: np.ndarray) -> None:
        """Project on the constraints in this order; lam changes in place, counts[0] by evaluations of t."""

    @property
    @abstractmethod
    def factor(self) -> np.ndarray:
        """F with F F' = X."""


@final
class InverseForm(FormOfX):
    """X = B B' with B lower triangular, or X itself where constraints are projected on in blocks."""

    def __init__(self, at: ConjugatePoint, block: int, approximate: bool) -> None:
        del approximate
        self._X = at.factor @ at.factor.T
        self._block = block
        self._transposed = np.ascontiguousarray(self._lower().T)

    def _lower(self) -> np.ndarray:
        return np.linalg.cholesky((self._X + self._X.T) / 2)

    def run(self, order: np.ndarray, table: Table, lam: np.ndarray, counts: np.ndarray) -> None:
        from gramlearn.solvers.projections.logdet_epoch import blocked_epoch, epoch

        if self._block == 1:
            epoch(order, *table, self._transposed, lam)
            return
        from gramlearn.solvers.projections.blas import DGEMM

        # Products of this size take longer with several threads, which wait for each other.
        with one_thread():
            blocked_epoch(order, *table, self._X, lam, self._block, DGEMM)

    @property
    def factor(self) -> np.ndarray:
        return self._transposed.T if self._block == 1 else self._lower()


@final
class ExponentialForm(FormOfX):
    """X = W diag(exp theta) W' with W orthogonal."""

    def __init__(self, at: ConjugatePoint, block: int, approximate: bool) -> None:
        del block
        self._approximate = approximate
        theta = np.linalg.diagonal(at.image)
        order = np.argsort(theta)
        self._theta = np.ascontiguousarray(theta[order])
        self._W = np.ascontiguousarray(at.frame[:, order])

    def run(self, order: np.ndarray, table: Table, lam: np.ndarray, counts: np.ndarray) -> None:
        from gramlearn.solvers.projections.von_neumann_epoch import approximate_epoch, epoch

        begun = (order, *table, self._theta, self._W, lam)
        done = approximate_epoch(*begun) if self._approximate else epoch(*begun, counts)
        self._theta, self._W = done

    @property
    def factor(self) -> np.ndarray:
        return self._W * np.exp(self._theta / 2)


FORMS_OF_X: Mapping[str, type[FormOfX]] = {"inverse": InverseForm, "exponential": ExponentialForm}
