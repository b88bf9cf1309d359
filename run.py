"""The two commands of the README, on plain Python: nothing has to be installed first.

    python3 run.py demo  [arguments of `gramlearn demo`]
    python3 run.py tests [arguments of pytest]

Both work in `.venv`, made beside this file the first time and again whenever the Python, the
place of this folder or pyproject.toml has changed. No compiler is needed.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

# This file keeps to syntax that older Pythons can read, so that they get as far as this sentence.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"gramlearn needs Python 3.11 or newer, and this is Python {platform.python_version()}: "
        "run the same command with a newer one, for example `python3.12 run.py tests`."
    )

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "gramlearn.json"  # what the environment was made from, and the extras it has
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
SUFFIX = ".exe" if os.name == "nt" else ""

EXTRAS = {"demo": ["plot"], "tests": ["plot", "test"]}
MAX_WORKERS = 4
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


def main(arguments: list[str]) -> int:
    """Run the command named by the first argument, and return its exit status."""
    if not arguments or arguments[0] not in EXTRAS:
        print(__doc__)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    command, rest = arguments[0], arguments[1:]
    prepare(EXTRAS[command])
    return run_demo(rest) if command == "demo" else run_tests(rest)


def run_demo(arguments: list[str]) -> int:
    """`gramlearn demo`, in the folder the user is in."""
    return call(tool("gramlearn"), "demo", *arguments)


def run_tests(arguments: list[str]) -> int:
    """Every check in turn; the first that fails ends the run."""
    checks = {
        "ruff check": [tool("ruff"), "check", "."],
        "ruff format": [tool("ruff"), "format", "--check", "."],
        "mypy": [tool("mypy")],
        "import-linter": [tool("lint-imports"), "--no-logo"],
    }
    for name, check in checks.items():
        heading(name)
        status = call(*check, cwd=ROOT)
        if status:
            return status
    heading("pytest")
    # The workers share the cores: each keeps to one thread. pytest has the last word.
    workers = min(usable_cores(), MAX_WORKERS)
    pytest = [tool("pytest"), "-n", str(workers), *arguments]
    return call(*pytest, cwd=ROOT, env={**os.environ, **ONE_THREAD})


def prepare(extras: list[str]) -> None:
    """Make `.venv` if it is missing or out of date, and install what `extras` lack in it."""
    fingerprint = current_fingerprint()
    installed = extras_installed(fingerprint)
    if installed is None:
        make_environment()
        installed = []
    if set(extras) <= set(installed):
        return
    say(f"Installing gramlearn with its {' and '.join(extras)} packages into .venv (only once).")
    pip = [tool("python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    wheels_only = ["--only-binary", ":all:"]  # so that no compiler is ever asked for
    project = ["--editable", f"{ROOT}[{','.join(extras)}]"]
    status = call(*pip, *wheels_only, *project)
    if status:
        say("The installation failed; pip says why above. Mend it and run the same command again.")
        sys.exit(status)
    write_stamp(fingerprint, sorted({*installed, *extras}))


def current_fingerprint() -> str:
    """A hash of all that `.venv` depends on: this Python, this folder, pyproject.toml."""
    python = f"{platform.python_implementation()} {sys.version} {platform.machine()}"
    parts = [python.encode(), os.fsencode(ROOT), (ROOT / "pyproject.toml").read_bytes()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def extras_installed(fingerprint: str) -> "list[str] | None":
    """The extras `.venv` has, or None where it has to be made anew."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
        matches = stamp["fingerprint"] == fingerprint and Path(tool("python")).exists()
        return stamp["extras"] if matches else None
    except (OSError, ValueError, KeyError):
        return None


def write_stamp(fingerprint: str, extras: list[str]) -> None:
    """Note what `.venv` was made from; an empty fingerprint marks one that is unfinished."""
    stamp = {"fingerprint": fingerprint, "extras": extras}
    STAMP.write_text(json.dumps(stamp) + "\n", encoding="utf-8")


def make_environment() -> None:
    """Put an empty virtual environment at `.venv`, in place of an outdated one of ours."""
    if VENV.exists():
        if not STAMP.exists():
            sys.exit(f"{VENV} was not made by run.py; move it away and run the same command again.")
        if Path(sys.prefix).resolve() == VENV.resolve():
            sys.exit("`.venv` is out of date and in use; `deactivate` it and run this again.")
        shutil.rmtree(VENV)
    say("Making the virtual environment .venv (only once).")
    VENV.mkdir()
    write_stamp("", [])
    status = call(sys.executable, "-m", "venv", str(VENV))
    if status:
        say("Python could not make a virtual environment; on Debian or Ubuntu, its package is")
        say("python3-venv. Install that and run the same command again.")
        sys.exit(status)


def usable_cores() -> int:
    """The cores this process may use, which in a container can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def tool(name: str) -> str:
    """The path of a program inside `.venv`."""
    return str(SCRIPTS / (name + SUFFIX))


def call(*command: str, cwd: "Path | None" = None, env: "dict[str, str] | None" = None) -> int:
    """Run a command, its output going where ours goes, and return its exit status."""
    return subprocess.run(command, cwd=cwd, env=env, check=False).returncode


def heading(text: str) -> None:
    """One line that says which step comes next."""
    say(f"\n--- {text} ---")


def say(text: str) -> None:
    """Print at once, ahead of the output of the next command."""
    print(text, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
