"""maximize tr S over S > 0 with d_k' S d_k = b_k, or at most b_k: steps of a primal-dual interior-point method.

The dual is: minimize sum_k lam_k b_k with Z = sum_k lam_k d_k d_k' - I >= 0, and lam >= 0 where distances may
shrink. S = F F' is kept as a factor, and Z follows from lam. With F'ZF = V L^2 V' and G = F V L^(-1/2)

    G^-1 S G^-T = G' Z G = L

so both are one diagonal matrix in the coordinates of G (Nesterov and Todd), where a step solves M dlam = r with
M_kl = (e_k' e_l)^2, e_k = G' d_k. Near the optimum of a problem with nearly flat neighborhoods M loses all its
digits if it is built from S and Z^-1; here its rounding errors are those of e_k, or, as long as the gap is
large, those of rows of the basis times G, whose products are fewer. A share of the diagonal is added to M: the
next step corrects the error of that. Mehrotra's predictor and corrector choose how far to go.

The d_k are differences of rows of a basis, and the e_k those of the basis times G (`Differences`).
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from gramlearn.methods.unfolding.differences import Differences, multiply_lower

_REFINEMENTS = 10
_SOLVED = 1e-10  # what may be left of a system, against its right side, without a refinement
_BACK = 0.9  # of the way to the boundary
_BENT = 1.15  # times the second-order term of a prediction: up to a tenth fewer steps than with 1
_NEAR = 1e-3  # relative gaps above this do not need all digits of M
_ROOM = 3.0  # times the squared distances at the start: S shrinks in fewer steps than it grows
_SMALL = 200  # up to this size all eigenvalues are found as quickly as the least one


@final
@dataclass(frozen=True, eq=False)
class Program:
    """The d_k, as differences of rows of a basis, and b; whether values may be less than b."""

    basis: np.ndarray
    differences: Differences
    b: np.ndarray
    at_most: bool


@final
@dataclass(frozen=True, eq=False)
class Interior:
    """S = F F', the prices, and, where distances may shrink, by how much they did.

    F is n x p, with S times the basis and its transpose: its columns are in the range of the basis.
    """

    F: np.ndarray
    lam: np.ndarray
    slack: np.ndarray | None


def begin(program: Program, weights: np.ndarray) -> Interior:
    """Prices in proportion to weights, as small as Z > 0 allows but for a tenth, and S a multiple of Z^-1.

    The weights are such that sum_k weights_k d_k d_k' is positive definite; where rounding of the points spoils
    that, equal ones are taken instead.
    """
    b, differences = program.b, program.differences
    Z = differences.weighted(program.basis, weights)
    try:
        least = _least_positive(Z)
    except LinAlgError:
        weights = np.ones_like(weights)
        Z = differences.weighted(program.basis, weights)
        least = _least_positive(Z)
    price = 1.1 / least
    Z *= price
    Z[np.diag_indices_from(Z)] -= 1.0
    root = cholesky(Z, lower=True, overwrite_a=True, check_finite=False)
    F = solve_triangular(root, program.basis.T, lower=True, check_finite=False).T
    size = 1.0 if program.at_most else _ROOM
    F *= np.sqrt(size * b.sum() / differences.squares(F).sum())
    return Interior(F, price * weights, b.copy() if program.at_most else None)


def _least_positive(A: np.ndarray) -> float:
    """The least eigenvalue of A, or at most a hundredth more; LinAlgError where it is not above rounding."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    p = A.shape[0]
    if p > _SMALL:
        factor = cho_factor(A, lower=True, check_finite=False)
        inverse = LinearOperator((p, p), lambda x: cho_solve(factor, x, check_finite=False))
        start = np.random.default_rng(0).standard_normal(p)
        least = 1.0 / float(eigsh(inverse, 1, v0=start, tol=1e-3, return_eigenvectors=False)[0])
    else:
        least = float(np.linalg.eigvalsh(A)[0])
    if not least > p * np.finfo(float).eps * np.linalg.norm(A, 1):
        raise LinAlgError("not positive definite to working precision")
    return least


def step(now: Interior, program: Program, share: float = 1e-13) -> Interior | None:
    """One step on, with a share of the diagonal of M added to it; None where rounding leaves no step."""
    try:
        return _Scaled(now, program, share).step()
    except (LinAlgError, np.linalg.LinAlgError):
        return None


