"""Rows of files become Pairs, Triplets and Bounds; every row counts or is dropped with a reason and a place."""

import json

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gramlearn import Bounds, Pairs, Triplets
from gramlearn.files.judgments import read_judgments
from gramlearn.files.points import Points, join_points
from gramlearn.sources.errors import FileError

LETTERS = Points(np.eye(6), ids=list("abcdef"), source="points.csv")
NUMBERS = Points(np.eye(6), source="points.npy")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file, and go where it is, so that messages have its bare name."""
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


def statements(side):
    """What a side says, as sets."""
    if isinstance(side, Pairs):
        return {tuple(sorted(row)) for row in side.similar.tolist()}, {
            tuple(sorted(row)) for row in side.dissimilar.tolist()
        }
    return {tuple(row) for row in side.triplets.tolist()}


SHAPES = {
    "pairs": ("first,second,alike\na,b,1\na,c,0\n", ({(0, 1)}, {(0, 2)})),
    "pairs with minus one": ("text_1,text_2,label\na,b,1\na,c,-1\n", ({(0, 1)}, {(0, 2)})),
    "pairs in words": ("ID 1;ID-2;Is Same\na;b;Yes\na;c;no\n", ({(0, 1)}, {(0, 2)})),
    "links": ("i,j,link\na,b,must-link\nc,a,cannot-link\n", ({(0, 1)}, {(0, 2)})),
    "numbered": ("product_1,product_2,match\na,b,true\na,c,false\n", ({(0, 1)}, {(0, 2)})),
    "lettered": ("itemA,itemB,match\na,b,TRUE\na,c,False\n", ({(0, 1)}, {(0, 2)})),
    "left and right": ("left_id,right_id,verdict\na,b,same\na,c,different\n", ({(0, 1)}, {(0, 2)})),
    "entailment": (
        "premise,hypothesis,label\na,b,entailment\na,c,contradiction\n",
        ({(0, 1)}, {(0, 2)}),
    ),
    "entailment in numbers": (
        "premise,hypothesis,label\na,b,0\na,c,2\na,d,1\n",
        ({(0, 1)}, {(0, 2)}),
    ),
    "similar": ("anchor,positive\na,b\nc,d\n", ({(0, 1), (2, 3)}, set())),
    "triplets": ("anchor,positive,negative\na,b,c\n", {(0, 1, 2)}),
    "queries": ("query,pos,neg\na,b,c\n", {(0, 1, 2)}),
    "several negatives": (
        "anchor,positive,negative_1,negative_2\na,b,c,d\n",
        {(0, 1, 2), (0, 1, 3)},
    ),
    "clicks": ("query,chosen,passed over\na,b,c\n", {(0, 1, 2)}),
    "odd by id": ("id1,id2,id3,odd\na,b,c,b\n", {(0, 2, 1), (2, 0, 1)}),
    "odd by name": ("id1,id2,id3,odd\na,b,c,id2\n", {(0, 2, 1), (2, 0, 1)}),
    "odd by place": (
        "id1,id2,id3,odd\na,b,c,2\na,b,c,3\n",
        {(0, 2, 1), (2, 0, 1), (0, 1, 2), (1, 0, 2)},
    ),
    "odd from zero": (
        "id1,id2,id3,odd\na,b,c,0\na,b,c,1\n",
        {(1, 2, 0), (2, 1, 0), (0, 2, 1), (2, 0, 1)},
    ),
    "odd of two": ("first,second,odd\na,c,b\n", {(0, 2, 1), (2, 0, 1)}),
    "relevant only": ("query-id,corpus-id,score\na,b,1\nc,d,2\n", ({(0, 1), (2, 3)}, set())),
    "relevance": ("query-id,corpus-id,score\na,b,1\na,d,0\na,e,0\n", {(0, 1, 3), (0, 1, 4)}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_found_by_its_columns(write, name):
    text, expected = SHAPES[name]
    read = read_judgments(write("j.csv", text), LETTERS)
    assert statements(read.side) == expected
    assert read.side.n_points == 6
    assert read.n_rows - len(read.dropped) >= 1


def test_the_same_rows_in_every_format_are_the_same_statements(write, tmp_path):
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet as parquet

    rows = [("a", "b", 1), ("a", "c", 0), ("d", "e", 1)]
    records = [dict(zip(("first", "second", "alike"), row, strict=True)) for row in rows]
    parquet.write_table(arrow.Table.from_pylist(records), tmp_path / "j.parquet")
    files = {
        "j.csv": "first,second,alike\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows),
        "j.tsv": "second\tfirst\talike\n" + "".join(f"{a}\t{b}\t{c}\n" for a, b, c in rows[::-1]),
        "j.jsonl": "\n".join(map(json.dumps, records)),
        "j.json": json.dumps(records),
    }
    for name, text in files.items():
        write(name, text)
    for name in [*files, "j.parquet"]:
        side = read_judgments(name, LETTERS).side
        assert statements(side) == ({(0, 1), (3, 4)}, {(0, 2)}), name
        assert side.weights().tolist() == [1.0] * 3, name


def test_trec_qrels_have_no_header(write):
    text = "a 0 b 1\na 0 c 0\nd Q0 e 2\n"
    for name in ("qrels.txt", "qrels.test.tsv", "qrels"):
        read = read_judgments(write(name, text), LETTERS)
        assert read.shape == "qrels"
        assert statements(read.side) == {(0, 1, 2)}
        assert [one.place for one in read.dropped] == [f"{name}, line 3"]
        assert read.notes == ()
    pairs = read_judgments("qrels", LETTERS, shape="pairs")
    assert statements(pairs.side) == ({(0, 1), (3, 4)}, {(0, 2)})


def test_a_folder_of_beir_has_its_training_judgments(write):
    header = "query-id\tcorpus-id\tscore\n"
    write("beir/corpus.jsonl", '{"_id": "b", "text": "x"}\n')
    write("beir/qrels/test.tsv", header + "a\tc\t1\n")
    assert statements(read_judgments("beir", LETTERS).side) == ({(0, 2)}, set())
    write("beir/qrels/dev.tsv", header + "a\td\t1\n")
    with pytest.raises(FileError, match=r"dev\.tsv, test\.tsv, and none of them is train\.tsv"):
        read_judgments("beir", LETTERS)
    write("beir/qrels/train.tsv", header + "a\tb\t1\n")
    assert statements(read_judgments("beir", LETTERS).side) == ({(0, 1)}, set())
    write("empty/x.txt", "")
    with pytest.raises(FileError, match=r"empty is a folder without qrels"):
        read_judgments("empty", LETTERS)


def tasks(*answers):
    data = {"anchor": "a", "left": "b", "right": "c", "text1": "a", "text2": "b"}
    return [
        {"id": 10 + k, "data": data, "annotations": [] if answer is None else [answer]}
        for k, answer in enumerate(answers)
    ]


def result(kind, value):
    return {"result": [{"type": kind, "from_name": "x", "to_name": "y", "value": value}]}


def test_choices_of_label_studio_are_pairs(write):
    given = tasks(
        result("choices", {"choices": ["Same"]}),
        result("choices", {"choices": ["Not sure"]}),
        {"was_cancelled": True, "result": []},
        None,
    )
    for task in given:
        task["data"] = {"text1": "a", "text2": "b"}
    read = read_judgments(write("export.json", json.dumps(given)), LETTERS)
    assert statements(read.side) == ({(0, 1)}, set())
    assert [one.place for one in read.dropped] == [f"export.json, task {k}" for k in (11, 12, 13)]
    assert [one.kind for one in read.dropped] == [
        "without a known judgment",
        "undecided",
        "undecided",
    ]


def test_pairwise_answers_of_label_studio_are_triplets(write):
    given = tasks(
        result("pairwise", {"selected": "left"}), result("pairwise", {"selected": "right"}), None
    )
    read = read_judgments(write("export.json", json.dumps(given)), LETTERS)
    assert statements(read.side) == {(0, 1, 2), (0, 2, 1)}
    assert read.dropped[0].place == "export.json, task 12"
    given[0]["data"] = {"left": "b", "right": "c"}
    with pytest.raises(FileError, match="nothing that the two are compared with"):
        read_judgments(write("export.json", json.dumps(given)), LETTERS)


def test_ratings_of_label_studio_are_scores(write):
    given = tasks(*(result("rating", {"rating": k}) for k in (1, 2, 5)))
    for task, other in zip(given, "bcd", strict=True):
        task["data"] = {"image1": "a", "image2": other}
    read = read_judgments(write("export.json", json.dumps(given)), LETTERS)
    assert statements(read.side) == ({(0, 3)}, {(0, 1)})


def test_scores_above_a_percentile_are_alike_and_the_summary_says_which(write):
    scores = [0.0, 0.1, 0.5, 0.6, 1.0]
    text = "sentence1,sentence2,score\n" + "".join(
        f"a,{b},{s}\n" for b, s in zip("bcdef", scores, strict=True)
    )
    read = read_judgments(write("sts.csv", text), LETTERS)
    low, high = np.percentile(scores, (25, 75))
    assert statements(read.side) == (
        {(0, k + 1) for k, s in enumerate(scores) if s >= high},
        {(0, k + 1) for k, s in enumerate(scores) if s <= low},
    )
    assert "at and above 0.6 are alike, those at and below 0.1 unlike" in read.summary()
    assert read.dropped[0].reason == "the score 0.5 lies between 0.1 and 0.6"
    every = read_judgments("sts.csv", LETTERS, percentiles=(50, 51))
    assert len(every.dropped) == 0


@pytest.mark.parametrize(
    ("scores", "alike", "unlike"), [([0, 0, 0, 0, 9], 1, 4), ([2, 9, 9, 9, 9], 4, 1)]
)
def test_scores_that_are_mostly_equal_still_tell_pairs_apart(write, scores, alike, unlike):
    text = "first,second,score\n" + "".join(
        f"a,{b},{s}\n" for b, s in zip("bcdef", scores, strict=True)
    )
    side = read_judgments(write("j.csv", text), LETTERS).side
    assert (len(side.similar), len(side.dissimilar)) == (alike, unlike)


def test_scores_that_are_all_equal_are_refused(write):
    with pytest.raises(FileError, match="the same score, 3, in every row"):
        read_judgments(write("j.csv", "first,second,score\na,b,3\na,c,3\n"), LETTERS)


@pytest.mark.parametrize(
    ("word", "is_alike"),
    [
        *(
            (word, True)
            for word in ("1", "+1", "1.0", "TRUE", "Yes", "same", "Must-Link", "alike", "ML")
        ),
        *(
            (word, False)
            for word in ("0", "-1", "no", "Different", "not similar", "cannot_link", "unlike")
        ),
    ],
)
def test_a_judgment_in_any_words(write, word, is_alike):
    side = read_judgments(write("j.csv", f"first,second,alike\na,b,{word}\n"), LETTERS).side
    assert (len(side.similar), len(side.dissimilar)) == (is_alike, not is_alike)


def test_zero_beside_one_and_minus_one_says_neither(write):
    read = read_judgments(write("j.csv", "a,b,label\na,b,1\na,c,-1\na,d,0\n"), LETTERS)
    assert statements(read.side) == ({(0, 1)}, {(0, 2)})
    assert read.dropped[0].kind == "undecided"


def test_every_dropped_row_has_its_place_and_reason(write):
    text = (
        "first,second,alike\n"
        "a,b,1\n"
        '"a","multi\nline",1\n'  # lines 3 and 4
        "a,x9,1\n"
        ",b,1\n"
        "c,c,1\n"
        "a,d,perhaps\n"
        "a,e,unsure\n"
        " a , f ,0\n"
    )
    read = read_judgments(write("judgments.csv", text), LETTERS)
    assert [str(one) for one in read.dropped] == [
        "judgments.csv, line 3: the id 'multi\\nline' is not among the points",
        "judgments.csv, line 5: the id 'x9' is not among the points",
        "judgments.csv, line 6: there is no id in the column 'first'",
        "judgments.csv, line 7: the item 'c' is judged with itself",
        "judgments.csv, line 8: 'perhaps' in the column 'alike' is no judgment that is known",
        "judgments.csv, line 9: 'unsure' says neither alike nor unlike",
    ]
    assert statements(read.side) == ({(0, 1)}, {(0, 5)})
    assert read.summary().startswith(
        "judgments.csv: 8 rows of judged pairs, 2 used, as 1 similar and 1 dissimilar pairs; 6 dropped: "
        "2 with an unknown id, such as: the id 'multi\\nline' is not among the points (judgments.csv, line 3)"
    )


def test_used_and_dropped_rows_are_all_rows(write):
    rng = np.random.default_rng(0)
    ids = [*"abcdef", "x", ""]
    rows = [(*rng.choice(ids, 2), rng.choice(["1", "0", "?", ""])) for _ in range(300)]
    text = "first,second,alike\n" + "".join(f"{i},{j},{k}\n" for i, j, k in rows)
    read = read_judgments(write("j.csv", text), LETTERS)
    good = [
        (ids.index(i), ids.index(j), k == "1")
        for i, j, k in rows
        if i in ids[:6] and j in ids[:6] and i != j and k in "10" and k
    ]
    i, j, alike = map(list, zip(*good, strict=True))
    oracle = Pairs.from_judgments(i, j, alike, 6)
    assert np.array_equal(read.side.similar, oracle.similar)
    assert np.array_equal(read.side.similar_weight, oracle.similar_weight)
    assert np.array_equal(read.side.dissimilar, oracle.dissimilar)
    ties = sum(one.kind == "of a pair judged both ways" for one in read.dropped)
    assert len(read.dropped) - ties == len(rows) - len(good)


@pytest.mark.parametrize("conflicts", ["majority", "drop", "similar", "dissimilar"])
def test_conflicts_are_settled_as_from_judgments_does(write, conflicts):
    rows = [
        ("a", "b", 1),
        ("b", "a", 1),
        ("a", "b", 0),
        ("c", "d", 1),
        ("d", "c", 0),
        ("e", "f", 1),
    ]
    text = "first,second,alike\n" + "".join(f"{i},{j},{k}\n" for i, j, k in rows)
    read = read_judgments(write("j.csv", text), LETTERS, conflicts=conflicts)
    i, j, alike = zip(*rows, strict=True)
    place = "abcdef".index
    oracle = Pairs.from_judgments(
        list(map(place, i)), list(map(place, j)), list(alike), 6, conflicts=conflicts
    )
    for name in ("similar", "dissimilar"):
        assert np.array_equal(getattr(read.side, name), getattr(oracle, name))
    assert np.array_equal(read.side.similar_weight, oracle.similar_weight)
    assert "Pairs judged both alike and unlike: 2" in read.summary()
    # Weights of one are no weights.
    weighted = "first,second,alike,weight\n" + "".join(f"{i},{j},{k},1\n" for i, j, k in rows)
    other = read_judgments(write("w.csv", weighted), LETTERS, conflicts=conflicts)
    assert statements(other.side) == statements(read.side)
    assert other.side.weights().tolist() == read.side.weights().tolist()
    assert [one.reason for one in other.dropped] == [one.reason for one in read.dropped]


def test_a_conflict_can_be_refused(write):
    text = "first,second,alike\na,b,1\nc,d,1\nb,a,0\n"
    with pytest.raises(
        FileError, match=r"'a' and 'b' .* \(j\.csv, line 2\) and unlike \(j\.csv, line 4\)"
    ):
        read_judgments(write("j.csv", text), LETTERS, conflicts="raise")


def test_weights_add_up_and_those_that_are_none_are_dropped(write):
    text = "first,second,alike,weight\na,b,1,2\nb,a,1,0.5\na,c,0,3\na,d,1,0\na,e,1,x\na,f,1,nan\n"
    read = read_judgments(write("j.csv", text), LETTERS)
    assert read.side.similar_weight.tolist() == [2.5]
    assert read.side.dissimilar_weight.tolist() == [3.0]
    assert [one.kind for one in read.dropped] == ["without a weight"] * 3
    text = "anchor,positive,negative,weight\na,b,c,2\na,b,c,3\n"
    side = read_judgments(write("t.csv", text), LETTERS).side
    assert side.weight.tolist() == [5.0]


def test_triplets_are_those_of_the_class_methods(write):
    clicks = read_judgments(
        write("c.csv", "query,clicked,skipped\na,b,c\na,b,c\nd,e,f\n"), LETTERS
    ).side
    oracle = Triplets.from_clicks([[0, 1, 2], [0, 1, 2], [3, 4, 5]], 6)
    assert np.array_equal(clicks.triplets, oracle.triplets)
    assert np.array_equal(clicks.weights(), oracle.weights())
    odd = read_judgments(write("o.csv", "id1,id2,id3,odd\na,b,c,c\nd,e,f,f\n"), LETTERS).side
    oracle = Triplets.from_odd_one_out([[0, 1, 2], [3, 4, 5]], 6)
    assert statements(odd) == statements(oracle)


def test_bounds_of_squared_distances(write):
    text = "first,second,upper,lower\na,b,2,\na,c,,1\na,d,3,3\nb,a,5,\na,e,,\na,f,1,2\na,f,x,\n"
    read = read_judgments(write("j.csv", text), LETTERS)
    assert isinstance(read.side, Bounds)
    upper, lower = read.side.limits
    assert upper.tolist() == [2, np.inf, 3]
    assert lower.tolist() == [0, 1, 3]
    assert [one.place for one in read.dropped] == [f"j.csv, line {k}" for k in (5, 6, 7, 8)]
    assert read.dropped[0].reason == "the pair has bounds already (j.csv, line 2)"


def test_lists_of_several_items_are_several_rows(write):
    text = '\n{"query": "a", "pos": ["b", "c"], "neg": ["d", "x"]}\n'
    read = read_judgments(write("j.jsonl", text), LETTERS)
    assert statements(read.side) == {(0, 1, 3), (0, 2, 3)}
    assert read.n_rows == 4
    assert {one.place for one in read.dropped} == {"j.jsonl, line 2"}


@pytest.mark.parametrize("seven", ["7", " 7 ", 7, 7.0])
def test_an_id_is_the_same_as_text_and_as_a_number(write, seven):
    points = Points(np.eye(3), ids=["7", "8", "9"])
    text = json.dumps({"first": seven, "second": 8, "alike": True})
    assert statements(read_judgments(write("j.jsonl", text), points).side) == ({(0, 1)}, set())


def test_whole_numbers_that_pandas_wrote_with_a_point_are_ids(write):
    text = "first,second,alike\n1.0,2.0,1\n,3.0,1\n"
    read = read_judgments(write("j.csv", text), NUMBERS)
    assert statements(read.side) == ({(1, 2)}, set())
    # "007" is not 7: what looks like a number may be a name.
    with pytest.raises(FileError, match="the id '007' is not among the points"):
        read_judgments(write("k.csv", "first,second,alike\n007,1,1\n"), NUMBERS)


def test_without_ids_row_numbers_are_the_ids(write):
    read = read_judgments(write("j.csv", "first,second,alike\n0,5,1\n1,6,1\n"), NUMBERS)
    assert statements(read.side) == ({(0, 5)}, set())
    assert (
        read.dropped[0].reason == "the id '6' is not among the points (their ids are row numbers)"
    )


def test_texts_join_where_they_are_the_items(write):
    points = Points(np.eye(3), ids=["7", "8", "9"], items=["A cat", "A dog\n", "8"])
    text = "sentence1,sentence2,label\nA cat,A dog,1\nA cat,8,0\n"
    # An id comes before a text: "8" is the second point, not the third.
    assert statements(read_judgments(write("j.csv", text), points, conflicts="similar").side)[
        0
    ] == {(0, 1)}


def test_ids_of_two_tables_are_kept_apart(write):
    queries = Points(np.eye(3), ids=["1", "2", "q"], source="queries.jsonl")
    documents = Points(np.eye(3), ids=["1", "2", "d"], source="corpus.jsonl")
    both = join_points(queries, documents)
    read = read_judgments(
        write("q.tsv", "query-id\tcorpus-id\tscore\n1\t1\t1\n1\td\t0\nd\t1\t1\n"), both
    )
    assert statements(read.side) == {(0, 3, 5)}
    assert read.dropped[0].reason == "the id 'd' is not among the queries"
    read = read_judgments(write("p.csv", "first,second,alike\nq,d,1\n1,d,1\n"), both)
    assert statements(read.side) == ({(2, 5)}, set())
    assert read.dropped[0].kind == "with an id of both tables"


def test_columns_and_shape_can_be_stated(write):
    write("j.csv", "l,r,says,alike\na,b,yes,9\n")
    given = {"first": "l", "Second": "R", "alike": "says"}
    assert statements(read_judgments("j.csv", LETTERS, columns=given).side) == ({(0, 1)}, set())
    write("k.csv", "one thing,another,third thing\na,b,c\n")
    given = {"anchor": "one thing", "positive": "another", "negative": "third thing"}
    assert statements(read_judgments("k.csv", LETTERS, columns=given).side) == {(0, 1, 2)}
    write("n.csv", "0,1,3\n2,3,4\n")
    assert statements(read_judgments("n.csv", NUMBERS, shape="triplets").side) == {
        (0, 1, 3),
        (2, 3, 4),
    }
    assert statements(read_judgments("n.csv", NUMBERS, shape="odd one out").side) == {
        (0, 1, 3),
        (1, 0, 3),
        (2, 3, 4),
        (3, 2, 4),
    }


def test_three_numbers_without_header_that_end_in_a_judgment_are_pairs(write):
    side = read_judgments(write("j.csv", "0,4,1\n2,3,-1\n"), NUMBERS).side
    assert statements(side) == ({(0, 4)}, {(2, 3)})
    with pytest.raises(FileError, match="3 columns without names; state the shape with `shape`"):
        read_judgments(write("k.csv", "0,4,5\n2,3,1\n"), NUMBERS)


def test_relevance_becomes_what_is_asked_for(write):
    text = "query,document,relevance\na,b,2\na,c,0\nd,e,1\nd,f,0\n"
    write("q.csv", text)
    assert statements(read_judgments("q.csv", LETTERS).side) == {(0, 1, 2), (3, 4, 5)}
    pairs = read_judgments("q.csv", LETTERS, shape="pairs")
    assert statements(pairs.side) == ({(0, 1), (3, 4)}, {(0, 2), (3, 5)})
    assert read_judgments("q.csv", LETTERS, shape="triplets").dropped == []


RELEVANCE = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("cdef"), st.sampled_from([0, 1])), min_size=1
)


@hypothesis.settings(max_examples=100, deadline=None)
@hypothesis.given(RELEVANCE, st.sampled_from(["majority", "drop", "similar", "dissimilar"]))
def test_triplets_of_relevance_are_those_of_what_each_document_came_to(
    tmp_path_factory, rows, conflicts
):
    votes: dict[tuple[str, str], list[int]] = {}
    for query, document, grade in rows:
        votes.setdefault((query, document), []).append(grade)
    settled = {}
    for pair, said in votes.items():
        yes, no = sum(said), len(said) - sum(said)
        if not (yes and no):
            settled[pair] = bool(yes)
        elif conflicts in ("similar", "dissimilar"):
            settled[pair] = conflicts == "similar"
        elif conflicts == "majority" and yes != no:
            settled[pair] = yes > no
    expected = {
        tuple(map("abcdef".index, (query, good, bad)))
        for (query, good), is_good in settled.items()
        for (other, bad), is_good_too in settled.items()
        if query == other and is_good and not is_good_too
    }
    path = tmp_path_factory.getbasetemp() / "q.csv"
    path.write_text("query,document,relevance\n" + "".join(f"{q},{d},{r}\n" for q, d, r in rows))
    if not expected:
        with pytest.raises(FileError):
            read_judgments(path, LETTERS, shape="triplets", conflicts=conflicts)
        return
    read = read_judgments(path, LETTERS, shape="triplets", conflicts=conflicts)
    assert statements(read.side) == expected
    n_open = sum(len(set(said)) == 2 for said in votes.values())
    assert sum("judged both" in note for note in read.notes) == bool(n_open)


def test_a_document_judged_both_ways_counts_as_its_majority(write):
    text = "query,document,relevance\na,b,1\na,b,1\na,b,0\na,c,0\na,d,1\n"
    read = read_judgments(write("q.csv", text), LETTERS)
    assert statements(read.side) == {(0, 1, 2), (0, 3, 2)}
    pairs = read_judgments("q.csv", LETTERS, shape="pairs")
    assert statements(pairs.side) == ({(0, 1), (0, 3)}, {(0, 2)})
    for one in (read, pairs):
        assert one.notes == ("Pairs judged both alike and unlike: 1; the majority decides.",)
    # A document may be a query, and the other way round: these are two judgments of relevance.
    text = "query,document,relevance\na,b,1\na,c,0\nb,a,0\nb,d,1\n"
    read = read_judgments(write("r.csv", text), LETTERS)
    assert statements(read.side) == {(0, 1, 2), (1, 3, 0)}


def test_weights_that_comparisons_do_not_have_are_named(write):
    write("q.csv", "query,document,relevance,weight\na,b,1,5\na,c,0,2\n")
    assert "the column 'weight' is not used" in read_judgments("q.csv", LETTERS).summary()
    pairs = read_judgments("q.csv", LETTERS, shape="pairs")
    assert "not used" not in pairs.summary()
    assert pairs.side.weights().tolist() == [5.0, 2.0]


def test_grades_that_are_not_whole_are_scores(write):
    grades = [0.1, 0.2, 0.5, 0.8, 0.9]
    text = "query,document,score\n" + "".join(
        f"a,{d},{s}\n" for d, s in zip("bcdef", grades, strict=True)
    )
    read = read_judgments(write("q.csv", text), LETTERS)
    assert read.shape == "scores"
    assert statements(read.side) == ({(0, 4), (0, 5)}, {(0, 1), (0, 2)})
    stated = read_judgments("q.csv", LETTERS, shape="qrels")
    assert statements(stated.side) == ({(0, k) for k in range(1, 6)}, set())
    whole = read_judgments(write("w.csv", text.replace("0.", "")), LETTERS, shape="scores")
    assert statements(whole.side) == statements(read.side)
    # Each of the two is of its own table, as elsewhere.
    queries = Points(np.eye(2), ids=["a", "b"])
    both = join_points(queries, Points(np.eye(2), ids=["a", "b"]))
    text = "query,document,score\na,b,0.1\nb,b,0.9\n"
    read = read_judgments(write("b.csv", text), both)
    assert statements(read.side) == ({(1, 3)}, {(0, 3)})


@pytest.mark.parametrize(
    ("header", "answers"),
    [
        ("first,second,third,choice", "01"),
        ("id_1,id_2,id_3,label", "12"),
        ("i,j,k,score", "23"),
        ("itemA,itemB,itemC,alike", "10"),
    ],
)
def test_three_items_are_not_read_as_two(write, header, answers):
    rows = "".join(f"a,b,c,{answer}\n" for answer in answers)
    answer = header.split(",")[3]
    with pytest.raises(FileError, match=f"three items a row.*--shape odd --column odd={answer}"):
        read_judgments(write("j.csv", f"{header}\n{rows}"), LETTERS)
    # The shape that is advised for two items reads them as such.
    two = "scores" if "3" in answers or "2" in answers else "pairs"
    with pytest.raises(FileError, match=f"two are compared, state the shape '{two}'"):
        read_judgments("j.csv", LETTERS)
    rows = "".join(f"a,{b},d,{k}\n" for b, k in zip("bc", answers, strict=True))
    write("k.csv", f"{header}\n{rows}")
    assert read_judgments("k.csv", LETTERS, shape=two).shape == two
    for shape in ("odd", None):
        odd = read_judgments("j.csv", LETTERS, shape=shape, columns={"odd": answer})
        assert odd.shape == "odd"


def test_columns_that_are_not_used_are_named(write):
    text = "id_1,id_2,alike,annotator_3,when\na,b,1,x,now\na,c,0,y,then\n"
    read = read_judgments(write("j.csv", text), LETTERS)
    assert statements(read.side) == ({(0, 1)}, {(0, 2)})
    assert "Columns that are not used: 'annotator_3', 'when'." in read.summary()
    write("k.csv", "first,second,third,alike\na,b,c,1\n")
    assert "not used: 'third'" in read_judgments("k.csv", LETTERS, shape="pairs").summary()
    assert "not used" not in read_judgments(write("l.csv", "a,b,same\na,b,1\n"), LETTERS).summary()


@pytest.mark.parametrize("numbers", ["012", ["-1", "0", "1", "2"], ["0.0", "1.0", "2.0"]])
@pytest.mark.parametrize("name", ["label", "gold_label"])
def test_labels_that_may_be_entailment_or_scores_need_a_word_from_the_user(write, numbers, name):
    rows = "".join(f"a,{other},{k}\n" for other, k in zip("bcde", numbers, strict=False))
    write("j.csv", f"sentence1,sentence2,{name}\n{rows}")
    for shape in (None, "pairs"):
        with pytest.raises(FileError, match="entailment, neutral and contradiction; state the sh"):
            read_judgments("j.csv", LETTERS, shape=shape)
    scores = read_judgments("j.csv", LETTERS, shape="scores").side
    assert (0, len(numbers)) in statements(scores)[0]
    write("k.csv", f"premise,hypothesis,{name}\n{rows}")
    entailment = read_judgments("k.csv", LETTERS).side
    assert (0, len(numbers)) in statements(entailment)[1]
    write("s.csv", f"sentence1,sentence2,score\n{rows}")
    assert read_judgments("s.csv", LETTERS).shape == "scores"


@pytest.mark.parametrize("form", ["{}", "{}.0", " {} "])
def test_without_ids_judgments_that_count_from_1_are_refused(write, form):
    def text(*pairs):
        rows = (f"{form.format(i)},{form.format(j)},1\n" for i, j in pairs)
        return "first,second,alike\n" + "".join(rows)

    with pytest.raises(FileError, match=r"6 .* and 0 nowhere.*; subtract 1, or pass `ids`"):
        read_judgments(write("j.csv", text((1, 2), (3, 6))), NUMBERS)
    named = Points(np.eye(6), ids=list("123456"))
    assert statements(read_judgments("j.csv", named).side) == ({(0, 1), (2, 5)}, set())
    # These may count from 0: they have a 0, or no 6, or others that are unknown anyway.
    for pairs, n_dropped in (([(0, 2), (3, 6)], 1), ([(1, 2)], 0), ([(1, 2), (6, 70)], 1)):
        read = read_judgments(write("k.csv", text(*pairs)), NUMBERS)
        assert len(read.dropped) == n_dropped


def test_row_numbers_of_each_table_are_counted_from_0(write):
    both = join_points(Points(np.eye(4)[:2]), Points(np.eye(4)))
    header = "query,document,relevance\n"
    with pytest.raises(FileError, match="counted the 4 documents from 1"):
        read_judgments(write("q.csv", header + "0,1,1\n1,4,1\n"), both)
    with pytest.raises(FileError, match="counted the 2 queries from 1"):
        read_judgments(write("q.csv", header + "1,0,1\n2,3,1\n"), both)
    read = read_judgments(write("q.csv", header + "1,2,1\n0,1,1\n"), both)
    assert statements(read.side) == ({(1, 4), (0, 3)}, set())


VERSIONS = ["1.0", "2.0", "2.1"]


@pytest.mark.parametrize("cells", [["1.0", "2.0"], ["1", "2"], [1, 2], [1.0, 2.0]])
@pytest.mark.parametrize("ids", [VERSIONS, ["1", "2", "2.1"], ["1.0", "2", "x"]])
def test_whole_numbers_join_whatever_else_is_among_either_ids(write, cells, ids):
    text = json.dumps({"first": cells[0], "second": cells[1], "alike": 1})
    read = read_judgments(write("j.jsonl", text), Points(np.eye(3), ids=ids))
    assert statements(read.side) == ({(0, 1)}, set())


def test_points_that_have_both_spellings_of_a_number_are_two(write):
    points = Points(np.eye(3), ids=["1", "1.0", "2"])
    text = "first,second,alike\n1,2,1\n1.0,2.0,0\n"
    assert statements(read_judgments(write("j.csv", text), points).side) == ({(0, 2)}, {(1, 2)})


def test_odd_ones_out_by_places_that_pandas_wrote(write):
    text = "id1,id2,id3,odd\na,b,c,2.0\na,b,c,3.0\n"
    expected = {(0, 2, 1), (2, 0, 1), (0, 1, 2), (1, 0, 2)}
    assert statements(read_judgments(write("j.csv", text), LETTERS).side) == expected


def test_a_text_that_several_points_have_is_dropped(write):
    points = Points(np.eye(4), ids=["w", "x", "y", "same"], items=["same", "twice", "twice", "z"])
    text = "sentence1,sentence2,label\nw,twice,1\nw,z,1\ntwice,same,0\nw,same,1\n"
    read = read_judgments(write("j.csv", text), points)
    # An id comes before a text, so "same" is the last point.
    assert statements(read.side) == ({(0, 3)}, set())
    assert [str(one) for one in read.dropped] == [
        f"j.csv, line {line}: 'twice' is no id, and the text of several points; name the one that is "
        "meant by its id"
        for line in (2, 4)
    ]


def test_underscores_are_no_part_of_a_score(write):
    text = "first,second,score\na,b,1\na,c,1_0\na,d,5\n"
    read = read_judgments(write("j.csv", text), LETTERS, shape="scores")
    assert [one.place for one in read.dropped] == ["j.csv, line 3"]


def test_labels_of_premises_that_are_two_need_a_word_from_the_user(write):
    write("j.csv", "premise,hypothesis,label\na,b,1\na,c,0\n")
    given = {"first": "premise", "second": "hypothesis", "alike": "label"}
    assert statements(read_judgments("j.csv", LETTERS, columns=given).side) == ({(0, 1)}, {(0, 2)})


def test_many_comparisons_are_cut_down_but_every_document_is_in_one():
    from gramlearn.files.relevance import compare_documents

    documents = np.arange(1, 61)
    table, note = compare_documents(np.zeros(60, int), documents, documents <= 20, most=100)
    assert len(table) == 100
    assert set(table[:, 1]) | set(table[:, 2]) == set(documents.tolist())
    assert len({tuple(row) for row in table.tolist()}) == 100
    assert "Of 800 comparisons" in note
    table, note = compare_documents(np.zeros(60, int), documents, documents <= 20)
    assert len({tuple(row) for row in table.tolist()}) == 800
    assert note == ""


BAD = {
    "missing columns": (
        "u,v,w\na,b,1\n",
        "has the columns 'u', 'v', 'w', which are no judgments .* such as first='u'",
    ),
    "unknown ids": (
        "first,second,alike\ndoc-7,doc-8,1\n",
        "judgments have ids like 'doc-7', points.csv has ids like 'a'",
    ),
    "empty": ("", "j.csv is empty"),
    "header only": ("first,second,alike\n", "has a header and no rows"),
    "uneven": ("first,second,alike\na,b,1\na,b\n", "line 3 has 2 cells, but line 1 has 3"),
    "ties": (
        "first,second,alike\na,b,1\nb,a,0\n",
        "none of the 2 rows .* judged as often alike as unlike",
    ),
    "ambiguous entailment": ("premise,hypothesis,label\na,b,1\na,c,0\n", "none is 2"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_without_judgments_is_refused_in_a_sentence(write, name):
    text, words = BAD[name]
    with pytest.raises(FileError, match=words) as caught:
        read_judgments(write("j.csv", text), LETTERS)
    assert "\n" not in str(caught.value)


def test_wrong_arguments_are_refused(write):
    write("j.csv", "first,second,alike\na,b,1\n")
    for given, words in (
        ({"shape": "circles"}, "the shape 'circles' is not known; known are"),
        ({"shape": "triplets"}, "has no column 'anchor', which the shape 'triplets' needs"),
        ({"columns": {"frist": "a"}}, "`columns` has 'frist', which no column is for"),
        ({"columns": {"first": "z"}}, "names the column 'z', which j.csv does not have"),
        ({"conflicts": "vote"}, "`conflicts` is 'vote'"),
        ({"percentiles": (60, 40)}, "`percentiles`"),
        ({"format": "xml"}, "the format 'xml' is not known"),
    ):
        with pytest.raises(FileError, match=words):
            read_judgments("j.csv", LETTERS, **given)


def test_a_learner_learns_from_what_was_read(write):
    from gramlearn import MetricLearner

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    points = Points(X, ids=[f"p{k}" for k in range(30)])
    rows = rng.integers(30, size=(80, 2))
    rows = rows[rows[:, 0] != rows[:, 1]]
    alike = np.abs(X[rows[:, 0], 0] - X[rows[:, 1], 0]) < 0.8
    text = "first,second,alike\n" + "".join(
        f"p{i},p{j},{int(a)}\n" for (i, j), a in zip(rows, alike, strict=True)
    )
    side = read_judgments(write("j.csv", text), points).side
    learner = MetricLearner(C=1.0, random_state=0).fit(X, side=side)
    assert learner.transform(X).shape == (30, 3)


def test_two_items_alone_are_alike(write):
    for header in ("a,b", "id_1,id_2", "left,right"):
        found = read_judgments(write("links.csv", f"{header}\na,b\nc,d\n"), LETTERS)
        assert (found.shape, statements(found.side)) == ("similar", ({(0, 1), (2, 3)}, set()))
    with pytest.raises(FileError):
        read_judgments(write("links.csv", "a,b,colour\na,b,red\n"), LETTERS)


def test_one_and_two_do_not_say_which_is_alike(write):
    name = write("side.csv", "first,second,alike\na,b,1\na,c,2\n")
    with pytest.raises(FileError, match="nothing says which is alike"):
        read_judgments(name, LETTERS)
    found = read_judgments(name, LETTERS, shape="scores")
    assert statements(found.side) == ({(0, 2)}, {(0, 1)})
