"""Vectors of files, with what stands beside them; a gap, or an id that occurs twice, is named by its line."""

import io
import json
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlearn.files.points import join_points, read_points
from gramlearn.sources.errors import FileError


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file, and go where it is, so that messages have its bare name."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


@pytest.fixture
def save(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def save(name, array):
        np.save(tmp_path / name, array)
        return name

    return save


def refused(path, **given):
    """The sentence that points are refused with."""
    with pytest.raises(FileError) as caught:
        read_points(path, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1", "?"])
def test_arrays_stay_on_the_disk_and_keep_their_kind(save, dtype):
    X = np.arange(12).reshape(4, 3).astype(dtype)
    points = read_points(save("v.npy", X))
    assert isinstance(points.X, np.memmap)
    assert points.X.dtype == X.dtype
    assert np.array_equal(points.X, X)
    assert points.ids is None
    assert points.rows_of(["0", "3", "4", "x"]).tolist() == [0, 3, -1, -1]


def test_arrays_of_other_orders_are_the_same_numbers(save):
    X = np.arange(12.0).reshape(4, 3)
    for other in (np.asfortranarray(X), X.astype(">f8"), X.astype(np.longdouble)):
        points = read_points(save("v.npy", other))
        assert np.array_equal(points.X, X)
        assert points.X.dtype == np.float64
        assert points.X.dtype.isnative


def test_an_array_comes_from_stdin_too(monkeypatch):
    file = io.BytesIO()
    np.save(file, np.eye(3, dtype=np.float32))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.getvalue())))
    assert np.array_equal(read_points("-", format="npy").X, np.eye(3))


def test_ids_of_an_array_come_from_a_file_of_their_own(save, write):
    save("v.npy", np.eye(3))
    lines = read_points("v.npy", ids=write("ids.txt", "a\n b \n7\n\n"))
    assert lines.ids == ["a", "b", "7"]
    corpus = "".join(json.dumps({"_id": k, "text": f"text {k}"}) + "\n" for k in "ab7")
    beside = read_points("v.npy", ids=write("corpus.jsonl", corpus))
    assert beside.ids == lines.ids
    assert beside.items == ["text a", "text b", "text 7"]
    assert read_points("v.npy", ids=save("ids.npy", np.array([5, 6, 7]))).ids == ["5", "6", "7"]
    table = read_points(
        "v.npy", ids=write("i.csv", "id,label\na,1\nb,2\nc,1\n"), label_column="label"
    )
    assert table.labels.tolist() == [1, 2, 1]
    for content, words in (
        ("a\nb\n", "ids.txt has 2 ids, but v.npy has 3 points"),
        ("a\n\nb\n", "ids.txt, line 2: there is no id"),
        ("a\nb\na\n", "ids.txt, line 3: the id 'a' occurs again, first at ids.txt, line 1"),
    ):
        assert words in refused("v.npy", ids=write("ids.txt", content))


ROWS = [("a", 1.0, 2.5), ("b", 3.0, -4.0)]


