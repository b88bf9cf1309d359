"""sum_t margin_t lam_t, less the residual of the prices' equations: a bound below every value of a design.

    r_p = sum_t lam_t D_tp + sum_c mu_c C_cp - g2 tr K_p,     sum_{p in f} |r_p| <= g1

Prices within their ends that satisfy this, and sum_c mu_c = g2 |S|, bound the value, by weak duality. A
solver leaves a residual of a ten-millionth, which a large alpha could exploit. So the prices are corrected
first, by the least change of those inside their bounds. What remains, beyond rounding, is subtracted at the
most it can gain: alpha'r at most, where sum_f s_f is at most value / g1 in any better answer.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from gramlearn.methods.kernel_design.program import Coefficients

_CORRECTIONS = 3
_ROUNDING = 16 * np.finfo(float).eps  # of the sum of what r_p is the difference of


@final
@dataclass(frozen=True, eq=False)
class LowerBound:
    """The dual program, as `program` states it, and what a point of it is worth."""

    data: Coefficients

    def of(
        self,
        lam: np.ndarray,
        mu: np.ndarray,
        cuts: np.ndarray,
        sparsity: float,
        trace_price: float,
        value: float,
    ) -> float:
        """The bound of prices lam of all comparisons and mu of these cuts; -inf where they bound nothing."""
        best, D, traces = -np.inf, self.data.differences, trace_price * self.data.traces
        for _ in range(_CORRECTIONS):
            lam = np.clip(lam, 0.0, self.data.weight)
            mu = self._scale(np.maximum(mu, 0.0), trace_price)
            left = lam @ D + mu @ cuts - traces
            rounding = _ROUNDING * (lam @ np.abs(D) + mu @ np.abs(cuts) + np.abs(traces))
            worth = self._worth(left, rounding, sparsity, value)
            best = max(best, float(lam @ self.data.margin) - worth)
            lam, mu = self._correct(lam, mu, cuts, left, sparsity)
        return best

    def _scale(self, mu: np.ndarray, trace_price: float) -> np.ndarray:
        """With sum_c mu_c = trace_price |S|, or at most that where the identity has a weight of at least 0."""
        total, needed = mu.sum(), trace_price * self.data.n_points
        if not self.data.has_identity or (self.data.nonnegative and total <= needed):
            return mu
        return mu * (needed / total) if total > 0 else np.full(mu.size, needed / mu.size)

    def _worth(
        self, left: np.ndarray, rounding: np.ndarray, sparsity: float, value: float
    ) -> float:
        """What alpha could gain from the residual of the equations."""
        gains = np.maximum(left, 0.0) if self.data.nonnegative else np.abs(left)
        of_groups = np.bincount(self.data.groups, np.maximum(gains - rounding, 0.0))
        excess = float(of_groups.max()) - sparsity
        if excess <= 0:
            return 0.0
        return excess * value / sparsity if sparsity else np.inf

    def _correct(
        self, lam: np.ndarray, mu: np.ndarray, cuts: np.ndarray, left: np.ndarray, sparsity: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The least change of the prices inside their bounds that brings each group down to `sparsity`."""
        gains = np.maximum(left, 0.0) if self.data.nonnegative else np.abs(left)
        of_groups = np.bincount(self.data.groups, gains)
        share = np.minimum(1.0, sparsity / np.maximum(of_groups, 1e-300))
        needed = np.where(gains > 0, (share[self.data.groups] - 1) * left, 0.0)
        inside, charged = (
            np.flatnonzero((lam > 0) & (lam < self.data.weight)),
            np.flatnonzero(mu > 0),
        )
        if not needed.any() or not inside.size + charged.size:
            return lam, mu
        # A weight of at least 0 has an inequality: where it is not tight, prices may change it.
        tight = gains > 0 if self.data.nonnegative else np.ones(gains.size, dtype=bool)
        columns = (np.vstack([self.data.differences[inside], cuts[charged]]) / self.data.sizes)[
            :, tight
        ]
        # The sum of mu stays what it is.
        sums = np.r_[np.zeros(inside.size), np.full(charged.size, float(self.data.has_identity))]
        system = np.column_stack([columns, sums]).T
        change = np.linalg.lstsq(system, np.r_[(needed / self.data.sizes)[tight], 0.0], rcond=None)[
            0
        ]
        lam, mu = lam.copy(), mu.copy()
        lam[inside] += change[: inside.size]
        mu[charged] += change[inside.size :]
        return lam, mu
