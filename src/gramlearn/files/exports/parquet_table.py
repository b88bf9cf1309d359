"""A Parquet file of ids and mapped vectors, as lists of one length: for LanceDB, DuckDB, Polars, Spark."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gramlearn.files.exports.exporting import Export, imported
from gramlearn.files.writing import replacing


def write_parquet(export: Export) -> list[Path]:
    """Columns `id`, int64 or text, and `column`, fixed_size_list<float32>[m]; a block of rows at a time."""
    assert export.points is not None
    if export.column == "id":
        raise ValueError('`column="id"` is the column of ids; choose another name for the vectors.')
    words = export.map.words
    write_vectors(
        export.path, export.documents(), export.n_columns, column=export.column, words=words
    )
    return [export.path]


def write_vectors(
    path: str | PathLike[str],
    blocks: Iterable[tuple[Any, np.ndarray]],
    n_columns: int,
    *,
    column: str = "embedding",
    words: Mapping[str, str] | None = None,
) -> None:
    """Blocks of ids (row numbers if None) and vectors, of the kind and in the precision of the first one."""
    what = "a Parquet file"
    pa = imported("pyarrow", "pyarrow", what, extra="files")
    parquet = imported("pyarrow.parquet", "pyarrow", what, extra="files")
    rest = iter(blocks)
    ids, head = next(rest)
    kind = pa.int64() if ids is None or _are_whole(ids) else pa.string()
    numbers = pa.float32() if head.dtype == np.float32 else pa.float64()
    schema = pa.schema(
        [
            pa.field("id", kind, nullable=False),
            pa.field(column, pa.list_(numbers, n_columns), nullable=False),
        ],
        metadata={"gramlearn": json.dumps(dict(words))} if words else None,
    )
    first = 0
    with (
        replacing(Path(path)) as beside,
        beside.open("wb") as file,
        # Few vectors are the same, so that a dictionary of their numbers is larger than they are.
        parquet.ParquetWriter(file, schema, use_dictionary=False) as writer,
    ):
        for some, vectors in chain([(ids, head)], rest):
            names = range(first, first + len(vectors)) if some is None else some
            # A text at a time: as an array of NumPy all would be as long as the longest.
            texts = names if pa.types.is_int64(kind) else [str(name) for name in names]
            column_of_ids = pa.array(texts, kind)
            lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), numbers), n_columns)
            writer.write_table(pa.Table.from_arrays([column_of_ids, lists], schema=schema))
            first += len(vectors)


def _are_whole(ids: Sequence[Any] | np.ndarray) -> bool:
    """Whether ids are whole numbers, all of them; if not they are texts."""
    if isinstance(ids, np.ndarray) and ids.dtype != object:
        return ids.dtype.kind in "iu"
    return all(isinstance(one, Integral) and not isinstance(one, bool) for one in ids)
