"""Plots are tested by their content: curves, labels, limits; never by pixels."""

import sys
from typing import Any

import numpy as np
import pytest
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Hard, LogDetSlack

from gramlearn import KernelDesigner, LogDet, Problem, Term, solve
from gramlearn.plots import plot_before_after, plot_design_path, plot_history, plot_map, plot_pairs
from gramlearn.problem.solution import Solution
from gramlearn.side_information import Pairs

BOUNDS = (1.0, 9.0)


@pytest.fixture(autouse=True)
def no_window(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Draw into memory, and leave no figure behind."""
    import matplotlib as mpl
    from matplotlib import pyplot

    monkeypatch.setitem(mpl.rcParams, "backend", "Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 4)) + 2.0 * np.repeat(np.eye(3, 4), 10, axis=0)


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    return np.repeat([10, 20, 30], 10)


@pytest.fixture(scope="module")
def pairs(labels: np.ndarray) -> Pairs:
    return Pairs.from_labels(labels, 60, random_state=0)


@pytest.fixture(scope="module")
def solution(points: np.ndarray, pairs: Pairs) -> Solution:
    return solve(Problem(LogDet(), np.eye(4), pairs.bind(LogDetSlack(), points, BOUNDS)))


def test_history_has_the_gap_of_every_record(solution: Solution) -> None:
    ax = plot_history(solution)
    (line,) = ax.lines
    # Infinity, before the first certificate, has no place on a logarithmic axis.
    gaps = [record.certificate.relative_gap for record in solution.history]
    gaps = [gap if np.isfinite(gap) else np.nan for gap in gaps]
    np.testing.assert_array_equal(line.get_xdata(), [r.seconds for r in solution.history])
    np.testing.assert_array_equal(line.get_ydata(), gaps)
    assert ax.get_yscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("seconds", "relative gap")
    assert ax.get_xlim()[0] == 0


def test_history_of_hard_constraints_shows_the_violation() -> None:
    hard = Term(SquaredDistances([0, 1, 2], [1, 2, 3]), Hard(equal=[0.5, 0.3, 0.2]))
    solution = solve(Problem(LogDet(), np.eye(4), [hard]))
    ax = plot_history(solution)
    assert [line.get_label() for line in ax.lines] == ["relative gap", "violation"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "relative gap",
        "violation",
    ]
    # Zero has no place on a logarithmic axis.
    assert all(not np.any(line.get_ydata() == 0) for line in ax.lines)


def test_history_draws_into_the_given_axes(solution: Solution) -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plot_history(solution, ax) is ax


@pytest.mark.parametrize("learned", [False, True])
def test_pairs_are_counted_at_their_squared_distances(
    solution: Solution, points: np.ndarray, pairs: Pairs, learned: bool
) -> None:
    factor = solution.factor if learned else None
    ax = plot_pairs(pairs, points, factor, BOUNDS)
    coordinates = points @ solution.factor if learned else points
    for container, table in zip(ax.containers, (pairs.similar, pairs.dissimilar), strict=True):
        i, j = table.T
        squared = ((coordinates[i] - coordinates[j]) ** 2).sum(axis=1)
        edges = [bar.get_x() for bar in container]
        edges.append(edges[-1] + container[-1].get_width())
        counts, _ = np.histogram(squared, edges)
        assert counts.sum() == len(table)
        heights = [bar.get_height() for bar in container]
        np.testing.assert_allclose(heights, counts / len(table), atol=1e-12)
        low, high = ax.get_xlim()
        assert low < squared.min() <= squared.max() < high
    assert [line.get_xdata()[0] for line in ax.lines] == list(BOUNDS)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(texts) == {"alike", "unlike", "upper bound", "lower bound"}
    assert ax.get_xscale() == "log"


def test_pairs_of_one_kind_without_bounds_and_of_equal_points() -> None:
    ax = plot_pairs(Pairs([[0, 1], [1, 2]], n_points=3), [[1.0], [1.0], [3.0]])
    (container,) = ax.containers
    assert sum(bar.get_height() for bar in container) == pytest.approx(1.0)
    assert not ax.lines


def test_pairs_must_fit_the_points(pairs: Pairs, points: np.ndarray) -> None:
    with pytest.raises(ValueError, match="made for 30 points but received 29 rows"):
        plot_pairs(pairs, points[1:])
    with pytest.raises(ValueError, match=r"`points` have 4 columns, but .* has 3 rows"):
        plot_pairs(pairs, points, np.eye(3))


def test_maps_keep_distances_and_classes(
    solution: Solution, points: np.ndarray, labels: np.ndarray
) -> None:
    figure = plot_before_after(solution, points, labels, names=["a", "b", "c"])
    before, after = figure.axes
    assert (before.get_title(), after.get_title()) == ("Plain distance", "Learned distance")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    for ax, coordinates in ((before, points), (after, points @ solution.factor)):
        assert ax.get_aspect() == 1.0
        assert [len(scatter.get_offsets()) for scatter in ax.collections] == [10, 10, 10]
        drawn = np.concatenate([scatter.get_offsets() for scatter in ax.collections])
        # The plane of the two largest singular values: no projection shows more of the variance.
        largest = np.linalg.svd(coordinates - coordinates.mean(axis=0))[1][:2]
        np.testing.assert_allclose(np.linalg.norm(drawn, axis=0), largest)


def test_second_row_shows_pairs_and_history(
    solution: Solution, points: np.ndarray, labels: np.ndarray, pairs: Pairs
) -> None:
    figure = plot_before_after(solution, points, labels, pairs=pairs, bounds=BOUNDS)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[2:] == ["Training pairs, before", "Training pairs, after", "Certificate"]
    _, _, before, after, history = figure.axes
    assert before.get_xlim() == after.get_xlim()
    assert before.get_ylim() == after.get_ylim()
    assert len(history.lines) == 1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["10", "20", "30"]


def test_pairs_may_refer_to_other_points_than_those_shown(
    solution: Solution, points: np.ndarray, labels: np.ndarray, pairs: Pairs
) -> None:
    figure = plot_before_after(
        solution, points[:5], labels[:5], pairs=pairs, pair_points=points, titles=("x", "y")
    )
    assert [ax.get_title() for ax in figure.axes[:2]] == ["x", "y"]
    with pytest.raises(ValueError, match="made for 30 points but received 5 rows"):
        plot_before_after(solution, points[:5], labels[:5], pairs=pairs)


def test_labels_must_fit_the_points(solution: Solution, points: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"`labels` has shape \(2,\), but there are 30 points"):
        plot_before_after(solution, points, [0, 1])


def test_one_feature_is_drawn_as_a_line(labels: np.ndarray) -> None:
    line = np.linspace(0.0, 1.0, 30)[:, None]
    terms = Pairs.from_labels(labels, 20, random_state=0).bind(LogDetSlack(), line, BOUNDS)
    figure = plot_before_after(solve(Problem(LogDet(), np.eye(1), terms)), line, labels)
    drawn = np.concatenate([scatter.get_offsets() for scatter in figure.axes[0].collections])
    assert not np.any(drawn[:, 1])


@pytest.mark.parametrize("draw", ["plot_history", "plot_pairs", "plot_before_after"])
def test_without_matplotlib_the_error_says_what_to_install(
    draw: str,
    solution: Solution,
    points: np.ndarray,
    labels: np.ndarray,
    pairs: Pairs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    calls = {
        "plot_history": lambda: plot_history(solution),
        "plot_pairs": lambda: plot_pairs(pairs, points),
        "plot_before_after": lambda: plot_before_after(solution, points, labels),
    }
    with pytest.raises(ImportError, match=r'pip install "gramlearn\[plot\]"'):
        calls[draw]()


def test_a_map_has_the_points_and_the_links(labels: np.ndarray, pairs: Pairs) -> None:
    from scipy.sparse import csr_array

    embedding = np.random.default_rng(0).normal(size=(30, 3))
    graph = csr_array(([1.0, 1.0], ([0, 4], [4, 0])), shape=(30, 30))
    ax = plot_map(embedding, labels, pairs=pairs, graph=graph, names=["a", "b", "c"])
    edges, alike, unlike, *classes = ax.collections
    np.testing.assert_array_equal(edges.get_segments(), [embedding[[0, 4], :2]])
    assert len(alike.get_segments()) == len(pairs.similar)
    np.testing.assert_array_equal(unlike.get_segments()[3], embedding[pairs.dissimilar[3], :2])
    drawn = np.vstack([points.get_offsets() for points in classes])
    np.testing.assert_array_equal(drawn, embedding[:, :2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]


def test_a_map_of_one_column_is_a_line_and_needs_no_labels() -> None:
    ax = plot_map(np.arange(4.0)[:, None])
    np.testing.assert_array_equal(ax.collections[0].get_offsets()[:, 1], np.zeros(4))
    assert ax.get_legend() is None
    with pytest.raises(ValueError, match="there are 4 points"):
        plot_map(np.arange(4.0)[:, None], [1, 2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"graph": np.ones((5, 5))}, r"`graph` has shape \(5, 5\), but there are 4 points"),
        ({"labels": [0, 1, 0, 1], "names": ["a"]}, "`names` has 1 names, but `labels` has 2"),
    ],
)
def test_arguments_that_do_not_fit_a_map_are_refused(options, words) -> None:
    with pytest.raises(ValueError, match=words):
        plot_map(np.arange(8.0).reshape(4, 2), **options)


def test_a_map_shows_points_whose_label_is_missing() -> None:
    ax = plot_map(np.arange(8.0).reshape(4, 2), [0.0, np.nan, 1.0, np.nan])
    assert sum(len(points.get_offsets()) for points in ax.collections) == 4


@pytest.mark.parametrize("weak", [False, True])
def test_a_path_of_designs_has_a_line_for_each_feature_or_kernel(weak, points, labels) -> None:
    path = KernelDesigner(weak=weak, n_triplets=50, random_state=0).path(points, labels)
    above, below, kept = plot_design_path(path).axes
    curves = [line for line in above.get_lines() if len(line.get_xdata()) == len(path.sparsity)]
    assert len(curves) == (points.shape[1] if weak else len(path.words))
    largest = np.abs(path.weights).max()
    assert max(np.abs(line.get_ydata()).max() for line in curves) == largest
    counts = path.n_features if weak else path.n_kernels
    np.testing.assert_array_equal(below.get_lines()[0].get_ydata(), counts)
    np.testing.assert_array_equal(kept.get_lines()[0].get_ydata(), path.kept)
    first = above.get_legend().get_texts()[0].get_text()
    assert first.startswith("feature ") if weak else first in path.words


def test_a_path_of_designs_is_drawn_with_names_for_all_features(points, labels) -> None:
    path = KernelDesigner(weak=True, n_triplets=50, random_state=0).path(points, labels)
    with pytest.raises(ValueError, match=r"`names` has 1 names, but there are \d+ features"):
        plot_design_path(path, names=["one"])
