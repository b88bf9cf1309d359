"""Milliseconds to keep an answer, and to read those that stand.

    python -m benchmarks.scripts.answer_store [--answers 20000] [--points 10000] [--folder DIR]

CPU time is that of the process; the rest of the time of an answer is the disk's, which confirms each.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gramlearn.app.studio.store import Store
from gramlearn.files.judgments import read_judgments
from gramlearn.files.points import Points


def main() -> None:
    """Fill a store, and read it in three ways."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="where the store is made; else a temporary one")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    points = Points(rng.normal(size=(given.points, 384)).astype(np.float32), source="points.npy")
    first = rng.integers(0, given.points, given.answers)
    second = (first + rng.integers(1, given.points, given.answers)) % given.points
    pairs = np.stack([first, second], axis=1).tolist()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "judgments.db"
        store = report("open, with a new file", 1, lambda: Store.open(path, points))

        def fill() -> None:
            for k, pair in enumerate(pairs):
                store.answer(f"event {k}", f"question {k}", "Ada", "pair", pair, "alike", False)

        report("an answer", given.answers, fill)
        report("answers(), the first time", 1, store.answers)
        report("answers(), then", 100, lambda: [store.answers() for _ in range(100)])
        report("undo", 1, lambda: store.undo("undo", "Ada"))
        store.close()
        print(f"{path.stat().st_size / given.answers:.0f} bytes an answer")
        report("open", 1, lambda: Store.open(path, points).close())
        report("read_judgments", 1, lambda: read_judgments(path, points))


def report(what: str, n: int, work: Callable[[], Any]) -> Any:
    """What the work gave, and a line about the time of one of n."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what}: {1e3 * wall / n:.3g} ms, of them {1e3 * cpu / n:.3g} ms of the CPU")
    return found


if __name__ == "__main__":
    main()
