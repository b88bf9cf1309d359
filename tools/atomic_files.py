"""Write files atomically: first under a temporary name, then moved into place in one step.

So a run that is killed leaves whole files only, and one whose disk is full keeps those it had. What could not
be written is said in one sentence, with what to do about it.
"""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["UnwritableError", "explain_write_error", "save_figure_atomically", "write_atomically"]

_ADVICE = {
    errno.ENOSPC: "the disk is full; make room, and the same command goes on from what is finished",
    errno.EDQUOT: "your quota is used up; make room, and the same command goes on from what is finished",
    errno.EFBIG: "files may not grow so large here; raise the limit, such as `ulimit -f unlimited`",
    errno.EACCES: "you may not write there; pass another folder as --out, or ask for the right",
    errno.EPERM: "you may not write there; pass another folder as --out, or ask for the right",
    errno.EROFS: "the disk is read-only; pass another folder as --out",
    errno.ENOTDIR: "a file stands where a folder is needed; move it, or pass another folder as --out",
    errno.EEXIST: "a file stands where a folder is needed; move it, or pass another folder as --out",
    errno.EISDIR: "a folder stands where the file belongs; move it, or pass another folder as --out",
}


class UnwritableError(OSError):
    """A result could not be written; the sentence says why, and what to do."""


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that it is complete or absent at any time."""

    def write(beside: Path) -> None:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(
                file.fileno()
            )  # before it takes its place: a machine that fails leaves the old one

    _replace(path, write)


def save_figure_atomically(path: Path, save: Callable[..., object]) -> None:
    """Save a figure likewise; `save` is its `savefig`."""
    _replace(path, lambda beside: save(beside, dpi=150, format=path.suffix[1:]))


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        try:
            write(beside)
            os.replace(beside, path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise explain_write_error(path, error) from error


def explain_write_error(path: Path, error: OSError) -> OSError:
    """One sentence for an error that the user can fix; other errors unchanged."""
    advice = _ADVICE.get(error.errno or 0)
    return UnwritableError(f"{path} could not be written: {advice}.") if advice else error


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of this file that killed processes have left."""
    for left in path.parent.glob(f".{path.name}.*"):
        process = left.suffix[1:]
        if process.isdecimal() and int(process) != os.getpid() and not _is_running(int(process)):
            with suppress(OSError):
                left.unlink()


def _is_running(process: int) -> bool:
    if os.name == "nt":  # where asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
