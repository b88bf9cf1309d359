"""W = A'A, or the W that is learned from statements about near points, at a price, from such a prior.

    identity          A = I: the plain distance, which is the first candidate always
    standardized      A = diag(1 / s), with s the standard deviations of the coordinates
    inverse_within    A'A = S^-1, with S the covariance of differences between points that are alike, shrunk
                      toward that of uncorrelated features as if it had been seen k times as well, k the number
                      of coordinates

The last two are scaled so that distances are as large on average as plain ones. Few columns of the last are
the discriminant directions of Fisher: where alike points have the covariance I, the directions in which points
vary most are those in which classes differ most.

A price is given in units that make rescaled points the same problem: D(M, I) + s k mean(loss), with distances
in units of those to points that are unlike.

What was learned may be mixed with the prior, (1 - q) M + q t I, with t so that a share q of the squared
distances is the prior's, on average. Statements tell nothing of groups that they are not about. These need not
be told apart by the same directions, and a share of the prior keeps the others from being shrunk to nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import Array, constant, namespace, read, to_numpy
from gramlearn._base.points import centered
from gramlearn.methods.choosing.places import Places, times
from gramlearn.methods.metric.maps import column_variances, principal_directions
from gramlearn.problem.losses.bounded import PricedLoss

_ALIKE = 1.5  # a ratio of variances
PRIORS = ("identity", "standardized", "inverse_within")


@final
@dataclass(frozen=True)
class Candidate:
    """A prior, what is learned beyond it at what strength, how many columns are kept (None for all), and q."""

    prior: str
    statements: str | None = None  # "neighbors", "others", "given"; None where nothing is learned
    strength: float | None = None
    n_components: int | None = None
    prior_share: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Whether it is the distance that there was before."""
        return self == PLAIN


PLAIN = Candidate("identity")


@final
@dataclass(frozen=True)
class Family:
    """Candidates that differ in their strength alone, and are solved one after the other."""

    prior: str
    statements: str | None = None
    strengths: Sequence[float] = ()
    n_components: int | None = None
    prior_share: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Whether it is the distance that there was before."""
        return list(self) == [PLAIN]

    @property
    def is_whole(self) -> bool:
        """Whether all columns are kept."""
        return self.n_components is None

    def __iter__(self) -> Iterator[Candidate]:
        strengths: Sequence[float | None] = self.strengths if self.statements else (None,)
        for strength in strengths:
            yield Candidate(
                self.prior, self.statements, strength, self.n_components, self.prior_share
            )


def prior_root(name: str, places: Places, differences: Array) -> np.ndarray:
    """A of W0 = A'A, k x k, by the name of the prior; a row of `differences` is one between alike points.

    It is in host memory; sums over points are formed where these are.
    """
    k = places.n_directions
    if name == "identity":
        return np.eye(k)
    # A feature that does not vary tells nothing of how far points lie apart.
    varies, P = places.varies, places.coordinates
    xp = namespace(P)
    if name == "inverse_within":
        differs = to_numpy(xp.any(differences != 0, axis=0))
        if not np.any(differs & varies):
            return np.eye(k)
    unit = np.zeros(k)
    if places.n_points > 1:
        unit = to_numpy(xp.std(P, axis=0, correction=1))
    if name == "standardized":
        A = np.diag(varies / np.where(varies, unit, 1.0))
        return np.asarray(A * _ratio(places, A))
    S, n = to_numpy(differences.T @ differences), int(differences.shape[0])
    # A feature in which alike points never differ counts as one whose variance was seen k times only.
    share = (np.diagonal(S) + unit**2) / (n + 1)
    S = (S + k * np.diag(share)) / (n + k)
    scale = np.sqrt(np.where(varies, np.diagonal(S), 1.0))
    correlations = np.where(np.outer(varies, varies), S / np.outer(scale, scale), np.eye(k))
    s, V = np.linalg.eigh(correlations)
    A = (V / np.sqrt(s)).T / scale
    A = A * varies
    return np.asarray(A * _ratio(places, A))


def is_standardized(places: Places) -> bool:
    """Whether the features vary about as much as each other, so that standardizing them changes little."""
    variances = to_numpy(column_variances(places.coordinates))[places.varies]
    return bool(variances.size == 0 or variances.max() <= _ALIKE * variances.min())


def _ratio(places: Places, A: np.ndarray) -> float:
    """By what to multiply p A', so that distances are as large on average as those of p."""
    off = centered(places.coordinates)
    xp = namespace(off)
    moved = read(xp.sum(times(off, A.T) ** 2))
    return float(np.sqrt(read(xp.sum(off**2)) / moved)) if moved > 0 else 1.0


def keep_leading(F: np.ndarray, places: Places, count: int | None) -> np.ndarray:
    """F with as many columns, those in which the points p F vary most; all of them for None."""
    if count is None or count >= F.shape[1]:
        return F
    return np.asarray(F @ principal_directions(places.coordinates @ F, count).T)


def mix_with_prior(F: Array, places: Places, share: float) -> Array:
    """Root of (1 - q) F F' + q t I, where points as the prior sees them lie as far apart as under F F'."""
    xp = namespace(F)
    spread = _spread(places.coordinates)
    if share == 0.0 or spread == 0:
        return F
    t = _spread(times(places.coordinates, F)) / spread
    if F.ndim == 1:
        return xp.sqrt((1 - share) * F**2 + share * t)
    # With the singular values s of F: all directions beyond its columns have s = 0.
    U, s, _ = xp.linalg.svd(F, full_matrices=True)
    rest = constant(0.0, s, F.shape[0] - s.shape[0])
    squares = xp.concat([s**2, rest])
    return U * xp.sqrt((1 - share) * squares + share * t)


def _spread(P: Any) -> float:
    """The sum of the variances of the coordinates."""
    variances = column_variances(P)
    return read(namespace(variances).sum(variances))


def price_at_strength_one(loss: PricedLoss, n_directions: int, weight: float, unit: float) -> float:
    """C of s k mean(loss) at s = 1: k / (weight unit^p), of a loss that grows by 2^p with doubled distances.

    `weight` is that of all statements together, and `unit` a squared distance.
    """
    return float(n_directions / (weight * unit ** _degree(loss)))


def _degree(loss: PricedLoss) -> float:
    """p of a loss that grows by 2^p where distances and bounds are doubled."""
    side = "equal" if loss.needs_target else "upper"
    once, twice = (
        float(replace(loss, **{side: b}).value(np.asarray([2 * b]))[0]) for b in (1.0, 2.0)
    )
    return float(np.round(np.log2(twice / once)))
