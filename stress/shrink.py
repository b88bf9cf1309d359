"""The smallest question with the same finding: parts are taken away one after another, while it stays.

Greedy, and never wrong: every candidate is asked and judged anew, so what is left shows the finding by itself.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from stress.question import Clause, Question

__all__ = ["shrink"]

_DIGITS = (1, 2, 4)


def shrink(
    question: Question, stays: Callable[[Question], bool], seconds: float = 60.0
) -> Question:
    """Take away what the finding does not need, for at most so many seconds of processor time."""
    began = time.process_time()
    progress = True
    while progress:
        progress = False
        for candidate in _propose_smaller(question):
            if time.process_time() - began > seconds:
                return question
            if stays(candidate):
                question, progress = candidate, True
                break
    return question


def _propose_smaller(question: Question) -> Iterator[Question]:
    """Candidates, those that take away most first."""
    yield from _fewer_clauses(question)
    yield from _fewer_rows(question)
    yield from _fewer_dimensions(question)
    yield from _fewer_points(question)
    yield from _simplify(question)
    yield from _shorter_numbers(question)


def _fewer_clauses(question: Question) -> Iterator[Question]:
    clauses = question.clauses
    for k in range(len(clauses) if len(clauses) > 1 else 0):
        yield replace(question, clauses=clauses[:k] + clauses[k + 1 :])


def _fewer_rows(question: Question) -> Iterator[Question]:
    for k, clause in enumerate(question.clauses):
        size = clause.size
        if clause.constraint == "Trace" or size < 2:
            continue
        everything = np.arange(size)
        pieces = 2
        while pieces <= min(size, 32):
            for part in np.array_split(everything, pieces):
                yield _replace_clause(question, k, clause.take(np.setdiff1d(everything, part)))
            pieces *= 2
        if size <= 32:
            for row in everything:
                yield _replace_clause(question, k, clause.take(np.delete(everything, row)))


def _replace_clause(question: Question, k: int, clause: Clause) -> Question:
    clauses = list(question.clauses)
    clauses[k] = clause
    return replace(question, clauses=tuple(clauses))


def _fewer_dimensions(question: Question) -> Iterator[Question]:
    n = question.dimension
    for gone in range(n if n > 1 else 0):
        prior = np.delete(question.prior, gone, axis=0)
        if question.prior_kind != "factor":
            prior = np.delete(prior, gone, axis=1)
        clauses = [_without_dimension(clause, gone) for clause in question.clauses]
        kept = tuple(c for c in clauses if c is not None and c.size)
        feasible = question.feasible
        if feasible is not None:
            feasible = np.delete(np.delete(feasible, gone, axis=0), gone, axis=1)
        if kept:
            yield replace(question, prior=prior, clauses=kept, feasible=feasible)
    if question.prior_kind == "factor" and question.prior.shape[1] > 1:
        for gone in range(question.prior.shape[1]):
            yield replace(question, prior=np.delete(question.prior, gone, axis=1))


def _without_dimension(clause: Clause, gone: int) -> Clause | None:
    arguments = dict(clause.arguments)
    if "points" in arguments:
        arguments["points"] = np.delete(arguments["points"], gone, axis=1)
        return replace(clause, arguments=arguments)
    if "matrices" in arguments:
        smaller = [np.delete(np.delete(A, gone, 0), gone, 1) for A in arguments["matrices"]]
        is_list = isinstance(arguments["matrices"], list)
        arguments["matrices"] = smaller if is_list else np.asarray(smaller)
        return replace(clause, arguments=arguments)
    columns = {name: np.asarray(arguments[name]) for name in "ijkl" if name in arguments}
    if not columns:
        return clause
    kept = np.flatnonzero(np.all([x != gone for x in columns.values()], axis=0))
    if not kept.size:
        return None
    clause = clause.take(kept)
    columns = {name: np.asarray(clause.arguments[name]) for name in columns}
    renumbered = {name: x - (x > gone) for name, x in columns.items()}
    return replace(clause, arguments={**clause.arguments, **renumbered})


def _fewer_points(question: Question) -> Iterator[Question]:
    """Points that no constraint speaks of are left out."""
    with_points = [c for c in question.clauses if "points" in c.arguments]
    if not with_points:
        return
    points = with_points[0].arguments["points"]
    columns = [c.arguments[name] for c in with_points for name in "ijkl" if name in c.arguments]
    used = np.unique(np.concatenate([np.asarray(x) for x in columns]))
    if used.size == len(points):
        return
    numbers = np.zeros(len(points), dtype=int)
    numbers[used] = np.arange(used.size)
    clauses = []
    for clause in question.clauses:
        arguments = dict(clause.arguments)
        if "points" in arguments:
            arguments["points"] = points[used]
            arguments |= {name: numbers[arguments[name]] for name in "ijkl" if name in arguments}
        clauses.append(replace(clause, arguments=arguments))
    yield replace(question, clauses=tuple(clauses))


def _simplify(question: Question) -> Iterator[Question]:
    """Default values in place of drawn ones."""
    if question.solver != "auto":
        yield replace(question, solver="auto")
    if question.dtype != "float64":
        yield replace(question, dtype="float64", tol=1e-6)
    n = question.dimension
    if question.prior_kind != "zeros" and not np.array_equal(question.prior, np.eye(n)):
        yield replace(question, prior=np.eye(n), prior_kind="matrix")
    for k, clause in enumerate(question.clauses):
        if "weight" in clause.parameters:
            rest = {name: v for name, v in clause.parameters.items() if name != "weight"}
            yield _replace_clause(question, k, replace(clause, parameters=rest))
        if "offset" in clause.arguments:
            rest = {name: v for name, v in clause.arguments.items() if name != "offset"}
            yield _replace_clause(question, k, replace(clause, arguments=rest))
        if clause.parameters.get("C", 1.0) != 1.0:
            plain = {**clause.parameters, "C": 1.0}
            yield _replace_clause(question, k, replace(clause, parameters=plain))


def _shorter_numbers(question: Question) -> Iterator[Question]:
    """Fewer digits; the arrays of all clauses at once, so that equal numbers stay equal."""

    def round_to(value: Any, digits: int) -> Any:
        if isinstance(value, list):
            return [round_to(x, digits) for x in value]
        array = np.asarray(value)
        if array.dtype.kind != "f":
            return value
        short = np.asarray([float(f"{x:.{digits - 1}e}") for x in array.ravel().tolist()])
        short = short.reshape(array.shape).astype(array.dtype)
        return short if isinstance(value, np.ndarray) else float(short)

    for digits in _DIGITS:
        clauses = tuple(
            replace(
                clause,
                arguments={k: round_to(v, digits) for k, v in clause.arguments.items()},
                parameters={k: round_to(v, digits) for k, v in clause.parameters.items()},
            )
            for clause in question.clauses
        )
        short = replace(question, prior=round_to(question.prior, digits), clauses=clauses)
        if _differs(short, question):
            yield short


def _differs(one: Question, other: Question) -> bool:
    numbers = [
        (one.prior, other.prior),
        *(
            (value, theirs.parameters[name])
            for mine, theirs in zip(one.clauses, other.clauses, strict=True)
            for name, value in mine.parameters.items()
        ),
        *(
            (value, theirs.arguments[name])
            for mine, theirs in zip(one.clauses, other.clauses, strict=True)
            for name, value in mine.arguments.items()
        ),
    ]
    return any(not np.array_equal(np.asarray(a), np.asarray(b)) for a, b in numbers)
