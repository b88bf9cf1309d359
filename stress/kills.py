"""SIGKILL at random moments of `python -m experiments run` and `python -m benchmarks run`: whole files or none.

The command runs in a fork of a process that has loaded all it needs, and so do the contestants of benchmarks,
so that moments fall into the work and not into imports. After every kill each file is whole, and what was
finished stays as it was; then the command runs to its end, and there is all that a run without kills leaves,
with the same content but for times.
"""

import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["COMMANDS", "kill_runs", "load_commands", "run_in_fork"]

_CONTESTANTS = ("working_set", "primal_newton", "auto")
_ENDS = {".png": b"IEND\xaeB`\x82"}
# What a run says of time, memory and the code that is there, and not of what it computes.
_MEASURED = re.compile(r"(.*_)?(seconds|bytes)|date|reached|commit")


def _experiment(out: Path) -> int:
    from experiments.__main__ import main

    from experiments import reproductions
    from stress.small_experiment import SmallExperiment

    reproductions.find = lambda name: SmallExperiment()  # in this process alone, which is a fork
    return main(["run", "kills", "--quick", "--out", str(out)])


def _benchmark(out: Path) -> int:
    from benchmarks.__main__ import main

    from benchmarks import runner

    runner.launch = _launched  # in this process alone, which is a fork
    chosen = [word for name in _CONTESTANTS for word in ("--only", name)]
    return main(["run", "--quick", *chosen, "--limit", "60", "--again", "--out", str(out)])


def _launched(module: str, python: str, folder: Path, name: str, limit: float, *rest: Any) -> str:
    """What the process of a contestant does, in a fork, which need not load anything."""
    from benchmarks.worker import main

    del python, rest

    def work(out: Path) -> int:
        main(out, name, limit)
        return 0

    return f"it ended with status {_wait_for(_start_fork(work, folder))}"


def load_commands() -> None:
    """Import what both commands need."""
    import matplotlib.backends.backend_agg
    import matplotlib.figure  # noqa: F401

    from benchmarks import runner, worker  # noqa: F401
    from experiments import __main__  # noqa: F401
    from gramlearn._base import pair_scan  # noqa: F401
    from stress import small_experiment  # noqa: F401


COMMANDS: dict[str, Callable[[Path], int]] = {
    "experiments run": _experiment,
    "benchmarks run": _benchmark,
}


def kill_runs(name: str, moments: int, seed: int, folder: Path) -> dict[str, Any]:
    """Kill the command at this many moments; summarize the state of its files."""
    load_commands()
    command, rng = COMMANDS[name], np.random.default_rng(seed)
    began = time.monotonic()
    code = run_in_fork(command, folder / "alone", None)
    seconds = time.monotonic() - began
    alone = _read_content(folder / "alone")
    troubles = [] if code == 0 and alone else [f"without any kill it ended with {code}"]
    out, killed, runs = folder / "killed", 0, 0
    for _ in range(moments):
        before = _times(out)
        code = run_in_fork(command, out, rng.random() * seconds)
        killed += code == -signal.SIGKILL
        runs += code == 0
        troubles += _find_incomplete(out)
        changed = [file for file, at in before.items() if _times(out).get(file) != at]
        # A run sums up again what is finished; what was computed is not touched.
        troubles += [f"{file} was written anew" for file in changed if "parts" in Path(file).parts]
        if code == 0:  # from the start again
            _clear(out)
    last = run_in_fork(command, out, None)
    other = list(_find_differences(_read_content(out), alone))
    if last != 0 or other:
        troubles.append(f"after all kills the run ended with {last}; results differ in {other[:3]}")
    left = [str(f) for f in out.rglob(".*") if f.is_file()]
    return {
        "command": name,
        "seconds_of_a_run": round(seconds, 3),
        "moments": moments,
        "killed": killed,
        "over_before": runs,
        "pieces_left_at_the_end": len(left),
        "same_results": not other,
        "troubles": sorted(set(troubles)),
    }


def run_in_fork(
    command: Callable[[Path], int], out: Path, delay: float | None, said: str = os.devnull
) -> int:
    """Run the command in a fork, and kill it after this many seconds; give its status.

    What it says on stderr goes to the file `said`.
    """

    def heard(out: Path) -> int:
        os.setpgrp()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.stdout, sys.stderr = (os.fdopen(n, "w", closefd=False) for n in (1, 2))
        return command(out)

    child = _start_fork(heard, out)
    if delay is not None:
        time.sleep(delay)
        try:
            os.killpg(child, signal.SIGKILL)  # with the processes it has started
        except (ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
    return _wait_for(child)


def _start_fork(command: Callable[[Path], int], out: Path) -> int:
    """Run the command in a fork, and end it with its status; give the number of the process."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        code = command(out)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)  # whatever happens: a fork that lives on would do what its parent does


def _wait_for(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _find_incomplete(out: Path) -> list[str]:
    """The incomplete files."""
    found = []
    for file in _list_visible(out):
        content = file.read_bytes()
        try:
            is_whole = content.endswith(_ENDS.get(file.suffix, b"\n"))
            if file.suffix == ".json":
                json.loads(content)
        except ValueError:
            is_whole = False
        found += [] if is_whole else [f"{file.relative_to(out)} is half a file"]
    return found


def _list_visible(out: Path) -> list[Path]:
    return [f for f in out.rglob("*") if f.is_file() and not f.name.startswith(".")]


def _times(out: Path) -> dict[str, int]:
    return {
        str(f.relative_to(out)): f.stat().st_mtime_ns
        for f in out.rglob("*.json")
        if not f.name.startswith(".")
    }


def _read_content(out: Path) -> dict[str, Any]:
    """The computed content without times and dates; of other files only that they exist."""
    return {
        str(file.relative_to(out)): _drop_times(json.loads(file.read_bytes()))
        if file.suffix == ".json"
        else "there"
        for file in _list_visible(out)
    }


def _find_differences(x: Any, y: Any, place: str = "") -> Iterator[str]:
    """Where two contents differ."""
    if isinstance(x, dict) and isinstance(y, dict):
        for key in x.keys() | y.keys():
            yield from _find_differences(x.get(key), y.get(key), f"{place}/{key}")
    elif isinstance(x, list) and isinstance(y, list) and len(x) == len(y):
        for k, (one, other) in enumerate(zip(x, y, strict=True)):
            yield from _find_differences(one, other, f"{place}/{k}")
    elif x != y:
        yield place


def _drop_times(x: Any) -> Any:
    if isinstance(x, dict):
        return {k: _drop_times(v) for k, v in x.items() if not _MEASURED.fullmatch(k)}
    return [_drop_times(v) for v in x] if isinstance(x, list) else x


def _clear(out: Path) -> None:
    for file in out.rglob("*"):
        if file.is_file():
            file.unlink()
