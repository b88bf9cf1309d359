"""OnlinePCA: a step is the matrix exponential and the exact projection; the regret keeps its bound."""

import re

import numpy as np
import pytest
from gramlearn.constraints import DenseMatrices, Trace
from scipy.linalg import expm, logm
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import OnlinePCA, Problem, Term, VonNeumann, solve
from gramlearn._base.threads import one_thread
from gramlearn.methods.online_pca import CappedDensity, capped
from gramlearn.problem.losses import Hard


def stream(n_rows, scales, seed=0):
    X = np.random.default_rng(seed).standard_normal((n_rows, len(scales))) * scales
    return X / np.linalg.norm(X, axis=1).max()


def projected(W, d):
    """The nearest density with eigenvalues of at most 1/d, by bisection on the factor of those below."""
    w, U = np.linalg.eigh(W)
    low, high = 0.0, len(w) / w.min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(middle * w, 1 / d).sum() < 1 else (low, middle)
    return (U * np.minimum(high * w, 1 / d)) @ U.T


@pytest.mark.parametrize("d", [1, 3, 5])
def test_a_step_is_the_exponential_and_the_projection(d):
    state = CappedDensity.uniform(6, d)
    rows = np.random.default_rng(1).standard_normal((12, 6)) * [0.9, 0.7, 0.5, 0.5, 0.4, 0.3]
    for x in rows:
        W = state.matrix
        assert state.loss(x) == pytest.approx(d * x @ W @ x)
        moved = expm(logm(W) - 0.4 * np.outer(x, x))
        state = state.updated(x, 0.4)
        np.testing.assert_allclose(state.matrix, projected(moved / np.trace(moved), d), atol=1e-10)
        assert np.all(np.diff(state.logs) >= 0)


def spread_out(n, d, eta, rows):
    """What these rows leave of I/n, as far as the cap allows it: p is n, or nearly."""
    values, Q = np.linalg.eigh(-eta * rows.T @ rows)
    logs = capped(values, d)
    return CappedDensity(np.ascontiguousarray(Q.T), logs, d)


def dense_step(state, x, eta):
    z = state.vectors @ x
    logs, U = np.linalg.eigh(np.diag(state.logs) - eta * np.outer(z, z))
    return CappedDensity(U.T @ state.vectors, capped(logs, state.d), state.d)


def test_a_thousand_steps_in_blocks_of_low_rank():
    """With d = 1 there is no cap, and W is exp(-eta sum xx') of trace one, in closed form."""
    n, eta = 160, 0.3
    rows = np.random.default_rng(2).standard_normal((1000, n)) * np.linspace(0.5, 1.5, n) / n**0.5
    state = CappedDensity.uniform(n, 1)
    for x in rows:
        state = state.updated(x, eta, leaf=80)
    assert len(np.unique(state.logs)) == n
    np.testing.assert_allclose(state.vectors @ state.vectors.T, np.eye(n), atol=1e-12)
    expected = spread_out(n, 1, eta, rows)
    np.testing.assert_allclose(state.logs, expected.logs, atol=1e-11)
    np.testing.assert_allclose(state.matrix, expected.matrix, atol=1e-12)


@pytest.mark.parametrize(("d", "eta"), [(40, 0.1), (40, 3.0), (40, 20.0)])
def test_steps_in_blocks_of_low_rank_are_the_dense_ones(d, eta):
    n = 200
    rows = np.random.default_rng(3).standard_normal((400, n)) * np.linspace(0.5, 1.5, n) / n**0.5
    state = dense = spread_out(n, d, eta, rows[:300])
    with one_thread():  # on a busy machine two take a hundred times as long for matrices of 200
        for x in rows[300:]:
            vectors, logs = state.vectors.copy(), state.logs.copy()
            before, state = state, state.updated(x, eta, leaf=60)
            dense = dense_step(dense, x, eta)
    np.testing.assert_allclose(state.vectors @ state.vectors.T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(state.matrix, dense.matrix, atol=1e-12)
    assert len(np.unique(state.logs)) >= 160  # so that halves of it are cut
    np.testing.assert_array_equal(before.vectors, vectors)
    np.testing.assert_array_equal(before.logs, logs)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-160])
def test_tiny_rows_change_nothing(size):
    state = CappedDensity.uniform(5, 2).updated(np.arange(5) / 5, 1.0)
    after = state.updated(np.full(5, size), 1.0)
    np.testing.assert_allclose(after.vectors @ after.vectors.T, np.eye(5), atol=1e-14)
    np.testing.assert_allclose(after.matrix, state.matrix, atol=1e-14)


