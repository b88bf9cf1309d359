"""A store of answers is read as the table of those that stand would be."""

from dataclasses import replace

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gramlearn import Pairs
from gramlearn.app.studio.store import Store
from gramlearn.files.judgments import read_judgments
from gramlearn.files.points import Points
from gramlearn.files.same_points import fingerprint
from gramlearn.sources.errors import FileError

LETTERS = Points(np.eye(6), ids=list("abcdef"), source="points.csv")
NUMBERS = Points(np.eye(6), source="points.npy")
SHAPES = {"pair": "pairs", "triplet": "triplets", "odd": "odd"}
HEADERS = {
    "pair": "first,second,alike",
    "triplet": "anchor,positive,negative",
    "odd": "i1,i2,i3,odd",
}


def write_store(path, answers, points=LETTERS):
    """A store with (judge, kind, items, answer), one after the other."""
    with Store.open(path, points) as store:
        for k, (judge, kind, items, answer) in enumerate(answers):
            store.answer(f"{k}", f"{k}", judge, kind, items, answer, k % 3 == 0)


def row_of(kind, items, answer, points):
    """The row of a table that says the same."""
    names = [points.name_of(item) for item in items]
    if kind == "pair":
        return ",".join([*names, answer])
    if kind == "triplet":
        return ",".join(names if answer == "second" else [names[0], names[2], names[1]])
    return ",".join([*names, names[["first", "second", "third"].index(answer)]])


def arrays(side):
    """All that a side holds."""
    if isinstance(side, Pairs):
        weights = side.similar_weight, side.dissimilar_weight
        return [np.asarray(x).tolist() for x in (side.similar, side.dissimilar, *weights)]
    return [np.asarray(x).tolist() for x in (side.triplets, side.weight)]


@st.composite
def answers(draw):
    """Answers to three kinds of questions; "unsure" among them."""
    found = []
    for _ in range(draw(st.integers(1, 15))):
        kind = draw(st.sampled_from(sorted(SHAPES)))
        known = {"pair": ["alike", "unlike"], "triplet": ["second", "third"]}
        said = [*known.get(kind, ["first", "second", "third"]), "unsure"]
        items = draw(st.permutations(range(4)))[: 2 if kind == "pair" else 3]
        found.append((draw(st.sampled_from("AB")), kind, items, draw(st.sampled_from(said))))
    return found


@pytest.mark.parametrize("points", [LETTERS, NUMBERS], ids=["ids", "row numbers"])
@hypothesis.settings(max_examples=12, deadline=None)
@hypothesis.given(answers=answers(), conflicts=st.sampled_from(["majority", "drop", "dissimilar"]))
def test_a_store_says_what_a_table_of_its_answers_says(
    tmp_path_factory, points, answers, conflicts
):
    folder = tmp_path_factory.mktemp("store")
    write_store(folder / "judgments.db", answers, points)
    for kind in {kind for _, kind, _, _ in answers}:
        own = [(items, answer) for _, one, items, answer in answers if one == kind]
        rows = [row_of(kind, *one, points) for one in own if one[1] != "unsure"]
        table = folder / "judgments.csv"
        table.write_text("\n".join([HEADERS[kind], *rows]))
        how = {"shape": SHAPES[kind], "conflicts": conflicts}
        try:
            expected = read_judgments(table, points, **how)
        except FileError:  # nothing is left
            with pytest.raises(FileError):
                read_judgments(folder / "judgments.db", points, **how)
            continue
        found = read_judgments(folder / "judgments.db", points, **how)
        assert found.n_rows == len(own)
        assert arrays(found.side) == arrays(expected.side)
        assert len(found.dropped) == len(expected.dropped) + len(own) - len(rows)


def test_only_answers_that_stand_count_and_each_that_does_not_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store.open("judgments.db", LETTERS) as store:
        first = store.answer("1", "q", "Ada", "pair", (0, 1), "alike", False)
        store.answer("2", "q", "Ada", "pair", (0, 1), "unlike", False, of=first)
        store.answer("3", "q", "Bo", "pair", (0, 2), "alike", False)
        store.undo("4", "Bo")
        store.answer("5", "q", "Bo", "pair", (0, 3), "unsure", False)
        found = read_judgments("judgments.db", LETTERS)  # while it is open
    assert found.side.similar.tolist() == []
    assert found.side.dissimilar.tolist() == [[0, 1]]
    (dropped,) = found.dropped
    assert (dropped.place, dropped.reason, dropped.kind) == (
        "judgments.db, answer 5",
        "whoever was asked was unsure",
        "undecided",
    )
    assert found.summary().startswith("judgments.db: 2 rows of judged pairs, 1 used, as 0 similar")


