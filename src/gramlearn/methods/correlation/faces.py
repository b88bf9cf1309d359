"""Z_BB v = 0 gives Z v = 0: what fixed entries leave of the cone, Z = U Y U' with Y positive semidefinite.

Where all entries among some rows B are fixed and v is in the kernel of their block, v'Zv = 0, so Z v = 0 for
every feasible Z. None is positive definite then, and the multipliers of an optimum may run off to infinity.
With U a basis of what is orthogonal to all such v the cone is that of Y, which has an interior again (facial
reduction; Drusvyatskiy and Wolkowicz, 2017). Of multipliers S, U'SU is positive semidefinite, no more.

Column k of Z v = 0 may tell entries that were not fixed: with rows 0 and 1 equal, Z_1k is Z_0k. So more blocks
are known, and kernels of these are found in the next round.

Numbers are rounded, and rho = <sum vv', Z> is only nearly zero. Then the length of Z N, for an orthonormal
basis N of all v, is about (n d rho)^1/2, and <S, Z> may be as low as -`slack`.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from gramlearn._base.arrays import Array, as_real, clipped, eye, namespace, read, to_numpy
from gramlearn._base.matrices import eigh, transpose
from gramlearn.graphs.cliques import find_cliques, list_neighbors
from gramlearn.methods.correlation.entries import ROUNDINGS, Entries

_EPS = float(np.finfo(np.float64).eps)
ROUNDING = 1e4 * _EPS  # eigenvalues of a fixed block up to this are zero
_INDEPENDENT = (
    1e-3  # directions nearer to each other than this are one: their difference would be rounding
)
_DETERMINED = 1e-6
_CONTRADICTION = 1e-6  # an eigenvalue that implied entries do not have by rounding


@final
@dataclass(frozen=True, eq=False)
class Face:
    """The face of the cone that fixed entries leave.

    Attributes
    ----------
    basis, normal : arrays n x r and n x q
        U and N, together orthogonal: Z N = 0.
    exposing : array n x n
        sum vv', with the range of N.
    least : float
        Its least eigenvalue on that range.
    rest : float
        At most what tr N'ZN is, by the rounding of the fixed entries.
    diagonal : float
        d.
    """

    basis: Array
    normal: Array
    exposing: Array
    least: float
    rest: float
    diagonal: float

    def slack(self, S: Array) -> float:
        """By how much <S, Z> may be below zero, where U'SU is positive semidefinite."""
        xp, n = namespace(S), int(S.shape[0])
        across = read(xp.linalg.vector_norm(transpose(self.basis) @ S @ self.normal))
        inside = read(xp.linalg.vector_norm(transpose(self.normal) @ S @ self.normal))
        return 2 * across * (n * self.diagonal * self.rest) ** 0.5 + inside * self.rest

    def semidefinite(self, S: Array, spare: float) -> Array:
        """S with as much more of `exposing` as makes it positive semidefinite, for `spare` of <S, Z>."""
        xp, n = namespace(S), int(S.shape[0])
        more = spare / (n * self.diagonal)
        across = read(xp.linalg.vector_norm(transpose(self.basis) @ S @ self.normal))
        inside = read(xp.linalg.vector_norm(transpose(self.normal) @ S @ self.normal))
        price = (across**2 / more + inside) / self.least
        s, U = eigh(S + more * eye(n, S) + price * self.exposing)
        return (U * clipped(s, low=0.0)) @ transpose(U)


@final
@dataclass(frozen=True, eq=False)
class IndefiniteBlock:
    """Rows whose entries are all fixed, so that v'Zv is the eigenvalue, which is negative."""

    rows: tuple[int, ...]
    eigenvalue: float
    proof: Array  # vv'


