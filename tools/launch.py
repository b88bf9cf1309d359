"""Start a worker process, wait for it, and stop it when its time is up.

A worker keeps its limit itself; the clock here is for one that cannot. It starts again when the
worker says that the solve begins, so that loading and compiling are not counted; it may then say a limit
of its own, for one that it has measured.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Timer

__all__ = ["SOLVING", "launch"]

# By this line a worker tells that a solve begins; seconds behind it take the place of the limit.
SOLVING = "tools: the clock runs"

_ROOT = Path(__file__).resolve().parent.parent
_SETUP_LIMIT = 1800.0  # seconds for loading, compiling and warming up


def launch(
    module: str,
    python: str,
    folder: Path,
    name: str,
    limit: float,
    solves: int = 1,
    alone: bool = False,
    extra: tuple[str, ...] = (),
    heard: Callable[[], object] = lambda: None,
) -> str:
    """Run the worker `module` on what lies in `folder`; say how its process ended.

    `alone` leaves out the packages of this process: the interpreter has its own. `extra` is what the worker is
    told beside the limit; `heard` is called when it says that a solve begins.
    """
    command = [python, "-m", module, str(folder), name, str(limit), *extra]
    pipes = {"stdout": subprocess.PIPE, "text": True, "env": _environment(alone)}
    ended: list[float] = []
    with (
        (folder / "stderr").open("w+", encoding="utf-8") as errors,
        subprocess.Popen(command, stderr=errors, **pipes) as process,
    ):

        def clock(seconds: float) -> Timer:
            timer = Timer(seconds, lambda: (ended.append(seconds), process.kill()))
            timer.start()
            return timer

        timer = clock(_SETUP_LIMIT)
        try:
            for line in process.stdout:
                if line.startswith(SOLVING):
                    heard()
                    timer.cancel()
                    said = line.removeprefix(SOLVING).strip()
                    timer = clock(1.5 * solves * (float(said) if said else limit) + 30)
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
        errors.seek(0)
        lines = errors.read().strip().splitlines()
    if ended:
        return f"it was ended after {ended[0]:.0f} s"
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}, perhaps for want of memory"
    return f"it ended with status {code}: {lines[-1] if lines else 'it gave no reason'}"


def _environment(alone: bool) -> dict[str, str]:
    paths = [str(_ROOT)]
    if not alone:
        paths += [p for p in (os.environ.get("PYTHONPATH"), str(_ROOT / "src")) if p]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
