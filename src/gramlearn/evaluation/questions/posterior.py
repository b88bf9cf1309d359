"""f = o t + w sum_u s_u z_u' (I + E) z_u: the log-odds of answers, and what is not known of them.

E is an error of the learned metric, in its own coordinates: entries independent and normal, of standard
deviation SPREAD. t is the threshold, with an error of standard deviation 1. So all log-odds together are a
Gaussian process, with covariance (w SPREAD)^2 sum_uv s_u s_v (z_u . z_v)^2 + o o'. Laplace's approximation
takes a known answer for a measurement of its log-odds with variance 1 / (p (1 - p)).
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

SPREAD = 0.5
_RIDGE = 0.1  # on the two numbers of the curve, as so many answers at them
_LEAST = 0.05  # slope of the curve over the median distance: nearer is never less alike


@final
@dataclass(frozen=True)
class Statements:
    """f_g = o t + w sum_u signs_gu |z_u|^2 for m statements about p differences z_u each.

    Parameters
    ----------
    differences : array m x p x r
    signs : array g x p
    offset : float
        o: 1 where the threshold counts, and 0 where distances are compared with each other.
    """

    differences: np.ndarray
    signs: np.ndarray
    offset: float

    def __getitem__(self, rows: np.ndarray) -> "Statements":
        return Statements(self.differences[rows], self.signs, self.offset)

    @property
    def sizes(self) -> np.ndarray:
        """sum_u signs_gu |z_u|^2, m x g."""
        z = self.differences
        return np.asarray(np.vecdot(z, z) @ self.signs.T)

    def covariance(self, others: "Statements", slope: float) -> np.ndarray:
        """Between all f of these and all of the others, m g x n h, before any answer."""
        (m, p, r), (n, q, _) = self.differences.shape, others.differences.shape
        products = self.differences.reshape(-1, r) @ others.differences.reshape(-1, r).T
        squares = (products**2).reshape(m, p, n, q)
        joined = np.einsum("gu,munv,hv->mgnh", self.signs, squares, others.signs, optimize=True)
        rows, columns = m * len(self.signs), n * len(others.signs)
        found = (slope * SPREAD) ** 2 * joined.reshape(rows, columns)
        return np.asarray(found + self.offset * others.offset)

    def own_covariance(self, slope: float) -> np.ndarray:
        """Among the f of each statement, m x g x g, before any answer."""
        z = self.differences
        joined = np.einsum(
            "gu,muv,hv->mgh", self.signs, (z @ np.swapaxes(z, 1, 2)) ** 2, self.signs, optimize=True
        )
        return np.asarray((slope * SPREAD) ** 2 * joined + self.offset**2)


def fit_curve(known: Statements, agrees: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """(t, w) of the logistic curve p = expit(o t + w size) of known answers, with a ridge; t is 0 where o is.

    Sizes count in units of the median distance, where (1, 1) is what the ridge draws to.
    """
    z = known.differences
    unit = float(np.median(np.vecdot(z, z))) or 1.0
    sizes, sign = known.sizes[:, 0] / unit, np.where(agrees, 1.0, -1.0)

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        odds = sign * (known.offset * x[0] + x[1] * sizes)
        pull = -weights * sign * expit(-odds)
        slopes = np.array([known.offset * pull.sum(), pull @ sizes])
        loss = weights @ np.logaddexp(0.0, -odds) + _RIDGE / 2 * np.sum((x - 1) ** 2)
        return float(loss), slopes + _RIDGE * (x - 1)

    bounds = [(None, None), (_LEAST, None)]
    found = minimize(value, np.ones(2), jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12)
    return known.offset * float(found.x[0]), float(found.x[1]) / unit


@final
class Posterior:
    """The covariance of the f of statements, given answers; those that are chosen are added one by one.

    `covariance` is m x g x g, that among the f of each statement.
    """

    def __init__(
        self, statements: Statements, known: Statements, curvature: np.ndarray, slope: float
    ) -> None:
        """`known` have one f each, and -log p of its answer the second derivative `curvature`."""
        self.covariance = statements.own_covariance(slope)
        self._statements, self._slope = statements, slope
        root = np.sqrt(curvature)[:, None]
        measured = np.eye(len(root)) + root * known.covariance(known, slope) * root.T
        self._seen = [
            solve_triangular(
                cholesky(measured, lower=True),
                root * known.covariance(statements, slope),
                lower=True,
            )
        ]
        self._forget(self._seen[0])

    def add(self, k: int, root: np.ndarray) -> None:
        """As if statement k had an answer, whose -log p has the second derivative root root'."""
        g = self.covariance.shape[1]
        here = slice(k * g, (k + 1) * g)
        one = self._statements[np.array([k])]
        across = one.covariance(self._statements, self._slope)
        for seen in self._seen:
            across -= seen[:, here].T @ seen
        noisy = np.eye(g) + root.T @ self.covariance[k] @ root
        gained = solve_triangular(cholesky(noisy, lower=True), root.T @ across, lower=True)
        self._seen.append(gained)
        self._forget(gained)

    def _forget(self, seen: np.ndarray) -> None:
        m, g, _ = self.covariance.shape
        each = seen.reshape(len(seen), m, g)
        self.covariance -= np.einsum("smg,smh->mgh", each, each, optimize=True)
