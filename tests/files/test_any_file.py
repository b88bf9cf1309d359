"""Whatever cells a file has, points and judgments are read from it or refused in one sentence."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlearn.files.judgments import read_judgments
from gramlearn.files.points import Points, join_points, read_points
from gramlearn.sources.errors import FileError

HEADERS = [
    ("first", "second", "alike"),
    ("first", "second", "alike", "weight"),
    ("first", "second", "score"),
    ("premise", "hypothesis", "label"),
    ("anchor", "positive"),
    ("anchor", "positive", "negative_1", "negative_2"),
    ("query", "chosen", "passed over", "weight"),
    ("first", "second", "third", "odd"),
    ("query", "document", "relevance"),
    ("first", "second", "upper", "lower"),
    ("id", "x", "y", "label", "text"),
    ("id", "vector", "text"),
    ("name", "", "x"),
]
NUMBERS = {"score", "relevance", "upper", "lower", "weight", "x", "y"}
WORDS = {"alike", "label"}
IDS = ["a", "b", "c", "0", "1", "2"]
scalars = st.one_of(
    st.sampled_from([*IDS, "yes", "no", "unsure", "", " ", "nan", "1e999", "[1, 2]", "[1 2 ...]"]),
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([10**400, 2**63, float("nan"), float("inf"), 0.5, 1.0]),
    st.text(max_size=3),
)
cells = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)


def usual(name):
    """What a column of that name usually holds."""
    if name in NUMBERS:
        return st.sampled_from([0, 1, 2, 0.5, 3])
    if name in WORDS:
        return st.sampled_from(["yes", "no", "unsure", 1, 0, -1, 2, "entailment"])
    if name == "vector":
        return st.sampled_from([[1, 2], [0.5, 3], "[1, 2]", "[1 2]"])
    return st.sampled_from(IDS)


def rows_of(names):
    """Rows with these columns: usual ones, and some with any cells."""
    good = st.fixed_dictionaries({name: usual(name) for name in names})
    odd = st.fixed_dictionaries({}, optional=dict.fromkeys(names, cells))
    return st.lists(good, min_size=1, max_size=6) | st.lists(good | odd, min_size=1, max_size=6)


tables = st.sampled_from(HEADERS).flatmap(rows_of)
ONE = Points(np.eye(6), ids=IDS, items=list("uvwxyz"))
BOTH = join_points(ONE, Points(np.eye(6), ids=["a", "0", "d", "e", "f", "g"]))


def csv_of(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, *([row.get(name) for name in names] for row in rows)]

    def cell(value):
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"'

    return "\n".join(",".join(map(cell, line)) for line in lines) + "\n"


def tried(read, *given, **options):
    """What is read, or None, if it was refused in one sentence."""
    try:
        return read(*given, **options)
    except FileError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert sentence.endswith((".", ";"))
    return None


@settings(max_examples=300, deadline=None)
@given(tables, st.sampled_from(["csv", "jsonl"]), st.sampled_from(["majority", "drop", "raise"]))
def test_any_cells_are_read_or_refused(tmp_path_factory, rows, format, conflicts):
    path = tmp_path_factory.getbasetemp() / "any"
    text = csv_of(rows) if format == "csv" else "\n".join(map(json.dumps, rows))
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    points = tried(read_points, path, format=format)
    if points is not None:
        assert np.isfinite(points.X).all()
        assert points.ids is None or len(set(points.ids)) == len(points.ids) == len(points.X)
        assert points.summary()
    for about in (ONE, BOTH):
        judgments = tried(read_judgments, path, about, format=format, conflicts=conflicts)
        if judgments is not None:
            assert judgments.side.size
            assert len(judgments.dropped) < judgments.n_rows
            assert len({str(one) for one in judgments.dropped}) <= len(judgments.dropped)
            assert judgments.summary()
