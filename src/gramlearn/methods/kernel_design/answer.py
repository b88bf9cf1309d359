"""value(K) - bound: the answer of a kernel design, and how far from the best it can be."""

from dataclasses import dataclass
from typing import final

import numpy as np

from gramlearn.problem.solution import CertifiedAnswer


@final
@dataclass(frozen=True, eq=False, repr=False)
class KernelDesign(CertifiedAnswer):
    """K = sum_p weights_p K_p + identity I with value(K) - bound <= gap.

    Attributes
    ----------
    weights, identity :
        alpha, one number a kernel, and beta.
    sparsity, trace_price : float
        What it was designed for.
    n_points, cuts : int
        |S|, and how many rows were made dominant one by one.
    value, bound : float
        The value of K, and a lower bound on every value: the same as primal and dual.
    primal, dual, gap, relative_gap, violation, status, history, iterations, seconds :
        As of a `Solution`; an iteration is a round. The gap is measured against a millionth of the value of
        K = 0 at least. The violation is what a row lacks of dominance, relative to the largest diagonal
        entry: 0, unless the identity was left out.
    """

    weights: np.ndarray
    identity: float
    sparsity: float
    trace_price: float
    n_points: int
    cuts: int

    @property
    def value(self) -> float:
        """The value of K."""
        return self.primal

    @property
    def bound(self) -> float:
        """No design has a smaller value."""
        return self.dual

    def __repr__(self) -> str:
        used = np.count_nonzero(self.weights)
        return (
            f"KernelDesign({self.status.name}, value {self.value:.6g}, relative gap {self.relative_gap:.1e}, "
            f"{used} of {self.weights.size} kernels, diagonally dominant on {self.n_points} points, "
            f"{self.cuts} cuts in {self.iterations} rounds, {self.seconds:.2g} s)"
        )
