"""A full disk, a folder without rights, a file for a folder, a limit on memory: a sentence, and nothing lost.

Each is tried in a fork. The command ends with status 2 and one line that says what to do; what was finished is
what it was, and the same command finishes the rest once there is room again.
"""

import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from stress.fits import FITS, digest
from stress.kills import COMMANDS, forked, load_commands

__all__ = ["SCARCITIES", "try_scarcity"]

_NOBODY = 65534


def try_scarcity(name: str) -> dict[str, Any]:
    """Try one of `SCARCITIES`; say what was printed, and what is wrong with it."""
    load_commands()  # for what nobody may read, nobody can import
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        said, troubles = SCARCITIES[name](Path(place))
    if "Traceback" in said:
        troubles.append("a traceback")
    if len(said.strip().splitlines()) != 1:
        troubles.append("not one line")
    return {"scarcity": name, "said": said.strip()[-400:], "troubles": troubles}


def _without(what: str, limit: Callable[[Path], object]) -> Callable[[Path], tuple[str, list[str]]]:
    """A run of which a part is missing, under a limit, and again without it."""

    def attempt(place: Path) -> tuple[str, list[str]]:
        run, out, said = COMMANDS[what], place / "out", place / "said"
        troubles = [] if forked(run, out, None) == 0 else ["the first run did not end well"]
        lost = next(iter(sorted(out.rglob("*.json"))), None)
        if lost is None:
            return "", ["the first run left nothing"]
        lost.unlink()
        before = _files(out)

        def limited(out: Path) -> int:
            limit(out)
            return run(out)

        code = forked(limited, out, None, str(said))
        troubles += [] if code == 2 else [f"the status is {code}, not 2"]
        now = _files(out)
        troubles += [
            f"{file} is lost or changed" for file in before if now.get(file) != before[file]
        ]
        again = forked(run, out, None)
        troubles += [] if again == 0 and lost.exists() else ["it does not go on afterwards"]
        return said.read_text(encoding="utf-8"), troubles

    return attempt


def _files(out: Path) -> dict[str, bytes]:
    return {str(f.relative_to(out)): f.read_bytes() for f in out.rglob("*") if f.is_file()}


def _full_disk(out: Path) -> None:
    """As if it were: no file may grow beyond a few bytes."""
    del out
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))


def _no_rights(out: Path) -> None:
    """As somebody who may read and not write; root may always."""
    COMMANDS["experiments run"](
        out.parent / "warm"
    )  # what it imports on its way, nobody may not read
    sys.stdout.flush()
    os.truncate(out.parent / "said", 0)
    os.lseek(1, 0, os.SEEK_SET)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    else:
        raise PermissionError("only root can become nobody")


def _file_for_folder(place: Path) -> tuple[str, list[str]]:
    out, said = place / "out", place / "said"
    out.mkdir()
    (out / "kills-quick").write_text("mine", encoding="utf-8")
    code = forked(COMMANDS["experiments run"], out, None, str(said))
    troubles = [] if code == 2 else [f"the status is {code}, not 2"]
    if (out / "kills-quick").read_text(encoding="utf-8") != "mine":
        troubles.append("the file is lost")
    return said.read_text(encoding="utf-8"), troubles


def _memory(place: Path) -> tuple[str, list[str]]:
    """A fit that needs more than the address space it has: MemoryError, and the next fit is what it was."""
    said = place / "said"

    def fit(out: Path) -> int:
        del out
        warnings.simplefilter("ignore")
        small = FITS["MetricLearner"]
        data = small.data(1.0)
        right = digest(small.answers(small.run(small.make(), data), data))
        X = np.random.default_rng(0).standard_normal((6000, 3))
        estimator = FITS["KernelLearner"].make()
        before = dict(vars(estimator))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        room = pages * resource.getpagesize() + 200 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))
        try:
            estimator.fit(X, np.arange(len(X)) % 3)
        except MemoryError as error:
            print(error)
        else:
            return 3
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        same = digest(small.answers(small.run(small.make(), data), data)) == right
        return 2 if same and vars(estimator) == before else 4

    code = forked(fit, place, None, str(said))
    return said.read_text(encoding="utf-8"), [] if code == 2 else [f"it ended with {code}"]


SCARCITIES: dict[str, Callable[[Path], tuple[str, list[str]]]] = {
    "full disk, experiments run": _without("experiments run", _full_disk),
    "no rights, experiments run": _without("experiments run", _no_rights),
    "file for folder, experiments run": _file_for_folder,
    "address space, fit": _memory,
}
