"""C = argmax of what is held back: an estimator that was given no price chooses one, and says whether it helps.

What else decides is chosen with it, unless it was given: the prior, the kind of statements, and the number of
columns. The plain distance is among the candidates, and is kept where none of the others beats it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gramlearn._base.validation import check_flag
from gramlearn._base.warnings import warn
from gramlearn.estimators._learning import SolvesProblems, check_labels, check_not_side, side_of
from gramlearn.methods.choosing.candidates import PRIORS, Candidate, Family
from gramlearn.methods.choosing.choose import choose
from gramlearn.methods.choosing.learning import Final, Setting, learn_candidate
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
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation
from gramlearn.side_information.percentiles import check_bounds
from gramlearn.side_information.sampling import labeled_classes
from gramlearn.solvers.progress import counting_bar

DIRECTIONS = 100  # in which a metric of more features is learned, where no rank is given

Settle = Callable[[SideInformation, Any], SideInformation]


class ChoosesByHeldBack(SolvesProblems):
    """Chooses the price, and what was not given besides, by what is held back."""

    C: Any
    loss: Any
    prior: Any = None  # where it is no parameter
    bounds: Any
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

    def _forget_choice(self) -> None:
        """Leave nothing of the choice that an earlier fit made."""
        names = ("C_", "strength_", "prior_", "statements_", "cv_results_", "verdict_", "_chosen")
        for name in names:
            self.__dict__.pop(name, None)

    def _learn_best(
        self,
        places: Places,
        y: Any,
        side: SideInformation | None,
        regularizer: Regularizer,
        of_kernel: bool,
        settle: Settle,
        rng: np.random.Generator,
    ) -> tuple[Final, Candidate]:
        """Choose by what is held back, learn from all that is known, and keep what was tried.

        `settle` leaves out the statements that no metric can honor.
        """
        known, classes = self._known(side, y, places.n_points, rng)
        template = read_template(self.loss, regularizer, known)
        bounds = check_bounds(self.bounds)
        # Newton on X is the quickest for losses with a derivative; the last solve is as asked.
        is_given = not (isinstance(self.solver, str) and self.solver == "auto")
        solver = self.solver if is_given or not template.is_smooth else "primal_newton"
        setting = Setting(regularizer, template, bounds, of_kernel, solver)
        task: Task
        if classes is not None:
            n_classes = int(classes.max()) + 1
            families = families_of_labels(n_classes, places.n_directions)
            task = OfLabels(places, classes, self._allowed(families))
        else:
            assert known is not None
            known = settle(known, template)
            as_given = self.loss is not None or self.bounds is not None or side is None
            families = families_as_given() if as_given else families_of(known)
            task = OfStatements(places, known, self._allowed(families))
        if not hasattr(self, "_chosen"):
            self._choose(task, setting, rng)
        final = learn_candidate(self._chosen, task, setting, self._solve, rng)
        self.C_ = final.price
        return final, self._chosen

    def _choose(self, task: Task, setting: Setting, rng: np.random.Generator) -> None:
        """Try what can be learned on what is held back, and say where none of it helps."""
        show = check_flag(self.verbose, "verbose")
        with counting_bar("choosing", show) as report:
            choice = choose(task, setting, rng, report)
        self._chosen = chosen = choice.candidate
        self.strength_, self.prior_, self.statements_ = (
            chosen.strength,
            chosen.prior,
            chosen.statements,
        )
        self.cv_results_, self.verdict_ = choice.results, choice.verdict
        if not choice.helps:
            warn(f"{type(self).__name__}: {self.verdict_}")

    def _known(
        self, side: Any, y: Any, n_points: int, rng: np.random.Generator
    ) -> tuple[SideInformation | None, np.ndarray | None]:
        """Statements, or the class of each point, -1 where it has none."""
        of_pairs = self.loss is not None or self.bounds is not None or self.n_pairs is not None
        if side is not None or y is None or of_pairs:
            return side_of(side, y, n_points, self.n_pairs, rng), None
        check_not_side(y)
        check_labels(y, n_points)
        classes = np.full(n_points, -1)
        for number, rows in enumerate(labeled_classes(y)):
            classes[rows] = number
        return None, classes

    def _allowed(self, families: Sequence[Family]) -> list[Family]:
        """Those with the prior and the number of columns that were given; the plain one always."""
        plain, *others = families
        if self.prior is not None:
            given = (
                self.prior if isinstance(self.prior, str) and self.prior in PRIORS else PRIORS[0]
            )
            others = [family for family in others if family.prior == given]
        if self.n_components is not None:
            others = [family for family in others if family.n_components is None]
        return [plain, *others]
