"""Kernels of given points: closed forms, CVXPY's optimum, and capacities and prices that belong together."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from gramlearn import Pairs
from gramlearn._base.eigen import leading
from gramlearn._base.eigen.leading import leading_eigenvectors
from gramlearn.graphs import laplacian, neighbor_graph
from gramlearn.methods.nonparametric import capacity
from gramlearn.methods.nonparametric.leading_kernel import leading_kernel
from gramlearn.methods.nonparametric.problem import (
    nonparametric_problem,
    solve_nonparametric,
    statement_matrix,
)
from oracles import ask

RNG = np.random.default_rng(0)
N = 24
X, Y = make_moons(N, noise=0.05, random_state=0)
L = laplacian(neighbor_graph(X, 4, join="mutual"))
PAIRS = Pairs.from_labels(Y, 30, random_state=0)
LOSSES = ["linear", "squared_hinge", "hinge", "square"]
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES)
EVERY_P = pytest.mark.parametrize("p", [1.5, 2.0, 4.0])


def targets() -> np.ndarray:
    """T, with half of each T_ij on either side of the diagonal, so that <T, K> = sum T_ij K_ij."""
    T = np.zeros((N, N))
    for table, sign in ((PAIRS.similar, 1), (PAIRS.dissimilar, -1)):
        for i, j in np.asarray(table):
            T[i, j] = T[j, i] = sign / 2
    return T


def power(A: np.ndarray, exponent: float) -> np.ndarray:
    """A+ ** exponent."""
    s, V = np.linalg.eigh(A)
    return (V * np.clip(s, 0, None) ** exponent) @ V.T


@EVERY_P
@pytest.mark.parametrize("C", [0.5, 3.0])
def test_the_linear_loss_has_the_closed_forms_of_the_paper(p, C) -> None:
    """Propositions 1 and 2."""
    A = C * targets() - L.toarray()
    of_price = solve_nonparametric(L, PAIRS, loss="linear", C=C, p=p, capacity_price=0.7)
    expected = power(A / 0.7, 1 / (p - 1))
    np.testing.assert_allclose(of_price.factor @ of_price.factor.T, expected, atol=1e-9)
    q = p / (p - 1)
    expected = (5.0 / np.trace(power(A, q))) ** (1 / p) * power(A, 1 / (p - 1))
    of_capacity = solve_nonparametric(L, PAIRS, loss="linear", C=C, p=p, capacity=5.0, tol=1e-9)
    np.testing.assert_allclose(
        of_capacity.factor @ of_capacity.factor.T, expected, rtol=1e-6, atol=1e-7
    )


@EVERY_P
def test_each_capacity_has_its_price(p) -> None:
    """G = (tr A+^q / B)^(1/q), below Proposition 2."""
    A, q = 2.0 * targets() - L.toarray(), p / (p - 1)
    answer = solve_nonparametric(L, PAIRS, loss="linear", C=2.0, p=p, capacity=5.0, tol=1e-9)
    assert (
        pytest.approx((np.trace(power(A, q)) / 5.0) ** (1 / q), rel=1e-6) == answer.capacity_price
    )


@EVERY_LOSS
@EVERY_P
def test_the_capacity_of_a_price_gives_its_kernel_back(loss, p) -> None:
    by_price = solve_nonparametric(L, PAIRS, loss=loss, p=p, capacity_price=0.2, C=2.0, tol=1e-9)
    by_capacity = solve_nonparametric(
        L, PAIRS, loss=loss, p=p, capacity=by_price.capacity, C=2.0, tol=1e-8
    )
    assert by_capacity.capacity <= by_price.capacity * (1 + 1e-12)
    assert by_capacity.relative_gap <= 1e-8
    assert by_capacity.primal == pytest.approx(by_price.primal, rel=1e-6)
    np.testing.assert_allclose(
        by_capacity.factor @ by_capacity.factor.T, by_price.factor @ by_price.factor.T, atol=2e-2
    )


@EVERY_LOSS
@pytest.mark.parametrize("B", [0.5, 20.0])
def test_the_optimum_is_that_of_cvxpy(loss, B) -> None:
    K = cp.Variable((N, N), PSD=True)
    alike = [K[i, j] for i, j in np.asarray(PAIRS.similar)]
    unlike = [-K[i, j] for i, j in np.asarray(PAIRS.dissimilar)]
    margins = cp.hstack(alike + unlike)
    losses = {
        "linear": -cp.sum(margins),
        "hinge": cp.sum(cp.pos(1 - margins)),
        "squared_hinge": cp.sum_squares(cp.pos(1 - margins)) / 2,
        "square": cp.sum_squares(1 - margins) / 2,
    }
    objective = cp.trace(L.toarray() @ K) + 2.0 * losses[loss]
    model = cp.Problem(cp.Minimize(objective), [cp.norm(K, "fro") <= B**0.5])
    best = ask(model)
    answer = solve_nonparametric(L, PAIRS, loss=loss, C=2.0, capacity=B)
    assert answer.capacity <= B * (1 + 1e-12)
    assert answer.primal == pytest.approx(best, rel=2e-5)
    assert answer.primal - answer.gap <= best + 2e-5 * abs(best)
    assert answer.relative_gap <= 1e-6


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("rank", [1, 3, N])
def test_a_rank_keeps_the_leading_eigenvectors(p, rank) -> None:
    """The best of many kernels of that rank and capacity, random or spanned by other eigenvectors."""
    A = 2.0 * targets() - L.toarray()
    answer = solve_nonparametric(L, PAIRS, loss="linear", C=2.0, p=p, capacity=5.0, rank=rank)
    K = answer.factor @ answer.factor.T
    assert answer.factor.shape[1] <= rank
    assert answer.primal == pytest.approx(-np.sum(A * K))
    assert np.sum(np.linalg.eigvalsh(K).clip(0) ** p) == pytest.approx(5.0)
    assert answer.relative_gap <= 1e-9
    rng = np.random.default_rng(0)
    _, V = np.linalg.eigh(A)
    for trial in range(200):
        if trial % 2:
            F = rng.standard_normal((N, rank))
        else:
            chosen = rng.choice(N, rank, replace=False)
            F = V[:, chosen] * rng.random(rank) ** 0.5
        other = F @ F.T
        other *= (5.0 / np.sum(np.linalg.eigvalsh(other).clip(0) ** p)) ** (1 / p)
        assert -np.sum(A * other) >= answer.primal - 1e-9


def test_one_and_the_same_eigenvector_for_a_trace() -> None:
    """Proposition 1, p = 1: K = B v v'; and of equal eigenvalues each has its share."""
    _, V = np.linalg.eigh(2.0 * targets() - L.toarray())
    answer = solve_nonparametric(L, PAIRS, loss="linear", C=2.0, p=1.0, capacity=5.0)
    expected = 5.0 * np.outer(V[:, -1], V[:, -1])
    np.testing.assert_allclose(answer.factor @ answer.factor.T, expected, atol=1e-8)
    two = leading_kernel(csr_array(np.diag([3.0, 1.0, 3.0])), 3, 1.0, 4.0)
    np.testing.assert_allclose(two.factor @ two.factor.T, np.diag([2.0, 0.0, 2.0]), atol=1e-12)


