"""The score, the table and the picture of the experiment with colored unfolding, without its data."""

import numpy as np
import pytest
from experiments import reproductions
from experiments.experiment import Result
from experiments.reproductions.colored_unfolding import accuracy_around
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

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


def test_what_is_published_can_be_drawn() -> None:
    experiment = reproductions.find("colored_unfolding")
    few, largest, exact = (result(rank, 1.0, -80.0) for rank in (5, 50, None))
    assert experiment.kept(largest) == largest.value
    assert experiment.kept(exact) == exact.value
    kept = experiment.kept(few)
    assert (kept["n_points"], "points" in kept) == (60, False)
    assert experiment.table([Result(few.parameters, kept)]) == experiment.table([few])
