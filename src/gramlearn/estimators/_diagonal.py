"""d(x, y) = sum_f w_f (x_f - y_f)^2: a metric of shape "diagonal" learns a weight for each feature.

Its steps are those of a full metric, with vectors in place of matrices, and X may be sparse.
"""

from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.distances import equal_rows
from gramlearn._base.validation import check_choice
from gramlearn.estimators._choosing import numbered_classes
from gramlearn.estimators._columns import KeepsColumns
from gramlearn.estimators._explaining import ExplainsMetric
from gramlearn.estimators._going_on import GoesOn
from gramlearn.estimators._learning import side_of
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import IfThere
from gramlearn.methods.choosing.learning import Setting
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import alike_pairs
from gramlearn.methods.choosing.weights import OfWeights
from gramlearn.methods.choosing.within import (
    weights_standardized,
    weights_within,
    within_classes,
    within_pairs,
)
from gramlearn.methods.metric.diagonal.fitting import LearnedWeights, learn_weights, read_weights
from gramlearn.methods.metric.fitting import Statements, drop_impossible_statements, read_loss
from gramlearn.methods.metric.maps import DiagonalMap, scaled_columns
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.losses.bounded import PricedLoss
from gramlearn.problem.regularizers import read_regularizer
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation
from gramlearn.side_information.percentiles import check_bounds


class _Answer(NamedTuple):
    """What was asked, the weights learned from it, and those of the prior."""

    asked: Statements
    learned: LearnedWeights
    prior: np.ndarray


class LearnsWeights(ExplainsMetric, GoesOn, KeepsColumns):
    """Learns a weight for each feature, where that is the shape of the metric."""

    regularizer: Any
    rank: Any
    basis: Any
    regularize: Any
    shape: Any
    feature_weights_: np.ndarray
    _saved: ClassVar[dict[str, FilePart]] = {"feature_weights_": IfThere(Array("d", least=0.0))}

    @property
    def _is_diagonal(self) -> bool:
        return check_choice(self.shape, "shape", {"full": False, "diagonal": True})

    @property
    def _needs_numpy(self) -> str:
        is_diagonal = isinstance(self.shape, str) and self.shape == "diagonal"
        return 'shape="diagonal"' if is_diagonal else ""

    def _learn_weights(
        self, X: Any, y: Any, side: SideInformation | None, rng: np.random.Generator
    ) -> Self:
        """Learn the weights, and keep them, what they measure, and what they were learned from."""
        self._check_diagonal()
        find = self._best_weights if self._chooses else self._given_weights
        asked, learned, prior = find(X, y, side, rng)
        self.feature_weights_ = learned.feature_weights
        self._keep_map(X, DiagonalMap(learned.feature_weights), self.n_components)
        self._keep_answer(learned, asked, judges_pairs=side is not None)
        self._keep_explanation(X, y if side is None else None, asked, np.sqrt(prior))
        return self

    def _given_weights(
        self, X: Any, y: Any, side: SideInformation | None, rng: np.random.Generator
    ) -> _Answer:
        """Learn at the price given, from the prior given."""
        known = side_of(side, y, X.shape[0], self.n_pairs, rng)
        regularizer = read_regularizer(self.regularizer)
        loss = read_loss(self.loss, self.C, regularizer, known, type(self).__name__)
        if isinstance(self.prior, str) and self.prior == "inverse_within":
            prior = _weights_within(X, known, y if side is None else None)
        else:
            may_be_zero = not regularizer.keeps_range
            prior = self._weights_of_prior(X, self.prior, may_be_zero=may_be_zero)
        asked, learned = learn_weights(
            known,
            loss,
            regularizer,
            self._solve_weights,
            X,
            prior,
            self.bounds,
            self.percentiles,
            rng,
        )
        return _Answer(asked, learned, prior)

    def _best_weights(
        self, X: Any, y: Any, side: SideInformation | None, rng: np.random.Generator
    ) -> _Answer:
        """Choose what was not given by what is held back, and learn from all that is known."""
        known = self._known(side, y, X.shape[0], rng)
        regularizer = read_regularizer(self.regularizer)
        self._check_no_solver()
        prior = self._weights_of_prior(X, None if self._tries_prior else self.prior)
        scale = np.sqrt(prior)
        if self._tries_prior:
            # Centered, a feature that is one number up to rounding is that rounding alone, and seems to vary.
            scale = scale * Places(X).varies
        # Distances do not see the origin, and have more digits near it; sparse points stay sparse.
        points = scaled_columns(X if issparse(X) else X - X.mean(axis=0), scale)

        def settle(known: SideInformation, loss: BoundedLoss) -> SideInformation:
            return drop_impossible_statements(known, partial(equal_rows, points), loss)

        final, _ = self._learn_best(
            Places(points), known, regularizer, False, settle, rng, are_features=True
        )
        learned = final.learned._replace(feature_weights=prior * final.learned.feature_weights)
        return _Answer(final.asked, learned, prior)

    def _weights_of_prior(self, X: Any, prior: Any, may_be_zero: bool = False) -> np.ndarray:
        """A prior that is a matter of X alone."""
        if isinstance(prior, str) and prior == "standardized":
            return weights_standardized(Places(X))
        return read_weights(prior, X, may_be_zero=may_be_zero)

    def _setting(self, regularizer: Regularizer, loss: PricedLoss, of_kernel: bool) -> Setting:
        if not self._is_diagonal:
            return super()._setting(regularizer, loss, of_kernel)
        bounds = check_bounds(self.bounds)
        return OfWeights(regularizer, loss, bounds, self._percentiles, solve=self._solve_weights)

    def _check_diagonal(self) -> None:
        """No matrix is said to be learned."""
        if self.rank is not None or not isinstance(self.basis, str) or self.basis != "svd":
            raise ValueError(
                '`shape="diagonal"` is a weight for each feature, and has no `rank` and no `basis`; leave '
                'them at their defaults, or use shape="full".'
            )
        if check_choice(self.regularize, "regularize", {"map": False, "kernel": True}):
            raise ValueError(
                '`shape="diagonal"` regularizes the weights of the features; use regularize="map", or '
                'shape="full".'
            )


def _weights_within(X: Any, known: SideInformation, y: Any) -> np.ndarray:
    """One over the variance of each feature among alike points, as labels or else what is known tells it."""
    if y is None:
        found = within_pairs(X, *alike_pairs(known))
    else:
        found = within_classes(X, numbered_classes(y, X.shape[0]))
    return weights_within(Places(X), found)