@EVERY_LOSS
@pytest.mark.parametrize("basis", ["graph", "statements"])
def test_a_basis_of_full_rank_changes_nothing_and_a_smaller_one_costs(loss, basis) -> None:
    values = [
        solve_nonparametric(L, PAIRS, loss=loss, capacity=4.0, C=2.0, rank=rank, basis=basis)
        for rank in (5, 12, N, None)
    ]
    assert values[0].factor.shape[0] == N
    assert values[0].primal >= values[1].primal - 1e-5 >= values[2].primal - 2e-5
    assert values[2].primal == pytest.approx(values[3].primal, rel=1e-5)
    assert all(answer.relative_gap <= 1e-6 for answer in values)


def test_the_price_of_a_rank_is_that_of_proposition_2() -> None:
    A = 2.0 * targets() - L.toarray()
    answer = solve_nonparametric(L, PAIRS, loss="linear", C=2.0, capacity_price=0.5, rank=N)
    np.testing.assert_allclose(answer.factor @ answer.factor.T, power(A / 0.5, 1.0), atol=1e-8)


def test_a_capacity_that_does_not_bind_is_left_unused() -> None:
    """Where the squared hinge is zero at a small K, no more is asked for."""
    pairs = Pairs(similar=[[0, 1]], n_points=N)
    with pytest.warns(ConvergenceWarning, match="found no price at which"):
        answer = solve_nonparametric(L, pairs, capacity=1e9, C=1e3)
    assert answer.capacity < 1e3
    assert answer.primal <= 1e-4 * 500.0  # f(0)
    assert answer.gap <= 0.1 * 500.0


