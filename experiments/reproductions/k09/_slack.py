"""K09 Figures 3 and 4: clusters and cycles of a large set, with slack, against the number of constraints.

    minimise D(X, G G') + gamma D(b, b0)   subject to   d(i, j) <= or >= b

G are the points, and b0 the bounds of K09 7.1; nothing of the size of the n x n kernel is formed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, median
from typing import Any, final

import numpy as np
from gramlearn.losses import KLSlack, LogDetSlack

from experiments.experiment import Claim, Experiment, Part, Result, panels
from experiments.intervals import Spread, compare_pairwise, listed, measure_spread, span
from experiments.reproductions.k09 import _projections as k09
from experiments.reproductions.shared.pairs import draw_pairs, make_constraints
from experiments.reproductions.shared.scores import clustering_nmi
from gramlearn import Factor, LogDet, Problem, VonNeumann, datasets
from gramlearn.solvers import Projections

TIMED = 3  # of the draws, which come first
NAMES = {"logdet": "LogDet", "von_neumann": "von Neumann"}


@final
@dataclass(frozen=True)
class Found:
    """What came out, by the number of constraints; `variants` by the name of the variant, too."""

    draws: Mapping[int, list[Any]]
    variants: Mapping[str, Mapping[int, list[Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Sequence[Result]) -> "Found":
        """Of results, those of variants by themselves."""
        by_variant: dict[str, list[Result]] = {}
        for result in results:
            by_variant.setdefault(result.parameters.get("variant", ""), []).append(result)
        own = k09.group_draws(by_variant.pop("", []))
        return cls(own, {name: k09.group_draws(found) for name, found in by_variant.items()})

    def variant(self, name: str) -> "Found":
        """What came out of a variant."""
        return Found(self.variants[name])

    @property
    def counts(self) -> list[int]:
        """The numbers of constraints, but for none."""
        return [count for count in self.draws if count]

    def nmi(self, name: str, count: int) -> Spread:
        """Mean and deviation of the clusters' score, under the kernel where projections stop."""
        return measure_spread([draw[name]["nmi_stopped"] for draw in self.draws[count]])

    def gain(self, name: str, count: int) -> Spread:
        """What the mean score is above that without constraints."""
        return self.nmi(name, count).above(self.nmi(name, 0))

    def ahead(self, count: int) -> Spread:
        """What the score of LogDet is above that of von Neumann by, on the same draws."""
        return compare_pairwise(
            *([d[name]["nmi_stopped"] for d in self.draws[count]] for name in NAMES)
        )

    def cycles(self, name: str, count: int) -> float:
        """The mean over the draws that came to an end, or over all where none did."""
        answers = [draw[name]["projections"] for draw in self.draws[count]]
        return mean(k09.list_cycles(answers) or [answer["cycles"] for answer in answers])

    def unfinished(self, solver: str) -> int:
        """How many solves, of all draws, did not come to an end."""
        answers = [d[name][solver] for ds in self.draws.values() for d in ds for name in NAMES]
        return len(answers) - len(k09.list_cycles(answers))

    def seconds(self, name: str, count: int) -> float:
        """The median over the draws that had nothing beside them, the first of which compiles."""
        return median(draw[name]["projections"]["seconds"] for draw in self.draws[count][:TIMED])

    def ratio(self, count: int) -> float:
        """How many times the cycles of von Neumann LogDet takes."""
        return self.cycles("logdet", count) / self.cycles("von_neumann", count)


def improvement_claim(found: Found, reason: str = "") -> Claim:
    """K09 of both sets, and both divergences."""
    most = max(found.counts)
    gains = {name: found.gain(name, most) for name in NAMES}
    return Claim(
        words="both divergences improve the clusters",
        paper="in words: 'similar improvements in clustering accuracy'",
        ours=listed(
            f"NMI from {found.nmi(name, 0).center:.3f} to {found.nmi(name, most).center:.3f} with {most} "
            f"constraints, by {gain.interval:+.3f} ({NAMES[name]})"
            for name, gain in gains.items()
        ),
        criterion="the 95 % interval of the gain is above zero, with both",
        agrees=all(gain.is_above_zero for gain in gains.values()),
        reason=reason,
    )


