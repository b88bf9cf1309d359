"""K09 Figures 3 and 4: clusters and cycles of a large set, with slack, against the number of constraints.

    minimise D(X, G G') + gamma D(b, b0)   subject to   d(i, j) <= or >= b

G are the points, and b0 the bounds of K09 7.1; nothing of the size of the n x n kernel is formed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from types import MappingProxyType
from typing import Any, final

import numpy as np

from experiments.experiment import Claim, Experiment, Part, Result
from experiments.judging import Spread, listed, span, spread_of
from experiments.reproductions._pairs import constraints, draw_pairs
from experiments.reproductions._running import (
    cycles,
    draws_of,
    facts,
    gap_span,
    solved,
    steps_taken,
    with_counts,
)
from experiments.scores import clustering_nmi
from gramlearn import (
    Factor,
    KLSlack,
    LogDet,
    LogDetSlack,
    Problem,
    VonNeumann,
    datasets,
)
from gramlearn.solvers import Projections

__all__ = [
    "GAMMA",
    "NAMES",
    "SETUP",
    "Found",
    "Variant",
    "WithSlack",
    "improvement_claim",
    "time_claim",
]

_LIMIT = 2000
GAMMA = 1000.0
SETUP = f"""
    gamma = {GAMMA:g}; the paper does not give its gamma. Projections, in one order for all cycles, stop when
    the duals change by less than 1e-3 of themselves, as in the paper, or at a gap of 1e-6, and the claims are
    about the kernel they stop with: of those after each cycle the one of the least gap, as a rule of the last.
    It may be far from the optimum, see the gaps. Seconds are by the clock, with the gap after each cycle, which
    the paper does not compute. Newton's method, to a gap of 1e-6, is beside it.
    """
NAMES = {"logdet": "LogDet", "von_neumann": "von Neumann"}
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
@dataclass(frozen=True)
class Found:
    """What came out, by the number of constraints; `variants` by the name of the variant, too."""

    draws: Mapping[int, list[Any]]
    variants: Mapping[str, Mapping[int, list[Any]]] = field(default_factory=dict)

    def of(self, variant: str) -> "Found":
        """What came out of a variant."""
        return Found(self.variants[variant])

    @property
    def counts(self) -> list[int]:
        """The numbers of constraints, but for none."""
        return [count for count in self.draws if count]

    def nmi(self, name: str, count: int) -> Spread:
        """Mean and deviation of the clusters' score, under the kernel where projections stop."""
        return spread_of([draw[name]["nmi_stopped"] for draw in self.draws[count]])

    def gain(self, name: str, count: int) -> Spread:
        """What the mean score is above that without constraints."""
        return self.nmi(name, count).above(self.nmi(name, 0))

    def ahead(self, count: int) -> Spread:
        """What the score of LogDet is above that of von Neumann by, on the same draws."""
        first, second = (
            [draw[name]["nmi_stopped"] for draw in self.draws[count]]
            for name in ("logdet", "von_neumann")
        )
        return spread_of([a - b for a, b in zip(first, second, strict=True)])

    def cycles(self, name: str, count: int) -> float:
        """The mean over the draws that came to an end, or over all where none did."""
        answers = [draw[name]["projections"] for draw in self.draws[count]]
        return mean(steps_taken(answers) or [answer["cycles"] for answer in answers])

    def unfinished(self, solver: str) -> str:
        """How many solves, of all draws, did not come to an end: "3 of 70"."""
        answers = [d[name][solver] for ds in self.draws.values() for d in ds for name in NAMES]
        return f"{len(answers) - len(steps_taken(answers))} of {len(answers)}"

    def seconds(self, name: str, count: int) -> float:
        """The median over the draws, the first of which compiles."""
        return median(draw[name]["projections"]["seconds"] for draw in self.draws[count])

    def ratio(self, count: int) -> float:
        """How many times the cycles of von Neumann LogDet takes."""
        return self.cycles("logdet", count) / self.cycles("von_neumann", count)


