"""A problem as plain data: drawn by a generator, asked of the library, judged, shrunk, printed as code.

Nothing here is an object of the library: a `Question` names the parts by their class and holds their arguments
as numbers and arrays, so the judge reads the same data that the library was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, final

import numpy as np

import gramlearn
from gramlearn.solvers.solve import SOLVERS

__all__ = ["Clause", "Question", "rows_of"]

_PER_ROW = frozenset({"i", "j", "k", "l", "matrices", "offset"})
_NUMBERS = frozenset({"upper", "lower", "equal", "weight", "slope"})


def rows_of(value: Any, rows: np.ndarray) -> Any:
    """The entries of these rows; one number for all stays as it is."""
    if isinstance(value, list | tuple):
        return [value[int(k)] for k in rows]
    return value[rows] if isinstance(value, np.ndarray) and value.ndim else value


def _given(part: Any) -> dict[str, Any]:
    """The fields of a part that were given."""
    values = {f.name: getattr(part, f.name) for f in fields(part)}
    return {name: value for name, value in values.items() if value is not None}


@final
@dataclass(frozen=True, eq=False)
class Clause:
    """One term: `constraint(**arguments)` with `loss(**parameters)`, both by their names in gramlearn."""

    constraint: str
    arguments: Mapping[str, Any]
    loss: str
    parameters: Mapping[str, Any]

    @property
    def side(self) -> str | None:
        """Which of upper, lower and equal the loss bounds; None for a linear one."""
        return next((s for s in ("upper", "lower", "equal") if s in self.parameters), None)

    @property
    def size(self) -> int:
        """How many constraints it has."""
        for name in ("i", "matrices"):
            if name in self.arguments:
                return len(self.arguments[name])
        return 1

    def take(self, rows: np.ndarray) -> "Clause":
        """Keep these rows only."""
        if self.constraint == "Trace":
            return self
        arguments = {k: rows_of(v, rows) if k in _PER_ROW else v for k, v in self.arguments.items()}
        parameters = {
            k: rows_of(v, rows) if k in _NUMBERS else v for k, v in self.parameters.items()
        }
        return replace(self, arguments=arguments, parameters=parameters)

    def build(self) -> gramlearn.Term:
        """The term, made of the library's own classes."""
        arguments = dict(self.arguments)
        if self.constraint == "SparseMatrices":
            from scipy.sparse import coo_array

            arguments["matrices"] = [coo_array(A) for A in arguments["matrices"]]
        constraints = getattr(gramlearn.constraints, self.constraint)(**arguments)
        return gramlearn.Term(constraints, getattr(gramlearn.losses, self.loss)(**self.parameters))


@final
@dataclass(frozen=True, eq=False)
class Question:
    """minimise D(X, X0) + sum of the clauses, with all that `solve` is told.

    `prior_kind` says how the array is meant: a "matrix" X0, a "factor" G of X0 = G G', or "zeros", where the
    array is a zero matrix that is not handed over. `feasible` is an X that keeps every hard bound up to
    rounding, where the generator knows one. `facts` are words on what is special: "contradiction", "reward",
    "single". With `has_second_opinion` another package is asked for the optimum, too.
    """

    regularizer: str
    options: Mapping[str, Any]
    prior: np.ndarray
    prior_kind: str
    clauses: tuple[Clause, ...]
    solver: str = "auto"
    tol: float = 1e-6
    dtype: str = "float64"
    feasible: np.ndarray | None = None
    facts: frozenset[str] = field(default_factory=frozenset)
    has_second_opinion: bool = False

    @classmethod
    def of(cls, problem: gramlearn.Problem, tol: float) -> "Question":
        """Read a problem of the library back into plain data."""
        prior: Any = problem.prior
        kind = "matrix"
        if isinstance(prior, gramlearn.Zeros):
            prior, kind = np.zeros((prior.n, prior.n)), "zeros"
        elif isinstance(prior, gramlearn.Factor):
            prior, kind = prior.G, "factor"
        prior = np.asarray(prior)
        if prior.shape[0] != prior.shape[1]:
            kind = "factor"
        clauses = []
        for term in problem.terms:
            arguments, parameters = _given(term.constraints), _given(term.loss)
            arguments.pop("n_points", None)
            if type(term.constraints).__name__ == "SparseMatrices":
                arguments["matrices"] = [A.toarray() for A in arguments["matrices"]]
            names = (type(term.constraints).__name__, type(term.loss).__name__)
            clauses.append(Clause(names[0], arguments, names[1], parameters))
        regularizer = problem.regularizer
        return cls(
            type(regularizer).__name__, _given(regularizer), prior, kind, tuple(clauses), tol=tol,
            dtype=problem.dtype,
        )  # fmt: skip

    @property
    def accepted_solver(self) -> str:
        """The solver that was drawn, or the library's choice where that one refuses the problem."""
        drawn = SOLVERS[self.solver]
        try:
            refuses = drawn is not None and drawn.objection(self.build()) is not None
        except (TypeError, ValueError):  # it is the problem itself that is refused
            refuses = False
        return "auto" if refuses else self.solver

    @property
    def dimension(self) -> int:
        """n, the size of X."""
        return int(self.prior.shape[0])

    @property
    def size(self) -> int:
        """How many constraints there are in all."""
        return sum(clause.size for clause in self.clauses)

    @property
    def labels(self) -> list[str]:
        """The parts of this question, by which results are counted."""
        words = {self.regularizer, *self.facts}
        for clause in self.clauses:
            words |= {clause.constraint, clause.loss}
        return sorted(words)

    def build(self) -> gramlearn.Problem:
        """The problem, made of the library's own classes."""
        prior: Any = self.prior
        if self.prior_kind == "zeros":
            prior = gramlearn.Zeros(self.dimension)
        elif self.prior_kind == "factor":
            prior = gramlearn.Factor(self.prior)
        return gramlearn.Problem(
            getattr(gramlearn, self.regularizer)(**self.options),
            prior,
            [clause.build() for clause in self.clauses],
            dtype=self.dtype,
        )

    def arrays(self) -> list[np.ndarray]:
        """Every array passed to the library, to check that it is not modified."""
        found = [self.prior]
        for clause in self.clauses:
            for value in (*clause.arguments.values(), *clause.parameters.values()):
                found += [x for x in (value if isinstance(value, list) else [value])
                          if isinstance(x, np.ndarray)]  # fmt: skip
        return found
