"""K09 7.1: four ways to learn a kernel of the digits 3, 8 and 9, and a solve as the papers ran it.

Two divergences, hard or slack; projections until the duals change by less than 1e-3 over a cycle; what is kept
of a solve; and whether the divergences perform alike.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import gramlearn as gl
from experiments.experiment import Claim, Part, Result, values_by
from experiments.intervals import Spread, listed, span
from experiments.reproductions.shared.pairs import draw_pairs, make_constraints, share_satisfied
from gramlearn.problem.dual import DualPoint
from gramlearn.problem.solution import Record
from gramlearn.solvers import Projections
from gramlearn.solvers.projections.solver import ProjectionState

DATA = ("pendigits_389_317",)
GAMMA = 1000.0  # so large that slack is hardly used where the constraints can be met without
METHODS = {
    "logdet": (gl.LogDet(), gl.losses.Hard()),
    "von_neumann": (gl.VonNeumann(), gl.losses.Hard()),
    "logdet_slack": (gl.LogDet(), gl.losses.LogDetSlack(C=GAMMA)),
    "von_neumann_slack": (gl.VonNeumann(), gl.losses.KLSlack(C=GAMMA)),
}
WORDS = {
    "logdet": "LogDet",
    "von_neumann": "von Neumann",
    "logdet_slack": "LogDet, slack",
    "von_neumann_slack": "von Neumann, slack",
}


def make_problems(part: Part) -> tuple[dict[str, gl.Problem], np.ndarray]:
    """One draw of pairs as a problem of each method, and the classes."""
    digits = gl.datasets.load(*DATA)
    i, j = draw_pairs(len(digits.y), part.parameters["constraints"], part.generator())
    return {
        method: gl.Problem(
            regularizer, gl.Factor(digits.X), make_constraints(digits.X, digits.y, i, j, loss)
        )
        for method, (regularizer, loss) in METHODS.items()
    }, digits.y


_CHANGE = 1e-3
_DONE = (gl.Status.OPTIMAL.name, gl.Status.STOPPED.name)


def make_parts(counts: Iterable[int], repeats: int, digits: int = 3) -> list[Part]:
    """One part for every number of constraints and every repeat."""
    return [
        Part(f"c{count:0{digits}}-r{repeat:02}", {"constraints": count, "repeat": repeat})
        for count in counts
        for repeat in range(repeats)
    ]


def group_draws(results: Sequence[Result]) -> dict[int, list[Any]]:
    """What the draws gave, by the number of constraints, which ascends."""
    return dict(sorted(values_by("constraints", results).items()))


def solve_as_published(problem: gl.Problem, solver: Any, limit: int) -> gl.Solution:
    """Solve; projections stop as in the paper, Newton's method at a relative gap of 1e-6."""

    def has_settled(record: Record) -> bool:
        return record.details.get("change", 1.0) <= _CHANGE

    return solve_quietly(problem, solver, tol=1e-6, max_iter=limit, callback=has_settled)