def table_files(tmp_path):
    """The same points as CSV, with and without a list, TSV, JSON and JSON lines."""
    records = [{"id": i, "x": x, "y": y} for i, x, y in ROWS]
    lists = [{"id": i, "embedding": [x, y]} for i, x, y in ROWS]
    texts = {
        "a.csv": "id,x,y\n" + "".join(f"{i},{x},{y}\n" for i, x, y in ROWS),
        "b.csv": "x;ID;y\n" + "".join(f"{x};{i};{y}\n" for i, x, y in ROWS),
        "c.tsv": "_id\tx\ty\n" + "".join(f"{i}\t{x}\t{y}\n" for i, x, y in ROWS),
        "d.csv": "".join(f"{i},{x},{y}\n" for i, x, y in ROWS),
        "e.csv": "id,vector\n" + "".join(f'{i},"[{x}, {y}]"\n' for i, x, y in ROWS),
        "f.csv": "id,vector\n" + "".join(f"{i},[{x}   {y}]\n" for i, x, y in ROWS),
        "g.jsonl": "\n".join(map(json.dumps, records)),
        "h.jsonl": "\n".join(map(json.dumps, lists)),
        "i.json": json.dumps(records),
        "j.json": json.dumps([list(row) for row in ROWS]),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return list(texts)


def test_the_same_points_in_every_format(tmp_path):
    for name in table_files(tmp_path):
        points = read_points(tmp_path / name)
        assert points.X.tolist() == [[1.0, 2.5], [3.0, -4.0]], name
        assert points.ids == ["a", "b"], name
        has_names = name[0] in "abcgi"
        assert points.feature_names == (["x", "y"] if has_names else None), name


def test_parquet_keeps_single_precision(tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet as parquet

    single = arrow.float32()
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    ids = arrow.array([7.0, 8.0, 9.0])
    fixed = arrow.FixedSizeListArray.from_arrays(arrow.array(X.ravel(), single), 2)
    lists = arrow.array(X.tolist(), arrow.list_(single))
    columns = {"x": arrow.array(X[:, 0], single), "y": arrow.array(X[:, 1], single)}
    for k, content in enumerate(({"v": fixed}, {"v": lists}, columns)):
        path = tmp_path / f"{k}.parquet"
        parquet.write_table(arrow.table({"id": ids, **content}), path)
        points = read_points(path)
        assert points.X.dtype == np.float32
        assert np.array_equal(points.X, X)
        assert points.ids == ["7", "8", "9"]
    parquet.write_table(arrow.table({"id": ids, "x": arrow.array([1.0, None, 3.0])}), path)
    assert "2.parquet, row 1 counted from 0: the column 'x' is empty" in refused(path)
    holes = arrow.array([[1.0, 2.0], [None, 3.0], [4.0, 5.0]])
    parquet.write_table(arrow.table({"id": ids, "v": holes}), path)
    assert "row 1 counted from 0: the list in 'v' has nan at place 0" in refused(path)
    parquet.write_table(arrow.table({"id": ids, "v": arrow.array([[1.0], None, [2.0]])}), path)
    assert "row 1 counted from 0: the column 'v' has 'None', but a list of numbers" in refused(path)


def test_what_is_no_feature_is_named(write):
    text = "id,x,city,label,nothing,when\n1,5,Rome,0,,2020-01-01\n2,6,Oslo,1,,2021-01-01\n"
    points = read_points(write("p.csv", text))
    assert points.feature_names == ["x"]
    assert list(points.left_out) == ["city", "label", "nothing", "when"]
    assert "'label' (labels, by its name; give it as `label_column`" in points.summary()
    assert "'city' (text)" in points.summary()
    points = read_points("p.csv", label_column="label", item_column="city", id_column="when")
    assert points.labels.tolist() == [0, 1]
    assert points.items == ["Rome", "Oslo"]
    assert points.ids == ["2020-01-01", "2021-01-01"]
    assert points.feature_names == ["id", "x"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["0.5", "2", "1"], [0.5, 2, 1]),
        (["red", "1", "blue"], ["red", "1", "blue"]),
        (["red", "", "blue"], ["red", None, "blue"]),
        (["-1", "0", "1"], [-1, 0, 1]),
    ],
)
def test_labels_are_numbers_or_words(write, cells, expected):
    text = "x,kind\n" + "".join(f"{k}.5,{cell}\n" for k, cell in enumerate(cells))
    labels = read_points(write("p.csv", text), label_column="kind").labels
    assert labels.tolist() == expected
    missing = read_points(write("q.csv", "x,kind\n1,2\n2,\n3,4\n"), label_column="kind").labels
    assert np.isnan(missing[1])
    assert missing[[0, 2]].tolist() == [2, 4]


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "7", "7.0"],
        ["1_0", "10"],
        ["9007199254740993", "9007199254740992"],
        ["1e0", "1"],
        ["+1", "1"],
        ["01", "02"],
        ["1", "one"],
        ["nan", "Nan", "x"],
        ["\u0661", "1"],
    ],
)
def test_labels_that_differ_stay_different_and_as_they_stand(write, cells):
    text = "x,kind\n" + "".join(f"{k}.5,{cell}\n" for k, cell in enumerate(cells))
    labels = read_points(write("p.csv", text), label_column="kind").labels
    assert labels.tolist() == cells
    assert labels.dtype == object