@pytest.mark.parametrize("searches", [1, 2])
def test_a_search_that_ends_early_has_a_valid_gap(monkeypatch, searches) -> None:
    """It gives a K within B, and its gap covers what the whole search would gain."""
    best = solve_nonparametric(L, PAIRS, C=50.0, capacity=0.01, rank=N)
    monkeypatch.setattr(capacity, "_SEARCHES", searches)
    with pytest.warns(ConvergenceWarning, match="found no price at which"):
        answer = solve_nonparametric(L, PAIRS, C=50.0, capacity=0.01, rank=N)
    assert np.sum(np.linalg.svdvals(answer.factor) ** 4) <= 0.01 * (1 + 1e-12)
    assert answer.gap > best.gap
    assert answer.primal - answer.gap <= best.primal <= answer.primal + best.gap


@pytest.mark.parametrize(
    ("options", "words"),
    [({"max_iter": 1}, "max_iter=1"), ({"callback": lambda record: True}, "by the callback")],
)
def test_a_solve_cut_short_has_a_status_and_keeps_the_capacity(options, words) -> None:
    with pytest.warns(ConvergenceWarning, match=words):
        answer = solve_nonparametric(L, PAIRS, C=5.0, capacity=2.0, **options)
    K = answer.factor @ answer.factor.T
    assert np.sum(K * K) <= 2.0
    assert 1e-6 < answer.relative_gap < np.inf
    assert answer.primal - answer.gap <= solve_nonparametric(L, PAIRS, C=5.0, capacity=2.0).primal


def test_nothing_is_learned_where_the_graph_outweighs_the_pairs() -> None:
    answer = solve_nonparametric(
        L, Pairs(similar=[[0, 1]], n_points=N), loss="linear", C=1e-6, capacity=1.0
    )
    assert answer.capacity <= 1.0
    assert np.isfinite(answer.factor).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: solve_nonparametric(L, PAIRS, capacity=1.0, capacity_price=1.0),
            "`capacity` or `capacity_price`, not both",
        ),
        (
            lambda: solve_nonparametric(L, PAIRS, capacity=0.0),
            r"`solve_nonparametric\(capacity=0.0\)`",
        ),
        (
            lambda: solve_nonparametric(L, PAIRS, capacity_price=-1.0),
            r"`solve_nonparametric\(capacity_price=-1.0\)`",
        ),
        (lambda: solve_nonparametric(L, PAIRS, p=0.5), "`p=0.5` is below 1"),
        (lambda: solve_nonparametric(L, PAIRS, p=1.0, capacity=1.0), "`p=1` has an answer with"),
        (lambda: solve_nonparametric(L, PAIRS, p=1.0, loss="linear"), "`p=1` has an answer with"),
        (lambda: solve_nonparametric(L, PAIRS, rank=0), "`rank`"),
        (lambda: solve_nonparametric(L, PAIRS, rank=3, basis="sine"), "`basis='sine'`"),
        (lambda: solve_nonparametric(L, PAIRS, loss="linear", basis="sine"), "`basis='sine'`"),
        (lambda: solve_nonparametric(L, PAIRS, C=0.0), "C=0.0"),
        (lambda: solve_nonparametric(L, PAIRS, loss="linear", rank=2, tol=-1.0), "tol=-1.0"),
        (lambda: nonparametric_problem(L, PAIRS, loss="log"), "`loss='log'` is not known"),
        (lambda: solve_nonparametric(L, Pairs(similar=[[0, 1]], n_points=5)), "5"),
    ],
)
def test_bad_input_raises_a_clear_error(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_repr_shows_the_gap() -> None:
    words = repr(solve_nonparametric(L, PAIRS, capacity=5.0))
    assert "relative gap" in words
    assert "CapacityAnswer(OPTIMAL" in words
    assert ", 0 iterations" in repr(solve_nonparametric(L, PAIRS, loss="linear", rank=2))


# -- what a search could miss, and what numbers could not hold ---------------------------------------


def many_pieces() -> csr_array:
    """Copies of one graph: every eigenvalue of its Laplacian has as many vectors as there are copies."""
    return laplacian(block_diag([neighbor_graph(X, 4, join="either")] * 40))


def test_the_kernel_of_a_rank_over_many_components_is_optimal() -> None:
    L_many = many_pieces()
    n = L_many.shape[0]
    table = np.vstack([np.asarray(PAIRS.similar) + N * k for k in range(40)])
    pairs = Pairs(similar=table, n_points=n)
    answer = solve_nonparametric(L_many, pairs, loss="linear", capacity=2.0, rank=30)
    A = statement_matrix(pairs) - L_many
    largest = np.linalg.eigvalsh(A.toarray())[::-1][:30].clip(0)
    best = -(2.0**0.5) * np.linalg.norm(largest)
    assert answer.primal == pytest.approx(best, rel=1e-9)
    assert answer.primal - answer.gap <= best + 1e-9


def test_vectors_that_were_not_found_count_in_the_gap(monkeypatch) -> None:
    """What is left out may be worth as much as the largest eigenvalue that A can have."""
    from scipy.sparse.linalg import ArpackNoConvergence

    A = csr_array(neighbor_graph(RNG.standard_normal((800, 3)), 6, join="mutual"))
    values, V = np.linalg.eigh(A.toarray())

    def lost(A, count, **options):
        raise ArpackNoConvergence("lost", values[-1:], V[:, -1:])

    monkeypatch.setattr("scipy.sparse.linalg.eigsh", lost)
    monkeypatch.setattr(leading, "_AFFORDABLE", 700)
    with pytest.warns(ConvergenceWarning, match="found 1 of the 10"):
        answer = leading_kernel(A, 10, 2.0, 3.0)
    assert answer.primal - answer.gap <= -(3.0**0.5) * np.linalg.norm(values[-10:])

    def lost_at_once(A, count, **options):
        raise ArpackNoConvergence("lost", values[:0], V[:, :0])

    monkeypatch.setattr("scipy.sparse.linalg.eigsh", lost_at_once)
    with pytest.raises(RuntimeError, match="found none of the 10"):
        leading_eigenvectors(A, 10)


@pytest.mark.parametrize("p", [1.0, 2.0, 4.0])
def test_a_kernel_of_zeros_has_a_gap_of_zero_up_to_rounding(p) -> None:
    one = Pairs(dissimilar=[[0, 1]], n_points=N)
    answer = solve_nonparametric(L, one, loss="linear", C=1e-6, p=p, capacity=3.0, rank=2)
    assert answer.relative_gap <= 1e-9


@pytest.mark.filterwarnings("ignore:the solve has an optimum that is too large")
@pytest.mark.parametrize("rank", [None, 3])
def test_a_kernel_that_overflows_is_refused(rank) -> None:
    with pytest.raises(ValueError, match=r"`p=1.02` and `capacity_price=1e-07`.* too large"):
        solve_nonparametric(L, PAIRS, loss="linear", C=1e3, p=1.02, capacity_price=1e-7, rank=rank)


def test_a_large_exponent_of_the_norm_does_not_overflow() -> None:
    """q = p / (p - 1) = 1001 of eigenvalues near 1000: the norm is near the largest of them."""
    answer = solve_nonparametric(L, PAIRS, loss="linear", C=1e3, p=1.001, capacity=2.0, rank=3)
    trace = solve_nonparametric(L, PAIRS, loss="linear", C=1e3, p=1.0, capacity=2.0)
    assert answer.primal == pytest.approx(trace.primal, rel=1e-2)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "square"])
