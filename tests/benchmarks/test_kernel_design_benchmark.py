"""The full program of kernel design, (4) and (7) of F07, against other ways to write it; and the race."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.scripts import kernel_design
from benchmarks.scripts.kernel_design_full import SOLVERS, full_program
from scipy.optimize import linprog

from gramlearn import Triplets
from oracles import ask

WIDTHS = (0.3, 3.0, 30.0)


def tiny(seed, n=9, features=3, m=25):
    """Weak Gaussian kernels of points of two classes: differences, matrices, the feature of each kernel."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, features)) + y[:, None] * [1.0, *[0.0] * (features - 1)]
    i, j, k = Triplets.from_labels(y, m, random_state=seed).triplets.T
    squared = (X[:, None] - X) ** 2
    matrices = np.stack([np.exp(-w * squared[..., f]) for f in range(features) for w in WIDTHS])
    differences = (matrices[:, i, j] - matrices[:, i, k]).T
    return differences, matrices, np.repeat(np.arange(features), len(WIDTHS))


def by_cvxpy(
    differences, matrices, groups, sparsity, trace_price, has_identity, nonnegative, margin, weight
):
    """Formulation (3) as it is printed, with absolute values, and (7)'s largest weight of each group."""
    p, n = matrices.shape[:2]
    alpha, beta = cp.Variable(p), cp.Variable()
    K = sum(alpha[q] * matrices[q] for q in range(p)) + beta * np.eye(n)
    off = 1 - np.eye(n)
    groups_cost = sum(
        cp.norm_inf(alpha[np.flatnonzero(groups == f)]) for f in range(groups.max() + 1)
    )
    slack = weight @ cp.pos(margin - differences @ alpha)
    dominance = cp.diag(K) >= cp.sum(cp.abs(cp.multiply(K, off)), axis=1)
    bounds = [dominance, *([] if has_identity else [beta == 0])]
    bounds += [alpha >= 0, beta >= 0] if nonnegative else []
    cost = slack + sparsity * groups_cost + trace_price * cp.trace(K)
    return ask(cp.Problem(cp.Minimize(cost), bounds))


def by_linprog(differences, matrices, sparsity, trace_price):
    """Formulation (4) row by row, with r_ij and r_ji, and without the identity kernel."""
    m, p = differences.shape
    n = matrices.shape[1]
    size = p + m + p + n * n  # alpha, eps, s, r
    rows, right = [], []

    def add(entries, at_least):
        row = np.zeros(size)
        for place, number in entries:
            row[place] += number
        rows.append(-row)
        right.append(-at_least)

    def r(i, j):
        return p + m + p + i * n + j

    for t in range(m):
        add([*((q, differences[t, q]) for q in range(p)), (p + t, 1.0)], 1.0)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j in others:
            for sign in (1, -1):
                add([(r(i, j), 1.0), *((q, sign * matrices[q, i, j]) for q in range(p))], 0.0)
        add([*((q, matrices[q, i, i]) for q in range(p)), *((r(i, j), -1.0) for j in others)], 0.0)
    for q in range(p):
        for sign in (1, -1):
            add([(p + m + q, 1.0), (q, sign)], 0.0)
    trace = np.einsum("qii->q", matrices)
    cost = np.concatenate([trace_price * trace, np.ones(m), np.full(p, sparsity), np.zeros(n * n)])
    free = [(None, None)] * p + [(0, None)] * (size - p)
    return linprog(cost, np.asarray(rows), np.asarray(right), bounds=free).fun


@pytest.mark.parametrize(("has_identity", "nonnegative"), [*product((True, False), (True, False))])
@pytest.mark.parametrize(("sparsity", "trace_price"), [(0.1, 0.01), (1.0, 0.001), (0.0, 0.05)])
def test_the_full_program_is_that_of_absolute_values(
    sparsity, trace_price, has_identity, nonnegative
):
    rng = np.random.default_rng(0)
    for seed in range(2):
        differences, matrices, groups = tiny(seed)
        choices = {"has_identity": has_identity, "nonnegative": nonnegative}
        for name in ("margin", "weight"):
            choices[name] = rng.uniform(0.5, 2.0, len(differences)) if seed else np.ones(25)
        found = full_program(differences, matrices, groups, sparsity, trace_price, **choices)
        expected = by_cvxpy(differences, matrices, groups, sparsity, trace_price, **choices)
        assert found.value == pytest.approx(expected, rel=1e-6)


