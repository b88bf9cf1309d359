"""The page holds the numbers that the library gives, whatever it is given, in one small file."""

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from tests.plots.reports import CLASSES, TEXTS, blobs, content, learned, texts

from gramlearn import Bounds, KernelLearner, MetricLearner, OnlineMetricLearner, Pairs, Triplets
from gramlearn.files.errors import UnwritableFileError
from gramlearn.plots import report
from gramlearn.plots.report.reading import plain_points

X, KIND = blobs()
RNG = np.random.default_rng(1)


@pytest.fixture(scope="module")
def fitted() -> Any:
    return learned()


@pytest.fixture(scope="module")
def page(fitted: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    learner, points, kind, _, held = fitted
    path = tmp_path_factory.mktemp("report") / "page.html"
    assert report(learner, points, held, CLASSES[kind], path=path, items=texts()) == path
    return path


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def delong(near: np.ndarray, far: np.ndarray) -> float:
    """The standard error of the area under the ROC curve of two independent samples."""
    right = (near[:, None] < far) + (near[:, None] == far) / 2
    rows, columns = right.mean(axis=1), right.mean(axis=0)
    return float(np.sqrt(rows.var(ddof=1) / len(near) + columns.var(ddof=1) / len(far)))


def test_scores_are_those_of_the_learner_and_of_plain_distances(fitted: Any, page: Path) -> None:
    learner, points, _, _, held = fitted
    found = content(page)["scores"]["given"]
    plain = MetricLearner(C=1e-12, loss="hinge").fit(points, side=held)
    assert found["after"][0] == pytest.approx(learner.score(points, side=held))
    assert found["before"][0] == pytest.approx(plain.score(points, side=held), abs=1e-6)
    assert found["gain"][0] == pytest.approx(found["after"][0] - found["before"][0])
    assert found["was_learned_from"] == "no"


def test_the_standard_error_of_pairs_without_common_points_is_that_of_two_samples(
    tmp_path: Path,
) -> None:
    points = RNG.normal(size=(800, 3)) * [3, 1, 1]
    pairs = np.arange(800).reshape(-1, 2)
    near, far = pairs[:150], pairs[150:]
    points[near[:, 1]] = points[near[:, 0]] + RNG.normal(size=(150, 3))
    learner = MetricLearner(C=1.0).fit(points[:60], side=Pairs(near[:30], n_points=60))
    side = Pairs(near, far, n_points=800)
    report(learner, points, side, path=tmp_path / "page.html", suspects=False)
    found = content(tmp_path / "page.html")["scores"]["given"]
    for name, F in (("before", np.eye(3)), ("after", learner.components_.T)):
        lengths = [
            np.sum(((points[t[:, 0]] - points[t[:, 1]]) @ F) ** 2, axis=1) for t in (near, far)
        ]
        assert found[name][1] == pytest.approx(delong(*lengths), rel=0.01)


def test_labels_score_by_near_neighbors_where_there_are_no_statements(
    fitted: Any, tmp_path: Path
) -> None:
    learner, points, kind, *_ = fitted
    report(learner, points, y=kind, path=tmp_path / "page.html")
    found = content(tmp_path / "page.html")
    assert found["scores"]["given"]["after"][0] == pytest.approx(learner.score(points, kind))
    assert found["lengths"]["is_drawn"]
    assert found["statements"] is None


def test_maps_keep_principal_coordinates_and_near_points(fitted: Any, page: Path) -> None:
    learner, points, *_ = fitted
    maps = content(page)["maps"]
    for name, place in (("before", points), ("after", learner.transform(points))):
        centered = place - place.mean(axis=0)
        U, s, _ = np.linalg.svd(centered, full_matrices=False)
        plane = (U * s)[:, :2]
        shown = unpacked(maps[name], "<u2").reshape(-1, 2) / 65535
        span = float(np.ptp(plane, axis=0).max())
        for axis in range(2):
            drawn = (shown[:, axis] - shown[:, axis].mean()) * span
            assert min(
                np.abs(drawn - plane[:, axis]).max(), np.abs(drawn + plane[:, axis]).max()
            ) < (1e-4 * span)
        assert maps[f"share_{name}"] == pytest.approx(list(s[:2] ** 2 / np.sum(s**2)))
        gaps = cdist(place, place)
        np.fill_diagonal(gaps, np.inf)
        near = unpacked(maps[f"near_{name}"], "<u2").reshape(-1, 10)
        np.testing.assert_array_equal(near, np.argsort(gaps, axis=1)[:, :10])


def test_distances_are_counted_and_bounds_are_those_asked(fitted: Any, page: Path) -> None:
    learner, points, _, _, held = fitted
    found = content(page)["lengths"]
    L = learner.components_
    for name, place in (("before", points), ("after", points @ L.T)):
        for kind, table in zip(found[name], (held.similar, held.dissimilar), strict=True):
            i, j = np.asarray(table).T
            squared = np.sum((place[i] - place[j]) ** 2, axis=1)
            assert kind["median"] == pytest.approx(np.median(squared))
            counts, _ = np.histogram(squared, found["edges"])
            assert sum(kind["shares"]) == pytest.approx(1, abs=1e-4)
            np.testing.assert_allclose(kind["shares"], counts / len(squared), atol=1e-5)
    assert dict(found["lines"]) == pytest.approx(
        {"upper bound": learner.bounds_[0], "lower bound": learner.bounds_[1]}
    )


def test_statements_are_those_that_the_learner_lists(fitted: Any, page: Path) -> None:
    learner, points, _, _, held = fitted
    found = content(page)["statements"]
    table = np.asarray(held.statement_points())
    violated = learner.violated(points, held)
    assert found["violated"]["n"] == len(violated)
    assert [s["points"] for s in found["violated"]["first"]] == table[violated.number[:10]].tolist()
    # The learner has a price, so that suspects are asked of learners like it, to a wider gap.
    first = {tuple(s["points"]) for s in found["suspects"]["first"]}
    same = learner.suspects(points, held, random_state=0)
    assert len(first & {tuple(row) for row in table[same.number[:10]].tolist()}) >= 8
    report(learner, points, held, path=page.with_name("other.html"), suspects=same[:3])
    other = content(page.with_name("other.html"))["statements"]["suspects"]
    assert [s["points"] for s in other["first"]] == table[same.number[:3]].tolist()


def test_features_certificate_and_trials_are_those_of_the_learner(tmp_path: Path) -> None:
    points, kind = blobs(120)
    learner = MetricLearner(random_state=0).fit(points, kind)
    report(learner, points, path=tmp_path / "page.html", title="a < b & c")
    text, found = (tmp_path / "page.html").read_text(), content(tmp_path / "page.html")
    order = np.argsort(-learner.feature_importances_, kind="stable")
    assert [name for name, _ in found["features"]["shares"]] == [f"feature {f}" for f in order]
    solution = learner.solution_
    for name in ("primal", "dual", "gap", "relative_gap", "iterations", "seconds"):
        assert found["certificate"][name] == getattr(solution, name)
    assert len(found["certificate"]["history"]) == len(solution.history)
    scores = [row["score"][0] for row in found["trials"]["rows"]]
    assert scores == sorted(learner.cv_results_["mean_test_score"], reverse=True)
    (chosen,) = [row for row in found["trials"]["rows"] if row["is_chosen"]]
    assert (chosen["prior"], chosen["strength"]) == (learner.prior_, learner.strength_)
    assert found["scores"]["held_back"]["after"][0] == chosen["score"][0]
    assert learner.verdict_ in text
    assert "<title>a &lt; b &amp; c</title>" in text


def test_statements_that_were_learned_from_are_called_so(fitted: Any, tmp_path: Path) -> None:
    learner, points, _, rest, held = fitted
    chosen = MetricLearner(random_state=0).fit(points, side=rest)
    for who, side, expected in (
        (learner, rest, "yes"),
        (learner, held, "no"),
        (chosen, rest, "yes"),
        (chosen, replace(rest, similar=rest.similar[::-1]), "maybe"),
        (chosen, held, "no"),
    ):
        report(who, points, side, path=tmp_path / "page.html", suspects=False)
        found = content(tmp_path / "page.html")["scores"]["given"]["was_learned_from"]
        assert found == expected
        text = (tmp_path / "page.html").read_text()
        assert ("that it was learned from" in text.split('id="about"')[0]) == (expected != "no")


LEARNERS = {
    "metric": lambda: MetricLearner(C=1.0, random_state=0).fit(X, KIND),
    "diagonal": lambda: MetricLearner(shape="diagonal", C=1.0, random_state=0).fit(X, KIND),
    "unit length": lambda: MetricLearner(normalize=True, C=1.0, random_state=0).fit(X, KIND),
    "few columns": lambda: MetricLearner(n_components=1, C=1.0, random_state=0).fit(X, KIND),
    "sparse": lambda: MetricLearner(rank=3, C=1.0, random_state=0).fit(csr_array(X), KIND),
    "kernel": lambda: KernelLearner("rbf", C=1.0, random_state=0).fit(X, KIND),
    "given kernel": lambda: KernelLearner("precomputed", C=1.0, random_state=0).fit(X @ X.T, KIND),
    "stream": lambda: OnlineMetricLearner().fit(
        X, side=Pairs.from_labels(KIND, 90, random_state=0)
    ),
}


@cache
def learner_by(name: str) -> Any:
    return LEARNERS[name]()


SIDES = {
    "pairs": Pairs.from_labels(KIND, 60, random_state=0),
    "alike alone": Pairs([[0, 3], [1, 4]], n_points=90),
    "one statement": Pairs(dissimilar=[[0, 1]], n_points=90),
    "triplets": Triplets.from_labels(KIND, 60, random_state=0),
    "bounds": Bounds([0, 1, 2], [3, 4, 6], lower=[0.1, 0, 2], upper=[9, 5, np.inf], n_points=90),
    "nothing": None,
}


@pytest.mark.parametrize("name", LEARNERS)
def test_any_learner_has_a_page(name: str, tmp_path: Path) -> None:
    learner = learner_by(name)
    points = {"given kernel": X @ X.T, "sparse": csr_array(X)}.get(name, X)
    path = report(
        learner, points, SIDES["pairs"], KIND, path=tmp_path / "page.html", suspects=False
    )
    found = content(path)
    assert found["scores"]["given"]["after"][0] >= found["scores"]["given"]["before"][0]
    assert (found["certificate"] is None) == (name == "stream")


@pytest.mark.parametrize("name", SIDES)
def test_any_statements_have_a_page(name: str, fitted: Any, tmp_path: Path) -> None:
    path = report(fitted[0], X, SIDES[name], path=tmp_path / "page.html")
    assert (content(path)["scores"]["given"] is None) == (SIDES[name] is None)


@pytest.mark.parametrize("side", [name for name in SIDES if name != "nothing"])
@pytest.mark.parametrize("name", LEARNERS)
def test_any_learner_has_a_page_about_any_statements(name: str, side: str, tmp_path: Path) -> None:
    points = {"given kernel": X @ X.T, "sparse": csr_array(X)}.get(name, X)
    asked = side == "triplets" or name in ("metric", "stream")
    path = report(
        learner_by(name), points, SIDES[side], KIND, path=tmp_path / "page.html", suspects=asked
    )
    found = content(path)["statements"]
    assert (found["suspects"] is None) == bool(found["why_not"])
    if (name, side) == ("stream", "triplets"):
        assert found["why_not"].startswith("They were not looked for: `side` holds Triplets")
        assert content(path)["scores"]["given"]["what"] == "the share of the comparisons that hold"


def test_a_metric_that_is_mixed_with_the_prior_says_so(fitted: Any, tmp_path: Path) -> None:
    found = content(report(fitted[0], X, path=tmp_path / "page.html"))
    assert found["certificate"]["mixture"] is None
    alike = [[k, k + 3] for k in range(0, 80)]
    learner = MetricLearner(random_state=0).fit(X, side=Pairs(alike, n_points=90))
    assert learner.prior_share_ == 0.25
    found = content(report(learner, X, path=tmp_path / "page.html"))
    assert "mixed with a quarter of the prior" in found["certificate"]["mixture"]
    assert {row["prior_share"] for row in found["trials"]["rows"]} == {0.0, 0.25}


def test_plain_points_have_the_plain_distances() -> None:
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_array_equal(plain_points(learner_by("metric"), X), X)
    found = plain_points(learner_by("unit length"), X)
    np.testing.assert_allclose(found, unit, rtol=1e-13)
    sparse = plain_points(learner_by("unit length"), csr_array(X))
    np.testing.assert_allclose(sparse.toarray(), unit, rtol=1e-13)
    of_kernel = plain_points(learner_by("given kernel"), X @ X.T)
    np.testing.assert_allclose(cdist(of_kernel, of_kernel), cdist(X, X), atol=1e-6)
    zero = np.vstack([X, np.zeros(6)])
    with pytest.raises(ValueError, match=r"`X` has a row of zeros \(row 90\)"):
        plain_points(learner_by("unit length"), zero)


@pytest.mark.parametrize("points", [X[:1], X[:2], np.ones((5, 6))], ids=["one", "two", "equal"])
def test_few_points_have_a_page(points: np.ndarray, fitted: Any, tmp_path: Path) -> None:
    found = content(report(fitted[0], points, path=tmp_path / "page.html"))
    assert found["maps"]["n_nearest"] == min(10, len(points) - 1)


def test_a_learner_from_a_file_has_the_page_of_the_one_that_was_saved(
    fitted: Any, page: Path, tmp_path: Path
) -> None:
    learner, points, kind, _, held = fitted
    if not hasattr(learner, "save"):
        pytest.skip("learners cannot be saved")
    from gramlearn.estimators.saving import load

    learner.save(tmp_path / "model.gram")
    again = load(tmp_path / "model.gram")
    report(again, points, held, CLASSES[kind], path=tmp_path / "page.html", items=texts())
    first, second = content(page), content(tmp_path / "page.html")
    assert {name for name in first if first[name] != second[name]} <= {"statements"}
    assert first["statements"]["violated"] == second["statements"]["violated"]


def test_the_same_is_written_again(fitted: Any, page: Path, tmp_path: Path) -> None:
    learner, points, kind, _, held = fitted
    path = report(learner, points, held, CLASSES[kind], path=tmp_path / "p.html", items=texts())
    assert path.read_bytes() == page.read_bytes()


def test_the_policy_allows_this_script_and_this_style_and_no_other(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    parts = dict(part.strip().split(" ", 1) for part in policy[1].split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["img-src"] == "data:"
    for tag, name in (("script", "script-src"), ("style", "style-src")):
        body = text.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert parts[name] == f"'sha256-{digest}'"
    assert "innerHTML" not in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_texts_come_whole_or_cut_with_a_word(page: Path) -> None:
    found = content(page)["items"]["texts"]
    assert found[:5] == TEXTS[:5]
    assert found[5] == TEXTS[5].replace("\ud83d", "?")
    assert found[6] == "m" * 2000 + " … (1,046,576 more letters)"
    assert found[8:] == texts()[8:]


def test_a_hundred_thousand_points_fit_into_three_megabytes(tmp_path: Path) -> None:
    points, kind = blobs(100_000)
    learner = MetricLearner(C=1.0, random_state=0).fit(points[:200], kind[:200])
    side = Pairs.from_labels(kind, 300, random_state=0)
    path = tmp_path / "page.html"
    words = ["<&\u2028>" * 60] * len(points)
    names = [f"a name of point {k}" for k in range(len(points))]
    report(learner, points, side, kind, path=path, items=words, ids=names, suspects=False)
    assert path.stat().st_size < 3_000_000
    found = content(path)
    assert found["maps"]["n_shown"] == len(found["items"]["texts"]) == 10_000
    rows = unpacked(found["maps"]["rows"], "<u4")
    assert found["items"]["ids"] == [names[row] for row in rows]
    table = np.asarray(side.statement_points())
    violated = learner.violated(points, side).number[:10]
    listed = [s["points"] for s in found["statements"]["violated"]["first"]]
    np.testing.assert_array_equal(rows[np.array(listed)], table[violated])


def test_of_many_classes_the_largest_have_colors_and_all_have_names(
    fitted: Any, tmp_path: Path
) -> None:
    kind = np.concatenate([np.arange(14), RNG.integers(0, 14, size=70), [-1] * 6])
    found = content(report(fitted[0], X, y=kind, path=tmp_path / "page.html"))["maps"]
    of_each = unpacked(found["of_each"], "<u2")
    assert [found["classes"][k] for k in of_each[:84]] == [str(k) for k in kind[:84]]
    assert (of_each[84:] == 65535).all()
    sizes = np.bincount(kind[:84])
    colored = [int(name) for name in found["classes"][: found["n_colored"]]]
    assert len(colored) == 9
    assert min(sizes[colored]) >= max(np.delete(sizes, colored))


def test_the_page_without_data_is_small(fitted: Any, tmp_path: Path) -> None:
    path = report(fitted[0], X[:2], path=tmp_path / "page.html")
    assert path.stat().st_size < 300_000


def test_pictures_are_arrays_or_files_and_a_text_is_never_a_file(
    fitted: Any, tmp_path: Path
) -> None:
    from io import BytesIO

    image = pytest.importorskip("matplotlib.image")
    grays = RNG.integers(0, 256, size=(90, 5, 7)).astype(np.uint8)
    found = content(report(fitted[0], X, path=tmp_path / "page.html", items=grays))["items"][
        "images"
    ]
    data = base64.b64decode(found["3"].removeprefix("data:image/png;base64,"))
    np.testing.assert_allclose(image.imread(BytesIO(data), format="png"), grays[3] / 255, atol=1e-6)
    place = tmp_path / "one.png"
    place.write_bytes(data)
    found = content(report(fitted[0], X, path=tmp_path / "page.html", items=[place] * 90))["items"]
    assert base64.b64decode(found["images"]["0"].split(",")[1]) == data
    found = content(report(fitted[0], X, path=tmp_path / "page.html", items=[str(place)] * 90))[
        "items"
    ]
    assert found["images"] is None
    assert found["texts"][0] == str(place)


@pytest.mark.parametrize("n_colors", [3, 4])
@pytest.mark.parametrize("kind", ["uint8", "floats", "float32", "a list"])
def test_pictures_in_colors_are_shown_as_they_are(
    kind: str, n_colors: int, fitted: Any, tmp_path: Path
) -> None:
    from io import BytesIO

    image = pytest.importorskip("matplotlib.image")
    colors = RNG.integers(0, 256, size=(90, 5, 7, n_colors)).astype(np.uint8)
    items: Any = {
        "uint8": lambda: colors,
        "floats": lambda: colors / 255,
        "float32": lambda: (colors / 255).astype(np.float32),
        "a list": lambda: list(colors),
    }[kind]()
    found = content(report(fitted[0], X, path=tmp_path / "page.html", items=items))["items"]
    data = base64.b64decode(found["images"]["3"].removeprefix("data:image/png;base64,"))
    np.testing.assert_allclose(
        image.imread(BytesIO(data), format="png"), colors[3] / 255, atol=1e-6
    )
    assert found["texts"] is None


def test_pictures_that_do_not_all_fit_leave_room(fitted: Any, tmp_path: Path) -> None:
    noise = RNG.integers(0, 256, size=(90, 150, 200)).astype(np.uint8)
    path = report(fitted[0], X, path=tmp_path / "page.html", items=noise)
    assert 10 < len(content(path)["items"]["images"]) < 90
    assert path.stat().st_size < 3_000_000


@pytest.mark.usefixtures("tensors_stay")
@pytest.mark.parametrize("kind", [MetricLearner, KernelLearner])
def test_a_page_of_tensors_is_that_of_numpy_arrays(other: Any, kind: Any, tmp_path: Path) -> None:
    side = Pairs.from_labels(KIND, 60, random_state=0)
    moved = Pairs(other.index(side.similar), other.index(side.dissimilar), n_points=len(X))
    here = kind(C=1.0, random_state=0, tol=1e-9).fit(X, side=side)
    there = kind(C=1.0, random_state=0, tol=1e-9).fit(other.array(X), side=side)
    one = content(report(there, other.array(X), moved, other.index(KIND), path=tmp_path / "1.html"))
    two = content(report(here, X, side, KIND, path=tmp_path / "2.html"))
    assert one["scores"]["given"]["after"] == pytest.approx(two["scores"]["given"]["after"])
    assert one["scores"]["given"]["before"] == two["scores"]["given"]["before"]
    assert one["about"] == two["about"]
    assert one["items"] == two["items"]


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"X": X[:, :4]}, ValueError, "4 features"),
        ({"learner": MetricLearner()}, NotFittedError, "`learner` is a MetricLearner that was not"),
        ({"learner": MetricLearner}, TypeError, "`learner` must be a fitted estimator"),
        ({"learner": 3}, TypeError, "`learner` must be a fitted estimator"),
        ({"items": ["a", "b"]}, ValueError, "`items` has 2 entries, but `X` has 90 rows"),
        ({"items": "text"}, TypeError, "`items` must be a sequence"),
        ({"items": [Path("a.png"), *"b" * 89]}, TypeError, "`items` holds both"),
        ({"items": [Path("none.png")] * 90}, ValueError, r"`items\[\d+\]` is none.png, which could not"),
        ({"items": [Path(__file__)] * 90}, ValueError, "which is no PNG"),
        ({"items": np.zeros((3, 4, 4))}, ValueError, "`items` has 3 entries, but `X` has 90 rows"),
        ({"items": np.zeros((90, 4))}, ValueError, r"`items` is an array of shape \(90, 4\)"),
        ({"items": np.zeros((90, 3, 8, 8))}, ValueError, r"`items` is an array of shape \(90, 3, 8, 8\)"),
        ({"items": np.zeros((90, 0, 8))}, ValueError, r"`items` is an array of shape \(90, 0, 8\)"),
        ({"items": np.full((90, 4, 4, 3), 200.0)}, ValueError, "colors of float64 from 200 to 200; pass"),
        ({"items": np.full((90, 4, 4, 3), 200)}, ValueError, "colors of int64 from 200 to 200; pass"),
        ({"items": np.full((90, 4, 4, 3), np.nan)}, ValueError, "must hold finite"),
        ({"items": [np.zeros((k, 4)) for k in range(1, 91)]}, ValueError, "arrays of different shapes"),
        ({"ids": range(91)}, ValueError, "`ids` has 91 entries, but `X` has 90 rows"),
        ({"y": [1, 2]}, ValueError, "`y` has 2 labels"),
        ({"side": KIND}, TypeError, "`side` must be Pairs, Triplets or Bounds"),
        ({"side": Pairs([[0, 1]], n_points=5)}, ValueError, "made for 5 points"),
        ({"seed": -1}, ValueError, "seed"),
        ({"suspects": 3}, TypeError, "`suspects` must be"),
        ({"path": Path("no/such/folder/page.html")}, UnwritableFileError, "folder does not exist"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_sentence(
    change: dict[str, Any], error: type[Exception], says: str, fitted: Any, tmp_path: Path
) -> None:
    given = {"learner": fitted[0], "X": X, "side": SIDES["pairs"], "path": tmp_path / "page.html"}
    with pytest.raises(error, match=says):
        report(**(given | change))
    assert not list(tmp_path.iterdir())
