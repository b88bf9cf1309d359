"""K09 7.1 and Figure 2: a kernel of 52 points from distances alone, by exact and approximate projections.

    minimise D_vN(X, s I)   subject to   d(i, j) <= b  (one class),   d(i, j) >= b  (two classes)

b are the squared distances of a target kernel. The paper's kernel, of 52 bacterial proteins (GyrB), is not to
be had; this one is made for the purpose: three classes of points in five dimensions, a Gaussian kernel. The
exact projections find the maximum of the dual along each constraint; the approximate ones, those of
DefiniteBoost, stop where a bound says it is safe.
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any, final

import numpy as np
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Hard

from experiments.experiment import Claim, Experiment, Part, Result, panels
from experiments.intervals import are_alike, listed, prose, span
from experiments.reproductions.k09 import _projections as k09
from experiments.reproductions.shared.pairs import draw_pairs
from experiments.reproductions.shared.scores import neighbor_accuracy
from gramlearn import LogDet, Problem, Term, VonNeumann
from gramlearn.solvers import Projections

_SIZES = (17, 17, 18)
_LIMIT = 20_000
_TOLD = 100  # constraints
_EXACT = ("logdet", "von_neumann")
_CYCLES = {"von_neumann": 11, "approximate": 3220}  # of the paper, with _TOLD constraints
_NEAR = 0.01  # kernels that are no farther apart count as the same


def target_kernel(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian kernel of three classes that overlap, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), _SIZES)
    P = 1.3 * rng.standard_normal((3, 5))[y] + rng.standard_normal((y.size, 5))
    squared = np.sum((P[:, None] - P[None]) ** 2, axis=2)
    return np.exp(-squared / np.median(squared)), y


@final
class ExactAndApproximate(Experiment):
    paper: str = "Kulis, Sustik, Dhillon (2009), section 7.1, Figure 2"
    claim: str = (
        "with 100 constraints the exact projections converge in 11 cycles and those of DefiniteBoost "
        "in 3220, to the same kernel; with more constraints it classifies better than its target."
    )
    title: str = "Exact and approximate projections"
    setup: str = prose("""
        The kernel of 52 proteins is not to be had; a Gaussian kernel of three classes, made for the purpose,
        stands in for it. Kernels are learned from the identity and the target's distances of random pairs. The
        working set is Newton's method on the dual of the constraints that matter.
        """)
    version: int = 2

    def parts(self, quick: bool) -> list[Part]:
        counts, repeats = ((20,), 1) if quick else ((50, 100, 200, 400, 700, 1000), 5)
        return k09.make_parts(counts, repeats, digits=4)

    def compute(self, part: Part) -> dict[str, Any]:
        K, y = target_kernel()
        i, j = draw_pairs(y.size, part.parameters["constraints"], part.generator())
        b = K[i, i] + K[j, j] - 2 * K[i, j]
        same = y[i] == y[j]
        terms = [
            Term(SquaredDistances(i[same], j[same]), Hard(upper=b[same])),
            Term(SquaredDistances(i[~same], j[~same]), Hard(lower=b[~same])),
        ]
        start = np.eye(y.size) * np.trace(K) / y.size
        answers = {
            "target_accuracy": neighbor_accuracy(np.linalg.cholesky(K + 1e-12 * np.eye(y.size)), y)
        }
        runs = {
            "logdet": (LogDet(), Projections("cyclic", seed=part.seed)),
            "von_neumann": (VonNeumann(), Projections("cyclic", seed=part.seed)),
            "approximate": (VonNeumann(), Projections("cyclic", approximate=True, seed=part.seed)),
            "working_set": (VonNeumann(), "working_set"),
        }
        kernels = {}
        for name, (regularizer, solver) in runs.items():
            solution = k09.solve_as_published(Problem(regularizer, start, terms), solver, _LIMIT)
            answers[name] = {
                **k09.describe_solution(solution),
                "accuracy": neighbor_accuracy(solution.factor, y),
            }
            kernels[name] = solution.factor @ solution.factor.T
        for name in ("approximate", "working_set"):
            answers[name]["apart"] = _apart(kernels[name], kernels["von_neumann"])
        return answers

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for count, draws in k09.group_draws(results).items():
            row = {"constraints": str(count), "draws": str(len(draws))}
            for name in ("logdet", "von_neumann", "approximate"):
                row[f"cycles, {name}"] = k09.format_cycles([draw[name] for draw in draws])
            for name in _EXACT:
                row[f"accuracy, {name}"] = f"{mean(d[name]['accuracy'] for d in draws):.3f}"
            row["accuracy, target"] = f"{mean(d['target_accuracy'] for d in draws):.3f}"
            apart = max(draw["approximate"]["apart"] for draw in draws)
            row["approximate from exact kernel, at most"] = f"{apart:.1g}"
            row["the paper"] = (
                "cycles: exact {von_neumann}, approximate {approximate}".format(**_CYCLES)
                if count == _TOLD
                else ""
            )
            rows.append(row)
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return _claims(k09.group_draws(results))

    def figure(self, results: Sequence[Result]) -> Any:
        figure, (left, right) = panels((9, 4), 1, 2)
        by_count = k09.group_draws(results)
        counts = list(by_count)
        for name in ("logdet", "von_neumann", "approximate", "working_set"):
            words = name.replace("_", " ")
            found = [[draw[name] for draw in draws] for draws in by_count.values()]
            steps = [mean(answer["cycles"] for answer in answers) for answers in found]
            right.plot(counts, steps, marker="o", label=words)
            if name in _EXACT:
                scores = [mean(a["accuracy"] for a in answers) for answers in found]
                left.plot(counts, scores, marker="o", label=words)
        target = mean(result.value["target_accuracy"] for result in results)
        left.axhline(target, color="k", ls=":", label="the target kernel")
        left.set(xlabel="constraints", ylabel="5 nearest neighbors: accuracy")
        right.set(xlabel="constraints", ylabel="cycles, or Newton steps", yscale="log")
        left.legend(fontsize="small")
        right.legend(fontsize="small")
        return figure


def _are_done(answers: list[dict[str, Any]]) -> bool:
    return len(k09.list_cycles(answers)) == len(answers)


def _claims(found: dict[int, list[Any]]) -> list[Claim]:
    few, many = found[_TOLD], found[max(found)]
    exact, rough = ([draw[name] for draw in few] for name in _CYCLES)
    steps = {
        count: [mean(draw[name]["cycles"] for draw in draws) for name in _CYCLES]
        for count, draws in found.items()
    }
    times = steps[_TOLD][1] / steps[_TOLD][0]
    fewer = [str(count) for count, (one, other) in steps.items() if other < one]
    longest = max(d[name]["cycles"] for draws in found.values() for d in draws for name in _EXACT)
    apart, from_optimum = (
        max(draw[name]["apart"] for draws in found.values() for draw in draws)
        for name in ("approximate", "working_set")
    )
    target = mean(draw["target_accuracy"] for draw in many)
    learned = [mean(draw[name]["accuracy"] for draw in many) for name in _EXACT]
    stand_in = "a Gaussian kernel of three classes instead of that of the proteins"
    unknown = prose(f"""
        With {listed(fewer)} constraints they take fewer cycles than the exact ones. Why the paper's take
        {_CYCLES["approximate"]} is not known: it does not say which bound, or which normalization (Tsuda et
        al. fix the trace), its version used.
        """)
    return [
        Claim(
            words=f"cycles of exact projections with {_TOLD} constraints, von Neumann",
            paper=str(_CYCLES["von_neumann"]),
            ours=k09.format_cycles(exact),
            criterion="every draw comes to an end, and the mean is within a factor of two",
            agrees=_are_done(exact) and are_alike(steps[_TOLD][0], _CYCLES["von_neumann"]),
            stand_in=stand_in,
        ),
        Claim(
            words=f"cycles of the approximate projections of DefiniteBoost with {_TOLD} constraints",
            paper=str(_CYCLES["approximate"]),
            ours=k09.format_cycles(rough),
            criterion="every draw comes to an end, and the mean is within a factor of two",
            agrees=_are_done(rough) and are_alike(steps[_TOLD][1], _CYCLES["approximate"]),
            reason=unknown,
            stand_in=stand_in,
        ),
        Claim(
            words="approximate projections considerably increase the cycles",
            paper=f"{_CYCLES['approximate'] / _CYCLES['von_neumann']:.0f} times as many",
            ours=f"{times:.1f} times as many with {_TOLD} constraints",
            criterion="at least twice as many",
            agrees=times >= 2,
            reason=unknown,
            stand_in=stand_in,
        ),
        Claim(
            words="both kinds of projections converge to the same kernel",
            paper="in words: 'we converge to the same kernel matrix'",
            ours=f"the kernels differ by {apart:.1g} of their norm at most",
            criterion=f"they differ by at most {_NEAR:g} of the exact one's norm (Frobenius), in every draw",
            agrees=apart <= _NEAR,
            reason=f"Both stop where the duals change little; the optimum is up to {from_optimum:.1g} away.",
            stand_in=stand_in,
        ),
        Claim(
            words=f"cycles of exact projections with up to {max(found)} constraints, both divergences",
            paper="600 at most",
            ours=f"{longest} at most",
            criterion="there are no more",
            agrees=longest <= 600,
            stand_in=stand_in,
        ),
        Claim(
            words="with enough constraints, the learned kernels classify better than their target",
            paper="above .948",
            ours=f"{span(learned, '.3f')} with {max(found)} constraints, the target {target:.3f}",
            criterion="both means are above the target's",
            agrees=min(learned) > target,
            stand_in=stand_in,
        ),
    ]


def _apart(K: np.ndarray, exact: np.ndarray) -> float:
    """|K - E| / |E|, of Frobenius."""
    return float(np.linalg.norm(K - exact) / np.linalg.norm(exact))


EXPERIMENT = ExactAndApproximate()
