"""normalize=True: an estimator of unit rows, whatever their lengths were."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import StandardScaler, normalize

from gramlearn import KernelLearner, MetricLearner, Pairs

WINE, CLASSES = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)
UNIT = normalize(X)
SIDE = Pairs.from_labels(CLASSES, 300, random_state=0)
LEARNERS = {
    "MetricLearner": MetricLearner(C=1.0),
    "MetricLearner, rank": MetricLearner(C=1.0, rank=4),
    "MetricLearner, diagonal": MetricLearner(C=1.0, shape="diagonal"),
    "MetricLearner, n_components": MetricLearner(C=1.0, n_components=2),
    "KernelLearner": KernelLearner(C=1.0),
    "KernelLearner, linear": KernelLearner("linear", C=1.0, rank=4, basis="spectral"),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=list(LEARNERS))


def asked(learner, points):
    """What a fitted learner says of points, in all ways of asking."""
    said = [
        # Inner products of coordinates: these are given up to a rotation.
        learner.transform(points) @ learner.transform(points).T,
        learner.pair_distance((points[:30], points[30:60])),
        learner.get_metric()(points[0], points[1]),
        learner.score(points, CLASSES),
        learner.score(points, side=SIDE),
    ]
    if isinstance(learner, KernelLearner):
        said += [learner.kernel_matrix(points), learner.kernel_matrix(points[:5], points[5:9])]
    else:
        said += [
            learner.violated(points, SIDE).size[:5],
            learner.stretched_directions(points).stretch,
        ]
    return said


@every_learner
def test_it_is_an_estimator_of_unit_rows(learner):
    plain = clone(learner).fit(UNIT, side=SIDE)
    found = clone(learner).set_params(normalize=True)
    kept = X.copy()
    found.fit(X, side=SIDE)
    np.testing.assert_array_equal(X, kept)
    for one, other in zip(asked(found, X), asked(plain, UNIT), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert np.abs(clone(learner).fit(X, side=SIDE).transform(X) - found.transform(X)).max() > 0.01


@given(seed=st.integers(0, 1000), exponent=st.sampled_from([-60.0, 0.0, 60.0]))
def test_lengths_of_rows_make_no_difference(seed, exponent):
    rng = np.random.default_rng(seed)
    lengths = 10.0 ** (exponent + rng.uniform(-3, 3, size=len(X)))[:, None]
    learner = MetricLearner(C=1.0, normalize=True).fit(X, side=SIDE)
    same = MetricLearner(C=1.0, normalize=True).fit(lengths * X, side=SIDE)
    np.testing.assert_allclose(same.transform(X), learner.transform(lengths * X), atol=1e-5)


def test_distances_under_the_prior_are_those_of_cosines():
    """A price of nothing leaves the prior: 2 - 2 cos."""
    learner = MetricLearner(C=1e-9, normalize=True).fit(X, side=SIDE)
    cosines = cosine_similarity(X)[0]
    squared = learner.pair_distance((X[[0] * len(X)], X)) ** 2
    np.testing.assert_allclose(squared, 2 - 2 * cosines, atol=1e-6)


def test_what_is_chosen_is_chosen_of_unit_rows():
    found = MetricLearner(normalize=True, random_state=0).fit(X, CLASSES)
    plain = MetricLearner(random_state=0).fit(UNIT, CLASSES)
    assert (found.prior_, found.statements_, found.strength_) == (
        plain.prior_,
        plain.statements_,
        plain.strength_,
    )


def test_sparse_rows_and_single_precision():
    table = X * (np.abs(X) > 0.5)
    table[:, 0] = 1.0
    learner = MetricLearner(C=1.0, rank=4, normalize=True).fit(sp.csr_array(table), side=SIDE)
    dense = MetricLearner(C=1.0, rank=4, normalize=True).fit(table, side=SIDE)
    pairs = sp.csr_array(table[:30]), sp.csr_array(table[30:60])
    np.testing.assert_allclose(
        learner.pair_distance(pairs), dense.pair_distance((table[:30], table[30:60])), rtol=1e-4
    )
    single = dense.transform(table.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, dense.transform(table), atol=1e-5)
    sparse = learner.transform(sp.csr_array(table.astype(np.float32)))
    assert sparse.dtype == np.float32


FITTED = MetricLearner(C=1.0, normalize=True).fit(X, side=SIDE)
ZERO = X.copy()
ZERO[3] = 0.0
REFUSED = {
    "fit": (
        lambda: FITTED.fit(ZERO, side=SIDE),
        r"`X` has a row of zeros \(row 3\), which has no direction; leave",
    ),
    "transform": (lambda: FITTED.transform(ZERO), r"`X` has a row of zeros \(row 3\)"),
    "pairs": (lambda: FITTED.pair_distance((X, ZERO)), r"`pairs` has a row of zeros \(row 3\)"),
    "metric": (lambda: FITTED.get_metric()(X[0], ZERO[3]), r"`v` has a row of zeros"),
    "sparse": (
        lambda: MetricLearner(C=1.0, rank=2, normalize=True).fit(sp.csr_array(ZERO), side=SIDE),
        r"`X` has a row of zeros \(row 3\)",
    ),
    "kernel": (
        lambda: KernelLearner("precomputed", C=1.0, normalize=True).fit(X @ X.T, side=SIDE),
        '`normalize=True` scales points, and kernel="precomputed" has none; divide K_ij by the root',
    ),
    "flag": (
        lambda: MetricLearner(C=1.0, normalize=np.ones(2)).fit(X, side=SIDE),
        "`normalize` must be True or False",
    ),
}


@pytest.mark.parametrize(("call", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_bad_input_raises_a_clear_error(call, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        call()
