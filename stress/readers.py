"""Damaged files: every reader must refuse them in one sentence, and run no code in them.

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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from stress.code import comment_out
from stress.outcome import Finding, Outcome, drop_repeated
from stress.watch import OutOfTime, watch_call

__all__ = ["READERS", "BadFile", "attempt", "draw", "shrink"]

_SPRUNG: list[None] = []


class _Trap:
    """Unpickled, it leaves a trace."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _spring_trap, ()


def _spring_trap() -> None:
    _SPRUNG.append(None)


class Reader(NamedTuple):
    """A file's path in its folder, the content of a good one, and how the folder is read."""

    file: str
    good: Callable[[], bytes]
    read: Callable[[Path], object]


@final
@dataclass(frozen=True)
class BadFile:
    """What a reader finds in the place of its file; None is a folder."""

    reader: str
    damage: str
    content: bytes | None

    @property
    def labels(self) -> list[str]:
        """The reader, and what was done to the file."""
        return [self.reader, self.damage]

    def program(self, comment: str = "") -> str:
        """The program that gives this file to its reader."""
        said = comment_out(comment)
        given = f"{self.reader!r}, {self.damage!r}, {self.content!r}"
        return f"from stress.readers import BadFile, attempt\n\n{said}print(attempt(BadFile({given})))\n"


def draw(seed: int, index: int) -> BadFile:
    """Draw file number `index`: the readers in turn."""
    rng = np.random.default_rng([79, seed, index])
    name = list(READERS)[index % len(READERS)]
    if rng.random() < 0.2:
        what = list(_list_other_files())[int(rng.integers(len(_list_other_files())))]
        return BadFile(name, what, _list_other_files()[what])
    content = bytearray(_good(name))
    what = ("cut off", "flipped", "doubled", "random")[int(rng.integers(4))]
    at = int(rng.integers(len(content)))
    if what == "cut off":
        content = content[:at]
    elif what == "flipped":
        for place in rng.integers(0, len(content), 1 + int(rng.integers(8))):
            content[int(place)] ^= 1 << int(rng.integers(8))
    elif what == "doubled":
        content[at:at] = content[at // 2 : at]
    else:
        content = bytearray(rng.bytes(int(rng.integers(2000))))
    return BadFile(name, what, bytes(content))


def attempt(bad: BadFile) -> Outcome:
    """Give it to its reader, in a folder of its own."""
    reader = READERS[bad.reader]()
    _SPRUNG.clear()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / reader.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.mkdir() if bad.content is None else file.write_bytes(bad.content)
        seen = watch_call(lambda: reader.read(Path(place)))
    findings = seen.leaks(())
    error = seen.error
    words = "" if error is None else f"{type(error).__name__}: {error}"
    if _SPRUNG:
        findings.append(Finding("ran", f"ran {bad.reader}", "code of the file was run"))
    if isinstance(error, OutOfTime):
        findings.append(Finding("hang", f"hang {bad.reader}", "it does not come to an end"))
    elif error is not None and not isinstance(error, OSError | ValueError):
        key = f"{type(error).__name__} {bad.reader}"
        findings.append(Finding("exception", key, words[:300]))
    elif error is not None and file.name not in words:
        key = f"unnamed {bad.reader}"
        findings.append(Finding("words", key, f"it does not name the file: {words[:300]}"))
    ending = "answered" if error is None else "refused" if not findings else "broken"
    return Outcome(ending, "", "", seen.seconds, words, drop_repeated(findings))


def shrink(bad: BadFile, shows: Callable[[BadFile], bool], seconds: float) -> BadFile:
    """Take away pieces, halves first, while the finding stays."""
    del seconds  # a reader takes a moment
    piece = len(bad.content or b"") // 2
    while bad.content and piece:
        for at in range(0, len(bad.content), piece):
            shorter = replace(bad, content=bad.content[:at] + bad.content[at + piece :])
            if shows(shorter):
                bad = shorter
                break
        else:
            piece //= 2
    return bad


@cache
def _list_other_files() -> Mapping[str, bytes | None]:
    """Files of other kinds altogether."""
    objects, bomb = io.BytesIO(), io.BytesIO()
    np.savez(objects, X=np.array([_Trap()], dtype=object), y=np.zeros(1))
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(10**7))
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,)}"
    return {
        "a folder": None,
        "empty": b"",
        "objects": objects.getvalue(),
        "a bomb": bomb.getvalue(),
        "a header": header,
        "a pickle": pickle.dumps(_Trap()),
        "deep": b"[" * 100_000,
        "null": b"null",
        "a list": b"[]",
        "an object": b"{}",
        "an object of numbers": b'{"instance": 1, "version": 1, "tables": 1}',
        "Latin-1": "\u00e9".encode("latin-1"),
    }


@cache
def _good(name: str) -> bytes:
    return READERS[name]().good()


def _read_written(write: Callable[[Path], Path]) -> bytes:
    """The content of a file that is written into a folder."""
    with tempfile.TemporaryDirectory() as place:
        return write(Path(place)).read_bytes()