@final
class WithSlack(Experiment):
    version = 2
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
        remarks: Callable[[Found], list[str]] = lambda found: [],
        paper_at: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self.data = tuple(dict.fromkeys([name, *(v.data for v in variants.values())]))
        self.title, self.claim, self.setup = title, claim, setup
        self._paper_at, self._claims, self._remarks = paper_at, claims, remarks
        self._variants = variants

    def parts(self, quick: bool) -> list[Part]:
        counts, repeats = ((0, 30), 1) if quick else ((0, 50, 100, 200, 300, 400, 500), 5)
        others = [
            Part(f"{name}-{part.id}", {**part.parameters, "variant": name})
            for name, variant in self._variants.items()
            for part in with_counts(variant.counts, variant.repeats)
        ]
        return with_counts(counts, repeats) + ([] if quick else others)

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
            terms = constraints(X, y, i, j, loss(gamma=gamma))
            problem = Problem(regularizer, Factor(X), terms)
            projected = solved(problem, Projections("cyclic", seed=part.seed), _LIMIT)
            answers[name] = {
                "nmi_stopped": clustering_nmi(projected.factor, y, part.seed),
                "projections": facts(projected),
            }
            if not variant:
                newton = solved(problem, "auto", 1000)
                answers[name] |= {
                    "nmi": clustering_nmi(newton.factor, y, part.seed),
                    "newton": facts(newton),
                }
        return answers

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        found = _found(results)
        rows = []
        for count, draws in found.draws.items():
            row = {"constraints": str(count), "draws": str(len(draws))}
            for name, words in NAMES.items():
                row[f"NMI of the optimum, {words}"] = _score([draw[name]["nmi"] for draw in draws])
            row |= _where_projections_stop(draws)
            for name, words in NAMES.items():
                seconds = mean(draw[name]["newton"]["seconds"] for draw in draws)
                row[f"Newton steps, {words}"] = (
                    f"{cycles([draw[name]['newton'] for draw in draws])}, {seconds:.2g} s"
                )
            row["the paper"] = self._paper_at.get(count, "")
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
        return self._claims(_found(results))

    def remarks(self, results: Sequence[Result]) -> list[str]:
        found = _found(results)
        gaps = listed(
            gap_span(words, [d[name]["projections"] for c in found.counts for d in found.draws[c]])
            for name, words in NAMES.items()
        )
        return [
            *self._remarks(found),
            f"Relative gaps where projections stop: {gaps}. Of their solves "
            f"{found.unfinished('projections')} come to no end, of Newton's {found.unfinished('newton')}.",
        ]

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        found = _found(results).draws
        counts = list(found)
        for k, name in enumerate(_METHODS):
            here = [[draw[name] for draw in draws] for draws in found.values()]
            for key, line, words in (("nmi_stopped", "-", ""), ("nmi", ":", ", optimum")):
                scores = [mean(a[key] for a in answers) for answers in here]
                style = {"color": f"C{k}", "marker": "o", "label": NAMES[name] + words}
                left.plot(counts, scores, line, **style)
            for solver, line in (("projections", "-"), ("newton", ":")):
                steps = [mean(a[solver]["cycles"] for a in answers) for answers in here]
                right.plot(
                    counts, steps, line, color=f"C{k}", marker="o", label=f"{name}, {solver}"
                )
        left.set(xlabel="constraints", ylabel="NMI", title=self.data[0])
        right.set(xlabel="constraints", ylabel="cycles, or Newton steps", yscale="symlog")
        left.legend(fontsize="small")
        right.legend(fontsize="small")
        return figure


def improvement_claim(found: Found, reason: str = "") -> Claim:
    """K09 of both sets, and both divergences."""
    most = max(found.counts)
    gains = {name: found.gain(name, most) for name in NAMES}
    return Claim(
        words="both divergences improve the clusters",
        paper="in words: 'similar improvements in clustering accuracy'",
        ours=listed(
            f"NMI from {found.nmi(name, 0).center:.3f} to {found.nmi(name, most).center:.3f} with {most} "
            f"constraints, by {gain.center:+.3f} ± {gain.margin:.3f} ({NAMES[name]})"
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
        ours=f"less at {len(lower)} of {len(counts)} numbers of constraints; with {most}, "
        + listed(f"{found.seconds(name, most):.2g} s for {NAMES[name]}" for name in NAMES),
        criterion="the median is lower at more than half of the numbers of constraints",
        agrees=2 * len(lower) > len(counts),
        reason=f"With {most} constraints a cycle takes "
        + listed(f"{1000 * seconds:.2g} ms for {NAMES[name]}" for name, seconds in each.items())
        + f", and LogDet takes {found.ratio(most):.1f} times as many; with {min(counts)} "
        f"constraints it takes {found.ratio(min(counts)):.0f} times as many.",
    )


def _score(scores: list[float]) -> str:
    return "{:.3f} ± {:.3f}".format(*spread_of(scores))


def _where_projections_stop(draws: list[Any]) -> dict[str, str]:
    """Clusters, cycles and gaps there."""
    row = {}
    for name, words in NAMES.items():
        row[f"NMI where projections stop, {words}"] = _score(
            [d[name]["nmi_stopped"] for d in draws]
        )
    for name, words in NAMES.items():
        stopped = [draw[name]["projections"] for draw in draws]
        row[f"cycles, {words}"] = cycles(stopped)
        gaps = [a["relative_gap"] for a in stopped if a["relative_gap"] is not None]
        row[f"relative gap, {words}"] = span(gaps, ".1g") if gaps else "none"
    return row


def _found(results: Sequence[Result]) -> Found:
    by_variant: dict[str, list[Result]] = {}
    for result in results:
        by_variant.setdefault(result.parameters.get("variant", ""), []).append(result)
    own = draws_of(by_variant.pop("", []))
    return Found(own, {name: draws_of(found) for name, found in by_variant.items()})
