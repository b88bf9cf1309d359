"""K = sum_p alpha_p K_p: the kernels of F07 Figure 1, one by one and mixed, in full or of one feature each.

The family is that of the figure: Gaussians of mu = 1 and 0.1, the polynomial of degree two, and the linear
kernel, which is "almost identical" to it; weak kernels are these four of every feature. gamma1 and gamma2 are
chosen among 36 pairs (3.1): for each gamma2 the designs for all gamma1 are a path. Where a gamma2 leaves no
weight at any gamma1, a larger one does not either. The price of the trace grows with the points, so a pair that
does best on the halves may leave no weight on all points; the next best is taken then.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from experiments.reproductions.f07._comparisons import Judged, Split, kept, ranked_by_halves
from gramlearn import KernelDesigner
from gramlearn.kernels import (
    GaussianKernel,
    Kernel,
    LinearKernel,
    OneFeature,
    PolynomialKernel,
)

__all__ = ["GAMMAS", "SINGLE", "Mix", "mix_of", "shares_of_grid"]

SINGLE: dict[str, Kernel] = {
    "Gauss, mu = 1": GaussianKernel(1.0),
    "Gauss, mu = 0.1": GaussianKernel(0.1),
    "polynomial, degree 2": PolynomialKernel(2, gamma=1.0),
    "linear": LinearKernel(),
}
GAMMAS = (1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-4)
_TOL = 1e-2  # of the designs that are compared; the chosen one is solved to 1e-6
_USED = 0.01  # a weight that counts (3.2)


class Mix(NamedTuple):
    """A mixed kernel, as it came out.

    `passed_over` pairs of gammas left no weight; of the features used, some may be constant: their kernels are
    an offset, which helps K to be dominant.
    """

    share_kept: float
    gamma1: float
    gamma2: float
    passed_over: int
    used: int
    used_constant: int
    selected: int
    relative_gap: float


def mix_of(split: Split, weak: bool) -> Mix:
    """Choose both gammas by the halves, learn from all comparisons, and judge on the test points."""
    ranked = ranked_by_halves(split, lambda a, b: shares_of_grid(a, b, weak).ravel())
    passed_over = 0
    for number in ranked:
        gamma2, gamma1 = (GAMMAS[k] for k in divmod(number, len(GAMMAS)))
        designer = _designer(weak, gamma1=gamma1, gamma2=gamma2)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "all weights are zero")
            designer.fit(split.training.points, side=split.training.triplets)
        if designer.weights_.any():
            break
        passed_over += 1
    counts = np.flatnonzero(np.abs(designer.weights_) > _USED)
    used = sorted({designer.kernels_[p].feature for p in counts}) if weak else []
    return Mix(
        split.test.share_kept(lambda A, B: designer.pair_score((A, B))),
        gamma1,
        gamma2,
        passed_over,
        len(used),
        int(np.sum(np.ptp(split.training.points[:, used], axis=0) == 0)),
        len(designer.selected_features_),
        designer.solution_.relative_gap,
    )


def shares_of_grid(learned: Judged, judge: Judged, weak: bool) -> np.ndarray:
    """What designs learned from the one keep of the other: a row a gamma2, a column a gamma1."""
    shares = np.zeros((len(GAMMAS), len(GAMMAS)))
    i, j, k = judge.corners()
    kernels = _family(judge.points.shape[1], weak)
    near, far = (np.column_stack([p.paired(i, other) for p in kernels]) for other in (j, k))
    for row in reversed(range(len(GAMMAS))):  # the smallest gamma2 first
        designer = _designer(weak, gamma2=GAMMAS[row], tol=_TOL)
        path = designer.path(learned.points, side=learned.triplets, gamma1=GAMMAS)
        if not path.weights.any():
            break
        shares[row] = [kept(near @ weights, far @ weights) for weights in path.weights]
    return shares


def _designer(weak: bool, **options: Any) -> KernelDesigner:
    return KernelDesigner(list(SINGLE.values()), weak=weak, **options)


def _family(d: int, weak: bool) -> list[Kernel]:
    """The kernels in the order of a designer's weights."""
    single = list(SINGLE.values())
    return [OneFeature(kernel, f) for f in range(d) for kernel in single] if weak else single
