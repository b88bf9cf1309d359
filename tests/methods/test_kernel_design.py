"""The linear program of F07: cuts against the program written out, over families, prices and weights."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.scripts.kernel_design_full import full_program
from sklearn.exceptions import ConvergenceWarning

from gramlearn import KernelDesigner, Pairs, Status, Triplets
from gramlearn.kernels import (
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    OneFeature,
    PolynomialKernel,
    SigmoidKernel,
)
from gramlearn.kernels.families import read_kernels
from gramlearn.methods import DesignProblem, KernelDesign
from gramlearn.methods.kernel_design import dominance_rows as gram_rows
from gramlearn.methods.kernel_design import problem as design_module

FULL = (
    GaussianKernel(0.1),
    GaussianKernel(1.0),
    LaplacianKernel(0.3),
    LinearKernel(),
    PolynomialKernel(2, 0.5),
    SigmoidKernel(0.2, -0.1),
    *read_kernels(lambda A, B: -np.abs(A[:, :1] - B[:, 0])),
)
WEAK = tuple(OneFeature(GaussianKernel(mu), f) for f in range(4) for mu in (0.3, 3.0))
PRICES = list(itertools.product((0.0, 0.1, 5.0), (1e-4, 0.05)))


def instance(n=24, m=90, seed=0, noise=0.8):
    """Two classes of which two features tell something, and comparisons of them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    points = rng.standard_normal((n, 4))
    points[:, :2] += y[:, None] / noise
    return points, Triplets.from_labels(y, m, random_state=seed)


def matrices_of(kernels, points):
    return np.stack([kernel(points, points) for kernel in kernels])


def groups_of(kernels):
    return np.asarray([getattr(kernel, "feature", p) for p, kernel in enumerate(kernels)])


def dominance(K):
    off = np.abs(K).sum(axis=1) - np.abs(np.diagonal(K))
    return np.diagonal(K) - off


@pytest.mark.parametrize(("sparsity", "trace_price"), PRICES)
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("kernels", [FULL, WEAK], ids=["full", "weak"])
def test_cuts_have_the_optimum_of_the_program_written_out(
    kernels, nonnegative, sparsity, trace_price
):
    points, triplets = instance()
    groups, rows = groups_of(kernels), np.arange(len(points))
    problem = DesignProblem(kernels, points, triplets, rows, groups=groups, nonnegative=nonnegative)
    found = problem.solve(sparsity, trace_price, tol=1e-8)
    matrices = matrices_of(kernels, points)
    full = full_program(
        problem.differences, matrices, groups, sparsity, trace_price, nonnegative=nonnegative
    )
    assert found.status is Status.OPTIMAL
    assert found.value == pytest.approx(full.value, rel=1e-6)
    assert found.bound <= full.value * (1 + 1e-8)
    K = np.tensordot(found.weights, matrices, 1) + found.identity * np.eye(len(points))
    assert dominance(K).min() >= -1e-10 * np.abs(K).max()
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.abs(K).max()
    if nonnegative:
        assert found.weights.min() >= 0


def test_the_value_is_that_of_the_formula():
    points, triplets = instance()
    weighted = Triplets(
        triplets.triplets,
        n_points=len(points),
        margin=np.linspace(0.5, 2, triplets.size),
        weight=np.linspace(0.1, 3, triplets.size),
    )
    groups, rows = groups_of(WEAK), np.arange(0, len(points), 2)
    problem = DesignProblem(WEAK, points, weighted, rows, groups=groups)
    found = problem.solve(0.3, 0.01, tol=1e-8)
    K = np.tensordot(found.weights, matrices_of(WEAK, points), 1)
    i, j, k = np.asarray(triplets.triplets).T
    slack = np.maximum(weighted.margin - K[i, j] + K[i, k], 0)
    largest = [np.abs(found.weights[groups == f]).max() for f in range(4)]
    trace = np.diagonal(K)[rows].sum() + rows.size * found.identity
    assert found.value == pytest.approx(weighted.weight @ slack + 0.3 * sum(largest) + 0.01 * trace)
    full = full_program(
        problem.differences,
        matrices_of(WEAK, points[rows]),
        groups,
        0.3,
        0.01,
        margin=weighted.margin,
        weight=weighted.weight,
    )
    assert found.value == pytest.approx(full.value, rel=1e-6)


def test_comparisons_of_two_pairs_are_compared_as_such():
    points, _ = instance()
    table = np.asarray([(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)])
    problem = DesignProblem(
        FULL, points, Triplets(table, n_points=len(points)), np.arange(len(points))
    )
    matrices = matrices_of(FULL, points)
    expected = matrices[:, table[:, 0], table[:, 1]] - matrices[:, table[:, 2], table[:, 3]]
    np.testing.assert_allclose(problem.differences, expected.T, atol=1e-14)


