"""Wine, statements about it, and fits that choose for themselves: for the tests of what they choose."""

import warnings

from sklearn.datasets import load_wine

from gramlearn import Bounds, MetricLearner, Pairs, Triplets

WINE, GROWER = load_wine(return_X_y=True)
WINE = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)
N = len(WINE)
PAIRS = Pairs.from_labels(GROWER, 300, random_state=0)
TRIPLETS = Triplets.from_labels(GROWER, 100, random_state=0)
BOUNDS = Bounds(*PAIRS.similar.T, upper=6.0, lower=2.0, n_points=N)
KEPT, NOT_JUDGED = "is kept", "Not judged"


def fitted(X=WINE, y=None, side=None, kind=MetricLearner, **settings):
    """With the one warning that is expected where nothing helps."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*({KEPT}|{NOT_JUDGED})", UserWarning)
        return kind(random_state=0, **settings).fit(X, y, side=side)
