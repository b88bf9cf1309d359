"""Embeddings of 100 points: gramlearn against the semidefinite programs, by CVXPY.

    OMP_NUM_THREADS=1 python -m benchmarks.scripts.embedding_speed

Points of two classes of wine, standardized; five neighbors. MVE runs all rounds until one gains less than
1e-3, both ours and the programs. A program is timed for SCS and, for one round, for Clarabel; the faster of
the two counts. "Same" is the problem that gramlearn solves, whose objectives must agree; "original" is that
of the authors: hard distances for MVE, tr K <= 1 for SPE. Seconds are those of the processor, of one thread,
since other work on a machine makes the clock mean little.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from tools.embedding_baselines import solve_mve_as_sdp, solve_mve_round, solve_spe_as_sdp

from gramlearn import MinimumVolumeEmbedding, StructurePreservingEmbedding
from gramlearn.methods.unfolding.minimum_volume import signs_of

_FEW = 3  # rounds of the original MVE, each of which takes longer than all of ours


def draw(n: int, seed: int) -> np.ndarray:
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(seed)
    X = X[rng.permutation(np.flatnonzero(y < 2))[:n]]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def timed(call: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The least seconds of the processor, of some repeats, and what came out."""
    seconds = np.inf
    for _ in range(repeats):
        began = time.process_time()
        result = call()
        seconds = min(seconds, time.process_time() - began)
    return seconds, result


def line(name: str, ours: float, other: float, words: str) -> None:
    print(f"| {name} | {ours:.3g} | {other:.3g} | {other / ours:.0f} | {words} |", flush=True)


def volume(X: np.ndarray, clarabel: bool) -> None:
    learner = MinimumVolumeEmbedding(connect=True)
    learner.fit(X[:20])  # loads
    seconds, model = timed(lambda: learner.fit(X), 3)
    distances, _ = learner._distances(X)
    U, _, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    C, G = learner.C, model.solution_.capacity_price
    same, found = timed(lambda: solve_mve_as_sdp(distances, U[:, :2], "SCS", 1e-3, 100, C, G))
    best = min(step.objective for step in model.solution_.rounds)
    words = (
        f"{model.n_iter_} and {found.rounds} rounds, objectives {best:.6g} and {found.value:.6g}"
    )
    line("MVE, same, SCS", seconds, same, words)
    original, found = timed(lambda: solve_mve_as_sdp(distances, U[:, :2], "SCS", 1e-3, _FEW))
    line("MVE, original, SCS", seconds, original, f"its first {found.rounds} rounds")
    if clarabel:
        K0 = signs_of(U[:, :2])
        one, _ = timed(lambda: solve_mve_round(distances, K0, "CLARABEL", C, G))
        line("MVE, same, one round by Clarabel", seconds, one, f"all {model.n_iter_} of ours")


def structure(X: np.ndarray, clarabel: bool) -> None:
    learner = StructurePreservingEmbedding(capacity=1.0)
    learner.fit(X[:20])
    seconds, model = timed(lambda: learner.fit(X), 5)
    graph = model.graph_.toarray() > 0
    value = -float(np.sum((graph @ model.factor_) * model.factor_))
    words = f"{len(model.solution_.made)} comparisons made, objectives {value:.8g} and "
    same, found = timed(lambda: solve_spe_as_sdp(graph, "SCS"))
    line("SPE, same, SCS", seconds, same, words + f"{found.value:.8g}")
    original, found = timed(lambda: solve_spe_as_sdp(graph, "SCS", is_trace=True))
    line("SPE, original, SCS", seconds, original, "tr K <= 1")
    if clarabel:
        one, found = timed(lambda: solve_spe_as_sdp(graph, "CLARABEL"))
        line("SPE, same, Clarabel", seconds, one, words + f"{found.value:.8g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clarabel", action="store_true", help="takes minutes")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of SCS, where it is not accurate
    X = draw(given.points, given.seed)
    print("| program | gramlearn, s | CVXPY, s | times | |")
    print("|---|---|---|---|---|")
    structure(X, given.clarabel)
    volume(X, given.clarabel)


if __name__ == "__main__":
    main()