def test_components_without_pairs_are_left_out_of_the_basis(loss) -> None:
    """20 copies of the graph, pairs in the last one: the smoothest functions of that one alone."""
    L_many = laplacian(block_diag([neighbor_graph(X, 4, join="either")] * 20))
    alone = laplacian(neighbor_graph(X, 4, join="either"))
    given = {"loss": loss, "capacity": 4.0, "C": 2.0, "rank": 8}
    moved = Pairs(
        np.asarray(PAIRS.similar) + 19 * N, np.asarray(PAIRS.dissimilar) + 19 * N, n_points=20 * N
    )
    among, one = (
        solve_nonparametric(L_many, moved, **given),
        solve_nonparametric(alone, PAIRS, **given),
    )
    assert among.primal == pytest.approx(one.primal, rel=1e-5)
    assert not among.factor[: 19 * N].any()


@pytest.mark.parametrize(
    ("graph", "pairs", "words"),
    [
        (L.toarray(), PAIRS, "`laplacian` must be a sparse matrix.* got ndarray"),
        (L[:, :20], PAIRS, r"`laplacian` must be square; got shape \(24, 20\)"),
        (csr_array(np.triu(L.toarray())), PAIRS, "`laplacian` is not symmetric"),
        (L * np.nan, PAIRS, "`laplacian` contains NaN"),
        (L, [[0, 1]], "`pairs` must be Pairs.* got list"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"loss": "linear", "rank": 2}, {"rank": 2}])
def test_an_invalid_laplacian_and_missing_pairs_are_refused(graph, pairs, words, options) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        solve_nonparametric(graph, pairs, **options)
