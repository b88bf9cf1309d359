"""What a learned metric can be used for: kernels, few dimensions, streams, clusters, retrieval.

A comment gives the number of the request and what it asks for, as in test_requested_features.py.
"""

import cvxpy as cp
import numpy as np
import pytest
from gramlearn.constraints import DenseMatrices, DiagonalEntries, Similarities
from gramlearn.losses import Hard, Linear
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_iris, load_wine, make_circles, make_moons
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramlearn import (
    Frobenius,
    KernelLearner,
    MetricLearner,
    OnlineMetricLearner,
    Pairs,
    Problem,
    SemiSupervisedEmbedding,
    Term,
    nearest_correlation,
    solve,
)
from gramlearn.evaluation import normalized_mutual_information
from oracles import ask, squared_norm

IRIS, SPECIES = load_iris(return_X_y=True)


def distances_of(K):
    return np.maximum(np.diag(K)[:, None] + np.diag(K) - 2 * K, 0.0)


# -- kernels -------------------------------------------------------------------------------------------


# metric-learn#40: all metrics there are linear.
def test_a_kernel_separates_what_no_linear_map_can():
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    train, test = np.arange(200) % 2 == 0, np.arange(200) % 2 == 1
    i, j, alike = Pairs.from_labels(y[test], 400, random_state=1).near_and_far()
    pairs = (X[test][i], X[test][j])
    linear, curved = (
        roc_auc_score(alike, model.fit(X[train], y[train]).pair_score(pairs))
        for model in (MetricLearner(random_state=0, C=1.0), KernelLearner(random_state=0, C=1.0))
    )
    assert linear < 0.7
    assert curved > 0.95


# metric-learn#284: combine what one has; MKLpy's CKA gives a kernel a negative weight.
def test_a_kernel_learned_from_a_sum_of_kernels_is_a_kernel():
    def both(A, B):
        return rbf_kernel(A, B, gamma=0.3) + 0.1 * linear_kernel(A, B)

    learner = KernelLearner(both, random_state=0, C=1.0).fit(IRIS[::2], SPECIES[::2])
    K = learner.kernel_matrix(IRIS, IRIS)  # half of them are new
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.trace(K)
    i, j, alike = Pairs.from_labels(SPECIES, 300, random_state=1).near_and_far()
    before = roc_auc_score(alike, -distances_of(both(IRIS, IRIS))[i, j])
    assert roc_auc_score(alike, -distances_of(K)[i, j]) > before


# hdbscan#299, #70, #373: links by editing distances, which are none any more.
def test_links_become_distances_that_a_clusterer_can_use():
    X, y = make_moons(120, noise=0.08, random_state=0)
    side = Pairs.from_labels(y, 600, random_state=0)
    K = KernelLearner(C=10.0, random_state=0).fit(X, side=side).kernel_matrix(X, X)
    learned, plain = np.sqrt(distances_of(K)), squareform(pdist(X))
    edited = plain.copy()
    for table, value in ((side.similar, 0.0), (side.dissimilar, 100.0)):
        edited[table[:, 0], table[:, 1]] = edited[table[:, 1], table[:, 0]] = value

    def excess(d):  # over the way by a third point
        return max((d - d[:, [k]] - d[[k], :]).max() for k in range(len(d)))

    def agreement(d):
        clusters = HDBSCAN(min_cluster_size=10, metric="precomputed", copy=True).fit(d).labels_
        return normalized_mutual_information(y, clusters)

    assert excess(learned) < 1e-7
    assert excess(edited) > 1
    assert agreement(learned) == pytest.approx(1.0)
    assert agreement(learned) > max(agreement(edited), agreement(plain))


# -- few dimensions, and other places ------------------------------------------------------------------


# metric-learn#167, llama_index#15849: fewer dimensions than the points have.
def test_two_learned_dimensions_classify_better_than_two_of_pca():
    X, y = load_wine(return_X_y=True)
    noise = 3 * np.random.default_rng(0).standard_normal((178, 10))
    X = np.hstack([StandardScaler().fit_transform(X), noise])

    def accuracy(reduction):
        pipeline = make_pipeline(reduction, KNeighborsClassifier(5))
        return cross_val_score(pipeline, X, y, cv=3).mean()

    embedding = SemiSupervisedEmbedding(n_components=2, C=0.1, random_state=0)
    assert embedding.fit_transform(X, y).shape == (178, 2)
    assert accuracy(embedding) > accuracy(PCA(2)) + 0.2


