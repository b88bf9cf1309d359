"""Pairs a second that are read from a disk, as the terms that a solve over chunks takes.

    python -m benchmarks.scripts.reading_pairs [--pairs 50000000] [--points 1000000] [--folder DIR]

Each form is written, then read twice, chunk by chunk. The second pass is reported, with the file in the cache
of the system where that is large enough, and the largest memory of the process.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from gramlearn.losses import Hinge

from gramlearn.side_information import Pairs, StoredPairs

BLOCK = 1 << 22


def draw_blocks(n_pairs: int, n_points: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(i, j, alike) of pairs of two different points."""
    rng = np.random.default_rng(0)
    for start in range(0, n_pairs, BLOCK):
        size = min(BLOCK, n_pairs - start)
        i = rng.integers(0, n_points, size)
        j = (i + rng.integers(1, n_points, size)) % n_points
        yield i, j, rng.random(size) < 0.5


def write_parquet(path: Path, n_pairs: int, n_points: int, dtype: Any, compression: str) -> None:
    """A table i, j, alike, with a million rows a group."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    writer = None
    for i, j, alike in draw_blocks(n_pairs, n_points):
        table = arrow.table({"i": i.astype(dtype), "j": j.astype(dtype), "alike": alike})
        if writer is None:
            writer = parquet.ParquetWriter(path, table.schema, compression=compression)
        writer.write_table(table, row_group_size=1 << 20)
    if writer is not None:
        writer.close()


def write_arrays(folder: Path, n_pairs: int, n_points: int, dtype: Any) -> dict[str, Path]:
    """similar.npy and dissimilar.npy, each half of the pairs."""
    paths = {
        side: folder / f"{side}_{np.dtype(dtype).name}.npy" for side in ("similar", "dissimilar")
    }
    for path in paths.values():
        half = n_pairs // 2
        array = np.lib.format.open_memmap(path, "w+", dtype, (half, 2))
        start = 0
        for i, j, _ in draw_blocks(half, n_points):
            array[start : start + len(i)] = np.stack([i, j], axis=1)
            start += len(i)
        array.flush()
    return paths


def read_all(stored: StoredPairs) -> float:
    """Seconds that a pass takes."""
    begin, size = time.perf_counter(), 0
    for chunk in range(stored.n_chunks):
        size += sum(term.size for term in stored.indexed_terms(chunk, Hinge(), (1.0, 2.0)))
    seconds = time.perf_counter() - begin
    if size != stored.size:
        raise RuntimeError(f"{size} of {stored.size} pairs were read")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=50_000_000)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    n, points = given.pairs, given.points
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)

        def in_parquet(dtype: Any, compression: str) -> StoredPairs:
            path = folder / f"{np.dtype(dtype).name}_{compression}.parquet"
            write_parquet(path, n, points, dtype, compression)
            return Pairs.from_parquet(path, n_points=points)

        def in_arrays(dtype: Any) -> StoredPairs:
            return Pairs.from_npy(**write_arrays(folder, n, points, dtype), n_points=points)

        forms: dict[str, Callable[[], StoredPairs]] = {
            "Parquet, 32 bits, not compressed": lambda: in_parquet(np.int32, "none"),
            "Parquet, 32 bits, snappy": lambda: in_parquet(np.int32, "snappy"),
            "Parquet, 64 bits, not compressed": lambda: in_parquet(np.int64, "none"),
            "Parquet, 64 bits, snappy": lambda: in_parquet(np.int64, "snappy"),
            ".npy, 32 bits": lambda: in_arrays(np.int32),
            ".npy, 64 bits": lambda: in_arrays(np.int64),
        }
        for words, make in forms.items():
            stored = make()
            read_all(stored)
            seconds = read_all(stored)
            size = sum(path.stat().st_size for path in folder.iterdir())
            largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            largest *= 1.0 if sys.platform != "darwin" else 1 / 1024
            print(
                f"{words:34} {size / 1e9:5.2f} GB  {seconds:6.2f} s  {n / seconds / 1e6:6.1f} million pairs/s  "
                f"{stored.n_chunks} chunks, largest memory of the process {largest:.2f} GiB",
                flush=True,
            )
            for path in folder.iterdir():
                path.unlink()


if __name__ == "__main__":
    main()
