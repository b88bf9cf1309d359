"""sum_k loss_k(t_k),  sum_k lam_k B_k,  sum_k |...|: what all constraints together say of one X.

Here t = offset + <B, x> in the frame of X, and lam_k = loss_k'(t_k), or prices that were given. A `PrimalPoint`
asks for sums and r x r matrices alone, so that it does not matter where the constraints are: `CostsHere` has
them in the memory of this process, and others add up what several such give.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    constant,
    count_true,
    is_finite,
    namespace,
    read,
    where_true,
)
from gramlearn.problem.curved import Curved, CurvedHere
from gramlearn.problem.dual import Dual
from gramlearn.problem.linear_maps import LinearMap, Products, joint_adjoint, joint_apply
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import ConjugatePoint

_MANY = 10_000  # constraints that take time to copy
_NEARLY_ALL = 0.9  # the share of them from which on the others are taken along


class Audit(NamedTuple):
    """What a certificate needs to know of the prices: sums over all constraints, and the worst violation."""

    gap: float  # sum of loss(t) + loss*(lam) - lam t
    gap_error: float  # by how much more it may be, since every t is rounded
    loss_error: float  # the same of the losses
    violation: float  # rounding included
    spread: Array  # of sum_k lam_k A_k before it cancels, see `LinearMap.spread`


class Costs(ABC):
    """Sums over constraints at one X. Nothing is computed before it is asked for, and nothing twice."""

    @property
    @abstractmethod
    def is_finite(self) -> bool:
        """Whether all prices are numbers."""

    @property
    @abstractmethod
    def active(self) -> int:
        """How many constraints have a price."""

    @property
    @abstractmethod
    def losses(self) -> float:
        """sum_k loss_k(t_k), where a t outside the domain counts as the nearest inside."""

    @property
    @abstractmethod
    def adjoint(self) -> Array:
        """sum_k lam_k B_k, r x r in the frame of X."""

    @property
    @abstractmethod
    def mismatch(self) -> float:
        """sum_k [loss_k(t_k) + loss_k*(lam_k) - lam_k t_k]; 0 where the prices are those of the losses."""

    @property
    @abstractmethod
    def curved(self) -> Curved:
        """The constraints whose price moves with t."""

    @abstractmethod
    def audits(self, shares: Sequence[float]) -> list[Audit]:
        """Look at these shares of all prices, in one pass."""

    @abstractmethod
    def prices(self, share: float = 1.0) -> Any:
        """Give this share of lam, for whoever can tell which constraints they belong to."""

    @abstractmethod
    def change_from(self, other: Any) -> float:
        """The largest change of a t from other costs of the same constraints, against its size."""

    @abstractmethod
    def at(self, at: ConjugatePoint) -> "Costs":
        """Costs of the same constraints at another X, at the prices of their losses."""

    @abstractmethod
    def with_kinks(self) -> "Costs":
        """At the same X and prices, with the losses as they are, where these have ramps in place of kinks."""

    @abstractmethod
    def ahead(self, dX: Array) -> "tuple[Costs, Array]":
        """The same X, the losses as they are and the prices that a step dX leads to; and how the adjoint moves.

        See `PrimalPoint.ahead`.
        """


class _Priced(NamedTuple):
    """Constraints of one part, most with a price: B_k = Q' A_k Q, loss', the losses and their t."""

    map: LinearMap
    prices: Array
    loss: Loss
    t: Array


@final
class CostsHere(Costs):
    """Costs of constraints in the memory of this process.

    `exact` has the same constraints with their losses as they are, where those of `dual` have ramps in place of
    kinks. `same` are other costs at the same X, whose B_k and t are taken over; costs of other constraints at
    the same X may share their `products`.
    """

    def __init__(
        self,
        dual: Dual,
        frame: Array,
        spectrum: Array,
        lam: Array | None = None,
        *,
        exact: Dual | None = None,
        same: "CostsHere | None" = None,
        products: Products | None = None,
    ) -> None:
        self.dual = dual
        self.exact = dual if exact is None else exact
        self.frame, self.spectrum = frame, spectrum
        self.maps: list[LinearMap] = (
            [part.map.restrict(frame, products) for part in dual.parts]
            if same is None
            else same.maps
        )
        self.t: Array = dual.t_of(self.maps, spectrum) if same is None else same.t
        self.is_priced = lam is None
        self.lam = dual.each(lambda part, t: part.loss.price(t), self.t) if lam is None else lam

    @cached_property
    def is_finite(self) -> bool:
        return is_finite(self.lam)

    @cached_property
    def active(self) -> int:
        return count_true(self.lam != 0)

    @cached_property
    def losses(self) -> float:
        values = self.dual.each(lambda part, t: part.loss.value_inside(t), self.t)
        return read(namespace(self.t).sum(values))

    @cached_property
    def _priced(self) -> list[_Priced]:
        """The constraints that have a price, part by part, or all where few have none.

        The others add nothing to what follows, and to copy most of them takes longer than to take them along.
        """
        found = []
        pieces = (self.dual.split(self.t), self.dual.split(self.lam))
        for part, framed, t, lam in zip(self.dual.parts, self.maps, *pieces, strict=True):
            rows = where_true(lam != 0)
            if _is_nearly_all(rows, part.size):
                found.append(_Priced(framed, lam, part.loss, t))
            elif rows.shape[0]:
                linear, loss = framed.materialize_rows(rows), part.loss.take(rows)
                found.append(_Priced(linear, lam[rows], loss, t[rows]))
        return found

    @cached_property
    def adjoint(self) -> Array:
        total = constant(0.0, self.frame, (self.dual.rank, self.dual.rank))
        return sum((p.map.adjoint(p.prices) for p in self._priced), start=total)

    @cached_property
    def mismatch(self) -> float:
        return 0.0 if self.is_priced else self.dual.gap(self.t, self.lam)

    @cached_property
    def _t_errors(self) -> Array:
        return self.dual.t_errors(self.maps, self.spectrum, self.frame)

    @cached_property
    def curved(self) -> CurvedHere:
        xp = namespace(self.t)
        maps, curvature = [], []
        for linear, prices, loss, t in self._priced:
            bends = (prices != 0) & ~loss.is_flat(t)
            rows = where_true(bends)
            if _is_nearly_all(rows, linear.size):
                maps.append(linear)
                second = xp.where(bends, loss.conjugate_second(prices), xp.ones_like(t))
                curvature.append(xp.where(bends, 1 / second, xp.zeros_like(t)))
            elif rows.shape[0]:
                maps.append(linear.materialize_rows(rows))
                curvature.append(1 / loss.take(rows).conjugate_second(prices[rows]))
        return CurvedHere(maps, concat(curvature, self.t), self.dual.rank)

    def audits(self, shares: Sequence[float]) -> list[Audit]:
        dual, zero = self.dual, namespace(self.lam).zeros_like(self.lam)
        loss_error = dual.gap_error(self.t, zero, self._t_errors)
        violation, spread = dual.violation(self.t, self._t_errors), dual.spread(self.lam)
        found = []
        for share in shares:
            lam = self.prices(share)
            gap = 0.0 if share == 1 and self.is_priced else dual.gap(self.t, lam)
            # A t that is outside its domain by no more than rounding costs its price.
            gap_error = dual.gap_error(self.t, lam, self._t_errors)
            found.append(Audit(gap, gap_error, loss_error, violation, share * spread))
        return found

    def prices(self, share: float = 1.0) -> Array:
        return self.lam if share == 1 else share * self.lam

    def change_from(self, other: "CostsHere") -> float:
        change = self.dual.each(lambda p, s, t: relative_change(s, t, p.unit), other.t, self.t)
        return read(namespace(change).max(change)) if self.dual.size else 0.0

    def at(self, at: ConjugatePoint) -> "CostsHere":
        return CostsHere(self.dual, at.frame, at.spectrum, exact=self.exact)

    def with_kinks(self) -> "CostsHere":
        return self if self.exact is self.dual else self.at_prices(self.lam)

    def at_prices(self, lam: Array) -> "CostsHere":
        """At the same X, the losses as they are, and prices of the same constraints in place of their own."""
        return CostsHere(self.exact, self.frame, self.spectrum, lam, same=self)

    def ahead(self, dX: Array) -> "tuple[CostsHere, Array]":
        xp = namespace(self.t)
        bends = self.dual.each(lambda part, t: ~part.loss.is_flat(t), self.t)
        second = self.dual.each(lambda part, lam: part.loss.conjugate_second(lam), self.lam)
        rise = xp.where(bends, joint_apply(self.maps, dX) / second, xp.zeros_like(self.t))
        lam = clipped(self.lam + rise, *self.exact.box)
        return self.at_prices(lam), joint_adjoint(self.maps, lam - self.lam)


def relative_change(old: Array, new: Array, unit: Any) -> Array:
    """How far every t has moved, against its size, or a tenth of the usual size where it is near 0."""
    xp = namespace(new)
    return 2 * xp.abs(new - old) / (xp.abs(old) + xp.abs(new) + 0.1 * unit)


def _is_nearly_all(rows: Array, size: int) -> bool:
    return size >= _MANY and int(rows.shape[0]) >= _NEARLY_ALL * size
