"""A weight for each feature that is chosen by what is held back: errors of the nearest neighbor, in percent.

    OMP_NUM_THREADS=1 python -m benchmarks.scripts.diagonal_choice

Of each set one half is learned from and the other asked; means over draws. Beside the plain distance stands
`MetricLearner(shape="diagonal")` at `C=1`, and as it is.
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np

__all__ = ["main"]


def main() -> None:
    """Print a table, a row for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="default: 5")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| points | features | plain | `C=1` | chosen |\n|---|---|---|---|---|")
    for name, X, y in _sets():
        found = np.mean([_errors(X, y, seed) for seed in range(options.draws)], axis=0)
        cells = " | ".join(f"{100 * error:.1f}" for error in found)
        print(f"| {name} | {X.shape[1]} | {cells} |", flush=True)


def _errors(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Of the plain distance, of a price of one, and of the price chosen."""
    from sklearn.model_selection import train_test_split
    from sklearn.neighbors import KNeighborsClassifier

    from gramlearn import MetricLearner

    known, asked, labels, answers = train_test_split(
        X, y, test_size=0.5, random_state=seed, stratify=y
    )
    maps = [lambda points: points]
    for C in (1.0, None):
        learner = MetricLearner(shape="diagonal", C=C, random_state=seed).fit(known, labels)
        maps.append(learner.transform)
    votes = [KNeighborsClassifier(1).fit(to(known), labels).predict(to(asked)) for to in maps]
    return [float(np.mean(vote != answers)) for vote in votes]


def _sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    rng = np.random.default_rng(0)
    for name, load in (("wine", load_wine), ("breast cancer", load_breast_cancer)):
        X, y = load(return_X_y=True)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        yield f"{name}, raw", X, y
        yield f"{name}, standardized", Z, y
        noise = rng.standard_normal((len(Z), 200))
        yield f"{name}, standardized, with 200 features of noise", np.hstack([Z, noise]), y
    X, y = load_digits(return_X_y=True)
    yield "digits", X, y
    noise = 2 * X.std() * rng.standard_normal((len(X), 200))
    yield "digits, with 200 features of noise", np.hstack([X, noise]), y


if __name__ == "__main__":
    main()
