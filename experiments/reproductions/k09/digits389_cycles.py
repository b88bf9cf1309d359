"""K09 7.1 and Figure 1 (right): how many cycles of projections the digits 3, 8 and 9 take.

A cycle projects once on every constraint; the paper stops when the duals change by less than 1e-3 over one. The
working-set solver, on the same draws, is beside it. Draws whose hard constraints contradict each other have no
answer; there the duals are followed all the same, for the paper's rule looks at nothing else. With slack, which
is hardly used where there is an answer without, all have one.
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any, final

from experiments.experiment import Claim, Experiment, Part, Result, panels
from experiments.intervals import are_alike, listed, prose, span
from experiments.reproductions.k09 import _projections as k09
from gramlearn import Status
from gramlearn.solvers import Projections

_LIMIT = 1000
_PATIENCE = 2000  # cycles, where only the duals are looked at
_ORDERS = ("cyclic", "random", "greatest")
_PAPER = {30: {"logdet": 17, "von_neumann": 11}, 420: {"logdet": 354, "von_neumann": 105}}
_BETWEEN = "between 17 and 354"  # LogDet, whatever the number of constraints
_WORDS = {name: k09.WORDS[name] for name in ("logdet", "von_neumann")}
_SHOWN = 300  # constraints of the paper's curve


@final
class Digits389Cycles(Experiment):
    paper: str = "Kulis, Sustik, Dhillon (2009), section 7.1, Figure 1 (right)"
    claim: str = (
        "with 30 to 420 constraints, LogDet takes between 17 and 354 cycles to a change of the duals below "
        "1e-3, and von Neumann from 11 to 105; most constraints are satisfied long before."
    )
    title: str = "Cycles of projections, digits 3, 8 and 9"
    setup: str = prose(f"""
        A cycle projects once on every constraint, in one order for all cycles (cyclic), in a new one each
        (random), or on the worst (greatest), until the duals change by less than 1e-3 of themselves. Solves
        that prove the constraints contradictory end there; "the duals alone" do not look for proofs, as the
        paper's rule does not. With slack gamma is {k09.GAMMA:g}. The rule asks for no gap: where it stops, the
        kernel may be far from the optimum, see the gaps. The working set is Newton's method on the dual of the
        constraints that matter, to a gap of 1e-6. Clusters in the section before are those of the
        optimum (a gap of 1e-6), not of the kernel where projections stop.
        """)
    version: int = 3
    data: tuple[str, ...] = k09.DATA

    def parts(self, quick: bool) -> list[Part]:
        counts, repeats = ((15,), 1) if quick else ((30, 60, 120, 180, 240, 300, 420), 3)
        return k09.make_parts(counts, repeats)

    def compute(self, part: Part) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for name, problem in k09.make_problems(part)[0].items():
            reference = k09.describe_solution(k09.solve_as_published(problem, "working_set", 1000))
            answers[name] = {"working_set": reference}
            for order in _orders(name):
                # What has been proved infeasible need not be tried.
                hopeless = reference["status"] == Status.INFEASIBLE.name
                projections = Projections(order, seed=part.seed)
                answers[name][order] = (
                    reference
                    if hopeless
                    else k09.describe_solution(k09.solve_as_published(problem, projections, _LIMIT))
                )
            if name in _WORDS:
                cyclic = Projections("cyclic", seed=part.seed)
                answers[name]["followed"] = k09.project_and_follow(problem, cyclic, _PATIENCE)
        return answers

    def kept(self, result: Result) -> dict[str, Any]:
        """All but the curves that are not shown."""
        if result.parameters["constraints"] == _SHOWN:
            return dict(result.value)
        return {
            name: {
                solver: {key: number for key, number in found.items() if key != "satisfied"}
                for solver, found in by_solver.items()
            }
            for name, by_solver in result.value.items()
        }

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for count, draws in k09.group_draws(results).items():
            row = {"constraints": str(count), "draws": str(len(draws))}
            for name in k09.METHODS:
                for order in _orders(name):
                    row[f"{name}, {order}".replace("_", " ")] = k09.format_cycles(
                        [draw[name][order] for draw in draws]
                    )
                if name in _WORDS:
                    row[f"{name}, the duals alone".replace("_", " ")] = k09.format_cycles(
                        [draw[name]["followed"] for draw in draws]
                    )
            row["the paper"] = f"LogDet {_BETWEEN}" + (
                f", von Neumann {_PAPER[count]['von_neumann']}" if count in _PAPER else ""
            )
            rows.append(row)
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        found = k09.group_draws(results)
        told = [
            _count_claim(count, name, found[count])
            for count, by_name in _PAPER.items()
            for name in by_name
        ]
        satisfied = [_satisfied_claim(name, found[_SHOWN]) for name in _WORDS]
        return [*told, *_growth_claims(found), *satisfied]

    def remarks(self, results: Sequence[Result]) -> list[str]:
        fewest = []
        for count, draws in k09.group_draws(results).items():
            for name in _WORDS:
                by_order = {
                    order: k09.list_cycles([d[name][order] for d in draws]) for order in _ORDERS
                }
                if all(by_order.values()):
                    best = min(by_order, key=lambda order: mean(by_order[order]))
                    fewest.append((f"{_WORDS[name]} with {count}", best == "greatest"))
        others = listed(words for words, is_greatest in fewest if not is_greatest)
        return [
            f"Projecting on the worst constraint takes fewest cycles; the exceptions: {others}.",
            "Relative gaps where the rule stops, with slack: "
            + listed(
                k09.format_gaps(words, [r.value[f"{name}_slack"]["cyclic"] for r in results])
                for name, words in _WORDS.items()
            )
            + ".",
        ]

    def figure(self, results: Sequence[Result]) -> Any:
        figure, (left, right) = panels((11, 4), 1, 2)
        found = k09.group_draws(results)
        shown = _SHOWN if _SHOWN in found else max(found)
        for draw in found[shown]:
            for k, name in enumerate(_WORDS):
                curve = draw[name]["followed"].get("satisfied", [])
                words = _WORDS[name] if draw is found[shown][0] else None
                left.plot(range(len(curve)), curve, color=f"C{k}", alpha=0.5, label=words)
        left.set(
            xlabel="cycles, in one order",
            ylabel="share satisfied to 1e-3",
            title=f"{shown} constraints, without slack",
        )
        left.legend(fontsize="small")
        for k, name in enumerate(k09.METHODS):
            for order, line, words in (
                ("cyclic", "-", "projections"),
                ("working_set", ":", "working set"),
            ):
                points = _converged(results, name, order)
                if points:
                    style = {"ls": line, "color": f"C{k}", "marker": "o", "ms": 4}
                    right.plot(
                        *zip(*points, strict=True),
                        label=f"{k09.WORDS[name]}: {words}",
                        **style,
                    )
        right.set(xlabel="constraints", ylabel="cycles, or Newton steps", yscale="log")
        figure.legend(*right.get_legend_handles_labels(), loc="outside right", fontsize="small")
        return figure


def _count_claim(count: int, name: str, draws: list[Any]) -> Claim:
    paper = _PAPER[count][name]
    taken = [draw[name]["followed"] for draw in draws]
    steps = k09.list_cycles(taken)
    contradicted = _contradicted(draws, name)
    soft = k09.format_cycles([draw[f"{name}_slack"]["cyclic"] for draw in draws])
    return Claim(
        words=f"cycles of {_WORDS[name]} with {count} constraints",
        paper=_BETWEEN if name == "logdet" else str(paper),
        ours=f"{k09.format_cycles(taken)}; {contradicted} of {len(draws)} draws have no answer",
        criterion=f"the paper's rule stops in every draw, and the mean is within a factor of two of {paper}",
        agrees=len(steps) == len(draws) and are_alike(mean(steps), paper),
        reason=prose(f"""
            The hard constraints of {contradicted} of {len(draws)} draws contradict each other, see the
            section before. Then the duals grow without end; where they grow by as much in each cycle, the
            relative change falls below 1e-3 after about 1000, whatever the data. With slack it takes {soft}
            cycles. Whether the constraints of the paper's sample had an answer is not known.
            """),
    )


def _growth_claims(found: dict[int, list[Any]]) -> list[Claim]:
    """How cycles grow, and which divergence takes more, without slack where there is an answer, and with it."""
    without, slack = _means(found, ""), _means(found, "_slack")
    both = {"without slack, on draws with an answer": without, "with slack": slack}
    settings = {words: of for words, of in both.items() if of}
    ends = {
        words: {name: (of[min(of)][name], of[max(of)][name]) for name in _WORDS}
        for words, of in settings.items()
    }
    ratios = {
        words: [taken["logdet"] / taken["von_neumann"] for taken in of.values()]
        for words, of in settings.items()
    }
    return [
        Claim(
            words="cycles grow with the constraints",
            paper=f"LogDet {_BETWEEN}, von Neumann 11 with 30 and 105 with 420",
            ours="; ".join(
                listed(f"{a:.0f} to {b:.0f} for {_WORDS[name]}" for name, (a, b) in of.items())
                + f" with {min(settings[words])} to {max(settings[words])} constraints, {words}"
                for words, of in ends.items()
            ),
            criterion="the most constraints take more than the fewest, with both divergences, either way",
            agrees=all(b > a for of in ends.values() for a, b in of.values()),
        ),
        Claim(
            words="LogDet takes more cycles than von Neumann",
            paper=f"{_BETWEEN}, against 11 and 105",
            ours="; ".join(
                f"{span(of, '.1f')} times as many, {words}" for words, of in ratios.items()
            ),
            criterion="it does at every number of constraints, either way",
            agrees=all(ratio > 1 for of in ratios.values() for ratio in of),
            reason=prose("""
                Draws without an answer, on which only the duals can be followed, are left out: there the rule
                stops after about 1000 cycles, whatever the divergence.
                """),
        ),
    ]


def _means(found: dict[int, list[Any]], suffix: str) -> dict[int, dict[str, float]]:
    """The mean cycles of both divergences over the draws on which both come to an end, where there are any."""
    means = {}
    for count, draws in found.items():
        pairs = [[draw[name + suffix]["cyclic"] for name in _WORDS] for draw in draws]
        done = [pair for pair in map(k09.list_cycles, pairs) if len(pair) == len(_WORDS)]
        if done:
            means[count] = dict(zip(_WORDS, map(mean, zip(*done, strict=True)), strict=True))
    return means


def _satisfied_claim(name: str, draws: list[Any]) -> Claim:
    """What holds after a tenth of the cycles that the paper's rule takes, and at their end."""
    curves = [draw[name]["followed"]["satisfied"] for draw in draws]
    contradicted = _contradicted(draws, name)
    early = [100 * curve[(len(curve) - 1) // 10] for curve in curves]
    late = [100 * curve[(len(curve) - 1) // 2] for curve in curves]
    last = [100 * curve[-1] for curve in curves]
    return Claim(
        words=f"most of {_SHOWN} constraints hold to 1e-3 long before the end, {_WORDS[name]}",
        paper="in words: medium accuracy 'can be achieved much faster'",
        ours=f"after a tenth of the cycles {span(early, '.0f')} %, at the end {span(last, '.0f')} %, in draws "
        f"of which {contradicted} of {len(draws)} have no answer, so that some cannot hold",
        criterion="after a tenth of the cycles at least 0.95 of those at the end, in every draw",
        agrees=all(a >= 0.95 * b for a, b in zip(early, last, strict=True)),
        reason=f"After half of the cycles, {span(late, '.0f')} %.",
    )


def _contradicted(draws: list[Any], name: str) -> int:
    """In how many draws hard constraints are proved to contradict each other."""
    return sum(draw[name]["working_set"]["status"] == Status.INFEASIBLE.name for draw in draws)


def _orders(name: str) -> tuple[str, ...]:
    return _ORDERS[:1] if name.endswith("slack") else _ORDERS


def _converged(results: Sequence[Result], name: str, solver: str) -> list[tuple[int, float]]:
    found = k09.group_draws(results).items()
    steps = {
        count: k09.list_cycles([draw[name][solver] for draw in draws]) for count, draws in found
    }
    return [(count, mean(done)) for count, done in steps.items() if done]


EXPERIMENT = Digits389Cycles()
