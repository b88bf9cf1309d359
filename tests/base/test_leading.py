"""The leading eigenvectors of a sparse matrix, and a warning where the search does not find all of them."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from gramlearn._base.eigen import leading
from gramlearn._base.eigen.leading import leading_eigenvectors
from gramlearn.graphs import laplacian, neighbor_graph

RNG = np.random.default_rng(0)


def test_leading_eigenvectors_and_a_warning_where_they_are_not_found(monkeypatch) -> None:
    from scipy.sparse.linalg import ArpackNoConvergence

    A = csr_array(neighbor_graph(RNG.standard_normal((800, 3)), 6, join="mutual"))
    found = leading_eigenvectors(A, 10)
    dense = np.linalg.eigvalsh(A.toarray())[::-1][:10]
    np.testing.assert_allclose(found.values, dense, atol=1e-8)

    def lost(A, count, **options):
        raise ArpackNoConvergence("lost", np.array([dense[0]]), found.vectors[:, :1])

    monkeypatch.setattr("scipy.sparse.linalg.eigsh", lost)
    np.testing.assert_allclose(leading_eigenvectors(A, 10).values, dense, atol=1e-8)
    monkeypatch.setattr(leading, "_AFFORDABLE", 700)
    with pytest.warns(ConvergenceWarning, match="found 1 of the 10 leading eigenvectors"):
        assert leading_eigenvectors(A, 10).values.shape == (1,)


def test_all_vectors_of_an_eigenvalue_are_found() -> None:
    """Copies of one graph: every eigenvalue of its Laplacian has as many vectors as there are copies."""
    X, _ = make_moons(24, noise=0.05, random_state=0)
    A = csr_array(-laplacian(block_diag([neighbor_graph(X, 4, join="either")] * 40)))
    found = leading_eigenvectors(A, 60)
    dense = np.linalg.eigvalsh(A.toarray())[::-1][:60]
    np.testing.assert_allclose(found.values, dense, atol=1e-8)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(60), atol=1e-9)
