"""full_rank_prior: directions outside the range of the prior get weight eps, and the rest stays."""

import numpy as np
import pytest
from gramlearn.constraints import (
    Similarities,
    SquaredDistances,
)
from gramlearn.losses import Hard

from gramlearn import Factor, LogDet, Problem, Status, Term, VonNeumann, solve
from gramlearn.methods import full_rank_prior

POINTS = np.random.default_rng(5).standard_normal((6, 2))
APART = Term(Similarities([0, 1, 2], [3, 4, 5]), Hard(equal=0.0))
UNIT = Term(SquaredDistances([0, 1, 2, 0], [1, 2, 3, 5]), Hard(equal=1.0))


@pytest.mark.parametrize("phi", [LogDet(), VonNeumann()], ids=repr)
def test_a_problem_infeasible_in_the_range_becomes_feasible(phi):
    assert solve(Problem(phi, POINTS, [APART, UNIT])).status is Status.INFEASIBLE
    solution = solve(Problem(phi, full_rank_prior(POINTS), [APART, UNIT]))
    assert solution.status is Status.OPTIMAL
    np.testing.assert_allclose(solution.matrix[[0, 1, 2], [3, 4, 5]], 0.0, atol=1e-5)


def test_new_directions_have_weight_eps():
    X0 = POINTS @ POINTS.T
    s, U = np.linalg.eigh(X0)
    N = U[:, :4] @ U[:, :4].T
    np.testing.assert_allclose(full_rank_prior(X0, 0.01), X0 + 0.01 * s[4:].mean() * N, atol=1e-12)
    np.testing.assert_allclose(
        full_rank_prior(POINTS, 0.01), full_rank_prior(Factor(POINTS), 0.01), atol=1e-12
    )
    np.testing.assert_allclose(full_rank_prior(POINTS, 0.01), full_rank_prior(X0, 0.01), atol=1e-12)


def test_a_prior_of_full_rank_is_unchanged():
    X0 = POINTS.T @ POINTS
    np.testing.assert_array_equal(full_rank_prior(X0), X0)
    np.testing.assert_array_equal(full_rank_prior(np.eye(3)), np.eye(3))


@pytest.mark.parametrize(
    ("phi", "share"), [(LogDet(), 0.02), (VonNeumann(), 0.8)], ids=["LogDet", "VonNeumann"]
)
def test_as_eps_falls_the_answer_tends_to_that_within_the_range(phi, share):
    """Where the range has a solution, that is the limit: as eps, or as 1 / log(1/eps)."""
    wider = 1.3 * np.sum((POINTS[[0, 2]] - POINTS[[1, 3]]) ** 2, axis=1)
    terms = [Term(SquaredDistances([0, 2], [1, 3]), Hard(equal=wider))]
    within = solve(Problem(phi, POINTS, terms), tol=1e-9).matrix
    V = np.linalg.svd(POINTS, full_matrices=False)[0]
    far, outside = [], []
    for eps in (1e-1, 1e-3, 1e-5):
        X = solve(Problem(phi, full_rank_prior(POINTS, eps), terms), tol=1e-7).matrix
        far.append(np.abs(X - within).max())
        outside.append(np.trace(X - V @ (V.T @ X @ V) @ V.T))
    assert 0 < far[2] < share * far[1] < share**2 * far[0]
    assert 0 < outside[2] < 0.2 * outside[1] < 0.04 * outside[0]


def test_bad_input_raises_a_clear_error():
    with pytest.raises(ValueError, match="eps must be positive"):
        full_rank_prior(np.eye(2), 0.0)
    with pytest.raises(ValueError, match="`prior` is not symmetric"):
        full_rank_prior(np.array([[1.0, 2.0], [0.0, 1.0]]))