def solve_quietly(*given: Any, **options: Any) -> gl.Solution:
    """Solve, without a warning where it does not converge: the status is kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return gl.solve(*given, **options)


def describe_solution(solution: gl.Solution) -> dict[str, Any]:
    """How a solve went, in numbers that fit into JSON."""
    gap = solution.relative_gap
    return {
        "status": solution.status.name,
        "cycles": solution.iterations,
        "seconds": solution.seconds,
        "relative_gap": gap if np.isfinite(gap) else None,
    }


def project_and_follow(problem: gl.Problem, solver: Projections, limit: int) -> dict[str, Any]:
    """Cycle until the duals settle; `satisfied` is the share that holds to 1e-3, from no cycle on."""
    shares: list[float] = []
    _, found = _iterate_until_settled(
        problem, solver, limit, lambda state: shares.append(_share_satisfied(problem, state.point))
    )
    return {**found, "satisfied": shares}


def project_until_settled(
    problem: gl.Problem, solver: Projections, limit: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """Cycle until the duals settle; the factor of X there, and the gap, which is computed once."""
    state, found = _iterate_until_settled(problem, solver, limit, lambda state: None)
    gap = solver.settle(problem, state).certificate.relative_gap
    factor = np.asarray(problem.space.lift(state.point.conjugate.factor))
    return factor, {**found, "relative_gap": gap if np.isfinite(gap) else None}


def _iterate_until_settled(
    problem: gl.Problem, solver: Projections, limit: int, look: Callable[[ProjectionState], object]
) -> tuple[ProjectionState, dict[str, Any]]:
    """Cycle until the duals settle, and look at nothing else: neither at a gap nor for a contradiction.

    `look` is called before the first cycle and after each.
    """
    state = solver.init(problem, None, 0.0)
    begun = process_time()
    look(state)
    n_cycles = 0
    status = gl.Status.ITERATION_LIMIT if state.point.lam.size else gl.Status.STOPPED
    while status is gl.Status.ITERATION_LIMIT and n_cycles < limit:
        after = solver.cycled(problem, state)
        if after.point.value == -np.inf:
            status = (
                gl.Status.STALLED
            )  # the duals have left the domain, and there is no X to speak of
            break
        state, n_cycles = after, n_cycles + 1
        look(state)
        if state.change <= _CHANGE:
            status = gl.Status.STOPPED
    seconds = process_time() - begun
    found = {"status": status.name, "cycles": n_cycles, "seconds": seconds, "relative_gap": None}
    return state, found


def _share_satisfied(problem: gl.Problem, point: DualPoint) -> float:
    factor = problem.space.lift(point.conjugate.factor)
    return round(share_satisfied(factor, list(problem.terms)), 4)


def list_cycles(answers: list[dict[str, Any]]) -> list[int]:
    """The cycles of the solves that came to an end."""
    return [answer["cycles"] for answer in answers if answer["status"] in _DONE]


def format_gaps(words: str, answers: Iterable[dict[str, Any]]) -> str:
    """The least and the greatest relative gap where the solves stopped: "1e-05 to 2e-3 for LogDet"."""
    gaps = [answer["relative_gap"] for answer in answers if answer["relative_gap"] is not None]
    return f"{span(gaps, '.1g') if gaps else 'none'} for {words}"


def format_cycles(answers: list[dict[str, Any]]) -> str:
    """The mean and the range of the cycles, and how the other solves ended."""
    done = list_cycles(answers)
    text = f"{mean(done):.0f} ({min(done)} to {max(done)})" if done else "none"
    others = [answer["status"].lower() for answer in answers if answer["status"] not in _DONE]
    notes = [f"{others.count(word)} {word.replace('_', ' ')}" for word in dict.fromkeys(others)]
    return "; ".join([text, *notes])


def make_alike_claim(
    words: str, paper: str, ahead: Mapping[int, Spread], setting: str, also: str
) -> Claim:
    """`ahead` is what the NMI of LogDet is above that of von Neumann by, for each number of constraints."""
    above = [str(count) for count, spread in ahead.items() if spread.is_above_zero]
    below = [str(count) for count, spread in ahead.items() if spread.is_below_zero]
    most = max(ahead.values(), key=lambda spread: abs(spread.center))
    least = min(ahead.values(), key=lambda spread: abs(spread.center))
    return Claim(
        words=words,
        paper=paper,
        ours=f"{setting}, LogDet above von Neumann by {least.interval:+.3f} where they "
        f"are nearest and {most.interval:+.3f} where they are farthest, over the same draws",
        criterion="zero is within the 95 % interval of the draws, at every number of constraints",
        agrees=not above and not below,
        reason=f"On the same draws LogDet is ahead at {listed(above)}, and von Neumann at {listed(below)}. "
        f"{also}",
    )
