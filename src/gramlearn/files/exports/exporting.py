"""What every target is given to write: the map of queries, and the vectors of documents, block by block."""

import errno
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, final

import numpy as np

from gramlearn.files.errors import UnwritableFileError
from gramlearn.files.exports.linear_map import LinearMap
from gramlearn.files.exports.queries_only import QueriesOnly
from gramlearn.files.exports.vectors import Points
from gramlearn.files.writing import replacing
from gramlearn.sources.errors import missing_package

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # as Python writes it, and within 64 bits


@final
@dataclass(frozen=True, eq=False)
class Export:
    """One export: what to write, and where.

    `side` is what documents go through, the map itself or, where queries alone are mapped, what leaves them as
    they are. `metric` is what the index searches by: inner products, where queries alone are mapped.
    """

    path: Path
    map: LinearMap
    side: LinearMap | QueriesOnly
    metric: str
    points: Points | None
    table: str
    column: str
    halfvec: bool

    @property
    def map_of_queries(self) -> LinearMap:
        """What queries go through."""
        return self.side if isinstance(self.side, LinearMap) else self.side.map_of_queries

    @property
    def is_for_queries_only(self) -> bool:
        """Whether documents stay as they are."""
        return isinstance(self.side, QueriesOnly)

    @property
    def n_columns(self) -> int:
        """The coordinates of a document in the index."""
        return self.side.n_columns

    def documents(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(ids, vectors in float32) of documents, as the index holds them; computed in double precision."""
        if self.points is None:
            return
        for first, ids, rows in self.points.blocks(self.n_columns):
            with np.errstate(over="ignore", invalid="ignore"):
                vectors = self.side.of_block(rows, "points", first).astype(np.float32)
            lost = ~np.isfinite(vectors).all(axis=1)
            if lost.any():
                raise ValueError(
                    f"row {first + int(np.argmax(lost))} of `points` is mapped to numbers that float32 cannot "
                    "hold; pass vectors in the units that the map was learned from."
                )
            yield ids, np.ascontiguousarray(vectors)


def with_whole_ids(export: Export, index: str, least: int = -(2**63)) -> Export:
    """The same with ids that an index of whole numbers takes; texts that are such numbers become them."""
    if export.points is None:
        return export
    ids = export.points.ids
    if export.points.has_texts and all(_WHOLE.fullmatch(text) for text in ids):
        ids = np.array([int(text) for text in ids], dtype=np.int64)
    if ids.dtype == object or ids.min() < least:
        kinds = "texts" if ids.dtype == object else f"less than {least}, some of them"
        limit = "whole numbers" if least < 0 else f"whole numbers of at least {least}"
        raise ValueError(
            f"`ids` are {kinds}, and an index of {index} holds {limit}; leave `ids` out, and keep them in a "
            "list by row number."
        )
    return replace(export, points=replace(export.points, ids=ids))


@final
@dataclass(frozen=True)
class Target:
    """A format: how it is written, whether it holds points, and what it is in a few words."""

    write: Callable[[Export], list[Path]]
    points: str  # "none", "optional" or "needed"
    suffix: str
    words: str


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write several files into a folder; the old ones stay until all of the new ones are there."""
    paths = [folder / name for name in files]
    with ExitStack() as stack:
        besides = [stack.enter_context(replacing(path)) for path in paths]
        for beside, content in zip(besides, files.values(), strict=True):
            beside.write_bytes(content)
    return paths


def make_folder(path: Path) -> None:
    """A folder, in a folder that exists."""
    try:
        path.mkdir(exist_ok=True)
    except FileExistsError:
        raise UnwritableFileError(
            errno.EEXIST,
            f"{path} could not be written: a file stands where a folder goes; choose another name",
        ) from None
    except FileNotFoundError:
        raise UnwritableFileError(
            errno.ENOENT,
            f"{path} could not be written: its folder does not exist; make it, or choose another",
        ) from None


def imported(module: str, package: str, what: str, extra: str = "") -> Any:
    """A module that is not needed otherwise; `extra` is the extra that its package belongs to, if any."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or module).split(".")[0] != module.split(".")[0]:
            raise
        if extra:
            raise missing_package(package, extra, what) from None
        raise ImportError(
            f"{what} needs {package}, which is not installed; run `pip install {package}`."
        ) from None
