"""What a weight for each feature costs, beside a full metric that learns from the same pairs.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m benchmarks.scripts.diagonal_metric

Points of five classes, of which a fifth of the features tell something, and pairs drawn from them; bounds are
the default ones. A row is a `fit` to a certified relative gap of 1e-6: C = 1 for the slack of LogDet, and
1 / (2 d), about one over a squared distance, for the hinge. Seconds are of the processor. The full metric stops
at the limit, of a clock on the wall, and its row says at which gap; `--quick` takes the first size alone.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramlearn import MetricLearner, Pairs

__all__ = ["draw", "main", "timed"]

_SIZES = ((50, 2_000), (200, 10_000), (1000, 10_000), (1000, 100_000))
_COMPILED = (200, 200_000)  # numbers that are scanned, not written out


def main() -> None:
    """Print one row for each size and loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a full metric")
    parser.add_argument("--quick", action="store_true", help="the first size alone")
    options = parser.parse_args()
    if not options.quick:
        timed(
            "diagonal", "slack", *draw(*_COMPILED), limit=1.0
        )  # what is compiled, is compiled here
    print("| features | pairs | loss | diagonal, s | gap | iterations | full, s | gap |")
    print("|---|---|---|---|---|---|---|---|")
    for d, m in _SIZES[: 1 if options.quick else None]:
        X, side = draw(d, m)
        for loss in ("slack", "hinge"):
            seconds, gap, steps = timed("diagonal", loss, X, side)
            full, full_gap, _ = timed("full", loss, X, side, options.limit)
            print(
                f"| {d} | {side.size} | {loss} | {seconds:.3g} | {gap:.0e} | {steps} | {full:.3g} "
                f"| {full_gap:.0e} |",
                flush=True,
            )


def draw(d: int, m: int, n: int = 2000) -> tuple[np.ndarray, Pairs]:
    """Points and pairs, always the same ones."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, n)
    X = rng.standard_normal((n, d))
    X[:, : d // 5] += rng.standard_normal((5, d // 5))[y]
    return X, Pairs.from_labels(y, m, random_state=0)


def timed(
    shape: str, loss: str, X: np.ndarray, side: Pairs, limit: float | None = None
) -> tuple[float, float, int]:
    """(seconds of the processor of a fit, its relative gap, its iterations)."""
    C = 1.0 if loss == "slack" else 0.5 / X.shape[1]
    learner = MetricLearner(shape=shape, loss=loss, C=C, time_limit=limit, random_state=0)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is printed
        learner.fit(X, side=side)
    found = learner.solution_
    return time.process_time() - began, found.relative_gap, found.iterations


if __name__ == "__main__":
    main()
