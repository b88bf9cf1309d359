"""alpha(sparsity): weights and number of features of a kernel design as its price falls (F07 3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gramlearn.methods.kernel_design.answer import KernelDesign
from gramlearn.methods.kernel_design.problem import DesignProblem, check_price

_STEPS = 25
_SHARE = 1e-4  # of the first sparsity, to which the path goes by default


@final
@dataclass(frozen=True, eq=False)
class DesignPath:
    """Designs for falling sparsity, each begun where the one before ended.

    Attributes
    ----------
    sparsity : vector
        In falling order.
    weights : array, a row a sparsity, a column a kernel
    n_kernels, n_features : vectors of int
        How many kernels, and how many features, have a weight.
    kept : vector
        The share of the training comparisons that each design keeps.
    designs : tuple of KernelDesign
    words : tuple of str
        The kernels.
    features : vector of int
        The feature of each weak kernel, and -1 of kernels of all features.
    names : vector of str, optional
        Of the features, where X was a data frame.
    """

    sparsity: np.ndarray
    weights: np.ndarray
    n_features: np.ndarray
    kept: np.ndarray
    designs: tuple[KernelDesign, ...]
    words: tuple[str, ...]
    features: np.ndarray
    names: Any = None

    @property
    def n_kernels(self) -> np.ndarray:
        """How many kernels have a weight."""
        return np.count_nonzero(self.weights, axis=1)

    def __repr__(self) -> str:
        weak = -1 not in self.features
        counts, unit = (self.n_features, "features") if weak else (self.n_kernels, "kernels")
        return (
            f"DesignPath({len(self.designs)} designs, sparsity {self.sparsity[0]:.3g} to "
            f"{self.sparsity[-1]:.3g}, {counts[0]} to {counts[-1]} {unit})"
        )


def path_of(
    problem: DesignProblem,
    sparsity: Any,
    trace_price: float,
    words: Sequence[str],
    features: np.ndarray,
    n_features: int,
    names: Any = None,
    **options: Any,
) -> DesignPath:
    """Solve for each sparsity, from the largest down; from where all weights are zero, where none are given."""
    if sparsity is None:
        first = problem.largest_sparsity
        prices = first * np.geomspace(1.0, _SHARE, _STEPS) if first > 0 else np.ones(1)
    else:
        given = [check_price(value, "sparsity") for value in np.atleast_1d(sparsity)]
        prices = np.sort(given)[::-1]
        if not prices.size:
            raise ValueError("`sparsity` is empty; pass at least one price, or none at all.")
    designs = tuple(problem.solve(value, trace_price, **options) for value in prices)
    weights = np.stack([design.weights for design in designs])
    kept = np.asarray([problem.share_kept(row) for row in weights])
    # A kernel of all features reads all of them.
    used = [np.unique(features[row != 0]) for row in weights]
    counts = np.asarray([n_features if -1 in numbers else numbers.size for numbers in used])
    return DesignPath(prices, weights, counts, kept, designs, tuple(words), features, names)
