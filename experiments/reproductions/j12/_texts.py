"""tf-idf vectors of length one, of the 5,000 words that are in most texts, without stop words (J12 6.2).

And neighbors of many sparse vectors, |x - y|^2 = |x|^2 + |y|^2 - 2 x'y, without writing them out. The paper
stems its words; here they are as they are, for Classic3 comes as a table of words already.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramlearn import datasets

__all__ = ["squared_distances", "text_vectors", "vote"]

_WORDS = 5000


def text_vectors(name: str, of_a_class: int | None = None) -> tuple[csr_array, np.ndarray]:
    """The vectors, and classes numbered from 0; with `of_a_class` the first so many of each class."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    data = datasets.load(name)
    texts, labels = data.texts, data.y
    if texts is None:
        counts = csr_array(data.X)
    else:
        assert data.texts_test is not None
        counts = csr_array(
            CountVectorizer(stop_words="english").fit_transform((*texts, *data.texts_test))
        )
        labels = np.concatenate([data.y, np.asarray(data.y_test)])
    y = np.unique(labels, return_inverse=True)[1]
    if of_a_class is not None:
        rows = np.concatenate([np.flatnonzero(y == c)[:of_a_class] for c in range(y.max() + 1)])
        counts, y = counts[rows], y[rows]
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.sort(np.argsort(-frequency, kind="stable")[:_WORDS])
    return csr_array(TfidfTransformer().fit_transform(counts[:, kept])), y


def squared_distances(others: Any, points: Any) -> np.ndarray:
    """Of all others, as rows, from all points; both sparse or both dense."""
    inner = others @ points.T
    inner = np.asarray(inner.toarray() if hasattr(inner, "toarray") else inner)
    lengths = [np.asarray((A * A).sum(axis=1)).reshape(-1) for A in (others, points)]
    return lengths[0][:, None] + lengths[1] - 2 * inner


def vote(squared: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """The class of most of the k nearest points, the first of equals."""
    nearest = np.argpartition(squared, k - 1, axis=1)[:, :k]
    votes = labels[nearest][:, :, None] == np.arange(labels.max() + 1)
    return np.argmax(votes.sum(axis=1), axis=1)
