"""Pictures of what was learned: features that count, that are stretched and shrunk, statements that fail.

Features are drawn in the order of their size, the largest on top, and no more of them than can be read.
"""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_count
from gramlearn.plots.drawing import line_colors, new_axes, new_figure, tidy
from gramlearn.side_information.ranking import RankedStatements

_STRETCHED, _SHRUNK = line_colors(0), line_colors(5)
_HEIGHT, _MARGIN = 0.24, 1.0  # inches of one bar, and of what is above and below all of them
_BEYOND = 1e4  # no bar is longer than this: what a prior does not measure is stretched without end
_LONGEST = 28  # letters of a name


def plot_feature_importances(
    learner: Any, n_features: int = 12, *, names: Any = None, figure: Any = None
) -> Any:
    """Draw the features with the largest shares, in all and for each class; give the figure.

    Parameters
    ----------
    learner : fitted MetricLearner
    n_features : int
        How many to draw.
    names : sequence of str, optional
        Names of the features; those of the data frame it was fitted to without it.
    figure : matplotlib Figure, optional
        Where to draw; a new figure where it is not given.
    """
    shares = to_numpy(learner.feature_importances_)
    words = _names(learner, names, len(shares))
    order = np.argsort(-shares, kind="stable")[: check_count(n_features, "n_features")]
    by_class = getattr(learner, "class_feature_importances_", None)
    panels = 1 if by_class is None else 2
    figure = new_figure(5.2 + 2.6 * (panels - 1), _height(len(order))) if figure is None else figure
    axes = figure.subplots(1, panels, squeeze=False, width_ratios=[3, 2][:panels])[0]
    _draw_bars(axes[0], shares[order], [words[f] for f in order], _STRETCHED)
    axes[0].xaxis.set_major_formatter(_percent)
    axes[0].locator_params(axis="x", nbins=5)
    axes[0].set_xlabel("share of the squared distances")
    if by_class is not None:
        _draw_classes(figure, axes[1], to_numpy(by_class)[:, order], learner.classes_)
    return figure


def plot_feature_stretch(
    learner: Any, n_features: int = 12, *, names: Any = None, ax: Any = None
) -> Any:
    """Draw by what squared distances along single features were multiplied since the prior; give the axes.

    Of many features those that changed most are drawn, in the order of their stretch.

    Parameters
    ----------
    learner : fitted MetricLearner
    n_features : int
        How many to draw.
    names : sequence of str, optional
        Names of the features; those of the data frame it was fitted to without it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure where it is not given.
    """
    size = np.log(np.clip(to_numpy(learner.feature_stretch_), 1 / _BEYOND, _BEYOND))
    words = _names(learner, names, len(size))
    chosen = np.argsort(-np.abs(size), kind="stable")[: check_count(n_features, "n_features")]
    order = chosen[np.argsort(-size[chosen], kind="stable")]
    ax = new_axes(_height(len(order))) if ax is None else ax
    colors = [_STRETCHED if size[f] >= 0 else _SHRUNK for f in order]
    ends = np.exp(size[order])
    _draw_bars(ax, ends - 1, [words[f] for f in order], colors, left=1.0)
    ax.set_xscale("log")
    ax.axvline(1.0, color="0.4", linewidth=0.8)
    # As far to one side as to the other, so that twice and half are equally long.
    reach = 1.1 * max(float(np.exp(np.abs(size[order]).max())), 1.1)
    ax.set_xlim(1 / reach, reach)
    ticks = [tick for tick in _ticks(reach) if 1 / reach <= tick <= reach]
    ax.set_xticks(ticks, [f"{tick:.2g}" if tick < 1 else f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("squared distances along\nthe feature, times")
    return ax


def plot_statements(ranked: RankedStatements, n_statements: int = 12, *, ax: Any = None) -> Any:
    """Draw the first of ranked statements, violated or suspect, each with its words; give the axes.

    Parameters
    ----------
    ranked : RankedStatements
        What `violated` or `suspects` gives.
    n_statements : int
        How many to draw.
    ax : matplotlib Axes, optional
        Where to draw; a new figure where it is not given.
    """
    shown = ranked[: check_count(n_statements, "n_statements")]
    ax = new_axes(_height(len(shown))) if ax is None else ax
    words = [word.removeprefix("the ") for word in shown.words]
    _draw_bars(ax, shown.size, words, _SHRUNK)
    ax.set_xlabel(ranked.meaning)
    ax.set_title(f"the first {len(shown)} of {len(ranked)}", loc="left", fontsize="medium")
    return ax


def _draw_bars(
    ax: Any, lengths: np.ndarray, words: list[str], color: Any, left: float = 0.0
) -> None:
    """Horizontal bars, the first on top."""
    places = np.arange(len(lengths))
    ax.barh(places, lengths, left=left, color=color, height=0.7)
    ax.set_yticks(places, [_short(word) for word in words])
    ax.set_ylim(len(lengths) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    tidy(ax)


def _draw_classes(figure: Any, ax: Any, shares: np.ndarray, classes: Any) -> None:
    """A column a class, a row a feature, the darker the larger the share."""
    image = ax.imshow(shares.T, cmap="Blues", vmin=0.0, aspect="auto", interpolation="nearest")
    ax.set_xticks(np.arange(len(shares)), [_short(str(name)) for name in classes])
    if max(len(str(name)) for name in classes) * len(classes) > 24:
        ax.tick_params(axis="x", rotation=90)
    ax.set_yticks([])
    ax.set_xlabel("what tells a class from the others")
    bar = figure.colorbar(image, ax=ax)
    bar.ax.yaxis.set_major_formatter(_percent)


def _percent(share: float, place: Any = None) -> str:
    del place
    return f"{100 * share:.3g}%"


def _ticks(reach: float) -> list[float]:
    """1, and on each side a few round numbers and their inverses."""
    steps = (
        [1.25, 1.5] if reach < 2 else [2.0, 4.0] if reach < 10 else [10.0, 100.0, 1000.0, 10000.0]
    )
    return sorted([1.0, *steps, *(1 / step for step in steps)])


def _names(learner: Any, names: Any, count: int) -> list[str]:
    if names is None:
        names = getattr(learner, "feature_names_in_", [f"feature {f}" for f in range(count)])
    if len(names) != count:
        raise ValueError(
            f"`names` has {len(names)} names, but there are {count} features; pass one for each."
        )
    return [str(name) for name in names]


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"


def _height(n_bars: int) -> float:
    return _MARGIN + _HEIGHT * max(n_bars, 4)
