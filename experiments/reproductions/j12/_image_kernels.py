"""Four kernels of 16 x 16 images, after those of J12 6.3, and their average; k(x, x) = 1 for each.

    histogram    sum_b min(h_b(x), h_b(y)), h the orientations of edges in the image    (pyramid match)
    pyramid      the same in 1, 4 and 16 cells, weighted 1/4, 1/4 and 1/2               (spatial pyramid match)
    blur 1, 2    cosines of edges of each orientation, blurred by 1 and by 2 pixels     (geometric blur)

They stand in for kernels of photographs: simpler, as the images are.
"""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.ndimage import gaussian_filter

_SIDE = 16
_ORIENTATIONS = 8


def _edges(X: np.ndarray) -> np.ndarray:
    """n x orientations x 16 x 16: lengths of gradients, shared out between the two nearest orientations."""
    images = X.reshape(-1, _SIDE, _SIDE)
    down, right = np.gradient(images, axis=1), np.gradient(images, axis=2)
    place = (np.arctan2(down, right) / (2 * np.pi) % 1.0) * _ORIENTATIONS
    steps = np.abs(place[:, None] - np.arange(_ORIENTATIONS)[:, None, None])
    steps = np.minimum(steps, _ORIENTATIONS - steps)
    return np.asarray(np.maximum(1 - steps, 0) * np.hypot(down, right)[:, None])


def _cells(edges: np.ndarray, count: int) -> np.ndarray:
    """Sums over count x count cells, one row an image."""
    n, size = len(edges), _SIDE // count
    return edges.reshape(n, _ORIENTATIONS, count, size, count, size).sum(axis=(3, 5)).reshape(n, -1)


def _intersection(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return sum(np.minimum(a[:, None], b) for a, b in zip(A.T, B.T, strict=True))


def _histogram(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return _intersection(_cells(A, 1), _cells(B, 1))


def _pyramid(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    levels = {1: 0.25, 2: 0.25, 4: 0.5}
    return sum(w * _intersection(_cells(A, c), _cells(B, c)) for c, w in levels.items())


def _blur(sigma: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        first, second = (
            gaussian_filter(E, (0, 0, sigma, sigma)).reshape(len(E), -1) for E in (A, B)
        )
        return np.asarray(first @ second.T)

    return kernel


def _self(kernel: Callable[[np.ndarray, np.ndarray], np.ndarray], edges: np.ndarray) -> np.ndarray:
    return np.array([kernel(one[None], one[None])[0, 0] for one in edges])


_FOUR: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "histogram": _histogram,
    "pyramid": _pyramid,
    "blur 1": _blur(1.0),
    "blur 2": _blur(2.0),
}
KERNELS = (*_FOUR, "sum")


def kernel_between(X: np.ndarray, Y: np.ndarray) -> dict[str, np.ndarray]:
    """All k(x, y) of each kernel, and of their average."""
    A, B = _edges(X), _edges(Y)
    found = {}
    for name, kernel in _FOUR.items():
        lengths = np.sqrt(_self(kernel, A)[:, None] * _self(kernel, B))
        found[name] = kernel(A, B) / lengths
    return {**found, "sum": sum(found.values()) / len(_FOUR)}
