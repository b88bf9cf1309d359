"""Seeded random problems over the whole catalogue, in two classes.

"mild" is about what users do: moderate scales and prices, every hard bound kept by some X. "wild" is
everything: scales and prices over many powers of ten, contradictions gross and fine, rows that say nothing,
rewards with and without an end, single precision, solvers by name. A problem depends on its class, seed and
index alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from stress.arithmetic import DOUBLE
from stress.formulas import LOSSES, MATRICES, REGULARIZERS
from stress.question import Clause, Question

__all__ = ["CLASSES", "draw"]

CLASSES = ("mild", "wild")
_SAMPLED = 50  # of so many mild problems another package solves one, if it is small
# Solvers to ask for by name; one that objects to a problem leaves it to "auto".
SOLVERS: Mapping[str, tuple[str, ...]] = {
    "LogDet": ("primal_newton", "interior_point", "working_set", "projections"),
    "VonNeumann": ("interior_point", "working_set", "projections"),
    "Frobenius": ("interior_point", "working_set", "quasi_newton"),
    "Schatten": ("interior_point", "working_set", "quasi_newton"),
}


def draw(kind: str, seed: int, index: int) -> Question:
    """Draw problem number `index` of a class."""
    rng = np.random.default_rng([CLASSES.index(kind), seed, index])
    question = _Drawing(rng, kind == "wild").question()
    return replace(question, has_second_opinion=kind == "mild" and index % _SAMPLED == 0)


@final
@dataclass(frozen=True, eq=False)
class _Setting:
    """What the clauses of one problem have in common."""

    dimension: int
    points: np.ndarray | None
    reference: np.ndarray  # an X near the prior, from which bounds are read
    root: np.ndarray | None  # a factor of the prior, where linear terms must not outweigh it

    @property
    def n_points(self) -> int:
        return self.dimension if self.points is None else int(self.points.shape[0])


@final
class _Drawing:
    """One problem in the making: a generator of random numbers, and how wild it may be."""

    def __init__(self, rng: np.random.Generator, wild: bool) -> None:
        self.rng = rng
        self.wild = wild
        self.single = self.wildly(0.1)

    # -- small change --

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def wildly(self, probability: float) -> bool:
        return self.wild and self.chance(probability)

    def one_of(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def power_of_ten(self, low: float, high: float) -> float:
        return float(f"{10 ** self.rng.uniform(low, high):.3g}")

    def scale(self) -> float:
        # Squares of squares have to fit, into single precision, too.
        far = 2 if self.single else 8
        return self.power_of_ten(-far, far) if self.wildly(0.4) else self.power_of_ten(-0.5, 0.5)

    def price(self) -> float:
        far = 2 if self.single else 6
        return self.power_of_ten(-far, far) if self.wildly(0.6) else self.power_of_ten(-1, 1)

    def rounded(self, x: Any) -> np.ndarray:
        """Numbers that single precision holds as they are, so that both precisions see one problem."""
        return np.asarray(x, dtype=np.float32).astype(float)

    # -- the whole --

    def question(self) -> Question:
        regularizer, options = self.regularizer()
        phi = REGULARIZERS[regularizer](**options)
        n = int(self.rng.integers(1, 21))
        prior, prior_kind, reference = self.prior(n, phi.keeps_range, options.get("p", 2.0) < 2)
        points = None
        if self.chance(0.6):
            points = self.rng.normal(size=(int(self.rng.integers(2, 31)), n)) * self.scale()
            if self.wildly(0.1):
                points = points * 10 ** self.rng.uniform(-3, 3, n)  # features in units of their own
            if self.wildly(0.15) and len(points) > 2:
                points[1] = points[0]  # equal points
            points = self.rounded(points) if self.single else points
        root = None if phi.is_superlinear or self.wild else _factor(prior, prior_kind)
        setting = _Setting(n, points, reference, root)
        clauses, facts = self.clauses(setting)
        tol = 1e-3 if self.single else 1e-6
        solver = "auto" if self.chance(0.6) else self.one_of(*SOLVERS[regularizer])
        facts |= {"single"} if self.single else set()
        known = None if "contradiction" in facts else reference
        question = Question(
            regularizer, options, prior, prior_kind, tuple(clauses), solver, tol,
            "float32" if self.single else "float64", known, frozenset(facts),
        )  # fmt: skip
        if self.wildly(0.1) or self.single:
            question = _in_single_arrays(question) if self.chance(0.5) else question
        return question

    def regularizer(self) -> tuple[str, dict[str, Any]]:
        name = self.one_of(*REGULARIZERS)
        exponents = (1.1, 1.5, 2.0, 3.0, 4.0, 10.0) if self.wild else (1.5, 2.0, 3.0)
        return name, {"p": self.one_of(*exponents)} if name == "Schatten" else {}

    def prior(
        self, n: int, keeps_range: bool, is_steep: bool
    ) -> tuple[np.ndarray, str, np.ndarray]:
        """(the array, how it is meant, an X near it with the same range).

        Where h' is steep at 0, rounding errors of a matrix of low rank are worth as much as its entries, so no
        such matrix is drawn.
        """
        rank = n if self.chance(0.5) else int(self.rng.integers(1, n + 1))
        spread = self.one_of(0.5, 2.0, 6.0) if self.wild and not self.single else 0.5
        scale = self.scale()
        kinds = ["identity", "diagonal", "matrix", "factor"] + ["zeros"] * (not keeps_range)
        kind = self.one_of(*kinds)
        if kind == "matrix" and is_steep:
            rank = n
        if kind == "identity":
            prior, rank = np.eye(n) * scale, n
        elif kind == "diagonal":
            prior, rank = np.diag(scale * 10 ** self.rng.uniform(-spread / 2, spread / 2, n)), n
        elif kind == "zeros":
            prior, rank = np.zeros((n, n)), n
        else:
            Q = np.linalg.qr(self.rng.normal(size=(n, n)))[0][:, :rank]
            G = Q * np.sqrt(scale * 10 ** self.rng.uniform(-spread / 2, spread / 2, rank))
            prior = G if kind == "factor" else G @ G.T
            prior = (prior + prior.T) / 2 if kind == "matrix" else prior
        prior = self.rounded(prior) if self.single else prior
        wide = self.rng.normal(size=(rank, rank))
        if kind == "factor":
            reference = prior @ (np.eye(rank) + wide @ wide.T / rank) @ prior.T
        elif kind == "matrix":
            root = _root(prior, rank)
            reference = root @ (np.eye(rank) + wide @ wide.T / rank) @ root.T
        else:
            root = np.sqrt(np.diag(prior)) if kind != "zeros" else np.full(n, np.sqrt(scale))
            reference = (np.eye(rank) + wide @ wide.T / rank) * root[:, None] * root
        meant = {"factor": "factor", "zeros": "zeros"}.get(kind, "matrix")
        if kind == "zeros" and self.chance(0.3):
            meant = "matrix"
        return prior, meant, (reference + reference.T) / 2

    # -- clauses --

    def clauses(self, setting: _Setting) -> tuple[list[Clause], set[str]]:
        count = int(self.rng.integers(1, 5)) if self.chance(0.5) else 1
        most = 200 if self.wild else 60
        clauses = []
        facts: set[str] = set()
        for _ in range(count):
            left = most - sum(clause.size for clause in clauses)
            size = int(min(left, np.ceil(10 ** self.rng.uniform(0, np.log10(most)))))
            if size > 0:
                clauses.append(self.clause(setting, size))
        if self.wildly(0.12):
            clauses += self.contradiction(setting)
            facts.add("contradiction")
        if self.wildly(0.12):
            clauses += self.reward(setting)
            facts.add("reward")
        return clauses, facts

    def clause(self, setting: _Setting, size: int) -> Clause:
        constraint = self.one_of(*MATRICES)
        if constraint == "SquaredDistances" and setting.n_points < 2:
            constraint = "DiagonalEntries"
        arguments = self.arguments(constraint, setting, size)
        loss = self.one_of(*LOSSES)
        return self.with_loss(constraint, arguments, loss, setting)

    def arguments(self, constraint: str, setting: _Setting, size: int) -> dict[str, Any]:
        n = setting.n_points
        if constraint == "Trace":
            return {}
        if constraint in ("DenseMatrices", "SparseMatrices"):
            return {
                "matrices": self.matrices(setting, min(size, 60), constraint == "SparseMatrices")
            }
        columns = {"SquaredDistances": "ij", "Similarities": "ij", "DiagonalEntries": "i"}
        names = columns.get(constraint, self.one_of("ijk", "ijkl"))
        arguments: dict[str, Any] = {name: self.rng.integers(0, n, size) for name in names}
        if constraint == "SquaredDistances":
            arguments["j"] = (arguments["i"] + 1 + self.rng.integers(0, n - 1, size)) % n
        elif len(names) > 2 and not self.wild and n > 1:
            arguments["k"] = (arguments["j"] + 1 + self.rng.integers(0, n - 1, size)) % n
        elif len(names) > 2 and self.wildly(0.2):
            some = self.rng.random(size) < 0.3
            arguments["k"] = np.where(some, arguments["j"], arguments["k"])  # says 0 of X
        if setting.points is not None:
            arguments["points"] = setting.points
        return arguments

    def matrices(self, setting: _Setting, size: int, sparse: bool) -> Any:
        n = setting.dimension
        A = self.rng.normal(size=(size, n, n)) * self.scale()
        if sparse:
            A = A * (self.rng.random(A.shape) < min(1.0, 2.0 / n))
        if self.chance(0.4):
            A = A @ A.transpose(0, 2, 1)  # definite
        A = (A + A.transpose(0, 2, 1)) / 2
        if self.wildly(0.1):
            A[0] = 0  # says 0 of X
        A = self.rounded(A) if self.single else A
        return list(A) if sparse else A

    def with_loss(
        self, constraint: str, arguments: dict[str, Any], loss: str, setting: _Setting
    ) -> Clause:
        """Give the constraints a loss whose bounds the reference keeps, or nearly."""
        A = MATRICES[constraint](arguments, setting.dimension, DOUBLE)
        t = np.tensordot(A, setting.reference, 2)
        parameters: dict[str, Any] = {}
        if loss == "Linear":
            return Clause(constraint, arguments, loss, {"slope": self.slope(t, A, setting)})
        side = {"Square": "equal", "SquaredHinge": self.one_of("upper", "lower")}.get(
            loss, self.one_of("upper", "lower", "equal")
        )
        needs_positive = loss in ("LogDetSlack", "KLSlack")
        if needs_positive or self.chance(0.05):
            usual = float(np.mean(np.abs(t))) or 1.0
            if np.any(t <= 0):
                # Such losses are finite for positive t only: an offset makes it so at the reference.
                offset = np.where(t <= 1e-3 * usual, np.abs(t) * 2 + usual, 0.0)
                arguments = arguments | {"offset": self.rounded(offset) if self.single else offset}
                t = t + arguments["offset"]
        bound = self.bound(t, side, loss)
        if constraint == "Trace" or (self.chance(0.2) and loss != "Hard"):
            bound = float(np.abs(bound).mean()) if needs_positive else float(bound.mean())
            if loss == "Hard" and constraint == "Trace":
                bound = float(self.bound(t, side, loss)[0])
        if self.single:
            bound = (
                self.rounded(bound) if isinstance(bound, np.ndarray) else float(np.float32(bound))
            )
        parameters[side] = bound
        formula = LOSSES[loss]
        if formula.strength:
            parameters[formula.strength] = self.price()
        if formula.strength and self.chance(0.2):
            weight = self.rng.uniform(0.5, 2.0, len(t))
            parameters["weight"] = self.rounded(weight) if self.single else weight
        return Clause(constraint, arguments, loss, parameters)

    def bound(self, t: np.ndarray, side: str, loss: str) -> np.ndarray:
        size = np.abs(t) + (1e-3 * float(np.mean(np.abs(t))) or 1.0)
        if loss == "Hard":
            room = size * 10 ** self.rng.uniform(-3, 0, len(t))
            room = room * (self.rng.random(len(t)) < 0.9)
            return t + {"upper": 1, "lower": -1, "equal": 0}[side] * room
        bound = t + size * self.rng.normal(size=len(t)) * 0.5
        return np.where(bound > 0, bound, size) if loss in ("LogDetSlack", "KLSlack") else bound

    def slope(self, t: np.ndarray, A: np.ndarray, setting: _Setting) -> float:
        """A price per unit of t that matters beside the divergence, and is paid, not earned."""
        usual = float(np.mean(np.abs(t))) or 1.0
        price = self.price() / usual / len(t)
        if setting.root is not None:
            # At most a fifth of what the divergence can bear: four such terms leave an optimum.
            least = np.linalg.eigvalsh(setting.root.T @ A.sum(axis=0) @ setting.root)[0]
            price = min(price, 0.2 / max(-float(least), 1e-300))
        return float(np.float32(price)) if self.single else price

    def contradiction(self, setting: _Setting) -> list[Clause]:
        """Two hard clauses that no X satisfies at once: by a wide margin, or by a millionth or two."""
        constraint = self.one_of("DiagonalEntries", "Trace", "SquaredDistances")
        if setting.n_points < 2:
            constraint = "Trace"
        arguments = self.arguments(constraint, setting, 1)
        A = MATRICES[constraint](arguments, setting.dimension, DOUBLE)
        t = float(np.tensordot(A, setting.reference, 2)[0]) or 1.0
        apart = self.one_of(1.0, 1e-2, 1e-5, 4e-6)
        upper, lower = t, t * (1 + apart)
        if self.single:
            upper, lower = float(np.float32(t)), float(np.float32(t * 2))
        return [
            Clause(constraint, arguments, "Hard", {"upper": upper}),
            Clause(constraint, arguments, "Hard", {"lower": lower}),
        ]

    def reward(self, setting: _Setting) -> list[Clause]:
        """A linear term of negative slope, with a bound on the trace or without."""
        A = np.eye(setting.dimension)[None]
        t = float(np.tensordot(A, setting.reference, 2)[0]) or 1.0
        slope = -self.power_of_ten(-2, 3) / t
        slope = float(np.float32(slope)) if self.single else slope
        clauses = [Clause("Trace", {}, "Linear", {"slope": slope})]
        if self.chance(0.5):
            upper = t * self.power_of_ten(0, 1.5)
            upper = float(np.float32(upper)) if self.single else upper
            clauses.append(Clause("Trace", {}, "Hard", {"upper": max(upper, t * 1.001)}))
        return clauses


def _factor(prior: np.ndarray, kind: str) -> np.ndarray:
    return prior if kind == "factor" else _root(prior, len(prior))


def _root(prior: np.ndarray, rank: int) -> np.ndarray:
    s, V = np.linalg.eigh(prior)
    return V[:, -rank:] * np.sqrt(np.maximum(s[-rank:], 0))


def _in_single_arrays(question: Question) -> Question:
    """The same numbers in arrays of single precision, where they hold them; rounded where not."""

    def single(value: Any) -> Any:
        is_real = isinstance(value, np.ndarray) and value.dtype == float
        return value.astype(np.float32) if is_real else value

    clauses = []
    for clause in question.clauses:
        arguments = {k: single(v) for k, v in clause.arguments.items()}
        parameters = {k: single(v) for k, v in clause.parameters.items()}
        clauses.append(replace(clause, arguments=arguments, parameters=parameters))
    # A dense matrix of low rank would have another rank once it is rounded.
    keeps = question.dtype == "float64" and question.prior_kind == "matrix"
    prior = question.prior if keeps else single(question.prior)
    return replace(question, prior=prior, clauses=tuple(clauses), feasible=None)