@pytest.mark.parametrize("trace_price", [1e-4, 1e-2, 1.0])
def test_smooth_kernels_need_the_identity_kernel(trace_price):
    # Smooth kernels are near 1 everywhere: no combination of them is dominant on its own.
    points, triplets = instance(n=30, m=200, noise=0.4)
    smooth = [GaussianKernel(mu) for mu in (0.01, 0.03, 0.1)]
    rows = np.arange(len(points))
    alone = DesignProblem(smooth, points, triplets, rows, identity=False).solve(0.0, trace_price)
    assert alone.violation <= 1e-6
    np.testing.assert_allclose(alone.weights, 0, atol=1e-9)
    assert alone.value == pytest.approx(triplets.size)
    with_it = DesignProblem(smooth, points, triplets, rows).solve(0.0, 1e-4)
    assert with_it.value < 0.8 * triplets.size
    assert with_it.identity > 0


def test_without_the_identity_the_program_is_that_of_the_paper():
    points, triplets = instance(n=16, m=60)
    narrow = [OneFeature(GaussianKernel(mu), f) for f in range(4) for mu in (100.0, 1e4)]
    rows, groups = np.arange(len(points)), groups_of(narrow)
    problem = DesignProblem(narrow, points, triplets, rows, groups=groups, identity=False)
    found = problem.solve(1e-3, 1e-3, tol=1e-8)
    matrices = matrices_of(narrow, points)
    full = full_program(problem.differences, matrices, groups, 1e-3, 1e-3, has_identity=False)
    assert np.abs(found.weights).max() > 0
    assert found.value == pytest.approx(full.value, rel=1e-6)
    assert dominance(np.tensordot(found.weights, matrices, 1)).min() >= -1e-6


def test_a_warm_start_from_other_prices_gives_the_same_answer():
    points, triplets = instance()
    rows, groups = np.arange(len(points)), groups_of(WEAK)
    warm = DesignProblem(WEAK, points, triplets, rows, groups=groups)
    for sparsity, trace_price in [*PRICES, *PRICES[::-1]]:
        cold = DesignProblem(WEAK, points, triplets, rows, groups=groups)
        one, other = (
            warm.solve(sparsity, trace_price, tol=1e-8),
            cold.solve(sparsity, trace_price, tol=1e-8),
        )
        assert one.value == pytest.approx(other.value, rel=1e-7)


def test_from_the_largest_gamma1_on_all_weights_are_zero_and_a_little_below_some_are_not():
    points, triplets = instance()
    problem = DesignProblem(WEAK, points, triplets, np.arange(len(points)), groups=groups_of(WEAK))
    first = problem.largest_sparsity
    assert not problem.solve(first * 1.0001, 0.0).weights.any()
    assert problem.solve(first * 0.99, 0.0).weights.any()


def test_many_comparisons_enter_in_batches_and_change_nothing(monkeypatch):
    points, triplets = instance(n=40, m=400)
    rows, groups = np.arange(len(points)), groups_of(WEAK)
    at_once = DesignProblem(WEAK, points, triplets, rows, groups=groups).solve(0.1, 1e-3, tol=1e-8)
    monkeypatch.setattr(design_module, "_FIRST", 20)
    batches = DesignProblem(WEAK, points, triplets, rows, groups=groups).solve(0.1, 1e-3, tol=1e-8)
    assert batches.history[1].details["comparisons"] == 20
    assert batches.history[-1].details["comparisons"] == 400
    assert batches.value == pytest.approx(at_once.value, rel=1e-7)


def test_matrices_that_do_not_fit_are_computed_by_rows(monkeypatch):
    points, triplets = instance()
    rows = np.arange(len(points))
    kept = DesignProblem(FULL, points, triplets, rows).solve(0.1, 1e-3, tol=1e-8)
    monkeypatch.setattr(gram_rows, "_KEPT", 10)
    monkeypatch.setattr(gram_rows, "_BLOCK", 100)
    again = DesignProblem(FULL, points, triplets, rows).solve(0.1, 1e-3, tol=1e-8)
    assert again.value == pytest.approx(kept.value, rel=1e-7)


