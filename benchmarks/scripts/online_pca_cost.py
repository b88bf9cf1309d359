"""What a row costs OnlinePCA: as n^2 up to a logarithm, where all n directions take part, beside dense steps.

    python -m benchmarks.scripts.online_pca_cost

Half of the directions are kept, and the density is what 2n rows of a normal distribution make of the uniform
one: no two of its eigenvalues are equal, so p = n, the worst case. A dense step is the definition, in LAPACK
and BLAS: eigh of diag(l) - eta zz', and a product with its vectors. A secular step lies between the two, with
the eigenvalues in O(p^2) and the dense product. Times are those of the processor, on one thread, so that what
else the machine does matters little; the least of several rows (dense steps from n = 2000: of one).
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
    """Print the table, and how all three grow."""
    from threadpoolctl import threadpool_limits

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=_SIZES)
    sizes = parser.parse_args().sizes
    print("| n | p | a row, ms | a secular step, ms | a dense step, ms | ratio | W apart by |")
    print("|---|---|---|---|---|---|---|")
    measured = []
    with threadpool_limits(1):
        for n in sizes:
            p, seconds, apart = _measure(n)
            measured.append(seconds)
            shown = " | ".join(f"{1e3 * one:.1f}" for one in seconds)
            ratio = seconds[2] / seconds[0]
            print(f"| {n} | {p} | {shown} | {ratio:.1f} | {apart:.0e} |", flush=True)
    if len(sizes) > 1:
        row, secular, dense = np.polyfit(np.log(sizes), np.log(measured), 1)[0]
        print(f"\na row grows as n^{row:.2f},", end=" ")
        print(f"a secular step as n^{secular:.2f}, a dense one as n^{dense:.2f}")


def _measure(n: int) -> tuple[int, tuple[float, float, float], float]:
    """(p, seconds of the three, difference of the first and the last W beside the largest eigenvalue)."""
    from gramlearn import OnlinePCA
    from gramlearn.methods.online_pca import CappedDensity, capped

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2 * n, n)) / n**0.5
    values, Q = np.linalg.eigh(-_ETA * rows.T @ rows)
    state = CappedDensity(np.ascontiguousarray(Q.T), capped(values, n - n // 2), n - n // 2)
    X = rng.standard_normal((_ROWS, 1, n)) / n**0.5
    model = OnlinePCA(n // 2, eta=_ETA).fit(rows[:1])
    model._state = state
    found = model.partial_fit(X[0]).density_  # loads and compiles, too
    p = len(np.unique(model._state.logs))
    logs, V = _dense_step(state, X[0, 0])
    apart = float(np.abs((V.T * np.exp(logs)) @ V - found).max() / np.exp(logs.max()))
    row = _least([lambda x=x: model.partial_fit(x) for x in X[1:]])
    secular = _least([lambda x=x: state.updated(x[0], _ETA, leaf=n) for x in X[1:4]])
    dense = _least([lambda: _dense_step(state, X[0, 0])] * (1 if n >= 2000 else 3))
    return p, (row, secular, dense), apart


def _dense_step(state: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from gramlearn.methods.online_pca import capped

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
