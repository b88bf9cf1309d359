"""Whatever columns are read from, their chunks put together are the table that was written."""

import gzip
import os
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlearn.sources.columns import (
    NUMBERS,
    ROW_NUMBERS,
    YES_OR_NO,
    ArrayColumns,
    Columns,
    JoinedColumns,
    SomeRows,
    Wanted,
    cut,
)
from gramlearn.sources.drawn_columns import DrawnPairs
from gramlearn.sources.errors import FileError
from gramlearn.sources.npy_columns import NpyColumns, NpyTable
from gramlearn.sources.parquet_columns import ParquetColumns, plan_chunks

N = 1000
CHUNK = 64
WANTED = [
    Wanted("first", "i", ROW_NUMBERS),
    Wanted("second", "j", ROW_NUMBERS),
    Wanted("alike", "alike", YES_OR_NO),
    Wanted("weight", "weight", NUMBERS),
]
NAMES = [some.column for some in WANTED]


def make_table() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 500, size=(2, N))
    return {"i": i, "j": j, "alike": rng.random(N) < 0.4, "weight": rng.random(N)}


def write(path: Path, table: dict[str, np.ndarray], **options: object) -> Path:
    pq.write_table(pa.table(table), path, **options)
    return path


def one_file(folder: Path, rows_a_group: int) -> Columns:
    path = write(folder / "t.parquet", make_table(), row_group_size=rows_a_group)
    return ParquetColumns.open(path, WANTED, CHUNK)


def many_files(folder: Path) -> Columns:
    table, start = make_table(), 0
    for k, size in enumerate([10, 0, 300, 5, 0, 85, 600]):
        part = {name: column[start : start + size] for name, column in table.items()}
        (folder / f"day={k}").mkdir()
        write(folder / f"day={k}" / "part.parquet", part, row_group_size=130)
        start += size
    write(folder / "_temporary.parquet", table)
    return ParquetColumns.open(folder, WANTED, CHUNK)


def arrays_on_disk(folder: Path, order: str) -> Columns:
    table = make_table()
    pairs = np.array(np.stack([table["i"], table["j"]], axis=1), dtype=np.uint32, order=order)
    for name, array in (("pairs", pairs), ("alike", table["alike"]), ("weight", table["weight"])):
        np.save(folder / f"{name}.npy", array)
    opened = [
        NpyTable.open(folder / "pairs.npy", "similar", [("i", "j")], ROW_NUMBERS),
        NpyTable.open(folder / "alike.npy", "alike", [("alike",)], YES_OR_NO),
        NpyTable.open(folder / "weight.npy", "weight", [("weight",)], NUMBERS),
    ]
    return NpyColumns(tuple(opened), CHUNK)


def joined(folder: Path) -> Columns:
    del folder
    table = make_table()
    halves = [
        ArrayColumns({name: column[rows] for name, column in table.items()}, CHUNK)
        for rows in (slice(0, 333), slice(333, N))
    ]
    return JoinedColumns(tuple(halves), ({}, {}))


SOURCES: dict[str, Callable[[Path], Columns]] = {
    "row groups of a chunk": lambda folder: one_file(folder, CHUNK),
    "small row groups": lambda folder: one_file(folder, 7),
    "large row groups": lambda folder: one_file(folder, 450),
    "one row group": lambda folder: one_file(folder, N),
    "a folder": many_files,
    "npy by rows": lambda folder: arrays_on_disk(folder, "C"),
    "npy by columns": lambda folder: arrays_on_disk(folder, "F"),
    "arrays": lambda folder: ArrayColumns(make_table(), CHUNK),
    "joined": joined,
}


@pytest.mark.parametrize("name", SOURCES)
def test_chunks_put_together_are_the_table(name: str, tmp_path: Path) -> None:
    columns, table = SOURCES[name](tmp_path), make_table()
    assert columns.n_rows == N
    assert columns.n_chunks > 5
    assert max(columns.sizes) <= 1.5 * CHUNK
    for _ in range(2):  # a second pass reads the same
        stop = 0
        for chunk in range(columns.n_chunks):
            rows = columns.rows(chunk)
            assert (rows.start, rows.stop) == (stop, stop + columns.sizes[chunk])
            assert columns.chunk_of(rows.start) == columns.chunk_of(rows.stop - 1) == chunk
            stop = rows.stop
            for column, found in zip(NAMES, columns.read(chunk, NAMES), strict=True):
                np.testing.assert_array_equal(found, table[column][rows])
        assert stop == N


