"""KernelDesigner: a kernel by comparisons, from points, labels or clicks, or from matrices."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramlearn import (
    KernelDesigner,
)

X, Y = load_wine(return_X_y=True)
X, Y = scale(X)[::2], Y[::2]
RNG = np.random.default_rng(0)


@parametrize_with_checks(
    [
        KernelDesigner(gamma1=0.01, n_triplets=60, random_state=0),
        KernelDesigner(weak=True, gamma1=0.01, n_triplets=60, random_state=0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