def test_the_cap_is_the_projection_in_von_neumann_divergence():
    """As a problem like all others: eigenvectors stay, so bounds on the eigenvalues are diagonal entries."""
    w = np.array([0.5, 0.25, 0.15, 0.07, 0.03])
    entries = DenseMatrices(np.eye(5)[:, :, None] * np.eye(5)[:, None, :])
    terms = [Term(entries, Hard(upper=1 / 3)), Term(Trace(), Hard(equal=1.0))]
    expected = solve(Problem(VonNeumann(), np.diag(w), terms), tol=1e-10)
    found = np.exp(capped(np.log(w), 3))
    np.testing.assert_allclose(found, np.diag(expected.matrix), atol=1e-8)
    assert np.sum(found) == pytest.approx(1.0, abs=1e-14)


def test_a_density_within_the_cap_stays():
    w = np.array([0.3, 0.3, 0.25, 0.15])
    np.testing.assert_allclose(np.exp(capped(np.log(w), 3)), w, rtol=1e-14)


@pytest.mark.parametrize("eta", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("order", ["mixed", "one after the other"])
def test_the_regret_is_bounded(eta, order):
    """sum d x'Wx <= (eta L + d log(n/d)) / (1 - exp(-eta)), L the loss of the best directions in hindsight."""
    X = stream(300, np.array([3.0, 2.0, 1.0, 0.5, 0.5, 0.2, 0.2, 0.1]))
    if order != "mixed":  # the direction of the stream turns, as an adversary would have it
        X = np.concatenate([X, X[:, ::-1]])
    n, k = 8, 2
    model = OnlinePCA(k, eta=eta).fit(X)
    best = np.sort(np.linalg.eigvalsh(X.T @ X))[: n - k].sum()
    d = n - k
    assert model.loss_ <= (eta * best + d * np.log(n / d)) / (1 - np.exp(-eta))


def test_a_stationary_stream_gives_batch_pca():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    X = stream(3000, np.r_[3.0, 2.5, 2.0, np.full(7, 0.3)]) @ basis.T
    model = OnlinePCA(3).fit(X)
    batch = PCA(3).fit(X - X.mean(axis=0)).components_
    angles = np.linalg.svd(model.components_ @ batch.T, compute_uv=False)
    assert angles.min() > 0.99
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-11)
    assert np.trace(model.density_) == pytest.approx(1.0)
    # What is kept of a point is kept by the inverse, too.
    Z = model.transform(X[:5])
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-12)


def test_most_directions_need_no_decomposition():
    """The discarded directions are at the cap, most of them, and a step leaves these alone."""
    X = stream(300, np.r_[3.0, 3.0, 3.0, np.full(57, 0.05)])
    model = OnlinePCA(3, eta=5.0).fit(X)
    assert len(np.unique(model._state.logs)) <= 20


def test_rows_one_by_one_and_huge_rows():
    X = stream(50, np.array([2.0, 1.0, 0.5, 0.1]))
    whole, parts = OnlinePCA(2).fit(X), OnlinePCA(2)
    for x in X:
        parts.partial_fit(x[None])
    np.testing.assert_array_equal(whole.components_, parts.components_)
    assert (parts.n_samples_seen_, parts.loss_) == (50, whole.loss_)
    far = OnlinePCA(2).fit(1e4 * X)
    assert np.all(np.isfinite(far.density_))
    assert np.trace(far.density_) == pytest.approx(1.0)


@parametrize_with_checks([OnlinePCA()])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_the_number_of_components_stays():
    model = OnlinePCA(1).fit(np.eye(4))
    model.set_params(n_components=2)
    with pytest.raises(
        ValueError, match="`n_components` is 2, but earlier rows were learned from with 1"
    ):
        model.partial_fit(np.eye(4))
    assert model.fit(np.eye(4)).components_.shape == (2, 4)


@pytest.mark.parametrize("k", [0, 4, 1.5])
def test_bad_input_raises_a_clear_error(k):
    message = r"`n_components` must be a whole number|`n_components=4` is too large"
    with pytest.raises(ValueError, match=message):
        OnlinePCA(k).fit(np.eye(4))
    with pytest.raises(ValueError, match="eta must be positive"):
        OnlinePCA(1, eta=0.0).fit(np.eye(4))


@pytest.mark.parametrize(
    ("size", "eta", "what"),
    [
        (1e200, 1.0, "summed over 4 rows"),
        (1e154, 1e-12, "summed over"),
        (1e120, 1e90, "times `eta=1e"),
    ],
)
def test_rows_whose_squares_overflow_are_refused(size, eta, what):
    """Neither those that W is updated by, nor those that the loss is a sum of."""
    with pytest.raises(
        ValueError,
        match=rf"X has an entry of size {re.escape(f'{size:.3g}')}, .* {what}.* divide X",
    ):
        OnlinePCA(1, eta=eta).fit(size * np.eye(4))
    model = OnlinePCA(1, eta=min(eta, 1.0)).fit(min(size, 1e150) * np.eye(4))
    assert np.all(np.isfinite(model.density_))
    assert np.isfinite(model.loss_)