def find_face(entries: Entries) -> Face | IndefiniteBlock | None:
    """The face in which every feasible matrix lies, or why there is none; None where it is the whole cone."""
    lower, n, d = to_numpy(entries.lower), entries.n, entries.diagonal
    known = lower == to_numpy(entries.upper)
    if not d > 0 or int(known.sum()) == n:
        return None
    Z = np.where(known, lower, 0.0)
    blocks = _kernels(Z, known)
    rows, least, _ = min(blocks, key=lambda block: block[1])
    rounding = max(ROUNDING, ROUNDINGS * n * len(rows) * _EPS)
    if least < -rounding:
        return _indefinite(Z, rows, min(least / 2, -rounding), entries)
    while True:
        relations = _columns(blocks, n)
        basis, normal, least = _split(relations)
        if not normal.shape[1] or not basis.shape[1]:
            return None
        if not _imply(Z, known, normal, d):
            break
        blocks = _kernels(Z, known)
        if min(least for _, least, _ in blocks) < -_CONTRADICTION:
            return None  # the search will find the proof
    rho = float(np.sum(relations * (Z @ relations)))
    rounding = ROUNDINGS * _EPS * float(np.sum(np.abs(relations) * (np.abs(Z) @ np.abs(relations))))
    like = entries.lower
    return Face(
        as_real(basis, like),
        as_real(normal, like),
        as_real(relations @ relations.T, like),
        least,
        (max(rho, 0.0) + rounding) / least,
        d,
    )


Block = tuple[
    np.ndarray, float, np.ndarray
]  # rows, the least eigenvalue, and columns v of its kernel


def _kernels(Z: np.ndarray, known: np.ndarray) -> list[Block]:
    """The cliques of what is known, each with its kernel."""
    cliques = [
        sorted(c) for c in find_cliques(list_neighbors(len(Z), *np.nonzero(np.triu(known, 1))))
    ]
    blocks = []
    for size in sorted({len(clique) for clique in cliques}):
        rows = np.array([clique for clique in cliques if len(clique) == size])
        z, V = np.linalg.eigh(Z[rows[:, :, None], rows[:, None, :]])
        blocks += [(r, e[0], v[:, e <= ROUNDING]) for r, e, v in zip(rows, z, V, strict=True)]
    return blocks


def _columns(blocks: list[Block], n: int) -> np.ndarray:
    """All v, one a column."""
    relations = np.zeros((n, sum(v.shape[1] for _, _, v in blocks)))
    at = 0
    for rows, _, v in blocks:
        relations[rows, at : at + v.shape[1]] = v
        at += v.shape[1]
    return relations


def _split(relations: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """U, N, and the square of the least length that N keeps of the relations."""
    if not relations.shape[1]:
        return np.eye(len(relations)), relations, 1.0
    V, s, _ = np.linalg.svd(relations, full_matrices=True)
    q = int(np.sum(s > _INDEPENDENT * s[0]))
    return V[:, q:], V[:, :q], float(s[q - 1] ** 2)


def _imply(Z: np.ndarray, known: np.ndarray, normal: np.ndarray, d: float) -> bool:
    """Write down the entries that N'Z = 0 tells, column by column; whether there were any."""
    support = np.flatnonzero(np.any(np.abs(normal) > _EPS, axis=1))
    N, found = normal[support], False
    for k in range(len(Z)):
        is_known = known[support, k]
        if is_known.all() or not is_known.any():
            continue
        P, s, V = np.linalg.svd(N[~is_known].T, full_matrices=True)
        q = int(np.sum(s > _INDEPENDENT))
        right = -P[:, :q].T @ (N[is_known].T @ Z[support[is_known], k])
        is_told = np.all(np.abs(V[q:]) <= _DETERMINED, axis=0)
        rows = support[~is_known][is_told]
        values = (V[:q].T @ (right / s[:q]))[is_told]
        Z[rows, k] = Z[k, rows] = np.clip(values, -d, d)
        known[rows, k] = known[k, rows] = True
        found = found or len(rows) > 0
    return found


def _indefinite(
    Z: np.ndarray, rows: np.ndarray, enough: float, entries: Entries
) -> IndefiniteBlock:
    """As few of the rows as have an eigenvalue below `enough` still."""

    def least(some: np.ndarray) -> float:
        return float(np.linalg.eigvalsh(Z[np.ix_(some, some)])[0])

    weight = np.abs(np.linalg.eigh(Z[np.ix_(rows, rows)])[1][:, 0])
    for row in rows[np.argsort(weight, kind="stable")]:
        fewer = rows[rows != row]
        if len(fewer) > 1 and least(fewer) < enough:
            rows = fewer
    z, V = np.linalg.eigh(Z[np.ix_(rows, rows)])
    v = np.zeros(len(Z))
    v[rows] = V[:, 0]
    proof = as_real(np.outer(v, v), entries.lower)
    return IndefiniteBlock(tuple(rows.tolist()), float(z[0]), proof)
