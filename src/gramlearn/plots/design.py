"""Pictures of kernel designs: weights, number of features and comparisons kept against sparsity."""

from typing import Any

import numpy as np

from gramlearn.methods.kernel_design.path import DesignPath
from gramlearn.plots.drawing import line_colors, new_figure, tidy

_NAMED = (
    8  # the number of lines with a name and a color, those of the largest weights; others are gray
)


def plot_design_path(path: DesignPath, names: Any = None, figure: Any = None) -> Any:
    """Draw the weights against sparsity, and below how many features keep what share; give the figure.

    Parameters
    ----------
    path : DesignPath
        What `KernelDesigner.path` gives.
    names : sequence of str, optional
        Names of the features, of weak kernels, or else of the kernels; those of a data frame without it.
    figure : matplotlib Figure, optional
        Where to draw; a new one where it is not given.
    """
    figure = new_figure(7.0, 5.4) if figure is None else figure
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    lines, labels = _lines(path, names)
    # Ordered by weights relative to the largest one at the same price.
    relative = np.abs(lines) / np.maximum(np.abs(lines).max(axis=1, keepdims=True), 1e-300)
    order = np.argsort(-relative.mean(axis=0))
    for place, k in enumerate(order):
        is_named = place < _NAMED
        # Matplotlib leaves names that begin with an underscore out of a legend.
        style = (
            {"color": line_colors(place), "label": labels[k].lstrip("_")}
            if is_named
            else {"color": "0.8"}
        )
        above.plot(path.sparsity, lines[:, k], linewidth=1.6, zorder=3 - is_named, **style)
    above.axhline(0.0, color="0.5", linewidth=0.6)
    above.set_ylabel("weight" if -1 in path.features else "largest weight of a feature")
    above.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    unit = "kernels" if -1 in path.features else "features"
    counts = path.n_kernels if -1 in path.features else path.n_features
    below.plot(path.sparsity, counts, color=line_colors(0), drawstyle="steps-mid")
    below.set_ylabel(f"{unit} with a weight", color=line_colors(0))
    below.set_ylim(0, None)
    below.yaxis.get_major_locator().set_params(integer=True)
    kept = below.twinx()
    kept.plot(path.sparsity, path.kept, color=line_colors(5))
    kept.set_ylabel("training comparisons kept", color=line_colors(5))
    kept.set_ylim(0, 1.02)
    kept.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    if path.sparsity[-1] > 0:
        below.set_xscale("log")
    below.set_xlabel("sparsity, the price of a weight")
    below.invert_xaxis()
    tidy(above)
    for ax in (below, kept):
        ax.spines["top"].set_visible(False)
    return figure


def _lines(path: DesignPath, names: Any) -> tuple[np.ndarray, list[str]]:
    """A column a line: of weak kernels the largest weight of each feature, else every weight."""
    features = np.unique(path.features)
    if -1 in features:
        count, unit = len(path.words), "kernels"
    else:
        count, unit = int(features[-1]) + 1, "features"
        names = path.names if names is None else names
    if names is not None and len(names) != count:
        raise ValueError(
            f"`names` has {len(names)} names, but there are {count} {unit}; pass one for each."
        )
    if -1 in features:
        return path.weights, [str(name) for name in (path.words if names is None else names)]
    largest = [np.abs(path.weights[:, path.features == f]).max(axis=1) for f in features]
    labels = [f"feature {f}" if names is None else str(names[f]) for f in features]
    return np.column_stack(largest), labels
