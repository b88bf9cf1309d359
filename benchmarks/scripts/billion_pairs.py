"""A billion pairs of a million points on one GPU: seconds, memory and certificate of `solve`.

    python -m benchmarks.scripts.billion_pairs
    python -m benchmarks.scripts.billion_pairs --pairs 1000000 --points 60000 --rank 100 --library torch:cpu

The synthetic instance of `python -m benchmarks run`, float64, with row numbers of 32 bits, made on the device
in pieces, so that nothing is larger than the pairs themselves. The clock starts before the problem is stated.
The peak is that of the whole solve, the points and the pairs included; "input" says what these take, and
"reserved" what PyTorch has taken of the device; "looks" is how often a pair was looked at, on average. A scan
alone is timed, too, against the bytes that it moves: two rows in single precision, two row numbers and the
result for each pair. `--profile` adds one more solve, and what it spent its time with.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from benchmarks.contestants._ours import make_problem, solve_quietly
from benchmarks.data import make_generator
from benchmarks.data._pairs import draw_pairs, find_bounds
from benchmarks.data.synthetic import points as synthetic_points
from benchmarks.instance import LIBRARIES, Instance, Spec
from gramlearn._base.arrays import in_single
from gramlearn._base.pair_norms import pair_squared_norms
from gramlearn.problem.linear_maps import points as point_maps

__all__ = ["Memory", "main", "make_large", "print_profile"]

_PIECE = 20_000_000  # pairs drawn at a time


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
    parser.add_argument("--profile", action="store_true", help="what one more solve does")
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
        "| run | seconds | input, GB | peak, GB | reserved, GB | relative gap | value | iterations | looks |"
        " status |\n" + "|---" * 10 + "|"
    )
    for run in range(options.runs):
        print(f"| {run + 1} | {_row(instance)} |", flush=True)
    _print_scan(instance)
    if options.profile:
        print_profile(instance, lambda: solve_quietly(make_problem(instance), tol=1e-6))


def _row(instance: Instance) -> str:
    looks = _Looks()
    with Memory(instance) as memory, looks:
        began = time.perf_counter()
        solution = solve_quietly(make_problem(instance), tol=1e-6)
        memory.wait()
        seconds = time.perf_counter() - began
    return (
        f"{seconds:.2f} | {memory.at_first / 1e9:.1f} | {memory.peak / 1e9:.1f} | "
        f"{memory.reserved / 1e9:.1f} | "
        f"{solution.relative_gap:.1e} | {solution.primal:.12g} | {solution.iterations} | "
        f"{looks.rows / instance.spec.c:.2f} | {solution.status.name}"
    )


class Memory:
    """What a solve takes on the GPU, in bytes; nothing where there is none."""

    def __init__(self, instance: Instance) -> None:
        self._cuda = instance.xp.cuda if instance.spec.is_on_gpu else None
        self.at_first = self.peak = self.reserved = 0

    def __enter__(self) -> "Memory":
        if self._cuda is not None:
            self._cuda.empty_cache()
            self._cuda.reset_peak_memory_stats()
            self.at_first = self._cuda.memory_allocated()
        self.wait()
        return self

    def wait(self) -> None:
        """Until all is done that the GPU was asked for."""
        if self._cuda is not None:
            self._cuda.synchronize()

    def __exit__(self, *error: object) -> None:
        if self._cuda is not None:
            self.peak = self._cuda.max_memory_allocated()
            self.reserved = self._cuda.max_memory_reserved()


class _Looks:
    """How many squared norms of pairs were computed, in all scans together."""

    def __init__(self) -> None:
        self.rows = 0

    def __enter__(self) -> "_Looks":
        self._plain = point_maps.pair_squared_norms

        def counted(table: Any, i: Any, *args: Any) -> Any:
            self.rows += int(i.shape[0])
            return self._plain(table, i, *args)

        point_maps.pair_squared_norms = counted  # type: ignore[assignment]
        return self

    def __exit__(self, *error: object) -> None:
        point_maps.pair_squared_norms = self._plain


def _print_scan(instance: Instance) -> None:
    """A scan of all pairs in single precision, as the first look of a solve makes it."""
    table = in_single(instance.points)
    with Memory(instance) as memory:
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            found = pair_squared_norms(table, instance.i, instance.j, -1)
            memory.wait()
            seconds.append(time.perf_counter() - began)
    moved = sum(x.element_size() for x in (instance.i, instance.j, found))
    moved = (moved + 2 * 4 * int(table.shape[1])) * instance.spec.c
    best = min(seconds)
    print(
        f"a scan: {best:.3f} s, {moved / 1e12:.2f} TB, {moved / best / 1e12:.2f} TB/s", flush=True
    )


def print_profile(instance: Instance, function: Callable[[], object]) -> None:
    """What a call spends its time with, by the operations of PyTorch."""
    from torch.profiler import ProfilerActivity, profile

    kinds = [ProfilerActivity.CPU]
    if instance.spec.is_on_gpu:
        kinds.append(ProfilerActivity.CUDA)
    with profile(activities=kinds) as found:
        function()
    order = "self_device_time_total" if instance.spec.is_on_gpu else "self_cpu_time_total"
    print(found.key_averages().table(sort_by=order, row_limit=25, max_name_column_width=60))


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
