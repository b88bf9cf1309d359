"""loss of the choice = seconds of "auto" / least seconds of any solver that reached 1e-6.

All solvers run in one process, on the same problem, one after the other. None gets longer than "auto" took: one
that is not there by then cannot have been the better choice. One whose first step takes longer, on the first
instance of the same size, is not run at all.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

from benchmarks import data
from benchmarks.contestants._ours import make_problem, solve_quietly
from benchmarks.instance import Spec
from benchmarks.wording import describe_instance, format_number, name_problem

__all__ = ["Choice", "compare_solvers", "write_choices"]

_AUTO = "auto"
_TOL = 1e-6
_NOISE = 1.2  # a loss from which on both are timed again: the machine may have been busy
_TURNS = 3


class Choice(NamedTuple):
    """Seconds of "auto" on one instance, None where it did not reach the gap, and of the best other solver."""

    instance: str
    auto: float | None
    best: str | None
    seconds: float | None

    @property
    def loss(self) -> float | None:
        """How many times as long "auto" took, or 1 where nobody was quicker."""
        if self.auto is None:
            return None if self.seconds is None else float("inf")
        return 1.0 if self.seconds is None else max(1.0, self.auto / self.seconds)


def compare_solvers(specs: Iterable[Spec], limit: float) -> Iterator[Choice]:
    """Time "auto" on each instance, and then every solver that takes such problems."""
    from gramlearn.solvers.solve import SOLVERS

    first_steps: dict[tuple[str, int, int], float] = {}
    for spec in specs:
        problem = make_problem(data.make(spec))
        title = f"{describe_instance(asdict(spec))}: {name_problem(asdict(spec))}"
        others = [n for n, s in SOLVERS.items() if s is not None and s.objection(problem) is None]
        for name in (_AUTO, *others):
            if (name, spec.r, spec.c) not in first_steps:
                first_steps[name, spec.r, spec.c] = _time_first_step(problem, name, limit)
        auto = _time(problem, _AUTO, limit)
        allowed = auto or limit
        quick = [name for name in others if first_steps[name, spec.r, spec.c] < allowed]
        taken = {name: _time(problem, name, allowed) for name in quick}
        reached = {name: seconds for name, seconds in taken.items() if seconds is not None}
        best = min(reached, key=lambda name: reached[name], default=None)
        if best is not None and auto is not None and auto > _NOISE * reached[best]:
            turns = [
                (_time(problem, _AUTO, limit), _time(problem, best, limit)) for _ in range(_TURNS)
            ]
            auto = min([auto, *(a for a, _ in turns if a is not None)])
            reached[best] = min([reached[best], *(b for _, b in turns if b is not None)])
        yield Choice(title, auto, best, None if best is None else reached[best])


def _time_first_step(problem: Any, solver: str, limit: float) -> float:
    """Seconds of one step, once everything is compiled or imported that is needed."""
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        solve_quietly(problem, solver, max_iter=1, time_limit=limit)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _time(problem: Any, solver: str, limit: float) -> float | None:
    """Seconds to a certified gap of 1e-6, None where it is not reached."""
    began = time.perf_counter()
    solution = solve_quietly(problem, solver, tol=_TOL, time_limit=limit)
    seconds = time.perf_counter() - began
    return seconds if solution.relative_gap <= _TOL else None


def write_choices(choices: Iterable[Choice]) -> Iterator[str]:
    """Lines of Markdown: a row for each instance as it comes, and the largest loss in the end."""
    yield f"| instance | times the best | {_AUTO}, s | best solver | its s |"
    yield "|---|---|---|---|---|"
    seen = []
    for choice in choices:
        seen.append(choice)
        loss, best = choice.loss, choice.best or ""
        times = (
            "nobody there"
            if loss is None
            else "never there"
            if loss == float("inf")
            else f"{loss:.2f}"
        )
        ours, least = ("" if x is None else format_number(x) for x in (choice.auto, choice.seconds))
        yield f"| {choice.instance} | {times} | {ours} | {best} | {least} |"
    losses = [(choice.loss, choice.instance) for choice in seen if choice.loss is not None]
    if losses:
        worst, where = max(losses)
        yield ""
        yield f"{len(seen)} instances, {len(losses)} solved. The largest loss is {worst:.2f}: {where}."
