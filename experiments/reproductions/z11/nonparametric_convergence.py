"""Z11 Figure 1: the objective of SimpleNPKL with the squared hinge on Adult a1a and a2a, by iterations.

C = 1, B = n, 50 mutual neighbors, no rank. The primal value of each iterate and the dual value of its prices
have the optimum between them, so the gap says how far an iteration is from it; the paper draws one curve.
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any, final

from experiments.experiment import Claim, Experiment, Part, Result, panels, values_by
from experiments.intervals import ANOTHER_METHOD, prose, span
from experiments.reproductions.z11._nonparametric_tables import SHARE
from experiments.reproductions.z11.nonparametric_adult import adult
from gramlearn.methods import solve_nonparametric
from gramlearn.problem.solution import Record

_SETS = ("a1a", "a2a")
_NEIGHBORS = 50
_TOL = 1e-6
_GAPS = (1e-2, 1e-3, 1e-6)
_CLAIMED, _SEEN = 10, 1e-3  # iterations, and the relative gap that a curve shows


@final
class NonparametricConvergence(Experiment):
    paper: str = "Zhuang, Tsang, Hoi (2011), section 7.3, Figure 1"
    claim: str = "SimpleNPKL with the squared hinge often converges within 10 iterations."
    title: str = "Convergence on Adult"
    setup: str = prose(f"""
        {_NEIGHBORS} mutual neighbors, C = 1, B = n, random pairs until must-links leave as many components as
        {SHARE:.0%} of the points, no rank, solved to a gap of {_TOL:g} by a quasi-Newton method on the dual,
        not by the projected gradient of Algorithm 1: iterations are those of another method. The optimum lies
        between the primal and the dual value of every iteration, whose relative difference is the gap; to the
        eye a curve has come to its end at {_SEEN:g}. 5 draws.
        """)
    version: int = 1
    data: tuple[str, ...] = tuple(f"adult_{name}" for name in _SETS)

    def parts(self, quick: bool) -> list[Part]:
        names, repeats = (_SETS[:1], 1) if quick else (_SETS, 5)
        return [
            Part(f"{name}-r{repeat:02}", {"set": name, "repeat": repeat})
            for name in names
            for repeat in range(repeats)
        ]

    def compute(self, part: Part) -> dict[str, Any]:
        case = adult(part.parameters["set"], _NEIGHBORS, SHARE, part)
        records: list[Record] = []
        solve_nonparametric(
            case.laplacian,
            case.pairs,
            loss="squared_hinge",
            C=1.0,
            capacity=float(len(case.y)),
            tol=_TOL,
            callback=records.append,
        )
        found = [record.certificate for record in records]
        return {
            "points": len(case.y),
            "primal": [certificate.primal for certificate in found],
            "dual": [certificate.dual for certificate in found],
            "relative_gap": [certificate.relative_gap for certificate in found],
        }

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for name, draws in values_by("set", results).items():
            row = {"set": f"{name}, {draws[0]['points']} points", "draws": str(len(draws))}
            for gap in _GAPS:
                row[f"iterations to a gap of {gap:g}"] = span(_taken(draws, gap), "d")
            row["the paper"] = f"often within {_CLAIMED}"
            rows.append(row)
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return [
            Claim(
                words=f"the objective converges quickly on {name}",
                paper=f"often within {_CLAIMED} iterations",
                ours=f"to a gap of {_SEEN:g} in {span(_taken(draws, _SEEN), 'd')}, "
                f"to {_TOL:g} in {span(_taken(draws, _TOL), 'd')}",
                reason=ANOTHER_METHOD,
            )
            for name, draws in values_by("set", results).items()
        ]

    def figure(self, results: Sequence[Result]) -> Any:
        sets = values_by("set", results)
        figure, both = panels((9, 3.8), 1, len(sets), squeeze=False)
        for axes, (name, draws) in zip(both[0], sets.items(), strict=True):
            for k, draw in enumerate(draws):
                # In units of the optimum, so that draws lie on one another.
                best = mean([draw["primal"][-1], draw["dual"][-1]])
                for value, line in (("primal", "-"), ("dual", "--")):
                    curve = [number / best for number in draw[value]]
                    label = value if k == 0 else None
                    axes.plot(range(1, len(curve) + 1), curve, line, color=f"C{k}", label=label)
            axes.axvline(_CLAIMED, color="0.6", lw=1, ls=":", label="the paper's 10 iterations")
            axes.set(xlabel="iterations", ylabel="objective, of the optimum", title=name)
            axes.grid(alpha=0.3)
            axes.legend(fontsize="small")
        return figure


def _taken(draws: list[Any], gap: float) -> list[int]:
    """The iterations to a relative gap, draw by draw; one more than all where it is not reached."""
    curves = [draw["relative_gap"] for draw in draws]
    return [
        next((k for k, found in enumerate(curve, 1) if found <= gap), len(curve) + 1)
        for curve in curves
    ]


EXPERIMENT = NonparametricConvergence()
