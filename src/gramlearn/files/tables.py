"""file -> a table, row by row known by file and line: CSV, TSV, JSON lines, JSON, Parquet, and qrels of TREC.

The format is that of the suffix, .gz or not, unless it is stated; for "-", which is stdin, it must be.
"""

from pathlib import Path

from gramlearn.files.formats.delimited import TextColumns, read_delimited, read_trec
from gramlearn.files.formats.json_records import read_json, read_json_lines, table_of_json
from gramlearn.files.formats.parquet import read_parquet
from gramlearn.files.formats.table import Table
from gramlearn.sources.errors import FileError
from gramlearn.sources.opening import name_of, opened_text

__all__ = ["Table", "find_format", "read_table"]

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".qrels": "trec",
    ".qrel": "trec",
    ".trec": "trec",
    ".db": "sqlite",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}
_TABLES = ("csv", "tsv", "jsonl", "json", "parquet", "trec")


def read_table(
    path: str | Path, *, format: str | None = None, as_text: TextColumns | None = None
) -> Table:
    """A table of text or numbers.

    Parameters
    ----------
    path : str or Path
        "-" is stdin.
    format : {"csv", "tsv", "jsonl", "json", "parquet", "trec"}, optional
        Without it, that of the suffix.
    as_text : function of the names of the columns, optional
        Of CSV and TSV, which columns stay text; all others become arrays of numbers where all of their cells
        are. Without it all stay text.
    """
    format = find_format(path, format, _TABLES)
    if format == "parquet":
        return read_parquet(path)
    name = name_of(path)
    with opened_text(path) as file:
        if format == "jsonl":
            return read_json_lines(file, name)
        if format == "json":
            return table_of_json(read_json(file, name), name)
        if format == "trec":
            return read_trec(file, name)
        return read_delimited(file, name, "\t" if format == "tsv" else None, as_text)


def find_format(path: str | Path, format: str | None, known: tuple[str, ...]) -> str:
    """The format that was stated, or that of the suffix."""
    if format is not None:
        if format not in known:
            raise FileError(f"the format {format!r} is not known; known are {', '.join(known)}.")
        return format
    if str(path) == "-":
        raise FileError(f"stdin has no suffix that tells its format; state it: {', '.join(known)}.")
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    found = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found not in known:
        if Path(path).is_dir():
            raise FileError(f"{path} is a folder; name a file in it.")
        if not Path(path).exists():
            raise FileError(f"{path} does not exist; check the path.")
        raise FileError(
            f"{path} has no suffix of a format that can be read here; state the format: {', '.join(known)}."
        )
    return found
