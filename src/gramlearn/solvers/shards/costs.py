"""Costs of constraints in shards: the sums that the sites gave for one X, and what is asked later."""

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from gramlearn._base.arrays import Array, as_real
from gramlearn.problem.costs import Audit, Costs
from gramlearn.problem.curved import Curved
from gramlearn.problem.linear_maps import DirectionMap, LinearMap
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.solvers.shards.answers import (
    At,
    Reading,
    join_audits,
    join_gathered,
    join_pairs,
)

if TYPE_CHECKING:
    from gramlearn.solvers.shards.pool import PoolOfShards, WorkingOfShards


@final
class Number:
    """Under which sites keep something, as long as this object is held."""

    def __init__(self, value: int) -> None:
        self.value = value


class PricesOfShards(NamedTuple):
    """Prices that sites remember."""

    number: Number


@final
class CostsOfShards(Costs):
    """What the sites said of one X."""

    def __init__(
        self, working: "WorkingOfShards | Any", place: At, number: Number | Any, reading: Reading
    ) -> None:
        self._working, self.place, self._number = working, place, number
        self._reading = reading
        self.holds: object = None  # remembered prices that the place refers to

    def is_at(self, place: At) -> bool:
        """Whether they are the costs at this X."""
        mine = self.place
        return np.array_equal(mine.frame, place.frame) and np.array_equal(
            mine.spectrum, place.spectrum
        )

    @property
    def _like(self) -> Array:
        return self._working.pool.dual.like

    @property
    def is_finite(self) -> bool:
        return self._reading.is_finite

    @property
    def active(self) -> int:
        return self._reading.active

    @property
    def losses(self) -> float:
        return self._reading.exact_losses if self.place.exact else self._reading.losses

    @property
    def adjoint(self) -> Array:
        return as_real(self._reading.adjoint, self._like)

    @property
    def mismatch(self) -> float:
        has_own = self.place.prices is None and self.place.step is None and not self.place.exact
        return 0.0 if has_own else self._reading.mismatch

    @property
    def curved(self) -> "CurvedOfShards":
        return CurvedOfShards(self._working.pool, self._number, self._reading)

    def audits(self, shares: Sequence[float]) -> list[Audit]:
        working = self._working
        asked = (working.chosen.value, self.place, tuple(shares))
        found = working.pool.ask(join_audits, "audits", *asked)
        return [each._replace(spread=as_real(each.spread, self._like)) for each in found]

    def prices(self, share: float = 1.0) -> None:
        """They stay where the constraints are."""

    def change_from(self, other: "CostsOfShards") -> float:
        pool: PoolOfShards = self._working.pool
        return pool.ask(max, "change", other._number.value, self._number.value)

    def at(self, at: ConjugatePoint) -> Costs:
        costs: Costs = self._working.costs(at)
        return costs

    def with_kinks(self) -> "CostsOfShards":
        if self.place.exact or self._working is None or self._working.pool.is_smooth:
            return self
        place = self.place._replace(exact=True)
        return CostsOfShards(self._working, place, self._number, self._reading)

    def ahead(self, dX: Array) -> "tuple[CostsOfShards, Array]":
        costs = self._working.read(self.place._replace(step=np.asarray(dX), exact=True))
        return costs, as_real(costs._reading.moved, self._like)


@final
class CurvedOfShards(Curved):
    """Curved constraints, or some that stand for them, which the sites keep under a number."""

    def __init__(self, pool: "PoolOfShards", number: Number, reading: Reading) -> None:
        self._pool, self._number, self._reading = pool, number, reading

    @property
    def size(self) -> int:
        return self._reading.n_curved

    @property
    def largest(self) -> float:
        return self._reading.largest

    @property
    def magnitude(self) -> float:
        return self._reading.magnitude or 1.0

    def _sum(self, question: str, x: Array) -> Array:
        found = self._pool.ask(operator.add, "curved", self._number.value, question, x)
        return as_real(found, x)

    def product(self, S: Array) -> Array:
        return self._sum("product", S)

    def trace(self, Phi: Array) -> float:
        return float(self._pool.ask(operator.add, "curved", self._number.value, "trace", Phi))

    def spread(self) -> Array:
        found = self._pool.ask(operator.add, "curved", self._number.value, "spread")
        return as_real(found, self._pool.dual.like)

    def squares(self, K: Array) -> tuple[Array, Array]:
        one, other = self._pool.ask(join_pairs, "curved", self._number.value, "squares", K)
        return as_real(one, K), as_real(other, K)

    def gram(self, coordinates: Any) -> Array:
        found = self._pool.ask(operator.add, "gram", self._number.value)
        return as_real(found, self._pool.dual.like)

    def gathered(self) -> tuple[list[LinearMap], Array]:
        like = self._pool.dual.like
        pieces, curvature = self._pool.ask(join_gathered, "gathered", self._number.value)
        maps: list[LinearMap] = [DirectionMap(as_real(z, like), w) for z, w in pieces]
        return maps, as_real(curvature, like)

    def sample(self, least: int) -> "CurvedOfShards":
        every = self.size // least
        return self if every <= 1 else self._kept("sample", every)

    def in_single(self, scale: float, peak: float) -> "CurvedOfShards":
        return self._kept("in_single", scale, peak)

    def _kept(self, question: str, *args: Any) -> "CurvedOfShards":
        """What sites make of these, under a new number."""
        number = self._pool.new_number()
        reading = self._pool.ask(Reading.joined, question, self._number.value, number.value, *args)
        return CurvedOfShards(self._pool, number, reading)
