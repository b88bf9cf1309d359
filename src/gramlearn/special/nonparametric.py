"""<L, K> + C sum_ij loss(T_ij K_ij) + (G/p) tr K^p -> min over PSD K: a kernel of given points alone (Z11 4).

T_ij is 1 for points that belong together and -1 for points that do not; L is the Laplacian of a graph. Divided
by G this is a `Problem` with a prior of zeros. The capacity may be bounded instead, tr K^p <= B (`capacity`).
With the linear loss, K = (A+ / G)^(1 / (p - 1)) for A = C T - L (Propositions 1 and 2).
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gramlearn._validation import check_choice, check_positive
from gramlearn.constraints import Similarities, SparseMatrices
from gramlearn.losses import Hinge, Linear, Loss, Square, SquaredHinge
from gramlearn.problem import Problem, Term
from gramlearn.regularizers import Frobenius, Schatten
from gramlearn.side_information import Pairs
from gramlearn.solution import Record
from gramlearn.space import Zeros
from gramlearn.special.capacity import CapacityAnswer, solve_with_capacity

__all__ = ["nonparametric_problem", "solve_nonparametric"]

_LOSSES: Mapping[str, Callable[[float, float], Loss]] = {
    "linear": lambda price, sign: Linear(-sign * price),
    "hinge": lambda price, sign: Hinge(price, **_beyond(sign)),
    "squared_hinge": lambda price, sign: SquaredHinge(price, **_beyond(sign)),
    "square": lambda price, sign: Square(price, equal=sign),
}
_SMALLEST = 1e-5  # of C: a G below this hardly prices capacity


def _beyond(sign: float) -> dict[str, float]:
    return {"lower": 1.0} if sign > 0 else {"upper": -1.0}


def nonparametric_problem(
    laplacian: Any,
    pairs: Pairs,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    p: float = 2.0,
    G: float = 1.0,
) -> Problem:
    """The problem divided by G, with loss(t) = -t, max(0, 1 - t), its square / 2, or (1 - t)^2 / 2."""
    kind = check_choice(loss, "loss", _LOSSES)
    price = check_positive(C, "C", "nonparametric_problem") / check_positive(
        G, "G", "nonparametric_problem"
    )
    n = int(laplacian.shape[0])
    pairs.check_fits(n)
    terms = [Term(SparseMatrices([laplacian]), Linear(1.0 / G))]
    for table, sign in ((pairs.similar, 1.0), (pairs.dissimilar, -1.0)):
        if table is not None and len(table):
            rows = np.asarray(table)
            terms.append(Term(Similarities(rows[:, 0], rows[:, 1]), kind(price, sign)))
    return Problem(Frobenius() if p == 2 else Schatten(p), Zeros(n), terms)


def solve_nonparametric(
    laplacian: Any,
    pairs: Pairs,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    p: float = 2.0,
    B: float | None = None,
    G: float | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
) -> CapacityAnswer:
    """Learn K for a G, or for a capacity B: tr K^p <= B. Without either, G = 1."""

    def problem_at(G: float) -> Problem:
        return nonparametric_problem(laplacian, pairs, loss=loss, C=C, p=p, G=G)

    return solve_with_capacity(
        problem_at,
        p,
        B=B,
        G=G,
        tol=tol,
        max_iter=max_iter,
        callback=callback,
        smallest=_SMALLEST * C,
        owner="solve_nonparametric",
    )
