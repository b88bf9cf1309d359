"""X = Q Q' > 0 and lo < lam < hi, each with its multipliers: where an interior-point step starts.

X need not be X(lam). Where grad phi(X) - Z = Y0 - sum_k lam_k A_k, and loss_k*'(lam_k) - t_k is the difference
of the multipliers of the two ends, the gap is what X and Z, and lam and its multipliers, have as products.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from gramlearn._base.arrays import (
    Array,
    clipped,
    constant,
    count_true,
    eye,
    is_finite,
    namespace,
    read,
)
from gramlearn._base.matrices import symmetric_part, transpose
from gramlearn.problem.costs import CostsHere
from gramlearn.problem.dual import Dual
from gramlearn.problem.linear_maps import LinearMap, joint_adjoint, joint_apply
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.solvers.interior_point.prices import InsidePrices, inside_domain
from gramlearn.solvers.symmetric import Coordinates

INF = float("inf")
_SHARE = 0.1  # the least share of the residual that the multiplier of X starts with


@final
@dataclass(frozen=True, eq=False)
class Interior(InsidePrices):
    """X = Q Q' with Q'ZQ = diag(z), and prices inside their box."""

    dual: Dual
    frame: Array  # Q
    cone: Array  # z

    @staticmethod
    def without_multipliers(dual: Dual, frame: Array, lam: Array) -> "Interior":
        """X and lam, all of whose multipliers and s are 0."""
        zero = namespace(lam).zeros_like(lam)
        cone = constant(0.0, lam, int(frame.shape[0]))
        return Interior(dual, lam, zero, (zero,) * 4, frame, cone)

    @property
    def is_inside(self) -> bool:
        """Whether X has a multiplier yet."""
        return read(namespace(self.cone).min(self.cone)) > 0

    @cached_property
    def at(self) -> ConjugatePoint:
        """phi* at the Y of X."""
        return self.dual.regularizer.at_gradient(self.frame)

    @cached_property
    def costs(self) -> CostsHere:
        """What the constraints cost at X with these lam."""
        return CostsHere(self.dual, self.at.frame, self.at.spectrum, self.lam)

    @cached_property
    def primal_point(self) -> PrimalPoint:
        """X with these lam, for a certificate."""
        return PrimalPoint(self.dual, self.at, self.costs)

    @cached_property
    def maps(self) -> list[LinearMap]:
        """The B_k = Q' A_k Q."""
        return [part.map.restrict(self.frame) for part in self.dual.parts]

    @property
    def t(self) -> Array:
        """t_k = offset_k + <A_k, X>."""
        return self.costs.t

    @cached_property
    def residual(self) -> Array:
        """Q' (grad phi(X) - Y0 + sum_k lam_k A_k) Q, which Q'ZQ is to be."""
        Q, image = self.frame, self.at.image
        if not self.dual.regularizer.is_invariant:
            image = transpose(self.turn) @ image @ self.turn
        prices = joint_adjoint(self.maps, self.lam)
        return symmetric_part(image - transpose(Q) @ (self.dual.origin.matrix @ Q) + prices)

    @property
    def imbalance(self) -> Array:
        """Q' (grad phi(X) - Z - Y0 + sum_k lam_k A_k) Q, which is to be 0."""
        z = self.cone
        return self.residual + eye(int(z.shape[0]), z) * (self.barrier_offset - z)

    @property
    def turn(self) -> Array:
        """U'Q, with the eigenvectors U of X."""
        return transpose(self.at.frame) @ self.frame

    @property
    def barrier_offset(self) -> float:
        """What is added to mu in X Z = mu I: 1 where phi is the barrier itself."""
        return 1.0 if self.dual.regularizer.is_own_barrier else 0.0

    @cached_property
    def count(self) -> int:
        """The number of products that shall become mu."""
        return int(self.cone.shape[0]) + sum(count_true(m > 0) for m in self.multipliers)

    @property
    def mu(self) -> float:
        """The mean product."""
        cone = read(namespace(self.cone).sum(self.cone))
        return self.mean_product(self.pairs, cone)

    def mean_product(self, pairs: list[tuple[Array, Array]], XZ: float) -> float:
        """The mean of multipliers times rooms, and of what tr XZ is above that of the own barrier."""
        xp = namespace(self.lam)
        products = [m * xp.where(xp.isfinite(room), room, xp.ones_like(room)) for m, room in pairs]
        inside = max(XZ - self.barrier_offset * int(self.cone.shape[0]), 0.0)
        return (sum(read(xp.sum(product)) for product in products) + inside) / self.count


def center(dual: Dual, frame: Array, lam: Array, mu: float) -> Interior:
    """Give X and lam multipliers whose products are mu, those of X larger where the residual is large.

    The residual of grad phi(X) = Y0 - sum_k lam_k A_k is then at most a few times Z, so that Z does not cut
    short the steps that make it vanish.
    """
    xp = namespace(lam)
    point = Interior.without_multipliers(dual, frame, lam)
    largest = read(xp.max(xp.abs(point.residual)))
    cone = point.cone + (point.barrier_offset + max(mu, _SHARE * largest))
    below, above = (mu / room for room in point.rooms)
    inside = dual.each(inside_domain, point.t + below - above)
    point = replace(point, cone=cone, inside=inside)
    return replace(point, multipliers=(below, above, *(mu / room for room in point.domain_rooms)))


def fit_prices(point: Interior, to_ends: bool) -> Array:
    """Give lam with sum_k lam_k A_k = Y0 - grad phi(X) + Z, for a certificate.

    With `to_ends`, every price close to an end of its box goes there. The less room another price has, the less
    it changes.
    """
    dual, (low, high) = point.dual, point.rooms
    xp = namespace(point.lam)
    lo, hi = dual.box
    none = xp.zeros_like(point.lam)
    ends, down, up = point.lam, none > 0, none > 0
    if to_ends:
        # With one end only, close is relative to the price itself.
        width = xp.where(xp.isfinite(hi - lo), hi - lo, xp.abs(point.lam))
        width = dual.each(lambda part, w: w / part.unit, width)
        down, up = (m * width > room for m, room in point.pairs[:2])
        ends = xp.where(down, lo, xp.where(up, hi, point.lam))
    room = xp.where(xp.isfinite(lo), low, xp.abs(point.lam))
    room = xp.minimum(room, xp.where(xp.isfinite(hi), high, xp.abs(point.lam)))
    # In units of the largest, whose square may overflow.
    weights = xp.where(down | up, none, (room / xp.max(room)) ** 2)
    coordinates = Coordinates(int(point.cone.shape[0]), point.cone)
    change = joint_adjoint(point.maps, point.lam - ends) - point.imbalance
    gram = coordinates.gram(point.maps, weights)
    if not is_finite(gram):
        return clipped(ends, lo, hi)
    shares = coordinates.matrix(xp.linalg.pinv(gram) @ coordinates.vector(change))
    return clipped(ends + weights * joint_apply(point.maps, shares), lo, hi)
