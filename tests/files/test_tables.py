"""Rows of text and numbers keep their place in the file; what cannot be read is refused in one sentence."""

import codecs
import csv
import gzip
import io
import json
import os
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlearn.files.formats.delimited import read_delimited
from gramlearn.files.tables import read_table
from gramlearn.sources.errors import FileError


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file, and go where it is, so that messages have its bare name."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


def refused(path, **given):
    """The sentence that a file is refused with."""
    with pytest.raises(FileError) as caught:
        read_table(path, **given)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 1000
    return sentence


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_ends_of_lines_do_not_matter(write, encoding, end):
    text = end.join(["id,name and more", "1,Käse", "2,Brot", ""])
    table = read_table(write("a.csv", text.encode(encoding)))
    assert table.columns == {"id": ["1", "2"], "name and more": ["Käse", "Brot"]}
    assert table.place(1) == "a.csv, line 3"


def test_latin_1_is_refused_and_the_line_is_named(write):
    text = "id,name\n1,Brot\n2,Käse\n".encode("latin-1")
    sentence = refused(write("a.csv", text))
    assert sentence.startswith("a.csv, line 3 is not UTF-8 (byte 0xe4); if the file is Latin-1")
    # Wherever in the file it is.
    text = b"id,name\n" + b"1,Brot\n" * 10_000 + b"2,K\xe4se\n"
    assert refused(write("a.csv", text)).startswith("a.csv, line 10002 is not UTF-8")
    assert "line 2 is not UTF-8" in refused(write("a.jsonl", b'{"a": 1}\n{"a": "\xe4"}\n'))


def test_a_cut_off_utf_16_file_is_refused(write):
    text = ("id,name\n" + "1,Brot\n" * 5000).encode("utf-16")[:-3]
    assert "UTF-16, and is damaged or cut off" in refused(write("a.csv", text))


def test_places_are_lines_whatever_stands_in_quotes_and_between(write):
    text = '\n\nid,text\n1,"one\ntwo\r\nthree"\n\n\n2,x\n3,"a ""quoted"" word, and a comma"\n'
    table = read_table(write("a.csv", text))
    assert [table.place(k) for k in range(3)] == [
        "a.csv, line 4",
        "a.csv, line 9",
        "a.csv, line 10",
    ]
    assert table.columns["text"] == ["one\ntwo\r\nthree", "x", 'a "quoted" word, and a comma']


@pytest.mark.parametrize("delimiter", ",;\t|")
def test_the_delimiter_is_that_of_the_first_line(write, delimiter):
    table = read_table(write("a.csv", f"a{delimiter}b\n1{delimiter}2\n"))
    assert table.columns == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id,x\n1,2\n", ["id", "x"]),
        ("id,0,1\n1,2,3\n", ["id", "0", "1"]),
        ("year,2019,2020\na,1,2\n", ["year", "2019", "2020"]),
        (",0,1\n0,5,6\n", ["", "0", "1"]),
        ("0,1\n0.5,0.6\n", ["0", "1"]),
        ("1.5,2\n3,4\n", None),
        ("3,7,1\n4,5,0\n", None),
        ("a,1.5,2\nb,3,4\n", None),
    ],
)
def test_a_first_line_is_a_header_or_a_row(write, text, names):
    table = read_table(write("a.csv", text))
    assert table.has_header == (names is not None)
    width = text.split("\n")[0].count(",") + 1
    assert list(table.columns) == (names or [str(k + 1) for k in range(width)])
    assert table.n_rows == (1 if names else 2)
    assert table.place(0) == f"a.csv, line {2 if names else 1}"


def test_a_first_line_that_may_be_either_is_refused(write):
    assert "'0,1,2', which may be a header or a row" in refused(write("a.csv", "0,1,2\n3,4,5\n"))


cells = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=6
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=8))
def test_whatever_is_written_is_read_again(rows):
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["a", "b", "c"], *rows])
    file.seek(0)
    text = io.TextIOWrapper(io.BytesIO(file.getvalue().encode()), encoding="utf-8", newline="")
    table = read_delimited(text, "a.csv", ",")
    assert list(map(list, zip(*table.columns.values(), strict=True))) == rows
    lines = file.getvalue().splitlines(keepends=False)
    assert table.n_rows == len(rows)
    assert table.lines[0] == 2
    assert len(lines) >= table.lines[-1]


def test_numbers_asked_for_are_numbers_and_text_stays_text(write):
    text = "id,x,y\n007,1,a\n1_0,2.5,b\n"
    table = read_table(write("a.csv", text), as_text=lambda names: ["id"])
    assert table.columns["id"] == ["007", "1_0"]
    assert table.columns["x"].tolist() == [1, 2.5]
    assert table.columns["y"] == ["a", "b"]
    table = read_table(write("b.csv", "x\n1_0\n2\n"), as_text=lambda names: [])
    assert table.columns["x"] == ["1_0", "2"]


