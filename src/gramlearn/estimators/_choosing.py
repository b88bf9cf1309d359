"""C = argmax of what is held back: an estimator that was given no price chooses one, and says whether it helps.

What else decides is chosen with it, unless it was given: the prior, the kind of statements, and the number of
columns. The plain distance is among the candidates, and is kept where none of the others beats it.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gramlearn._base.validation import check_flag
from gramlearn._base.warnings import warn
from gramlearn.estimators._learning import SolvesProblems, check_labels, check_not_side, side_of
from gramlearn.methods.choosing.candidates import PRIORS, Candidate, Family
from gramlearn.methods.choosing.choose import choose
from gramlearn.methods.choosing.learning import (
    PERCENTILES,
    Final,
    OfMatrices,
    Setting,
    learn_candidate,
)
from gramlearn.methods.choosing.places import Places
from gramlearn.methods.choosing.tasks import (
    OfLabels,
    OfStatements,
    Task,
    families_as_given,
    families_of,
    families_of_labels,
)
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


class ChoosesByHeldBack(SolvesProblems):
    """Chooses the price, and what was not given besides, by what is held back."""

    C: Any
    loss: Any
    prior: Any = None  # where it is no parameter
    bounds: Any
    percentiles: Any
    n_pairs: Any
    n_components: Any
    C_: float | None
    strength_: float | None
    prior_: str
    statements_: str | None
    cv_results_: dict[str, Any]
    verdict_: str
    _chosen: Candidate

    @property
    def _chooses(self) -> bool:
        """Whether the price is to be chosen: a loss that is an object has one, and "hard" needs none."""
        return self.C is None and not isinstance(self.loss, BoundedLoss) and self.loss != "hard"

    @property
    def _tries_prior(self) -> bool:
        """Whether the prior is chosen, or one that candidates know by name; any other moves X beforehand."""
        return self.prior is None or (isinstance(self.prior, str) and self.prior in PRIORS)

    def _forget_choice(self) -> None:
        """Leave nothing of the choice that an earlier fit made."""
        names = ("C_", "strength_", "prior_", "statements_", "cv_results_", "verdict_", "_chosen")
        for name in names:
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
    ) -> tuple[Final, Candidate]:
        """Choose by what is held back, learn from all that is known, and keep what was tried.

        `settle` leaves out the statements that no metric can honor. Coordinates that are features may be
        standardized.
        """
        template = read_template(self.loss, regularizer, known.side)
        setting = self._setting(regularizer, template, of_kernel)
        priors = self._priors(are_features)
        task: Task
        if known.side is None:
            n_classes = int(known.classes.max()) + 1
            families = families_of_labels(n_classes, places.n_directions, priors)
            task = OfLabels(places, known.classes, setting.possible(self._allowed(families)))
        else:
            side = settle(known.side, template)
            as_given = self.loss is not None or self.bounds is not None or known.is_drawn
            families = families_as_given(priors) if as_given else families_of(side, priors)
            task = OfStatements(places, side, setting.possible(self._allowed(families)))
        with self._timed():
            chosen = getattr(self, "_chosen", None) or self._choose(task, setting, rng)
            final = learn_candidate(chosen, task, setting, rng)
        self.C_ = final.price
        return final, chosen

    def _setting(self, regularizer: Regularizer, loss: PricedLoss, of_kernel: bool) -> Setting:
        """What was asked for, whatever is chosen."""
        # Newton on X is the quickest for losses with a derivative; the last solve is as asked.
        is_given = not (isinstance(self.solver, str) and self.solver == "auto")
        solver = self.solver if is_given or not loss.is_smooth else "primal_newton"
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

        Where too little is known to judge anything, further statements are a reason to choose again.
        """
        show = check_flag(self.verbose, "verbose")
        # What the last solve is to be like is read before the others, which take the time.
        limits = Limits.read(self.tol, self.max_iter, self.time_limit, type(self).__name__)
        began = time.perf_counter()

        def is_over() -> bool:
            return time.perf_counter() - began > _SHARE * limits.time_limit

        with counting_bar("choosing", show) as report:
            choice = choose(task, setting, rng, report, is_over)
        chosen = choice.candidate
        if choice.gain is not None:
            self._chosen = chosen
        self.strength_, self.prior_, self.statements_ = (
            chosen.strength,
            chosen.prior,
            chosen.statements,
        )
        self.cv_results_, self.verdict_ = choice.results, choice.verdict
        if choice.is_cut:
            warn(
                f"{type(self).__name__}: `time_limit={self.time_limit}` ended the choice, which may take "
                f"half of it, after {len(choice.candidates)} candidates; raise it, or pass C."
            )
        if not choice.helps:
            warn(f"{type(self).__name__}: {self.verdict_}")
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

    def _priors(self, are_features: bool) -> Sequence[str]:
        """Those to choose from, or the one given: the identity, where X was moved by a matrix."""
        if self.prior is not None:
            return (self.prior,) if self._tries_prior else PRIORS[:1]
        return [prior for prior in PRIORS if are_features or prior != "standardized"]

    def _allowed(self, families: Sequence[Family]) -> list[Family]:
        """Without those of few columns, where their number was given."""
        is_given = self.n_components is not None
        return [family for family in families if not (is_given and family.n_components)]