@pytest.mark.parametrize("name", SOURCES)
def test_chunks_may_be_larger(name: str, tmp_path: Path) -> None:
    columns = SOURCES[name](tmp_path)
    larger, table = columns.in_chunks_of(3 * CHUNK), make_table()
    assert larger.n_rows == N
    assert larger.n_chunks < columns.n_chunks
    found = [larger.read(chunk, ["i"])[0] for chunk in range(larger.n_chunks)]
    np.testing.assert_array_equal(np.concatenate(found), table["i"])


@pytest.mark.parametrize("name", SOURCES)
def test_some_rows_are_rows_of_the_table(name: str, tmp_path: Path) -> None:
    columns, table = SOURCES[name](tmp_path), make_table()
    rng = np.random.default_rng(2)
    chosen = tuple(np.flatnonzero(rng.random(size) < 0.2) for size in columns.sizes)
    some = SomeRows(columns, chosen)
    assert some.sizes == [len(rows) for rows in chosen]
    for chunk, rows in enumerate(chosen):
        for column, found in zip(NAMES, some.read(chunk, NAMES), strict=True):
            np.testing.assert_array_equal(found, table[column][columns.rows(chunk)][rows])
        if rows.size:
            assert some.place(chunk, 0) == columns.place(chunk, int(rows[0]))


@pytest.mark.parametrize("name", SOURCES)
def test_chunks_can_be_read_out_of_turn_in_copies_and_by_threads(name: str, tmp_path: Path) -> None:
    columns, table = SOURCES[name](tmp_path), make_table()
    columns.read(0, NAMES)
    copy = pickle.loads(pickle.dumps(columns))
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(columns.n_chunks), 4))

    def read(place: int) -> list[np.ndarray]:
        return (copy if place % 2 else columns).read(int(order[place]), ["weight", "i"])

    with ThreadPoolExecutor(4) as pool:
        for chunk, found in zip(order, pool.map(read, range(len(order))), strict=True):
            rows = columns.rows(chunk)
            np.testing.assert_array_equal(found[0], table["weight"][rows])
            np.testing.assert_array_equal(found[1], table["i"][rows])