def test_minus_one_is_a_class_as_any_other(write):
    from gramlearn import Pairs

    rows = "".join(f"{k},{label}\n" for k, label in enumerate([-1, 1, -1, 1]))
    points = read_points(write("p.csv", "x,kind\n" + rows), label_column="kind")
    assert Pairs.from_labels(points.labels).n_points == 4
    side = Pairs.from_labels(points.labels, n_pairs=100, random_state=0)
    assert {0, 2} <= set(side.similar.ravel().tolist())
    assert "label" not in points.summary()
    records = [{"x": k, "kind": kind} for k, kind in enumerate([-1, -1, 0, 1])]
    text = json.dumps(records)
    labels = read_points(write("p.json", text), label_column="kind").labels
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(np.unique(Pairs.from_labels(labels).dissimilar)) == 4


def test_rows_without_a_label_are_counted(write):
    for cells, missing in (
        (["red", "", "blue"], [1]),
        (["1", "nan", ""], [1, 2]),
        (["", "", "2"], [0, 1]),
    ):
        text = "x,kind\n" + "".join(f"{k},{cell}\n" for k, cell in enumerate(cells))
        points = read_points(write("p.csv", text), label_column="kind")
        found = [k for k, one in enumerate(points.labels.tolist()) if one is None or one != one]
        assert found == missing
        assert f"Without a label: {len(missing)} of 3 points." in points.summary()


@pytest.mark.parametrize("cell", [[1, 2], ["a"], {"a": 1}, []])
def test_a_label_that_is_a_list_is_refused(write, cell):
    text = json.dumps({"x": 1, "kind": "a"}) + "\n" + json.dumps({"x": 2, "kind": cell})
    sentence = refused(write("p.jsonl", text), label_column="kind")
    assert "p.jsonl, line 2: the column 'kind' has " in sentence
    assert "but a label is one number or one word" in sentence


def test_one_long_label_does_not_lengthen_the_others(write):
    text = "x,kind\n" + "1,a\n" * 1000 + f"2,{'b' * 100_000}\n"
    labels = read_points(write("p.csv", text), label_column="kind").labels
    assert labels.nbytes < 10_000


def test_labels_of_two_tables_are_of_one_kind(write):
    numbers = read_points(write("a.csv", "id,x,kind\n1,1,7\n2,2,8\n"), label_column="kind")
    gaps = read_points(write("b.csv", "id,x,kind\n1,1,7\n2,2,\n"), label_column="kind")
    texts = read_points(write("c.csv", "id,x,kind\n1,1,7\n2,2,red\n"), label_column="kind")
    assert join_points(numbers, texts).labels.tolist() == ["7", "8", "7", "red"]
    assert join_points(texts, gaps).labels.tolist() == ["7", "red", "7", None]
    assert join_points(numbers, gaps).labels.tolist()[:3] == [7, 8, 7]


@pytest.mark.parametrize("row", [0, 1, 4095, 4096, 5000, 8999])
def test_underscores_make_text_in_whatever_row_they_stand(write, row):
    cells = [str(k) for k in range(9000)]
    cells[row] = "1_000"
    text = "id,x,y\n" + "".join(f"{k},{cell},1\n" for k, cell in enumerate(cells))
    sentence = refused(write("p.csv", text))
    assert f"p.csv, line {row + 2}: the column 'x' has '1_000', but a number" in sentence


def test_lines_of_ids_and_cells_of_a_column_are_joined_alike(save, write):
    save("v.npy", np.eye(3))
    lines = read_points("v.npy", ids=write("ids.txt", "1.0\n2.0\n3.0\n"))
    cells = read_points(write("p.csv", "id,x\n1.0,1\n2.0,2\n3.0,3\n"))
    for points in (lines, cells):
        assert points.ids == ["1.0", "2.0", "3.0"]
        assert points.rows_of(["1", "2.0", "03", "3.00"]).tolist() == [0, 1, -1, -1]


def test_a_text_of_several_points_is_told_from_one_that_is_unknown(write):
    text = "id,text,x\na,same,1\nb,same,2\nc,other,3\n"
    points = read_points(write("p.csv", text))
    assert points.rows_of(["same", "other", "c", "none"]).tolist() == [-3, 2, 2, -1]


def test_row_numbers_of_pandas_are_ids_and_no_feature(write):
    points = read_points(write("p.csv", ",0,1\n0,1.5,2\n1,3,4\n"))
    assert points.ids == ["0", "1"]
    assert points.X.tolist() == [[1.5, 2], [3, 4]]
    points = read_points(write("q.csv", "Unnamed: 0,id,x\n0,a,5\n1,b,6\n"))
    assert points.ids == ["a", "b"]
    assert points.X.tolist() == [[5], [6]]


