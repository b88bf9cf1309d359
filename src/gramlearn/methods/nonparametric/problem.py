"""minimize <L, K> + C sum_ij loss(T_ij K_ij) + (G/p) tr K^p over PSD K: a kernel of given points (Z11 4).

T_ij is 1 for points that belong together and -1 for points that do not; L is the Laplacian of a graph. Divided
by G this is a `Problem` with a prior of zeros. The capacity may be bounded instead, tr K^p <= B (`capacity`).
With the linear loss, K = (A+ / G)^(1 / (p - 1)) for A = C T - L (Propositions 1 and 2), and a rank is a number
of eigenvalues of A (`leading`). With other losses K = V E V' for an orthonormal basis V of that many columns
(Z11 5.4): the same problem for E, since <L, V E V'> = <V'LV, E> and tr K^p = tr E^p.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramlearn._base.arrays import to_numpy
from gramlearn._base.eigen.leading import leading_eigenvectors
from gramlearn._base.validation import (
    LARGEST_EXPONENT,
    check_choice,
    check_count,
    check_finite,
    check_positive,
)
from gramlearn.methods.nonparametric.capacity import (
    CapacityAnswer,
    capacity_term,
    check_capacity,
    solve_with_capacity,
)
from gramlearn.methods.nonparametric.leading_kernel import explain_overflow, leading_kernel
from gramlearn.problem.constraints import Constraints, DenseMatrices, Similarities, SparseMatrices
from gramlearn.problem.losses import Hinge, Linear, Loss, Square, SquaredHinge
from gramlearn.problem.prior import Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.solution import Record
from gramlearn.side_information import Pairs
from gramlearn.side_information.pairs import check_pairs

_LOSSES: Mapping[str, Callable[[float, float, Any], Loss]] = {
    "linear": lambda price, sign, weight: Linear(-sign * price, weight=weight),
    "hinge": lambda price, sign, weight: Hinge(price, weight=weight, **_margin_bound(sign)),
    "squared_hinge": lambda price, sign, weight: SquaredHinge(
        price, weight=weight, **_margin_bound(sign)
    ),
    "square": lambda price, sign, weight: Square(price, equal=sign, weight=weight),
}
_BASES = ("graph", "statements")
_SMALLEST = 1e-5  # of C: a G below this hardly prices capacity


def _margin_bound(sign: float) -> dict[str, float]:
    return {"lower": 1.0} if sign > 0 else {"upper": -1.0}


def nonparametric_problem(
    laplacian: Any,
    pairs: Pairs,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    p: float = 2.0,
    capacity_price: float = 1.0,
    basis: np.ndarray | None = None,
) -> Problem:
    """The problem divided by its `capacity_price`: loss(t) = -t, max(0, 1 - t), its square / 2, (1 - t)^2 / 2.

    With a basis V, of orthonormal columns, X is E of K = V E V'.
    """
    kind = check_choice(loss, "loss", _LOSSES)
    owner = "nonparametric_problem"
    G = check_positive(capacity_price, "capacity_price", owner)
    price = check_positive(C, "C", owner) / G
    n = _check_fit(laplacian, pairs)
    graph: Constraints = SparseMatrices([laplacian])
    if basis is not None:
        within = basis.T @ (laplacian @ basis)
        n, graph = basis.shape[1], DenseMatrices([(within + within.T) / 2])
    terms = [Term(graph, Linear(1.0 / G))]
    for rows, sign, weight in _split_by_sign(pairs):
        alike = Similarities(rows[:, 0], rows[:, 1], points=basis)
        terms.append(Term(alike, kind(price, sign, weight)))
    return Problem(capacity_term(p), Zeros(n), terms)


def statement_matrix(pairs: Pairs) -> Any:
    """T, sparse, with half of each T_ij on either side of the diagonal: <T, K> = sum T_ij K_ij."""
    from scipy.sparse import csr_array

    n = pairs.n_points
    rows = np.concatenate([table for table, _, _ in _split_by_sign(pairs)])
    signs = np.concatenate([sign / 2 * weight for _, sign, weight in _split_by_sign(pairs)])
    T = csr_array((signs, (rows[:, 0], rows[:, 1])), shape=(n, n))
    return (T + T.T).tocsr()


def _check_fit(laplacian: Any, pairs: Any) -> int:
    """How many points there are: of a Laplacian, and pairs over as many."""
    if not issparse(laplacian):
        raise TypeError(
            f"`laplacian` must be a sparse matrix, as `gramlearn.graphs.laplacian(graph)` gives it; got "
            f"{type(laplacian).__name__}."
        )
    n = int(laplacian.shape[0])
    if laplacian.ndim != 2 or laplacian.shape[1] != n:
        raise ValueError(f"`laplacian` must be square; got shape {laplacian.shape}.")
    check_finite(np.asarray(laplacian.data), "laplacian")
    if abs(laplacian - laplacian.T).sum() > 1e-8 * abs(laplacian).sum():
        raise ValueError("`laplacian` is not symmetric; pass (L + L.T) / 2.")
    check_pairs(pairs, "pairs", n)
    pairs.check_not_empty()
    return n


def _find_smoothest(laplacian: Any, pairs: Pairs, count: int) -> np.ndarray:
    """The last eigenvectors of L on the pieces of the graph that pairs touch: the best K is zero elsewhere."""
    from scipy.sparse.csgraph import connected_components

    _, piece = connected_components(laplacian, directed=False)
    rows = np.flatnonzero(np.isin(piece, piece[np.asarray(pairs.involved())]))
    inner = (-laplacian).tocsr()[rows][:, rows]
    found = leading_eigenvectors(inner, min(count, rows.size)).vectors
    V = np.zeros((len(piece), found.shape[1]))
    V[rows] = found
    return V


def _split_by_sign(pairs: Pairs) -> list[tuple[np.ndarray, float, np.ndarray]]:
    """(pairs, T_ij, weights): of the similar ones and of the dissimilar ones, where there are any."""
    i, j, alike = (np.asarray(to_numpy(x)) for x in pairs.near_and_far())
    rows, weights = np.stack([i, j], axis=1), pairs.pair_weights()
    sides = ((alike, 1.0), (~alike, -1.0))
    return [(rows[side], sign, weights[side]) for side, sign in sides if side.any()]


def solve_nonparametric(
    laplacian: Any,
    pairs: Pairs,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    p: float = 2.0,
    capacity: float | None = None,
    capacity_price: float | None = None,
    rank: int | None = None,
    basis: str = "graph",
    tol: float = 1e-6,
    max_iter: int | None = None,
    callback: Callable[[Record], object] | None = None,
    time_limit: float | None = None,
    owner: str = "solve_nonparametric",
) -> CapacityAnswer:
    """Learn K for a capacity B, tr K^p <= B, or for its price G. Without either, G = 1.

    Parameters
    ----------
    laplacian : sparse matrix n x n
        Of a graph over the points; `gramlearn.graphs.laplacian`.
    pairs : Pairs
        What belongs together and what does not. Weights multiply their losses; bounds are not used.
    loss : {"squared_hinge", "hinge", "square", "linear"}
    C : float
        The price of the losses, relative to the graph term.
    p : float
        Of the capacity tr K^p; 1 with the linear loss and a capacity only.
    capacity, capacity_price : float, optional
        B and G.
    rank : int, optional
        The most dimensions K may have: with the linear loss the best K of that rank; with others the best
        one over a basis of that many columns, and the gap is over those. As many as it takes if None.
    basis : {"graph", "statements"}
        Of a given rank: the smoothest functions on the pieces of the graph that pairs touch (bottom
        eigenvectors of L; Z11 5.4), or the leading eigenvectors of C T - L, which know the pairs.
    tol, max_iter, callback, time_limit :
        As in `solve`.
    """
    check_choice(loss, "loss", _LOSSES)
    check_capacity(capacity, capacity_price, owner)
    B, G = None if capacity is None else float(capacity), capacity_price
    check_positive(C, "C", owner)
    check_positive(tol, "tol", owner, any_size=True)
    check_positive(p, "p", owner, largest=LARGEST_EXPONENT)
    if p < 1:
        raise ValueError(f"`p={p:g}` is below 1, where tr K^p is not convex; pass 1 or more.")
    if p == 1 and (loss != "linear" or B is None):
        raise ValueError(
            f'`p=1` has an answer with loss="linear" and a `capacity`; got loss="{loss}", capacity={B}. Else '
            "p = 1.1 comes near."
        )
    n = _check_fit(laplacian, pairs)
    A = (C * statement_matrix(pairs) - laplacian).tocsr()
    check_choice(basis, "basis", dict.fromkeys(_BASES))
    size = None if rank is None else min(check_count(rank, "rank"), n)
    if p == 1 or (loss == "linear" and size is not None):
        return leading_kernel(A, size, p, B, 1.0 if G is None else G, tol)
    V = None
    if size is not None and basis == "graph":
        V = _find_smoothest(laplacian, pairs, size)
    elif size is not None:
        V = leading_eigenvectors(A, size).vectors

    def problem_at(G: float) -> Problem:
        return nonparametric_problem(
            laplacian, pairs, loss=loss, C=C, p=p, capacity_price=G, basis=V
        )

    try:
        with np.errstate(over="ignore", invalid="ignore"):
            answer = solve_with_capacity(
                problem_at,
                p,
                capacity=B,
                capacity_price=G,
                tol=tol,
                max_iter=max_iter,
                callback=callback,
                time_limit=time_limit,
                solver="quasi_newton" if V is None else "auto",
                smallest=_SMALLEST * C,
                basis=V,
                owner=owner,
            )
        is_finite = bool(np.isfinite([answer.primal, answer.capacity]).all())
    except np.linalg.LinAlgError:  # of infinite entries
        is_finite = False
    if not is_finite:
        raise ValueError(explain_overflow(p, 1.0 if G is None else G))
    return answer
