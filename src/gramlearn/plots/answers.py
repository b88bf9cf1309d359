"""Pictures of an answer: its gap against seconds, squared distances of pairs, maps of points.

A map shows x F, the points in learned coordinates, along their two directions of largest variance.
Both axes have one scale, so that distances on paper are distances. matplotlib is imported when a
picture is drawn and not before; whoever never draws one does not need it.
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.distances import squared_distances
from gramlearn._base.validation import check_points
from gramlearn.plots.drawing import draw_links, new_axes, new_figure, scatter, tidy
from gramlearn.problem.solution import CertifiedAnswer, Solution
from gramlearn.side_information import Pairs

_ALIKE, _UNLIKE = "#0072b2", "#d55e00"
_BELOW_LEGEND = 0.72  # share of the height of a panel that its legend leaves
_BINS = 40


def plot_history(solution: CertifiedAnswer, ax: Any = None) -> Any:
    """Draw the relative gap, and the violation where there is one, against seconds; give the axes.

    Parameters
    ----------
    solution : Solution, another answer, or an estimator fitted with one
    ax : matplotlib Axes, optional
        Where to draw; a new figure where it is not given.
    """
    solution = getattr(solution, "solution_", solution)
    ax = new_axes() if ax is None else ax
    seconds = [record.seconds for record in solution.history]
    curves = {
        "relative gap": ([r.certificate.relative_gap for r in solution.history], _ALIKE),
        "violation": ([r.certificate.violation for r in solution.history], _UNLIKE),
    }
    drawn = []
    for name, (values, color) in curves.items():
        # A logarithmic axis has no place for zero and infinity: the curve is interrupted there. With marks even
        # one number between them is seen.
        shown = np.where(np.isfinite(values) & (np.asarray(values) > 0), values, np.nan)
        if name == "relative gap" or not np.isnan(shown).all():
            look = {"color": color, "drawstyle": "steps-post", "linewidth": 2, "marker": "o"}
            ax.plot(seconds, shown, label=name, **look)
            drawn.append(name)
    ax.set_yscale("log")
    ax.set_xlim(left=0.0)
    ax.set_xlabel("seconds")
    ax.set_ylabel(", ".join(drawn))
    if len(drawn) > 1:
        ax.legend(frameon=False)
    return tidy(ax)


def plot_pairs(
    pairs: Pairs, points: Any, factor: Any = None, bounds: Any = None, ax: Any = None
) -> Any:
    """Draw histograms of the squared distances of alike and of unlike pairs; give the axes.

    Parameters
    ----------
    pairs : Pairs
    points : array n_points x d
    factor : array d x r, optional
        F of X = F F': the distances are those of points F, and plain ones where it is not given.
    bounds : (upper, lower), optional
        Drawn as lines: alike pairs belong to the left of upper, unlike ones to the right of lower.
    ax : matplotlib Axes, optional
        Where to draw; a new figure where it is not given.
    """
    ax = new_axes() if ax is None else ax
    points = _coordinates(points, factor)
    pairs.check_fits(len(points))
    sides = {
        "alike": (squared_distances(points, *to_numpy(pairs.similar).T), _ALIKE),
        "unlike": (squared_distances(points, *to_numpy(pairs.dissimilar).T), _UNLIKE),
    }
    edges = _edges([squared for squared, _ in sides.values()], bounds)
    for name, (squared, color) in sides.items():
        if squared.size:
            # Equal points have no place on a logarithmic axis; they count as the nearest there is.
            shown, share = np.maximum(squared, edges[0]), np.full(squared.size, 1 / squared.size)
            ax.hist(shown, edges, weights=share, color=color, alpha=0.6, label=name)
    if bounds is not None:
        for name, bound, color in zip(("upper", "lower"), bounds, (_ALIKE, _UNLIKE), strict=True):
            label = f"{name} bound"
            ax.axvline(bound, 0, _BELOW_LEGEND, color=color, ls="--", lw=1.2, label=label)
    ax.set_ylim(0, ax.get_ylim()[1] / _BELOW_LEGEND)
    ax.set_xscale("log")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel("squared distance")
    ax.set_ylabel("share of the pairs")
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.locator_params(axis="y", nbins=4)
    ax.legend(loc="upper center", ncols=2, fontsize="small", frameon=False)
    return tidy(ax)


def plot_before_after(
    solution: Solution,
    points: Any,
    labels: Any,
    *,
    pairs: Pairs | None = None,
    pair_points: Any = None,
    bounds: Any = None,
    names: Any = None,
    titles: tuple[str, str] = ("Plain distance", "Learned distance"),
    figure: Any = None,
) -> Any:
    """Draw maps of the points under the plain and the learned distance, side by side; give the figure.

    Parameters
    ----------
    solution : Solution
        Its matrix is d x d and measures the points.
    points : array n x d
        The points to show, best ones the solve has not seen.
    labels : vector of n labels
        Their colors.
    pairs : Pairs, optional
        Adds a second row: squared distances of these pairs before and after, and the history.
    pair_points : array, optional
        The points that `pairs` number, where they are not `points`.
    bounds : (upper, lower), optional
        Drawn into the histograms of the pairs.
    names : sequence of str, optional
        Names of the classes, in the order of their sorted labels.
    titles : (str, str)
        Of the two maps.
    figure : matplotlib Figure, optional
        Where to draw; a new one where it is not given.
    """
    rows = 1 if pairs is None else 2
    figure = new_figure(9.6, 3.1 + 2.2 * rows) if figure is None else figure
    grid = figure.add_gridspec(rows, 6, height_ratios=[5, 3][:rows])
    maps = [figure.add_subplot(grid[0, :3]), figure.add_subplot(grid[0, 3:])]
    learned = solution.factor
    for ax, factor, title in zip(maps, (None, learned), titles, strict=True):
        _draw_map(ax, _coordinates(points, factor), to_numpy(labels), names)
        ax.set_title(title)
    handles, classes = maps[0].get_legend_handles_labels()
    style = {"frameon": False, "markerscale": 1.4, "handletextpad": 0.1, "columnspacing": 1.2}
    figure.legend(handles, classes, loc="outside upper center", ncols=len(classes), **style)
    if pairs is not None:
        below = [figure.add_subplot(grid[1, 2 * k : 2 * k + 2]) for k in range(3)]
        counted = points if pair_points is None else pair_points
        plot_pairs(pairs, counted, None, bounds, below[0]).set_title("Training pairs, before")
        plot_pairs(pairs, counted, learned, bounds, below[1]).set_title("Training pairs, after")
        plot_history(solution, below[2]).set_title("Certificate")
        _use_one_scale(below[:2])
        below[1].get_legend().remove()
        below[1].set_ylabel("")
    return figure


def plot_map(
    embedding: Any,
    labels: Any = None,
    *,
    pairs: Pairs | None = None,
    graph: Any = None,
    names: Any = None,
    ax: Any = None,
) -> Any:
    """Draw an embedding, its first two columns, a color a class, over the links that made it; give the axes.

    Parameters
    ----------
    embedding : array n x r
        `embedding_` of an estimator; of one column, points are drawn along a line.
    labels : vector of n labels, optional
        Their colors.
    pairs : Pairs, optional
        Drawn as lines: what is alike in gray, what is not in dashes.
    graph : sparse matrix n x n, optional
        Its edges are drawn as thin gray lines.
    names : sequence of str, optional
        Names of the classes, in the order of their sorted labels.
    ax : matplotlib Axes, optional
    """
    points = to_numpy(check_points(embedding, "embedding")).astype(float)
    plane = np.zeros((len(points), 2))
    plane[:, : points.shape[1]] = points[:, :2]
    ax = new_axes() if ax is None else ax
    if graph is not None:
        if np.shape(graph) != (len(plane), len(plane)):
            raise ValueError(
                f"`graph` has shape {np.shape(graph)}, but there are {len(plane)} points; pass one row and one "
                "column for each."
            )
        i, j = (graph if hasattr(graph, "nonzero") else np.asarray(graph)).nonzero()
        draw_links(ax, plane, np.column_stack([i, j])[i < j], {"color": "0.8", "linewidths": 0.5})
    if pairs is not None:
        pairs.check_fits(len(plane))
        draw_links(ax, plane, pairs.similar, {"color": "0.55", "linewidths": 0.8})
        draw_links(
            ax, plane, pairs.dissimilar, {"color": _UNLIKE, "linewidths": 0.8, "linestyles": "--"}
        )
    colors = np.zeros(len(plane), dtype=int) if labels is None else to_numpy(labels)
    scatter(ax, plane, colors, names)
    if labels is not None:
        ax.legend(loc="best", fontsize="small", frameon=False)
    ax.set_xlabel("first coordinate")
    ax.set_ylabel("second")
    return tidy(ax)


def _use_one_scale(panels: list[Any]) -> None:
    """Give panels the same limits, so that they can be compared."""
    for axis in ("xlim", "ylim"):
        ends = [getattr(ax, f"get_{axis}")() for ax in panels]
        for ax in panels:
            getattr(ax, f"set_{axis}")(min(low for low, _ in ends), max(high for _, high in ends))


def _draw_map(ax: Any, points: np.ndarray, labels: np.ndarray, names: Any) -> None:
    """Scatter the points along their two directions of largest variance, a color a class."""
    centered = points - points.mean(axis=0)
    U, s, _ = np.linalg.svd(centered, full_matrices=False)
    plane = np.zeros((len(points), 2))
    plane[:, : s.size] = (U * s)[:, :2]
    scatter(ax, plane, labels, names)
    ax.set_xlabel("first principal direction")
    ax.set_ylabel("second")
    tidy(ax)


def _edges(squared: list[np.ndarray], bounds: Any) -> np.ndarray:
    """Bins of equal width on a logarithmic axis, over all positive numbers and the bounds."""
    seen = np.concatenate([*squared, np.asarray([] if bounds is None else bounds, dtype=float)])
    seen = seen[seen > 0]
    low, high = (seen.min(), seen.max()) if seen.size else (1.0, 1.0)
    return np.geomspace(low / 1.2, high * 1.2, _BINS + 1)


def _coordinates(points: Any, factor: Any) -> np.ndarray:
    """The points as they are, or in learned coordinates, x F."""
    points = to_numpy(check_points(points, "points")).astype(float)
    if factor is None:
        return points
    factor = to_numpy(factor)
    if factor.shape[0] != points.shape[1]:
        raise ValueError(
            f"`points` have {points.shape[1]} columns, but the learned matrix has {factor.shape[0]} "
            "rows; the two must agree. A kernel learned without points has no map of new ones."
        )
    return points @ factor