def _dataset() -> Reader:
    from gramlearn import datasets
    from gramlearn.datasets.table import TABLE

    name = next(name for name, entry in TABLE.items() if not entry.shipped)

    def good() -> bytes:
        content = io.BytesIO()
        np.savez(content, X=np.eye(3), y=np.arange(3))
        return content.getvalue()

    def read(folder: Path) -> object:
        before = os.environ.get(datasets.VARIABLE)
        os.environ[datasets.VARIABLE] = str(folder)
        try:
            return datasets.load(name)
        finally:
            os.environ.pop(datasets.VARIABLE)
            if before is not None:
                os.environ[datasets.VARIABLE] = before

    return Reader(TABLE[name].file, good, read)


def _part() -> Reader:
    from experiments.runs import Run

    from stress.small_experiment import SmallExperiment

    experiment = SmallExperiment()
    part = experiment.parts(True)[0]
    facts = {"status": "done", "result": {"eigenvalues": [1.0], "matrix": [[1.0]]}, "seconds": 1.0}
    file = f"parts/{part.id}.json"

    def run(folder: Path) -> Run:
        return Run("fuzz", experiment, True, 0, folder, {}, (part,))

    def write(folder: Path) -> Path:
        run(folder).write(part, facts)
        return folder / file

    def read(folder: Path) -> object:
        return run(folder).outcome().results(), run(folder).missing()

    return Reader(file, lambda: _read_written(write), read)


def _published() -> Reader:
    from experiments.published import publish, read_published
    from experiments.runs import Outcome as Kept

    from stress.small_experiment import SmallExperiment

    experiment = SmallExperiment()
    place: dict[str, Any] = {"data": {}, "commit": "c", "machine": {}, "versions": {}}
    records = [
        {"id": part.id, "parameters": part.parameters, "seed": 0, "status": "done", "seconds": 1.0,
         "result": {"eigenvalues": [1.0], "matrix": [[1.0]]}, **place}
        for part in experiment.parts(False)[:3]
    ]  # fmt: skip

    def write(folder: Path) -> Path:
        publish(Kept("fuzz", experiment, False, 0, 3, records), folder)
        return folder / "fuzz.json"

    def read(folder: Path) -> object:
        kept = read_published("fuzz", experiment, folder)
        return kept and (kept.results(), kept.seconds, kept.failed)

    return Reader("fuzz.json", lambda: _read_written(write), read)


def _answer() -> Reader:
    from experiments.isolated import read_answer, write_answer

    def write(folder: Path) -> Path:
        write_answer(folder / "answer-0000", {"status": "done", "X": np.eye(3)})
        return folder / "answer-0000.npz"

    def read(folder: Path) -> object:
        (folder / "answer-0000.json").write_text('{"status": "done"}', encoding="utf-8")
        return read_answer(folder / "answer-0000")

    return Reader("answer-0000.npz", lambda: _read_written(write), read)


def _benchmark() -> Reader:
    from benchmarks.report import read_results, write_table

    result = {
        "contestant": "a", "limit_seconds": 1.0, "status": "skipped", "reason": "none", "curve": [],
        "reached": {"1e-02": None, "1e-04": None, "1e-06": None},
    }  # fmt: skip
    instance = {
        "name": "x", "data": "d", "c": 1, "n": 1, "r": 1, "library": "numpy", "seed": 0, "kind": "pairs",
        "regularizer": "LogDet", "loss": "Hinge", "price": 1.0, "is_real": False,
    }  # fmt: skip
    bound = {"dual": None, "found_by": None, "relative_gap": None}
    run = {
        "instance": instance, "machine": {}, "reference": None, "bound": bound, "results": [result],
    }  # fmt: skip
    return Reader(
        "x.json", lambda: json.dumps(run).encode(), lambda folder: write_table(read_results(folder))
    )


_FOUND = {
    "id": "wild-0-0", "stream": "wild", "labels": ["LogDet"], "ending": "answered", "status": "OPTIMAL",
    "solver": "auto", "seconds": 0.1, "words": "", "findings": [{"kind": "k", "key": "y", "words": "w"}],
}  # fmt: skip


def _outcomes() -> Reader:
    def read(folder: Path) -> object:
        from stress.report import write_report

        return write_report(folder, None)

    def good() -> bytes:
        return b"".join(
            json.dumps(x).encode() + b"\n" for x in ({"start": {"seed": 0}}, _FOUND, _FOUND)
        )

    return Reader("outcomes.jsonl", good, read)


def _results() -> Reader:
    start = {"seed": 0, "date": "d", "commit": "c", "python": "3", "machine": {}, "versions": {}}

    def write(folder: Path) -> Path:
        from stress.page import publish

        lines = [{"start": start}, _FOUND]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "outcomes.jsonl").write_text(text, encoding="utf-8")
        publish([folder], lambda task, finding: "pass\n", folder / "results.json")
        return folder / "results.json"

    def read(folder: Path) -> object:
        from stress.page import write_published_page

        return write_published_page(folder / "results.json")

    return Reader("results.json", lambda: _read_written(write), read)


READERS: Mapping[str, Callable[[], Reader]] = {
    "gramlearn.datasets.load": cache(_dataset),
    "experiments, the part of a run": cache(_part),
    "experiments, what was published": cache(_published),
    "experiments, an answer from elsewhere": cache(_answer),
    "benchmarks table": cache(_benchmark),
    "stress report": cache(_outcomes),
    "stress page": cache(_results),
}
