"""k(x, y) = sum_p alpha_p k_p(x, y) + beta delta(x, y): what a designed kernel says of new points."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import generator
from gramlearn.estimators._design_points import DesignPoints
from gramlearn.estimators._learning import triplets_of
from gramlearn.estimators._precision import KeepsPrecision
from gramlearn.evaluation.triplets import share_kept
from gramlearn.methods.kernel_design.kernel import Coordinates, DesignedKernel, shift_for
from gramlearn.side_information import SideInformation

__all__ = ["DesignedMethods"]

_COMPARISONS = 1000  # drawn from labels, as F07 3.1 judges


class DesignedMethods(KeepsPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Of an estimator that has a designed kernel, its training points, and coordinates of them."""

    _kernel: DesignedKernel
    _given: DesignPoints
    _coordinates: Coordinates

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """All k(x, y) of the designed kernel; without Y those with the training points."""
        check_is_fitted(self)
        reads = self._kernel.reads
        if Y is None:
            return self._kernel(self._given.new(self, X, reads), self._given.training)
        return self._kernel(*self._given.two_new(self, X, Y, reads))

    def mended_kernel(self, X: Any) -> tuple[np.ndarray, float]:
        """(K, shift): the kernel of these points, with beta raised by the shift that makes it PSD."""
        check_is_fitted(self)
        seen, _ = self._given.two_new(self, X, X, self._kernel.reads)
        shift = shift_for(self._kernel, seen)
        return replace(self._kernel, identity=self._kernel.identity + shift)(seen, seen), shift

    def transform(self, X: Any) -> np.ndarray:
        """k(x, S) V diag(s)^(-1/2) with K = V diag(s) V' on S: coordinates whose inner products are the kernel.

        That is so of two points of S, and of one of them and any other; of two others as far as points of S
        can tell.
        """
        check_is_fitted(self)
        seen = self._given.new(self, X, self._kernel.reads)
        return self._coordinates(seen).astype(seen.precision, copy=False)

    def pair_score(self, pairs: Any) -> np.ndarray:
        """sum_p alpha_p k_p(x, y) of each pair, the larger the more alike: what comparisons are about.

        Parameters
        ----------
        pairs : array m x 2 x d, or (A, B) or [A, B] of two arrays m x d
            The points of the pairs.
        """
        check_is_fitted(self)
        sides = self._given.new_pairs(self, pairs, self._kernel.reads)
        return self._kernel.paired_similarity(*sides)

    def score(self, X: Any, y: Any = None, *, side: SideInformation | None = None) -> float:
        """The share of comparisons kept: of the Triplets `side`, or of 1000 that are drawn from labels y.

        Of precomputed kernels X is that of the training points; of others there is no telling.
        """
        check_is_fitted(self)
        seen = self._given.new(self, X, self._kernel.reads)
        n = len(seen.points)
        known = triplets_of(side, y, n, _COMPARISONS, generator(0))
        i, j, _ = (to_numpy(rows) for rows in known.near_and_far())
        first, second = self._given.pairs_of(seen, i, j)
        near, far = np.split(self._kernel.paired_similarity(first, second), 2)
        return share_kept(near, far, known)

    @property
    def _n_features_out(self) -> int:
        return int(self._coordinates.weights.shape[1])
