"""Where labels, pairs or triplets are drawn at random there is nothing to learn: how often does a fit "help"?

    OMP_NUM_THREADS=1 python -m benchmarks.scripts.no_signal

Points are normal, in ten features of standard deviations from 0.5 to 3. Labels are of two classes and of four
in turn; pairs, alike or not, and triplets are twice as many as points. `MetricLearner()` is fitted to each.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["main", "say"]

_SIZES = (100, 400, 900)
_VERDICTS = ("helps", "probably helps", "plain distance kept")


def main() -> None:
    """Print a table of verdicts, a row for each kind and number of points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(_SIZES))
    parser.add_argument("--draws", type=int, default=40, help="default: 40")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| drawn at random | points | " + " | ".join(_VERDICTS) + " |")
    print("|---" * (len(_VERDICTS) + 2) + "|")
    for kind in _KINDS:
        for n in options.sizes:
            found = [say(kind, n, seed) for seed in range(options.draws)]
            cells = " | ".join(str(found.count(verdict)) for verdict in _VERDICTS)
            print(f"| {kind} | {n} | {cells} |", flush=True)


def say(kind: str, n: int, seed: int) -> str:
    """One of the verdicts, of a fit to what means nothing."""
    from gramlearn import MetricLearner

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10)) * np.linspace(0.5, 3.0, 10)
    words = MetricLearner(random_state=seed).fit(X, **_KINDS[kind](n, seed, rng)).verdict_
    starts = {f"The learned metric {verdict}:": verdict for verdict in _VERDICTS[:2]}
    return next((starts[start] for start in starts if words.startswith(start)), _VERDICTS[2])


def _labels(n: int, seed: int, rng: np.random.Generator) -> dict[str, Any]:
    return {"y": rng.integers(4 if seed % 2 == 0 else 2, size=n)}


def _pairs(n: int, seed: int, rng: np.random.Generator) -> dict[str, Any]:
    from gramlearn import Pairs

    table = np.stack(np.triu_indices(n, 1), axis=1)
    table = table[rng.choice(len(table), size=2 * n, replace=False)]
    alike = rng.random(len(table)) < 0.5
    return {"side": Pairs(table[alike], table[~alike], n_points=n)}


def _triplets(n: int, seed: int, rng: np.random.Generator) -> dict[str, Any]:
    from gramlearn import Triplets

    return {"side": Triplets([rng.choice(n, 3, replace=False) for _ in range(2 * n)], n_points=n)}


_KINDS: Mapping[str, Callable[[int, int, np.random.Generator], dict[str, Any]]] = {
    "labels": _labels,
    "pairs": _pairs,
    "triplets": _triplets,
}


if __name__ == "__main__":
    main()
