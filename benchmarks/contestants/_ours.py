"""gramlearn on an instance: the problem, and the answers of a solve with the gaps it certifies."""

import importlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, final

from benchmarks.contestants._base import Answer, Contestant
from benchmarks.instance import Instance, Spec

__all__ = ["LibrarySolver", "make_problem", "solve_quietly"]

_TOL = 1e-6
# Once it is loaded, gramlearn scans with a compiled function from this many numbers on; a warm-up must
# reach it, whatever it leaves out of the scan.
_COMPILED_FROM = 5_000_000
_LONGEST_WARM_UP = 10.0  # seconds: everything is compiled after a few steps, or after a long one


@final
@dataclass
class LibrarySolver(Contestant):
    """gramlearn.solve(problem, solver): the gaps are the certificates of the solution."""

    solver: str
    summary: str
    libraries: tuple[str, ...] = ("numpy", "torch:cpu", "torch:cuda")

    certifies = True
    packages = ("gramlearn", "numpy", "scipy", "numba", "torch")

    def refuses(self, spec: Spec) -> str | None:
        """Ask the solver, about a problem of this kind and rank with three points, many times the same."""
        from gramlearn.solvers.solve import SOLVERS

        solver = SOLVERS[self.solver]
        return None if solver is None else solver.objection(make_problem(_three_points(spec)))

    def warm_up(self, instance: Instance) -> None:
        """A short solve over some of the pairs; with PyTorch a full one, which fills its allocator."""
        is_host = instance.xp.__name__ == "numpy"
        if is_host:
            instance = instance.some_of_each_half(_COMPILED_FROM // instance.spec.r + 1)
            # A problem of full size loads it.
            importlib.import_module("gramlearn._base.pair_scan")
        options = {"max_iter": 5} if is_host else {}
        problem = make_problem(instance)
        solve_quietly(problem, self.solver, tol=_TOL, time_limit=_LONGEST_WARM_UP, **options)

    def solve(self, instance: Instance, limit: float) -> Iterator[Answer]:
        """Solve to a relative gap of 1e-6; the clock starts before the problem is stated."""
        wait = _synchronizer(instance)
        wait()
        began = time.perf_counter()
        stated = make_problem(instance)
        wait()
        offset = time.perf_counter() - began
        solution = solve_quietly(stated, self.solver, tol=_TOL, time_limit=limit)
        wait()
        seconds = time.perf_counter() - began
        for record in solution.history:
            if record.details.get("is_estimate"):
                continue
            gap = record.certificate.relative_gap
            yield Answer(offset + record.seconds, relative_gap=gap, note=f"step {record.iteration}")
        note = f"{solution.status.name.lower()}, {solution.iterations} steps"
        duals = instance.xp.concat(solution.duals)
        yield Answer(seconds, solution.matrix, solution.relative_gap, note, duals)


def make_problem(instance: Instance) -> Any:
    """D(X, I) + the losses of each kind of constraints."""
    import gramlearn as gl

    spec = instance.spec
    statement = (
        gl.constraints.SquaredDistances
        if instance.k is None
        else gl.constraints.DistanceComparisons
    )
    loss = getattr(gl.losses, spec.loss)
    terms = []
    for rows, side, bound in instance.halves():
        columns = [x[rows] for x in instance.columns.values()]
        kind = {"upper": bound} if side > 0 else {"lower": bound}
        terms.append(gl.Term(statement(*columns, points=instance.points), loss(spec.price, **kind)))
    like = instance.points
    eye = instance.xp.eye(spec.r, dtype=like.dtype, device=like.device)
    return gl.Problem(getattr(gl, spec.regularizer)(), eye, terms)


def solve_quietly(*args: Any, **kwargs: Any) -> Any:
    """gramlearn.solvers.solve, without the warning: the gap of the answer is looked at anyway."""
    import gramlearn as gl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gl.solve(*args, **kwargs)


def _three_points(spec: Spec) -> Instance:
    """An instance of this kind and rank, and nothing more: what an objection depends on."""
    from benchmarks.data import make_generator

    draw = make_generator(spec.library, 0)
    points = draw.normal(3, spec.r)
    # More constraints than X has entries, or fewer: a solver may object to either.
    c = min(spec.c, spec.r * (spec.r + 1))
    i, j, k = (draw.array([row] * c) for row in range(3))
    small = replace(spec, n=3, c=c)
    if spec.kind == "triplets":
        return Instance(small, points, i, j, c, -0.1, k=k)
    return Instance(small, points, i, j, c // 2, 0.5, 2.0)


def _synchronizer(instance: Instance) -> Callable[[], None]:
    if getattr(instance.points, "is_cuda", False):
        return instance.xp.cuda.synchronize
    return lambda: None