# llama_index#7578, sentence-transformers#680: use the adapter elsewhere, as one matrix.
def test_the_adapter_is_a_matrix_for_queries_and_documents_alike():
    documents, queries = IRIS[::2].astype(np.float32), IRIS[1::2].astype(np.float32)
    learner = MetricLearner(random_state=0, C=1.0).fit(documents, SPECIES[::2])
    L = learner.components_.astype(np.float32)
    stored, asked = documents @ L.T, queries @ L.T
    index = NearestNeighbors(n_neighbors=1).fit(stored)
    d, found = index.kneighbors(asked)
    np.testing.assert_allclose(
        d[:, 0], learner.pair_distance((queries, documents[found[:, 0]])), rtol=1e-3, atol=1e-5
    )
    one, two = (learner.pair_distance(p) for p in ((queries, documents), (documents, queries)))
    np.testing.assert_array_equal(one, two)


# linear-adapter-trainer#9: the score before beside the gain, and a word where there is none.
def test_a_score_on_unseen_pairs_shows_whether_learning_helped():
    X, y = load_wine(return_X_y=True)
    train, test = np.arange(178) % 2 == 0, np.arange(178) % 2 == 1
    side = Pairs.from_labels(y[train], 400, random_state=0)
    i, j, alike = Pairs.from_labels(y[test], 400, random_state=1).near_and_far()
    pairs, signs = (X[test][i], X[test][j]), np.where(alike, 1, -1)
    before = roc_auc_score(alike, -np.linalg.norm(pairs[0] - pairs[1], axis=1))
    learned = MetricLearner(random_state=0, C=1.0).fit(X[train], side=side)
    shuffled = Pairs.from_labels(
        np.random.default_rng(0).permutation(y[train]), 400, random_state=0
    )
    misled = MetricLearner(random_state=0, C=1.0).fit(X[train], side=shuffled)
    assert misled.score(pairs, signs) < before < learned.score(pairs, signs) - 0.05


# river#1422, #154: a metric that is learned online.
def test_a_metric_follows_a_stream():
    rng = np.random.default_rng(0)
    true = np.diag([25.0, 4.0, 1.0, 0.0, 0.0, 0.0])
    learner = OnlineMetricLearner(eta=0.01)
    for _ in range(20):
        pairs = rng.standard_normal((100, 2, 6))
        z = pairs[:, 0] - pairs[:, 1]
        learner.partial_fit(pairs, np.einsum("ki,ij,kj->k", z, true, z))
    assert learner.n_pairs_seen_ == 2000
    assert learner.losses_[-100:].mean() < 1e-2 * learner.losses_[:100].mean()


# -- correlations --------------------------------------------------------------------------------------


# NAGPythonExamples#11: some entries are known and shall stay, others have bounds.
def test_a_nearest_correlation_matrix_with_fixed_and_bounded_entries():
    rng = np.random.default_rng(0)
    C = rng.uniform(-1, 1, (8, 8))
    C = (C + C.T) / 2
    np.fill_diagonal(C, 1.0)
    X = cp.Variable((8, 8), PSD=True)
    asked = [cp.diag(X) == 1, X[0, 1] == 0.3, X[2, 3] >= 0.2]
    ask(cp.Problem(cp.Minimize(squared_norm(X - C)), asked))
    terms = [
        Term(DiagonalEntries(range(8)), Hard(equal=1.0)),
        Term(Similarities([0], [1]), Hard(equal=0.3)),
        Term(Similarities([2], [3]), Hard(lower=0.2)),
        Term(DenseMatrices(C[None]), Linear(-1.0)),
    ]
    solution = solve(Problem(Frobenius(), np.zeros((8, 8)), terms), tol=1e-9)
    np.testing.assert_allclose(solution.matrix, X.value, atol=1e-5)
    assert solution.matrix[0, 1] == pytest.approx(0.3, abs=1e-9)


# NAGPythonExamples#11: of a given rank. statsmodels' corr_nearest stops at n = 200 without an answer.
def test_a_nearest_correlation_matrix_of_a_given_rank_has_a_bound():
    rng = np.random.default_rng(0)
    C = np.corrcoef(rng.standard_normal((20, 15))) + 0.1 * np.diag(rng.standard_normal(20))
    solution = nearest_correlation(C, rank=3, regularizer="frobenius", return_solution=True)
    X = solution.matrix
    assert np.linalg.matrix_rank(X, tol=1e-8) == 3
    np.testing.assert_allclose(np.diag(X), 1.0, atol=1e-12)
    distance = np.sum((X - C) ** 2) / 2
    assert solution.primal == pytest.approx(distance, rel=1e-8)
    # The three leading eigenvectors, scaled to a diagonal of one, are farther.
    s, V = np.linalg.eigh(C)
    F = V[:, -3:] * np.sqrt(s[-3:])
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    assert solution.dual <= distance < np.sum((F @ F.T - C) ** 2) / 2
