"""Points with classes: every labeled set there is, of at most 2,000 points, texts as latent semantic vectors.

Of sets that were drawn from one another, such as the parts of Adult, one takes part. Unknown votes of senators
count as neither yes nor no.
"""

from typing import Any

import numpy as np

from gramlearn import datasets

SETS = {
    "iris": "iris",
    "wine": "wine",
    "breast_cancer_wdbc": "breast cancer",
    "ionosphere": "ionosphere",
    "sonar": "sonar",
    "glass": "glass",
    "heart_statlog": "heart",
    "soybean_small": "soybean",
    "protein": "protein",
    "balance_scale": "balance scale",
    "pima_diabetes": "pima",
    "boston_housing": "boston",
    "spambase": "spambase",
    "nursery": "nursery",
    "pendigits_389_317": "pen digits",
    "digits": "digits",
    "usps": "usps",
    "mnist": "mnist",
    "adult_a1a": "adult",
    "senate_106": "senate",
    "chessboard": "chessboard",
    "double_spiral": "spiral",
    "classic3": "classic3",
    "newsgroups20": "newsgroups",
}
LARGEST = 2000  # points
COLUMNS = 100  # of latent semantic vectors
_NEITHER = 0.5  # of votes, which are 0 and 1
_HOUSE = 25.0  # thousands of dollars: what tells the two classes of Boston's houses apart


def load_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features as they come, and classes numbered from 0; the same rows each time."""
    X, y = _points(name)
    rows = np.random.default_rng(0).permutation(len(y))[:LARGEST]
    points = np.nan_to_num(np.asarray(X[rows], dtype=float), nan=_NEITHER)
    return points, np.unique(y[rows], return_inverse=True)[1]


def _points(name: str) -> tuple[Any, np.ndarray]:
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X, y
    given = datasets.load(name)
    if given.texts is not None:
        from sklearn.feature_extraction.text import CountVectorizer

        words = CountVectorizer(min_df=5, max_df=0.5, stop_words="english")
        return _semantic_vectors(words.fit_transform(given.texts)), given.y
    if name == "classic3":
        return _semantic_vectors(given.X), given.y
    return given.X, given.y > _HOUSE if name == "boston_housing" else given.y


def _semantic_vectors(counts: Any) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    weighed = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return np.asarray(TruncatedSVD(COLUMNS, random_state=0).fit_transform(weighed))
