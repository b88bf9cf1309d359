"""minimize f(X) over positive semidefinite X within bounds on its entries: Douglas and Rachford's splitting.

With P the projection on the cone, in coordinates V = E o X, and `nearest` the entries' own minimizer,

    X = P(V),    S = X - V,    B = nearest(X + S),    V <- V - X + B        (S is positive semidefinite)

repeats until X = B: one eigendecomposition a step, whatever is asked of however many entries. Then rho S is the
multiplier of the cone, and proves a bound at every step. The steps are accelerated (`solvers.anderson`), which
saves most of them. E_ij = (e_i e_j)^1/2, with e_i the mean weight of a row, makes weights w_i w_j equal.

Where fixed entries leave only a face of the cone (`faces`), P is the projection on that.

Where nothing is feasible, V runs away along a positive semidefinite S that proves it, and X - B tends to
another multiple of it, sooner.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

from gramlearn._base.arrays import Array, clipped, count_true, eye, machine_eps, namespace, read
from gramlearn._base.matrices import eigh, symmetric_part, transpose
from gramlearn.methods.correlation.answer import NearestCorrelation
from gramlearn.methods.correlation.conflict import name_conflict
from gramlearn.methods.correlation.entries import ROUNDINGS, Bound, Entries
from gramlearn.methods.correlation.faces import Face
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.status import Status
from gramlearn.solvers.anderson import Memory
from gramlearn.solvers.loop import Method, Run, State

INF = float("inf")
_WIDEST = 100.0  # e_i, against their geometric mean
_WORSE = 2.0  # where a residual grows so much, the past is forgotten
_BALANCE_EVERY = 30  # steps: a change of rho makes the past worthless
_OFF_BALANCE = 3.0  # from here on rho is changed
_MOST_CHANGE = 10.0
_REFUTE_EVERY = 5  # steps, since it takes a decomposition of its own
_PATIENCE = 500  # steps without progress,
_PROGRESS = 0.8  # which is a candidate whose badness is this share of that before
_TINY = 1e-300
_LITTLE = 1e-6  # of the size of f: where rounding of fixed entries may change more, the gap says so


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SplittingState(State):
    """V and rho with what they give, and the best bound so far with the multipliers that prove it."""

    V: Array
    rho: float
    X: Array
    S: Array
    B: Array
    bound: Bound
    multipliers: Array
    memory: Memory = field(default_factory=Memory)
    residual: float = INF  # the least |X - B| that the memory has seen
    moved: float = INF  # how far the last step moved B
    steps: int = 0
    badness: float = INF  # of the last candidate that was better by far
    idle: int = 0  # steps since then

    def status(self, tol: float) -> Status | None:
        """What is proven infeasible is no optimum, however near it comes."""
        return self.ending if self.ending is Status.INFEASIBLE else super().status(tol)

    @property
    def details(self) -> Mapping[str, Any]:
        """The price of X - B."""
        return {"rho": self.rho}


@final
@dataclass(frozen=True, eq=False)
class Splitting(Method[SplittingState, NearestCorrelation, NearestCorrelation]):
    """The splitting for what `entries` ask of X - shift I, where `unit` is one weight in the user's.

    All that keeps the fixed entries lies in `face`. A `contradiction` is a proof, known before the first step,
    that nothing does.
    """

    entries: Entries
    shift: float
    unit: float
    face: Face | None = None
    contradiction: Array | None = None

    @cached_property
    def _weight(self) -> Array:
        """The weights off the diagonal, which is given."""
        return self.entries.weight * (1 - eye(self.entries.n, self.entries.weight))

    @cached_property
    def units(self) -> Array:
        """E, from the mean weight of each row."""
        xp = namespace(self.entries.weight)
        rows = xp.mean(self._weight, axis=1)
        is_known = rows > 0
        known = xp.where(is_known, rows, xp.ones_like(rows))
        count = max(count_true(is_known), 1)
        typical = read(xp.exp(xp.sum(xp.log(known)) / count))
        e = clipped(rows / typical, low=1 / _WIDEST, high=_WIDEST)
        return xp.sqrt(e[:, None] * e[None, :])

    @cached_property
    def _axes(self) -> tuple[Array, Array] | None:
        """Orthonormal bases of the face and of what is orthogonal to it, in the coordinates V."""
        if self.face is None:
            return None
        xp = namespace(self.units)
        scale = xp.sqrt(xp.linalg.diagonal(self.units))[:, None]
        return xp.linalg.qr(self.face.basis * scale)[0], xp.linalg.qr(self.face.normal / scale)[0]

    def _project(self, V: Array) -> tuple[Array, Array]:
        """X, the projection of V on the face, and S = X - V, as exact as its size allows."""
        Q, N = self._axes or (None, None)
        v, U = eigh(V if Q is None else symmetric_part(transpose(Q) @ V @ Q))
        U = U if Q is None else Q @ U
        X = (U * clipped(v, low=0.0)) @ transpose(U)
        S = (U * clipped(-v, low=0.0)) @ transpose(U)
        if N is None:
            return X, S
        across = N @ (transpose(N) @ V)
        return X, S - across - transpose(across - across @ N @ transpose(N))

    def begin(self, tol: float) -> SplittingState:
        """Begin at C, moved into the bounds, with the mean weight for rho, each weight weighed by itself."""
        ask, E = self.entries, self.units
        xp = namespace(E)
        weight = self._weight / E**2
        total = read(xp.sum(weight))
        rho = read(xp.sum(weight**2)) / total if total > 0 else 1.0
        none = xp.zeros_like(E)
        B = clipped(ask.target, low=ask.lower, high=ask.upper)
        start = SplittingState(
            V=B * E, rho=rho, X=B * E, S=none, B=B, bound=ask.bound(none), multipliers=none
        )
        state = self._look(start, start.V, tol)
        known = self.contradiction
        return state if known is None else self._refuted_by(state, known)

    def step(self, state: SplittingState, tol: float) -> SplittingState:
        """One step from V, accelerated by the steps before it."""
        if state.idle >= _PATIENCE:
            return replace(state, ending=Status.STALLED)
        if state.steps % _BALANCE_EVERY == 0:
            state = self._balance(state)
        xp = namespace(state.V)
        image = state.V - state.X + state.B * self.units
        residual = read(xp.linalg.vector_norm(image - state.V))
        # Near a kink the past may mislead; alone, a step never lengthens the residual.
        memory = state.memory if residual <= _WORSE * state.residual else Memory()
        memory = memory.with_point(state.V, image)
        state = replace(state, memory=memory, residual=min(state.residual, residual))
        return self._look(state, symmetric_part(memory.combine()), tol)

    def _look(self, before: SplittingState, V: Array, tol: float) -> SplittingState:
        """Decompose V, and certify what it gives."""
        ask, E = self.entries, self.units
        X, S = self._project(V)
        B = ask.nearest((X + S) / E, before.rho * E**2)
        multipliers = before.rho * S * E
        found = ask.bound(multipliers)
        if self.face is not None:
            found = found.less(self.face.slack(multipliers))
        is_better = found.value + found.slack > before.bound.value + before.bound.slack
        bound, multipliers_of_bound = (
            (found, multipliers) if is_better else (before.bound, before.multipliers)
        )
        Z = ask.with_diagonal(X / E)
        candidate = self._answer(Z, multipliers_of_bound, self._certify(Z, bound))
        badness = candidate.certificate.badness
        is_progress = badness < _PROGRESS * before.badness
        state = replace(
            before,
            V=V,
            X=X,
            S=S,
            B=B,
            bound=bound,
            multipliers=multipliers_of_bound,
            moved=read(namespace(V).linalg.vector_norm((B - before.B) * E)),
            steps=before.steps + 1,
            badness=badness if is_progress else before.badness,
            idle=0 if is_progress else before.idle + 1,
            candidate=candidate,
            certificate=candidate.certificate,
        )
        return self._refuted(state, multipliers, tol)

    def _refuted(self, state: SplittingState, S: Array, tol: float) -> SplittingState:
        """The state with a proof that nothing is feasible, where there is one: S, or the run of V."""
        proofs = [S]
        if state.certificate.violation > tol and state.steps % _REFUTE_EVERY == 0:
            proofs.append(self._project(state.B * self.units - state.X)[1] * self.units)
        for proof in proofs:
            if self.face is None:
                if self.entries.is_refuted_by(proof):
                    return self._refuted_by(state, proof)
            elif self.entries.is_refuted_by(proof, self.face.slack(proof)):
                # Without the face, the fixed entries have their part in the proof.
                spare = -read(namespace(proof).sum(self.entries.refutation(proof))) / 4
                whole = self.face.semidefinite(proof, spare)
                if self.entries.is_refuted_by(whole):
                    return self._refuted_by(state, whole)
                against = replace(state.candidate, multipliers=proof)
                return replace(state, candidate=against, ending=Status.INFEASIBLE)
        return state

    def _refuted_by(self, state: SplittingState, S: Array) -> SplittingState:
        """The end, by a positive semidefinite S."""
        conflict = name_conflict(self.entries, S)
        against = replace(state.candidate, multipliers=S, face=None, conflict=conflict)
        return replace(state, candidate=against, conflict=conflict, ending=Status.INFEASIBLE)

    def _balance(self, state: SplittingState) -> SplittingState:
        """Change rho where X - B, against X, is far from the last move of B, against S."""
        xp = namespace(state.V)
        size = xp.linalg.vector_norm
        apart = read(size(state.X - state.B * self.units)) / max(read(size(state.X)), _TINY)
        moved = state.moved / max(read(size(state.S)), _TINY)
        if not (apart > 0 and moved > 0):
            return state
        change = min(max((apart / moved) ** 0.5, 1 / _MOST_CHANGE), _MOST_CHANGE)
        if 1 / _OFF_BALANCE < change < _OFF_BALANCE:
            return state
        # The multipliers rho S stay.
        rho, S = state.rho * change, state.S / change
        B = self.entries.nearest((state.X + S) / self.units, rho * self.units**2)
        return replace(state, rho=rho, S=S, V=state.X - S, B=B, memory=Memory(), residual=INF)

    def _certify(self, Z: Array, bound: Bound) -> Certificate:
        """The certificate of Z = X - shift I: it has the value of X, since the target is shifted as well."""
        primal = self.entries.value(Z)
        apart = abs(primal - bound.value - bound.slack)
        gap = apart + bound.slack + ROUNDINGS * machine_eps(Z) * primal
        violation = self.entries.violation(Z)
        is_little = bound.slack <= _LITTLE * self.entries.size
        return Certificate(
            primal,
            bound.value,
            gap,
            violation,
            least=self.entries.least,
            prior_rounding=bound.slack if is_little else 0.0,
        )

    def _answer(self, Z: Array, S: Array, certificate: Certificate) -> NearestCorrelation:
        X = Z + self.shift * eye(self.entries.n, Z)
        face = None if self.face is None else self.face.basis
        return NearestCorrelation(matrix=X, multipliers=S, face=face, certificate=certificate)

    def answer(self, best: NearestCorrelation, run: Run) -> NearestCorrelation:
        """In the unit of the weights."""
        in_unit = replace(
            best,
            multipliers=best.multipliers * self.unit,
            certificate=best.certificate.times(self.unit),
        )
        return super().answer(in_unit, run)
