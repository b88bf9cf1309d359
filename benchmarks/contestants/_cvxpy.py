"""The same objective as a model of CVXPY, whose solvers then take it as a conic program.

    minimize   tr X - log det X - r + C sum_k (u_k - 1 - log u_k)
    upper: u_k >= 1, u_k >= t_k/b      lower: u_k <= 1, u_k <= t_k/b      t_k = <z_k z_k', X>

u - log u falls up to 1 and rises from there, so at the optimum u_k = max(1, t_k/b) or
min(1, t_k/b): the loss of the judge, exactly.
"""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.contestants._base import Answer, refuse_all_but_itml
from benchmarks.instance import Instance, Spec

__all__ = ["iterate_answers", "make_model", "refuses"]

_MOST_NUMBERS = 5_000_000  # in the c x r^2 matrix of the constraints


def refuses(spec: Spec) -> str | None:
    """Say why not: the model is of one problem, and CVXPY writes the matrix of all constraints out."""
    if refusal := refuse_all_but_itml(spec):
        return refusal
    numbers = spec.c * spec.r**2
    if numbers <= _MOST_NUMBERS:
        return None
    return (
        f"the model holds a matrix c x r^2 of {numbers:.1e} numbers, more than {_MOST_NUMBERS:.0e}"
    )


def make_model(instance: Instance) -> tuple[Any, Any]:
    """(problem, X)."""
    import cvxpy as cp

    r, c = instance.spec.r, instance.spec.c
    [(_, z)] = instance.differences(slice(0, c))
    products = (z[:, :, None] * z[:, None, :]).reshape(c, r * r)
    X = cp.Variable((r, r), PSD=True)
    u = cp.Variable(c)
    bounds = []
    for rows, side, b in instance.halves():
        ratio = (products[rows] / b) @ cp.vec(X, order="C")
        bounds += [side * u[rows] >= side, side * u[rows] >= side * ratio]
    losses = cp.sum(u) - c - cp.sum(cp.log(u))
    value = cp.trace(X) - cp.log_det(X) - r + instance.spec.price * losses
    return cp.Problem(cp.Minimize(value), bounds), X


def iterate_answers(
    instance: Instance,
    limit: float,
    solver: str,
    plan: list[tuple[str, dict[str, Any]]],
    clock: str,
) -> Iterator[Answer]:
    """Solve with one setting after another; `clock` is the solver's name of a time limit."""
    import cvxpy as cp

    for note, options in plan:
        began = time.perf_counter()
        problem, X = make_model(instance)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problem.solve(solver=solver, **options, **{clock: limit})
            except cp.error.SolverError as error:
                spent = time.perf_counter() - began
                reason = f"{solver} failed at {note} after {spent:.1f} s: {error}"
                raise RuntimeError(reason) from None
        seconds = time.perf_counter() - began
        if X.value is None:
            raise RuntimeError(
                f"{solver} gave no matrix at {note}, and the status {problem.status} after "
                f"{seconds:.1f} s"
            )
        inner = problem.solver_stats.solve_time
        note += f", {problem.status}" + (f", {inner:.2g} s of it in {solver}" if inner else "")
        yield Answer(seconds, np.asarray(X.value), note=note)
        if seconds >= limit:
            return
