"""primal(X) - dual(lam) = D(X, X(lam)) at any X = grad phi*(Y), with lam_k = loss_k'(t_k).

Here t = offset + <A, X>, and X(lam) = grad phi*(Y0 - sum_k lam_k A_k). With that lam every Fenchel-Young term
of the gap is zero, and the rest is a divergence, a function of the residual R = Y - (Y0 - sum_k lam_k A_k).
R is also the gradient of the primal: along dX = D grad phi*(Y)[dY] the value changes by <R, dX>.

A `DualPoint` has lam, and X follows; a `PrimalPoint` has X, and lam follows where losses have a derivative.
"""

from functools import cached_property
from typing import NamedTuple, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    eigvalsh,
    is_finite,
    machine_eps,
    namespace,
    read,
    symmetric_part,
    transpose,
    where_true,
)
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.dual import Dual
from gramlearn.problem.linear_maps import LinearMap, joint_adjoint, joint_apply
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import ConjugatePoint

INF = float("inf")
_MANY = 10_000  # constraints that take time to copy
_NEARLY_ALL = 0.9  # the share of them from which on the others are taken along
# Shares of lam to try until X(lam) exists; without linear terms it always does at lam = 0.
_SHARES = (1.0, 0.5, 0.1, 0.01, 1e-4, 0.0)


class Priced(NamedTuple):
    """Constraints of one part, most with a price: B_k = Q' A_k Q, loss', the losses and their t."""

    map: LinearMap
    prices: Array
    loss: Loss
    t: Array


