"""Write a question as a short program that anybody can run, with all numbers written out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from stress.question import Clause, Question

__all__ = ["comment_out", "write_literal", "write_program"]


def write_program(question: Question, comment: str = "") -> str:
    """Imports, the problem, and the call of solve."""
    names = {question.regularizer, "Problem", "Term", "solve"}
    spaces = {
        "constraints": {clause.constraint for clause in question.clauses},
        "losses": {clause.loss for clause in question.clauses},
    }
    names |= {"zeros": {"Zeros"}, "factor": {"Factor"}}.get(question.prior_kind, set())
    shared = next(
        (c.arguments["points"] for c in question.clauses if "points" in c.arguments), None
    )
    sparse = any(clause.constraint == "SparseMatrices" for clause in question.clauses)
    lines = ["import numpy as np"]
    lines += ["from scipy.sparse import coo_array"] if sparse else []
    lines += ["", f"from gramlearn import {', '.join(sorted(names))}"]
    lines += [f"from gramlearn.{s} import {', '.join(sorted(n))}" for s, n in spaces.items() if n]
    lines.append("")
    lines += comment_out(comment).splitlines()
    if shared is not None:
        lines.append(f"points = {write_literal(shared)}")
    terms = "".join(f"    {_write_term(clause)},\n" for clause in question.clauses)
    options = f', dtype="{question.dtype}"' if question.dtype != "float64" else ""
    lines.append(
        f"problem = Problem({_write_call(question.regularizer, question.options)}, {_write_prior(question)}, "
        f"[\n{terms}]{options})"
    )
    solver = question.accepted_solver
    said = f', solver="{solver}"' if solver != "auto" else ""
    said += f", tol={question.tol:g}" if question.tol != 1e-6 else ""
    lines.append(f"solution = solve(problem{said})")
    lines.append("print(solution, solution.conflict)")
    return "\n".join(lines) + "\n"


def comment_out(words: str) -> str:
    """The text as comments of a program."""
    return "".join(f"# {line}\n" for line in words.splitlines())


def write_literal(value: Any) -> str:
    """A number, a list or an array as Python reads it back, to the last bit."""
    if isinstance(value, list):
        return "[" + ", ".join(write_literal(x) for x in value) + "]"
    if not isinstance(value, np.ndarray):
        return repr(value.item() if isinstance(value, np.generic) else value)
    if value.ndim == 0:
        return repr(value.item())
    kind = ", dtype=np.float32" if value.dtype == np.float32 else ""
    if value.dtype == float and value.ndim == 2 and value.shape[0] == value.shape[1]:
        diagonal = np.diag(value)
        if not np.any(value - np.diag(diagonal)):
            if np.all(diagonal == 1):
                return f"np.eye({len(value)})"
            return f"np.diag({_write_list(diagonal)})"
    return f"np.array({_write_list(value)}{kind})"


def _write_list(value: np.ndarray) -> str:
    text = repr(value.tolist())
    return text.replace(".0,", ".,").replace(".0]", ".]")


def _write_prior(question: Question) -> str:
    if question.prior_kind == "zeros":
        return f"Zeros({question.dimension})"
    text = write_literal(question.prior)
    return f"Factor({text})" if question.prior_kind == "factor" else text


def _write_term(clause: Clause) -> str:
    arguments = dict(clause.arguments)
    words = []
    if clause.constraint == "SparseMatrices":
        matrices = [f"coo_array({write_literal(np.asarray(A))})" for A in arguments.pop("matrices")]
        words.append(f"[{', '.join(matrices)}]")
    for name in ("matrices", "i", "j", "k", "l"):
        if name in arguments:
            value = arguments.pop(name)
            words.append(
                write_literal(value) if name == "matrices" else repr(np.asarray(value).tolist())
            )
    if "points" in arguments:
        del arguments["points"]
        words.append("points=points")
    words += [f"{name}={write_literal(value)}" for name, value in arguments.items()]
    constraint = f"{clause.constraint}({', '.join(words)})"
    return f"Term({constraint}, {_write_call(clause.loss, clause.parameters)})"


def _write_call(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={write_literal(v)}' for k, v in arguments.items())})"