@given(st.lists(st.lists(st.integers(0, 400), max_size=6), max_size=5), st.integers(1, 100))
def test_a_plan_covers_each_row_once_and_in_order(groups: list[list[int]], size: int) -> None:
    chunks = plan_chunks(groups, size)
    rows = [
        (piece.file, piece.group, row)
        for pieces in chunks
        for piece in pieces
        for row in range(piece.start, piece.stop)
    ]
    assert rows == [
        (f, g, row)
        for f, group in enumerate(groups)
        for g, n in enumerate(group)
        for row in range(n)
    ]
    sizes = [sum(piece.stop - piece.start for piece in pieces) for pieces in chunks]
    assert all(0 < found <= size + size // 2 for found in sizes)
    # Two neighbors that would fit together are together: there are at most twice as many as are needed,
    # but for the chunks before and after a large row group.
    n_large = sum(n > size + size // 2 for group in groups for n in group)
    assert len(chunks) <= 2 * (sum(sizes) / size) + 2 * n_large + 1


@given(st.integers(0, 1000), st.integers(1, 300))
def test_parts_are_about_equal(n_rows: int, at_most: int) -> None:
    parts = cut(n_rows, at_most)
    assert sum(parts) == n_rows
    if parts:
        assert max(parts) <= at_most
        assert max(parts) - min(parts) <= 1


def test_a_constant_stands_for_a_column() -> None:
    table = ArrayColumns({"i": np.arange(5)}, 2)
    columns = JoinedColumns((table, table), ({"alike": True}, {"alike": False}))
    found = np.concatenate([columns.read(c, ["alike"])[0] for c in range(columns.n_chunks)])
    np.testing.assert_array_equal(found, [True] * 5 + [False] * 5)
    assert columns.types["alike"].kind == "b"


def test_a_column_of_numbers_may_have_gaps_and_others_may_not(tmp_path: Path) -> None:
    table = pa.table({"i": pa.array([1, 2, None, 4]), "weight": pa.array([1.0, None, 3.0, 4.0])})
    pq.write_table(table, tmp_path / "gaps.parquet", row_group_size=2)
    columns = ParquetColumns.open(tmp_path / "gaps.parquet", [WANTED[0], WANTED[3]])
    np.testing.assert_array_equal(columns.read(0, ["weight"])[0], [1.0, np.nan, 3.0, 4.0])
    with pytest.raises(FileError, match=r"gaps\.parquet, row group 1, row 0 of it: nothing stands"):
        columns.read(0, ["i"])


def test_the_place_of_a_row_names_file_and_row_group(tmp_path: Path) -> None:
    columns = many_files(tmp_path)
    words = columns.place(columns.n_chunks - 1, 0)
    assert "day=6" in words
    assert "row group 4" in words


@pytest.mark.parametrize("kind", ["parquet", "npy"])
@pytest.mark.parametrize("change", ["length", "content", "gone"])
def test_a_file_that_changes_between_two_passes_is_refused(
    kind: str, change: str, tmp_path: Path
) -> None:
    table = make_table()
    path = tmp_path / f"t.{kind}"

    def store(i: np.ndarray) -> None:
        if kind == "parquet":
            write(path, {"i": i})
        else:
            np.save(path, i)

    store(table["i"])
    columns: Columns
    if kind == "parquet":
        columns = ParquetColumns.open(path, WANTED[:1], CHUNK)
    else:
        columns = NpyColumns((NpyTable.open(path, "i", [("i",)], ROW_NUMBERS),), CHUNK)
    columns.read(0, ["i"])
    before = os.stat(path)
    if change == "gone":
        path.unlink()
    else:
        store(table["i"][:-100] if change == "length" else table["i"][::-1])
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (change == "content")))
    with pytest.raises(FileError, match=r"has been changed since|cannot be read any more"):
        columns.read(1, ["i"])


def refuse(path: object, *words: str, error: type[Exception] = FileError) -> None:
    with pytest.raises(error) as raised:
        ParquetColumns.open(path, WANTED)
    message = str(raised.value)
    assert all(word in message for word in words), message
    assert "\n" not in message


def test_bad_parquet_is_refused_in_a_sentence(tmp_path: Path) -> None:
    table, path = make_table(), tmp_path / "bad.parquet"
    refuse(path, "does not exist")
    path.touch()
    refuse(path, "is empty")
    write(path, {name: column[:0] for name, column in table.items()})
    refuse(path, "has no rows")
    write(path, {"left": table["i"], "j": table["j"]})
    refuse(path, "bad.parquet has no column 'i'", "'left', 'j'", "`first=`")
    write(path, table | {"j": table["j"].astype(float)})
    refuse(path, "'j'", "float64", "`second`", "whole numbers")
    write(path, table | {"alike": np.full(N, "yes")})
    refuse(path, "'alike'", "`alike`", "booleans")
    refuse(tmp_path / "nothing", "does not exist")
    (tmp_path / "folder").mkdir()
    refuse(tmp_path / "folder", "folder without a file")
    refuse([], "empty list")
    refuse(3, "got 3", error=TypeError)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refuse(path, "damaged or unusual")


