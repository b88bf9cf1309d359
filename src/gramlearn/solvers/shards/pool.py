"""A pool of constraints in shards: every question of a solve goes to all sites, and their answers are added up.

What a site keeps for a question, it keeps under a number: which constraints matter, prices, curved constraints.
Whoever holds the number here holds it there: when it is let go, the sites are told with the next question.
"""

from collections.abc import Callable
from typing import Any, TypeVar, final
from weakref import finalize

import numpy as np

from gramlearn._base.arrays import Array, is_array, to_numpy
from gramlearn._base.workers import Crew, PartsLostError
from gramlearn.problem.dual import Dual, largest_ratio
from gramlearn.problem.pool import Look, Pool, Working
from gramlearn.problem.spectral import ConjugatePoint
from gramlearn.solvers.shards.answers import At, Facts, Looked, Reading, Sought, join_sizes
from gramlearn.solvers.shards.costs import CostsOfShards, Number, PricesOfShards
from gramlearn.solvers.shards.forecast import stand_in

SomeAnswer = TypeVar("SomeAnswer")

_HEAD = 1000  # constraints that tell the usual size of t


@final
class PoolOfShards(Pool):
    """The constraints of the sites of a crew, over what does not depend on constraints: the `dual`."""

    def __init__(self, crew: Crew, dual: Dual) -> None:
        self._crew = crew
        self._dual = dual
        self._gone: list[int] = []
        self._last = 0
        self._facts = self._welcome()

    def _welcome(self) -> Facts:
        """Hear what the sites know of their constraints, and tell them what they cannot know by themselves."""
        while True:
            try:
                facts: Facts = self._crew.reduce(Facts.joined, "answer", (), "facts")
                share = stand_in(self._dual.rank) / max(facts.size, 1)
                self._crew.map("answer", (), "settle", _units(facts), share)
                return facts
            except PartsLostError:
                continue  # they are elsewhere now, and read again there

    # ---- questions --------------------------------------------------------------------------

    def ask(
        self, join: Callable[[SomeAnswer, SomeAnswer], SomeAnswer], question: str, *args: Any
    ) -> SomeAnswer:
        """Ask all sites, and join their answers."""
        gone, self._gone[:] = tuple(self._gone), []
        sent = [to_numpy(x) if is_array(x) else x for x in args]
        try:
            answer: SomeAnswer = self._crew.reduce(join, "answer", gone, question, *sent)
            return answer
        except PartsLostError:
            self._welcome()
            raise

    def new_number(self) -> Number:
        """A number for what sites are to keep as long as it is held here."""
        self._last += 1
        number = Number(self._last)
        finalize(number, self._gone.append, number.value)
        return number

    # ---- as a pool --------------------------------------------------------------------------

    @property
    def dual(self) -> Dual:
        return self._dual

    @property
    def size(self) -> int:
        return self._facts.size

    @property
    def is_smooth(self) -> bool:
        return self._facts.is_smooth

    @property
    def is_never_negative(self) -> bool:
        return self._facts.is_never_negative and not self.dual.origin.fixed

    def objection(self) -> str | None:
        return self._facts.objection

    @property
    def facts(self) -> Facts:
        """What the sites knew of their constraints at first."""
        return self._facts

    def multiple_at_bounds(self, x: Array) -> float:
        sizes: list[tuple[float, float]] = self.ask(join_sizes, "sizes_at", x)
        return largest_ratio(sizes)

    def look(self, at: ConjugatePoint, wanted: Look) -> "WorkingOfShards":
        prices = wanted.prices if wanted.width else None
        sought = Sought(
            wanted.stride,
            wanted.width,
            wanted.first * wanted.stride / max(self.size, 1),
            wanted.everywhere,
            None if prices is None else prices.number.value,
        )
        chosen, costs = self.new_number(), self.new_number()
        place = At(to_numpy(at.frame), to_numpy(at.spectrum))
        looked = self.ask(Looked.joined, "look", chosen.value, costs.value, place, sought)
        working = WorkingOfShards(self, chosen, prices, looked)
        working.first = CostsOfShards(working, place, costs, looked.reading)
        return working

    def every_cost(self, at: ConjugatePoint) -> "CostsOfShards":
        # Only the losses are asked for.
        place = At(to_numpy(at.frame), to_numpy(at.spectrum))
        losses = self.ask(float.__add__, "losses_of_all", place)
        reading = Reading.nothing(self._dual.rank)._replace(losses=losses, exact_losses=losses)
        return CostsOfShards(None, place, None, reading)


@final
class WorkingOfShards(Working):
    """What sites have chosen under a number, and the prices through which its ramps go."""

    def __init__(
        self, pool: PoolOfShards, chosen: Number, prices: "PricesOfShards | None", looked: Looked
    ) -> None:
        self.pool, self.chosen = pool, chosen
        self._prices, self._looked = prices, looked
        self.first: CostsOfShards | None = None  # at the X that was looked at

    @property
    def size(self) -> int:
        return self._looked.size

    @property
    def is_whole(self) -> bool:
        return self.size == self.pool.size

    def costs(self, at: ConjugatePoint) -> CostsOfShards:
        place = At(to_numpy(at.frame), to_numpy(at.spectrum))
        first, self.first = self.first, None
        return first if first is not None and first.is_at(place) else self.read(place)

    def read(self, place: At) -> CostsOfShards:
        """The costs at this X and these prices."""
        number = self.pool.new_number()
        reading = self.pool.ask(Reading.joined, "read", self.chosen.value, number.value, place)
        return CostsOfShards(self, place, number, reading)

    def costs_again(self, costs: CostsOfShards) -> CostsOfShards:
        return self.read(At(costs.place.frame, costs.place.spectrum))

    def everywhere(self, costs: CostsOfShards) -> PricesOfShards | None:
        if self.pool.is_smooth:
            return None  # there are no ramps
        number = self.pool.new_number()
        self.pool.ask(_neither, "remember", self.chosen.value, number.value, costs.place)
        return PricesOfShards(number)

    def narrowed(self, width: float, prices: PricesOfShards | None) -> "WorkingOfShards":
        number = self.pool.new_number()
        value = None if prices is None else prices.number.value
        self.pool.ask(_neither, "narrow", self.chosen.value, number.value, width, value)
        return WorkingOfShards(self.pool, number, prices, self._looked)

    def at_prices(self, costs: CostsOfShards, prices: PricesOfShards) -> CostsOfShards:
        place = At(costs.place.frame, costs.place.spectrum, prices.number.value)
        found = self.read(place)
        found.holds = prices
        return found

    def named(self, prices: Any) -> tuple[list[Array], list[Array]]:
        return [], []

    def infinite(self, costs: CostsOfShards) -> None:
        return None


def _units(facts: Facts) -> list[float]:
    """The usual size of t for every part: its mean over the first constraints, at the prior or the identity."""
    shards = sorted(facts.heads)
    n_parts = len(facts.sizes[shards[0]]) if shards else 0
    units = []
    for part in range(n_parts):
        means = []
        for place in (part, n_parts + part):  # at the prior, then at the identity
            some = np.concatenate([facts.heads[shard][place] for shard in shards])[:_HEAD]
            means.append(float(np.mean(some)) if some.size else 0.0)
        units.append(next((mean for mean in means if mean > 0), 1.0))
    return units


def _neither(one: None, other: None) -> None:
    """Join two answers that say nothing."""
