"""Finished parts on disk: one file each, complete or absent, and never taken for another part.

A file is written beside its place and moved there in one step, so a run that is killed leaves whole
files only. It is read again only if version, parameters, seed and data are still the same.
"""

import json
from pathlib import Path
from typing import Any, final

from tools.whole_files import UnwritableError, write_whole

from experiments.experiment import Part

__all__ = ["Store"]


@final
class Store:
    """The records of one run, in a folder."""

    def __init__(self, folder: Path, version: int, data: dict[str, str]) -> None:
        self.folder = folder
        self._same = {"version": version, "data": data}

    def key(self, part: Part) -> dict[str, Any]:
        """All that a result depends on."""
        key = {"id": part.id, "parameters": part.parameters, "seed": part.seed, **self._same}
        return json.loads(json.dumps(key, allow_nan=False))  # a tuple is a list once it is written

    def read(self, part: Part) -> dict[str, Any] | None:
        """The record of this very part, finished or failed; None where there is none."""
        path = self._path(part)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):  # another file than ours
            return None
        except PermissionError:
            raise UnwritableError(
                f"{path} may not be read; ask for the right, or pass another folder as --out."
            ) from None
        except (
            OSError
        ):  # none there, or something else in its place: what that is, writing will say
            return None
        key = self.key(part)
        same = isinstance(record, dict) and {name: record.get(name) for name in key} == key
        return record if same and _is_whole(record) else None

    def write(self, part: Part, facts: dict[str, Any]) -> None:
        """Keep what came of a part."""
        record = {**self.key(part), **facts}
        write_whole(self._path(part), json.dumps(record, indent=1, allow_nan=False) + "\n")

    def _path(self, part: Part) -> Path:
        return self.folder / "parts" / f"{part.id}.json"


def _is_whole(record: dict[str, Any]) -> bool:
    """Whether it says what came of its part, as `write` was given it."""
    named = {"done": ("result", dict), "failed": ("error", str)}.get(str(record.get("status")))
    return named is not None and isinstance(record.get(named[0]), named[1])
