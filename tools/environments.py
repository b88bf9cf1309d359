"""A virtual environment for a method whose packages do not get along with gramlearn's.

It is made once, under tools/.cache/, in a folder whose name depends on the packages. Two processes may
make the same one: each does so in a folder of its own, and the first to finish gives it its name.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["METRIC_LEARN", "METRIC_LEARN_SDML", "TORCH", "UnavailableError", "find_interpreter"]

CACHE = Path(__file__).resolve().parent / ".cache"
# Release 0.7.0 fails on scikit-learn 1.8 and newer.
METRIC_LEARN = ("metric-learn==0.7.0", "scikit-learn<1.8", "numpy>=2")
# Its SDML fails on scikit-learn 1.5 and newer already.
METRIC_LEARN_SDML = ("metric-learn==0.7.0", "scikit-learn<1.5", "numpy<2")
TORCH = ("torch==2.13.0", "numpy>=2")


class UnavailableError(Exception):
    """The data, the device or the package is not there; the message says what to do."""


def find_interpreter(
    requirements: tuple[str, ...], may_make: bool, sources: tuple[str, ...] = ()
) -> str:
    """The Python that has these packages, or this one where there are none to ask for.

    `sources` are packages that come as sources alone: they are built with what the requirements bring along.
    """
    if not requirements:
        return sys.executable
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    name = hashlib.sha256(" ".join((version, *requirements, *sources)).encode()).hexdigest()[:12]
    folder = CACHE / f"environment-{name}"
    if not folder.exists():
        wanted = ", ".join((*requirements, *sources))
        if not may_make:
            raise UnavailableError(
                f"a quick run makes no environment for {wanted}; a full run does, once"
            )
        unnamed = CACHE / f"environment-{name}-{os.getpid()}"
        try:
            _make(unnamed, requirements, sources, wanted)
            try:
                unnamed.rename(folder)
            except OSError as error:
                if not folder.exists():  # where it does, another process was faster
                    raise UnavailableError(
                        f"an environment with {wanted} could not be kept: {error}"
                    ) from error
        finally:
            shutil.rmtree(unnamed, ignore_errors=True)
    return _python_in(folder)


def _make(
    folder: Path, requirements: tuple[str, ...], sources: tuple[str, ...], wanted: str
) -> None:
    _call([sys.executable, "-m", "venv", str(folder)], wanted)
    pip = [_python_in(folder), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    _call([*pip, "--only-binary", ":all:", *requirements], wanted)
    if sources:
        _call([*pip, "--no-build-isolation", "--no-deps", *sources], wanted, CFLAGS="-O1 -g0")


def _python_in(folder: Path) -> str:
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def _call(command: list[str], wanted: str, **variables: str) -> None:
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it gave no reason"]
        raise UnavailableError(f"an environment with {wanted} could not be made: {lines[-1]}")