def time_claim(found: Found) -> Claim:
    """K09 of both sets: the time in all is often lower, for a cycle is cheaper."""
    counts, most = found.counts, max(found.counts)
    lower = [c for c in counts if found.seconds("logdet", c) < found.seconds("von_neumann", c)]
    each = {name: found.seconds(name, most) / found.cycles(name, most) for name in NAMES}
    return Claim(
        words="LogDet takes less time in all than von Neumann, though more cycles",
        paper="in words: 'the overall running time is often lower'",
        ours=f"less with {listed(map(str, lower))} constraints; with {most}, "
        + listed(f"{found.seconds(name, most):.2g} s for {NAMES[name]}" for name in NAMES),
        criterion="the median is lower at more than half of the numbers of constraints",
        agrees=2 * len(lower) > len(counts),
        reason=f"With {most} constraints a cycle takes "
        + listed(f"{1000 * seconds:.2g} ms for {NAMES[name]}" for name, seconds in each.items())
        + f", and LogDet takes {found.ratio(most):.1f} times as many; with {min(counts)} "
        f"constraints it takes {found.ratio(min(counts)):.0f} times as many.",
    )


_LIMIT = 2000
GAMMA = 1000.0
SETUP = f"""
    gamma = {GAMMA:g}; the paper does not give its gamma. Projections, in one order for all cycles, stop when
    the duals change by less than 1e-3 of themselves, as in the paper, and the claims are about the kernel where
    they stop; it may be far from the optimum, see the gaps. Seconds are of the processor, of the cycles alone,
    in {TIMED} of the draws. Newton's method, to a gap of 1e-6, is beside it.
    """
_METHODS = {"logdet": (LogDet(), LogDetSlack), "von_neumann": (VonNeumann(), KLSlack)}


@final
@dataclass(frozen=True)
class Variant:
    """The same done otherwise, by projections alone: another set, its features standardized, another gamma."""

    data: str
    counts: tuple[int, ...]
    repeats: int
    standardized: bool = False
    gamma: float = GAMMA

    @property
    def words(self) -> str:
        """What is done."""
        scale = "standardized" if self.standardized else "raw"
        return f"{self.data}, {scale}, gamma = {self.gamma:g}"


