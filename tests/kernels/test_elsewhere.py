"""Kernels and their factors of tensors are those of NumPy arrays, and lie where the points are."""

import numpy as np
import pytest

from gramlearn.kernels import (
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    ManifoldKernel,
    PolynomialKernel,
    SigmoidKernel,
    incomplete_cholesky,
    nystroem,
    spectral_factor,
)
from gramlearn.kernels.families import read_kernel
from gramlearn.kernels.kernel import OneFeature
from gramlearn.kernels.low_rank import spectral
from gramlearn.kernels.low_rank.columns import combined_factor
from gramlearn.kernels.matrix import read_kernel_matrix

pytestmark = pytest.mark.usefixtures("tensors_stay")
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 10)) + 3.0, RNG.normal(size=(7, 10)) + 3.0
FAR = np.vstack([X, X[:1] + 1e6])  # products would lose the digits of their distances
KERNELS = {
    "Gaussian": GaussianKernel(0.05),
    "Gaussian of differences": GaussianKernel(2.0),
    "Laplacian": LaplacianKernel(0.1),
    "linear": LinearKernel(),
    "polynomial": PolynomialKernel(2, 0.1),
    "sigmoid": SigmoidKernel(0.01),
    "one feature": OneFeature(GaussianKernel(0.5), 3),
    "function": read_kernel(lambda A, B: A @ B.T + 1.0, {}),
}
EVERY = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
PSD = ["Gaussian", "Laplacian", "linear", "polynomial", "function", "precomputed"]
FACTORS = {
    "cholesky": lambda X, kernel: incomplete_cholesky(X, kernel, rank=6),
    "nystroem": lambda X, kernel: nystroem(X, kernel, landmarks=[0, 3, 9, 3, 20]),
    "spectral": lambda X, kernel: spectral_factor(X, kernel),
    "spectral of few": lambda X, kernel: spectral_factor(X, kernel, rank=4),
    "combined": lambda X, kernel: combined_factor(
        X, kernel, np.eye(40)[:, :5] + np.eye(40)[:, 5:10]
    ),
}


def same(other, there, here, atol=1e-10):
    np.testing.assert_allclose(other.numpy(there), here, rtol=1e-9, atol=atol)


@EVERY
def test_a_kernel_gives_the_same_where_the_points_are(other, kernel):
    A, B = other.array(X), other.array(NEW)
    same(other, kernel(A, B), kernel(X, NEW))
    same(other, kernel(A, A), kernel(X, X))
    same(other, kernel.paired(A, A), kernel.paired(X, X))
    same(other, kernel.paired(A[:7, :], B), kernel.paired(X[:7], NEW))
    assert kernel.rounding_unit(A) == kernel.rounding_unit(X)


def test_no_digits_are_lost_to_a_point_far_from_all_others(other):
    there = GaussianKernel(0.05)(other.array(FAR), other.array(FAR))
    exact = np.exp(-0.05 * ((FAR[:, None] - FAR) ** 2).sum(axis=2))
    same(other, there, exact, atol=1e-14)


@EVERY
def test_entries_of_pairs_are_the_same(other, kernel):
    i, j = np.array([3, 0, 9, 3, 39]), np.array([5, 0, 2, 5, 1])
    there, here = (read_kernel_matrix(points, kernel, {}) for points in (other.array(X), X))
    same(other, there.entries(other.index(i), j), here.entries(i, j))
    same(other, there.columns(j), here.columns(j))
    assert there.entries(i[:0], j[:0]).shape == (0,)


def test_entries_of_many_pairs_are_found_where_the_points_are(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    i, j = RNG.integers(300, size=(2, 2000))
    points, kernel = RNG.normal(size=(300, 3)), GaussianKernel(0.5)
    there = read_kernel_matrix(torch.asarray(points), kernel, {})
    rows = torch.asarray(i), torch.asarray(j)

    def refuse(tensor):
        raise AssertionError(f"{tensor.numel()} numbers are moved")

    with monkeypatch.context() as nothing_moves:
        nothing_moves.setattr(torch.Tensor, "cpu", refuse)
        found = there.entries(*rows)
    expected = np.exp(-0.5 * ((points[i] - points[j]) ** 2).sum(axis=1))
    np.testing.assert_allclose(found.cpu(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", PSD)
@pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
def test_a_factor_is_the_same_where_the_points_are(other, factor, name):
    is_matrix = name == "precomputed"
    kernel = KERNELS["Gaussian" if is_matrix else name]
    points, new = (kernel(X, X), kernel(NEW, X)) if is_matrix else (X, NEW)
    given = name if is_matrix else kernel
    here, there = factor(points, given), factor(other.array(points), given)
    G, P = other.numpy(there.factor), here.factor
    assert G.shape == P.shape
    np.testing.assert_allclose(G @ G.T, P @ P.T, atol=1e-8)
    assert there.error == pytest.approx(here.error, abs=1e-8)
    assert there.trace == pytest.approx(here.trace)
    Q = other.numpy(there.transform(other.array(new)))
    np.testing.assert_allclose(Q @ G.T, here.transform(new) @ P.T, atol=1e-7)


def test_passes_over_columns_find_the_same(other, monkeypatch):
    monkeypatch.setattr(spectral, "_LARGEST", 10)
    monkeypatch.setattr(spectral, "_MANY", 10)
    kernel, points = GaussianKernel(0.01), RNG.normal(size=(150, 3))
    here = spectral_factor(points, kernel, rank=3).factor
    there = other.numpy(spectral_factor(other.array(points), kernel, rank=3).factor)
    np.testing.assert_allclose(there @ there.T, here @ here.T, atol=1e-8)


def test_numbers_of_a_function_may_be_in_host_memory(other):
    kernel = read_kernel(lambda A, B: np.ones((A.shape[0], B.shape[0])), {})
    same(other, kernel(other.array(X), other.array(NEW)), np.ones((40, 7)))


def test_what_is_wrong_with_a_kernel_is_said_of_tensors_too(other):
    K = np.diag([1.0, -1.0, 2.0])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        incomplete_cholesky(other.array(K), "precomputed")
    with pytest.raises(ValueError, match="not symmetric"):
        spectral_factor(other.array(np.triu(np.ones((3, 3)))), "precomputed")
    K = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 2.0, 1.0]])
    with pytest.raises(ValueError, match=r"entry \(.*by other entries between"):
        nystroem(other.array(K), "precomputed", landmarks=[0])


def test_a_function_that_fails_on_tensors_is_told_what_it_must_give():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    kernel = read_kernel(lambda A, B: A @ B, {})  # of two vectors; PyTorch raises RuntimeError
    with pytest.raises(
        ValueError, match=r"failed on arrays of 40 and 7 points.*lambda A, B: A @ B.T"
    ):
        kernel(torch.asarray(X), torch.asarray(NEW))


def test_a_kernel_of_scikit_learn_says_in_one_sentence_what_it_takes(other):
    words = r"^the kernel 'chi2' is scikit-learn's, and works on NumPy arrays alone; pass X.cpu\(\)"
    with pytest.raises(TypeError, match=words):
        incomplete_cholesky(other.array(abs(X)), "chi2")


def test_kernels_of_numpy_arrays_alone_say_so(other):
    for kernel in (read_kernel("chi2", {}), ManifoldKernel(X, n_neighbors=3)):
        with pytest.raises((TypeError, ValueError), match=r"NumPy arrays alone; pass X.cpu\(\)"):
            kernel(other.array(X), other.array(NEW))
