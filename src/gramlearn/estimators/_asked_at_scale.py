"""C = argmax of what is held back of a sample: what is asked of all statements that are never held whole.

The loss is C for each statement, so that m of n statements with m/n of the price ask as much as all do:

    D(M, I) + s k mean(loss)        C = s C1 m / n for all n, with C1 that of a sample of m

A strength s chosen by a sample is that of all; more statements would bear more of it, if anything. Statements
are asked as they are, since comparisons of pairs with other points would need all pairs at hand. Pairs without
bounds may stand beside as many dissimilar ones as are similar, drawn among all points, for groups that none is
about.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distances import coincide_under
from gramlearn.estimators._choosing import Known
from gramlearn.estimators._lazy import AnswersLazily
from gramlearn.methods.choosing.candidates import prior_root
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import differences_of_alike
from gramlearn.methods.metric.at_scale import Sample, with_margin
from gramlearn.methods.metric.fitting import Statements as Asked
from gramlearn.methods.metric.fitting import ask, read_loss
from gramlearn.methods.metric.maps import FullMap
from gramlearn.methods.metric.prior import Prior
from gramlearn.problem.losses.bounded import PricedLoss
from gramlearn.problem.regularizers import read_regularizer
from gramlearn.side_information import Pairs, SideInformation, Triplets
from gramlearn.side_information.stored import StoredStatements
from gramlearn.side_information.stored_pairs import StoredPairs


class Wanted(NamedTuple):
    """What is asked of a sample of the statements, in words that hold for all of them."""

    asked: Asked  # of the sample
    root: np.ndarray | None  # A of W = A' M A, where M is near the identity; None where M is W
    matrix: np.ndarray | None  # W0 that M is near, where that is W
    stored: StoredStatements
    given: np.ndarray | None  # A of the prior that was given; not of one that was chosen
    n_components: int | None
    prior_share: float = 0.0  # of the distances in the end


class AsksAtScale(AnswersLazily):
    """An estimator of all of a metric that asks of all statements what it was given, or a sample chooses."""

    regularizer: Any
    checkpoint: Any

    @property
    def _may_cut(self) -> bool:
        # Who goes on from a checkpoint must choose the same again, whatever the time.
        return self.checkpoint is None

    def _with_most_drawn(self, stored: StoredStatements) -> StoredStatements:
        """The statements, with as many drawn beside them as a choice may ask for."""
        is_open = self._chooses and self.loss is None and self.bounds is None
        if not (is_open and isinstance(stored, StoredPairs)) or stored.has_bounds:
            return stored
        return stored.beside_drawn(stored.size, 1.0, 0)

    @abstractmethod
    def _prior(self, X: Any, stays: bool, known: Any, y: Any) -> Prior | None:
        """W0, or None for the identity."""

    def _want_as_given(
        self,
        stored: StoredStatements,
        known: Known,
        X: np.ndarray,
        rng: np.random.Generator,
    ) -> Wanted:
        """At the price given, from the prior given."""
        side = cast(SideInformation, known.side)
        regularizer = read_regularizer(self.regularizer)
        loss = read_loss(self.loss, self.C, regularizer, side, "MetricLearner")
        if loss.is_hard:
            raise ValueError(
                f"`loss={self.loss!r}` makes all statements hold, and needs them in memory; pass "
                'loss="hinge" or "squared_hinge", or `side.sample(n)`.'
            )
        stays = regularizer.keeps_range
        prior = self._prior(X, stays, side, None)
        root = None if prior is None else prior.root
        points = X if root is None else (X - X.mean(axis=0)) @ root.T
        coincide = partial(coincide_under, X, points, root if stays else None)
        asked = ask(
            _possible(side, coincide), loss, coincide, points, self.bounds, self.percentiles, rng
        )
        is_moved = prior is not None and regularizer.is_invariant
        matrix = None if prior is None or is_moved else prior.matrix
        return Wanted(asked, root if is_moved else None, matrix, stored, root, self.n_components)

    def _choose_at_scale(
        self,
        stored: StoredStatements,
        known: Known,
        X: np.ndarray,
        rng: np.random.Generator,
    ) -> Wanted | None:
        """From the prior, and at the price, that a sample chooses; None where a prior alone is best."""
        side = cast(SideInformation, known.side)
        regularizer = read_regularizer(self.regularizer)
        prior = None if self._tries_prior else self._prior(X, True, side, None)
        given = None if prior is None else prior.root
        points = X if given is None else (X - X.mean(axis=0)) @ given.T
        coincide = partial(coincide_under, X, points, given)
        settle = partial(_settled, coincide)
        final, chosen = self._learn_best(
            Places(points),
            known,
            regularizer,
            False,
            settle,
            rng,
            are_features=True,
            is_sample=True,
        )
        n_drawn = Sample.size_of(stored)
        if n_drawn < stored.size:
            self._judgment += (
                f" It was chosen and judged by {n_drawn:,} of the {stored.size:,} statements."
            )
            self.verdict_ = self._judgment
        count = chosen.n_components if self.n_components is None else self.n_components
        if final.price is None:
            F = final.learned.root
            self._keep_map(X, FullMap(F.T if given is None else F.T @ given), count)
            self._keep_answer(final.learned, final.asked, judges_pairs=True)
            self._keep_explanation(X, None, final.asked, given)
            return None
        # The strength is that of all statements together, so that each of more of them has less.
        self.C_ = final.price * n_drawn / stored.size
        loss = replace(cast(PricedLoss, final.asked.loss), C=self.C_)
        asked = replace(final.asked, loss=loss)
        if chosen.statements == "drawn" and isinstance(side, Pairs):
            # What is told of the metric, such as the threshold, is told of those given.
            asked = replace(asked, side=settle(side, loss))
            stored = _beside_drawn(cast(StoredPairs, stored), side, rng)
        if isinstance(side, Triplets) and side.margin is None:
            stored = with_margin(stored, cast(Triplets, asked.side).margin)
        root = given
        if chosen.prior != "identity":
            A = prior_root(chosen.prior, Places(points), differences_of_alike(points, side))
            root = A if given is None else A @ given
        return Wanted(asked, root, None, stored, given, count, chosen.prior_share)


def _beside_drawn(stored: StoredPairs, sample: Pairs, rng: np.random.Generator) -> StoredStatements:
    """These, and dissimilar ones drawn that weigh together as much as the similar ones, as a sample tells."""
    # Repeated pairs are one in the sample, with the weight of all: so weights tell how many there are.
    weights = sample.pair_weights()
    similar, total = float(weights[: len(sample.similar)].sum()), float(weights.sum())
    if not similar:
        return stored
    n_drawn = round(stored.size * similar / total)
    seed = int(rng.integers(2**63))
    return stored.beside_drawn(n_drawn, total / Sample.size_of(stored), seed)


def _possible(side: SideInformation, coincide: Any) -> SideInformation:
    """Those that some metric can honor; all, if there are none. Who reads all statements counts the others."""
    mask = to_numpy(side.find_impossible(coincide))
    return side if mask.all() else side.drop(mask)


def _settled(coincide: Any, side: SideInformation, loss: Any) -> SideInformation:
    del loss
    return _possible(side, coincide)
