"""Pairs on a disk, points in memory or on a GPU: seconds of reading and of solving apart, and memory.

    python -m benchmarks.scripts.streamed_pairs --pairs 1000000000 --library torch:cuda
    python -m benchmarks.scripts.streamed_pairs --pairs 1000000 --points 60000 --rank 100

The instance of `python -m benchmarks.scripts.billion_pairs`, written to files first: two lists of .npy, or
`--form parquet`, row groups of a million pairs, not compressed. The first pass reads all pairs and keeps as
many as fit into `--limit` bytes beside the points; with a limit, every further pass over all pairs reads the
others anew, in the background. "read" says how many pairs were read, in passes over all of them, and "readers"
for how many seconds the threads that read were busy, copies to a GPU left out.
"""

import argparse
import os
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants._ours import solve_quietly
from benchmarks.instance import LIBRARIES, Instance, Spec
from benchmarks.scripts.billion_pairs import Memory, make_large

__all__ = ["main"]

_GROUP = 1 << 20  # rows of a row group
_FILES = 8  # of Parquet, written at once


def main() -> None:
    """Print a row for each limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10**9, help="default: 1000000000")
    parser.add_argument("--points", type=int, default=10**6, help="default: 1000000")
    parser.add_argument("--rank", type=int, default=256, help="default: 256")
    parser.add_argument("--regularizer", default="LogDet", help="default: LogDet")
    parser.add_argument("--loss", default="LogDetSlack", help="default: LogDetSlack")
    parser.add_argument("--price", type=float, default=1.0, help="default: 1")
    parser.add_argument("--library", choices=LIBRARIES[1:], default="torch:cpu")
    parser.add_argument("--form", choices=("npy", "parquet"), nargs="+", default=["npy"])
    parser.add_argument("--chunk-rows", type=int, nargs="+", help="default: those of the files")
    parser.add_argument("--limit", type=float, nargs="+", default=[float("inf")], help="bytes")
    parser.add_argument(
        "--cold", action="store_true", help="read from the disk, not from its cache"
    )
    parser.add_argument("--learner", type=float, metavar="C", help="fit MetricLearner(C) as well")
    parser.add_argument("--profile", action="store_true", help="seconds of each solve by question")
    parser.add_argument(
        "--folder", type=Path, help="where files are written for as long as it runs"
    )
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
    instance = make_large(spec)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        opened = []
        for form in options.form:
            began = time.perf_counter()
            opened.append((form, _WRITERS[form](instance, Path(name))))
            print(f"written to {form} in {time.perf_counter() - began:.1f} s", flush=True)
        none = instance.xp.zeros(0)  # a slice would hold the whole
        instance = replace(instance, i=none, j=none)
        print(
            "| form | rows a chunk | limit, GB | reading, s | solving, s | read, passes | readers, s |"
            " points, GB | peak, GB | relative gap | value | iterations | status |\n"
            + "|---" * 13
            + "|"
        )
        for form, stored in opened:
            for rows in options.chunk_rows or [None]:
                chunked = stored if rows is None else stored.in_chunks_of(rows)
                for limit in options.limit:
                    if options.cold:
                        _forget(Path(name))
                    words = f"{form} | {rows or 'as they are'} | {limit / 1e9:.3g}"
                    row, asked = measure(instance, chunked, limit)
                    print(f"| {words} | {row} |", flush=True)
                    if options.profile:
                        print(asked, flush=True)
        if options.learner:
            for form, stored in opened:
                print(f"| {form} | {_fit(instance, stored, options.learner)} |", flush=True)


def measure(instance: Instance, stored: Any, limit: float) -> tuple[str, str]:
    """A row of the table, and how often each question was asked and how many seconds the answers took."""
    import gramlearn as gl
    from gramlearn._base.workers import Here
    from gramlearn.solvers.shards import PoolOfShards, Recovering, Site, Source

    spec, like = instance.spec, instance.points
    statements = Timed(stored)
    with Memory(instance) as memory, Here(limit) as crew:
        began = time.perf_counter()
        eye = instance.xp.eye(spec.r, dtype=like.dtype, device=like.device)
        bare = gl.Problem(getattr(gl, spec.regularizer)(), eye)
        bounds = (instance.upper, instance.lower)
        loss = getattr(gl.losses, spec.loss)(spec.price)
        source = Source(bare.dual, bare.space.spectrum, statements, loss, bounds)
        try:
            crew.place(partial(Site, source), source.sizes, like)
        except ValueError as error:
            return str(error), ""
        problem = bare.with_pool(PoolOfShards(crew, bare.dual))
        memory.wait()
        middle = time.perf_counter()
        asked = _Asked(crew)
        solution = solve_quietly(problem, Recovering(), tol=1e-6)
        memory.wait()
        ended = time.perf_counter()
    passes = statements.rows_read / stored.size
    row = (
        f"{middle - began:.2f} | {ended - middle:.2f} | {passes:.2f} | {statements.seconds:.1f} | "
        f"{memory.at_first / 1e9:.1f} | {memory.peak / 1e9:.1f} | {solution.relative_gap:.1e} | "
        f"{solution.primal:.12g} | {solution.iterations} | {solution.status.name}"
    )
    return row, str(asked)


def _fit(instance: Instance, stored: Any, C: float) -> str:
    """What a user calls, from opened files to a metric: seconds in all, and those of the last solve."""
    import gramlearn as gl

    with Memory(instance) as memory:
        began = time.perf_counter()
        fitted = gl.MetricLearner(C=C, random_state=0).fit(instance.points, side=stored)
        memory.wait()
        seconds = time.perf_counter() - began
    solution = fitted.solution_
    return (
        f"{fitted!r} | {seconds:.2f} | {solution.seconds:.2f} | {memory.peak / 1e9:.1f} | "
        f"{solution.relative_gap:.1e} | {solution.iterations} | {solution.status.name}"
    )


def _forget(folder: Path) -> None:
    """Ask the system to drop the files in a folder from its cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


