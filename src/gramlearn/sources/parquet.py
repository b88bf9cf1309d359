"""A Parquet file, opened; and in one sentence why it cannot be read."""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from gramlearn.sources.errors import FileError, missing_package
from gramlearn.sources.opening import name_of, opened


@contextmanager
def opened_parquet(path: str | Path) -> Iterator[tuple[Any, str, Any]]:
    """(the file, its name, pyarrow); what is wrong with it is said in a sentence.

    A file on the disk is mapped into memory, which reads it a quarter faster than through Python.
    """
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise missing_package("pyarrow", "files", "reading Parquet") from error
    name = name_of(path)
    with opened(path) as raw:
        _check_begins_well(raw, name)
        try:
            source = (
                raw if isinstance(raw, io.BytesIO | gzip.GzipFile) else arrow.memory_map(str(path))
            )
            # A ParquetFile, for `read_table` takes columns from the names of folders.
            with parquet.ParquetFile(source, pre_buffer=False) as file:
                yield file, name, arrow
        except (FileError, MemoryError):  # Arrow's of memory is a kind of both
            raise
        except (arrow.ArrowException, OSError, ValueError) as error:
            why = str(error).split("\n")[0][:200].rstrip(".")
            raise FileError(f"{name} is a damaged or unusual Parquet file: {why}.") from error


def _check_begins_well(file: BinaryIO, name: str) -> None:
    head = file.read(4)
    file.seek(0)
    if not head:
        raise FileError(f"{name} is empty.")
    if head != b"PAR1":
        raise FileError(f"{name} is not a Parquet file; state the format that it has.")