@pytest.mark.parametrize("kept", [0, 3000, 10**6], ids=["none", "some", "all"])
def test_excess_and_cuts_are_those_of_the_whole_matrix(monkeypatch, kept):
    monkeypatch.setattr(gram_rows, "_KEPT", kept)
    monkeypatch.setattr(gram_rows, "_LEAST", 3)
    points, _ = instance(n=40)
    rows = gram_rows.GramRows(WEAK, points)
    assert (len(rows._kept) > 0) == (kept > 0)
    weights = np.random.default_rng(0).standard_normal(len(WEAK))
    matrices = np.stack([kernel(points, points) for kernel in WEAK])
    K = np.tensordot(weights, matrices, 1)
    off_diagonal = K - np.diag(K.diagonal())
    excess = np.abs(off_diagonal).sum(axis=1) - K.diagonal()
    np.testing.assert_allclose(rows.excess(weights), excess, atol=1e-12)
    # A cut is minus the excess where the signs are.
    some = np.array([0, 7, len(points) - 1])
    np.testing.assert_allclose(rows.cuts(weights, some) @ weights, -excess[some], atol=1e-12)


def test_units_of_kernels_do_not_matter():
    # Kernels times c, with prices of their weights times c, are the same problem.
    points, triplets = instance()
    rows = np.arange(len(points))
    plain = DesignProblem([LinearKernel()], points, triplets, rows).solve(0.5, 1e-3)
    large = DesignProblem(read_kernels(lambda A, B: 1e8 * A @ B.T), points, triplets, rows).solve(
        0.5e8, 1e-3
    )
    assert large.value == pytest.approx(plain.value, rel=1e-6)
    np.testing.assert_allclose(large.weights * 1e8, plain.weights, rtol=1e-6)


def test_a_stopped_solve_has_a_status_and_a_gap():
    points, triplets = instance()
    problem = DesignProblem(WEAK, points, triplets, np.arange(len(points)))
    best = DesignProblem(WEAK, points, triplets, np.arange(len(points))).solve(0.1, 0.05)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        found = problem.solve(0.1, 0.05, max_iter=1)
    assert found.status is Status.ITERATION_LIMIT
    assert found.bound <= best.value <= found.value
    assert found.gap > 0
    assert "ITERATION_LIMIT" in repr(found)
    assert isinstance(found, KernelDesign)


@pytest.mark.parametrize("name", ["sparsity", "trace_price"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "1", None, True])
def test_prices_are_nonnegative_numbers(name, value):
    points, triplets = instance()
    problem = DesignProblem(WEAK, points, triplets, np.arange(len(points)))
    prices = {"sparsity": 0.1, "trace_price": 0.1, name: value}
    with pytest.raises(ValueError, match=f"`{name}` must be a finite number of at least 0"):
        problem.solve(**prices)


