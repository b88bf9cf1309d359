"""Wrong judgments planted among right ones: how many of the first 50 that a ranking names are wrong?

    OMP_NUM_THREADS=1 GRAMLEARN_DATA=folder python -m benchmarks.scripts.suspects

A thousand pairs, then a thousand triplets, are drawn from the labels of 2,000 points at most; 5, 10 and 20 % of
them are turned around at random: similar pairs into dissimilar ones and back, (i, j, k) into (i, k, j). Beside
`gramlearn.evaluation.suspects` stand chance, plain distance, and one fit to all statements, by what it leaves
unsatisfied and by the prices it pays. The learner is MetricLearner at its defaults, to a gap of 1e-2.
"""

import argparse
import gzip
import json
import time
import warnings
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.data._real import data_file

__all__ = ["main", "plant", "precision"]

_FIRST = 50
_METHODS = ("plain distance", "residuals of one fit", "prices of one fit", "`suspects`")


def main() -> None:
    """Print a table for each share of wrong statements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=_SETS, default=list(_SETS))
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.05, 0.2])
    parser.add_argument("--statements", type=int, default=1000, help="default: 1000")
    parser.add_argument("--points", type=int, default=2000, help="at most; default: 2000")
    parser.add_argument("--draws", type=int, default=1, help="the mean of so many; default: 1")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for share in options.shares:
        print(f"\n| {share:.0%} wrong | chance | " + " | ".join(_METHODS) + " | s |")
        print("|---" * (len(_METHODS) + 3) + "|")
        for name in options.sets:
            X, y = _SETS[name](options.points)
            for kind in ("pairs", "triplets"):
                rows = [
                    judge(X, y, kind, options.statements, share, seed)
                    for seed in range(options.draws)
                ]
                *found, seconds = np.mean(rows, axis=0)
                cells = " | ".join(f"{value:.2f}" for value in found)
                print(f"| {name}, {kind} | {share:.2f} | {cells} | {seconds:.0f} |", flush=True)


def judge(
    X: np.ndarray, y: np.ndarray, kind: str, count: int, share: float, seed: int
) -> list[float]:
    """The precision of each method, and the processor time of the last one."""
    from gramlearn import MetricLearner, Pairs, Triplets
    from gramlearn.evaluation import suspects

    source = Pairs if kind == "pairs" else Triplets
    side, wrong = plant(source.from_labels(y, count, random_state=seed), share, seed + 1)
    learner = MetricLearner(tol=1e-2, random_state=0, C=1.0)
    fitted = MetricLearner(tol=1e-2, random_state=0, C=1.0).fit(X, side=side)
    points = fitted.transform(X)
    sizes = [
        side.log_ratios(lambda i, j: np.sum((X[i] - X[j]) ** 2, axis=1)),
        side.log_ratios(lambda i, j: np.sum((points[i] - points[j]) ** 2, axis=1)),
        np.abs(np.concatenate(fitted.solution_.duals)),
    ]
    found = [precision(np.argsort(-size, kind="stable"), wrong) for size in sizes]
    began = time.process_time()
    ranked = suspects(learner, X, side, random_state=0).number
    return [*found, precision(ranked, wrong), time.process_time() - began]


def precision(ranked: np.ndarray, wrong: np.ndarray) -> float:
    """How many of the first 50 are wrong."""
    return float(np.sum(wrong[ranked[:_FIRST]])) / _FIRST


def plant(side, share: float, seed: int):
    """(side, wrong): a share of the statements turned around, and which."""
    from gramlearn import Pairs, Triplets

    wrong = np.zeros(side.size, dtype=bool)
    rng = np.random.default_rng(seed)
    wrong[rng.permutation(side.size)[: round(share * side.size)]] = True
    if isinstance(side, Triplets):
        table = np.where(wrong[:, None], side.triplets[:, [0, 2, 1]], side.triplets)
        return Triplets(table, n_points=side.n_points, margin=side.margin), wrong
    near, far = np.split(wrong, [len(side.similar)])
    similar = np.concatenate([side.similar[~near], side.dissimilar[far]])
    dissimilar = np.concatenate([side.dissimilar[~far], side.similar[near]])
    counts = [np.sum(~near), np.sum(far), np.sum(~far), np.sum(near)]
    turned = np.repeat([False, True, False, True], counts)
    return Pairs(similar, dissimilar, n_points=side.n_points), turned


def _load(file: str, scale: float | None) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    """Rows of a file, at most so many; in a given unit, or standardized."""

    def load(most: int) -> tuple[np.ndarray, np.ndarray]:
        with np.load(data_file(file)) as data:
            X, y = data["X"], data["y"]
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:most])
        X, y = X[rows].astype(float), y[rows]
        if scale is not None:
            return X / scale, y
        deviation = X.std(axis=0)
        return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), y

    return load


def _newsgroups(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Latent semantic analysis of messages without their headers, unit vectors of length 100."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    with gzip.open(data_file("newsgroups20.jsonl.gz"), "rt", encoding="utf-8") as lines:
        messages = [message for message in map(json.loads, lines) if message["subset"] == "train"]
    rows = np.random.default_rng(0).permutation(len(messages))[: 2 * most]
    texts = [messages[k]["text"].split("\n\n", 1)[-1] for k in rows]
    terms = TfidfVectorizer(
        sublinear_tf=True, min_df=3, stop_words="english", max_features=20_000
    ).fit_transform(texts)
    X = TruncatedSVD(100, n_iter=4, random_state=0).fit_transform(terms)
    lengths = np.linalg.norm(X, axis=1)
    kept = np.flatnonzero(lengths > 0)[:most]
    return X[kept] / lengths[kept, None], np.array([messages[k]["group"] for k in rows[kept]])


_SETS: Mapping[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "wine": _load("wine.npz", None),
    "pendigits": _load("pendigits_389_317.npz", None),
    "spambase": _load("spambase.npz", None),
    "newsgroups": _newsgroups,
    "usps": _load("usps.npz", 1.0),
    "mnist": _load("mnist.npz", 255.0),
}

if __name__ == "__main__":
    main()
