"""bytes -> text: files, stdin and what gzip packed, opened; and in one sentence why they cannot be read.

Text is UTF-8, or UTF-16 and UTF-32 as Windows writes them. Other encodings cannot be told from each other, so
they are refused, and the line is named.
"""

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from gramlearn.sources.errors import FileError

_HEAD = 4096  # bytes that are looked at before anything is read
_GZIP = b"\x1f\x8b"
_MARKS = (  # of UTF-32 first, for that of UTF-16 is how one of them begins
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FILES = (
    (b"PAR1", "a Parquet file; say so with the format 'parquet'"),
    (b"\x93NUMPY", "an array of NumPy; say so with the format 'npy'"),
    (b"PK\x03\x04", "a zip archive, such as a spreadsheet or .npz; save it as CSV or .npy"),
    (b"\xd0\xcf\x11\xe0", "a file of Excel; save it as CSV in UTF-8"),
    (b"\x89HDF", "an HDF5 file; save its table as CSV or Parquet, or its array as .npy"),
    (b"SQLite format 3", "an SQLite database; export its table as CSV"),
    (b"ARROW1", "an Arrow file; save it as Parquet"),
    (b"%PDF", "a PDF; save its table as CSV"),
    (b"BZh", "packed with bzip2; unpack it first"),
    (b"\xfd7zXZ", "packed with xz; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd; unpack it first"),
)


def name_of(path: str | Path) -> str:
    """The file as messages name it: as it was given, and stdin for "-"."""
    return "stdin" if str(path) == "-" else str(path)


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """The bytes of a file or of stdin, unpacked if gzip packed them; they can be read again from the start."""
    name = name_of(path)
    try:
        with _open_raw(path) as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
    except FileNotFoundError as error:
        raise FileError(f"{name} does not exist; check the path.") from error
    except IsADirectoryError as error:
        raise FileError(f"{name} is a folder; name a file in it.") from error
    except PermissionError as error:
        raise FileError(f"{name} may not be read; check its permissions.") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(
            f"{name} is packed with gzip, and is damaged or cut off; make or fetch it again."
        ) from error
    except OSError as error:
        raise FileError(f"{name} cannot be read: {error.strerror or error}.") from error


@contextmanager
def opened_text(path: str | Path) -> Iterator[TextIO]:
    """The text of a file, with the ends of lines as they are."""
    name = name_of(path)
    with opened(path) as file:
        head = file.read(_HEAD)
        file.seek(0)
        encoding = _find_encoding(head, name)
        # Without a `with`: closing is up to what opened the bytes.
        text = io.TextIOWrapper(file, encoding=encoding, newline="")
        try:
            yield text
        except UnicodeDecodeError as error:
            raise FileError(_why_undecoded(file, name, encoding)) from error
        finally:
            text.detach()


def _open_raw(path: str | Path) -> BinaryIO:
    if str(path) == "-":
        return io.BytesIO(sys.stdin.buffer.read())
    file = Path(path).open("rb")  # noqa: SIM115 - closed by what it is given to
    if file.seekable():
        return file
    with file:  # a pipe with a name
        return io.BytesIO(file.read())


def _find_encoding(head: bytes, name: str) -> str:
    if not head.strip():
        raise FileError(f"{name} is empty.")
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    for magic, what in _OTHER_FILES:
        if head.startswith(magic):
            raise FileError(f"{name} is not text but {what}.")
    if b"\0" in head:
        return _find_unmarked_utf_16(head, name)
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\v\x1b" for byte in head)
    if controls > len(head) // 50:
        raise FileError(f"{name} is not text: it has bytes that no text has; check the path.")
    return "utf-8"


def _find_unmarked_utf_16(head: bytes, name: str) -> str:
    """Text in Latin letters has a zero in every other byte."""
    for encoding, zeros, others in (
        ("utf-16-le", head[1::2], head[0::2]),
        ("utf-16-be", head[0::2], head[1::2]),
    ):
        if zeros.count(0) > 0.7 * len(zeros) and others.count(0) == 0:
            return encoding
    raise FileError(f"{name} is not text: it has zero bytes; check the path, or state the format.")


def _why_undecoded(file: BinaryIO, name: str, encoding: str) -> str:
    if not encoding.startswith("utf-8"):
        return f"{name} begins as {encoding.upper()}, and is damaged or cut off; save it as UTF-8."
    file.seek(0)
    for number, line in enumerate(file, start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return (
                f"{name}, line {number} is not UTF-8 (byte 0x{line[error.start]:02x}); if the file is Latin-1 "
                f"or Windows-1252, save it as UTF-8: `iconv -f WINDOWS-1252 -t UTF-8`."
            )
    return f"{name} is not UTF-8; save it as UTF-8."
