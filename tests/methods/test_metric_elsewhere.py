"""A metric learned from tensors is the one learned from NumPy arrays, and lies where the points are."""

from functools import partial

import numpy as np
import pytest

from gramlearn import Bounds, Pairs, Problem, Triplets, solve
from gramlearn._base.arrays import to_numpy
from gramlearn._base.distances import coincide_under
from gramlearn._base.moving import beside, in_host_memory, moved
from gramlearn._base.points import column_means, row_squares, rows_at
from gramlearn.methods.metric.bases import basis_of, orthonormal
from gramlearn.methods.metric.fitting import ask, keep_prior, learn
from gramlearn.methods.metric.importance import feature_stretch, shares_of
from gramlearn.methods.metric.maps import (
    DiagonalMap,
    FullMap,
    LowRankMap,
    column_variances,
    principal_directions,
    unit_free_root,
)
from gramlearn.methods.metric.prior import read_prior
from gramlearn.problem.losses import Hinge, SquaredHinge
from gramlearn.problem.prior import Factor
from gramlearn.problem.regularizers import Frobenius, LogDet, VonNeumann

pytestmark = pytest.mark.usefixtures("tensors_stay")
N, D = 40, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) @ RNG.normal(size=(D, D)) + 1.0
Y = np.arange(N) % 3
R = np.linalg.qr(np.random.default_rng(1).normal(size=(D, 2)))[0]
A = np.random.default_rng(2).normal(size=(3, D))
MAPS = {
    "full": FullMap(A),
    "low rank": LowRankMap(R, np.array([[3.0, 0.5], [0.5, 0.2]])),
    "diagonal": DiagonalMap(np.array([1.0, 0.0, 2.0, 0.5, 4.0])),
}
SIDES = {
    "pairs": Pairs.from_labels(Y, 30, random_state=0),
    "triplets": Triplets.from_labels(Y, 30, random_state=0),
    "bounds": Bounds(
        [0, 1, 2], [3, 5, 7], upper=[1.0, 2.0, np.inf], lower=[0.0, 0.5, 9.0], n_points=N
    ),
}


@pytest.mark.parametrize("found", MAPS.values(), ids=MAPS)
def test_a_map_does_elsewhere_what_it_does_in_host_memory(other, found):
    there, Z = moved(found, other.array), other.array(X)
    i, j = np.arange(N - 1), np.arange(1, N)

    def same(one, two):
        np.testing.assert_allclose(other.numpy(one), two, atol=1e-10)

    same(there.transform(Z), found.transform(X))
    same(there.squared_lengths(Z), found.squared_lengths(X))
    same(there.squared_distances(Z, i, j), found.squared_distances(X, i, j))
    same(there.components, found.components)
    same(there.matrix, found.matrix)
    same(there.diagonal, found.diagonal)
    same(there.leading_components(Z, 2), found.leading_components(X, 2))
    single = there.transform(other.array(X, "float32"))
    assert "float32" in str(single.dtype)


@pytest.mark.parametrize("found", MAPS.values(), ids=MAPS)
def test_shares_and_stretches_are_those_of_host_memory(other, found):
    groups = [np.flatnonzero(label == Y) for label in range(3)]
    there = shares_of(moved(found, other.array), other.array(X), groups)
    for one, two in zip(there, shares_of(found, X, groups), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-10)
    stretch = feature_stretch(moved(found, other.array), other.array(A))
    np.testing.assert_allclose(other.numpy(stretch), feature_stretch(found, A), rtol=1e-9)


@pytest.mark.parametrize("name", ["svd", "means", "class_means", "subset"])
@pytest.mark.parametrize("rank", [2, 4])
def test_a_basis_spans_the_same(other, name, rank):
    classes = [np.flatnonzero(label == Y) for label in range(3)]
    there, here = (
        basis_of(name, Z, classes, rank, np.random.default_rng(0)) for Z in (other.array(X), X)
    )
    there = other.numpy(there)
    np.testing.assert_allclose(there @ there.T, here @ here.T, atol=1e-9)


def test_columns_given_for_a_basis_go_where_the_points_are(other):
    given = np.hstack([R, R[:, :1]])
    for basis in (given, other.array(given)):
        found = other.numpy(basis_of(basis, other.array(X), None, None, np.random.default_rng(0)))
        np.testing.assert_allclose(found @ found.T, R @ R.T, atol=1e-10)


def test_an_orthonormal_basis_stays_as_it_is(other):
    np.testing.assert_array_equal(other.numpy(orthonormal(other.array(R))), R)


