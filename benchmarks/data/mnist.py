"""The first r principal components of the 60,000 training digits of MNIST, pixels between 0 and 1.

Read from `mnist.npz` in the folder that the environment variable GRAMLEARN_DATA names: X of shape
60000 x 784, y of length 60000. The components are those of all digits; n of them are then drawn.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from tools.environments import UnavailableError

from benchmarks.data._draw import Draw
from benchmarks.instance import Spec

__all__ = ["points"]


def points(spec: Spec, draw: Draw) -> tuple[Any, Any]:
    """Points and their digits."""
    X, y = _read()
    if spec.n > X.shape[0] or spec.r > X.shape[1]:
        raise ValueError(
            f"MNIST has {X.shape[0]} digits of {X.shape[1]} pixels; {spec.n} points of rank "
            f"{spec.r} cannot be drawn from it."
        )
    rows = np.sort(np.random.default_rng(spec.seed).permutation(X.shape[0])[: spec.n])
    centered = X / 255.0
    centered -= centered.mean(axis=0)
    _, directions = np.linalg.eigh(centered.T @ centered)
    components = centered[rows] @ directions[:, ::-1][:, : spec.r]
    return draw.array(components), draw.array(y[rows].astype(np.int64))


def _read() -> tuple[np.ndarray, np.ndarray]:
    folder = os.environ.get("GRAMLEARN_DATA")
    if not folder:
        raise UnavailableError(
            "GRAMLEARN_DATA is not set; let it name a folder with mnist.npz (X 60000 x 784, y)"
        )
    path = Path(folder) / "mnist.npz"
    if not path.exists():
        raise UnavailableError(f"{path} does not exist; GRAMLEARN_DATA must name its folder")
    with np.load(path) as file:
        return file["X"], file["y"]
