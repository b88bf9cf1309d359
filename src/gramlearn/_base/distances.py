"""|p_i - p_j|^2 of pairs of rows, of a dense array of any library or of a sparse matrix."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from gramlearn._base.arrays import (
    Array,
    as_index,
    as_real,
    chunks,
    constant,
    is_numpy,
    machine_eps,
    namespace,
    read,
    scatter,
    where_true,
)
from gramlearn._base.pair_norms import pair_squared_norms
from gramlearn._base.points import centered

_ROWS = 50_000  # pairs of sparse rows at a time
_ROUNDING = 64 * float(np.finfo(float).eps)  # of differences of points, relative to the points


def squared_distances(points: Any, i: Any, j: Any) -> Array:
    """|p_i - p_j|^2 for each pair; the differences of all pairs are never stored."""
    points = _in_floating_point(points)
    if issparse(points):
        parts = [np.zeros(0)]
        for start in range(0, len(i), _ROWS):
            some = slice(start, start + _ROWS)
            differences = points[i[some]] - points[j[some]]
            parts.append(np.asarray(differences.multiply(differences).sum(axis=1)).reshape(-1))
        return np.concatenate(parts)
    return pair_squared_norms(points, as_index(i, points), as_index(j, points), -1)


def _in_floating_point(points: Any) -> Any:
    """The points as they are, or in double precision where they are whole numbers or truth values."""
    if issparse(points):
        return points if points.dtype.kind == "f" else points.astype(float)
    xp = namespace(points)
    return points if points.dtype in (xp.float32, xp.float64) else as_real(points)


def powers_between(A: Array, B: Array, power: int) -> Array:
    """sum_f |a_f - b_f|^power for each row a of A and b of B: by differences, so that no digits cancel."""
    if is_numpy(A):
        return cdist(A, B, {1: "cityblock", 2: "sqeuclidean"}[power])
    xp, parts = namespace(A), []
    for rows in chunks(A.shape[0], B.shape[0] * B.shape[1], A):
        off = A[rows, None, :] - B[None, :, :]
        parts.append(xp.vecdot(off, off) if power == 2 else xp.sum(xp.abs(off), axis=2))
    return xp.concat(parts) if parts else constant(0.0, A, (0, B.shape[0]))


def along_line(points: Any) -> tuple[Array, float]:
    """(the place of each row of floats along a line, by how much two places may be too far apart by rounding).

    Rows are no farther apart along any line than they are, so that few pairs are left to be measured.
    """
    r = int(points.shape[1])
    values = points.data if issparse(points) else points
    line = np.random.default_rng(0).standard_normal(r)
    line = as_real(line / np.linalg.norm(line), values)
    xp = namespace(values)
    # The absolute values would be a copy.
    ends = [read(xp.max(values)), -read(xp.min(values))] if values.shape[0] and r else []
    return points @ line, 2 * machine_eps(values) * r**1.5 * max(ends, default=0.0)


def within_reach(points: Any, i: Any, j: Any, reach: float) -> Array:
    """Whether the two rows of each pair are no farther apart than that."""
    points = _in_floating_point(points)
    places, rounding = along_line(points)
    i, j = as_index(i, places), as_index(j, places)
    xp = namespace(places)
    rows = where_true(xp.abs(xp.take(places, i) - xp.take(places, j)) <= reach + rounding)
    near = squared_distances(points, xp.take(i, rows), xp.take(j, rows)) <= reach**2
    return scatter(near, rows, int(i.shape[0]))


def equal_rows(points: Any, i: Any, j: Any) -> Array:
    """Whether the two rows of each pair are equal."""
    return within_reach(points, i, j, 0.0)


def coincide_under(X: Any, points: Array, root: Array | None, i: Any, j: Any) -> Array:
    """Whether points are equal under a metric, up to rounding: under A (`root`, points = X A')."""
    if root is None:
        return equal_rows(X, i, j)
    xp = namespace(X)
    rounding = rounding_under(xp.max(xp.abs(centered(X)), axis=0), root)
    return within_reach(points, i, j, rounding)


def rounding_under(sizes: Array, root: Array | None) -> float:
    """How far apart equal points may come out under A (`root`); they have entries of up to these sizes."""
    xp = namespace(sizes)
    sizes = sizes if root is None else sizes * xp.linalg.vector_norm(root, axis=0)
    return _ROUNDING * read(xp.linalg.vector_norm(sizes))
