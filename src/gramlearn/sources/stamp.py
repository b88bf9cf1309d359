"""Size and time of a file: whether it is still the one that was opened."""

import gzip
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

from gramlearn.sources.errors import FileError
from gramlearn.sources.opening import opened


@final
@dataclass(frozen=True)
class Stamp:
    """A file on the disk, by its full path, and by the name that the user gave it.

    What is read again in every pass, perhaps by other processes, must be the same each time: its size and the
    time of its last change are those it had at first.
    """

    path: str
    name: str
    size: int
    modified: int

    @classmethod
    def of(cls, path: str | Path) -> "Stamp":
        """That of a file as it is now."""
        name = str(path)
        try:
            found = os.stat(path)
        except ValueError as error:  # a zero in it
            raise FileError(f"{name!r:.60} is not the name of a file.") from error
        except FileNotFoundError as error:
            raise FileError(f"{name} does not exist; check the path.") from error
        except OSError as error:
            raise FileError(f"{name} cannot be read: {error.strerror or error}.") from error
        with opened(path) as raw:
            if isinstance(raw, io.BytesIO | gzip.GzipFile):
                raise FileError(
                    f"{name} is packed with gzip, or a pipe, and is read chunk by chunk in every pass; make it "
                    "a plain file."
                )
        return cls(str(Path(path).resolve()), name, found.st_size, found.st_mtime_ns)

    @property
    def mark(self) -> bytes:
        """What is another one for another file, or for the same one after a change."""
        return f"{self.path} {self.size} {self.modified}".encode("utf-8", "surrogateescape")

    def check(self) -> None:
        """Refuse a file that is another one now, or gone."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise FileError(
                f"{self.name} cannot be read any more ({error.strerror or error}); it is read again in every "
                "pass, so it must stay where it is, and be there for every worker of a cluster."
            ) from error
        if found.st_size != self.size:
            raise FileError(
                self.changed(f"it had {self.size:,} bytes then and has {found.st_size:,}")
            )
        if found.st_mtime_ns != self.modified:
            raise FileError(self.changed("it has been written to"))

    def changed(self, how: str) -> str:
        """Say that it is another file now."""
        return (
            f"{self.name} has been changed since it was opened ({how}); it is read again in every pass, so "
            "open it anew and leave it as it is."
        )
