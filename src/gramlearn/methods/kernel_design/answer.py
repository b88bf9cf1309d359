"""value(K) - bound: the answer of a kernel design, and how far from the best it can be."""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from gramlearn.problem.certificate import Certificate
from gramlearn.problem.dual import LEAST_SHARE
from gramlearn.problem.solution import Record
from gramlearn.problem.status import Status

__all__ = ["KernelDesign", "certificate_of"]


@final
@dataclass(frozen=True, eq=False)
class KernelDesign:
    """K = sum_p weights_p K_p + identity I with value(K) - bound <= gap.

    Attributes
    ----------
    weights, identity :
        alpha, one number a kernel, and beta.
    gamma1, gamma2 : float
        What it was designed for.
    value, bound, gap, relative_gap : float
        The value of K, a lower bound on every value, and the distance between them.
    violation : float
        What is missing from the dominance of a row, beside the largest diagonal entry: 0, unless the identity
        was left out.
    status : Status
    size : float
        The value of K = 0, a millionth of which the gap is measured against at least.
    n_points, rounds, cuts, seconds :
        |S|, and what the solve took.
    history : tuple of Record
        One entry a round.
    """

    weights: np.ndarray
    identity: float
    gamma1: float
    gamma2: float
    value: float
    bound: float
    violation: float
    size: float
    n_points: int
    status: Status
    cuts: int
    history: tuple[Record, ...] = field(repr=False)

    @property
    def gap(self) -> float:
        return self._certificate.gap

    @property
    def relative_gap(self) -> float:
        return self._certificate.relative_gap

    @property
    def rounds(self) -> int:
        return len(self.history)

    @property
    def seconds(self) -> float:
        return self.history[-1].seconds

    @property
    def _certificate(self) -> Certificate:
        return certificate_of(self.value, self.bound, self.violation, self.size)

    def __repr__(self) -> str:
        used = np.count_nonzero(self.weights)
        return (
            f"KernelDesign({self.status.name}, value {self.value:.6g}, relative gap {self.relative_gap:.1e}, "
            f"{used} of {self.weights.size} kernels, diagonally dominant on {self.n_points} points, "
            f"{self.cuts} cuts in {self.rounds} rounds, {self.seconds:.2g} s)"
        )


def certificate_of(value: float, bound: float, violation: float, size: float) -> Certificate:
    """The gap of a value, and what it is measured against."""
    return Certificate(value, bound, max(value - bound, 0.0), violation, least=LEAST_SHARE * size)