def test_bad_arrays_are_refused_in_a_sentence(tmp_path: Path) -> None:
    def refused(array: np.ndarray, *words: str) -> None:
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(FileError) as raised:
            NpyTable.open(tmp_path / "a.npy", "similar", [("i", "j")], ROW_NUMBERS)
        assert all(word in str(raised.value) for word in (*words, "`similar`")), raised.value

    refused(np.zeros((4, 2)), "float64", "whole numbers")
    refused(np.zeros((4, 3), dtype=int), "(4, 3)", "(m, 2)")
    refused(np.zeros(4, dtype=int), "(4,)", "(m, 2)")
    refused(np.zeros((0, 2), dtype=int), "has no rows")
    tables = []
    for n in (4, 5):
        np.save(tmp_path / f"{n}.npy", np.zeros(n, dtype=int))
        tables.append(NpyTable.open(tmp_path / f"{n}.npy", "x", [(f"x{n}",)], ROW_NUMBERS))
    with pytest.raises(FileError, match=r"4\.npy has 4 rows and .*5\.npy has 5"):
        NpyColumns(tuple(tables))


def test_what_cannot_be_read_in_chunks_is_refused(tmp_path: Path) -> None:
    plain, packed = tmp_path / "t.parquet", tmp_path / "t.parquet.gz"
    write(plain, make_table())
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    refuse(packed, "t.parquet.gz is packed with gzip")
    write(plain, {name: column[:0] for name, column in make_table().items()})
    refuse([plain, plain], "t.parquet and 1 more have no rows")
    for wrong in (b"t.parquet", [None]):
        refuse(wrong, f"got {wrong!r}", error=TypeError)
    for path, words in (([[0, 1]], "got [[0, 1]]"), (None, "got None")):
        with pytest.raises(
            TypeError, match=re.escape(f"`similar` must be the path of a .npy file; {words}")
        ):
            NpyTable.open(path, "similar", [("i", "j")], ROW_NUMBERS)
    np.save(tmp_path / "one.npy", 5.0)
    with pytest.raises(FileError, match=r"has the shape \(\); `upper` must have the shape \(m,\)"):
        NpyTable.open(tmp_path / "one.npy", "upper", [("bound",)], NUMBERS)


def test_how_a_file_has_changed_is_said(tmp_path: Path) -> None:
    np.save(tmp_path / "i.npy", np.arange(9))
    table = NpyTable.open(tmp_path / "i.npy", "i", [("i",)], ROW_NUMBERS)
    os.utime(tmp_path / "i.npy", ns=(0, table.stamp.modified + 1))
    with pytest.raises(FileError, match=r"since it was opened \(it has been written to\)"):
        table.read(slice(0, 3), ["i"])
    np.save(tmp_path / "i.npy", np.arange(8))
    with pytest.raises(FileError, match=r"\(it had 200 bytes then and has 192\)"):
        table.read(slice(0, 3), ["i"])


def test_the_sizes_of_many_chunks_are_found_once() -> None:
    """A forecast asks for the size of each chunk: of a billion statements there are fifteen thousand."""
    drawn = DrawnPairs(("i", "j"), 10**6, 10**9, 0, 1 << 16)
    memory = ArrayColumns({"i": np.zeros(N)}, CHUNK)
    joined = JoinedColumns((drawn, memory), ({}, {}))
    for columns in (drawn, memory, joined, SomeRows(memory, (np.arange(3),))):
        assert columns.sizes is columns.sizes


def test_drawn_pairs_are_the_same_in_any_chunks() -> None:
    """Two numbers that differ, and every pair of these equally likely."""
    names, n = ("i", "j"), 5
    whole = DrawnPairs(names, n, 20_001, 7, 10**6).read(0, names)
    for size in (1000, 1001, 3):
        drawn = DrawnPairs(names, n, 20_001, 7, size)
        parts = [drawn.read(chunk, names) for chunk in range(drawn.n_chunks)]
        for column, same in zip(zip(*parts, strict=True), whole, strict=True):
            np.testing.assert_array_equal(np.concatenate(column), same)
    counts = np.bincount(whole[0] * n + whole[1], minlength=n * n).reshape(n, n)
    assert not np.diag(counts).any()
    apart = counts[~np.eye(n, dtype=bool)]
    assert abs(apart - 20_001 / 20).max() < 5 * (20_001 / 20) ** 0.5
    (other,) = DrawnPairs(names, n, 20_001, 8, 10**6).read(0, ("j",))
    assert (other != whole[1]).any()
