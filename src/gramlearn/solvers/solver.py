"""A solver of a Problem: frozen parameters with `init` and `step`, which the one loop runs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, final

from gramlearn._base.arrays import (
    Array,
    as_real,
    constant,
    every_row,
    is_finite,
    namespace,
    read,
    scatter,
    where_true,
)
from gramlearn._base.matrices import svd
from gramlearn.problem.certificate import UNKNOWN, Certificate
from gramlearn.problem.problem import Problem
from gramlearn.problem.solution import Solution
from gramlearn.solvers.loop import Method, Run, SomeState

_SINGULAR = 1e-10  # the least ratio of eigenvalues of an X from which a solve begins


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """X = F F' with its certificate and its lam: rows and values of each part of the dual, zero elsewhere."""

    certificate: Certificate
    factor: Array
    rows: list[Array]
    values: list[Array]


class Start(NamedTuple):
    """Where to begin: lam, one vector a term, and a factor F of X = F F' where that is known as well.

    A solver is given both `within` its problem: one vector a part of the dual, and a factor of S. Those that
    move lam begin at lam, and those that move X at X.
    """

    duals: Sequence[Array]
    factor: Array | None = None
    is_answer: bool = False  # of an earlier solve, and not to be lost

    def within(self, problem: Problem) -> "Start":
        """The same in the space of a problem; a factor of a singular matrix is left out."""
        duals, space, F = problem.free_duals(self.duals), problem.space, self.factor
        assert duals is not None
        if F is None:
            return Start(duals)
        F = space.lower(as_real(F, space.spectrum))
        return Start(duals) if is_singular(F) else Start(duals, F, self.is_answer)


def is_singular(F: Array) -> bool:
    """Whether X = F F' is next to singular."""
    if F.shape[0] != F.shape[1] or not is_finite(F):
        return True
    _, s, _ = svd(F)
    return not read(s[-1]) ** 2 > _SINGULAR * read(s[0]) ** 2


class Solver(ABC, Generic[SomeState]):
    """Frozen parameters, with `init` and `step`."""

    default_max_iter: int

    def objection(self, problem: Problem) -> str | None:
        """Say why this problem is not for this solver, or None where it is."""
        if problem.capacity is not None:
            return 'it bounds a capacity, which "quasi_newton" alone can do'
        return None

    @abstractmethod
    def init(self, problem: Problem, start: Start | None, tol: float) -> SomeState:
        """The state at this start, or at lam = 0 and the prior."""

    @abstractmethod
    def step(self, problem: Problem, state: SomeState, tol: float) -> SomeState:
        """Improve the state; nothing of the old one is changed."""

    @abstractmethod
    def settle(self, problem: Problem, state: SomeState) -> SomeState:
        """Certify the present state, at the end of a solve that was cut short."""


@final
@dataclass(frozen=True, eq=False)
class Solving(Method[Any, Answer, Solution]):
    """A solver at work on a problem, from this start."""

    problem: Problem
    solver: Solver[Any]
    start: Start | None = None

    def before(self) -> Answer:
        """The prior, without a certificate."""
        s = self.problem.space.spectrum
        xp, kept = namespace(s), where_true(s > 0)
        # Zero eigenvalues are left out, so that a prior of zeros needs no n x n matrix.
        same = every_row(s.shape[0], s)[:, None] == kept[None, :]
        factor = xp.astype(same, s.dtype) * xp.sqrt(xp.take(s, kept))
        rows = [every_row(0, s) for _ in self.problem.dual.parts]
        values = [constant(0.0, s, 0) for _ in self.problem.dual.parts]
        return Answer(UNKNOWN, factor, rows, values)

    def begin(self, tol: float) -> Any:
        return self.solver.init(self.problem, self.start, tol)

    def step(self, state: Any, tol: float) -> Any:
        return self.solver.step(self.problem, state, tol)

    def settle(self, state: Any) -> Any:
        return self.solver.settle(self.problem, state)

    def every_value(self, best: Answer) -> list[Array]:
        """Lam of every constraint, one vector a part of the dual."""
        parts = zip(best.values, best.rows, self.problem.dual.parts, strict=True)
        return [scatter(values, rows, part.size) for values, rows, part in parts]

    def answer(self, best: Answer, run: Run) -> Solution:
        """The factor in all coordinates, and a dual for every constraint."""
        problem, certificate = self.problem, best.certificate
        factor = problem.space.lift(best.factor) * certificate.scaling**0.5
        return Solution(
            problem,
            factor,
            problem.duals(self.every_value(best)),
            run.conflict,
            certificate=certificate,
            status=run.status,
            history=run.history,
            seconds=run.seconds,
        )
