"""What a row costs OnlinePCA: as n^2 up to a logarithm, where all n directions take part, beside dense steps.

    python -m benchmarks.online_pca_cost

Half of the directions are kept, and the density is what 2n rows of a normal distribution make of the uniform
one: no two of its eigenvalues are equal, so p = n, the worst case. A dense step is the definition, in LAPACK
and BLAS: eigh of diag(l) - eta zz', and a product with its vectors. Times are those of the processor, on one
thread, so that what else the machine does matters little; the least of several rows (dense steps from n = 2000:
of one).
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["main"]

_SIZES = (250, 500, 1000, 2000, 4000)
_ROWS = 7
_ETA = 0.1


def main() -> None:
    """Print the table, and how both grow."""
    from threadpoolctl import threadpool_limits

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES)
    sizes = parser.parse_args().sizes
    print(
        "| n | p | a row, ms | a dense step, ms | ratio | W apart by |\n|---|---|---|---|---|---|"
    )
    costs, dense_costs = [], []
    with threadpool_limits(1):
        for n in sizes:
            p, cost, dense_cost, apart = _measure(n)
            costs.append(cost)
            dense_costs.append(dense_cost)
            print(
                f"| {n} | {p} | {1e3 * cost:.1f} | {1e3 * dense_cost:.1f} | {dense_cost / cost:.1f} "
                f"| {apart:.0e} |",
                flush=True,
            )
    if len(sizes) > 1:
        slope, dense_slope = (
            np.polyfit(np.log(sizes), np.log(c), 1)[0] for c in (costs, dense_costs)
        )
        print(f"\na row grows as n^{slope:.2f}, a dense step as n^{dense_slope:.2f}")


def _measure(n: int) -> tuple[int, float, float, float]:
    """(p, seconds a row, seconds a dense step, difference of the two W beside the largest eigenvalue)."""
    from gramlearn import OnlinePCA
    from gramlearn.special.capped_density import CappedDensity, capped

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2 * n, n)) / n**0.5
    values, Q = np.linalg.eigh(-_ETA * rows.T @ rows)
    state = CappedDensity(np.ascontiguousarray(Q.T), capped(values, n - n // 2), n - n // 2)
    del Q
    model = OnlinePCA(n // 2, eta=_ETA).fit(rows[:1])
    X = rng.standard_normal((_ROWS, 1, n)) / n**0.5
    model._state = state
    model.partial_fit(X[0])  # loads and compiles
    seconds = _least([lambda x=x: model.partial_fit(x) for x in X[1:]])
    p = len(np.unique(model._state.logs))
    model._state = state
    found = model.partial_fit(X[0]).density_
    repeats = 1 if n >= 2000 else 3
    dense_seconds = _least([lambda: _dense_step(state, X[0, 0])] * repeats)
    logs, V = _dense_step(state, X[0, 0])
    apart = float(np.abs((V.T * np.exp(logs)) @ V - found).max() / np.exp(logs.max()))
    return p, seconds, dense_seconds, apart


def _dense_step(state: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from gramlearn.special.capped_density import capped

    z = state.vectors @ x
    logs, U = np.linalg.eigh(np.diag(state.logs) - _ETA * np.outer(z, z))
    return capped(logs, state.d), U.T @ state.vectors


def _least(functions: list[Callable[[], Any]]) -> float:
    times = []
    for function in functions:
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


if __name__ == "__main__":
    main()
