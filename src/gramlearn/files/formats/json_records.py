"""{"a": 1} -> columns: a JSON object a line, or a JSON list of objects; a key is a column.

Lists of numbers become arrays at once, for Python's own take four times the memory.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import numpy as np

from gramlearn.files.formats.table import Table, counted, listed
from gramlearn.sources.errors import FileError

_TOO_DEEP = "is nested too deeply to be read"
_SPARE_CELLS = 1_000_000


def read_json_lines(file: TextIO, name: str) -> Table:
    """The table of a file with one JSON object a line."""
    numbers, records = [], []
    for number, line in enumerate(file, start=1):
        if line.strip():
            numbers.append(number)
            records.append(_shrink(_parse(line.rstrip(), f"{name}, line {number}")))
    if not records:
        raise FileError(f"{name} is empty.")
    return make_table(name, records, numbers)


def read_json(file: TextIO, name: str) -> Any:
    """What a JSON file holds. One with an object a line, as some tools write under .json, is a list of them."""
    text = file.read()
    try:
        return _parse(text, name)
    except FileError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not _is_object(lines[0]):
            raise
    return [_parse(line, f"{name}, line {k}") for k, line in _with_numbers(text)]


def table_of_json(content: Any, name: str) -> Table:
    """The table of a JSON list."""
    if not isinstance(content, list):
        raise FileError(
            f"{name} holds {_kind(content)}; a list of objects is expected: "
            '[{"id": "a", ...}, {"id": "b", ...}].'
        )
    if not content:
        raise FileError(f"{name} holds an empty list.")
    return make_table(name, [_shrink(record) for record in content], None)


def make_table(name: str, records: list[Any], lines: list[int] | None, unit: str = "line") -> Table:
    """Columns by key, in the order in which keys appear; of lists by their place, from 1."""

    def place(row: int) -> str:
        return Table(name, {}, len(records), lines, unit).place(row)

    has_header = not _is_sequence(records[0])
    if not has_header:
        records = [
            _by_number(record, len(records[0]), place, k) for k, record in enumerate(records)
        ]
    keys: dict[str, None] = {}
    n_cells = 0
    for k, record in enumerate(records):
        if not isinstance(record, dict):
            raise FileError(
                f"{place(k)} holds {_kind(record)}; an object is expected, such as "
                '{"id": "a", "x": 1}.'
            )
        keys.update(dict.fromkeys(record))
        n_cells += len(record)
    if not keys:
        raise FileError(f"{name} has rows, but nothing in any of them.")
    if len(keys) * len(records) > 50 * n_cells + _SPARE_CELLS:
        raise FileError(
            f"{name} has different keys in nearly every row, {len(keys):,} of them, such as {listed(keys)}; a "
            "table is expected, whose rows have the same keys."
        )
    columns = {key: [record.get(key) for record in records] for key in keys}
    return Table(name, columns, len(records), lines, unit, has_header)


def _parse(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if "line" not in place else ""
        where = where or f"column {error.colno}"
        raise FileError(f"{place} is not JSON: {error.msg} at {where}.") from error
    except RecursionError as error:
        raise FileError(f"{place} {_TOO_DEEP}.") from error
    except ValueError as error:  # a whole number with thousands of digits
        raise FileError(f"{place} has a number with too many digits to be read.") from error


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _with_numbers(text: str) -> Iterator[tuple[int, str]]:
    return ((k, line) for k, line in enumerate(text.split("\n"), start=1) if line.strip())


def _shrink(record: Any) -> Any:
    """The record with arrays in place of its lists of numbers."""
    if isinstance(record, dict):
        return {key: _shrink_list(value) for key, value in record.items()}
    return _shrink_list(record)


def _shrink_list(value: Any) -> Any:
    if not isinstance(value, list) or not value or type(value[0]) not in (int, float):
        return value
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return value
    # A whole number beyond 2^53, such as an id, would come back as another.
    return value if np.abs(numbers).max() >= 2**53 and int in set(map(type, value)) else numbers


def _is_sequence(record: Any) -> bool:
    return isinstance(record, list | np.ndarray)


def _by_number(record: Any, width: int, place: Callable[[int], str], row: int) -> dict[str, Any]:
    if not _is_sequence(record) or len(record) != width:
        what = counted(len(record), "cell") if _is_sequence(record) else _kind(record)
        raise FileError(
            f"{place(row)} holds {what}, but the first row has {counted(width, 'cell')}."
        )
    cells = record.tolist() if isinstance(record, np.ndarray) else record
    return {str(k + 1): cell for k, cell in enumerate(cells)}


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number or a list of numbers")