class _Asked:
    """Questions to a crew from here on, timed."""

    def __init__(self, crew: Any) -> None:
        self._answer = crew.map
        self._seconds: defaultdict[str, list[float]] = defaultdict(list)
        crew.map = self._timed

    def _timed(self, question: str, *args: Any) -> Any:
        began = time.perf_counter()
        answers = self._answer(question, *args)
        self._seconds[args[1]].append(time.perf_counter() - began)
        return answers

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {len(s)} times {sum(s):.2f} s" for name, s in self._seconds.items()
        )


class Timed:
    """Statements that count what is read of them, and for how long."""

    def __init__(self, statements: Any) -> None:
        self._statements = statements
        self._lock = threading.Lock()
        self.rows_read, self.seconds = 0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._statements, name)

    def indexed_terms(self, chunk: int, loss: Any, bounds: Any = None) -> Any:
        """Those of a chunk, timed."""
        began = time.perf_counter()
        terms = self._statements.indexed_terms(chunk, loss, bounds)
        with self._lock:
            self.seconds += time.perf_counter() - began
            self.rows_read += sum(term.size for term in terms)
        return terms


def _write_arrays(instance: Instance, folder: Path) -> Any:
    """similar.npy and dissimilar.npy."""
    from gramlearn import Pairs

    paths, total = {}, int(instance.i.shape[0])
    for side, rows in (
        ("similar", slice(0, instance.alike)),
        ("dissimilar", slice(instance.alike, total)),
    ):
        paths[side] = folder / f"{side}.npy"
        shape = (rows.stop - rows.start, 2)
        array = np.lib.format.open_memmap(paths[side], "w+", np.int32, shape)
        starts = range(0, shape[0], 16 * _GROUP)
        with ThreadPoolExecutor(_FILES) as threads:
            list(threads.map(partial(_copy, instance, rows, array), starts))
        array.flush()
    return Pairs.from_npy(**paths, n_points=instance.spec.n)


def _copy(instance: Instance, rows: slice, array: np.ndarray, start: int) -> None:
    some = slice(start, min(start + 16 * _GROUP, len(array)))
    for k, column in enumerate((instance.i, instance.j)):
        array[some, k] = column[rows][some].cpu().numpy()


def _write_parquet(instance: Instance, folder: Path) -> Any:
    """Files with the columns i, j and alike; each row group has pairs of both kinds."""
    from gramlearn import Pairs

    folder = folder / "parquet"
    folder.mkdir()
    total = int(instance.i.shape[0])
    groups = -(-total // _GROUP)
    files = [range(groups * k // _FILES, groups * (k + 1) // _FILES) for k in range(_FILES)]
    with ThreadPoolExecutor(_FILES) as threads:
        list(threads.map(partial(_write_file, instance, folder, groups), range(_FILES), files))
    return Pairs.from_parquet(folder, n_points=instance.spec.n)


def _write_file(instance: Instance, folder: Path, of: int, number: int, groups: range) -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    if not groups:
        return
    total, alike = int(instance.i.shape[0]), instance.alike
    schema = arrow.schema({"i": arrow.int32(), "j": arrow.int32(), "alike": arrow.bool_()})
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    with parquet.ParquetWriter(folder / f"{number}.parquet", schema, **options) as writer:
        for group in groups:
            near = slice(alike * group // of, alike * (group + 1) // of)
            others = total - alike
            far = slice(alike + others * group // of, alike + others * (group + 1) // of)
            i, j = (
                np.concatenate([x[near].cpu().numpy(), x[far].cpu().numpy()])
                for x in (instance.i, instance.j)
            )
            mask = np.arange(len(i)) < near.stop - near.start
            writer.write_table(arrow.table([i, j, mask], schema=schema), row_group_size=2 * _GROUP)


_WRITERS = {"npy": _write_arrays, "parquet": _write_parquet}


if __name__ == "__main__":
    main()
