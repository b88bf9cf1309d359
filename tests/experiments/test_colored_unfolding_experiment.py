"""The score, the table and the picture of the experiment with colored unfolding, without its data."""

import numpy as np
import pytest
from experiments.experiment import Result
from experiments.reproductions.z11.colored_unfolding import accuracy_around
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from experiments import reproductions

RNG = np.random.default_rng(0)
CLASSES = np.arange(60) % 3
POINTS = RNG.standard_normal((60, 2)) + CLASSES[:, None]


def result(rank: int | None, seconds: float, value: float, **more: bool) -> Result:
    return Result(
        {"set": "senate", "rank": rank, **more},
        {
            "seconds": seconds,
            "relative_gap": 2e-3,
            "value": value,
            "share": 0.4,
            "accuracy": 0.95,
            "before": 0.25 * seconds,
            "points": (POINTS * seconds).tolist(),
            "classes": CLASSES.tolist(),
            "names": ["a", "b", "c"],
        },
    )


@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0])
def test_the_score_is_that_of_leaving_one_out(spread: float) -> None:
    points = RNG.standard_normal((60, 2)) + spread * CLASSES[:, None]
    fit = KNeighborsClassifier(5)
    expected = cross_val_score(fit, points, CLASSES, cv=LeaveOneOut()).mean()
    assert accuracy_around(points, CLASSES) == pytest.approx(expected)


def test_the_table_compares_with_the_exact_embedding_and_the_paper() -> None:
    experiment = reproductions.find("colored_unfolding")
    answers = [
        result(5, 0.5, -80.0),
        result(None, 2.0, -100.0),
        result(None, 3.0, -900.0, wide=True),
    ]
    few, exact, wide = experiment.table(answers)
    assert (exact["B"], wide["B"]) == ("10 N", "10 N²")
    assert wide["seconds in the paper"] == wide["objective, of the exact one"] == ""
    assert few["d"] == "5"
    assert few["objective, of the exact one"] == "80 %"
    assert few["seconds in the paper"] == ""
    assert exact["d"] == "exact"
    assert exact["seconds in the paper"] == "1.50 ± 0.06"
    assert exact["5-NN in two dimensions"] == "95.0 %"
    (alone,) = experiment.table([result(5, 0.5, -80.0)])
    assert alone["objective, of the exact one"] == ""


def test_the_picture_has_the_embeddings_and_their_time() -> None:
    experiment = reproductions.find("colored_unfolding")
    answers = [
        result(5, 0.5, -80.0),
        result(50, 1.0, -90.0),
        result(None, 2.0, -100.0),
        result(None, 3.0, -900.0, wide=True),
    ]
    *above, below = experiment.figure(answers).axes
    titles = ["d = 50, B = 10 N", "exact, B = 10 N", "exact, B = 10 N²"]
    assert [axes.get_title() for axes in above] == [f"senate (106th), {title}" for title in titles]
    for axes, size in zip(above, (1.0, 2.0, 3.0), strict=True):
        drawn = np.concatenate([line.get_xydata() for line in axes.lines])
        assert sorted(map(tuple, drawn)) == sorted(map(tuple, size * POINTS))
    assert [text.get_text() for text in above[-1].get_legend().get_texts()] == ["a", "b", "c"]
    heights = {line.get_label(): list(line.get_ydata()) for line in below.lines}
    assert heights["rank d"] == [0.5, 1.0]
    assert {heights["exact"][0], heights["exact, the paper"][0]} == {2.0, 1.5}
    *none, _ = experiment.figure(answers[:1]).axes
    assert not any(axes.axison or axes.lines for axes in none)


def test_the_published_results_can_be_drawn() -> None:
    experiment = reproductions.find("colored_unfolding")
    few, largest, exact = (result(rank, 1.0, -80.0) for rank in (5, 50, None))
    assert experiment.kept(largest) == largest.value
    assert experiment.kept(exact) == exact.value
    kept = experiment.kept(few)
    assert (kept["n_points"], "points" in kept) == (60, False)
    assert experiment.table([Result(few.parameters, kept)]) == experiment.table([few])


def of_set(name: str, exact: float, approximate: float) -> list[Result]:
    """An exact embedding and two approximations, of which the first tells classes apart better."""
    given = [
        (result(5, 0.5, -80.0), approximate),
        (result(50, 1.0, -90.0), approximate - 0.1),
        (result(None, 2.0, -100.0), exact),
        (result(None, 3.0, -900.0, wide=True), exact),
    ]
    return [
        Result({**r.parameters, "set": name}, {**r.value, "accuracy": share}) for r, share in given
    ]


@pytest.mark.parametrize(("third", "agrees"), [(0.94, True), (0.98, False)])
def test_embeddings_are_comparable_where_classes_are_told_apart_alike(
    third: float, agrees: bool
) -> None:
    experiment = reproductions.find("colored_unfolding")
    answers = [
        *of_set("senate", 0.9, 0.86),
        *of_set("usps", 0.9, 0.5),
        *of_set("news20", third, 0.9),
    ]
    *_, claim = experiment.claims(answers)
    assert claim.words == "exact embeddings are comparable to those of the approximation"
    assert claim.agrees is agrees
    assert "5-NN 90.0 % exact, 86.0 % with d = 5 (senate (106th))" in claim.ours


def test_claims_of_seconds_say_what_the_data_are() -> None:
    experiment = reproductions.find("colored_unfolding")
    answers = [r for name in ("senate", "usps", "news20") for r in of_set(name, 0.9, 0.9)]
    senate, usps, news, *rest = experiment.claims(answers)
    assert [claim.agrees for claim in (senate, usps, news)] == [None, None, None]
    assert "106th" in senate.stand_in
    assert "does not say which ones" in news.stand_in
    assert not usps.stand_in
    reasons = {claim.reason for claim in rest if claim.words.startswith("the time of the approx")}
    assert all("take 25 % at the smallest d, and 25 % at the largest" in why for why in reasons)
    assert len(reasons) == 1
