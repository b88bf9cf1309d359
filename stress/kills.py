"""SIGKILL at random moments of `python -m experiments run` and `python -m benchmarks run`: whole files or none.

The command runs in a fork of a process that has loaded all it needs, so that moments fall into the work and
not into imports. After every kill each file is whole, and what was finished stays as it was; then the command
runs to its end, and there is all that a run without kills leaves.
"""

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["COMMANDS", "forked", "kill_runs", "load_commands"]


def _experiment(out: Path) -> int:
    from experiments import reproductions
    from experiments.__main__ import main

    from stress.small_experiment import SmallExperiment

    reproductions.find = lambda name: SmallExperiment()  # in this process alone, which is a fork
    return main(["run", "kills", "--quick", "--out", str(out)])


def _benchmark(out: Path) -> int:
    from benchmarks.__main__ import main

    return main(["run", "--quick", "--only", "working_set", "--out", str(out)])


def load_commands() -> None:
    """What both commands need."""
    import matplotlib.figure  # noqa: F401
    from benchmarks import runner  # noqa: F401
    from experiments import __main__  # noqa: F401

    from gramlearn import datasets  # noqa: F401
    from stress import small_experiment  # noqa: F401


COMMANDS: dict[str, Callable[[Path], int]] = {
    "experiments run": _experiment,
    "benchmarks run": _benchmark,
}


def kill_runs(name: str, moments: int, seed: int, folder: Path) -> dict[str, Any]:
    """Kill the command at so many moments; sum up what was found of its files."""
    load_commands()
    command, rng = COMMANDS[name], np.random.default_rng(seed)
    began = time.monotonic()
    code = forked(command, folder / "alone", None)
    seconds = time.monotonic() - began
    alone = _content(folder / "alone")
    troubles = [] if code == 0 and alone else [f"without any kill it ended with {code}"]
    out, killed, runs = folder / "killed", 0, 0
    for _ in range(moments):
        before = _times(out)
        code = forked(command, out, rng.random() * seconds)
        killed += code == -signal.SIGKILL
        runs += code == 0
        troubles += _halves(out)
        changed = [file for file, at in before.items() if _times(out).get(file) != at]
        # A run sums up again what is finished; what was computed is not touched.
        troubles += [f"{file} was written anew" for file in changed if "parts" in Path(file).parts]
        if code == 0:  # from the start again
            _clear(out)
    last = forked(command, out, None)
    if last != 0 or _content(out).keys() != alone.keys():
        troubles.append(f"after all kills the run ended with {last} and {sorted(_content(out))}")
    left = [str(f) for f in out.rglob(".*") if f.is_file()]
    return {
        "command": name,
        "seconds_of_a_run": round(seconds, 3),
        "moments": moments,
        "killed": killed,
        "over_before": runs,
        "pieces_left_at_the_end": len(left),
        "same_results": _content(out) == alone,
        "troubles": sorted(set(troubles)),
    }


def forked(
    command: Callable[[Path], int], out: Path, delay: float | None, said: str = os.devnull
) -> int:
    """Run the command in a fork, and kill it after this many seconds; give its status."""
    child = os.fork()
    if child == 0:
        os.setpgrp()
        stream = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        sys.stdout, sys.stderr = (os.fdopen(n, "w", closefd=False) for n in (1, 2))
        try:
            code = command(out)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(99)
    if delay is not None:
        time.sleep(delay)
        try:
            os.killpg(child, signal.SIGKILL)  # with the processes it has started
        except (ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _halves(out: Path) -> list[str]:
    """The files that are not whole."""
    found = []
    for file in out.rglob("*.json"):
        if file.name.startswith("."):
            continue
        try:
            json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            found.append(f"{file.relative_to(out)} is half a file")
    return found


def _times(out: Path) -> dict[str, int]:
    return {
        str(f.relative_to(out)): f.stat().st_mtime_ns
        for f in out.rglob("*.json")
        if not f.name.startswith(".")
    }


def _content(out: Path) -> dict[str, Any]:
    """What was computed, without times and dates."""
    found = {}
    for file in out.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            name = str(file.relative_to(out))
            found[name] = None
            if "parts" in Path(name).parts:
                found[name] = json.loads(file.read_text(encoding="utf-8"))["result"]
    return found


def _clear(out: Path) -> None:
    for file in out.rglob("*"):
        if file.is_file():
            file.unlink()
