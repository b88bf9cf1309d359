"""Real data: files in the folder that GRAMLEARN_DATA names, principal components, and one scale for all.

    components = (X - mean) V        the columns of V: the first r eigenvectors of (X - mean)' (X - mean)
    scaled     = points / sqrt(mean_k |p_k|^2)

Prices mean the same for all real data once the mean squared norm of the points is 1.
"""

import os
from pathlib import Path

import numpy as np
from tools.environments import UnavailableError

from benchmarks.instance import Spec

__all__ = ["choose_rows", "data_file", "principal_components", "scale_points"]


def data_file(name: str) -> Path:
    """The path of a file in the folder that the environment variable GRAMLEARN_DATA names."""
    folder = os.environ.get("GRAMLEARN_DATA")
    if not folder:
        raise UnavailableError(f"GRAMLEARN_DATA is not set; let it name a folder with {name}")
    path = Path(folder) / name
    if not path.exists():
        raise UnavailableError(f"{path} does not exist; GRAMLEARN_DATA must name its folder")
    return path


def principal_components(X: np.ndarray, r: int) -> np.ndarray:
    """X along its first r principal directions."""
    centered = X - X.mean(axis=0)
    _, directions = np.linalg.eigh(centered.T @ centered)
    return centered @ directions[:, ::-1][:, :r]


def choose_rows(spec: Spec, n: int, columns: int) -> np.ndarray:
    """spec.n of n rows, in their order, by the seed."""
    if spec.n > n or spec.r > columns:
        raise ValueError(
            f"{spec.data} has {n} points of {columns} columns; {spec.n} points of rank {spec.r} cannot be "
            "drawn from it."
        )
    return np.sort(np.random.default_rng(spec.seed).permutation(n)[: spec.n])


def scale_points(points: np.ndarray) -> np.ndarray:
    """The points in a unit in which their mean squared norm is 1."""
    return points / np.sqrt(np.mean(np.sum(points**2, axis=1)))
