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
            "points": (POINTS * (seconds if rank is None else 0.0)).tolist(),
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


def test_the_picture_has_the_exact_embedding_and_its_time() -> None:
    experiment = reproductions.find("colored_unfolding")
    answers = [
        result(5, 0.5, -80.0),
        result(None, 2.0, -100.0),
        result(None, 3.0, -900.0, wide=True),
    ]
    given, wide, below = experiment.figure(answers).axes
    assert given.get_title() == "senate (106th), exact, B = 10 N"
    for axes, size in ((given, 2.0), (wide, 3.0)):
        drawn = np.concatenate([line.get_xydata() for line in axes.lines])
        assert sorted(map(tuple, drawn)) == sorted(map(tuple, size * POINTS))
    assert [text.get_text() for text in wide.get_legend().get_texts()] == ["a", "b", "c"]
    heights = {line.get_label(): line.get_ydata()[0] for line in below.lines}
    assert heights == {"rank d": 0.5, "exact": 2.0, "exact, the paper": 1.5}
    given, _, _ = experiment.figure(answers[:1]).axes
    assert given.get_title() == "senate (106th), d = 5, B = 10 N"
