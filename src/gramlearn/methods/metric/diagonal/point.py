"""w > 0 with z > 0, and lam inside its box with its multipliers: where a step on weights starts.

On the central path

    h'(w) - z - h'(w0) + A'lam = 0        w z = mu        s = t + u - v = loss*'(lam)

as for a matrix (`solvers/interior_point/step`), feature by feature. Where h is -log itself it is left out, and
w z = 1 + mu.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from gramlearn.methods.metric.diagonal.problem import Sums, WeightProblem, certify
from gramlearn.problem.certificate import Certificate
from gramlearn.solvers.interior_point.prices import (
    InsidePrices,
    central_prices,
    inside_domain,
)

_SHARE = 0.1  # the least share of the residual that the multiplier of w starts with
_UNEVEN = 100.0  # how many times larger than that of the prices the mean product may be


@final
@dataclass(frozen=True, eq=False)
class InsideWeights(InsidePrices):
    """w and z, both positive, and prices inside their box."""

    dual: WeightProblem
    w: np.ndarray
    z: np.ndarray

    @cached_property
    def sums(self) -> Sums:
        """t and A'lam."""
        return Sums.of(self.dual.differences, self.w, self.lam)

    @cached_property
    def certified(self) -> tuple[Certificate, np.ndarray]:
        """The certificate, and the duals it is for."""
        return certify(self.dual, self.w, self.lam, self.sums)

    @property
    def barrier_offset(self) -> float:
        """What is added to mu in w z = mu: 1 where h is the barrier itself."""
        return float(self.dual.regularizer.is_own_barrier)

    @cached_property
    def residual(self) -> np.ndarray:
        """h'(w) - h'(w0) + A'lam, which z is to be; without h'(w) where that is left out."""
        own = self.dual.regularizer.is_own_barrier
        start = 0.0 if own else self.dual.regularizer.derivative(self.w)
        return np.asarray(start - self.dual.slope + self.sums.prices)

    @cached_property
    def bend(self) -> np.ndarray:
        """w^2 h''(w); 0 where h is left out."""
        h = self.dual.regularizer
        if h.is_own_barrier:
            return np.zeros_like(self.w)
        return np.asarray(self.w**2 / h.conjugate_second(h.derivative(self.w)))

    @property
    def mu(self) -> float:
        """The mean product."""
        return self.mean_product(self.pairs, self.w * self.z)

    def mean_product(self, pairs: list[tuple[np.ndarray, np.ndarray]], wz: np.ndarray) -> float:
        """The mean of multipliers times rooms, and of what w z is above that of the own barrier."""
        products = [m[m > 0] * room[m > 0] for m, room in pairs]
        count = len(wz) + sum(len(product) for product in products)
        inside = max(float(np.sum(wz)) - self.barrier_offset * len(wz), 0.0)
        return (inside + sum(float(np.sum(product)) for product in products)) / count


def begin(problem: WeightProblem, times: float) -> InsideWeights:
    """Where t is `times` its bounds, but not below the prior, at the center for the value it has there."""
    h, w0 = problem.regularizer, problem.prior
    # The prior knows the units of the features; where it is zero, it does not.
    shape = np.where(w0 > 0, w0, np.max(w0) or 1.0)
    least = 1.0 if w0.any() else 0.0
    w = max(least, times * problem.multiple_at_bounds(shape)) * shape
    none = np.zeros(problem.differences.shape[0])
    sums = Sums.of(problem.differences, w, none)
    certificate, _ = certify(problem, w, none, sums)
    bend = w**2 / h.conjugate_second(h.derivative(w))
    mu = max(abs(certificate.primal) / (len(w) + len(none)), float(np.mean(bend)))
    point = _priced(problem, w, sums.t, mu)
    return point if point.mu <= _UNEVEN * mu else _priced(problem, w, sums.t, point.mu)


def _priced(problem: WeightProblem, w: np.ndarray, t: np.ndarray, mu: float) -> InsideWeights:
    """The prices that t has at mu, and multipliers whose products are mu.

    That of w is larger where the residual is large, so that it cuts no step short that makes it vanish.
    """
    lam = problem.each(lambda part, piece: central_prices(part, piece, mu), t)
    zero = np.zeros_like(lam)
    bare = InsideWeights(problem, lam, zero, (zero,) * 4, w, np.zeros_like(w))
    largest = float(np.max(np.abs(w * bare.residual - bare.barrier_offset)))
    z = (bare.barrier_offset + max(mu, _SHARE * largest)) / w
    below, above = (mu / room for room in bare.rooms)
    inside = problem.each(inside_domain, t + below - above)
    priced = InsideWeights(problem, lam, inside, (zero,) * 4, w, z)
    multipliers = (below, above, *(mu / room for room in priced.domain_rooms))
    return InsideWeights(problem, lam, inside, multipliers, w, z)
