"""The outcome of every task: one line of JSON each, only ever appended.

A run that is killed leaves whole lines, and at most a torn one at the end, which the next start drops. So the
file is the state: what it has is done, what it lacks is asked again. Lines are of two kinds,

    {"start": ...}        who ran it, when, on what
    {"id": ..., ...}      one task and its outcome
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, final

from tools.atomic_files import explain_write_error

__all__ = ["Store", "path_of", "read_lines"]

_NAME = "outcomes.jsonl"


@final
class Store:
    """The file of a run, opened for appending."""

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        self.path = path_of(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _drop_torn_line(self.path)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise explain_write_error(self.path, error) from error
        before = [line["start"] for line in read_lines(folder) if "start" in line]
        if before and before[0]["seed"] != facts["seed"]:
            raise ValueError(
                f"{folder} holds a run of seed {before[0]['seed']}, not of seed {facts['seed']}; go on "
                f"with --seed {before[0]['seed']}, or take another folder."
            )
        self.done = {line["id"] for line in read_lines(folder) if "id" in line}
        date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        self._append({"start": {**facts, "date": date}})

    def add(self, outcome: Mapping[str, Any]) -> None:
        """Append the outcome of a task."""
        self._append(outcome)
        self.done.add(outcome["id"])

    def _append(self, line: Mapping[str, Any]) -> None:
        # One write of one line: whoever reads meanwhile sees all of it or, after a kill, a torn end. A full
        # disk takes a part of it without a word, and says so when it is given the rest.
        left, end = (json.dumps(line) + "\n").encode(), os.fstat(self._file).st_size
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            os.ftruncate(self._file, end)
            raise explain_write_error(self.path, error) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def path_of(folder: Path) -> Path:
    """The file of a run."""
    return folder / _NAME


def read_lines(folder: Path) -> Iterator[dict[str, Any]]:
    """Every whole line; a torn one at the end is passed over."""
    path = path_of(folder)
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


def _drop_torn_line(path: Path) -> None:
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)
