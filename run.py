"""The two commands of the README, on plain Python: nothing has to be installed first.

    python3 run.py demo  [arguments of `gramlearn demo`]
    python3 run.py tests [arguments of pytest]
    python3 run.py tests --machines [arguments of pytest]    # as on other processors, and with old packages

All work in `.venv`, made beside this file the first time and again whenever the Python, the place of this
folder or pyproject.toml has changed. No compiler is needed. What `--machines` does stands in tools/machines.py.
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
SUFFIX = ".exe" if os.name == "nt" else ""

EXTRAS = {"demo": ["plot"], "tests": ["plot", "test"]}
MAX_WORKERS = 4
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]


def main(arguments: list[str]) -> int:
    """Run the command named by the first argument, and return its exit status."""
    if not arguments or arguments[0] not in EXTRAS:
        print(__doc__)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    command, rest = arguments[0], arguments[1:]
    environment = Environment(".venv")
    environment.prepare(EXTRAS[command])
    if command == "demo":
        return run_demo(environment, rest)
    if "--machines" in rest:
        from tools.machines import run_machines

        rest.remove("--machines")
        return run_machines(environment, rest)
    return run_tests(environment, rest)


def run_demo(environment: "Environment", arguments: list[str]) -> int:
    """`gramlearn demo`, in the folder the user is in."""
    return call(environment.tool("gramlearn"), "demo", *arguments)


def run_tests(environment: "Environment", arguments: list[str]) -> int:
    """Every check in turn; the first that fails ends the run."""
    tool = environment.tool
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
    return call(*pytest(environment, arguments), cwd=ROOT, env={**os.environ, **threads(1)})


def pytest(environment: "Environment", arguments: list[str]) -> list[str]:
    """The command that runs the tests, on as many processes as there are cores.

    Each begins with a stretch of neighbors, which compile and share the same, and takes half of what another
    has left when it is through: so none ends long before the others.
    """
    workers = min(usable_cores(), MAX_WORKERS)
    return [environment.tool("pytest"), "-n", str(workers), "--dist", "worksteal", *arguments]


def threads(count: int) -> dict[str, str]:
    """The variables by which numerical libraries are told how many threads to use."""
    return dict.fromkeys(THREADS, str(count))


class Environment:
    """A virtual environment beside this file; `pins` hold packages to versions, as `numpy==2.0` does."""

    def __init__(self, name: str, pins: tuple[str, ...] = (), python: str = sys.executable) -> None:
        self.name = name
        self.pins = pins
        self.python = python
        self.folder = ROOT / name
        self.stamp = self.folder / "gramlearn.json"  # what it was made from, and the extras it has

    def tool(self, name: str) -> str:
        """The path of a program inside the environment."""
        return str(self.folder / ("Scripts" if os.name == "nt" else "bin") / (name + SUFFIX))

    def prepare(self, extras: list[str]) -> None:
        """Make the environment if it is missing or out of date, and install what `extras` lack in it."""
        fingerprint = current_fingerprint()
        installed = self.extras_installed(fingerprint)
        if installed is None:
            self.make()
            installed = []
        if set(extras) <= set(installed):
            return
        packages = f"its {' and '.join(extras)} packages"
        say(f"Installing gramlearn with {packages} into {self.name} (only once).")
        pins = self.folder / "pins.txt"
        pins.write_text("\n".join(self.pins) + "\n", encoding="utf-8")
        pip = [self.tool("python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        wheels_only = ["--only-binary", ":all:"]  # so that no compiler is ever asked for
        project = ["--constraint", str(pins), "--editable", f"{ROOT}[{','.join(extras)}]"]
        status = call(*pip, *wheels_only, *project)
        if status:
            say("The installation failed; pip says why above. Mend it and run the same again.")
            sys.exit(status)
        self.write_stamp(fingerprint, sorted({*installed, *extras}))

    def extras_installed(self, fingerprint: str) -> "list[str] | None":
        """The extras there are, or None where the environment has to be made anew."""
        try:
            stamp = json.loads(self.stamp.read_text(encoding="utf-8"))
            matches = stamp["fingerprint"] == fingerprint and Path(self.tool("python")).exists()
            return stamp["extras"] if matches else None
        except (OSError, ValueError, KeyError):
            return None

    def write_stamp(self, fingerprint: str, extras: list[str]) -> None:
        """Note what the environment was made from; an empty fingerprint marks one that is unfinished."""
        stamp = {"fingerprint": fingerprint, "extras": extras}
        self.stamp.write_text(json.dumps(stamp) + "\n", encoding="utf-8")

    def make(self) -> None:
        """Put an empty virtual environment there, in place of an outdated one of ours."""
        folder = self.folder
        if folder.exists():
            if not self.stamp.exists():
                sys.exit(f"{folder} was not made by run.py; move it away and run the same again.")
            if Path(sys.prefix).resolve() == folder.resolve():
                sys.exit(f"`{self.name}` is out of date and in use; `deactivate` it and try again.")
            shutil.rmtree(folder)
        say(f"Making the virtual environment {self.name} (only once).")
        folder.mkdir()
        self.write_stamp("", [])
        status = call(self.python, "-m", "venv", str(folder))
        if status:
            say("Python could not make a virtual environment; on Debian or Ubuntu, its package is")
            say("python3-venv. Install that and run the same command again.")
            sys.exit(status)


def current_fingerprint() -> str:
    """A hash of all that an environment depends on: this Python, this folder, pyproject.toml."""
    python = f"{platform.python_implementation()} {sys.version} {platform.machine()}"
    parts = [python.encode(), os.fsencode(ROOT), (ROOT / "pyproject.toml").read_bytes()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def usable_cores() -> int:
    """The cores this process may use, which in a container can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