@pytest.mark.parametrize("prior", ["inverse_covariance", A.T @ A])
def test_a_prior_measures_the_same(other, prior):
    there = read_prior(prior, other.array(X))
    here = read_prior(prior, X)
    np.testing.assert_allclose(other.numpy(there.matrix), here.matrix, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        other.numpy(there.root.T @ there.root), here.matrix, rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=repr)
def test_what_is_learned_is_the_same_and_lies_where_the_points_are(other, side, regularizer):
    """Of a metric and of a kernel, in turns: any two of the three parts meet."""
    loss = Hinge(1.0) if isinstance(side, Triplets) else SquaredHinge(1.0)

    def fit(points, prior, of_kernel):
        coincide = partial(coincide_under, points, points, None)
        asked = ask(side, loss, coincide, points, None, None, np.random.default_rng(0))
        return learn(asked, regularizer, _solved, points, prior, of_kernel=of_kernel)

    of_kernel = isinstance(side, Triplets) == isinstance(regularizer, VonNeumann)
    Z = other.array(X)
    here = fit(X, Factor(X) if of_kernel else np.eye(D), of_kernel)
    there = fit(Z, Factor(Z) if of_kernel else other.array(np.eye(D)), of_kernel)
    assert there.solution.relative_gap < 1e-8
    np.testing.assert_allclose(there.solution.primal, here.solution.primal, rtol=1e-7)
    np.testing.assert_allclose(other.numpy(there.matrix), here.matrix, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(other.numpy(there.lengths), here.lengths, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(there.alike, here.alike)


def _solved(regularizer, prior, terms):
    return solve(Problem(regularizer, prior, terms), tol=1e-9, max_iter=500)


def test_a_prior_that_is_kept_lies_there_too(other):
    Z = other.array(X)
    asked = ask(
        SIDES["pairs"], SquaredHinge(1.0), partial(coincide_under, Z, Z, None), Z, None, None, RNG
    )
    kept = keep_prior(asked, LogDet(), _solved, Z, other.array(np.eye(D)))
    np.testing.assert_allclose(other.numpy(kept.matrix), np.eye(D), atol=1e-9)


def test_row_numbers_may_be_tensors_but_not_on_another_device():
    strict = pytest.importorskip("array_api_strict")
    here, there = (strict.Device(name) for name in ("CPU_DEVICE", "device1"))
    points = strict.asarray(X, device=there)
    rows = np.array([[0, 1], [2, 3]])
    for device, is_wrong in ((here, True), (there, False)):
        side = Pairs(strict.asarray(rows, device=device), [], n_points=N)
        if is_wrong:
            with pytest.raises(ValueError, match=r"CPU_DEVICE.*and another on .*device1"):
                beside(side, points)
        else:
            np.testing.assert_array_equal(to_numpy(beside(side, points).similar), rows)


def test_points_are_asked_the_same_questions(other):
    Z = other.array(X)
    np.testing.assert_allclose(other.numpy(row_squares(Z)), (X**2).sum(axis=1))
    np.testing.assert_allclose(other.numpy(column_means(Z)), X.mean(axis=0))
    np.testing.assert_array_equal(other.numpy(rows_at(Z, np.array([3, 1]))), X[[3, 1]])
    np.testing.assert_allclose(other.numpy(column_variances(Z)), X.var(axis=0, ddof=1))
    V = principal_directions(X, 2)
    np.testing.assert_allclose(other.numpy(principal_directions(Z, 2)), V, atol=1e-10)
    root = other.numpy(unit_free_root(other.array(A.T @ A)))
    np.testing.assert_allclose(root.T @ root, A.T @ A, atol=1e-10)


# -- moving --------------------------------------------------------------------------------------------


def test_what_is_shared_stays_shared(other):
    """Arrays, and what holds them."""
    array = other.array(X)
    found = FullMap(array)
    held = {"one": found, "two": [found, array], "other": "words", "function": lambda: array}
    back = in_host_memory(held)
    assert back["one"] is back["two"][0]
    assert back["one"].factor is back["two"][1]
    assert back["function"] is held["function"]
    assert back["other"] == "words"
    np.testing.assert_array_equal(back["one"].factor, X)
    assert found.factor is array


def test_what_is_worked_out_is_moved_along(other):
    found = FullMap(other.array(A))
    worked_out = found.components
    back = in_host_memory(found)
    assert "components" in vars(back)
    np.testing.assert_array_equal(back.components, other.numpy(worked_out))


def test_the_guard_of_these_tests_refuses_what_a_gpu_would():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for move in (np.asarray, np.sqrt, lambda x: np.eye(2) * x, lambda x: x.numpy()):
        with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\) first|unsupported operand"):
            move(torch.eye(2, dtype=torch.float64))
    np.testing.assert_array_equal(to_numpy(torch.eye(2)), np.eye(2))