def test_numbers_are_those_of_numpy_across_blocks(write):
    X = np.random.default_rng(0).normal(size=(9000, 7))
    file = io.StringIO()
    np.savetxt(file, X, delimiter=",", header=",".join("abcdefg"), comments="", fmt="%.17g")
    table = read_table(write("a.csv", file.getvalue()), as_text=lambda names: ["c"])
    for k, name in enumerate("abcdefg"):
        assert np.array_equal(np.asarray(table.columns[name], dtype=float), X[:, k])
    assert isinstance(table.columns["c"], list)
    assert table.lines.tolist() == list(range(2, 9002))


def test_one_bad_cell_makes_a_column_text(write):
    text = "x,y\n" + "1,2\n" * 5000 + "1,n/a\n" + "1,2\n" * 5000
    table = read_table(write("a.csv", text), as_text=lambda names: [])
    assert table.columns["x"].sum() == 10_001
    assert table.columns["y"][5000] == "n/a"
    assert len(table.columns["y"]) == 10_001


def test_json_lines_and_lists_are_the_same_table(write):
    rows = [{"a": 1, "v": [1, 2]}, {"a": None, "b": "x"}]
    lines = read_table(write("a.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n"))
    whole = read_table(write("a.json", json.dumps(rows)))
    under_another_name = read_table(write("b.json", "\n".join(map(json.dumps, rows))))
    for table in (lines, whole, under_another_name):
        assert list(table.columns) == ["a", "v", "b"]
        assert table.columns["a"] == [1, None]
        assert table.columns["b"] == [None, "x"]
        assert table.columns["v"][0].tolist() == [1, 2]
        assert table.columns["v"][1] is None
    assert lines.place(1) == "a.jsonl, line 2"
    assert whole.place(1) == "a.json, row 1 counted from 0"


def test_large_whole_numbers_of_json_stay_themselves(write):
    big = 2**60 + 1
    table = read_table(write("a.jsonl", json.dumps({"a": big, "v": [big, 1]})))
    assert table.columns["a"] == [big]
    assert table.columns["v"] == [[big, 1]]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_files_packed_with_gzip_are_read(write, name):
    text = {"a.csv": "a\nx\n", "a.jsonl": '{"a": "x"}\n', "a.json": '[{"a": "x"}]'}[name]
    for packed in (f"{name}.gz", name):  # whether the suffix says it or not
        table = read_table(write(packed, gzip.compress(text.encode())))
        assert table.columns == {"a": ["x"]}
    cut = gzip.compress(os.urandom(50_000).hex().encode())[:-200]
    assert "packed with gzip, and is damaged or cut off" in refused(write(f"{name}.gz", cut))


def test_stdin_needs_a_format(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    assert refused("-").startswith("stdin has no suffix that tells its format; state it: csv, tsv")
    table = read_table("-", format="csv")
    assert table.columns == {"a": ["1"], "b": ["x"]}
    assert table.place(0) == "stdin, line 2"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_with_a_name_is_read(tmp_path):
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"a\nx\n",))
    writer.start()
    assert read_table(pipe, format="csv").columns == {"a": ["x"]}
    writer.join()


