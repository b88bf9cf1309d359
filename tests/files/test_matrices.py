"""A matrix in a file is read as it was written, whatever separates it, and refused in one sentence."""

import io

import numpy as np
import pytest

from gramlearn.files.matrices import Matrix, read_matrix, write_matrix
from gramlearn.sources.errors import FileError

C = np.array([[1.0, 0.25, np.nan], [0.25, 1.0, -0.5], [np.nan, -0.5, 1.0]])
NAMES = ["tall", "heavy, too", 'so "fast"']


@pytest.mark.parametrize("names", [None, NAMES])
@pytest.mark.parametrize("ending", ["csv", "npy"])
def test_what_is_written_is_read_again(tmp_path, ending, names):
    path = tmp_path / f"C.{ending}"
    values = C * np.pi
    write_matrix(path, Matrix(values, names))
    again = read_matrix(path)
    np.testing.assert_array_equal(again.values, values)
    assert again.names == (None if ending == "npy" else names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,.5\n.5,1\n", None),
        ("1;0.5\r\n0.5;1\r\n", None),
        ("1\t0.5\n0.5\t1", None),
        ("1,00;0,5\n0,5;1\n", None),
        ("1 0.5\n0.5 1\n\n", None),
        ("a,b\n1,0.5\n0.5,1\n", ["a", "b"]),
        (",a,b\na,1,0.5\nb,0.5,1\n", ["a", "b"]),
        (",0,1\n0,1,0.5\n1,0.5,1\n", ["0", "1"]),
        (",x,no\nx,1,0.5\nno,0.5,1\n", ["x", "no"]),
        (",NA,SE\nNA,1,0.5\nSE,0.5,1\n", ["NA", "SE"]),
        ("0,1\n1,0.5\n0.5,1\n", ["0", "1"]),
        ("a,1,0.5\nb,0.5,1\n", ["a", "b"]),
        ("\ufeffname,a,b\na,1,0.5\nb,0.5,1\n", ["a", "b"]),
    ],
)
def test_tables_with_and_without_names(tmp_path, text, names):
    path = tmp_path / "C.csv"
    path.write_bytes(text.encode())
    found = read_matrix(path)
    np.testing.assert_array_equal(found.values, [[1, 0.5], [0.5, 1]])
    assert found.names == names


@pytest.mark.parametrize("word", ["", "NA", "nan", "NULL", "?"])
def test_unknown_entries(tmp_path, word):
    path = tmp_path / "C.csv"
    path.write_text(f"1,{word}\n{word},1\n")
    np.testing.assert_array_equal(read_matrix(path).values, [[1, np.nan], [np.nan, 1]])


def test_truths(tmp_path):
    path = tmp_path / "fixed.csv"
    path.write_text("true,no\nFALSE,1\n")
    np.testing.assert_array_equal(read_matrix(path, of_truths=True).values, [[1, 0], [0, 1]])
    with pytest.raises(FileError, match="other names"):
        read_matrix(path)


def test_a_matrix_that_begins_with_an_unknown_entry_has_no_names(tmp_path):
    path = tmp_path / "C.csv"
    path.write_text(",0.5\n0.5,1\n")
    found = read_matrix(path)
    np.testing.assert_array_equal(found.values, [[np.nan, 0.5], [0.5, 1]])
    assert found.names is None


def test_stdin_and_stdout(tmp_path, monkeypatch, capsys):
    text = ",a,b\na,1.0,0.5\nb,0.5,1.0\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    write_matrix("-", read_matrix("-"))
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"1,2\n3\n", "line 2 has 1 entries, but the matrix has 2 rows"),
        (b"1,2,3\n4,5,6\n", "line 1 has 3 entries, but the matrix has 2 rows"),
        (b"1,2\n3,four\n", "line 2, column 2: 'four' is no number"),
        (b",a,b\na,1,2\nc,3,4\n", "other names in its first row"),
        (b"1,caf\xe9\n2,3\n", "line 1 is not UTF-8"),
        (b"1," + b"9" * 200_000 + b"\n1_0,1\n", "line 2, column 1: '1_0' is no number"),
        (b'1,"2\n3,4\n', "unexpected end of data"),
    ],
)
def test_what_is_no_matrix_is_refused_in_a_sentence(tmp_path, data, words):
    path = tmp_path / "C.csv"
    path.write_bytes(data)
    with pytest.raises(FileError, match=words) as error:
        read_matrix(path)
    assert "C.csv" in str(error.value)


@pytest.mark.parametrize(
    "array", [np.zeros((2, 3)), np.zeros(4), np.array([[None, 1], [1, None]], dtype=object)]
)
def test_an_array_that_is_no_matrix_is_refused(tmp_path, array):
    np.save(tmp_path / "C.npy", array)
    with pytest.raises(FileError, match=r"C\.npy"):
        read_matrix(tmp_path / "C.npy")


def test_a_truncated_array_is_refused(tmp_path):
    path = tmp_path / "C.npy"
    np.save(path, np.eye(3))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(FileError, match=r"C\.npy"):
        read_matrix(path)
