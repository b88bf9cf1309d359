"""Pictures of what was learned show the right numbers under the right names."""

from typing import Any

import numpy as np
import pytest

from gramlearn import MetricLearner, Pairs
from gramlearn.plots import plot_feature_importances, plot_feature_stretch, plot_statements

NAMES = [f"name {f}" for f in range(5)]


@pytest.fixture(autouse=True)
def no_window(monkeypatch: pytest.MonkeyPatch) -> Any:
    import matplotlib as mpl
    from matplotlib import pyplot

    monkeypatch.setitem(mpl.rcParams, "backend", "Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def labeled() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    return rng.normal(size=(60, 5)) + 2.0 * np.repeat(np.eye(3, 5), 20, axis=0), y


@pytest.fixture(scope="module")
def learner(labeled: tuple[np.ndarray, np.ndarray]) -> MetricLearner:
    return MetricLearner(random_state=0, C=1.0).fit(*labeled)


def bars(ax: Any) -> list[tuple[str, float, float]]:
    """(name, from, to) of each bar, from the top."""
    words = [text.get_text() for text in ax.get_yticklabels()]
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    return [(word, *end) for word, end in zip(words, ends, strict=True)]


def test_the_most_important_features_are_on_top_and_beside_them_the_classes(learner) -> None:
    figure = plot_feature_importances(learner, 3, names=NAMES)
    shares, classes, _ = figure.axes
    order = np.argsort(-learner.feature_importances_)[:3]
    assert [name for name, _, _ in bars(shares)] == [NAMES[f] for f in order]
    np.testing.assert_allclose(
        [end for *_, end in bars(shares)], learner.feature_importances_[order]
    )
    (image,) = classes.images
    np.testing.assert_allclose(image.get_array(), learner.class_feature_importances_[:, order].T)
    assert [text.get_text() for text in classes.get_xticklabels()] == ["a", "b", "c"]
    assert shares.yaxis_inverted()


def test_a_fit_to_statements_has_one_panel(labeled) -> None:
    X, y = labeled
    fitted = MetricLearner(random_state=0, C=1.0).fit(
        X, side=Pairs.from_labels(y, 60, random_state=0)
    )
    (ax,) = plot_feature_importances(fitted).axes
    assert next(name for name, _, _ in bars(ax)).startswith("feature ")


def test_stretched_and_shrunk_features_lie_on_two_sides_of_one(learner) -> None:
    ax = plot_feature_stretch(learner, 4, names=NAMES)
    stretch = learner.feature_stretch_
    chosen = np.argsort(-np.abs(np.log(stretch)))[:4]
    order = chosen[np.argsort(-stretch[chosen])]
    drawn = bars(ax)
    assert [name for name, _, _ in drawn] == [NAMES[f] for f in order]
    for f, (_, start, end) in zip(order, drawn, strict=True):
        assert start == pytest.approx(1)
        assert end == pytest.approx(stretch[f])
    low, high = ax.get_xlim()
    assert low * high == pytest.approx(1)
    assert low < stretch[order].min() <= stretch[order].max() < high


def test_statements_are_drawn_with_their_words_and_what_they_are_ranked_by(labeled) -> None:
    X, y = labeled
    side = Pairs.from_labels(y, 60, random_state=0)
    ranked = MetricLearner(random_state=0, C=1.0).fit(X, side=side).violated(X, side)
    ax = plot_statements(ranked, 5)
    assert [name for name, _, _ in bars(ax)] == [w.removeprefix("the ") for w in ranked.words[:5]]
    np.testing.assert_allclose([end for *_, end in bars(ax)], ranked.size[:5])
    assert ax.get_xlabel() == "excess of squared distance"
    assert ax.get_title(loc="left") == f"the first 5 of {len(ranked)}"


def test_pictures_are_drawn_where_they_are_asked_for(learner) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    assert plot_feature_importances(learner, figure=figure) is figure
    ax = Figure().add_subplot()
    assert plot_feature_stretch(learner, ax=ax) is ax


@pytest.mark.usefixtures("tensors_stay")
def test_what_was_learned_from_tensors_is_drawn(other, labeled) -> None:
    points, y = labeled
    here = MetricLearner(random_state=0, C=1.0).fit(points, y)
    there = MetricLearner(random_state=0, C=1.0).fit(other.array(points), y)
    one, two = (plot_feature_importances(each) for each in (there, here))
    np.testing.assert_allclose(
        [bar[1:] for bar in bars(one.axes[0])], [bar[1:] for bar in bars(two.axes[0])], atol=1e-8
    )
    assert len(one.axes) == len(two.axes) == 3  # shares, those of classes, and their scale
    assert len(bars(plot_feature_stretch(there))) == 5


def test_names_must_be_as_many_as_features(learner) -> None:
    with pytest.raises(ValueError, match="`names` has 1 names, but there are 5 features"):
        plot_feature_importances(learner, names=["x"])
    with pytest.raises(ValueError, match="`n_features` must be a whole number"):
        plot_feature_stretch(learner, 0)