def test_several_kinds_need_a_shape(tmp_path):
    path = tmp_path / "judgments.db"
    write_store(path, [("A", "pair", (0, 1), "alike"), ("A", "odd", (0, 1, 2), "third")] * 2)
    with pytest.raises(
        FileError,
        match=r"has 2 answers of the shape 'pairs' and 2 answers of the shape 'odd'; say with `shape`",
    ):
        read_judgments(path, LETTERS)
    assert read_judgments(path, LETTERS, shape="odd one out").side.size == 2
    with pytest.raises(FileError, match="has no answers of the shape 'triplets'; it has 2 answers"):
        read_judgments(path, LETTERS, shape="triplets")


def test_a_store_without_answers_or_with_none_that_is_sure_is_refused(tmp_path):
    path = tmp_path / "judgments.db"
    write_store(path, [])
    with pytest.raises(FileError, match=r"judgments\.db has no answers yet"):
        read_judgments(path, LETTERS)
    write_store(path, [("A", "pair", (0, 1), "unsure")])
    with pytest.raises(FileError, match="can be used: whoever was asked was unsure"):
        read_judgments(path, LETTERS)


@pytest.mark.parametrize("name", ["judgments.db", "judgments.csv", "judgments"])
def test_a_store_is_told_by_how_it_begins(tmp_path, name):
    write_store(tmp_path / name, [("A", "pair", (0, 1), "alike")])
    assert read_judgments(tmp_path / name, LETTERS).side.similar.tolist() == [[0, 1]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_ids_join_points_in_another_order_and_fewer_of_them(tmp_path):
    path = tmp_path / "judgments.db"
    write_store(path, [("A", "pair", (0, 1), "alike"), ("A", "pair", (0, 5), "alike")])
    found = read_judgments(path, Points(np.eye(5)[::-1], ids=list("edcba")))
    assert found.side.similar.tolist() == [[3, 4]]
    assert found.dropped[0].reason == "the id 'f' is not among the points"
    with pytest.raises(FileError, match=r"speaks of points by their ids, but points\.npy has none"):
        read_judgments(path, NUMBERS)


def test_row_numbers_are_those_of_the_same_points(tmp_path):
    path = tmp_path / "judgments.db"
    write_store(path, [("A", "pair", (0, 1), "alike")], NUMBERS)
    assert read_judgments(path, NUMBERS).notes == ()
    numbered = replace(NUMBERS, ids=[str(row) for row in range(6)])
    assert read_judgments(path, numbered).notes == ()
    (note,) = read_judgments(path, replace(NUMBERS, X=np.ones((6, 2)))).notes
    assert "was made for other vectors; its row numbers are taken" in note
    for points, words in (
        (Points(np.eye(7), source="p.npy"), r"speaks of 6 points by row numbers, but p\.npy has 7"),
        (LETTERS, r"by row numbers, but points\.csv has ids of its own"),
    ):
        with pytest.raises(FileError, match=words):
            read_judgments(path, points)


def test_a_fingerprint_is_of_ids_with_vectors_whatever_their_order():
    rng = np.random.default_rng(0)
    X, order = rng.normal(size=(50, 7)), rng.permutation(50)
    X[0, 0] = 0.0
    ids = [f"id {k}" for k in range(50)]
    points = Points(X, ids=ids)
    same = fingerprint(points)
    shuffled = Points(X[order], ids=[ids[k] for k in order])
    minus_zero = np.where(X == 0, -0.0, X)
    for other in (shuffled, Points(minus_zero, ids=ids), Points(X.astype(np.float32), ids=ids)):
        assert fingerprint(other) == same
    changed = X.copy()
    changed[17, 3] += 1e-6
    for other in (
        Points(changed, ids=ids),
        Points(X[order], ids=ids),
        Points(X, ids=[*ids[1:], "id 0"]),
        Points(X[:, ::-1], ids=ids),
        Points(X[:-1], ids=ids[:-1]),
        Points(X),
    ):
        assert fingerprint(other) != same
