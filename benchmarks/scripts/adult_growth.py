"""How learning a nonparametric kernel grows with the points (Z11 7.3), and what 50,000 points take.

    GRAMLEARN_DATA=folder OMP_NUM_THREADS=1 python -m benchmarks.scripts.adult_growth
    OMP_NUM_THREADS=1 python -m benchmarks.scripts.adult_growth --against-scs

Adult a1a to a5a as in the paper: 50 mutual neighbors, B = n, C = 1, random pairs until the components that
must-link pairs join are 70 % of n. Seconds are those of the processor, for solves alone: graphs and pairs are
made before. The automatic rank takes as many eigenvectors as are positive, and these grow with n; a given rank
does not. The second part measures the peak of memory in a process of its own. With --against-scs: squared hinge
at n = 2000, whose K is a factor times its transpose, so positive semidefinite, and at n = 500 beside SCS.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from gramlearn import Pairs
from gramlearn.graphs import laplacian, neighbor_graph
from gramlearn.methods.nonparametric.problem import solve_nonparametric

__all__ = ["main"]

_SETS = ("adult_a1a", "adult_a2a", "adult_a3a", "adult_a4a", "adult_a5a")
_TOL = 1e-4
_RANK = 20
_POINTS, _PAIRS = 50_000, 100_000


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--against-scs", action="store_true", help="n = 2000, and n = 500 beside SCS"
    )
    parser.add_argument(
        "--rank", type=int, default=_RANK, help="the given rank (default: %(default)s)"
    )
    parser.add_argument("--sets", nargs="+", default=_SETS, help="of the data folder")
    parser.add_argument("--many", choices=["linear", "squared_hinge"], help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.many:
        print(json.dumps(_many_points(chosen.many, chosen.rank)))
    elif chosen.against_scs:
        _against_scs()
    else:
        _growth(chosen.sets, chosen.rank)
        _memory(chosen.rank)


def _growth(names: list[str], rank: int) -> None:
    rows = []
    print("| set | points | pairs | linear, s | rank | squared hinge, s | rank | ratio | ", end="")
    print(f"linear of rank {rank}, s | squared hinge, s |\n" + "|---" * 10 + "|")
    for name in names:
        L, pairs = _adult(name)
        n = int(L.shape[0])
        linear = _timed(L, pairs, "linear", "auto")
        squared = _timed(L, pairs, "squared_hinge", "auto")
        few = [_timed(L, pairs, loss, rank)[0] for loss in ("linear", "squared_hinge")]
        rows.append((n, linear[0], squared[0], *few))
        print(
            f"| {name} | {n} | {pairs.size} | {linear[0]:.2f} | {linear[1]} | {squared[0]:.2f} | "
            f"{squared[1]} | {squared[0] / linear[0]:.1f} | {few[0]:.2f} | {few[1]:.2f} |",
            flush=True,
        )
    if len(rows) > 1:
        columns = np.log(np.array(rows))
        powers = [np.polyfit(columns[:, 0], columns[:, k], 1)[0] for k in range(1, 5)]
        print(
            "\ntime grows as n to the power of: linear {:.2f}, squared hinge {:.2f}; ".format(
                *powers
            ),
            end="",
        )
        print("of rank {}: linear {:.2f}, squared hinge {:.2f}\n".format(rank, *powers[2:]))


def _adult(name: str) -> tuple[Any, Pairs]:
    with np.load(os.path.join(os.environ["GRAMLEARN_DATA"], f"{name}.npz")) as data:
        X, y = np.asarray(data["X"], dtype=float), np.asarray(data["y"])
    return laplacian(neighbor_graph(X, 50, join="mutual")), _until_joined(
        y, 0.7, np.random.default_rng(0)
    )


def _until_joined(y: np.ndarray, share: float, rng: np.random.Generator) -> Pairs:
    """Random pairs, until must-link pairs leave this share of n components."""
    n = len(y)
    parent = list(range(n))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    components, seen = n, {True: [], False: []}
    while components > share * n:
        i, j = sorted(rng.integers(n, size=2).tolist())
        if i == j:
            continue
        seen[bool(y[i] == y[j])].append((i, j))
        if y[i] == y[j] and root(i) != root(j):
            parent[root(i)] = root(j)
            components -= 1
    alike, unlike = (np.unique(np.array(seen[same]), axis=0) for same in (True, False))
    return Pairs(alike, unlike, n_points=n)


def _timed(L: Any, pairs: Pairs, loss: str, rank: int | str) -> tuple[float, int]:
    """The least of two times, and the rank."""
    seconds = []
    for _ in range(2):
        began = time.process_time()
        answer = solve_nonparametric(
            L, pairs, loss=loss, capacity=float(L.shape[0]), tol=_TOL, rank=rank
        )
        seconds.append(time.process_time() - began)
    assert answer.relative_gap <= _TOL
    return min(seconds), answer.factor.shape[1]


def _memory(rank: int) -> None:
    print(f"{_POINTS} points, {_PAIRS} pairs, rank {rank}, each in a process of its own:\n")
    print(
        "| loss | seconds | with the graph | relative gap | peak memory, GiB |\n|---|---|---|---|---|"
    )
    for loss in ("linear", "squared_hinge"):
        command = [
            sys.executable,
            "-m",
            "benchmarks.scripts.adult_growth",
            "--many",
            loss,
            "--rank",
            str(rank),
        ]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(out)
        print(
            f"| {loss} | {found['seconds']:.1f} | {found['in_all']:.1f} | {found['gap']:.1e} | "
            f"{found['peak']:.2f} |",
            flush=True,
        )


def _many_points(loss: str, rank: int) -> dict[str, float]:
    """A mixture of ten Gaussians in 20 dimensions, 10 mutual neighbors, and random pairs."""
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=_POINTS)
    X = 3 * rng.standard_normal((10, 20))[y] + rng.standard_normal((_POINTS, 20))
    start = time.process_time()
    L = laplacian(neighbor_graph(X, 10, join="mutual"))
    pairs = rng.integers(_POINTS, size=(2 * _PAIRS, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = rng.permutation(pairs)[:_PAIRS]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    known = Pairs(pairs[same], pairs[~same], n_points=_POINTS)
    began = time.process_time()
    answer = solve_nonparametric(L, known, loss=loss, capacity=float(_POINTS), tol=1e-3, rank=rank)
    ended = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "seconds": ended - began,
        "in_all": ended - start,
        "gap": answer.relative_gap,
        "peak": peak,
    }


def _against_scs() -> None:
    import cvxpy

    print(
        "| points | pairs | solver | seconds | value | relative gap | least eigenvalue |\n"
        + "|---" * 7
        + "|"
    )
    for n in (500, 2000):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=n)
        X = 2 * rng.standard_normal((2, 10))[y] + rng.standard_normal((n, 10))
        L, known = laplacian(neighbor_graph(X, 10, join="either")), _until_joined(y, 0.7, rng)
        began = time.process_time()
        answer = solve_nonparametric(L, known, capacity=float(n), tol=_TOL)
        seconds = time.process_time() - began
        line = f"{seconds:.2f} | {answer.value:.6g} | {answer.relative_gap:.1e} | 0, a factor |"
        print(f"| {n} | {known.size} | gramlearn | {line}", flush=True)
        if n > 500:
            continue
        K = cvxpy.Variable((n, n), PSD=True)
        margins = [
            sign * K[np.asarray(table)[:, 0], np.asarray(table)[:, 1]]
            for table, sign in ((known.similar, 1), (known.dissimilar, -1))
        ]
        short = cvxpy.pos(1 - cvxpy.hstack(margins))
        objective = cvxpy.sum(cvxpy.multiply(L.toarray(), K)) + cvxpy.sum_squares(short) / 2
        model = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.norm(K, "fro") <= n**0.5])
        began = time.process_time()
        model.solve(solver=cvxpy.SCS, eps_rel=_TOL, eps_abs=_TOL)
        seconds = time.process_time() - began
        least = np.linalg.eigvalsh(K.value)[0]
        off = abs(model.value - answer.value) / abs(answer.value)
        print(
            f"| {n} | {known.size} | SCS | {seconds:.2f} | {model.value:.6g} | {off:.1e} off | {least:.1e} |"
        )


if __name__ == "__main__":
    main()
