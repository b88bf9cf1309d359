"""Files that are not what they should be: every reader says so in a sentence, and runs nothing of them.

A good file is cut off, its bits are flipped, pieces are doubled or replaced, or there is something else in its
place: random bytes, an archive with Python objects in it, one that unpacks to far more than it is, a folder.
What a reader may do is give what is still right, or raise an OSError or ValueError that names the file.
"""

import io
import json
import os
import pickle
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["READERS", "fuzz"]


class _Trap:
    """Unpickled, it would leave a file behind."""

    def __init__(self, mark: str) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self._mark,)


def fuzz(name: str, count: int, seed: int) -> dict[str, Any]:
    """Give so many files to a reader; say how it took them."""
    rng, outcomes, troubles = np.random.default_rng(seed), Counter[str](), set[str]()
    with tempfile.TemporaryDirectory() as place:
        folder, mark = Path(place) / "files", Path(place) / "ran"
        folder.mkdir()
        file, good, read = READERS[name](folder)
        for content in _contents(good, count, rng, str(mark)):
            if file.is_dir():
                file.rmdir()
            file.unlink(missing_ok=True)
            file.mkdir() if content is None else file.write_bytes(content)
            try:
                read()
                outcomes["read"] += 1
            except (OSError, ValueError) as error:
                outcomes["refused"] += 1
                if file.name not in str(error):
                    troubles.add(f"it does not name the file: {error}")
            except BaseException as error:
                troubles.add(f"{type(error).__name__}: {error}")
            if mark.exists():
                troubles.add("code of a file was run")
                mark.rmdir()
    return {"reader": name, "files": count, **outcomes, "troubles": sorted(troubles)}


def _contents(
    good: bytes, count: int, rng: np.random.Generator, mark: str
) -> Iterator[bytes | None]:
    """Special files first, None for a folder, then mutations of the good one."""
    objects = io.BytesIO()
    np.savez(objects, X=np.array([_Trap(mark)], dtype=object), y=np.zeros(1))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(10**7))
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,)}"
    special = [
        None, b"", objects.getvalue(), bomb.getvalue(), header, pickle.dumps(_Trap(mark)),
        b"[" * 5000, b"null", b"[]", b"{}", b'{"instance": 1}', "\u00e9".encode("latin-1"),
    ]  # fmt: skip
    yield from special[:count]
    for _ in range(count - len(special)):
        content = bytearray(good)
        kind = rng.integers(4)
        at = int(rng.integers(max(len(content), 1)))
        if kind == 0:
            content = content[:at]
        elif kind == 1 and content:
            for place in rng.integers(0, len(content), 1 + int(rng.integers(8))):
                content[int(place)] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            content[at:at] = content[at // 2 : at]
        else:
            content = bytearray(rng.bytes(int(rng.integers(2000))))
        yield bytes(content)


def _dataset(folder: Path) -> tuple[Path, bytes, Callable[[], object]]:
    from gramlearn import datasets
    from gramlearn._dataset_table import TABLE

    name = next(name for name, entry in TABLE.items() if not entry.shipped)
    good = io.BytesIO()
    np.savez(good, X=np.eye(3), y=np.arange(3))

    def read() -> object:
        before = os.environ.get(datasets.VARIABLE)
        os.environ[datasets.VARIABLE] = str(folder)
        try:
            return datasets.load(name)
        finally:
            os.environ.pop(datasets.VARIABLE)
            if before is not None:
                os.environ[datasets.VARIABLE] = before

    return folder / TABLE[name].file, good.getvalue(), read


def _part(folder: Path) -> tuple[Path, bytes, Callable[[], object]]:
    from experiments.runner import Run
    from experiments.store import Store

    from stress.small_experiment import SmallExperiment

    experiment = SmallExperiment()
    part = experiment.parts(True)[0]
    run = Run("fuzz", experiment, True, 0, Store(folder, 1, {}), (part,))
    facts = {"status": "done", "result": {"eigenvalues": [1.0], "matrix": [[1.0]]}, "seconds": 1.0}
    run.store.write(part, facts)
    file = folder / "parts" / f"{part.id}.json"
    return file, file.read_bytes(), lambda: (run.outcome().results(), run.missing())


def _benchmark(folder: Path) -> tuple[Path, bytes, Callable[[], object]]:
    from benchmarks.report import read, table

    result = {
        "contestant": "a", "limit_seconds": 1.0, "status": "skipped", "reason": "none", "curve": [],
        "reached": {"1e-02": None, "1e-04": None, "1e-06": None},
    }  # fmt: skip
    instance = {
        "name": "x", "data": "d", "c": 1, "n": 1, "r": 1, "library": "numpy", "seed": 0, "gamma": 1.0,
    }  # fmt: skip
    run = {"instance": instance, "machine": {}, "references": {}, "results": [result]}
    return folder / "x.json", json.dumps(run).encode(), lambda: table(read(folder))


READERS: dict[str, Callable[[Path], tuple[Path, bytes, Callable[[], object]]]] = {
    "gramlearn.datasets.load": _dataset,
    "experiments, the part of a run": _part,
    "benchmarks table": _benchmark,
}


if __name__ == "__main__":
    for reader in READERS:
        print(json.dumps(fuzz(reader, 2000, 0)))
