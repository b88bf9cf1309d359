"""n_components of metrics and kernels: the leading principal directions of the transformed points."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from gramlearn import KernelLearner, MetricLearner, Pairs

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
SIDE = Pairs.from_labels(Y, 200, random_state=0)
LEARNERS = {
    "metric": MetricLearner(C=1.0),
    "metric of a rank": MetricLearner(rank=4, C=1.0),
    "metric with a prior": MetricLearner(prior="inverse_covariance", C=1.0),
    "kernel": KernelLearner("rbf", C=1.0),
    "kernel of a rank": KernelLearner("rbf", rank=20, C=1.0),
    "kernel of a rank alone": KernelLearner("rbf", rank=20, complement=False, C=1.0),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def fitted(learner, n_components, points=X):
    return clone(learner).set_params(n_components=n_components).fit(points, side=SIDE)


@every_learner
def test_the_columns_are_the_principal_components_of_all_columns(learner):
    whole, few = fitted(learner, None), fitted(learner, 3)
    expected = PCA(3, svd_solver="full").fit_transform(whole.transform(X))
    found = few.transform(X)
    np.testing.assert_allclose(pdist(found), pdist(expected), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(few.get_feature_names_out().shape, (3,))
    assert found.shape == (len(X), 3)
    # What was learned is the same, and so are distances of all directions.
    assert few.solution_.primal == whole.solution_.primal
    np.testing.assert_array_equal(
        few.pair_distance((X[:9], X[9:18])), whole.pair_distance((X[:9], X[9:18]))
    )


@every_learner
def test_new_points_go_along_the_same_directions(learner):
    few, whole = fitted(learner, 2), fitted(learner, None)
    new = X[:20] + 0.1
    directions = PCA(2, svd_solver="full").fit(whole.transform(X)).components_
    expected = whole.transform(new) @ directions.T
    np.testing.assert_allclose(pdist(few.transform(new)), pdist(expected), rtol=1e-6, atol=1e-8)


@every_learner
def test_all_columns_turn_the_points_and_keep_distances(learner):
    whole = fitted(learner, None).transform(X)
    turned = fitted(learner, whole.shape[1]).transform(X)
    assert turned.shape == whole.shape
    np.testing.assert_allclose(pdist(turned), pdist(whole), rtol=1e-6, atol=1e-7)


@every_learner
def test_single_precision_stays(learner):
    few = fitted(learner, 2)
    found = few.transform(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, few.transform(X), rtol=1e-3, atol=1e-3)


def test_components_are_the_map_of_a_metric():
    few = fitted(MetricLearner(C=1.0), 3)
    assert few.components_.shape == (3, X.shape[1])
    np.testing.assert_allclose(few.transform(X), X @ few.components_.T, rtol=1e-12, atol=1e-12)
    assert few.get_mahalanobis_matrix().shape == (X.shape[1], X.shape[1])


@pytest.mark.parametrize("n_columns", [13, 500])
def test_sparse_points_have_the_components_of_dense_ones(n_columns):
    points = np.zeros((len(X), n_columns))
    points[:, :13] = np.where(np.abs(X) > 1, X, 0.0)
    points += np.random.default_rng(0).binomial(1, 0.01, points.shape)
    learner = MetricLearner(rank=5, n_components=3, random_state=0, C=1.0)
    sparse = clone(learner).fit(csr_array(points), side=SIDE)
    dense = clone(learner).fit(points, side=SIDE)
    np.testing.assert_allclose(
        sparse.transform(csr_array(points)), dense.transform(points), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (MetricLearner(n_components=14), r"`n_components=14` .* 13 dimensions that 178 points of 13 features"),
        (MetricLearner(n_components=0, C=1.0), "`n_components` must be a whole number of at least 1"),
        (KernelLearner(rank=20, complement=False, n_components=21), "`n_components=21` .* 20 dimensions"),
        (KernelLearner(n_components=2.5, C=1.0), "`n_components` must be a whole number"),
    ],
)  # fmt: skip
def test_more_than_there_are_is_refused(learner, words):
    with pytest.raises(ValueError, match=words):
        learner.fit(X, side=SIDE)
    with pytest.raises(ValueError, match="`n_components=13` is more than the 12 dimensions"):
        MetricLearner(rank=2, n_components=13, C=1.0).fit(csr_array(X), side=SIDE)


def test_another_fit_without_it_gives_all_columns():
    learner = fitted(MetricLearner(C=1.0), 2).set_params(n_components=None).fit(X, side=SIDE)
    np.testing.assert_array_equal(
        learner.transform(X), fitted(MetricLearner(C=1.0), None).transform(X)
    )