@final
class WithSlack(Experiment):
    version = 3
    timed = True
    paper = "Kulis, Sustik, Dhillon (2009), section 7.1, Figures 3 and 4"

    def __init__(
        self,
        name: str,
        *,
        title: str,
        claim: str,
        setup: str,
        claims: Callable[[Found], list[Claim]],
        variants: Mapping[str, Variant],
        paper_at: Mapping[int, str] | None = None,
    ) -> None:
        self.data = tuple(dict.fromkeys([name, *(v.data for v in variants.values())]))
        self.title, self.claim, self.setup = title, claim, setup
        self._paper_at, self._claims = paper_at or {}, claims
        self._variants = variants

    def parts(self, quick: bool) -> list[Part]:
        counts, repeats = ((0, 30), 1) if quick else ((0, 50, 100, 200, 300, 400, 500), 5)
        own = [
            replace(part, timed=part.parameters["repeat"] < TIMED)
            for part in k09.make_parts(counts, repeats)
        ]
        others = [
            Part(f"{name}-{part.id}", {**part.parameters, "variant": name}, timed=False)
            for name, variant in self._variants.items()
            for part in k09.make_parts(variant.counts, variant.repeats)
        ]
        return own + ([] if quick else others)

    def compute(self, part: Part) -> dict[str, Any]:
        variant = self._variants.get(part.parameters.get("variant", ""))
        found = datasets.load(variant.data if variant else self.data[0])
        X = np.asarray(found.X, dtype=float)
        if variant and variant.standardized:
            X = (X - X.mean(axis=0)) / X.std(axis=0)
        gamma = variant.gamma if variant else GAMMA
        y = np.unique(found.y, return_inverse=True)[1]
        i, j = draw_pairs(len(y), part.parameters["constraints"], part.generator())
        answers: dict[str, Any] = {}
        for name, (regularizer, loss) in _METHODS.items():
            terms = make_constraints(X, y, i, j, loss(C=gamma))
            problem = Problem(regularizer, Factor(X), terms)
            factor, projected = k09.project_until_settled(
                problem, Projections("cyclic", seed=part.seed), _LIMIT
            )
            answers[name] = {
                "nmi_stopped": clustering_nmi(factor, y, part.seed),
                "projections": projected,
            }
            if not variant:
                newton = k09.solve_as_published(problem, "auto", 1000)
                answers[name] |= {
                    "nmi": clustering_nmi(newton.factor, y, part.seed),
                    "newton": k09.describe_solution(newton),
                }
        return answers

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        found = Found.of(results)
        rows = []
        for count, draws in found.draws.items():
            row = {"constraints": str(count), "draws": str(len(draws))}
            for name, words in NAMES.items():
                row[f"NMI of the optimum, {words}"] = format(
                    measure_spread([draw[name]["nmi"] for draw in draws]), ".3f"
                )
            row |= _where_projections_stop(draws)
            for name, words in NAMES.items():
                seconds = mean(draw[name]["newton"]["seconds"] for draw in draws)
                row[f"Newton steps, {words}"] = (
                    f"{k09.format_cycles([draw[name]['newton'] for draw in draws])}, {seconds:.2g} s"
                )
            row |= {"the paper": self._paper_at.get(count, "")} if self._paper_at else {}
            rows.append(row)
        for variant, by_count in found.variants.items():
            words = self._variants[variant].words
            rows += [
                {
                    "otherwise": words,
                    "constraints": str(count),
                    "draws": str(len(draws)),
                    **_where_projections_stop(draws),
                }
                for count, draws in by_count.items()
            ]
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return self._claims(Found.of(results))

    def remarks(self, results: Sequence[Result]) -> list[str]:
        found = Found.of(results)
        gaps = listed(
            k09.format_gaps(
                words, [d[name]["projections"] for c in found.counts for d in found.draws[c]]
            )
            for name, words in NAMES.items()
        )
        return [
            f"Relative gaps where projections stop: {gaps}. Solves that come to no end: "
            f"{found.unfinished('projections')} by projections, {found.unfinished('newton')} of Newton's."
        ]

    def _curves(self, found: Found) -> list[str]:
        """Variants of the same data, at as many numbers of constraints as make a curve."""
        own = [name for name, v in self._variants.items() if v.data == self.data[0]]
        return [name for name in own if len(found.variants.get(name, ())) > 2]

    def figure(self, results: Sequence[Result]) -> Any:
        figure, (left, right) = panels((9, 4.8), 1, 2)
        found = Found.of(results)
        counts = list(found.draws)
        for k, (name, words) in enumerate(NAMES.items()):
            style = {"color": f"C{k}", "marker": "o", "ms": 4}
            bars = {"capsize": 2, "elinewidth": 0.8, **style}
            here = [[draw[name] for draw in draws] for draws in found.draws.values()]
            left.errorbar(*_curve(found, name), label=words, **bars)
            best = [mean(answer["nmi"] for answer in answers) for answers in here]
            left.plot(counts, best, ":", label=f"{words}, optimum", **style)
            for variant in self._curves(found):
                label = f"{words}, {variant}"
                left.errorbar(*_curve(found.variant(variant), name), ls="--", label=label, **bars)
            for solver, line, of in (("projections", "-", "cycles"), ("newton", ":", "Newton")):
                steps = [mean(answer[solver]["cycles"] for answer in answers) for answers in here]
                right.plot(counts, steps, line, label=f"{words}, {of}", **style)
        left.set_ylim(0, None)
        left.set(xlabel="constraints", ylabel="NMI", title="clusters")
        right.set(xlabel="constraints", ylabel="cycles, or Newton steps", yscale="symlog")
        right.set_title("cycles of projections")
        figure.suptitle(self.title)
        for axes in (left, right):
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.18)}
            axes.legend(fontsize="small", ncols=2, **below)
        return figure


def _curve(found: Found, name: str) -> tuple[list[int], list[float], list[float]]:
    """Numbers of constraints, scores where projections stop, and their deviations."""
    scores = [found.nmi(name, count) for count in found.draws]
    return list(found.draws), [s.center for s in scores], [s.deviation for s in scores]


def _where_projections_stop(draws: list[Any]) -> dict[str, str]:
    """Clusters, cycles and gaps there."""
    row = {}
    for name, words in NAMES.items():
        row[f"NMI where projections stop, {words}"] = format(
            measure_spread([d[name]["nmi_stopped"] for d in draws]), ".3f"
        )
    for name, words in NAMES.items():
        stopped = [draw[name]["projections"] for draw in draws]
        row[f"cycles, {words}"] = k09.format_cycles(stopped)
        gaps = [a["relative_gap"] for a in stopped if a["relative_gap"] is not None]
        row[f"relative gap, {words}"] = span(gaps, ".1g") if gaps else "none"
    return row
