"""A metric of a billion pairs in a file, over a million points: seconds to read, seconds in all, memory, gap.

    python -m benchmarks.scripts.pairs_from_disk --library numpy
    python -m benchmarks.scripts.pairs_from_disk --pairs 50000000 --memory --library numpy --workers 1 2
    python -m benchmarks.scripts.pairs_from_disk --pairs 50000000 --library torch:cuda --workers 2 --gpus

The synthetic points of `python -m benchmarks run`, and pairs of which half are of one class, in a Parquet file
of row groups of a million rows, written beforehand. `MetricLearner` then learns from the file, at bounds that
are percentiles of distances, with the loss of its divergence and a relative gap of 1e-6. "Read" is the time
that one pass of reading takes alone, "passes" how often a pair was read, "reading" the seconds that threads
spent with that beside the work. "Above X" is the peak of the process during the fit, less what it had
before, with the points in memory; of workers it is the largest peak, points included. With `--memory` all
pairs are read before the clock starts. With `--workers` the fit is done by so many processes of a Dask cluster
on this machine, one thread each.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.data import make_generator
from benchmarks.data._draw import Draw
from benchmarks.data._pairs import draw_pairs, find_bounds
from benchmarks.data.synthetic import points as synthetic_points
from benchmarks.instance import LIBRARIES, Spec
from gramlearn import MetricLearner
from gramlearn.side_information import Pairs, StoredPairs
from gramlearn.side_information.stored import StoredStatements

__all__ = ["main"]

_GROUP = 1 << 20  # rows of a row group
_PIECE = 4 * _GROUP  # pairs drawn at a time


def main() -> None:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10**9)
    parser.add_argument("--points", type=int, default=10**6)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--loss", default="slack", help="of MetricLearner; default: slack")
    parser.add_argument("--price", type=float, default=1.0, help="C; default: 1")
    parser.add_argument("--memory-limit", default="4GB", help="default: 4GB")
    parser.add_argument("--memory", action="store_true", help="also with all pairs in memory")
    parser.add_argument("--library", choices=LIBRARIES, help="of the points, in this process")
    parser.add_argument("--workers", type=int, nargs="*", default=[], help="of a cluster here")
    parser.add_argument("--gpus", action="store_true", help="whether the workers share the GPU")
    parser.add_argument("--folder", type=Path, help="where the file is written")
    given = parser.parse_args()
    spec = Spec("synthetic", n=given.points, r=given.features, c=given.pairs)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "pairs.parquet"
        began = time.perf_counter()
        points, bounds = write(spec, path)
        size = path.stat().st_size / 1e9
        print(f"written in {time.perf_counter() - began:.0f} s, {size:.2f} GB", flush=True)
        side = Pairs.from_parquet(path, n_points=spec.n)
        learner = MetricLearner(
            C=given.price, loss=given.loss, bounds=bounds, memory_limit=given.memory_limit
        )
        print(f"forecast: {learner.forecast(points, side)}", flush=True)
        print(f"read: {_read_all(side):.1f} s for one pass", flush=True)
        print(
            "| where | seconds | passes | reading | iterations | relative gap | moved | above X, GB |"
        )
        print("|---" * 8 + "|")
        if given.memory:
            whole = clone(learner).set_params(memory_limit=None)
            print(f"| memory | {_row(whole, points, side.read())} |", flush=True)
        if given.library:
            X = _brought(points, given.library)
            print(f"| {given.library} | {_row(learner, X, side)} |", flush=True)
        for count in given.workers:
            with _cluster(count, given.gpus) as client:
                row = _row(learner, points, side, client=client)
                print(f"| {count} workers | {row} |", flush=True)


def write(spec: Spec, path: Path) -> tuple[np.ndarray, tuple[float, float]]:
    """Write the pairs, and give the points and the bounds."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    draw = make_generator("numpy", spec.seed)
    points, y = synthetic_points(spec, draw)
    kinds = {name: pyarrow.int32() for name in "ij"} | {"alike": pyarrow.bool_()}
    with ParquetWriter(path, pyarrow.schema(kinds), compression="none") as writer:
        for start in range(0, spec.c, _PIECE):
            size = min(_PIECE, spec.c - start)
            i, j, alike = _mixed(y, size, draw)
            columns = {"i": i.astype(np.int32), "j": j.astype(np.int32), "alike": alike}
            writer.write_table(pyarrow.table(columns), row_group_size=_GROUP)
    return points, find_bounds(points, draw)


def _mixed(y: np.ndarray, size: int, draw: Draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every second one is alike."""
    i, j = draw_pairs(y, size // 2, size, draw)
    order = np.argsort(
        np.concatenate([np.arange(0, 2 * (size // 2), 2), np.arange(1, size + 1, 2)])[:size]
    )
    return i[order], j[order], order < size // 2


def _brought(points: np.ndarray, library: str) -> Any:
    if library == "numpy":
        return points
    import torch

    return torch.from_numpy(points).to(library.removeprefix("torch:"))


def _read_all(side: StoredPairs) -> float:
    """Seconds to read all chunks, one after another."""
    began = time.perf_counter()
    for chunk in range(side.n_chunks):
        side.statements(chunk)
    return time.perf_counter() - began


def _row(learner: MetricLearner, X: Any, side: Any, client: Any = None) -> str:
    where = {} if client is None else {"client": client}
    before, reads = _begin_peak(), _Reads()
    with reads.counted():
        began = time.perf_counter()
        learner.fit(X, side=side, **where)
        seconds = time.perf_counter() - began
    above = _peak() - before
    if client is not None:
        above = max(client.run(_peak).values())
    moved = getattr(learner, "bytes_moved_", 0) / learner.n_iter_ / 1e6
    solution = learner.solution_
    return (
        f"{seconds:.1f} | {reads.rows / side.size:.2f} | {reads.seconds:.1f} | {learner.n_iter_} | "
        f"{solution.relative_gap:.1e} | {moved:.3f} MB an iteration | {above:.2f}"
    )


def _begin_peak() -> float:
    """Forget the peak of this process's memory so far, and give what it has now, in GB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    """The peak of this process's memory, in GB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "VmHWM":
            return int(value.split()[0]) * 1024 / 1e9
    raise OSError("/proc/self/status does not tell VmHWM, which this script needs")


class _Reads:
    """How many statements were read in this process, and the seconds that threads spent with it."""

    def __init__(self) -> None:
        self.rows, self.seconds = 0, 0.0
        self._lock = threading.Lock()

    @contextmanager
    def counted(self) -> Iterator[None]:
        plain = StoredStatements.statements

        def statements(stored: StoredStatements, chunk: int) -> Any:
            began = time.perf_counter()
            found = plain(stored, chunk)
            with self._lock:
                self.rows += found.size
                self.seconds += time.perf_counter() - began
            return found

        StoredStatements.statements = statements  # type: ignore[method-assign]
        try:
            yield
        finally:
            StoredStatements.statements = plain  # type: ignore[method-assign]


@contextmanager
def _cluster(count: int, gpus: bool) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": count, "threads_per_worker": 1}
    if gpus:
        options["resources"] = {"GPU": 1}
    with LocalCluster(dashboard_address=None, **options) as cluster, Client(cluster) as client:
        # Libraries load, and kernels compile, before the clock starts.
        X = np.random.default_rng(0).standard_normal((1000, 8))
        pairs = Pairs(np.arange(1000).reshape(-1, 2), n_points=1000)
        MetricLearner(C=1.0, bounds=(1.0, 2.0)).fit(X, side=pairs, client=client)
        yield client


if __name__ == "__main__":
    main()
