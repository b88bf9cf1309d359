"""K09 Figures 3 and 4: clusters and cycles of a large set, with slack, against the number of constraints.

    minimise D(X, G G') + gamma D(b, b0)   subject to   d(i, j) <= or >= b

G are the points, and b0 the bounds of K09 7.1; nothing of the size of the n x n kernel is formed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any, final

import numpy as np

from experiments.experiment import Claim, Experiment, Part, Result
from experiments.judging import Spread, spread_of
from experiments.reproductions._pairs import constraints, draw_pairs
from experiments.reproductions._running import cycles, draws_of, facts, solved, with_counts
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

__all__ = ["GAMMA", "NAMES", "Found", "Variant", "WithSlack"]

_LIMIT = 2000
GAMMA = 1000.0
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


@final
@dataclass(frozen=True)
class Found:
    """What came out, by the number of constraints; `variants` by the name of the variant, too."""

    draws: Mapping[int, list[Any]]
    variants: Mapping[str, Mapping[int, list[Any]]] = field(default_factory=dict)

    def of(self, variant: str) -> "Found":
        """What came out of a variant."""
        return Found(self.variants[variant])

    def nmi(self, name: str, count: int) -> Spread:
        """Mean and deviation of the clusters' score."""
        return spread_of([draw[name]["nmi"] for draw in self.draws[count]])

    def cycles(self, name: str, count: int) -> float:
        """The mean over the draws."""
        return mean(draw[name]["projections"]["cycles"] for draw in self.draws[count])


@final
class WithSlack(Experiment):
    version = 2
    paper = "Kulis, Sustik, Dhillon (2009), section 7.1, Figures 3 and 4"

    def __init__(
        self,
        name: str,
        *,
        title: str,
        claim: str,
        setup: str,
        paper_at: dict[int, str],
        claims: Callable[[Found], list[Claim]],
        remarks: Callable[[Found], list[str]],
        variants: Mapping[str, Variant],
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
        rows = []
        for count, draws in _found(results).draws.items():
            row = {"constraints": str(count), "draws": str(len(draws))}
            for name in _METHODS:
                center, spread = spread_of([draw[name]["nmi"] for draw in draws])
                row[f"NMI, {name}"] = f"{center:.3f} ± {spread:.3f}"
            for name in _METHODS:
                row[f"cycles, {name}"] = cycles([draw[name]["projections"] for draw in draws])
                seconds = mean(draw[name]["newton"]["seconds"] for draw in draws)
                row[f"Newton steps, {name}"] = (
                    f"{cycles([draw[name]['newton'] for draw in draws])}, {seconds:.2g} s"
                )
            row["the paper"] = self._paper_at.get(count, "")
            rows.append(row)
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return self._claims(_found(results))

    def remarks(self, results: Sequence[Result]) -> list[str]:
        return self._remarks(_found(results))

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        found = _found(results).draws
        counts = list(found)
        for k, name in enumerate(_METHODS):
            here = [[draw[name] for draw in draws] for draws in found.values()]
            left.plot(
                counts,
                [mean(a["nmi"] for a in answers) for answers in here],
                marker="o",
                label=name,
            )
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


def _found(results: Sequence[Result]) -> Found:
    by_variant: dict[str, list[Result]] = {}
    for result in results:
        by_variant.setdefault(result.parameters.get("variant", ""), []).append(result)
    own = draws_of(by_variant.pop("", []))
    return Found(own, {name: draws_of(found) for name, found in by_variant.items()})
