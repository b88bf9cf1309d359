"""W <- argmin D(W, W_t) + eta/2 dist(z'Wz, [lower, upper])^2: one step of a metric that follows a stream.

With LogDet the step has a closed form (Jain, Kulis, Dhillon and Grauman, 2008). A pair in its interval changes
nothing. Else let y be the end next to p = z'W_t z: the new squared distance is the positive root s of
eta p s^2 + (1 - eta y p) s - p = 0, which lies between p and y, and

    W_(t+1) = W_t - beta W_t z z' W_t,    beta = eta (s - y) / (1 + eta (s - y) p) = (1 - s/p) / p

which is positive definite whatever eta is. It is done on a factor, W = A'A, so that rounding cannot make it
indefinite and features may differ in units by as much as numbers do: with u = A z and p = u'u,

    A_(t+1) = A_t - (1 - sqrt(s/p)) / p  u u' A_t

A rate that nobody chose comes from the stream, after Campolongo and Orabona (2020): what step i gained is

    delta_i = loss(W_i) - loss(W_(i+1)) - D(W_(i+1), W_i) / eta_i  >=  0

and eta_t = 9 / (p_t^2 + sum_(i<t) min(delta_i, size_i^2)), where size is the mean so far of the far ends of the
intervals; for judgments without bounds, of the lower bound. All is in units of squared distances, so that in
other units the steps are the same. Where losses go to zero the sum stays bounded, and steps stay long; under
noise it grows, and they shrink. p_t^2 keeps a first step from collapsing a direction. The minimum keeps the
first pairs, whose distances under a prior in other units may be any number, from slowing down what comes after.
The 9 was chosen on eleven of the twelve sets by which benchmarks/scripts/online_rates.py judges the rule.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self, final

import numpy as np

from gramlearn._base.arrays import Array, read

_REACH = 9.0  # 1 / eta is a ninth of the sum
_DEVIATIONS = 1.645  # of a normal law to its 5th and 95th percentile


class Interval(NamedTuple):
    """lower <= z'Wz <= upper in squared distances, the size of such, and what the loss is multiplied by."""

    lower: float
    upper: float
    size: float
    weight: float

    def nearest(self, p: float) -> float:
        """The number in the interval that is next to p."""
        return min(max(p, self.lower), self.upper)

    def loss(self, p: float) -> float:
        """Half the squared distance from p to the interval, times the weight."""
        off = p - self.nearest(p)
        return self.weight * off * off / 2


@final
@dataclass(frozen=True)
class Spread:
    """Percentiles of squared distances, from the mean and the variance of their cube roots alone.

    Cube roots of squared distances of normal points are nearly normal (Wilson and Hilferty, 1931), one pair of
    equal points or one far away moves them little, and other units multiply the percentiles as they should.
    """

    count: int = 0
    mean: float = 0.0
    scatter: float = 0.0  # the sum of squares about the mean

    def including(self, squared: float) -> "Spread":
        """With one more squared distance."""
        root, count = math.cbrt(squared), self.count + 1
        mean = self.mean + (root - self.mean) / count
        return Spread(count, mean, self.scatter + (root - self.mean) * (root - mean))

    @property
    def bounds(self) -> tuple[float, float]:
        """(upper, lower): about the 5th and the 95th percentile, at least 0."""
        deviation = _DEVIATIONS * math.sqrt(self.scatter / max(self.count, 1))
        low, high = max(self.mean - deviation, 0.0), self.mean + deviation
        return low * low * low, high * high * high


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """What a stream asks of its pairs: intervals, in which NaN is the bound that `Spread` has by then."""

    lower: np.ndarray
    upper: np.ndarray
    weights: np.ndarray

    @classmethod
    def of_targets(cls, y: np.ndarray) -> Self:
        """z'Wz = y."""
        return cls(y, y, np.ones(len(y)))

    @classmethod
    def of_judgments(
        cls,
        alike: np.ndarray,
        upper: np.ndarray | float = math.nan,
        lower: np.ndarray | float = math.nan,
        weights: np.ndarray | float = 1.0,
    ) -> Self:
        """At most `upper` for pairs that are alike, at least `lower` for the others."""
        every = np.ones(len(alike))
        return cls(np.where(alike, 0.0, lower), np.where(alike, upper, np.inf), weights * every)

    def interval(self, k: int, spread: Spread) -> Interval:
        """Of pair k, once its squared distance under the prior is counted in."""
        lower, upper = float(self.lower[k]), float(self.upper[k])
        size = upper if math.isfinite(upper) else lower
        if math.isnan(lower) or math.isnan(upper):
            near, far = spread.bounds
            lower, upper, size = far if lower != 0 else 0.0, near if lower == 0 else upper, far
        return Interval(lower, upper, size, float(self.weights[k]))

    @property
    def kinds(self) -> np.ndarray:
        """1 for pairs that are called near, -1 for those called far, and 0 for what says neither."""
        is_near = (self.lower == 0) & (self.upper != 0) & (self.upper != np.inf)
        is_far = (self.lower != 0) & (self.upper == np.inf)
        return is_near.astype(int) - is_far.astype(int)

    def taken(self, order: np.ndarray) -> "Asked":
        """The same in another order."""
        return Asked(self.lower[order], self.upper[order], self.weights[order])


@final
@dataclass(frozen=True, eq=False)
class OnlineMetric:
    """W = A'A, and what its rate comes from: the mean and the root of the sum in the formula above."""

    factor: Array
    spread: Spread = Spread()
    size: float = 0.0
    gained: float = 0.0

    def updated(
        self, z: Array, under_prior: float, asked: Asked, k: int, eta: float | None
    ) -> tuple["OnlineMetric", float, float]:
        """The metric after pair k of `asked`, and its squared distance and its loss before it.

        `under_prior` is the squared distance of the pair under the prior; an eta of None comes from the stream.
        """
        spread = self.spread.including(under_prior)
        interval = asked.interval(k, spread)
        size = self.size + (interval.size - self.size) / spread.count
        u = self.factor @ z
        p = read(u @ u)
        y, weight = interval.nearest(p), interval.weight
        A, gained = self.factor, self.gained
        # In units of p no power leaves the range of numbers. Points that are equal to the metric teach nothing.
        if p > 0 and y != p and math.isfinite(y / p):
            share = gained / p
            rate = _REACH / (weight + share * share) if eta is None else eta * p * p
            ratio = new_squared_distance(1.0, y / p, weight * rate)
            gain = math.sqrt(_gain(ratio, y / p, weight, rate)) if rate > 0 else 0.0
            gained = math.hypot(gained, min(p * gain, math.sqrt(weight) * size))
            v = u / math.sqrt(p)
            A = A - ((1 - math.sqrt(ratio)) * v)[:, None] * (v @ A)[None, :]
        return OnlineMetric(A, spread, size, gained), p, interval.loss(p)


def new_squared_distance(p: float, y: float, eta: float) -> float:
    """The s > 0 with 1/s - 1/p = eta (s - y): the squared distance after the step, between p and y."""
    b = eta * y * p - 1
    root = math.hypot(b, 2 * eta**0.5 * p)
    # The sum that cancels nothing.
    return (b + root) / (2 * eta * p) if b > 0 else 2 * p / (root - b)


def _gain(ratio: float, y: float, weight: float, rate: float) -> float:
    """The delta of a step from 1 to `ratio` toward y; D is that of metrics which differ in one direction."""
    change = ratio - 1
    divergence = change - math.log1p(change)
    return max(weight * change * (2 * y - 1 - ratio) / 2 - divergence / rate, 0.0)
