"""A billion pairs of a million points on one GPU: seconds, memory and certificate of `solve`.

    python -m benchmarks.scripts.billion_pairs
    python -m benchmarks.scripts.billion_pairs --pairs 1000000 --points 60000 --rank 100 --library torch:cpu

The synthetic instance of `python -m benchmarks run`, float64, with row numbers of 32 bits, made on the device
in pieces, so that nothing is larger than the pairs themselves. The clock starts before the problem is stated.
The peak is that of the whole solve, the points and the pairs included; "input" says what these take.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.contestants._ours import make_problem, solve_quietly
from benchmarks.data import make_generator
from benchmarks.data._pairs import draw_pairs, find_bounds
from benchmarks.data.synthetic import points as synthetic_points
from benchmarks.instance import LIBRARIES, Instance, Spec

__all__ = ["main", "make_large"]

_PIECE = 20_000_000  # pairs drawn at a time
_GIB = 2.0**30


def main() -> None:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10**9, help="default: 1000000000")
    parser.add_argument("--points", type=int, default=10**6, help="default: 1000000")
    parser.add_argument("--rank", type=int, default=256, help="default: 256")
    parser.add_argument("--regularizer", default="LogDet", help="default: LogDet")
    parser.add_argument("--loss", default="LogDetSlack", help="default: LogDetSlack")
    parser.add_argument("--price", type=float, default=1.0, help="default: 1")
    parser.add_argument("--bits", type=int, choices=(32, 64), default=32, help="of row numbers")
    parser.add_argument("--library", choices=LIBRARIES[1:], default="torch:cuda")
    parser.add_argument("--runs", type=int, default=3, help="default: 3")
    options = parser.parse_args()
    spec = Spec(
        "synthetic",
        n=options.points,
        r=options.rank,
        c=options.pairs,
        regularizer=options.regularizer,
        loss=options.loss,
        price=options.price,
        library=options.library,
    )
    # Libraries load, and kernels compile, at the first solve.
    solve_quietly(make_problem(make_large(replace(spec, c=min(spec.c, _PIECE)), options.bits)))
    instance = make_large(spec, options.bits)
    print(
        "| run | seconds | input, GiB | peak, GiB | relative gap | value | iterations | status |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for run in range(options.runs):
        print(f"| {run + 1} | {_row(instance)} |", flush=True)


def _row(instance: Instance) -> str:
    torch, is_on_gpu = instance.xp, instance.spec.is_on_gpu
    memory = 0.0
    if is_on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        memory = torch.cuda.memory_allocated() / _GIB
        torch.cuda.synchronize()
    began = time.perf_counter()
    solution = solve_quietly(make_problem(instance), tol=1e-6)
    peak = 0.0
    if is_on_gpu:
        torch.cuda.synchronize()
        peak = torch.cuda.max_memory_allocated() / _GIB
    seconds = time.perf_counter() - began
    return (
        f"{seconds:.2f} | {memory:.1f} | {peak:.1f} | {solution.relative_gap:.1e} | {solution.primal:.12g} | "
        f"{solution.iterations} | {solution.status.name}"
    )


def make_large(spec: Spec, bits: int = 32) -> Instance:
    """Draw the instance in pieces: the points, half of the pairs alike, and the bounds."""
    draw = make_generator(spec.library, spec.seed)
    points, y = synthetic_points(spec, draw)
    torch, alike = draw.xp, spec.c // 2
    dtype = torch.int32 if bits == 32 else torch.int64
    i, j = (torch.empty(spec.c, dtype=dtype, device=points.device) for _ in range(2))
    for rows, of_one_class in _pieces(alike, spec.c):
        size = rows.stop - rows.start
        i[rows], j[rows] = draw_pairs(y, size if of_one_class else 0, size, draw)
    upper, lower = find_bounds(points, draw)
    return Instance(spec, points, i, j, alike, upper, lower)


def _pieces(alike: int, total: int) -> Iterator[tuple[slice, bool]]:
    for first, last, of_one_class in ((0, alike, True), (alike, total, False)):
        for start in range(first, last, _PIECE):
            yield slice(start, min(start + _PIECE, last)), of_one_class


if __name__ == "__main__":
    main()
