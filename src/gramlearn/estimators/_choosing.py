"""C = argmax of what is held back: an estimator that was given no price chooses one, and says whether it helps.

What else decides is chosen with it, unless it was given: the prior, the kind of statements, and the number of
columns. The plain distance is among the candidates, and is kept where none of the others beats it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlearn._base.validation import check_flag
from gramlearn._base.warnings import warn
from gramlearn.estimators._learning import SolvesProblems, check_labels, check_not_side, side_of
from gramlearn.estimators._parts.answers import OUTCOME
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import IfThere, Maybe
from gramlearn.estimators._parts.plain import Plain
from gramlearn.estimators._parts.words import Number, Text
from gramlearn.methods.choosing.candidates import PRIORS, Candidate, Family, is_standardized
from gramlearn.methods.choosing.choose import choose
from gramlearn.methods.choosing.families import (
    families_as_given,
    families_of,
    families_of_labels,
    families_of_sample,
)
from gramlearn.methods.choosing.learning import (
    PERCENTILES,
    Final,
    OfMatrices,
    Setting,
    learn_candidate,
)
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import OfLabels, OfStatements, Task
from gramlearn.methods.metric.fitting import PERCENTILES as WIDE
from gramlearn.methods.metric.fitting import read_template
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.losses.bounded import PricedLoss
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation
from gramlearn.side_information.percentiles import check_bounds, check_percentiles
from gramlearn.side_information.sampling import labeled_classes
from gramlearn.solvers.loop import Limits
from gramlearn.solvers.progress import counting_bar

_SHARE = 0.5  # of a time limit, for choosing
_ONE_DIGIT = 0.1  # a relative gap, above which an answer is none
DIRECTIONS = 100  # in which a metric of more features is learned, where no rank is given

Settle = Callable[[SideInformation, Any], SideInformation]


class Known(NamedTuple):
    """Statements about points, given or drawn from labels, or else the class of each point."""

    side: SideInformation | None = None
    classes: np.ndarray = np.zeros(0, dtype=int)
    is_drawn: bool = False


def numbered_classes(y: Any, n_points: int) -> np.ndarray:
    """The class of each point, numbered from 0; -1 where it has none."""
    classes = np.full(n_points, -1)
    for number, rows in enumerate(labeled_classes(y)):
        classes[rows] = number
    return classes


class SaidOfAChoice:
    """What a fit that chose says of itself; after another, the AttributeError names what kept it from that."""

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self
        check_is_fitted(estimator)
        names = " and ".join(f"`{name}`" for name in estimator._keeps_from_choosing)
        how = f"fit without {names}" if names else "fit again"
        raise AttributeError(
            f"`verdict_` judges a price that was chosen, and this {type(estimator).__name__} chose none; {how} "
            "to have it chosen, or ask `score` about statements that were not learned from."
        )


class ChoosesByHeldBack(SolvesProblems):
    """Chooses the price, and what was not given besides, by what is held back."""

    C: Any
    loss: Any
    prior: Any = None  # where it is no parameter
    basis: Any
    bounds: Any
    percentiles: Any
    n_pairs: Any
    n_components: Any
    C_: float | None
    strength_: float | None
    prior_: str
    statements_: str | None
    prior_share_: float
    cv_results_: dict[str, Any]
    verdict_: Any = SaidOfAChoice()
    _chosen: Candidate
    _families: list[Family]
    _judgment: str  # of what was chosen
    _saved: ClassVar[dict[str, FilePart]] = {
        **OUTCOME,
        "C_": IfThere(Maybe(Number(0.0))),
        "strength_": IfThere(Maybe(Number(0.0))),
        "prior_": IfThere(Text()),
        "prior_share_": IfThere(Number(0.0, 1.0)),
        "statements_": IfThere(Maybe(Text())),
        "cv_results_": IfThere(Plain(only=dict)),
        "verdict_": IfThere(Text()),
    }

    @property
    def _chooses(self) -> bool:
        """Whether the price is to be chosen."""
        return not self._keeps_from_choosing

    @property
    def _keeps_from_choosing(self) -> list[str]:
        """The parameters for which no price is chosen: a loss that is an object has one, and "hard" needs none.

        A basis of class means knows the classes of what would be held back.
        """
        is_of_classes = isinstance(self.basis, str) and self.basis == "class_means"
        has_price = isinstance(self.loss, BoundedLoss) or self.loss == "hard"
        kept = {"C": self.C is not None, "loss": has_price, "basis": is_of_classes}
        return [name for name, keeps in kept.items() if keeps]

    @property
    def _may_cut(self) -> bool:
        """Whether a choice may end before all was tried."""
        return True

    @property
    def _tries_prior(self) -> bool:
        """Whether the prior is chosen, or told by what is alike; any other moves X beforehand."""
        is_named = isinstance(self.prior, str)
        return self.prior is None or (is_named and self.prior in ("identity", "inverse_within"))

    def _forget_choice(self) -> None:
        """Leave nothing of the choice that an earlier fit made."""
        kept = ("C_", "strength_", "prior_", "prior_share_", "statements_", "cv_results_")
        for name in (*kept, "verdict_", "_chosen", "_families", "_judgment"):
            self.__dict__.pop(name, None)

    def _learn_best(
        self,
        places: Places,
        known: Known,
        regularizer: Regularizer,
        of_kernel: bool,
        settle: Settle,
        rng: np.random.Generator,
        are_features: bool = False,
        is_sample: bool = False,
    ) -> tuple[Final, Candidate]:
        """Choose by what is held back, learn from all that is known, and keep what was tried.

        `settle` leaves out the statements that no metric can honor. Coordinates that are features may be
        standardized. What is learned of a sample is rough, as it will be learned again from all there is, by
        statements as they are, between bounds as wide as where a price is given.
        """
        template = read_template(self.loss, regularizer, known.side)
        setting = self._setting(regularizer, template, of_kernel)
        if is_sample:
            wide = WIDE if self.percentiles is None else setting.percentiles
            setting = replace(setting.roughly(), percentiles=wide)
        priors = self._priors(are_features and not is_standardized(places))
        task: Task  # where the points are
        here: Task  # in host memory, where all that is tried is small
        families: Sequence[Family]
        if known.side is None:
            if not np.any(places.varies):
                raise ValueError(
                    "`X`: every point is equal to its nearest of other classes, which no metric tells apart; "
                    "check the labels, or add features."
                )
            n_classes = int(known.classes.max()) + 1
            families = families_of_labels(n_classes, places.n_directions, priors)
            families = self._possible(families, setting, places)
            task, here = (OfLabels(at, known.classes, families) for at in (places, places.here))
        else:
            side = settle(known.side, template)
            as_given = self.loss is not None or self.bounds is not None or known.is_drawn
            families_beside = families_of_sample if is_sample else families_of
            families = families_as_given(priors) if as_given else families_beside(side, priors)
            families = self._possible(families, setting, places)
            task = OfStatements(places, side, families)
            here = OfStatements(places.here, side, families).to_choose(rng, all_points=of_kernel)
        if getattr(self, "_families", None) != list(task.families):
            self._forget_choice()  # there are other classes than before
            self._families = list(task.families)
        with self._timed():
            chosen = getattr(self, "_chosen", None) or self._choose(here, setting, rng)
            final = learn_candidate(chosen, task, setting, rng)
        self.C_ = final.price
        gap = final.learned.solution.relative_gap
        self._keep_verdict(0.0 if chosen.strength is None else gap)
        return final, chosen

    def _keep_verdict(self, gap: float) -> None:
        """Say what is known of the metric that was chosen, and whether this one, of such a gap, is that."""
        self.verdict_ = self._judgment
        if not gap <= _ONE_DIGIT:
            self.verdict_ = (
                f"Stopped at a relative gap of {gap:.2g}, so this metric is not the one that was judged. Of "
                f"that one: {self._judgment}"
            )

    def _setting(self, regularizer: Regularizer, loss: PricedLoss, of_kernel: bool) -> Setting:
        """What was asked for, whatever is chosen."""
        # Newton on X is the quickest where it takes any problem; the last solve is as asked.
        is_given = not (isinstance(self.solver, str) and self.solver == "auto")
        takes_any = loss.is_smooth and regularizer.is_self_concordant
        solver = self.solver if is_given or not takes_any else "primal_newton"
        bounds = check_bounds(self.bounds)
        return OfMatrices(
            regularizer,
            loss,
            bounds,
            self._percentiles,
            solve=self._solve,
            of_kernel=of_kernel,
            solver=solver,
        )

    def _choose(self, task: Task, setting: Setting, rng: np.random.Generator) -> Candidate:
        """Try what can be learned on what is held back, and say where none of it helps.

        Where none does, further statements are a reason to choose again.
        """
        show = check_flag(self.verbose, "verbose")
        # What the last solve is to be like is read before the others, which take the time.
        limits = Limits.read(self.tol, self.max_iter, self.time_limit, type(self).__name__)

        def is_over() -> bool:
            return self._may_cut and self._seconds() > _SHARE * limits.time_limit

        with counting_bar("choosing", show) as report:
            choice = choose(task, setting, rng, report, is_over)
        chosen = choice.candidate
        if choice.helps:
            self._chosen = chosen
        self.strength_, self.statements_ = chosen.strength, chosen.statements
        self.prior_, self.prior_share_ = chosen.prior, chosen.prior_share
        plain = "the plain distance"
        if not self._tries_prior:
            self.prior_ = self.prior if isinstance(self.prior, str) else "given"
            plain = "the distance of the prior given"
        self.cv_results_, self._judgment = choice.results, choice.verdict(plain)
        if choice.is_cut:
            warn(
                f"{type(self).__name__}: half of `time_limit={self.time_limit}` was over when "
                f"{len(choice.candidates)} of the candidates had been tried, and the others were not; raise "
                "it, or pass C."
            )
        if not choice.helps:
            warn(f"{type(self).__name__}: {self._judgment}")
        return chosen

    def _known(self, side: Any, y: Any, n_points: int, rng: np.random.Generator) -> Known:
        """Statements, as given or drawn from labels, or the class of each point."""
        of_pairs = self.loss is not None or self.bounds is not None or self.n_pairs is not None
        if side is not None or y is None or of_pairs:
            return Known(side_of(side, y, n_points, self.n_pairs, rng), is_drawn=side is None)
        check_not_side(y)
        check_labels(y, n_points)
        return Known(classes=numbered_classes(y, n_points))

    @property
    def _percentiles(self) -> tuple[float, float]:
        """Those that replace bounds of None, as given."""
        return PERCENTILES if self.percentiles is None else check_percentiles(self.percentiles)

    def _priors(self, may_standardize: bool) -> Sequence[str]:
        """Those to choose from, or the one given: the identity, where X was moved by a matrix."""
        if self.prior is not None:
            return (self.prior,) if self._tries_prior else PRIORS[:1]
        return [prior for prior in PRIORS if may_standardize or prior != "standardized"]

    def _possible(
        self, families: Sequence[Family], setting: Setting, places: Places
    ) -> Sequence[Family]:
        """Those that can be learned; where the number of columns was given, in so many."""
        if self.n_components is None:
            return setting.possible(families, None)
        is_few = self.n_components < places.n_directions
        whole = [family for family in families if family.is_whole]
        return setting.possible(whole, int(self.n_components) if is_few else None)
