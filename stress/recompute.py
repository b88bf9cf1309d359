"""primal(X), dual(lam), the gap and the violation of an answer, from the definitions alone.

    primal = D(X, X0) + sum_k loss_k(t_k)
    dual   = phi*(Y0) - phi*(Y) - sum_k [loss_k*(lam_k) - offset_k lam_k],     Y = Y0 - sum_k lam_k A_k

in doubles with a bound on the rounding, or in 60 digits. A t outside the domain of its loss counts as the
nearest t inside, and what that spares at the price of the constraint, |lam_k (t_k - inside_k)|, is added to the
gap once more: a small violation must not look like a gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from stress.arithmetic import Arithmetic
from stress.formulas import LOSSES, MATRICES, REGULARIZERS, RegularizerFormula
from stress.question import Clause, Question

__all__ = ["Reading", "Values", "dual_value", "recompute"]

INF = float("inf")
# Gaps are relative to no less than this share of phi*(Y0).
_LEAST_SHARES = {"float64": 1e-6, "float32": 1e-2}


class Values(NamedTuple):
    """What an answer is worth, each number with a bound on its rounding."""

    primal: Any
    dual: Any
    slippage: Any  # sum_k |lam_k (t_k - inside_k)|, on the side where a violation is a gain
    violation: Any
    against: Any  # what a gap is relative to
    outside: Any  # the share of X that lies outside the range of the prior, where it may not
    prior_rounding: float  # what a matrix that is zero but for rounding is worth
    primal_error: float = 0.0
    dual_error: float = 0.0
    violation_error: float = 0.0

    @property
    def gap(self) -> Any:
        """primal - dual, a violation counted at twice its price."""
        return self.primal - self.dual + 2 * self.slippage


@final
@dataclass(frozen=True, eq=False)
class ReadClause:
    """A clause in numbers: matrices, offset, bound and strength of each row."""

    clause: Clause
    matrices: Any
    floats: np.ndarray  # the matrices, rounded to doubles
    offset: np.ndarray
    bound: np.ndarray
    strength: np.ndarray

    @property
    def formula(self) -> Any:
        """The loss."""
        return LOSSES[self.clause.loss]

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """(least, largest) price."""
        low, high = self.formula.reach(self.bound, self.strength)
        side = self.clause.side
        zero = 0 * self.bound
        return (zero if side == "upper" else low), (zero if side == "lower" else high)

    def value(self, a: Arithmetic, t: np.ndarray) -> np.ndarray:
        """loss(t) of t inside the domain."""
        side = self.clause.side
        if side not in ("upper", "lower"):
            return self.formula.penalty(a, t, self.bound, self.strength)
        wrong = t > self.bound if side == "upper" else t < self.bound
        at = np.where(wrong, t, self.bound)
        return np.where(wrong, self.formula.penalty(a, at, self.bound, self.strength), 0 * t)

    def conjugate(self, a: Arithmetic, lam: np.ndarray, eps: float) -> np.ndarray:
        """loss*(lam), +inf outside the box; a price beyond it by no more than rounding is at its end."""
        low, high = self.box()
        inside = np.minimum(np.maximum(lam, low), high)
        off = abs(lam - inside) > 8 * eps * abs(inside)
        # The open end itself is never taken: the price a hair inside stands for it.
        at = np.where(off, 0 * lam, inside)
        return np.where(off, INF, self.formula.conjugate(a, at, self.bound, self.strength))


@final
class Reading:
    """A question read in one arithmetic: the space X lives in, and every clause in numbers."""

    def __init__(self, question: Question, a: Arithmetic) -> None:
        self.question = question
        self.a = a
        self.phi: RegularizerFormula = REGULARIZERS[question.regularizer](**question.options)
        self.clauses = [self._read(clause) for clause in question.clauses]

    def _read(self, clause: Clause) -> ReadClause:
        a, n = self.a, self.question.dimension
        A = MATRICES[clause.constraint](clause.arguments, n, a)
        floats = np.asarray(A if isinstance(A, np.ndarray) else A.nearest(), dtype=float)
        zero = np.zeros(A.shape[0])
        formula, given = LOSSES[clause.loss], clause.parameters
        weight = a.real(zero + given.get("weight", 1.0))
        strength = a.real(zero + (given.get(formula.strength, 1.0) if formula.strength else 1.0))
        bound = a.real(zero + (given[clause.side] if clause.side else 0.0))
        offset = a.real(zero + clause.arguments.get("offset", 0.0))
        return ReadClause(clause, A, floats, offset, bound, strength * weight)

    # -- the space: X = V S V', X0 = V diag(s) V' --

    @cached_property
    def space(self) -> tuple[np.ndarray | None, np.ndarray]:
        """(V, s); None stands for the identity."""
        q, a, keeps = self.question, self.a, self.phi.keeps_range
        n, prior = q.dimension, np.asarray(q.prior, dtype=float)
        eps = float(np.finfo(q.dtype).eps)
        if q.prior_kind == "zeros":
            return None, a.real(np.zeros(n))
        if q.prior_kind == "factor":
            s, V = a.squared_singular(a.real(prior))
            kept = s > (n * eps) ** 2 * s[0]
            return V[:, kept], s[kept]
        diagonal = np.diag(prior)
        if not np.any(prior - np.diag(diagonal)) and (diagonal.min() > 0 or not keeps):
            return None, a.real(diagonal)
        s, V = a.eigh(a.real(prior))
        if not keeps:
            return V, np.maximum(s, 0)
        kept = s > n * eps * s[-1]
        return V[:, kept], s[kept]

    def restricted(self, S: np.ndarray) -> np.ndarray:
        """V' S V."""
        V = self.space[0]
        return S if V is None else V.T @ S @ V

    @cached_property
    def prior_value(self) -> Any:
        """phi*(grad phi(X0))."""
        _, s = self.space
        return self.phi.conjugate(self.a, self.phi.slope(self.a, s)).sum()

    @cached_property
    def units(self) -> list[float]:
        """The usual size of each clause's t: its mean at the prior, or at the identity where that is 0."""
        V, s = self.space
        columns = np.eye(self.question.dimension) if V is None else V
        units = []
        for read in self.clauses:
            unit = 1.0
            for x in (s, 0 * s + 1):
                X = np.asarray((columns * x) @ columns.T, dtype=float)
                t = np.asarray(read.offset, dtype=float) + np.tensordot(read.floats, X, 2)
                mean = float(np.mean(np.abs(t))) if t.size else 0.0
                if mean > 0:
                    unit = mean
                    break
            units.append(unit)
        return units

    def traces(self, read: ReadClause, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """t of every row, and a bound on its rounding in doubles."""
        t = read.offset + self.a.real((read.matrices * X[None]).sum(axis=(1, 2)))
        size = np.abs(np.asarray(read.offset, dtype=float))
        if self.a.eps > 1e-20:
            size = size + (np.abs(read.matrices) * np.abs(X)[None]).sum(axis=(1, 2))
        return t, 8 * self.question.dimension * self.a.eps * size

    def adjoint(self, duals: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
        """sum_k lam_k A_k over all clauses, and the size of what was summed."""
        n = self.question.dimension
        total, size = self.a.real(np.zeros((n, n))), 0.0
        for read, lam in zip(self.clauses, duals, strict=True):
            if len(lam) == 0:
                continue
            weighted = read.matrices * self.a.data(lam)[:, None, None]
            total = total + self.a.real(weighted.sum(axis=0))
            parts = np.abs(read.floats * np.asarray(lam, dtype=float)[:, None, None])
            size += float(parts.sum(axis=0).max(initial=0.0))
        return total, size

    def cancelled(self, duals: Sequence[np.ndarray]) -> float:
        """The size of the products that rows about points are summed from; an A_k that is zero shows none."""
        total = 0.0
        for read, lam in zip(self.clauses, duals, strict=True):
            if "i" in read.clause.arguments:
                points = np.asarray(read.clause.arguments.get("points", 1.0), dtype=float)
                total += float(np.abs(lam).sum()) * 4 * float(np.abs(points).max(initial=0.0)) ** 2
        return total


def recompute(reading: Reading, factor: np.ndarray, duals: Sequence[np.ndarray]) -> Values:
    """Judge X = F F' with lam."""
    with np.errstate(all="ignore"):
        divergence, divergence_error, outside = _divergence(reading, factor)
        losses, losses_error, slippage, violation, violation_error = _losses(reading, factor, duals)
        dual, dual_error, size = dual_value(reading, duals)
        n, eps = reading.question.dimension, float(np.finfo(reading.question.dtype).eps)
        size += reading.cancelled(duals)
        prior_rounding = n * reading.phi.prior_rounding(reading.a, 8 * n * eps * size)
        primal = divergence + losses
        sizes = [abs(x) for x in (primal, dual) if abs(x) < INF]
        against = max([*sizes, _LEAST_SHARES[reading.question.dtype] * abs(reading.prior_value)])
    return Values(
        primal, dual, slippage, violation, against, outside, prior_rounding,
        divergence_error + losses_error, dual_error, violation_error,
    )  # fmt: skip


def _shifted(function: Any, x: np.ndarray, by: Any) -> np.ndarray:
    """How far a convex function of x moves where x moves by this much at most."""
    return np.maximum(abs(function(x + by) - function(x)), abs(function(x - by) - function(x)))


def _divergence(reading: Reading, factor: np.ndarray) -> tuple[Any, float, Any]:
    """D(X, X0), its error, and the share of X outside the space."""
    a, phi, n = reading.a, reading.phi, reading.question.dimension
    V, s = reading.space
    F = a.real(np.asarray(factor, dtype=float).reshape(n, -1))
    M = F if V is None else V.T @ F
    x, _ = a.squared_singular(M)
    if x.size > s.size:
        raise AssertionError("more eigenvalues than dimensions")
    diagonal = (M * M).sum(axis=1)
    whole = (F * F).sum()
    outside = (whole - diagonal.sum()) / whole if whole > 0 else 0 * whole
    slope = phi.slope(a, s)
    terms = [phi.h(a, x), -phi.h(a, s), -slope * (diagonal - s)]
    value = sum(term.sum() for term in terms)
    if a.eps < 1e-20:
        return value, 0.0, outside
    # What rounding may have done: to the singular values of M, and to the eigenvectors of the prior.
    eps = 8 * n * a.eps
    largest = x.max(initial=0.0)
    moved = _shifted(lambda v: phi.h(a, np.maximum(v, 0)), x, eps * (x + np.sqrt(x * largest)))
    error = moved.sum() + eps * sum(np.abs(term).sum() for term in terms)
    error += eps * (np.abs(slope) * (diagonal + s)).sum()
    if V is not None:
        bend = np.sqrt(np.abs(phi.curvature(a, s)))
        error += eps * s.max() * (((np.sqrt(diagonal) + np.sqrt(s)) * bend).sum()) ** 2
    return value, float(error), outside


def _losses(
    reading: Reading, factor: np.ndarray, duals: Sequence[np.ndarray]
) -> tuple[Any, float, Any, Any, float]:
    """(sum of the losses, its error, slippage, violation, its error)."""
    a = reading.a
    F = a.data(np.asarray(factor, dtype=float).reshape(reading.question.dimension, -1))
    X = F @ F.T
    total, slippage, violation = (a.real(0.0)[()] for _ in range(3))
    error, violation_error = 0.0, 0.0
    for read, lam, unit in zip(reading.clauses, duals, reading.units, strict=True):
        if read.matrices.shape[0] == 0:
            continue
        t, t_error = reading.traces(read, X)
        low, high = read.formula.domain(read.bound, read.clause.side)
        inside = np.minimum(np.maximum(t, low), high)
        total = total + read.value(a, inside).sum()
        slippage = slippage + np.maximum(a.real(lam) * (t - inside), 0).sum()
        # A bound of zero has no size of its own: there the usual size of t is meant.
        size = np.where(read.bound != 0, abs(read.bound), unit)
        relative = abs(t - inside) / size
        violation = max(violation, relative.max())
        if a.eps > 1e-20:
            error += float(
                _shifted(
                    lambda v, read=read, low=low, high=high: read.value(
                        a, np.minimum(np.maximum(v, low), high)
                    ),
                    inside,
                    t_error,
                ).sum()
            )
            error += 8 * a.eps * float(np.abs(read.value(a, inside)).sum())
            violation_error = max(violation_error, float((t_error / size).max()))
    return total, error, slippage, violation, violation_error


def dual_value(reading: Reading, duals: Sequence[np.ndarray]) -> tuple[Any, float, float]:
    """The dual value, its error, and the size of what Y is made of.

    -inf where a price is outside its box, or Y outside the domain.
    """
    a, phi, n = reading.a, reading.phi, reading.question.dimension
    V, s = reading.space
    terms = [reading.prior_value]
    for read, lam in zip(reading.clauses, duals, strict=True):
        price = a.real(lam)
        if read.formula.is_fixed and len(lam):
            price = read.strength
        conjugate = read.conjugate(a, price, float(np.finfo(reading.question.dtype).eps))
        terms += [-conjugate.sum(), (read.offset * price).sum()]
    S, size = reading.adjoint(duals)
    Y = np.diag(phi.slope(a, s)) - reading.restricted(S)
    y, _ = a.eigh(Y)
    conjugates = phi.conjugate(a, y)
    value = sum(terms) - conjugates.sum()
    if any(term == -INF for term in terms) or value != value:
        value = -INF if any(term == -INF for term in terms) else value
    size += float(abs(phi.slope(a, s)).max())
    if a.eps < 1e-20:
        return value, 0.0, size
    eps = 8 * n * a.eps
    shift = eps * size * n
    error = eps * (sum(abs(term) for term in terms) + np.abs(conjugates).sum())
    if V is not None:
        shift += eps * float(s.max() * np.abs(phi.curvature(a, s)).sum())
        of_prior = _shifted(
            lambda v: phi.conjugate(a, phi.slope(a, np.maximum(v, 0))), s, eps * s.max()
        )
        error += float(of_prior.sum())
    error += float(_shifted(lambda v: phi.conjugate(a, v), y, shift).sum())
    return value, float(error), size
