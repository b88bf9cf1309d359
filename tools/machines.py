"""Run the tests as on other machines: other rounding, other numbers of threads, the oldest allowed packages.

    python3 run.py tests --machines [arguments of pytest]

OpenBLAS brings the loops of many processors along, and OPENBLAS_CORETYPE makes it take those of another one,
which add in another order. On the least of them NumPy and Numba do without the processor's vectors, too. A
machine is a choice of these loops, a number of threads, and packages: the newest, or those of the lower bounds
in pyproject.toml. All loops are tried with one thread and the newest packages, this processor's own with two
threads as well, and the least and this processor's own with the oldest packages. What differs most comes first.

A name that makes no difference is left out, and that is said: OpenBLAS takes other loops where the processor
cannot do those asked for. Where no name makes any, there is nothing to be tried, and the command refuses.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

from run import EXTRAS, ROOT, Environment, pytest, say, threads

LOGS = ROOT / ".machines"
_X86 = ["Prescott", "Nehalem", "Sandybridge", "Haswell", "SkylakeX"]
_ARM = ["ARMV8", "NEOVERSEN1", "NEOVERSEV1", "NEOVERSEN2"]
CORES = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}  # the least first

# Multiplies in NumPy and SciPy, and says which loops they took; a processor that cannot do them ends it.
_LOOK = """
import json, numpy, scipy.linalg, threadpoolctl
A = numpy.eye(64) + 1 / 3
scipy.linalg.cholesky(A @ A)
found = [i for i in threadpoolctl.threadpool_info() if i["internal_api"] == "openblas"]
vectors = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
print(json.dumps([sorted({str(i["architecture"]) for i in found}), vectors]))
"""


class Loops(NamedTuple):
    """What OPENBLAS_CORETYPE was set to, the loops that it gave, and the vectors that NumPy uses."""

    core: str
    architecture: str
    vectors: list[str]


class Machine(NamedTuple):
    """One way to run the tests."""

    loops: Loops
    threads: int
    environment: Environment
    is_plain: bool  # no vectors in NumPy and Numba either

    @property
    def is_oldest(self) -> bool:
        """Whether its packages are the oldest."""
        return bool(self.environment.pins)

    @property
    def name(self) -> str:
        """Its loops, threads and packages, in words."""
        packages = "oldest" if self.is_oldest else "newest"
        count = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        return f"{self.loops.core}, {count}, {packages} packages"

    @property
    def settings(self) -> dict[str, str]:
        """Its environment variables."""
        plain = {
            "NPY_DISABLE_CPU_FEATURES": " ".join(self.loops.vectors),
            "NUMBA_CPU_NAME": "generic",
        }
        core = {"OPENBLAS_CORETYPE": self.loops.core}
        return {**threads(self.threads), **core, **(plain if self.is_plain else {})}

    @property
    def options(self) -> list[str]:
        """Of pytest. What old packages use of each other may have gone out of use since; that is theirs."""
        return ["-W", "ignore::DeprecationWarning"] if self.is_oldest else []


class Outcome(NamedTuple):
    """How the tests ended: pytest's last line, and the tests that failed."""

    line: str
    failed: list[str]


def run_machines(newest: Environment, arguments: list[str]) -> int:
    """Run the tests on one machine after another, and return whether any of them failed."""
    oldest = make_oldest_environment()
    if oldest is not None:
        oldest.prepare([*EXTRAS["tests"], "neighbors"])
    LOGS.mkdir(exist_ok=True)
    outcomes = {}
    for machine in plan_machines(newest, oldest):
        log = LOGS / (re.sub(r"\W+", "-", machine.name) + ".txt")
        began = time.monotonic()
        outcome = run_machine(machine, arguments, log)
        outcomes[machine.name] = outcome
        say(f"{machine.name}: {outcome.line} ({(time.monotonic() - began) / 60:.1f} min; {log})")
    failures = group_by_test({name: outcome.failed for name, outcome in outcomes.items()})
    for test, where in failures.items():
        say(f"{test}\n    {'; '.join(where)}")
    if failures:
        return 1
    say(f"No test fails on any of {len(outcomes)} machines.")
    return 0


def run_machine(machine: Machine, arguments: list[str], log: Path) -> Outcome:
    """Run pytest as on that machine; what it says goes into the log."""
    command = pytest(
        machine.environment, ["-q", "-rfE", "--color=no", *machine.options, *arguments]
    )
    with log.open("w", encoding="utf-8") as file:
        subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **machine.settings},
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return read_outcome(log.read_text(encoding="utf-8"))


