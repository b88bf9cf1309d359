"""Methods by sets as a picture: how much better each is than one of them, in color and in numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.reproductions.shared.by_set import BySet

__all__ = ["gain", "picture"]


def gain(scores: BySet, name: str, method: str, baseline: str) -> float:
    """What the mean is better by than that of the baseline; NaN where there is none."""
    if not scores.answered([name], method, baseline):
        return float("nan")
    better = 1 if scores.gained else -1
    return better * scores.above([name], method, baseline).center


def picture(
    scores: BySet, titles: Mapping[str, str], baseline: str, shades: float, form: str, label: str
) -> Any:
    """A Matplotlib Figure; beyond `shades` the color stays the same."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.4 + 0.2 * len(scores.methods)), layout="constrained")
    axes = figure.subplots()
    gains = np.array([[gain(scores, n, m, baseline) for n in scores.sets] for m in scores.methods])
    image = axes.imshow(gains, cmap="RdBu", vmin=-shades, vmax=shades, aspect="auto")
    names = [titles[name] for name in scores.sets]
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right")
    axes.set_yticks(range(len(scores.methods)), scores.methods)
    for (row, column), value in np.ndenumerate(gains):
        words = f"{value:z{form}}" if np.isfinite(value) else "none"  # z: no minus before zero
        color = "white" if abs(value) > 0.7 * shades else "black"
        style = {"ha": "center", "va": "center", "fontsize": "x-small", "color": color}
        axes.text(column, row, words, **style)
    figure.colorbar(image, extend="both", label=label)
    return figure
