"""The relative gap against seconds, for all contestants on one instance, as a PNG."""

from pathlib import Path
from typing import Any

from tools.atomic_files import save_figure_atomically

from benchmarks.wording import describe_instance, name_problem

__all__ = ["draw_plot"]

_FLOOR = 1e-12  # where a gap of zero is drawn


def draw_plot(run: dict[str, Any], folder: Path) -> Path | None:
    """Draw one instance; nothing where nobody gave an answer."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    curves = {r["contestant"]: _best_so_far(r["curve"]) for r in run["results"]}
    curves = {name: curve for name, curve in curves.items() if curve}
    if not curves:
        return None
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, curve in curves.items():
        seconds, gaps = zip(*curve, strict=True)
        axes.step(seconds, gaps, where="post", marker="o", markersize=3, label=name)
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="relative gap")
    spec = run["instance"]
    axes.set_title(f"{describe_instance(spec)}\n{name_problem(spec)}", fontsize="medium")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    path = folder / f"{spec['name']}.png"
    save_figure_atomically(path, figure.savefig)
    plt.close(figure)
    return path


def _best_so_far(curve: list[dict[str, Any]]) -> list[tuple[float, float]]:
    best, points = float("inf"), []
    for answer in sorted(curve, key=lambda a: a["seconds"]):
        gap = answer["relative_gap"]
        if gap is not None and gap < best:
            best = gap
            points.append((max(answer["seconds"], 1e-6), max(gap, _FLOOR)))
    return points
