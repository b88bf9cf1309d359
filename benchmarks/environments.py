"""A virtual environment for a contestant whose packages do not get along with gramlearn's.

It is made once, under benchmarks/.cache/, in a folder whose name depends on the packages.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.data import UnavailableError

__all__ = ["interpreter"]

CACHE = Path(__file__).resolve().parent / ".cache"


def interpreter(requirements: tuple[str, ...], may_make: bool) -> str:
    """The Python that has these packages, or this one where there are none to ask for."""
    if not requirements:
        return sys.executable
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    name = hashlib.sha256(" ".join((version, *requirements)).encode()).hexdigest()[:12]
    folder = CACHE / f"environment-{name}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if (folder / "complete").exists():
        return str(python)
    wanted = ", ".join(requirements)
    if not may_make:
        raise UnavailableError(
            f"a quick run makes no environment for {wanted}; a full run does, once"
        )
    shutil.rmtree(folder, ignore_errors=True)
    _call([sys.executable, "-m", "venv", str(folder)], wanted)
    pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    _call([*pip, "--only-binary", ":all:", *requirements], wanted)
    (folder / "complete").touch()
    return str(python)


def _call(command: list[str], wanted: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it gave no reason"]
        raise UnavailableError(f"an environment with {wanted} could not be made: {lines[-1]}")
