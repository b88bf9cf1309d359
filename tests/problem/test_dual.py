"""The dual and its derivatives: gradient and Hessian against differences, the cheap forms against the plain."""

from typing import Any

import numpy as np
import pytest
from gramlearn.constraints import SquaredDistances, Trace
from gramlearn.losses import KLSlack, Linear, LogDetSlack, SquaredHinge

import gramlearn.problem.hessian
from catalogue import REGULARIZERS, all_constraints, name_of
from conftest import Library
from gramlearn import Problem, Term
from gramlearn.problem.constraints import Constraints
from gramlearn.problem.dual import Dual
from gramlearn.problem.linear_maps import Products
from gramlearn.problem.spectral import Regularizer

N = 5
_square = np.random.default_rng(0).standard_normal((N, N))
X0 = _square @ _square.T / N + 0.3 * np.eye(N)


def dual_of(regularizer: Regularizer, constraints: Constraints, library: Library) -> Dual:
    """Three parts, one of them fixed, with different losses and an offset."""
    terms = [
        Term(constraints, KLSlack(2.0, equal=1.3)),
        Term(Trace(offset=0.2), Linear(0.1)),
        Term(SquaredDistances([0, 1], [2, 3], offset=0.3), LogDetSlack(1.5, equal=0.9)),
        Term(SquaredDistances([0, 1], [3, 4]), SquaredHinge(0.7, upper=0.4)),
    ]
    return Problem(regularizer, library.array(X0), terms).dual


def some_lam(dual: Dual) -> np.ndarray:
    """Give a lam inside every box, small enough for Y to stay inside every domain."""
    return 0.05 * np.random.default_rng(1).random(dual.size) + 0.01


@pytest.mark.covering("constraints", "regularizer")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_derivatives(regularizer: Regularizer, constraints: Constraints, library: Library) -> None:
    dual = dual_of(regularizer, constraints, library)
    lam = some_lam(dual)
    point = dual.at(library.array(lam))
    gradient = library.numpy(point.gradient)
    rows = library.index(np.arange(dual.size))
    H = library.numpy(point.hessian(rows).matrix())
    # Central differences: the step balances eps / step against step^2, for an error of about 1e-10.
    step = 1e-5
    for k in range(dual.size):
        up, down = lam.copy(), lam.copy()
        up[k] += step
        down[k] -= step
        above, below = dual.at(library.array(up)), dual.at(library.array(down))
        slope = (above.value - below.value) / (2 * step)
        assert slope == pytest.approx(gradient[k], rel=1e-6, abs=1e-7)
        bend = (library.numpy(above.gradient) - library.numpy(below.gradient)) / (2 * step)
        np.testing.assert_allclose(-bend, H[:, k], rtol=1e-5, atol=1e-6)


@pytest.mark.covering("constraints", "regularizer")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_forms_of_the_hessian(
    regularizer: Regularizer, constraints: Constraints, library: Library
) -> None:
    dual = dual_of(regularizer, constraints, library)
    point = dual.at(library.array(some_lam(dual)))
    rows = np.asarray([k for k in range(dual.size) if k != 1])
    hessian = point.hessian(library.index(rows))
    matrix = library.numpy(hessian.matrix())
    everything = library.numpy(point.hessian(library.index(np.arange(dual.size))).matrix())
    np.testing.assert_allclose(matrix, everything[np.ix_(rows, rows)], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(library.numpy(hessian.diagonal), np.diag(matrix), rtol=1e-12)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-12 * np.trace(matrix)
    in_single = hessian.in_single()
    for v in np.random.default_rng(2).standard_normal((3, len(rows))) * [[1e-30], [1.0], [1e30]]:
        exact = matrix @ v
        np.testing.assert_allclose(
            library.numpy(hessian.product(library.array(v))), exact, rtol=1e-10
        )
        # Single precision, relative to the largest entry: 1e-7 each, over a few dozen terms.
        error = np.abs(library.numpy(in_single(library.array(v))) - exact)
        assert np.all(error <= 1e-5 * np.abs(exact).max())


@pytest.mark.covering("constraints", "regularizer")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_the_preconditioner(
    regularizer: Regularizer, constraints: Constraints, library: Library, monkeypatch: Any
) -> None:
    """It is H^-1 where it knows all entries, positive definite where it knows a few."""
    monkeypatch.setattr(gramlearn.problem.hessian, "_LEFT", 1e-12)
    dual = dual_of(regularizer, constraints, library)
    point = dual.at(library.array(some_lam(dual)))
    hessian = point.hessian(library.index(np.arange(dual.size)))
    H = library.numpy(hessian.matrix())
    columns = [library.array(column) for column in np.eye(dual.size)]

    def inverse() -> Any:
        precondition = hessian.preconditioner(hessian.diagonal)
        return np.stack([library.numpy(precondition(column)) for column in columns])

    np.testing.assert_allclose(inverse() @ H, np.eye(dual.size), atol=1e-8)
    monkeypatch.setattr(gramlearn.problem.hessian, "_ENTRIES", 2)
    few = inverse()
    np.testing.assert_allclose(few, few.T, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(few)[0] > 0


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
def test_the_gap_is_primal_minus_dual(regularizer: Regularizer, library: Library) -> None:
    """The sum of Fenchel-Young terms equals the difference of the two values, written out."""
    dual = dual_of(regularizer, SquaredDistances([0, 2], [1, 4]), library)
    problem = Problem(
        regularizer,
        library.array(X0),
        [Term(SquaredDistances([0, 2], [1, 4], offset=0.1), LogDetSlack(0.8, upper=0.5))],
    )
    point = problem.dual.at(library.array([0.1, 0.2]))
    F = point.conjugate.factor
    S = F @ library.xp.matrix_transpose(F)
    t = library.numpy(point.t)
    loss = LogDetSlack(0.8, upper=0.5)
    primal = problem.divergence(S) + float(np.sum(loss.value(t)))
    assert primal - point.value == pytest.approx(point.gap, rel=1e-9, abs=1e-12)
    assert dual.size == 6


def test_maps_over_the_same_points_share_one_product() -> None:
    P = np.random.default_rng(0).standard_normal((6, 3))
    i, j = np.arange(5), np.arange(1, 6)
    one, two = (
        SquaredDistances(i, k, points=P).restricted_map(None, 3, np.eye(3))
        for k in (j, (i + 2) % 6)
    )
    products: Products = {}
    Q = np.diag([1.0, 2.0, 3.0])
    first, second = one.restrict(Q, products), two.restrict(Q, products)
    assert first.points is second.points
    assert np.array_equal(first.points, P @ Q)


def test_few_directions_of_many_points_are_restricted_themselves() -> None:
    P = np.random.default_rng(0).standard_normal((50, 3))
    few = SquaredDistances([0, 1], [2, 3], points=P).restricted_map(None, 3, np.eye(3))
    products: Products = {}
    Q = np.diag([1.0, 2.0, 3.0])
    assert np.allclose(few.restrict(Q, products).matrices(), Q @ few.matrices() @ Q)
    assert not products