def test_the_full_program_is_formulation_4_row_by_row():
    differences, matrices, _ = tiny(3, n=7)
    matrices = matrices - 0.8 * (1 - np.eye(7))  # not definite, and not zero at the optimum
    groups = np.arange(len(matrices))
    found = full_program(differences, matrices, groups, 0.1, 0.01, has_identity=False)
    expected = by_linprog(differences, matrices, 0.1, 0.01)
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert found.value < 0.99 * len(differences)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_answer_has_the_value_that_it_claims(solver):
    differences, matrices, groups = tiny(0)
    found = full_program(differences, matrices, groups, 0.1, 0.01, solver=solver)
    assert found.status == "Optimal"
    K = np.tensordot(found.weights, matrices, 1) + found.identity * np.eye(len(matrices[0]))
    off = np.abs(K).sum(axis=1) - np.abs(np.diagonal(K))
    assert np.all(np.diagonal(K) >= off - 1e-7)
    slack = np.maximum(1 - differences @ found.weights, 0).sum()
    largest = [np.abs(found.weights[groups == f]).max() for f in range(3)]
    value = slack + 0.1 * np.sum(largest) + 0.01 * np.trace(K)
    assert value == pytest.approx(found.value, rel=1e-7)
    assert 0 < found.value < len(differences)


def test_without_the_identity_kernel_smooth_kernels_get_zero_weight():
    differences, matrices, groups = tiny(1)
    smooth = slice(None, None, len(WIDTHS))  # the widest kernel of each feature
    differences, matrices, groups = differences[:, smooth], matrices[smooth], groups[smooth]
    alone = full_program(differences, matrices, groups, 0.1, 0.01, has_identity=False)
    assert alone.value == pytest.approx(len(differences))
    assert np.abs(alone.weights).max() < 1e-9
    assert full_program(differences, matrices, groups, 0.1, 0.01).value < 0.9 * len(differences)


def test_a_program_over_its_time_limit_has_no_value():
    differences, matrices, groups = tiny(0)
    stopped = full_program(differences, matrices, groups, 0.1, 0.01, limit=0.0)
    assert (stopped.status, stopped.value, stopped.weights) == ("Time limit reached", None, None)


# -- the race ------------------------------------------------------------------------------------


def lines_of(printed):
    """The cells of a table in Markdown, without its head."""
    rows = [line.strip("|").split("|") for line in printed.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_a_quick_race_ends_in_the_same_values(capsys):
    assert kernel_design.main(["--quick"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = lines_of(printed.out)
    smallest, larger = lines[: len(SOLVERS)], lines[len(SOLVERS) :]
    assert [line[4] for line in smallest] == list(SOLVERS)
    seconds = {line[4]: float(line[5]) for line in smallest}
    assert [seconds[line[4]] for line in larger] == [min(seconds.values())]
    for line in lines:
        assert 0 < float(line[7]) < 0.8 * kernel_design.QUICK.n_triplets
        assert float(line[8]) < 1e-6
    assert "60 triplets, 6 weak kernels, 20 points" in printed.out


def test_a_full_program_that_does_not_finish_is_reported(capsys):
    kernel_design.main(["--quick", "--limit", "0"])
    lines = lines_of(capsys.readouterr().out)
    assert len(lines) == len(SOLVERS) + 1
    assert all(line[5].startswith("not finished in 0 s (") for line in lines)
    assert {line[8] for line in lines} == {""}


def test_the_full_program_and_the_cuts_get_the_same_matrices():
    differences, matrices, groups = kernel_design.written_out(kernel_design.QUICK)
    X, side = kernel_design.draw(kernel_design.QUICK)
    assert differences.shape == (60, 6)
    for p, (f, mu) in enumerate((f, mu) for f in range(3) for mu in kernel_design.QUICK.widths):
        assert groups[p] == f
        for t in (0, 59):
            near, far = (
                np.exp(-mu * (X[a, f] - X[b, f]) ** 2)
                for a, b in (side.triplets[t, :2], side.triplets[t, ::2])
            )
            assert differences[t, p] == pytest.approx(near - far)
    assert np.allclose(matrices, matrices.transpose(0, 2, 1))
    assert np.allclose(np.diagonal(matrices, axis1=1, axis2=2), 1.0)
