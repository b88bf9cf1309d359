"""gramlearn on an instance: the problem, and the answers of a solve with the gaps it certifies."""

import importlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from benchmarks.contestants._base import Answer
from benchmarks.instance import Instance

__all__ = ["iterate_answers", "make_problem", "solve_quietly", "warm_up"]

_TOL = 1e-6
# Once it is loaded, gramlearn scans with a compiled function from this many numbers on; a warm-up must
# reach it, whatever it leaves out of the scan.
_COMPILED_FROM = 5_000_000


def make_problem(instance: Instance, objective: str) -> Any:
    """D(X, I) + the losses of the two kinds of pairs."""
    import gramlearn as gl

    regularizer, loss = {
        "logdet": (gl.LogDet(), gl.losses.LogDetSlack),
        "von_neumann": (gl.VonNeumann(), gl.losses.KLSlack),
    }[objective]
    terms = []
    for rows, side, bound in instance.halves():
        pairs = gl.constraints.SquaredDistances(
            instance.i[rows], instance.j[rows], points=instance.points
        )
        kind = {"upper": bound} if side > 0 else {"lower": bound}
        terms.append(gl.Term(pairs, loss(instance.gamma, **kind)))
    like = instance.points
    eye = instance.xp.eye(instance.spec.r, dtype=like.dtype, device=like.device)
    return gl.Problem(regularizer, eye, terms)


def solve_quietly(*args: Any, **kwargs: Any) -> Any:
    """gramlearn.solvers.solve, without the warning: the gap of the answer is looked at anyway."""
    import gramlearn as gl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gl.solve(*args, **kwargs)


def iterate_answers(
    instance: Instance, limit: float, objective: str, solver: Any = "auto", **options: Any
) -> Iterator[Answer]:
    """Solve to a relative gap of 1e-6; the clock starts before the problem is stated.

    `solver` and `options` are those of `gramlearn.solvers.solve`.
    """
    wait = _synchronizer(instance)
    wait()
    began = time.perf_counter()
    stated = make_problem(instance, objective)
    wait()
    offset = time.perf_counter() - began
    solution = solve_quietly(stated, solver, tol=_TOL, time_limit=limit, **options)
    wait()
    seconds = time.perf_counter() - began
    for record in solution.history:
        gap = record.certificate.relative_gap
        yield Answer(offset + record.seconds, relative_gap=gap, note=f"step {record.iteration}")
    note = f"{solution.status.name.lower()}, {solution.iterations} steps"
    yield Answer(seconds, solution.matrix, solution.relative_gap, note)


def warm_up(instance: Instance, objective: str, solver: Any = "auto") -> None:
    """A short solve over some of the pairs; with PyTorch a full one, which fills its allocator."""
    small = instance
    if instance.xp.__name__ == "numpy":
        half = min(instance.alike, _COMPILED_FROM // instance.spec.r + 1)
        first, last = slice(0, half), slice(instance.alike, instance.alike + half)
        i, j = (instance.xp.concat([x[first], x[last]]) for x in (instance.i, instance.j))
        small = replace(instance, i=i, j=j, alike=half)
        importlib.import_module("gramlearn._base.pair_scan")  # which a problem of full size loads
    iterations = {"max_iter": 5} if small is not instance else {}
    solve_quietly(make_problem(small, objective), solver, tol=_TOL, **iterations)


def _synchronizer(instance: Instance) -> Callable[[], None]:
    if getattr(instance.points, "is_cuda", False):
        return instance.xp.cuda.synchronize
    return lambda: None
