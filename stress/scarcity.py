"""A full disk, a read-only folder, a file in place of a folder, little memory: a clear error, and nothing lost.

Each is tried in a fork. The command ends with status 2 and one line on stderr that says what to do; what was
finished is what it was, and the same command finishes the rest once there is room again. A full disk is one: a
file system in memory, of a megabyte, which only those who may mount one can try.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tools.atomic_files import UnwritableError

from stress.fits import FITS, digest
from stress.kills import COMMANDS, load_commands, run_in_fork
from stress.store import Store

__all__ = ["SCARCITIES", "UntriedError", "try_scarcity"]

_NOBODY = 65534
_PAGE = 4096

Attempt = Callable[[Path], tuple[str, list[str]]]


class UntriedError(Exception):
    """Why something cannot be tried here."""


def try_scarcity(name: str) -> dict[str, Any]:
    """Try one of `SCARCITIES`; say what was printed, and what is wrong with it, or why it was not tried."""
    load_commands()  # for what nobody may read, nobody can import
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        try:
            said, troubles = SCARCITIES[name](Path(place))
        except UntriedError as reason:
            return {"scarcity": name, "untried": str(reason), "troubles": []}
    if "Traceback" in said:
        troubles.append("a traceback")
    if len(said.strip().splitlines()) != 1:
        troubles.append("not one line")
    return {"scarcity": name, "said": said.strip()[-400:].replace(place, ""), "troubles": troubles}


# --------------------------------------------------------------------------------------------------
# Commands that write


def _demo(out: Path) -> int:
    from gramlearn.app import demo
    from gramlearn.app.command import main

    demo._SPLITS = 1  # in this process alone, which is a fork: it is about what is written
    return main(["demo", "--out", str(out)])


def _store(out: Path) -> int:
    """What `stress run` writes: more lines than a page of the disk has room for."""
    try:
        store = Store(out, {"seed": 0})
        for k in range(_PAGE // 100):
            store.add({"id": f"{len(store.done)}", "text": 100 * str(k % 10)})
        store.close()
    except UnwritableError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


_WRITERS = {**COMMANDS, "gramlearn demo": _demo, "outcomes of stress": _store}


def _make_attempt(what: str, limit: Callable[[Path], object]) -> Attempt:
    """A run of which a part is missing, under a limit, and again without it."""

    def attempt(place: Path) -> tuple[str, list[str]]:
        out = place / "out"
        return _try_command(what, place, out, limit, lambda: None)

    return attempt


def _try_command(
    what: str,
    place: Path,
    out: Path,
    limit: Callable[[Path], object],
    make_room: Callable[[], object],
) -> tuple[str, list[str]]:
    run, said = _WRITERS[what], place / "said"
    troubles = [] if run_in_fork(run, out, None) == 0 else ["the first run did not end well"]
    whole = _files(out)
    lost = next(iter(sorted(out.rglob("parts/*.json"))), None)
    if not whole:
        return "", ["the first run left nothing"]
    if lost is not None:
        lost.unlink()
    before = _files(out)

    def limited(out: Path) -> int:
        limit(out)
        return run(out)

    code = run_in_fork(limited, out, None, str(said))
    troubles += [] if code == 2 else [f"the status is {code}, not 2"]
    make_room()
    now = _files(out)
    troubles += [f"{file} is lost" for file in before.keys() - now.keys()]
    troubles += [f"{file} is a piece" for file in now.keys() - whole.keys()]
    # What is only ever appended to begins with what it was.
    troubles += [
        f"{file} has changed"
        for file, content in before.items()
        if file in now and not now[file].startswith(content)
    ]
    again = run_in_fork(run, out, None)
    is_all = _files(out).keys() == whole.keys()
    troubles += [] if again == 0 and is_all else ["it does not go on afterwards"]
    return said.read_text(encoding="utf-8"), troubles


def _files(out: Path) -> dict[str, bytes]:
    return {str(f.relative_to(out)): f.read_bytes() for f in out.rglob("*") if f.is_file()}


# --------------------------------------------------------------------------------------------------
# What there is too little of


def _full_disk(what: str) -> Attempt:
    """The results lie on a disk of a megabyte, and something else fills it."""

    def attempt(place: Path) -> tuple[str, list[str]]:
        with _disk(place / "disk") as disk:
            filler = disk / "filler"
            return _try_command(what, place, disk / "out", lambda out: _fill(filler), filler.unlink)

    return attempt


def _full_temporary_folder(place: Path) -> tuple[str, list[str]]:
    with _disk(place / "disk") as disk:
        filler = disk / "filler"

        def limit(out: Path) -> None:
            del out
            _fill(filler)
            tempfile.tempdir = str(disk)

        return _try_command("benchmarks run", place, place / "out", limit, filler.unlink)


@contextmanager
def _disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise UntriedError("only those who may mount a file system have a small one") from error
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(_PAGE))
        except OSError:
            pass


def _small_files(out: Path) -> None:
    """No file may grow beyond a few bytes (`ulimit -f`)."""
    del out
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1200, 1200))


def _no_rights(out: Path) -> None:
    """As somebody who may read and not write; root may always."""
    # What it imports on its way, nobody may not read.
    COMMANDS["experiments run"](out.parent / "warm")
    sys.stderr.flush()
    os.truncate(out.parent / "said", 0)
    os.lseek(2, 0, os.SEEK_SET)
    os.setgroups([])
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)


def _folder_without_rights(place: Path) -> tuple[str, list[str]]:
    if os.getuid() != 0:
        raise UntriedError("only root can become nobody")
    return _make_attempt("experiments run", _no_rights)(place)


def _file_for_folder(place: Path) -> tuple[str, list[str]]:
    out, said = place / "out", place / "said"
    out.mkdir()
    (out / "kills-quick").write_text("mine", encoding="utf-8")
    code = run_in_fork(COMMANDS["experiments run"], out, None, str(said))
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
            print(error, file=sys.stderr)
        else:
            return 3
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        same = digest(small.answers(small.run(small.make(), data), data)) == right
        return 2 if same and vars(estimator) == before else 4

    code = run_in_fork(fit, place, None, str(said))
    return said.read_text(encoding="utf-8"), [] if code == 2 else [f"it ended with {code}"]


SCARCITIES: dict[str, Attempt] = {
    **{f"full disk, {what}": _full_disk(what) for what in _WRITERS},
    "full folder for temporary files, benchmarks run": _full_temporary_folder,
    "small files, experiments run": _make_attempt("experiments run", _small_files),
    "no rights, experiments run": _folder_without_rights,
    "file for folder, experiments run": _file_for_folder,
    "address space, fit": _memory,
}
