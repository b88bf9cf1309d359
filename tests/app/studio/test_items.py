"""Texts, pictures or fields of points are joined by id, and what has no partner is counted and said."""

import json

import numpy as np
import pytest

from gramlearn.app.studio.items import Items
from gramlearn.files.points import Points, read_points
from gramlearn.sources.errors import FileError

PNG = b"\x89PNG\r\n\x1a\n"
X = np.arange(8.0).reshape(4, 2)
NAMES = ["a", "b", "c", "d"]


def written(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


def test_texts_of_a_table_are_joined_by_id(tmp_path):
    path = written(tmp_path, "items.csv", "id,text\nd,four\na,one\nb,two\nc,three\n")
    items = Items.read(Points(X, NAMES), path)
    assert [items.show(k) for k in range(4)] == [
        {"number": k, "id": name, "text": text}
        for k, (name, text) in enumerate(zip(NAMES, ["one", "two", "three", "four"], strict=True))
    ]
    assert items.notes == ()
    assert items.rows.tolist() == [0, 1, 2, 3]


def test_rows_of_a_table_are_fields(tmp_path):
    lines = [{"id": n, "color": n * 2, "size": k} for k, n in enumerate(NAMES)]
    path = written(tmp_path, "items.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    items = Items.read(Points(X, NAMES), path)
    assert items.show(1) == {"number": 1, "id": "b", "fields": [["color", "bb"], ["size", "1"]]}
    assert Items.read(Points(X, NAMES), path, "color").show(1)["text"] == "bb"


def test_vectors_without_ids_go_with_items_in_the_same_order(tmp_path):
    for text in ("id,text\nd,four\na,one\nb,two\nc,three\n", "text\nfour\none\ntwo\nthree\n"):
        items = Items.read(Points(X), written(tmp_path, "items.csv", text))
        assert items.show(0)["text"] == "four"
    by_number = "id,text\n3,four\n0,one\n1,two\n2,three\n"
    items = Items.read(Points(X), written(tmp_path, "items.csv", by_number))
    assert items.show(0)["text"] == "one"


def test_pictures_of_a_folder_are_called_by_id(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a.png", "b.png", "c.JPG", "stranger.png", "notes.txt"):
        (folder / name).write_bytes(PNG + name.encode())
    items = Items.read(Points(X, NAMES, source="vectors.npy"), str(folder))
    assert items.show(0) == {"number": 0, "id": "a", "image": "/items/0"}
    assert items.picture(0) == ("image/png", PNG + b"a.png")
    assert items.picture(3) is None
    assert items.rows.tolist() == [0, 1, 2]
    assert items.notes == (
        f"1 item of {folder} without a vector, left out, such as 'stranger'.",
        "1 point of vectors.npy without an item, never asked about, such as 'd'.",
    )


def test_points_of_a_table_show_what_stands_beside_the_vectors(tmp_path):
    path = written(tmp_path, "points.csv", "id,title,x,y\na,one,1,2\nb,,3,4.5\n")
    points = read_points(path)
    items = Items.read(points, None)
    assert items.show(0)["text"] == "one"
    assert items.rows.tolist() == [0]
    assert items.notes == ("1 point without an item, never asked about.",)
    numbers = read_points(written(tmp_path, "numbers.csv", "id,x,y\na,1,2\nb,3,4.5\n"))
    assert Items.read(numbers, None).show(1)["fields"] == [["x", "3"], ["y", "4.5"]]


def test_vectors_alone_are_shown_by_their_ids_and_that_is_said():
    items = Items.read(Points(X, source="vectors.npy"), None)
    assert items.show(2) == {"number": 2, "id": "2", "text": "2"}
    assert items.notes[0].startswith("vectors.npy has vectors alone")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("text\none\ntwo\n", "has 2 items without ids, and points has 4 points"),
        (
            "id,text\nx,one\ny,two\n",
            "no item of .* there is 'x' here, and 'a' there; check the ids",
        ),
    ],
)
def test_what_cannot_be_joined_is_said(tmp_path, text, says):
    with pytest.raises(FileError, match=says):
        Items.read(Points(X, NAMES), written(tmp_path, "items.csv", text))


def test_a_folder_without_pictures_is_refused(tmp_path):
    with pytest.raises(FileError, match="has no pictures"):
        Items.read(Points(X, NAMES), str(tmp_path))


def test_a_picture_that_is_too_large_or_gone_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr("gramlearn.app.studio.items._MOST_BYTES", 20)
    for name in NAMES:
        (tmp_path / f"{name}.png").write_bytes(PNG * (1 + 4 * (name == "b")))
    items = Items.read(Points(X, NAMES), str(tmp_path))
    (tmp_path / "c.png").unlink()
    assert [items.picture(k) is not None for k in range(4)] == [True, False, False, True]