@final
class PrimalPoint:
    """The primal at one X, with the prices it puts on its constraints, or with other duals lam.

    The value is computed at once, everything else when asked for.
    """

    def __init__(
        self,
        dual: Dual,
        at: ConjugatePoint,
        lam: Array | None = None,
        same: "PrimalPoint | None" = None,
    ) -> None:
        self.dual = dual
        self.at = at
        # The B_k = Q' A_k Q and their t, which another point at the same X may have made already.
        self.maps: list[LinearMap] = (
            [part.map.restrict(at.frame) for part in dual.parts] if same is None else same.maps
        )
        self.t: Array = dual.t_of(self.maps, at.spectrum) if same is None else same.t
        self._is_priced = lam is None
        self.lam = dual.each(lambda part, t: part.loss.price(t), self.t) if lam is None else lam
        self.value = INF
        self._terms: list[float] = []  # of the value, but for <Y0, X>
        if is_finite(self.lam):
            xp = namespace(self.t)
            # A t outside the domain counts as the nearest inside: its infinite loss is reported as a violation.
            losses = read(xp.sum(dual.each(lambda part, t: part.loss.value_inside(t), self.t)))
            linear = read(xp.sum(at.factor * (dual.origin.matrix @ at.factor)))
            self._terms = [dual.constant, at.potential, losses]
            self.value = sum(self._terms) - linear

    @cached_property
    def priced(self) -> list[Priced]:
        """The constraints that have a price, part by part, or all where few have none.

        The others add nothing to what follows, and to copy most of them takes longer than to take them along.
        """
        found = []
        pieces = (self.dual.split(self.t), self.dual.split(self.lam))
        for part, framed, t, lam in zip(self.dual.parts, self.maps, *pieces, strict=True):
            rows = where_true(lam != 0)
            if _is_nearly_all(rows, part.size):
                found.append(Priced(framed, lam, part.loss, t))
            elif rows.shape[0]:
                linear, loss = framed.materialize_rows(rows), part.loss.take(rows)
                found.append(Priced(linear, lam[rows], loss, t[rows]))
        return found

    @cached_property
    def curved(self) -> tuple[list[LinearMap], Array]:
        """(maps, loss''): the constraints whose price moves with t, and a few others at zero."""
        xp = namespace(self.t)
        maps, curvature = [], []
        for linear, prices, loss, t in self.priced:
            bends = (prices != 0) & ~loss.is_flat(t)
            rows = where_true(bends)
            if _is_nearly_all(rows, linear.size):
                maps.append(linear)
                second = xp.where(bends, loss.conjugate_second(prices), xp.ones_like(t))
                curvature.append(xp.where(bends, 1 / second, xp.zeros_like(t)))
            elif rows.shape[0]:
                maps.append(linear.materialize_rows(rows))
                curvature.append(1 / loss.take(rows).conjugate_second(prices[rows]))
        return maps, concat(curvature, self.t)

    @cached_property
    def _prior(self) -> Array:
        Q = self.at.frame
        return symmetric_part(transpose(Q) @ (self.dual.origin.matrix @ Q))

    @cached_property
    def residual(self) -> Array:
        """Q' R Q, in the frame Q of X."""
        start = self.at.image - self._prior
        return symmetric_part(sum((p.map.adjoint(p.prices) for p in self.priced), start=start))

    @cached_property
    def gap(self) -> float:
        """primal(X) - dual(lam), +inf where X(lam) does not exist."""
        losses = 0.0 if self._is_priced else self.dual.gap(self.t, self.lam)
        return self.at.divergence(self.residual) + losses

    @cached_property
    def noise(self) -> float:
        """A bound on the rounding error of the value, whose terms may cancel."""
        if self.value == INF:
            return INF
        linear = self.at.weighed(self.dual.origin.spread)  # the size of <Y0, X> before it cancels
        return 8 * machine_eps(self.t) * (linear + sum(abs(term) for term in self._terms))

    @cached_property
    def _loss_error(self) -> float:
        """By how much the losses may be off, as every t is off by rounding."""
        none = namespace(self.t).zeros_like(self.t)
        return self.dual.gap_error(self.t, none, self._t_errors)

    @cached_property
    def _t_errors(self) -> Array:
        return self.dual.t_errors(self.maps, self.at.spectrum, self.at.frame)

    def certify(self) -> tuple[Certificate, Array]:
        """The certificate of X over the constraints of this dual, and its duals: lam, or a share of it.

        The share is the largest for which X(lam) exists. The gap and both values include their rounding.
        """
        prices = self.residual - self.at.image + self._prior
        lam, gap, R = self.lam, INF, self.residual
        for share in _SHARES:
            lam = self.lam if share == 1 else share * self.lam
            R = self.at.image - self._prior + share * prices
            losses = 0.0 if share == 1 and self._is_priced else self.dual.gap(self.t, lam)
            gap = self.at.divergence(R, self._residual_error(share)) + losses
            if gap < INF:
                break
        rounding = self.noise / 4
        violation = self.dual.violation(self.t, self._t_errors)
        # A t that is outside its domain by no more than rounding costs its price.
        gap += self.dual.gap_error(self.t, lam, self._t_errors)
        dual = self.value - gap - rounding if gap < INF else -INF
        primal, gap = self.value + self._loss_error + rounding, gap + self._loss_error
        least, of_prior = self.dual.least, self._prior_rounding(R)
        return Certificate(primal, dual, gap + 2 * rounding, violation, 1.0, least, of_prior), lam

    def _prior_rounding(self, R: Array) -> float:
        """The part of the gap that rounding of the prior makes, with Y = grad phi(X) - R."""
        if self.dual.regularizer.keeps_range or not is_finite(R):
            return 0.0
        return self.dual.prior_rounding_among(eigvalsh(self.at.image - R))

    def _residual_error(self, share: float) -> float:
        """How far Q' R Q, with a share of lam, may be off in the spectral norm: a rounding of the terms of R.

        They are taken before Q is applied. After it they may be smaller, since a direction of X may be nearly
        orthogonal to all of the A_k.
        """
        xp, Q = namespace(self.residual), self.at.frame
        term_sizes = self.dual.origin.spread + share * self.dual.spread(self.lam)
        term_sizes = (xp.sqrt(term_sizes) @ xp.abs(Q)) ** 2
        image = xp.abs(xp.linalg.diagonal(self.at.image))
        return 4 * machine_eps(Q) * read(xp.sum(term_sizes + image))

    def repriced(self, dual: Dual) -> "PrimalPoint":
        """The same X with other losses on the same constraints, at the prices of these."""
        return PrimalPoint(dual, self.at, None, self)

    def at_next_prices(self, dual: Dual, dX: Array) -> "PrimalPoint":
        """The same X with other losses on the same constraints, at the prices that a step dX leads to.

        These are lam + loss'' B(dX), cut off at the ends of their box. If dX is the Newton direction of LogDet,
        and smaller than X, then X(lam) exists at these prices. At the prices of X itself it may not exist yet.
        """
        xp = namespace(self.t)
        bends = self.dual.each(lambda part, t: ~part.loss.is_flat(t), self.t)
        second = self.dual.each(lambda part, lam: part.loss.conjugate_second(lam), self.lam)
        rise = xp.where(bends, joint_apply(self.maps, dX) / second, xp.zeros_like(self.t))
        lam = clipped(self.lam + rise, *dual.box)
        other = PrimalPoint(dual, self.at, lam, self)
        other.__dict__["residual"] = self.residual + joint_adjoint(self.maps, lam - self.lam)
        return other

    def with_losses(self, dual: Dual) -> "PrimalPoint":
        """The same X and lam, with other losses on the same constraints."""
        if dual is self.dual:
            return self
        other = PrimalPoint(dual, self.at, self.lam, self)
        other.__dict__["residual"] = self.residual  # it depends on lam alone
        return other


def _is_nearly_all(rows: Array, size: int) -> bool:
    return size >= _MANY and int(rows.shape[0]) >= _NEARLY_ALL * size
