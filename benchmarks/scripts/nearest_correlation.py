"""The nearest correlation matrix in the Frobenius norm: gramlearn, CVXPY with SCS, and statsmodels.

    python -m benchmarks.scripts.nearest_correlation --limit 300
    python -m benchmarks.scripts.nearest_correlation --kinds weights unknown fixed bounds

Every contestant climbs a ladder of sizes n until one takes longer than the limit; each solve has a process of
its own. The matrix is the correlation of ten measurements, and a tenth of every entry is noise, so that it is
indefinite. By kind, entries have weights from 0.1 to 1, three of ten are unknown, one of ten is fixed, or all
have bounds. Seconds are those of the processor, since others may use it too. A judge in plain NumPy looks at
every X: by how much its value sum_ij W_ij (X_ij - C_ij)^2 / 2 lies above the dual bound that gramlearn proved,
its least eigenvalue, and by how much its diagonal, a fixed entry or a bound is missed. A value below the bound
is that of an X that violates the constraints. statsmodels knows the first kind only, and takes part where it is
installed.
"""

import argparse
import itertools
import multiprocessing
import time
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing.queues import Queue
from typing import Any, NamedTuple

import numpy as np

SIZES = (50, 100, 200, 300, 400, 500, 700, 1000, 1250, 1400)


class Task(NamedTuple):
    """C, and what is asked beside: W, lower and upper bounds, which are equal where an entry is fixed."""

    C: np.ndarray
    W: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def is_plain(self) -> bool:
        off = ~np.eye(len(self.C), dtype=bool)
        return bool(np.all(self.W == 1) and np.all((self.upper - self.lower)[off] == 2))


class Answer(NamedTuple):
    seconds: float
    value: float
    least_eigenvalue: float
    missed: float
    bound: float | None  # where the contestant proves one


def draw(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    C = np.corrcoef(rng.standard_normal((n, 10)))
    noise = np.triu(rng.uniform(-1, 1, (n, n)), 1)
    C = 0.9 * C + 0.1 * (noise + noise.T)
    np.fill_diagonal(C, 1.0)
    return C


def ask(kind: str, n: int, seed: int) -> Task:
    rng = np.random.default_rng(seed + 1)

    def symmetric(draws: np.ndarray) -> np.ndarray:
        return np.triu(draws, 1) + np.triu(draws, 1).T

    C, W, end = draw(n, seed), np.ones((n, n)), np.ones((n, n))
    identity = np.eye(n)
    lower, upper = 2 * identity - end, end
    some = symmetric(rng.uniform(size=(n, n)))
    if kind == "weights":
        W = 0.1 + 0.9 * some + 0.9 * identity
    elif kind == "unknown":
        W = np.where((some > 0.3) | (identity > 0), 1.0, 0.0)
    elif kind == "fixed":
        # Half of a correlation matrix with half of the identity: it can be kept.
        kept = 0.5 * np.corrcoef(rng.standard_normal((n, 2 * n))) + 0.5 * identity
        is_kept = (some > 0.9) & (identity == 0)
        C, lower, upper = (np.where(is_kept, kept, part) for part in (C, lower, upper))
    elif kind == "bounds":
        lower, upper = (np.where(identity > 0, 1.0, bound) for bound in (-0.1, 0.3))
    return Task(C, W, lower, upper)


def gramlearn(task: Task) -> tuple[np.ndarray, float]:
    from gramlearn import nearest_correlation

    C, W, lower, upper = task
    options: dict[str, Any] = {}
    if not task.is_plain:
        options = {"weights": W, "fixed": lower == upper, "bounds": (lower, upper)}
    solution = nearest_correlation(C, regularizer="frobenius", **options, return_solution=True)
    return solution.matrix, solution.dual


def cvxpy_scs(task: Task) -> tuple[np.ndarray, None]:
    import cvxpy as cp

    C, W, lower, upper = task
    X = cp.Variable(C.shape, PSD=True)
    asked = [cp.diag(X) == 1]
    off = ~np.eye(len(C), dtype=bool)
    fixed = np.flatnonzero(np.triu(off & (lower == upper)))
    bounded = np.flatnonzero(np.triu(off & (lower < upper) & (upper - lower < 2)))
    entries = cp.vec(X, order="C")
    if fixed.size:
        asked.append(entries[fixed] == C.ravel()[fixed])
    if bounded.size:
        asked.append(entries[bounded] >= lower.ravel()[bounded])
        asked.append(entries[bounded] <= upper.ravel()[bounded])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(np.sqrt(W), X - C))), asked)
    problem.solve(solver=cp.SCS, eps=1e-6, max_iters=100_000)
    return np.asarray(X.value), None


def statsmodels(task: Task) -> tuple[np.ndarray, None]:
    from statsmodels.stats.correlation_tools import corr_nearest

    return corr_nearest(task.C), None


KINDS = ("plain", "weights", "unknown", "fixed", "bounds")
CONTESTANTS: dict[str, Callable[[Task], tuple[np.ndarray, float | None]]] = {
    "gramlearn": gramlearn,
    "cvxpy_scs": cvxpy_scs,
    "statsmodels": statsmodels,
}


def _work(name: str, kind: str, n: int, seed: int, answers: "Queue[Answer]") -> None:
    CONTESTANTS[name](ask(kind, 5, seed))  # loads and compiles
    task = ask(kind, n, seed)
    began = time.process_time()
    X, bound = CONTESTANTS[name](task)
    seconds = time.process_time() - began
    value = float(np.sum(task.W * (X - task.C) ** 2)) / 2
    least = float(np.linalg.eigvalsh((X + X.T) / 2)[0])
    missed = max(float((task.lower - X).max()), float((X - task.upper).max()), 0.0)
    answers.put(Answer(seconds, value, least, missed, bound))


def measure(name: str, kind: str, n: int, seed: int, limit: float) -> Answer | None:
    """One solve in a process of its own; None where it took longer than the limit."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_work, args=(name, kind, n, seed, answers))
    process.start()
    process.join(limit + 30)  # what the limit leaves out: loading, and the judge
    if process.is_alive():
        process.terminate()
        process.join()
    answer = None if answers.empty() else answers.get()
    return answer if answer is not None and answer.seconds <= limit else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--kinds", nargs="+", default=KINDS[:1], choices=KINDS)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one solve")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| asked | contestant | n | seconds | above the bound | least eigenvalue | missed by |")
    print("|---|---|---|---|---|---|---|")
    bounds: dict[tuple[str, int], float] = {}
    for kind, name in itertools.product(given.kinds, CONTESTANTS):
        if name == "statsmodels" and (kind != "plain" or find_spec(name) is None):
            print(f"| {kind} | {name} | | not installed, or another problem | | | |")
            continue
        for n in given.sizes:
            answer = measure(name, kind, n, given.seed, given.limit)
            if answer is None:
                print(f"| {kind} | {name} | {n} | more than {given.limit:g} | | | |", flush=True)
                break
            if answer.bound is not None:
                bounds[kind, n] = answer.bound
            above = answer.value / bounds[kind, n] - 1
            print(
                f"| {kind} | {name} | {n} | {answer.seconds:.2f} | {above:.1e} "
                f"| {answer.least_eigenvalue:.1e} | {answer.missed:.1e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
