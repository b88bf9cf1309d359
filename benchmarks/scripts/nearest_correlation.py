"""The nearest correlation matrix in the Frobenius norm: gramlearn, CVXPY with SCS, and statsmodels.

    python -m benchmarks.scripts.nearest_correlation --limit 300

Every contestant climbs a ladder of sizes n until one takes longer than the limit; each solve has a process of
its own. The matrix is the correlation of ten measurements, and a tenth of every entry is noise, so that it is
indefinite. A judge in plain NumPy looks at every X: by how much its value |X - C|^2 / 2 lies above the dual
bound that gramlearn proved, its least eigenvalue, and how far its diagonal is from one. A value below the bound
is that of an X that violates the constraints. statsmodels takes part where it is installed.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing.queues import Queue
from typing import NamedTuple

import numpy as np

SIZES = (50, 100, 200, 300, 400, 500, 700, 1000, 1250, 1400)


class Answer(NamedTuple):
    seconds: float
    value: float
    least_eigenvalue: float
    diagonal_error: float
    bound: float | None  # where the contestant proves one


def draw(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    C = np.corrcoef(rng.standard_normal((n, 10)))
    noise = np.triu(rng.uniform(-1, 1, (n, n)), 1)
    C = 0.9 * C + 0.1 * (noise + noise.T)
    np.fill_diagonal(C, 1.0)
    return C


def gramlearn(C: np.ndarray) -> tuple[np.ndarray, float]:
    from gramlearn import nearest_correlation

    solution = nearest_correlation(C, regularizer="frobenius", return_solution=True)
    return solution.matrix, solution.dual


def cvxpy_scs(C: np.ndarray) -> tuple[np.ndarray, None]:
    import cvxpy as cp

    X = cp.Variable(C.shape, PSD=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X - C)), [cp.diag(X) == 1])
    problem.solve(solver=cp.SCS, eps=1e-6, max_iters=100_000)
    return np.asarray(X.value), None


def statsmodels(C: np.ndarray) -> tuple[np.ndarray, None]:
    from statsmodels.stats.correlation_tools import corr_nearest

    return corr_nearest(C), None


CONTESTANTS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, float | None]]] = {
    "gramlearn": gramlearn,
    "cvxpy_scs": cvxpy_scs,
    "statsmodels": statsmodels,
}


def _work(name: str, n: int, seed: int, answers: "Queue[Answer]") -> None:
    CONTESTANTS[name](draw(5, seed))  # loads and compiles
    C = draw(n, seed)
    began = time.perf_counter()
    X, bound = CONTESTANTS[name](C)
    seconds = time.perf_counter() - began
    value = float(np.sum((X - C) ** 2)) / 2
    least = float(np.linalg.eigvalsh((X + X.T) / 2)[0])
    answers.put(Answer(seconds, value, least, float(np.abs(np.diag(X) - 1).max()), bound))


def measure(name: str, n: int, seed: int, limit: float) -> Answer | None:
    """One solve in a process of its own; None where it took longer than the limit."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_work, args=(name, n, seed, answers))
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
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one solve")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| contestant | n | seconds | above the bound | least eigenvalue | diagonal off by |")
    print("|---|---|---|---|---|---|")
    bounds: dict[int, float] = {}
    for name in CONTESTANTS:
        if name == "statsmodels" and find_spec(name) is None:
            print(f"| {name} | | not installed | | | |")
            continue
        for n in given.sizes:
            answer = measure(name, n, given.seed, given.limit)
            if answer is None:
                print(f"| {name} | {n} | more than {given.limit:g} | | | |", flush=True)
                break
            if answer.bound is not None:
                bounds[n] = answer.bound
            above = answer.value / bounds[n] - 1
            print(
                f"| {name} | {n} | {answer.seconds:.2f} | {above:.1e} | {answer.least_eigenvalue:.1e} "
                f"| {answer.diagonal_error:.1e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
