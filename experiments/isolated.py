"""A function in the environment and process of another package: each call with its outcome.

    ask(function, package, calls)  ->  python -m experiments.isolated FOLDER MODULE LIMIT FUNCTION  ->  answers

Packages may need older libraries than gramlearn does. The function lives in a file that needs NumPy, SciPy,
scikit-learn and the package alone; arrays, numbers and words go there and come back. A package that cannot be
installed, a process that is lost and a call that raises or takes too long are answers, too.
"""

import _thread
import importlib
import io
import json
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple, final

import numpy as np
from tools.atomic_files import write_atomically
from tools.environments import UnavailableError, find_interpreter
from tools.launch import SOLVING, launch

_KINDS = "kinds.json"
_LOOK = 0.05  # seconds between two looks at the clock
_AGAIN = 1.0  # seconds until a block that went on is interrupted again
_PATIENCE = 10  # times the limit, by the clock, of a call that does not keep it


@final
class Package(NamedTuple):
    """The module that is loaded before any call, what to install, and what to build from sources on top."""

    module: str
    requirements: tuple[str, ...]
    sources: tuple[str, ...] = ()


def call_isolated(
    function: Callable[..., Mapping[str, Any]],
    package: Package,
    calls: Sequence[Mapping[str, Any]],
    limit: float,
    may_make: bool,
    kinds: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """For each call its "status", "reason" and what function(limit, **call) gave.

    The function keeps the limit on the seconds of a fit itself. Without `may_make` no environment is made.
    `kinds` names the kind of each call: once one was ended, the next ones of its kind in the same process get
    its answer untried.
    """
    if kinds and len(kinds) != len(calls):
        raise ValueError(f"there are {len(kinds)} kinds for {len(calls)} calls; give one for each.")
    python, reason = _find_python(package, may_make)
    if not python:
        return [{"status": "unavailable", "reason": reason} for _ in calls]
    answers: list[dict[str, Any]] = []
    while len(answers) < len(calls):
        left = slice(len(answers), None)
        found, ending = _run_process(python, function, package, calls[left], limit, kinds[left])
        answers += found
        if ending:  # the process was lost at the next call; those after it are asked anew
            answers.append({"status": "failed", "reason": ending})
    return answers


def _run_process(
    python: str,
    function: Callable[..., Mapping[str, Any]],
    package: Package,
    calls: Sequence[Mapping[str, Any]],
    limit: float,
    kinds: Sequence[str],
) -> tuple[list[dict[str, Any]], str]:
    """The answers of one process, and how it ended where that was before the last."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_atomically(folder / _KINDS, json.dumps(list(kinds)))
        for number, call in enumerate(calls):
            write_answer(folder / f"call-{number:04}", call)
        name = f"{function.__module__}:{function.__name__}"
        how = {"solves": _PATIENCE, "alone": True, "extra": (name,)}
        ending = launch(__name__, python, folder, package.module, limit, **how)
        answers = []
        for file in sorted(folder.glob("answer-*.json")):
            try:
                answers.append(read_answer(file.with_suffix("")))
            except ValueError as damaged:
                ending = str(damaged)
                break
    return answers, "" if len(answers) == len(calls) else ending


@cache  # one that cannot be made is tried once
def _find_python(package: Package, may_make: bool) -> tuple[str, str]:
    """(the interpreter, ""), or ("", why there is none)."""
    try:
        return find_interpreter(package.requirements, may_make, package.sources), ""
    except UnavailableError as reason:
        return "", str(reason)


def _answer_calls(folder: Path, module: str, limit: float, function: str) -> None:
    """In the process: one call after the other, each written down before the next."""
    importlib.import_module(module)  # before the clock runs
    place, _, name = function.partition(":")
    called = getattr(importlib.import_module(place), name)
    kinds = json.loads((folder / _KINDS).read_text(encoding="utf-8"))
    ended: dict[str, dict[str, Any]] = {}
    for number, file in enumerate(sorted(folder.glob("call-*.json"))):
        kind = kinds[number] if kinds else file.stem
        answer = ended.get(kind)
        if answer is None:
            call = read_answer(file.with_suffix(""))
            print(SOLVING, flush=True)
            answer = try_fit(lambda call=call: called(limit, **call))
        if answer["status"] == "ended":
            ended[kind] = answer
        write_answer(folder / file.stem.replace("call", "answer"), answer)


def write_answer(file: Path, values: Mapping[str, Any]) -> None:
    """Numbers and words as JSON, arrays beside them."""
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    others = {name: value for name, value in values.items() if name not in arrays}
    np.savez(file.with_suffix(".npz"), **arrays)
    # Last, for it says that the arrays are there.
    write_atomically(file.with_suffix(".json"), json.dumps(others))


def read_answer(file: Path) -> dict[str, Any]:
    """Read what `write_answer` wrote; a process that died may leave something else."""
    try:
        others: dict[str, Any] = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        content = io.BytesIO(file.with_suffix(".npz").read_bytes())  # closed whatever comes
        with np.load(content, allow_pickle=False) as arrays:
            return others | dict(arrays)
    except Exception as error:  # of archives there are as many as there are ways to be damaged
        raise ValueError(
            f"{file}.json or {file.name}.npz is damaged ({type(error).__name__}); ask again."
        ) from error


# -- limits ----------------------------------------------------------------------------------------


class TooLongError(BaseException):
    """A block took more than its seconds; no Exception, for packages catch those and go on."""


@contextmanager
def limit_seconds(limit: float) -> Iterator[None]:
    """Raise TooLongError in the main thread, in which it is called, once the process has used so many seconds.

    The way there is that of Ctrl-C, which goes on to do what it did before; a process that was started in the
    background ignores it, but not its limit. A block that catches the error and goes on gets another.
    """
    is_over, too_late, began = Event(), Event(), time.process_time()
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: Any) -> None:
        if not too_late.is_set():
            if callable(before):
                before(number, frame)
        elif not is_over.is_set():
            raise TooLongError(f"a fit took more than {limit:g} s")

    def watch() -> None:
        while not is_over.wait(_AGAIN if too_late.is_set() else _LOOK):
            if time.process_time() - began > limit:
                too_late.set()
                _thread.interrupt_main()

    signal.signal(signal.SIGINT, interrupted)
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        try:
            is_over.set()  # from here on, an interrupt that is late is none
            watcher.join()
        finally:
            is_over.set()
            signal.signal(signal.SIGINT, before)


def try_fit(fit: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """What `fit` gave, with "status" done, "reason" "" and its "seconds"; or "status" and "reason" alone.

    The status is "ended" where it ran into a limit and "failed" where it raised. Its warnings are not shown.
    """
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fit()
    except TooLongError as reason:
        return {"status": "ended", "reason": str(reason)}
    except Exception as error:  # whatever a method raises is its result
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        return {"status": "failed", "reason": words}
    return {"status": "done", "reason": "", "seconds": time.process_time() - began, **found}


if __name__ == "__main__":
    from experiments import (
        isolated,  # whose TooLongError functions raise: this module has another name
    )

    isolated._answer_calls(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4])
