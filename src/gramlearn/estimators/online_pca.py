"""W <- cap(exp(log W - eta x x')): OnlinePCA, the leading directions of a stream."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.compilation import announced
from gramlearn._base.threads import one_thread
from gramlearn._base.validation import check_count, check_positive
from gramlearn.estimators._all_or_nothing import all_or_nothing, end_early
from gramlearn.estimators._inputs import FLOATS, KeepsPrecision, validated
from gramlearn.methods.online_pca import CappedDensity
from gramlearn.problem.status import SolveInterrupted

_LARGEST = 1e302  # what rows may add to the loss, and to the logarithm of W, with room for sums


class OnlinePCA(KeepsPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """PCA of a stream with a bound on its regret (Warmuth and Kuzmin, 2008).

    W is a density matrix over the n - k directions to discard, updated by each row x in turn. For |x| <= 1,
    with d = n - k and L the loss of the best k directions in hindsight, whatever the stream,

        sum_t d x_t' W_t x_t  <=  (eta L + d log(n / d)) / (1 - exp(-eta))

    Parameters
    ----------
    n_components : int
        The number of columns that `transform` gives. k, fewer than the stream has features.
    eta : float
        The learning rate: how far each row of X moves what was learned. For rows of length about one. Small
        rates average over more rows, large ones forget faster.

    Attributes
    ----------
    components_ : array k x n
        The directions kept: eigenvectors of the k least eigenvalues of W, the least first.
    density_ : array n x n
        W.
    loss_ : float
        sum_t d x_t' W_t x_t, the expected loss so far, each row before it was learned from.
    n_samples_seen_ : int

    Rows are taken as they are: subtract the mean first, and divide by the largest length for the bound.

    A row costs O(n^2) operations, for p of the n directions that are not at the cap another O(n p log p): at
    most O(n^2 log n), whatever `n_components`. Memory is O(n^2).
    """

    _state: CappedDensity
    components_: np.ndarray
    loss_: float
    n_samples_seen_: int

    def __init__(self, n_components: int = 1, eta: float = 1.0) -> None:
        self.n_components = n_components
        self.eta = eta

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X, in their order, from the start."""
        return self._learn(validated(self, X, dtype=np.float64, reset=True), first=True)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from further rows."""
        first = not hasattr(self, "_state")
        return self._learn(validated(self, X, dtype=np.float64, reset=first), first)

    def _learn(self, X: np.ndarray, first: bool) -> Self:
        n, k = X.shape[1], check_count(self.n_components, "n_components")
        if k >= n:
            raise ValueError(
                f"`n_components={k}` is too large for {n} feature(s): at least one direction is discarded. "
                "Ask for fewer components, or leave the data as they are."
            )
        eta = check_positive(self.eta, "eta", "OnlinePCA")
        longest = float(np.abs(X).max())
        times = max(eta, len(X))
        if not times * n * longest * longest < _LARGEST:
            what = f"times `eta={eta:g}`" if times == eta else f"summed over {len(X)} rows"
            raise ValueError(
                f"X has an entry of size {longest:.3g}, and the squared length of such a row {what} may be "
                f"more than a number can hold; divide X by {longest:.0e}."
            )
        state = CappedDensity.uniform(n, n - k) if first else self._state
        if state.d != n - k:
            raise ValueError(
                f"`n_components` is {k}, but earlier rows were learned from with {n - state.d}; set it back, "
                "or start anew with `fit`."
            )
        loss = 0.0 if first else self.loss_
        # One tuple, so that Ctrl-C finds the three together.
        seen = (0, loss, state)
        try:
            # Blocks of low rank are small whatever n is: threads would mostly wait for each other.
            with one_thread(), announced("the eigenvalues of online PCA"):
                for x in X:
                    count, loss, state = seen
                    seen = (count + 1, loss + state.loss(x), state.updated(x, eta))
        except KeyboardInterrupt:
            if not seen[0]:
                raise
            end_early(self, SolveInterrupted(seen[2], f"after {seen[0]} of {len(X)} rows"))
        count, self.loss_, state = seen
        self._state = state
        self.n_samples_seen_ = count + (0 if first else self.n_samples_seen_)
        self.components_ = state.vectors[:k].copy()
        return self

    @property
    def density_(self) -> np.ndarray:
        """W, the density over the directions to discard."""
        check_is_fitted(self, "components_")
        return self._state.matrix

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates along the kept directions."""
        check_is_fitted(self, "components_")
        X = validated(self, X, dtype=FLOATS, reset=False)
        return np.asarray(X @ self.components_.T.astype(X.dtype, copy=False))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Points from their coordinates."""
        check_is_fitted(self, "components_")
        return np.asarray(X @ self.components_)
