"""new file = written beside, then renamed over the old one: whole or absent at any time.

So a full disk, an error and a lost process leave what stood there before.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gramlearn.files.errors import UnwritableFileError

_UMASK = os.umask(0)
os.umask(_UMASK)  # it belongs to the process, and can only be read by setting it
_ADVICE = {
    errno.ENOSPC: "the disk is full; make room, or choose another folder",
    errno.EDQUOT: "your quota is used up; make room, or choose another folder",
    errno.EFBIG: "files may not grow so large here; raise the limit, such as `ulimit -f unlimited`",
    errno.EACCES: "you may not write there; choose another folder",
    errno.EPERM: "you may not write there; choose another folder",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.ENOENT: "its folder does not exist; make it, or choose another",
    errno.ENOTDIR: "a file stands where a folder is needed; choose another folder",
    errno.EISDIR: "a folder stands there; choose another name",
    errno.ENAMETOOLONG: "its name is too long; choose a shorter one",
}


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """An empty file beside `path` to write to, which takes its place at the end, if nothing was raised.

    What is no file, such as a device or a pipe, is written to as it is.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            yield path
            return
        # A link stays one: what it leads to is replaced.
        place = path.resolve()
        number, name = tempfile.mkstemp(prefix=f".{place.name[:80]}.", dir=place.parent)
        os.close(number)
        beside = Path(name)
        try:
            yield beside
            _keep_mode(beside, place)
            _flush(beside)
            os.replace(beside, place)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0)
        if advice is None or isinstance(error, UnwritableFileError):
            raise
        raise UnwritableFileError(error.errno, f"{path} could not be written: {advice}") from error


def check_writable(path: str | Path) -> None:
    """Raise what `replacing` would raise for its place, before the work is done; nothing is changed there."""
    with suppress(_TriedError), replacing(path):
        raise _TriedError


def write_text(path: str | Path, text: str) -> None:
    """Write a file of text in UTF-8, with the ends of lines as they are."""
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


class _TriedError(Exception):
    """What stands there stays."""


def _keep_mode(beside: Path, place: Path) -> None:
    """The rights of the old file; of a new one those that new files get, for that beside is private."""
    mode = place.stat().st_mode & 0o7777 if place.exists() else 0o666 & ~_UMASK
    beside.chmod(mode)


def _flush(beside: Path) -> None:
    """To the disk, before it takes its place: a machine that fails leaves the old one."""
    with beside.open("rb+") as file:
        os.fsync(file.fileno())
