"""The optimum by CVXPY, on the word of a solver that vouches for it.

A solver that says its own answer may be inaccurate is no oracle. `ask` then asks another way: Clarabel with the
data as they are given, then with more careful linear algebra, then SCS, which takes no Newton steps at all.
Where none of them vouches the test fails, with what each one said.

Interior points need an interior, and a positive semidefinite K whose entries sum to 0 has none: K 1 = 0 puts it
on the boundary of the cone. `centered` writes such a K as V S V', where S is any positive semidefinite matrix;
`vanishing_on` does so for any vectors v with K v = 0.
"""

import warnings

import cvxpy as cp
import numpy as np
from scipy.linalg import null_space, qr

__all__ = ["ask", "centered", "independent", "squared_norm", "vanishing_on"]

_REFINED = {
    "iterative_refinement_reltol": 1e-15,
    "iterative_refinement_abstol": 1e-15,
    "iterative_refinement_max_iter": 50,
    "static_regularization_constant": 1e-9,
    "max_iter": 500,
}
# What to ask, in turn; what reaches the accuracy asked for is added.
WAYS = {
    "Clarabel": (cp.CLARABEL, {}),
    "Clarabel, not scaled": (cp.CLARABEL, {"equilibrate_enable": False}),
    "Clarabel, refined": (cp.CLARABEL, _REFINED),
    "SCS": (cp.SCS, {"max_iters": 200_000}),
}


def ask(problem: cp.Problem, tol: float = 1e-8) -> float:
    """Solve the problem to a relative gap and residual of tol; its variables then have their values."""
    said = []
    for name, (solver, options) in WAYS.items():
        # cp.SCS and cp.CLARABEL differ in what they call a tolerance.
        names = ("eps",) if solver == cp.SCS else ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        with warnings.catch_warnings():
            # It is the status that is acted on, below.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            try:
                problem.solve(solver=solver, **options, **dict.fromkeys(names, tol))
            except cp.SolverError as error:
                said.append(f"{name}: {error}")
                continue
        if problem.status == cp.OPTIMAL:
            return float(problem.value)
        said.append(f"{name}: {problem.status}")
    raise AssertionError("no solver vouches for its answer: " + "; ".join(said))


def centered(n: int) -> cp.Expression:
    """A positive semidefinite n x n matrix whose rows sum to 0, as a CVXPY expression."""
    return vanishing_on(np.ones((1, n)))


def vanishing_on(rows: np.ndarray) -> cp.Expression:
    """A positive semidefinite matrix K with K v = 0 for each of these rows v, as a CVXPY expression."""
    V = null_space(rows)
    return V @ cp.Variable((V.shape[1], V.shape[1]), PSD=True) @ V.T


def squared_norm(M: cp.Expression) -> cp.Expression:
    """The sum of the squares of the entries, taken as one vector.

    `cp.sum_squares` of a symmetric matrix variable is another quadratic form in CVXPY 1.5.2 to 1.9.0, as tried
    with NumPy 2.0 and SciPy 1.13: POLA's objective ended a fifth above its optimum, and was called optimal.
    """
    return cp.sum_squares(cp.vec(M, order="C"))


def independent(equations: np.ndarray) -> np.ndarray:
    """The numbers of as many rows as are linearly independent: rounding makes others contradict them."""
    _, R, order = qr(equations.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return order[: int(np.sum(size > 1e-9 * size[0]))]