@final
class _Scaled:
    """The coordinates in which S and Z are the same diagonal matrix."""

    def __init__(self, now: Interior, program: Program, share: float) -> None:
        self.now, self.differences = now, program.differences
        squares, V = np.linalg.eigh(self.differences.weighted(now.F, now.lam, less=1.0))
        if not squares[0] > 0:
            raise LinAlgError("Z is not positive definite to working precision")
        self.L = np.sqrt(squares)
        # The rows of Q have the e_k as their differences.
        self.Q = now.F @ (V / np.sqrt(self.L))
        self.slack = np.zeros(program.b.shape[0]) if now.slack is None else now.slack
        self.t = self.differences.squares(now.F)
        self.short = program.b - self.t - self.slack
        self.ease = self.slack / now.lam
        self.gap = float(self.L @ self.L) + float(self.slack @ now.lam)
        # M has a diagonal of 1 then.
        self.scale = 1.0 / np.sqrt(self.differences.squares(self.Q) ** 2 + self.ease)
        is_near = self.gap < _NEAR * float(now.lam @ program.b)
        products = self.differences.products if is_near else self.differences.quick_products
        M = products(self.Q, np.sqrt(self.scale))
        M *= M
        M[np.diag_indices_from(M)] += self.ease * self.scale**2
        self.M, self.factor = M, _cholesky(M, share)

    def step(self) -> Interior:
        """Predict a step to a gap of zero, and correct it for what a straight step gets wrong."""
        L, now = self.L, self.now
        count = L.shape[0] + (0 if now.slack is None else now.slack.shape[0])
        dZ, dlam, dslack = self._direction(-self.t, -self.slack * now.lam)
        # Here dS = -L - dZ, so that one matrix has the boundaries of both.
        low, high = _ends(self._relative(dZ))
        a, c = self._lengths(-1.0 - high, low, dlam, dslack)
        # What is left of the gap: <L + a dS, L + c dZ>, and the same of the slack.
        along, across = float(L @ dZ.diagonal()), float(np.vdot(dZ, dZ))
        left = (1.0 - a) * float(L @ L) + (c - a) * along - a * c * (along + across)
        left += float((self.slack + a * dslack) @ (now.lam + c * dlam))
        # To aim lower makes primal steps shorter, which is no matter where S is feasible from the start.
        power = 2 if now.slack is None else 4
        share = min(max((left / self.gap) ** power, 1e-6), 1.0) if min(a, c) > 0.1 else 0.5
        # What is bent is the symmetric part of dS dZ, so it takes the square of one matrix.
        both = dZ @ dZ.T
        both *= 2.0 * _BENT / (L[:, None] + L)
        both += dZ
        both[np.diag_indices_from(both)] += share * self.gap / count / L - L
        dZ, dlam, dslack = self._direction(
            self.differences.values(self.Q, both),
            share * self.gap / count - self.slack * now.lam - _BENT * dslack * dlam,
        )
        dS = both
        dS -= dZ
        a, c = self._lengths(
            _ends(self._relative(dS), "SA")[0], _ends(self._relative(dZ), "SA")[0], dlam, dslack
        )
        dS *= a
        dS[np.diag_indices_from(dS)] += L
        root = np.linalg.cholesky(dS)
        return Interior(
            multiply_lower(self.Q, root),
            now.lam + c * dlam,
            None if now.slack is None else now.slack + a * dslack,
        )

    def _direction(
        self, values: np.ndarray, r: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """dZ, dlam and the change of the slack, for e_k' (dS + dZ) e_k and changes r of slack times price."""
        r = r / self.now.lam if self.now.slack is not None else np.zeros_like(r)
        dlam = self._solve(values - self.short + r)
        return self.differences.weighted(self.Q, dlam), dlam, r - self.ease * dlam

    def _solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r, refined as long as that helps."""
        r = r * self.scale
        x = cho_solve(self.factor, r, check_finite=False)
        left = r - self.M @ x
        for _ in range(_REFINEMENTS):
            if np.linalg.norm(left) <= _SOLVED * np.linalg.norm(r):
                break
            further = x + cho_solve(self.factor, left, check_finite=False)
            then = r - self.M @ further
            if not np.linalg.norm(then) < 0.95 * np.linalg.norm(left):
                break
            x, left = further, then
        return np.asarray(x * self.scale)

    def _relative(self, A: np.ndarray) -> np.ndarray:
        """L^(-1/2) A L^(-1/2)."""
        root = np.sqrt(self.L)
        return np.asarray(A / (root[:, None] * root))

    def _lengths(
        self, primal: float, dual: float, dlam: np.ndarray, dslack: np.ndarray
    ) -> tuple[float, float]:
        """How far the primal and the dual may go, at most all the way, given least relative changes."""
        if self.now.slack is not None:
            primal = min(primal, float(np.min(dslack / self.slack)))
            dual = min(dual, float(np.min(dlam / self.now.lam)))
        return _length(primal), _length(dual)


def _length(least: float) -> float:
    return min(1.0, -_BACK / least) if least < 0 else 1.0


def _ends(A: np.ndarray, which: str = "BE") -> tuple[float, float]:
    """Numbers not above the least and not below the largest eigenvalue of A, off by no more than their errors.

    With "SA" only the first is found.
    """
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    p = A.shape[0]
    if p > _SMALL:
        start = np.random.default_rng(0).standard_normal(p)
        try:
            s, X = eigsh(A, 2 if which == "BE" else 1, which=which, v0=start, tol=1e-3)
            errors = np.linalg.norm(A @ X - X * s, axis=0)
            return float(s[0] - errors[0]), float(s[-1] + errors[-1])
        except ArpackNoConvergence:
            pass
    s = np.linalg.eigvalsh(A)
    return float(s[0]), float(s[-1])


def _cholesky(M: np.ndarray, share: float) -> tuple[np.ndarray, bool]:
    """The Cholesky factor of M plus a share of the identity, ten times as much each time it fails."""
    while share < 1e-3:
        try:
            lifted = M.copy(order="C").T  # in the order of LAPACK
            lifted[np.diag_indices_from(M)] += share
            return cho_factor(lifted, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            share *= 10
    raise LinAlgError("M is singular to working precision")