def read_outcome(report: str) -> Outcome:
    """Read a report of pytest. One that does not end in a count of what passed is a failure of its own."""
    lines = report.splitlines()
    last = lines[-1] if lines else "pytest said nothing"
    failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", report, flags=re.MULTILINE)
    if " passed" not in last and not failed:
        failed = ["(the whole run)"]
    return Outcome(last.strip("= "), failed)


def group_by_test(failed: dict[str, list[str]]) -> dict[str, list[str]]:
    """The machines on which each test failed, from the tests that failed on each machine."""
    tests = sorted({test for some in failed.values() for test in some})
    return {test: [name for name, some in failed.items() if test in some] for test in tests}


# -- which machines --------------------------------------------------------------------------------


def plan_machines(newest: Environment, oldest: Environment | None) -> list[Machine]:
    """The machines to try, those that differ most from this one first."""
    own = detect_loops(newest, {})
    if own is None or not own.architecture:
        sys.exit(
            "`--machines` needs the NumPy and SciPy of PyPI, whose BLAS is OpenBLAS; this is another."
        )
    known = CORES.get(platform.machine(), [])
    found = [detect_loops(newest, {"OPENBLAS_CORETYPE": core}) for core in known]
    cores = choose_cores(own, dict(zip(known, found, strict=True)))
    if len(cores) == 1:
        sys.exit(
            f"OPENBLAS_CORETYPE makes no difference here: OpenBLAS takes the loops of {own.architecture} "
            f"whichever of {known} it is set to. There are no other machines to be tried."
        )
    least, usual = cores[0], cores[-1]
    machines = [Machine(least, 1, newest, is_plain=True), Machine(usual, 2, newest, is_plain=False)]
    if oldest is not None:
        # The same names mean something to the OpenBLAS of then; NumPy has changed those of its vectors.
        usual, least = (
            detect_loops(oldest, {"OPENBLAS_CORETYPE": loops.core}) for loops in (usual, least)
        )
        machines += [Machine(usual, 1, oldest, is_plain=False)] if usual else []
        machines += [Machine(least, 2, oldest, is_plain=True)] if least else []
    return machines + [Machine(loops, 1, newest, is_plain=False) for loops in cores[1:]]


def detect_loops(environment: Environment, settings: dict[str, str]) -> Loops | None:
    """See which loops OpenBLAS takes with these settings; None where this processor cannot do them."""
    command = [environment.tool("python"), "-c", _LOOK]
    done = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return None
    architectures, vectors = json.loads(done.stdout)
    return Loops(settings.get("OPENBLAS_CORETYPE", ""), " and ".join(architectures), vectors)


def choose_cores(own: Loops, found: dict[str, Loops | None]) -> list[Loops]:
    """The cores that give loops of their own, in NumPy and SciPy alike; this processor's own comes last."""
    taken: dict[str, Loops] = {}
    for core, loops in found.items():
        if loops is None:
            say(f"{core} is left out: this processor cannot run its loops.")
        elif " and " in loops.architecture:
            say(f"{core} is left out: NumPy and SciPy take different loops, {loops.architecture}.")
        elif loops.architecture in taken:
            say(f"{core} is left out: OpenBLAS takes the loops of {loops.architecture} instead.")
        else:
            taken[loops.architecture] = loops
    last = taken.pop(own.architecture, own._replace(core=own.architecture))
    return [*taken.values(), last]


# -- the oldest packages ---------------------------------------------------------------------------


def make_oldest_environment() -> Environment | None:
    """`.venv-oldest`, of the lower bounds in pyproject.toml, on the oldest Python; None without that."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = lower_bound(f"python{project['requires-python']}").removeprefix("python==")
    is_this = platform.python_version().startswith(version + ".")
    python = sys.executable if is_this else shutil.which(f"python{version}")
    if python is None:
        say(
            f"The oldest packages are left out: they need python{version}, which is not on the PATH."
        )
        return None
    return Environment(".venv-oldest", find_oldest_versions(project), python)


def find_oldest_versions(project: dict) -> tuple[str, ...]:
    """The least version that each requirement of the project and its extras allows, as pip writes it."""
    extras = project.get("optional-dependencies", {}).values()
    return tuple(
        sorted({lower_bound(r) for some in [project["dependencies"], *extras] for r in some})
    )


def lower_bound(requirement: str) -> str:
    """`name==version` of the least version that `name>=version` or `name==version` allows."""
    match = re.fullmatch(r"([\w.-]*\w(?:\[\w+\])?)\s*((?:[><=!~]=?|===)[^;\[\]]+)", requirement)
    name, versions = match.groups() if match else (requirement, "")
    least = [v.strip() for v in versions.split(",") if v.strip().startswith((">=", "=="))]
    if len(least) != 1:
        raise ValueError(
            f"`{requirement}` in pyproject.toml has no lower bound; write `{name}>=version`."
        )
    return f"{name}=={least[0][2:].strip()}"