def test_a_name_is_an_id_only_where_no_two_are_equal(write):
    assert read_points(write("p.csv", "name,x\nA,1\nB,2\n")).ids == ["A", "B"]
    points = read_points(write("q.csv", "name,x\nA,1\nA,2\n"))
    assert points.ids is None
    assert points.items == ["A", "A"]


def test_texts_are_found_as_items(write):
    text = '{"_id": "a", "title": "T", "text": "one", "vector": [1, 2]}\n'
    points = read_points(write("p.jsonl", text))
    assert points.items == ["one"]
    assert points.rows_of(["a", "one", "T"]).tolist() == [0, 0, -1]


BAD = {
    "gap.csv": ("id,x,y\n1,2,3\n2,,4\n", "gap.csv, line 3: the column 'x' is empty"),
    "word.csv": (
        "id,x\n1,2\n2,3\n3,n/a\n",
        "word.csv, line 4: the column 'x' has 'n/a', but a number",
    ),
    "comma.csv": (
        'id,x\n1,2\n2,3\n3,"1,5"\n',
        "has '1,5', but a number is expected; write decimal points",
    ),
    "nan.csv": (
        "id,x,y\n1,2,3\n2,3,nan\n",
        "nan.csv, line 3: the column 'y' has nan, but a finite",
    ),
    "huge.csv": ("id,x\n1,2\n2,1e999\n", "huge.csv, line 3: the column 'x' has inf"),
    "huge.jsonl": (
        '{"x": 1}\n{"x": 1' + "0" * 400 + "}\n",
        "line 2: the column 'x' has a number too large",
    ),
    "twice.csv": (
        "id,x\n1,2\n2,3\n 1,4\n",
        "line 4: the id '1' occurs again in the column 'id', first at twice.csv, line 2",
    ),
    "noid.csv": ("id,x\n1,2\n,3\n", "line 3: there is no id in the column 'id'"),
    "texts.csv": (
        "id,text\n1,a cat\n",
        "texts.csv has texts and no vectors; a model makes vectors",
    ),
    "corpus.jsonl": (
        '{"_id": "1", "text": "a cat"}\n',
        "texts and no vectors; a model makes vectors of texts",
    ),
    "words.csv": ("u,v\nx,y\n", "no column of numbers and none of lists of numbers, only 'u', 'v'"),
    "ragged.jsonl": (
        '{"v": [1, 2]}\n{"v": [1]}\n',
        "line 2: the column 'v' has a list of 1 number, but the first has 2",
    ),
    "inside.jsonl": (
        '{"v": [1, 2]}\n{"v": [1, null]}\n',
        "line 2: the list in 'v' has nan at place 1",
    ),
    "wrong.jsonl": (
        '{"v": [1, 2]}\n{"v": ["a", 1]}\n',
        "line 2: the column 'v' has \"['a', 1]\", but a list",
    ),
    "missing.jsonl": ('{"v": [1, 2]}\n{"u": 1}\n', "line 2: the column 'v' has 'None', but a list"),
    "several.jsonl": ('{"u": [1], "w": [2]}\n', "several columns of lists, 'u', 'w'; say which"),
    "dots.csv": ('id,vector\na,"[0.1 0.2 ... 0.3]"\n', "a list that was cut off by '...'"),
}


@pytest.mark.parametrize("name", BAD)
def test_points_with_gaps_are_refused_in_a_sentence(write, name):
    content, words = BAD[name]
    assert words in refused(write(name, content))


