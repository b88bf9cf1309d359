"""D_tp = K_p(x_i, x_j) - K_p(x_i, x_k): comparisons as a table, a row a comparison, a column a kernel.

Kernels are evaluated here first, so this is where NaN and kernels that are not symmetric are refused.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn._base.validation import check_either_way, check_indices
from gramlearn.kernels.kernel import Kernel
from gramlearn.side_information import Triplets
from gramlearn.side_information.triplets import check_triplets

_LOOKED_AT = 64  # points whose kernel values with each other must be the same either way
_ROUNDING = 1e-8


class ComparisonTable(NamedTuple):
    """D, what each row should be at least, and its price."""

    differences: np.ndarray
    margin: np.ndarray
    weight: np.ndarray


def compare(kernels: Sequence[Kernel], points: np.ndarray, triplets: Triplets) -> ComparisonTable:
    """The table of triplets, or of comparisons of two pairs."""
    check_triplets(triplets, "triplets", len(points))
    for kernel in kernels:
        _check_kernel(kernel, points[:_LOOKED_AT])
    i, j = (points[to_numpy(rows)] for rows in triplets.near_and_far()[:2])
    m = triplets.size  # what is near comes first, then what is far
    columns = [kernel.paired(i[:m], j[:m]) - kernel.paired(i[m:], j[m:]) for kernel in kernels]
    D = np.column_stack(columns)
    if not np.isfinite(D).all():
        words = kernels[int(np.argmin(np.isfinite(D).all(axis=0)))].words
        raise ValueError(f"the kernel {words} gave NaN or infinity; its values must be finite.")
    weight = 1.0 if triplets.weight is None else triplets.weight
    margin, weight = (
        np.broadcast_to(np.asarray(to_numpy(given), dtype=np.float64), m)
        for given in (triplets.margin_or_one, weight)
    )
    return ComparisonTable(D, margin, weight)


def read_rows(psd_points: Any, n_points: int) -> np.ndarray:
    """Row numbers of S, at least one."""
    rows = np.asarray(to_numpy(check_indices(psd_points, "psd_points", n_points)))
    if not rows.size:
        raise ValueError("`psd_points` is empty; pass at least one row number.")
    return rows


def read_groups(groups: Any, n_kernels: int) -> np.ndarray:
    """A number from 0 on for each kernel; each is a group of its own where none are given."""
    if groups is None:
        return np.arange(n_kernels)
    if np.shape(groups) != (n_kernels,):
        raise ValueError(
            f"`groups` has shape {np.shape(groups)}, but there are {n_kernels} kernels; pass one for each."
        )
    return np.unique(groups, return_inverse=True)[1].reshape(-1)


def _check_kernel(kernel: Kernel, points: np.ndarray) -> None:
    words = f"the kernel {kernel.words}"
    K = np.asarray(kernel(points, points))
    if K.shape != (len(points), len(points)) or not np.isfinite(K).all():
        raise ValueError(
            f"{words} gave an array of shape {K.shape}, or NaN or infinity in it, for {len(points)} points "
            "with each other; it must give a finite number for each two of them."
        )
    check_either_way(K, words, _ROUNDING)
