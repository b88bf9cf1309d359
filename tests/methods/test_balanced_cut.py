"""balanced_cut: the relaxation by CVXPY, all cuts of small graphs, and K09 6.4 as written are the oracles."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from gramlearn.constraints import DiagonalEntries
from gramlearn.losses import Hard
from scipy.sparse import csr_array

from gramlearn import Factor, LogDet, Problem, Term, balanced_cut, solve
from oracles import ask, centered


def graph(n, density, seed=0):
    rng = np.random.default_rng(seed)
    upper = np.triu((rng.random((n, n)) < density) * rng.random((n, n)), 1)
    return upper + upper.T


def laplacian(A):
    return np.diag(A.sum(axis=1)) - A


def least_cut(A):
    """The least weight over all halves."""
    n = len(A)
    halves = (np.isin(np.arange(n), half) for half in itertools.combinations(range(n), n // 2))
    return min(A[s][:, ~s].sum() for s in halves)


def relaxation(A):
    n = len(A)
    X = centered(n)
    return ask(cp.Problem(cp.Minimize(cp.trace(laplacian(A) @ X)), [cp.diag(X) == 1])) / 4


CIRCLE = np.roll(np.eye(10), 1, axis=1) + np.roll(np.eye(10), -1, axis=1)
TWO_PARTS = np.kron(np.eye(2), graph(5, 0.9))  # disconnected, in two halves
THREE_PARTS = np.kron(np.eye(3), graph(4, 0.9, seed=1))  # disconnected, a part has to be cut


@pytest.mark.parametrize(
    "A",
    [graph(8, 0.6), graph(10, 0.4, seed=2), CIRCLE, TWO_PARTS, THREE_PARTS],
    ids=["dense", "sparse", "circle", "two parts", "three parts"],
)
def test_the_relaxation_is_approached_from_above(A):
    cut = balanced_cut(A, eps=1e-4, random_state=0)
    expected = relaxation(A)
    scale = max(expected, np.trace(laplacian(A)) / len(A))
    values = [value for _, value in cut.path]
    assert np.all(np.diff(values) < 1e-6 * scale)  # it falls with eps
    assert -1e-5 * scale < cut.relaxed - expected < 2e-4 * scale
    assert -2e-4 * scale < cut.bound - expected < 1e-5 * scale
    # tr L X lies above the bound by eps times the rank at most.
    eps, value = cut.path[-1]
    assert 0 < value - cut.bound < 1.01 * eps * (len(A) - 1) / 4 + 1e-6 * scale


@pytest.mark.parametrize("n", [6, 7, 10, 11])
def test_the_bound_holds_for_all_cuts_and_the_cut_is_one_of_them(n):
    for seed in range(4):
        A = graph(n, 0.5, seed)
        cut = balanced_cut(A, random_state=0)
        assert abs(np.sum(cut.labels) - n / 2) <= 0.5
        assert cut.weight == pytest.approx(A[cut.labels == 0][:, cut.labels == 1].sum())
        least = least_cut(A)
        assert cut.bound <= least * (1 + 1e-12) + 1e-12
        assert cut.weight == pytest.approx(least)  # swaps find it in graphs this small


@pytest.mark.usefixtures("tensors_stay")
def test_a_graph_in_a_tensor_is_cut_in_host_memory(other):
    np.testing.assert_array_equal(
        balanced_cut(other.array(CIRCLE), random_state=0).labels,
        balanced_cut(CIRCLE, random_state=0).labels,
    )


def test_components_are_kept_whole_where_they_can_be():
    cut = balanced_cut(TWO_PARTS)
    assert cut.weight == 0.0
    np.testing.assert_array_equal(cut.labels, np.repeat([0, 1], 5))


def test_it_is_the_problem_of_the_paper():
    """LogDet from eps pinv(L), where the graph is connected: the same X."""
    A = graph(8, 0.7)
    cut = balanced_cut(A, eps=0.1)
    values, U = np.linalg.eigh(laplacian(A))
    assert values[1] > 0.1
    prior = Factor(U[:, 1:] * np.sqrt(cut.path[-1][0] / values[1:]))
    terms = [Term(DiagonalEntries(range(8)), Hard(equal=1.0))]
    expected = solve(Problem(LogDet(), prior, terms), tol=1e-9)
    np.testing.assert_allclose(cut.solution.matrix, expected.matrix, atol=1e-4)
    assert np.abs(cut.solution.matrix.sum(axis=0)).max() < 1e-9


def test_two_blocks_are_found():
    rng = np.random.default_rng(0)
    side = np.arange(60) % 2
    upper = np.triu(rng.random((60, 60)) < np.where(side[:, None] == side, 0.5, 0.05), 1)
    A = csr_array((upper + upper.T).astype(float))
    cut = balanced_cut(A, random_state=0)
    np.testing.assert_array_equal(cut.labels, side)
    assert cut.bound > 0.9 * cut.weight


def test_a_graph_without_edges_and_one_with_loops():
    A = np.zeros((4, 4))
    cut = balanced_cut(A)
    assert (cut.weight, np.sum(cut.labels)) == (0.0, 2)
    with_loops = graph(6, 0.8) + 5 * np.eye(6)
    before = with_loops.copy()
    assert balanced_cut(with_loops).weight == pytest.approx(balanced_cut(graph(6, 0.8)).weight)
    np.testing.assert_array_equal(with_loops, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 3)),), "`graph` must be a square matrix"),
        ((np.ones((1, 1)),), "at least 2 vertices"),
        ((np.array([[0.0, 1.0], [0.0, 0.0]]),), "`graph` is not symmetric"),
        ((np.array([[0.0, -1.0], [-1.0, 0.0]]),), "weights must not be negative"),
        ((np.ones((2, 2)), 0.0), "eps must be positive"),
        ((np.ones((2, 2)), 0.1, 0), "`n_rounds` must be a whole number"),
    ],
)
def test_bad_input_raises_a_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        balanced_cut(*arguments)
