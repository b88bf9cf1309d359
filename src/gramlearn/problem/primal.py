"""primal(X) - dual(lam) = D(X, X(lam)) at any X = grad phi*(Y), with lam_k = loss_k'(t_k).

Here t = offset + <A, X>, and X(lam) = grad phi*(Y0 - sum_k lam_k A_k). With that lam every Fenchel-Young term
of the gap is zero, and the rest is a divergence, a function of the residual R = Y - (Y0 - sum_k lam_k A_k).
R is also the gradient of the primal: along dX = D grad phi*(Y)[dY] the value changes by <R, dX>.

A `DualPoint` has lam, and X follows; a `PrimalPoint` has X, and lam follows where losses have a derivative. It
needs sums over the constraints alone, its `Costs`.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, final

from gramlearn._base.arrays import Array, is_finite, machine_eps, namespace, read
from gramlearn._base.matrices import eigvalsh, symmetric_part, transpose
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.costs import Audit, Costs, CostsHere
from gramlearn.problem.curved import Curved
from gramlearn.problem.dual import Dual
from gramlearn.problem.spectral import ConjugatePoint

INF = float("inf")
# Shares of lam to try until X(lam) exists; without linear terms it always does at lam = 0.
_SHARES = (1.0, 0.5, 0.1, 0.01, 1e-4, 0.0)


@final
class PrimalPoint:
    """The primal at one X, with the prices it puts on its constraints, or with other duals lam.

    The value is computed at once, everything else when asked for. Of the `dual` only what does not depend on
    the constraints is looked at.
    """

    def __init__(self, dual: Dual, at: ConjugatePoint, costs: Costs) -> None:
        self.dual = dual
        self.at = at
        self.costs = costs
        self.value = INF
        self._terms: list[float] = []  # of the value, but for <Y0, X>
        if costs.is_finite:
            linear = read(namespace(at.factor).sum(at.factor * (dual.origin.matrix @ at.factor)))
            # A t outside the domain counts as the nearest inside: its infinite loss is reported as a violation.
            self._terms = [dual.constant, at.potential, costs.losses]
            self.value = sum(self._terms) - linear

    @classmethod
    def of(cls, dual: Dual, at: ConjugatePoint, lam: Array | None = None) -> "PrimalPoint":
        """The point over the constraints of a dual, at its own prices or at these."""
        return cls(dual, at, CostsHere(dual, at.frame, at.spectrum, lam))

    @property
    def curved(self) -> Curved:
        """The constraints whose price moves with t."""
        return self.costs.curved

    @cached_property
    def _prior(self) -> Array:
        Q = self.at.frame
        return symmetric_part(transpose(Q) @ (self.dual.origin.matrix @ Q))

    @cached_property
    def residual(self) -> Array:
        """Q' R Q, in the frame Q of X."""
        return symmetric_part(self.at.image - self._prior + self.costs.adjoint)

    @cached_property
    def gap(self) -> float:
        """primal(X) - dual(lam), +inf where X(lam) does not exist."""
        return self.at.divergence(self.residual) + self.costs.mismatch

    @cached_property
    def noise(self) -> float:
        """A bound on the rounding error of the value, whose terms may cancel."""
        if self.value == INF:
            return INF
        linear = self.at.weighed(self.dual.origin.spread)  # the size of <Y0, X> before it cancels
        sizes = linear + sum(abs(term) for term in self._terms)
        return 8 * machine_eps(self.at.factor) * sizes

    def certify(self) -> tuple[Certificate, Any]:
        """The certificate of X over the constraints, and its duals: lam, or a share of it.

        The share is the largest for which X(lam) exists. The gap and both values include their rounding.
        """
        prices = self.residual - self.at.image + self._prior
        share, gap, R = 1.0, INF, self.residual
        for share, audit in self._audits():
            R = self.at.image - self._prior + share * prices
            gap = self.at.divergence(R, self._residual_error(audit.spread)) + audit.gap
            if gap < INF:
                break
        rounding, loss_error = self.noise / 4, audit.loss_error
        gap += audit.gap_error
        dual = self.value - gap - rounding if gap < INF else -INF
        primal, gap = self.value + loss_error + rounding, gap + loss_error
        least, of_prior = self.dual.least, self._prior_rounding(R)
        found = Certificate(primal, dual, gap + 2 * rounding, audit.violation, 1.0, least, of_prior)
        return found, self.costs.prices(share)

    def _audits(self) -> Iterator[tuple[float, Audit]]:
        """The prices themselves, which mostly do; then all lower ones at once, for each audit is a pass."""
        for shares in (_SHARES[:1], _SHARES[1:]):
            yield from zip(shares, self.costs.audits(shares), strict=True)

    def _prior_rounding(self, R: Array) -> float:
        """The part of the gap that rounding of the prior makes, with Y = grad phi(X) - R."""
        if self.dual.regularizer.keeps_range or not is_finite(R):
            return 0.0
        return self.dual.prior_rounding_among(eigvalsh(self.at.image - R))

    def _residual_error(self, spread: Array) -> float:
        """How far Q' R Q may be off in the spectral norm: a rounding of the terms of R; of prices, of `spread`.

        They are taken before Q is applied. After it they may be smaller, since a direction of X may be nearly
        orthogonal to all of the A_k.
        """
        xp, Q = namespace(self.residual), self.at.frame
        term_sizes = (xp.sqrt(self.dual.origin.spread + spread) @ xp.abs(Q)) ** 2
        image = xp.abs(xp.linalg.diagonal(self.at.image))
        return 4 * machine_eps(Q) * read(xp.sum(term_sizes + image))

    def moved(self, at: ConjugatePoint) -> "PrimalPoint":
        """The point at another X over the same constraints, at the prices of their losses."""
        return PrimalPoint(self.dual, at, self.costs.at(at))

    def with_costs(self, costs: Costs) -> "PrimalPoint":
        """The same X with other prices or losses."""
        return PrimalPoint(self.dual, self.at, costs)

    def with_kinks(self) -> "PrimalPoint":
        """The same X and lam, with the losses as they are, where these have ramps in place of kinks."""
        costs = self.costs.with_kinks()
        if costs is self.costs:
            return self
        other = self.with_costs(costs)
        other.__dict__["residual"] = self.residual  # it depends on lam alone
        return other

    def ahead(self, dX: Array) -> "PrimalPoint":
        """The same X, with the losses as they are, at the prices that a step dX leads to.

        These are lam + loss'' B(dX), cut off at the ends of their box. If dX is the Newton direction of LogDet,
        and smaller than X, then X(lam) exists at these prices. At the prices of X itself it may not exist yet.
        """
        costs, moved = self.costs.ahead(dX)
        other = self.with_costs(costs)
        other.__dict__["residual"] = self.residual + moved
        return other
