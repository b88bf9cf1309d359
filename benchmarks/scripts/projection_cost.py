"""What a Bregman projection costs: against BLAS at the same rank, as r^2, not at all in n, and in blocks.

    python -m benchmarks.scripts.projection_cost

A LogDet projection is w = B'z, r^2 operations, and CHOLUPDATEMULT, 3 r^2 (K09 5.1.3). BLAS is given as many
operations in the form it is best at: a symmetric matrix-vector product (2 r^2) and a symmetric rank-one update
(r^2), each called from a compiled loop. What is compared runs in turns, so that a busy moment of the machine
meets both, and a time is the least of its turns.
"""

import argparse
import ctypes
import time
from collections.abc import Callable

import numpy as np

from gramlearn.solvers import Projections

__all__ = ["main"]

_RANKS = (50, 100, 200, 400, 800)
_TURNS = 25
_BLOCK = Projections().block


def main() -> None:
    """Print one table after the other."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    began = time.perf_counter()
    _least(_projections(_Case(8, 50, 10), 1), _projections(_Case(8, 50, 10), _BLOCK))
    print(f"first call, compiled or from disk: {time.perf_counter() - began:.2f} s\n")
    print("| rank | projection, us | BLAS at as many operations, us | ratio |\n|---|---|---|---|")
    costs = []
    for r in _RANKS:
        one, blas = _least(_projections(_Case(r, 1000, max(200, 40_000 // r)), 1), _blas(r))
        blas *= 4 / 3
        costs.append(one)
        print(f"| {r} | {1e6 * one:.2f} | {1e6 * blas:.2f} | {one / blas:.2f} |", flush=True)
    slope = np.polyfit(np.log(_RANKS), np.log(costs), 1)[0]
    print(f"\ncost grows as r^{slope:.2f}\n")
    print("| points | projection, us | G = G0 B, ms |\n|---|---|---|")
    for n in (1000, 10_000, 100_000):
        case = _Case(100, n, 1000)
        one, final = _least(_projections(case, 1), _product(case.points))
        print(f"| {n} | {1e6 * one:.2f} | {1e3 * final:.2f} |", flush=True)
    case = _Case(200, 1000, 1000)
    one, blocked = _least(_projections(case, 1), _projections(case, _BLOCK))
    print(f"\nat rank 200, blocks of {_BLOCK} take {1e6 * blocked:.2f} us a projection, one by one")
    print(f"{1e6 * one:.2f} us: {one / blocked:.2f} times as long")
    seconds, evaluations = _von_neumann(100)
    print(
        f"\nvon Neumann at rank 100: {1e6 * seconds:.0f} us, {evaluations:.2f} evaluations of t each"
    )


class _Case:
    """Random pairs, each asked for a distance of its own, so that every projection does something."""

    def __init__(self, r: int, n: int, c: int) -> None:
        from gramlearn.constraints import SquaredDistances
        from gramlearn.losses import Hard

        from gramlearn import LogDet, Problem, Term
        from gramlearn.solvers.projections.constraint_table import table_of

        rng = np.random.default_rng(0)
        self.points = rng.standard_normal((n, r)) / (2 * r) ** 0.5
        i, j = rng.integers(0, n // 2, c), rng.integers(n // 2, n, c)
        pairs = SquaredDistances(i, j, points=self.points)
        term = Term(pairs, Hard(equal=rng.uniform(0.9, 1.1, c)))
        self.dual = Problem(LogDet(), np.eye(r), [term]).dual
        self.table = table_of(self.dual)
        self.size = c


def _least(*turns: Callable[[], float]) -> list[float]:
    """The least of what each returns, one after the other, again and again."""
    return np.min([[turn() for turn in turns] for _ in range(_TURNS)], axis=0).tolist()


def _projections(case: _Case, block: int) -> Callable[[], float]:
    """Seconds a projection."""
    from gramlearn.solvers.projections.forms import FORMS_OF_X

    order, counts = np.arange(case.size), np.zeros(2, dtype=np.int64)

    def turn() -> float:
        lam = np.zeros(case.size)
        X = FORMS_OF_X["inverse"](case.dual.at(lam).conjugate, block, False)
        began = time.perf_counter()
        X.run(order, case.table, lam, counts)
        return (time.perf_counter() - began) / case.size

    return turn


def _product(points: np.ndarray) -> Callable[[], float]:
    def turn() -> float:
        began = time.perf_counter()
        points @ np.ones((points.shape[1], points.shape[1]))
        return time.perf_counter() - began

    return turn


def _blas(r: int) -> Callable[[], float]:
    """Seconds of a symmetric matrix-vector product and a symmetric rank-one update, in a compiled loop."""
    import numba
    from numba.extending import get_cython_function_address
    from threadpoolctl import threadpool_limits

    pointer = ctypes.c_void_p
    symv = ctypes.CFUNCTYPE(None, *[pointer] * 10)(
        get_cython_function_address("scipy.linalg.cython_blas", "dsymv")
    )
    syr = ctypes.CFUNCTYPE(None, *[pointer] * 7)(
        get_cython_function_address("scipy.linalg.cython_blas", "dsyr")
    )
    A, x, y = np.eye(r), np.full(r, 1e-3), np.zeros(r)
    one, zero = np.ones(1), np.zeros(1)
    tiny, size, step = np.full(1, 1e-12), np.full(1, r, np.int32), np.ones(1, np.int32)
    lower = np.frombuffer(b"L", dtype=np.uint8).copy()

    @numba.njit
    def loop(count, lower, size, one, zero, tiny, step, A, x, y):  # type: ignore[no-untyped-def]
        for _ in range(count):
            symv(
                lower.ctypes, size.ctypes, one.ctypes, A.ctypes, size.ctypes, x.ctypes,
                step.ctypes, zero.ctypes, y.ctypes, step.ctypes,
            )  # fmt: skip
            syr(
                lower.ctypes, size.ctypes, tiny.ctypes, x.ctypes, step.ctypes, A.ctypes, size.ctypes,
            )  # fmt: skip

    count = max(50, 40_000 // r)
    arguments = (lower, size, one, zero, tiny, step, A, x, y)
    loop(1, *arguments)

    def turn() -> float:
        with threadpool_limits(1):
            began = time.perf_counter()
            loop(count, *arguments)
            return (time.perf_counter() - began) / count

    return turn


def _von_neumann(r: int) -> tuple[float, float]:
    from gramlearn.constraints import SquaredDistances
    from gramlearn.losses import KLSlack

    from gramlearn import Problem, Term, VonNeumann
    from gramlearn.solvers.projections.constraint_table import table_of
    from gramlearn.solvers.projections.forms import FORMS_OF_X

    rng = np.random.default_rng(0)
    points = rng.standard_normal((1000, r)) / (2 * r) ** 0.5
    i, j = rng.integers(0, 500, 500), rng.integers(500, 1000, 500)
    term = Term(SquaredDistances(i, j, points=points), KLSlack(equal=rng.uniform(0.5, 2.0, 500)))
    dual = Problem(VonNeumann(), np.eye(r), [term]).dual
    table, counts = table_of(dual), np.zeros(2, dtype=np.int64)
    lam = np.zeros(500)
    X = FORMS_OF_X["exponential"](dual.at(lam).conjugate, 1, False)
    X.run(np.arange(5), table, lam, counts)
    counts[:] = 0
    began = time.perf_counter()
    X.run(np.arange(5, 500), table, lam, counts)
    return (time.perf_counter() - began) / 495, float(counts[0] / max(counts[1], 1))


if __name__ == "__main__":
    main()
