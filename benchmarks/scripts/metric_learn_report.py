"""Errors and seconds of MetricLearner and ITML as Markdown and as a picture.

The difference of two learners is a mean over repeats, D = mean_r (e_r - f_r), and its standard error is that of
paired samples, s(e - f) / sqrt(R). A learner is no worse where D is at most one standard error.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tools.atomic_files import save_figure_atomically

from benchmarks.scripts.metric_learn_fits import GRAMLEARN, METRIC_LEARN

__all__ = ["EUCLIDEAN", "Difference", "difference", "picture", "tables"]

EUCLIDEAN = "Euclidean"
_TITLES = {
    "balance_scale": "balance scale",
    "soybean_small": "soybean",
    "breast_cancer_wdbc": "breast cancer",
    "pendigits_389_317": "digits 3, 8, 9",
}
_COLORS = {EUCLIDEAN: "0.6", METRIC_LEARN: "#d95f02", GRAMLEARN: "#1f6fb4"}


class Difference(NamedTuple):
    """Of the errors on the same splits, and its standard error."""

    mean: float
    standard_error: float

    @property
    def verdict(self) -> str:
        # Where one repeat alone differs, the two are equal but for rounding.
        one = self.standard_error * (1 + 1e-9)
        if self.mean > one:
            return "worse"
        return "better" if self.mean < -one else "no worse"


def difference(errors: list[float], others: list[float]) -> Difference:
    """Of what the first list is above the second, one number for each repeat."""
    d = np.asarray(errors) - np.asarray(others)
    return Difference(float(d.mean()), _standard_error(d))


def _standard_error(x: Any) -> float:
    return float(np.std(x, ddof=1) / np.sqrt(len(x))) if len(x) > 1 else 0.0


def tables(result: dict[str, Any]) -> str:
    """Errors, how far both came on these data sets, and seconds, one table each; then what is missing."""
    parts = [_circumstances(result)]
    for gamma, of_sets in result["accuracy"].items():
        parts += [f"gamma = {gamma}:", _errors(of_sets), _progress(of_sets)]
    parts.append(_races(result))
    parts += [f"{name} was left out: {reason}" for name, reason in result["skipped"].items()]
    return "\n\n".join(parts) + "\n"


def _circumstances(result: dict[str, Any]) -> str:
    machine, settings = result["machine"], result["settings"]
    return (
        f"{machine['processor']}, {machine['cores']} cores; {settings['repeats']} repeats of both directions "
        f"of a 2-fold split, {settings['per_class']} pairs of each kind a class; {result['date']}."
    )


def _errors(of_sets: dict[str, Any]) -> str:
    rows = [("data", "k", EUCLIDEAN, METRIC_LEARN, GRAMLEARN, "difference", "gramlearn is")]
    for name, found in of_sets.items():
        for k in found["learners"][GRAMLEARN]["errors"]:
            errors = {who: found["learners"][who]["errors"][k] for who in found["learners"]}
            means = [_percent(np.mean(errors[who])) if who in errors else "" for who in _COLORS]
            ending = ("", "")
            if METRIC_LEARN in errors:
                d = difference(errors[GRAMLEARN], errors[METRIC_LEARN])
                ending = (f"{100 * d.mean:+.2f} ± {100 * d.standard_error:.2f}", d.verdict)
            rows.append((_TITLES.get(name, name), k, *means, *ending))
    return _markdown(rows)


def _progress(of_sets: dict[str, Any]) -> str:
    """The gap that each reached on the data sets, and the processor's seconds of a fit."""
    rows = [("data", "points x features", "pairs", "learner", "sweeps or iterations", "relative gap",
             "processor seconds")]  # fmt: skip
    for name, found in of_sets.items():
        shape = f"{found['points']} x {found['features']}"
        for who, of in found["learners"].items():
            if who != EUCLIDEAN:
                start = _TITLES.get(name, name), shape, f"{found['pairs']:.0f}", who
                rows.append((*start, f"{of['iterations']:.0f}", f"{of['relative_gap']:.1e}",
                             f"{of['processor_seconds']:.2g}"))  # fmt: skip
    return _markdown(rows)