def test_arrays_that_are_no_points_are_refused_in_a_sentence(save, write, tmp_path):
    assert "shape (3,); points are n x d" in refused(save("v.npy", np.ones(3)))
    assert "shape (0, 3): there is nothing in it" in refused(save("v.npy", np.ones((0, 3))))
    assert "holds complex128; save real numbers" in refused(save("v.npy", np.ones((2, 2), complex)))
    assert "holds <U1" in refused(save("v.npy", np.full((2, 2), "a")))
    X = np.ones((50_000, 100))
    X[40_000, 7] = np.nan
    assert "v.npy, row 40000, column 7 counted from 0 is nan" in refused(save("v.npy", X))
    good = (tmp_path / save("v.npy", np.eye(30))).read_bytes()
    assert "is cut off: an array of shape (30, 30) takes 7,200 bytes" in refused(
        write("v.npy", good[:-9])
    )
    lying = good.replace(b"(30, 30)", b"(10**6,)")
    assert "has a damaged header" in refused(write("v.npy", lying))
    huge = good.replace(b"(30, 30), }        ", b"(1000000000000, 9),}")[: len(good)]
    assert "is cut off" in refused(write("v.npy", huge))
    assert "is empty" in refused(write("v.npy", b""))
    assert "is not an array of NumPy" in refused(write("v.npy", b"id,x\n1,2\n"))
    np.savez(tmp_path / "v.npz", X=X)
    (tmp_path / "v.npz").rename(tmp_path / "v.npy")
    assert "is an archive of arrays (.npz)" in refused("v.npy")
    assert "has no columns, so `label_column` cannot be found" in refused(
        save("v.npy", np.eye(2)), label_column="y"
    )


def test_pickles_are_not_opened(tmp_path):
    ran = tmp_path / "ran"

    class Runs:
        def __reduce__(self):
            return (open, (str(ran), "w"))

    np.save(tmp_path / "v.npy", np.array([[Runs()]], dtype=object), allow_pickle=True)
    assert "holds Python objects (a pickle), which are not opened" in refused(tmp_path / "v.npy")
    assert not ran.exists()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_changed_arrays_are_points_or_refused(tmp_path_factory, data):
    file = io.BytesIO()
    np.save(file, np.eye(3))
    content = bytearray(file.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 127))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "changed.npy"
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        points = read_points(path)
    except FileError as error:
        sentence = str(error)
    else:
        assert np.isfinite(points.X).all()
        assert points.X.nbytes <= len(content)
        sentence = ""
    assert "\n" not in sentence


def test_named_columns_must_be_there(write):
    write("p.csv", "id,x,my text\na,1,hello\n")
    for argument in ("id_column", "label_column", "item_column", "vector_column"):
        sentence = refused("p.csv", **{argument: "z"})
        assert (
            f"`{argument}` names the column 'z', which p.csv does not have; it has 'id', 'x'"
            in sentence
        )
    assert read_points("p.csv", item_column="My_Text").items == ["hello"]


def test_a_folder_is_refused_and_one_of_beir_says_how_to_get_vectors(write, tmp_path):
    assert "is a folder; name a file in it" in refused(tmp_path)
    write("corpus.jsonl", "{}")
    assert "is a folder of BEIR, which holds texts and no vectors; a model" in refused(tmp_path)


def test_two_tables_are_joined_and_their_ids_kept_apart(write):
    queries = read_points(write("q.csv", "id,x,y\n1,1,2\n2,3,4\n"))
    documents = read_points(write("d.csv", "id,y,x,text\n2,6,5,two\n3,8,7,three\n"))
    both = join_points(queries, documents)
    assert both.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert both.ids == ["1", "2", "2", "3"]
    assert both.items == ["1", "2", "two", "three"]
    assert both.feature_names == ["x", "y"]
    assert both.rows_of(["1", "2", "3"]).tolist() == [0, -2, 3]
    assert both.rows_of(["1", "2", "3"], "queries").tolist() == [0, 1, -1]
    assert both.rows_of(["1", "2", "three"], "documents").tolist() == [-1, 2, 3]
    assert both.source == "q.csv and d.csv"
    with pytest.raises(FileError, match=r"q\.csv has vectors of 2 numbers and w\.csv of 1"):
        join_points(queries, read_points(write("w.csv", "id,x\n1,1\n")))
    with pytest.raises(FileError, match="different features: only one of them has 'y'"):
        join_points(queries, read_points(write("w.csv", "id,x,z\n1,1,2\n")))
    with pytest.raises(ValueError, match="is joined already"):
        join_points(both, documents)


def test_row_numbers_of_two_tables_are_their_own(save):
    both = join_points(
        read_points(save("q.npy", np.eye(3)[:2])), read_points(save("d.npy", np.eye(3)))
    )
    assert both.rows_of(["0", "2"], "documents").tolist() == [2, 4]
    assert both.rows_of(["0", "2"], "queries").tolist() == [0, -1]
    assert [both.name_of(row) for row in range(5)] == ["0", "1", "0", "1", "2"]
