"""Methods of another package, in an environment and a process of their own: arrays -> what came of each method.

    ask(...)  ->  a process: python -m MODULE FOLDER NAME LIMIT  ->  answer(...)  ->  answers.json

A package that cannot be installed, a process that is lost and a method that raises are what came, too.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.data import UnavailableError
from benchmarks.environments import interpreter
from benchmarks.launch import launch
from benchmarks.worker import SOLVING

__all__ = ["answer", "ask"]

_PATIENCE = 30  # times the limit, by the clock, of a process that does not keep it


def ask(
    methods: Iterable[str],
    given: Mapping[str, Any],
    requirements: tuple[str, ...],
    module: str,
    limit: float,
    may_make: bool,
) -> dict[str, dict[str, Any]]:
    """What came of each method, given these arrays; a fit keeps its limit of the processor's seconds itself."""
    try:
        python = interpreter(requirements, may_make)
    except UnavailableError as reason:
        return {name: {"status": "unavailable", "reason": str(reason)} for name in methods}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        np.savez(folder / "given.npz", **given)
        ending = launch(python, folder, "all", limit, _PATIENCE, alone=True, module=module)
        file = folder / "answers.json"
        found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    lost = {"status": "failed", "reason": ending}
    return {name: found.get(name, lost) for name in methods}


def answer(
    folder: Path, methods: Mapping[str, Callable[[Mapping[str, np.ndarray]], dict[str, Any]]]
) -> None:
    """In the process: one method after the other, written down after each."""
    with np.load(folder / "given.npz") as file:
        given = dict(file)
    answers = {}
    for name, method in methods.items():
        print(SOLVING, flush=True)
        answers[name] = method(given)
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