def test_a_program_without_an_optimum_is_an_error_with_the_status(monkeypatch):
    points, triplets = instance()
    problem = DesignProblem(WEAK, points, triplets, np.arange(len(points)))
    # No such right side comes from prices; it stands for a bug.
    monkeypatch.setattr(problem._program, "_data", replace(problem._data, n_points=-1))
    with pytest.raises(RuntimeError, match="ended as 'Infeasible'"):
        problem.solve(0.1, 0.1)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_have_the_optimum_of_the_program_written_out(seed):
    """Few points, ties, odd families, free or nonnegative weights, with and without the identity."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 16)), int(rng.integers(1, 5))
    tied = rng.integers(0, 3, size=(n, d)).astype(float)
    points = rng.standard_normal((n, d)) if seed % 2 else tied
    triplets = Triplets.from_labels(np.arange(n) % 2, 60, random_state=seed)
    chosen = [FULL[p] for p in rng.choice(len(FULL), size=3, replace=False)]
    is_weak = seed % 3 == 0
    kernels = [OneFeature(kernel, f) for f in range(d) for kernel in chosen] if is_weak else chosen
    rows = np.unique(points, axis=0, return_index=True)[1]
    groups = groups_of(kernels)
    choices = {"nonnegative": seed % 5 == 0}
    identity = seed % 4 != 0
    sparsity, trace_price = 10 ** rng.uniform(-3, 2), 10 ** rng.uniform(-5, 0)
    problem = DesignProblem(
        kernels, points, triplets, rows, groups=groups, identity=identity, **choices
    )
    found = problem.solve(sparsity, trace_price, tol=1e-8)
    matrices = matrices_of(kernels, points[rows])
    prices = (problem.differences, matrices, groups, sparsity, trace_price)
    full = full_program(*prices, has_identity=identity, **choices)
    assert found.value == pytest.approx(full.value, rel=1e-6)
    assert found.bound <= full.value * (1 + 1e-7)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("identity", [False, True])
def test_any_prices_bound_the_optimum_from_below(identity, nonnegative):
    # Weak duality, whatever lam and mu are: of a bound that forgets what they leave it would fail.
    points, triplets = instance(n=12, m=40)
    rows, groups = np.arange(len(points)), groups_of(WEAK)
    choices = {"groups": groups, "identity": identity, "nonnegative": nonnegative}
    problem = DesignProblem(WEAK, points, triplets, rows, **choices)
    best = problem.solve(0.1, 0.01, tol=1e-9).value
    rng = np.random.default_rng(0)
    cuts = problem._cuts
    found = []
    for _ in range(200):
        lam = rng.uniform(-0.2, 1.2, triplets.size) * rng.integers(0, 2, triplets.size)
        mu = rng.exponential(size=len(cuts)) * rng.integers(0, 2, len(cuts))
        found.append(problem._lower.of(lam, mu, cuts, 0.1, 0.01, triplets.size))
    assert max(found) <= best * (1 + 1e-9)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("trace_price", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("sparsity", [0.0, 1e-3, 1.0])
def test_nonnegative_designs_are_certified(sparsity, trace_price):
    # Where the identity has no weight its equation is an inequality.
    points, triplets = instance(n=30, m=150)
    problem = DesignProblem(
        WEAK, points, triplets, np.arange(30), groups=groups_of(WEAK), nonnegative=True
    )
    assert problem.solve(sparsity, trace_price).relative_gap <= 1e-6
    three = Triplets([(0, 1, 2)], n_points=3)
    narrow = [GaussianKernel(0.1), GaussianKernel(1.0)]
    small = DesignProblem(narrow, [[0.0], [1.0], [3.0]], three, [0, 1, 2], nonnegative=True)
    assert small.solve(sparsity, trace_price).relative_gap <= 1e-6


def test_prices_and_margins_of_any_size_have_an_answer():
    points, triplets = instance()
    problem = DesignProblem(WEAK, points, triplets, np.arange(len(points)))
    for prices in ((1e12, 1e-4), (0.1, 1e12), (1e15, 1e15)):
        found = problem.solve(*prices)
        assert found.status is Status.OPTIMAL
        assert not found.weights.any()
    far = Triplets(triplets.triplets, n_points=len(points), margin=1e9)
    plain, large = (
        DesignProblem(WEAK, points, side, np.arange(len(points))).solve(0.1, 1e-3)
        for side in (triplets, far)
    )
    # Weights times c keep margins times c, at c times the price.
    assert large.value == pytest.approx(1e9 * plain.value, rel=1e-6)


def test_without_the_identity_a_kernel_with_zero_diagonal_gets_no_weight():
    points, triplets = instance()
    none = read_kernels(lambda A, B: -np.abs(A[:, :1] - B[:, 0]))
    rows = np.arange(len(points))
    found = DesignProblem(none, points, triplets, rows, identity=False).solve(0.1, 1e-3)
    assert found.value == pytest.approx(triplets.size)


class Odd(Kernel):
    """A kernel of a user's own class."""

    words, is_psd = "odd", False

    def __init__(self, values):
        self.values = values

    def __call__(self, A, B):
        return self.values(A, B)

    def paired(self, A, B):
        return np.diagonal(self.values(A, B))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"kernels": [Odd(lambda A, B: np.full((len(A), len(B)), np.nan))]}, "the kernel odd gave"),
        ({"kernels": [Odd(lambda A, B: A[:, :1] - 2 * B[:, 0])]}, "the kernel odd"),
        ({"kernels": ["rbv"]}, "which is no kernel"),
        ({"points": np.zeros(5)}, "`points` must be two-dimensional"),
        ({"points": np.zeros((5, 4))}, "made for 24 points but received 5 rows"),
        ({"triplets": Pairs([(0, 1)], [(0, 2)], n_points=24)}, "`triplets` must be Triplets"),
        ({"psd_points": []}, "`psd_points` is empty"),
        ({"psd_points": [24]}, "`psd_points` refers to row 24"),
        ({"groups": [0, 1]}, r"`groups` has shape \(2,\), but there are 8 kernels"),
    ],
)
def test_bad_input_raises_a_clear_error(changed, sentence):
    points, triplets = instance()
    given = {"kernels": WEAK, "points": points, "triplets": triplets, "psd_points": np.arange(24)}
    with pytest.raises((ValueError, TypeError), match=sentence):
        DesignProblem(**(given | changed))


@pytest.mark.parametrize("max_iter", range(2, 8))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_best_trial_of_all_rounds_counts_against_the_best_bound(max_iter: int) -> None:
    """A round may be worse than one before it, and its bound better."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((25, 3)), rng.integers(0, 2, 25)
        learner = KernelDesigner(weak=True, n_triplets=200, sparsity=0.1, random_state=seed)
        design = learner.set_params(max_iter=max_iter).fit(X, y).solution_
        gaps = [record.certificate.gap for record in design.history]
        assert design.gap <= min(gaps) * (1 + 1e-12)
