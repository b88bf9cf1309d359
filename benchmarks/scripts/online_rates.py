"""Judged pairs in a stream: the rate that OnlineMetricLearner finds, against the best fixed one in hindsight.

    OMP_NUM_THREADS=1 GRAMLEARN_DATA=folder python -m benchmarks.scripts.online_rates

One half of each set gives the stream, half of its pairs alike, the other new pairs; features are standardized.
The fixed rates are 10^-4 to 10, a factor of sqrt(10) apart, over the square of the mean squared distance.
"""

import argparse

import numpy as np

__all__ = ["main"]

_SETS = (
    "iris",
    "wine",
    "breast_cancer_wdbc",
    "ionosphere",
    "sonar",
    "glass",
    "protein",
    "balance_scale",
    "pima_diabetes",
    "pendigits_389_317",
    "spambase",
    "heart_statlog",
)
_RATES = 10.0 ** np.arange(-4, 1.1, 0.5)
_MOST = 3000  # points of a set


def main() -> None:
    """Print a row for each set, as it comes and with a tenth of the judgments wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3000, help="default: 3000")
    parser.add_argument("--draws", type=int, default=3, help="default: 3")
    options = parser.parse_args()
    print(
        "| set | wrong | loss over that of the best rate | AUC, plain | AUC of the best rate | AUC, online "
        "| other units |\n|---|---|---|---|---|---|---|"
    )
    for name in _SETS:
        for wrong in (0.0, 0.1):
            rows = [_row(name, wrong, options.pairs, seed) for seed in range(options.draws)]
            ratio, plain, fixed, online, change = np.mean(rows, axis=0)
            print(
                f"| {name} | {wrong:.0%} | {ratio:.2f} | {plain:.3f} | {fixed:.3f} | {online:.3f} "
                f"| {change:.0e} |",
                flush=True,
            )


def _row(name: str, wrong: float, m: int, seed: int) -> list[float]:
    from sklearn.metrics import roc_auc_score

    from gramlearn import OnlineMetricLearner, datasets

    rng = np.random.default_rng(seed)
    data = datasets.load(name)
    rows = rng.permutation(len(data.y))[:_MOST]
    X, y = np.asarray(data.X, dtype=float)[rows], np.asarray(data.y)[rows]
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    half = len(y) // 2
    Z, alike = _draw(X[:half], y[:half], m, rng)
    new, truth = _draw(X[half:], y[half:], 2000, rng)
    alike = alike ^ (rng.random(len(alike)) < wrong)

    def judge(learner: OnlineMetricLearner) -> float:
        return float(roc_auc_score(truth, learner.pair_score((new, np.zeros_like(new)))))

    online = OnlineMetricLearner().fit(Z, alike)
    unit = (Z**2).sum(axis=1).mean() ** -2
    fixed = [OnlineMetricLearner(rate * unit).fit(Z, alike) for rate in _RATES]
    best = min(fixed, key=lambda learner: learner.losses_.sum())
    W = online.get_mahalanobis_matrix()
    change = np.abs(OnlineMetricLearner().fit(1e3 * Z, alike).get_mahalanobis_matrix() - W).max()
    return [
        online.losses_.sum() / best.losses_.sum(),
        float(roc_auc_score(truth, -(new**2).sum(axis=1))),
        judge(best),
        judge(online),
        float(change / np.abs(W).max()),
    ]


def _draw(
    X: np.ndarray, y: np.ndarray, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of m pairs in random order, half of them alike, drawn with replacement."""
    i, j = rng.integers(len(y), size=(2, 100 * m))
    alike = (y[i] == y[j])[i != j]
    i, j = i[i != j], j[i != j]
    chosen = rng.permutation(
        np.concatenate([np.flatnonzero(alike)[: m // 2], np.flatnonzero(~alike)[: m // 2]])
    )
    return X[i[chosen]] - X[j[chosen]], alike[chosen]


if __name__ == "__main__":
    main()
