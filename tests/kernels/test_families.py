"""A kernel's name, its class and scikit-learn's function are the same kernel."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels

from gramlearn import KernelLearner, Pairs
from gramlearn.kernels import (
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    OneFeature,
    PolynomialKernel,
    SigmoidKernel,
)
from gramlearn.kernels.families import read_kernel
from gramlearn.kernels.kernel import FunctionKernel, PrecomputedKernel
from gramlearn.kernels.matrix import read_kernel_matrix

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(70, 4)), RNG.normal(size=(70, 4))

FAMILIES = [
    ("rbf", GaussianKernel, {}),
    ("rbf", GaussianKernel, {"gamma": 0.3}),
    ("laplacian", LaplacianKernel, {}),
    ("laplacian", LaplacianKernel, {"gamma": 0.2}),
    ("linear", LinearKernel, {}),
    ("poly", PolynomialKernel, {"degree": 2}),
    ("polynomial", PolynomialKernel, {"gamma": 0.7, "coef0": 0.5}),
    ("sigmoid", SigmoidKernel, {"gamma": 0.1, "coef0": -0.2}),
]


@pytest.mark.parametrize(("name", "family", "params"), FAMILIES, ids=str)
def test_a_family_is_the_kernel_that_scikit_learn_calls_by_its_name(name, family, params) -> None:
    kernel = family(**params)
    assert read_kernel(name, params) == kernel
    expected = pairwise_kernels(X, Y, metric=name, **params)
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.paired(X, Y), np.diagonal(expected), rtol=1e-12, atol=1e-13)
    assert all(f"{key}={value:g}" in kernel.words for key, value in params.items())
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@pytest.mark.parametrize("d", [1, 8, 9, 40])  # on both sides of where products take over
def test_gaussians_of_few_and_many_features_agree(d) -> None:
    A, B = RNG.normal(size=(20, d)), RNG.normal(size=(30, d))
    kernel = GaussianKernel(0.5 / d)
    expected = np.exp(-0.5 / d * np.sum((A[:, None] - B) ** 2, axis=2))
    for shift in (0.0, 1e6):  # far from the origin nothing is lost but what the points lose
        np.testing.assert_allclose(kernel(A + shift, B + shift), expected, rtol=1e-8)
    np.testing.assert_array_equal(np.diagonal(kernel(A, A)), 1.0)


@pytest.mark.parametrize("name", ["cosine", "chi2", "additive_chi2"])
def test_other_kernels_of_scikit_learn_have_their_names(name) -> None:
    A, B = np.abs(X), np.abs(Y)
    kernel = read_kernel(name, {})
    np.testing.assert_allclose(kernel(A, B), pairwise_kernels(A, B, metric=name))
    assert kernel.is_psd == (name != "additive_chi2")


def test_kernels_declared_positive_semidefinite_are() -> None:
    known = [family(**params) for _, family, params in FAMILIES]
    assert [kernel.is_psd for kernel in known] == [True] * 7 + [False]
    assert not PolynomialKernel(2, coef0=-1.0).is_psd
    assert not PolynomialKernel(2.5).is_psd
    for kernel in [*known[:7], OneFeature(GaussianKernel(), 2)]:
        s = np.linalg.eigvalsh(kernel(X, X))
        assert s[0] > -1e-10 * s[-1]


class Constant(Kernel):
    """A class of a user's own, with no more than it must have."""

    words, is_psd = "one", True

    def __call__(self, A, B):
        return np.ones((len(A), len(B)), dtype=np.float32)


def test_a_user_defined_class_is_a_kernel() -> None:
    K = read_kernel_matrix(X, Constant(), {})
    assert K.eps == np.finfo(np.float32).eps
    assert K.words == "the kernel one"
    np.testing.assert_array_equal(K.diagonal(), np.ones(70))
    np.testing.assert_array_equal(K.entries(np.arange(3), np.arange(3)), np.ones(3))


def test_a_matrix_is_a_kernel_of_row_numbers() -> None:
    K = X @ X.T
    given, of_points = read_kernel_matrix(K, "precomputed", {}), read_kernel_matrix(X, "linear", {})
    i, j = RNG.integers(70, size=(2, 200))
    for ask in (
        lambda source: source.diagonal(),
        lambda source: source.columns(i[:5]),
        lambda source: source.matrix(),
        lambda source: source.entries(i, j),
    ):
        np.testing.assert_allclose(ask(given), ask(of_points), atol=1e-12)
    assert isinstance(given.kernel, PrecomputedKernel)
    np.testing.assert_array_equal(given.comparison(i[:5])(K[:3]), K[:3][:, i[:5]])


def test_a_kernel_by_name_and_as_an_object_give_the_same_answer() -> None:
    side = Pairs([(0, 1), (2, 3)], [(0, 2), (1, 4)], n_points=70)
    named = KernelLearner("rbf", {"gamma": 0.3}, C=1.0).fit(X, side=side)
    learner = KernelLearner(GaussianKernel(0.3), C=1.0)
    assert clone(learner).kernel == GaussianKernel(0.3)
    np.testing.assert_array_equal(
        learner.fit(X, side=side).kernel_matrix(Y, Y), named.kernel_matrix(Y, Y)
    )


@pytest.mark.parametrize(
    ("kernel", "params", "sentence"),
    [
        (GaussianKernel(2.0), {"gamma": 1.0}, r"rbf\(gamma=2\) has its parameters already"),
        (GaussianKernel, {}, "`kernel` is the class GaussianKernel"),
        ("gaussian", {}, "`kernel='gaussian'` is not known; choose one of .*'rbf'"),
        ("linear", {"gamma": 1.0}, "the kernel 'linear' takes no parameters; got gamma"),
        ("chi2", {"gamma": -1.0}, "gamma must be positive"),
        ("poly", {"degree": 0}, r"polynomial\(degree=0\).*must be positive"),
    ],
)
def test_bad_kernels_raise_a_clear_error(kernel, params, sentence) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        read_kernel(kernel, params)


def test_a_function_is_checked() -> None:
    lopsided = FunctionKernel(lambda A, B: A[:, :1] - 2 * B[:, 0], "function `lopsided`")
    with pytest.raises(ValueError, match="the kernel function `lopsided` is not symmetric"):
        lopsided(X, X)
    np.testing.assert_array_equal(lopsided(X, Y), X[:, :1] - 2 * Y[:, 0])