def _races(result: dict[str, Any]) -> str:
    """The ratio is that of the processor's seconds, which other work on the machine changes little."""
    rows = [("features", "pairs", "rank", "learner", "seconds", "processor seconds", "ratio",
             "relative gap", "peak memory")]  # fmt: skip
    for race in result["races"]:
        ours = race["learners"][GRAMLEARN]["processor_seconds"]
        for who, fit in race["learners"].items():
            rank = "all" if race["rank"] is None or who != GRAMLEARN else str(race["rank"])
            than = "" if fit["status"] == "done" else "more than "
            seconds = fit["seconds"], fit["processor_seconds"], fit["processor_seconds"] / ours
            gap = f"{fit['relative_gap']:.1e}" if "relative_gap" in fit else ""
            if than:
                gap = f"a sweep alone takes {fit['sweep_seconds']:,.0f} s"
            memory = "" if fit["peak_bytes"] is None else f"{fit['peak_bytes'] / 2**20:,.0f} MB"
            start = f"{race['features']:,}", f"{race['pairs']:,}", rank, who
            rows.append((*start, *(than + _number(x) for x in seconds), gap, memory))
    return _markdown(rows)


def _number(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.2g}"


def _percent(x: Any) -> str:
    return f"{100 * x:.2f} %"


def _markdown(rows: list[tuple[str, ...]]) -> str:
    rows = [rows[0], ("---",) * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def picture(result: dict[str, Any], path: Path) -> Path:
    """Errors with their standard errors, one panel for each k, and the seconds of a fit beside them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    neighbors, rows = result["settings"]["neighbors"], result["accuracy"]
    figure = plt.figure(figsize=(11, 0.4 + 3.4 * len(rows)), layout="constrained")
    grid = figure.add_gridspec(len(rows), len(neighbors) + 1)
    for row, (gamma, of_sets) in enumerate(rows.items()):
        for column, k in enumerate(neighbors):
            axes = figure.add_subplot(grid[row, column])
            axes.set_title(f"{k} nearest neighbors, gamma = {gamma}", fontsize="medium")
            axes.set_xlabel("error, %")
            _draw_errors(axes, of_sets, str(k))
            axes.tick_params(labelleft=column == 0)
    figure.axes[0].legend(fontsize="small")
    _draw_races(figure.add_subplot(grid[:, -1]), result["races"])
    save_figure_atomically(path, figure.savefig)
    plt.close(figure)
    return path


def _draw_errors(axes: Any, of_sets: dict[str, Any], k: str) -> None:
    for shift, who in enumerate(_COLORS):
        places, means, bars = [], [], []
        for place, found in enumerate(of_sets.values()):
            if who in found["learners"]:
                errors = 100 * np.asarray(found["learners"][who]["errors"][k])
                places.append(place + 0.22 * (shift - 1))
                means.append(errors.mean())
                bars.append(_standard_error(errors))
        axes.errorbar(
            means, places, xerr=bars, fmt="o", ms=4, capsize=2.5, color=_COLORS[who], label=who
        )
    axes.set(ylim=(len(of_sets) - 0.5, -0.5), yticks=range(len(of_sets)))
    axes.set_yticklabels([_TITLES.get(name, name) for name in of_sets])
    axes.set_xlim(left=-0.5)
    axes.grid(axis="x", alpha=0.3)


def _draw_races(axes: Any, races: list[dict[str, Any]]) -> None:
    labels, longest = [], 1.0
    for race in races:
        for who, fit in race["learners"].items():
            place, seconds = len(labels), fit["processor_seconds"]
            longest = max(longest, seconds)
            rank = f"\nrank {race['rank']}" if race["rank"] and who == GRAMLEARN else ""
            labels.append(f"d = {race['features']}{rank}")
            axes.barh(place, seconds, color=_COLORS[who], height=0.5)
            words = _number(seconds) + " s"
            words = words if fit["status"] == "done" else f"not in {words}"
            axes.text(1.15 * seconds, place, words, va="center", fontsize="small")
    axes.set_title(f"a fit to {races[0]['pairs']:,} pairs", fontsize="medium")
    axes.set(xscale="log", xlabel="seconds of the processor", xlim=(0.01, 40 * longest))
    axes.set(ylim=(len(labels) - 0.5, -0.5), yticks=range(len(labels)), yticklabels=labels)
    axes.grid(axis="x", alpha=0.3)
