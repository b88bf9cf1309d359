"""K09 7.1 and Figure 1 (right): how many cycles of projections the digits 3, 8 and 9 take.

A cycle projects once on every constraint; the paper stops when the duals change by less than 1e-3 over one. The
working-set solver, on the same draws, is beside it. Draws whose hard constraints contradict each other have no
answer; with slack, which is hardly used where there is one, all have.
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any, final

from experiments.experiment import Experiment, Part, Result
from experiments.reproductions._pairs import constraints, draw_pairs, share_satisfied
from experiments.reproductions._running import (
    cycles,
    draws_of,
    facts,
    solved,
    steps_taken,
    with_counts,
)
from gramlearn import (
    Factor,
    Hard,
    KLSlack,
    LogDet,
    LogDetSlack,
    Problem,
    Status,
    VonNeumann,
    datasets,
)
from gramlearn.solvers import Projections

__all__ = ["EXPERIMENT"]

_LIMIT = 1000
_CURVE = 100  # cycles of which the share of satisfied constraints is kept
_GAMMA = 1000.0
_METHODS = {
    "logdet": (LogDet(), Hard()),
    "von_neumann": (VonNeumann(), Hard()),
    "logdet_slack": (LogDet(), LogDetSlack(gamma=_GAMMA)),
    "von_neumann_slack": (VonNeumann(), KLSlack(gamma=_GAMMA)),
}
_ORDERS = ("cyclic", "random", "greatest")
_PAPER = {
    30: "LogDet 17 cycles, von Neumann 11",
    420: "LogDet 354 cycles, von Neumann 105",
}


@final
class Digits389Cycles(Experiment):
    paper: str = "Kulis, Sustik, Dhillon (2009), section 7.1, Figure 1 (right)"
    claim: str = (
        "cycles to a change of the duals below 1e-3 grow with the constraints, from 17 to 354 for "
        "LogDet and from 11 to 105 for von Neumann; most constraints are satisfied long before."
    )
    version: int = 2
    data: tuple[str, ...] = ("pendigits_389_317",)

    def parts(self, quick: bool) -> list[Part]:
        counts, repeats = ((15, 30), 1) if quick else ((30, 60, 120, 180, 240, 300, 420), 3)
        return with_counts(counts, repeats)

    def compute(self, part: Part) -> dict[str, Any]:
        digits = datasets.load(*self.data)
        i, j = draw_pairs(len(digits.y), part.parameters["constraints"], part.generator())
        answers: dict[str, Any] = {}
        for name, (regularizer, loss) in _METHODS.items():
            terms = constraints(digits.X, digits.y, i, j, loss)
            problem = Problem(regularizer, Factor(digits.X), terms)
            reference = facts(solved(problem, "working_set", 1000))
            answers[name] = {"working_set": reference}
            for order in _orders(name):
                # What has been proved infeasible need not be tried.
                hopeless = reference["status"] == Status.INFEASIBLE.name
                projections = Projections(order, seed=part.seed)
                answers[name][order] = (
                    reference if hopeless else facts(solved(problem, projections, _LIMIT))
                )
            if name == "logdet_slack":
                answers[name]["satisfied"] = _satisfied(problem, terms, part.seed)
        return answers

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for count, draws in draws_of(results).items():
            row = {"constraints": str(count), "draws": str(len(draws))}
            for name in _METHODS:
                for order in _orders(name):
                    row[f"{name}, {order}".replace("_", " ")] = cycles(
                        [draw[name][order] for draw in draws]
                    )
            row["the paper"] = _PAPER.get(count, "")
            rows.append(row)
        return rows

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(11, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        most = max(result.parameters["constraints"] for result in results)
        for result in results:
            curve = result.value["logdet_slack"]["satisfied"]
            if result.parameters["constraints"] in (most, 300) and curve:
                left.plot(range(len(curve)), curve, color="C0", alpha=0.5)
        left.set(
            xlabel="cycles",
            ylabel="share satisfied to 1e-3",
            title="LogDet with slack, random order",
        )
        for k, name in enumerate(_METHODS):
            for order, line in (("cyclic", "-"), ("working_set", ":")):
                points = _converged(results, name, order)
                if points:
                    style = {"ls": line, "color": f"C{k}", "marker": "o"}
                    right.plot(
                        *zip(*points, strict=True),
                        label=f"{name}, {order}".replace("_", " "),
                        **style,
                    )
        right.set(xlabel="constraints", ylabel="cycles, or Newton steps", yscale="log")
        figure.legend(*right.get_legend_handles_labels(), loc="outside right", fontsize="small")
        return figure


def _orders(name: str) -> tuple[str, ...]:
    return _ORDERS[:1] if name.endswith("slack") else _ORDERS


def _satisfied(problem: Problem, terms: list[Any], seed: int) -> list[float]:
    """The share of the constraints that hold after each cycle, from none on."""
    solver = Projections("cyclic", seed=seed)
    state = solver.init(problem, None, 0.0)
    shares: list[float] = []
    while len(shares) <= _CURVE and state.ending is None:
        factor = problem.space.lift(state.point.conjugate.factor)
        shares.append(share_satisfied(factor, terms))
        state = solver.step(problem, state, 0.0)
    return shares


def _converged(results: Sequence[Result], name: str, solver: str) -> list[tuple[int, float]]:
    points = []
    for count in sorted({result.parameters["constraints"] for result in results}):
        here = [r.value[name][solver] for r in results if r.parameters["constraints"] == count]
        done = steps_taken(here)
        if done:
            points.append((count, mean(done)))
    return points


EXPERIMENT = Digits389Cycles()
