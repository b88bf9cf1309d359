"""Embedded points by class, and seconds against the rank of an approximation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["add_legend", "draw_points", "draw_seconds"]


def draw_points(axes: Any, embedding: Mapping[str, Any], title: str) -> None:
    """Points in the colors of their classes."""
    points, classes = np.asarray(embedding["points"]), np.asarray(embedding["classes"])
    names = embedding["names"]
    size = 5 if len(points) < 500 else 2.5
    for k, name in enumerate(names):
        color = f"C{k}" if len(names) <= 10 else _shade(k, len(names))
        axes.plot(*points[classes == k].T, ".", markersize=size, color=color, label=name)
    axes.set_title(title, fontsize="medium")
    axes.set(xticks=[], yticks=[])


def add_legend(axes: Any) -> None:
    """The names of the classes, below."""
    count = len(axes.lines)
    axes.legend(
        ncols=2 if count > 10 else min(count, 5),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.02),
        fontsize=6.5 if count > 10 else "small",
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.0,
        labelspacing=0.2,
        markerscale=3,
    )


def draw_seconds(
    axes: Any, seconds: Mapping[int | None, float], ranks: Sequence[int], paper: float
) -> None:
    """Seconds by rank, None for the exact embedding; the paper's are those of the exact one."""
    found = {rank: taken for rank, taken in seconds.items() if rank}
    if found:
        axes.plot(list(found), list(found.values()), "o-", label="rank d")
    if None in seconds:
        axes.axhline(seconds[None], color="C1", label="exact")
    axes.axhline(paper, color="C1", linestyle=":", label="exact, the paper")
    axes.set(xlabel="d", yscale="log", xscale="log")
    axes.set_xticks(ranks, [str(rank) for rank in ranks], minor=False)
    axes.set_xticks([], minor=True)
    bottom, top = axes.get_ylim()
    axes.set_ylim(10 ** np.floor(np.log10(bottom)), 10 ** np.ceil(np.log10(top)))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def _shade(k: int, count: int) -> Any:
    from matplotlib import colormaps

    return colormaps["turbo"]((k + 0.5) / count)
