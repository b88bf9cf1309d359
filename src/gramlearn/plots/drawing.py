"""Points, links and empty panels: what pictures are made of."""

from typing import Any

import numpy as np

from gramlearn._base.arrays import to_numpy

# Colors that stay apart for color-blind readers (Okabe and Ito), and three more.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#882255", "#000000",
           "#999999", "#b8a800")  # fmt: skip
_MARKERS = "os^Dv<>ph*"


def draw_links(ax: Any, plane: np.ndarray, table: Any, style: dict[str, Any]) -> None:
    """Lines between the points of each row of a table."""
    from matplotlib.collections import LineCollection

    ends = plane[np.asarray(to_numpy(table), dtype=int)]
    ax.add_collection(LineCollection(list(ends), alpha=0.6, zorder=0, **style))


def line_colors(k: int) -> str:
    """The color of line k."""
    return _COLORS[k % len(_COLORS)]


def scatter(ax: Any, plane: np.ndarray, labels: np.ndarray, names: Any) -> None:
    """Points of a plane, a color and a marker a class."""
    if labels.shape != (len(plane),):
        raise ValueError(
            f"`labels` has shape {labels.shape}, but there are {len(plane)} points; pass one for each."
        )
    size = float(np.clip(4000 / len(plane), 12, 40))
    classes, of_each = np.unique(labels, return_inverse=True)
    names = [str(label) for label in classes] if names is None else list(names)
    if len(names) != len(classes):
        raise ValueError(
            f"`names` has {len(names)} names, but `labels` has {len(classes)} classes; pass one for each."
        )
    for k, name in enumerate(names):
        style = {"color": _COLORS[k % len(_COLORS)], "marker": _MARKERS[k % len(_MARKERS)]}
        x, y = plane[of_each == k].T
        ax.scatter(x, y, s=size, alpha=0.8, edgecolors="white", linewidths=0.4, label=name, **style)
    ax.set_aspect("equal", adjustable="datalim")
    ax.locator_params(nbins=5)


def tidy(ax: Any) -> Any:
    """Leave out the frame above and to the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def new_figure(width: float, height: float) -> Any:
    """A figure, or what to install."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib, which is not installed: pip install "gramlearn[plot]"'
        ) from error
    return pyplot.figure(figsize=(width, height), layout="constrained")


def new_axes(height: float = 3.6) -> Any:
    """One panel, of so many inches."""
    return new_figure(5.2, height).add_subplot()
