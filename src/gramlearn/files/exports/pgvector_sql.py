"""SQL for pgvector: a table of ids and mapped vectors, its rows, and an HNSW index; all of it or nothing.

An HNSW index takes up to 2,000 columns of the type vector, and up to 4,000 of halfvec, whose numbers have 16
bits. INSERT is what every client runs, not psql alone. Names are quoted, and texts are escaped such that they
are read the same whatever `standard_conforming_strings` says.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gramlearn.files.exports.exporting import Export
from gramlearn.files.writing import replacing

_MOST = {"vector": 2000, "halfvec": 4000}
_LARGEST_HALF = 65504.0
_LONGEST_NAME = 63  # bytes, beyond which PostgreSQL cuts names off
_ROWS = 500  # in an INSERT
# How each distance is called in the class of an index, and its operator.
_METRICS = {"euclidean": ("l2", "<->"), "inner_product": ("ip", "<#>"), "cosine": ("cosine", "<=>")}


def write_pgvector(export: Export) -> list[Path]:
    """A file for `psql -v ON_ERROR_STOP=1 -f`, or for whatever else runs SQL."""
    table = ".".join(_quoted(part, "table") for part in export.table.split("."))
    column = _quoted(export.column, "column")
    if export.column == "id":
        raise ValueError('`column="id"` is the column of ids; choose another name for the vectors.')
    kind = _kind_of_vectors(export)
    with replacing(export.path) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        for statement in _statements(export, table, column, kind):
            file.write(statement + "\n")
    return [export.path]


def _statements(export: Export, table: str, column: str, kind: str) -> Iterator[str]:
    operators, operator = _METRICS[export.metric]
    for name, words in export.map.words.items():
        yield f"-- {_on_one_line(name)}: {_on_one_line(words)}"
    yield "SET client_encoding = 'UTF8';"
    yield "BEGIN;"
    yield "CREATE EXTENSION IF NOT EXISTS vector;"
    ids = "text" if export.points is not None and export.points.has_texts else "bigint"
    size = f"{kind}({export.n_columns})"
    yield f'CREATE TABLE {table} ("id" {ids} PRIMARY KEY, {column} {size} NOT NULL);'
    for keys, vectors in export.documents():
        numbers = _in_half(vectors, keys) if kind == "halfvec" else vectors
        for first in range(0, len(keys), _ROWS):
            rows = slice(first, first + _ROWS)
            lines = ",\n".join(map(_row, keys[rows].tolist(), numbers[rows].astype(str).tolist()))
            yield f'INSERT INTO {table} ("id", {column}) VALUES\n{lines};'
    yield f"CREATE INDEX ON {table} USING hnsw ({column} {kind}_{operators}_ops);"
    yield "COMMIT;"
    yield f"ANALYZE {table};"
    example = f"SELECT \"id\" FROM {table} ORDER BY {column} {operator} '[...]' LIMIT 10;"
    yield "-- The ten best, with the query, mapped as queries are, in place of [...]:"
    yield f"-- {_on_one_line(example)}"


def _kind_of_vectors(export: Export) -> str:
    """The type of the column, if an index takes so many."""
    kind = "halfvec" if export.halfvec else "vector"
    m = export.n_columns
    if m <= _MOST[kind]:
        return kind
    half = "" if export.halfvec or m > _MOST["halfvec"] else ", or pass halfvec=True"
    fewer = (
        "so map the documents as well, to fewer columns: fit with n_components="
        if export.is_for_queries_only
        else "fit with fewer columns, n_components="
    )
    raise ValueError(
        f"the vectors have {m} columns, and an HNSW index of pgvector takes up to 2,000, or 4,000 of half "
        f"precision; {fewer}256 or so{half}."
    )


def _quoted(name: str, argument: str) -> str:
    """A name as SQL takes it, whatever letters it has."""
    if not name or "\0" in name or len(_encoded(name, argument)) > _LONGEST_NAME:
        raise ValueError(
            f"`{argument}` has the name {name!r:.80}, which PostgreSQL cannot keep; choose one of 1 to "
            f"{_LONGEST_NAME} bytes."
        )
    return '"' + name.replace('"', '""') + '"'


def _row(key: int | str, numbers: list[str]) -> str:
    return f"({key if isinstance(key, int) else _text(key)}, '[{','.join(numbers)}]')"


def _text(key: str) -> str:
    """A text as SQL takes it; the E says that a backslash is doubled."""
    if "\0" in key:
        raise ValueError(
            f"`ids` has the text {key!r:.60}, and PostgreSQL keeps no zero byte in a text; leave it out."
        )
    _encoded(key, "ids")
    quoted = key.replace("'", "''")
    return "E'" + quoted.replace("\\", "\\\\") + "'" if "\\" in quoted else f"'{quoted}'"


def _encoded(text: str, argument: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"`{argument}` has the text {text!a:.60}, which is no Unicode; remove what is not."
        ) from None


def _in_half(vectors: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """In 16 bits, rounded here, so that the file says what the table will hold."""
    large = np.abs(vectors).max(axis=1) > _LARGEST_HALF
    if large.any():
        key = ids[np.argmax(large)]
        raise ValueError(
            f"the mapped vector of id {key!r:.60} has entries beyond {_LARGEST_HALF:.0f}, the most that "
            "halfvec holds; pass halfvec=False, or learn from points in other units."
        )
    return vectors.astype(np.float16)


def _on_one_line(words: str) -> str:
    """Words that cannot end a comment."""
    return "".join(c if c.isprintable() else " " for c in words)
