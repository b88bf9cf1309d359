"""I(answer; f) = H(E p(f)) - E H(p(f)), f normal: how many bits the answer to a question tells of the metric.

p(f) are the chances of the answers: the logistic curve of one number for a question with two answers, and
exp(f_k) / sum_l exp(f_l) for one with three.
"""

from abc import ABC, abstractmethod
from functools import cache
from typing import final

import numpy as np
from scipy.special import entr, expit, ndtr

_PROBIT = np.pi / 8  # expit(x) is nearly ndtr(sqrt(pi / 8) x)
_WIDTH = np.pi * np.log(2) / 2  # the entropy of ndtr(x), in bits, is nearly exp(-x^2 / (2 _WIDTH))
_RADII, _ANGLES = 5, 12  # of the quadrature: 60 nodes


class Answers(ABC):
    """The answers that a question has; `mean` is m x g, `covariance` m x g x g."""

    @abstractmethod
    def information(self, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """In bits; m numbers."""

    @abstractmethod
    def curvature_root(self, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """B, g x g, with B B' = the second derivative of -log p of one question at its expected chances."""


@final
class TwoAnswers(Answers):
    """Alike or not; nearer to the one or to the other."""

    def information(self, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """In closed form, for the probit that is nearest to the logistic curve (Houlsby and others, 2011)."""
        square, spread = _PROBIT * mean[:, 0] ** 2, _PROBIT * np.maximum(covariance[:, 0, 0], 0.0)
        chance = ndtr(np.sqrt(square / (1 + spread)))
        within = np.sqrt(_WIDTH / (spread + _WIDTH)) * np.exp(-square / (2 * (spread + _WIDTH)))
        return _bits(np.stack([chance, 1 - chance], axis=1)) - within

    def curvature_root(self, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        spread = _PROBIT * max(covariance[0, 0], 0.0)
        chance = expit(mean / np.sqrt(1 + spread))
        return np.sqrt(chance * (1 - chance))[:, None]


@final
class ThreeAnswers(Answers):
    """Which of three is the odd one out: f_k = -w d^2 of the two others."""

    def information(self, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        """By quadrature in the plane of differences, which is the same in whatever order the three are."""
        nodes, weights = _rings()
        across = np.eye(3) - 1 / 3  # what is common to all three makes no difference
        size, axes = np.linalg.eigh(across @ covariance @ across)
        root = (axes * np.sqrt(np.maximum(size, 0.0))[:, None, :]) @ np.swapaxes(axes, 1, 2)
        chances = _shares(mean[:, None, :] + nodes @ root)
        return _bits(np.einsum("s,msk->mk", weights, chances)) - _bits(chances) @ weights

    def curvature_root(self, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        # diag(p) - p p' = D (I - u u') D with D = diag(sqrt p), u = sqrt p, and I - u u' is a projection.
        root = np.sqrt(_shares(mean))
        return root[:, None] * (np.eye(len(root)) - np.outer(root, root))


@cache
def _rings() -> tuple[np.ndarray, np.ndarray]:
    """Nodes s x 3 with sum 0, and weights: of a standard normal vector in that plane, by rings.

    Half its squared length is exponential, so that the radii are those of Gauss and Laguerre. Twelve angles
    from an axis on are the same after any exchange of the three.
    """
    halves, weights = np.polynomial.laguerre.laggauss(_RADII)
    angles = 2 * np.pi * np.arange(_ANGLES) / _ANGLES
    circle = np.sqrt(2 / 3) * np.cos(angles[:, None] + 2 * np.pi * np.arange(3) / 3)
    nodes = np.sqrt(2 * halves)[:, None, None] * circle
    return nodes.reshape(-1, 3), np.repeat(weights / _ANGLES, _ANGLES)


def _shares(odds: np.ndarray) -> np.ndarray:
    """exp(f_k) / sum_l exp(f_l)."""
    powers = np.exp(odds - odds.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _bits(chances: np.ndarray) -> np.ndarray:
    return np.asarray(entr(chances).sum(axis=-1) / np.log(2))