BAD = {
    "empty.csv": (b"", "empty.csv is empty"),
    "blank.csv": (b" \n\n", "blank.csv is empty"),
    "mark.csv": (codecs.BOM_UTF8, "mark.csv is empty"),
    "header.csv": (b"a,b\n", "has a header and no rows; its columns are 'a', 'b'"),
    "short.csv": (b"a,b\n1,2\n3\n", "line 3 has 1 cell, but line 1 has 2"),
    "quote.csv": (
        b'a,b\n1,2\n3,"x\n4,5\n',
        "line 3: a quotation mark is opened here and never closed",
    ),
    "after.csv": (b'a,b\n1,"x"y\n', "line 2: a cell goes on after its closing quotation mark"),
    "twice.csv": (b"a,a\n1,2\n", "two columns with the name 'a'"),
    "wide.csv": (
        b"a,b\n" + b",".join([b"1"] * 1_000_000),
        "line 2 has 1,000,000 cells, but line 1 has 2",
    ),
    "parquet.csv": (
        b"PAR1" + bytes(50),
        "is not text but a Parquet file; say so with the format 'parquet'",
    ),
    "excel.csv": (
        b"PK\x03\x04" + bytes(50),
        "is not text but a zip archive, such as a spreadsheet",
    ),
    "binary.csv": (bytes(range(256)) * 20, "is not text: it has zero bytes"),
    "control.csv": (bytes(range(1, 32)) * 20, "is not text: it has bytes that no text has"),
    "broken.jsonl": (b'{"a": 1}\n\n{"a": \n', "line 3 is not JSON: Expecting value at column 6"),
    "kinds.jsonl": (b'{"a": 1}\n"x"\n', "line 2 holds a text; an object is expected"),
    "deep.jsonl": (b"[" * 200_000, "line 1 is nested too deeply"),
    "deep.json": (b'{"a":' * 200_000, "is nested too deeply"),
    "digits.jsonl": (b'{"a": ' + b"1" * 10_000 + b"}", "line 1 has a number with too many digits"),
    "object.json": (b'{"a": [1]}', "holds an object; a list of objects is expected"),
    "nothing.json": (b"[]", "holds an empty list"),
    "broken.json": (
        b'[{"a": 1},\n{"a"]',
        "is not JSON: Expecting ':' delimiter at line 2, column 5",
    ),
    "ragged.jsonl": (b"[1, 2]\n[1]\n", "line 2 holds 1 cell, but the first row has 2 cells"),
    "no.parquet": (b"id,x\n1,2\n", "is not a Parquet file"),
    "cut.parquet": (b"PAR1" + bytes(30), "is a damaged or unusual Parquet file"),
    "four.trec": (b"a 0 b\n", "line 1 has 3 cells; qrels of TREC have four"),
    "a.xlsx": (b"PK", "has no suffix of a format that can be read here; state the format: csv"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused_in_a_sentence(write, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    content, words = BAD[name]
    sentence = refused(write(name, content))
    assert words in sentence
    assert sentence.startswith(name)


def test_folders_and_missing_files_are_refused(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder; name a file in it" in refused(tmp_path / "folder.csv")
    assert "is a folder; name a file in it" in refused(tmp_path)
    assert "does not exist; check the path" in refused(tmp_path / "no.csv")
    assert "does not exist; check the path" in refused(tmp_path / "no")
    assert "the format 'npy' is not known" in refused(tmp_path / "x", format="npy")


def test_a_million_different_keys_are_refused_before_they_take_memory(write):
    lines = (json.dumps({f"k{100 * row + k}": 1 for k in range(100)}) for row in range(3000))
    assert "has different keys in nearly every row" in refused(write("a.jsonl", "\n".join(lines)))


def test_a_million_columns_are_read(write):
    names = ",".join(f"c{k}" for k in range(100_000))
    table = read_table(write("a.csv", f"{names}\n{','.join(['1'] * 100_000)}\n"))
    assert len(table.columns) == 100_000


def test_cells_may_be_long_and_the_limit_of_csv_is_put_back(write):
    usual = csv.field_size_limit()
    table = read_table(write("a.csv", f"a,b\n1,{'x' * 1_000_000}\n"))
    assert len(table.columns["b"][0]) == 1_000_000
    assert csv.field_size_limit() == usual


def test_parquet_keeps_kinds_and_nulls(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet as parquet

    values = arrow.array([1, 2, 3, 4, 5, 6], arrow.float32())
    columns = {
        "big": arrow.array([2**60 + 1, 2, 3]),
        "holes": arrow.array([1, None, 3]),
        "text": arrow.array(["a", None, "c"]).dictionary_encode(),
        "fixed": arrow.FixedSizeListArray.from_arrays(values, 2),
        "lists": arrow.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "ragged": arrow.array([[1.0], [3.0, 4.0], [6.0]]),
        "even but ragged": arrow.array([[1.0], [3.0, 4.0, 5.0], [6.0, 7.0]]),
        "with null": arrow.array([[1.0, None], [3.0, 4.0], [6.0, 7.0]]),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet", row_group_size=2)
    table = read_table(tmp_path / "a.parquet")
    assert table.columns["big"].tolist() == [2**60 + 1, 2, 3]
    assert table.columns["holes"] == [1, None, 3]
    assert table.columns["text"] == ["a", None, "c"]
    assert table.columns["fixed"].dtype == np.float32
    assert table.columns["fixed"].tolist() == table.columns["lists"].tolist()
    assert [len(cell) for cell in table.columns["ragged"]] == [1, 2, 1]
    assert [len(cell) for cell in table.columns["even but ragged"]] == [1, 3, 2]
    assert np.isnan(table.columns["with null"][0][1])
    assert table.place(1).endswith("a.parquet, row 1 counted from 0")


def test_parquet_without_its_package_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"reading Parquet needs pyarrow.*gramlearn\[files\]"):
        read_table(write("a.parquet", b"PAR1"))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["csv", "tsv", "jsonl", "json", "trec", "parquet"]))
def test_any_bytes_are_a_table_or_refused(tmp_path_factory, content, format):
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    try:
        table = read_table(path, format=format)
    except FileError as error:
        sentence = str(error)
    else:
        assert all(len(column) == table.n_rows for column in table.columns.values())
        sentence = ""
    assert "\n" not in sentence
