"""Which constraints matter at X: a pool finds them, and a stage of the path works with those.

Newton's method on X asks a pool for the constraints near their bounds, all or among a sample, and these for
their costs. So it does not matter where the constraints are: `PoolHere` has them in the memory of this process.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from gramlearn._base.arrays import (
    Array,
    clipped,
    concat,
    constant,
    every_row,
    is_array,
    namespace,
    scatter,
)
from gramlearn.problem.costs import Costs, CostsHere
from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.linear_maps import Products
from gramlearn.problem.ramps import can_be_smoothed, smoothed
from gramlearn.problem.scan import near_rows
from gramlearn.problem.spectral import ConjugatePoint, Decomposed

_OF_A_KIND = 100  # constraints that tell of all of their kind
MOST = 0.75  # where this share of the constraints matters, all are taken: they need not be looked for again


@dataclass(frozen=True)
class Look:
    """What to look for: every `stride`-th constraint, with that many times its weight, and ramps of a width.

    At least `first` that cost nothing are kept near; `everywhere`, all are. Ramps go through the `prices` of
    all constraints, where there are some.
    """

    stride: int
    width: float  # 0 where no loss has a kink
    first: int
    everywhere: bool = False
    prices: Any = None


class Working(ABC):
    """The constraints that a stage works with: those that cost something or are near their bounds."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many they are."""

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Whether these are all constraints."""

    @abstractmethod
    def costs(self, at: ConjugatePoint) -> Costs:
        """What they cost at X, with ramps in place of kinks."""

    @abstractmethod
    def costs_again(self, costs: Any) -> Costs:
        """The same at the X of costs with other ramps, whose t are taken over."""

    @abstractmethod
    def everywhere(self, costs: Any) -> Any:
        """The prices of all constraints of the pool, zero where they were not looked at."""

    @abstractmethod
    def narrowed(self, width: float, prices: Any) -> "Working":
        """The same constraints with ramps of another width, through these prices of all constraints."""

    @abstractmethod
    def at_prices(self, costs: Any, prices: Any) -> Costs:
        """The costs at these prices of all constraints, in place of their own."""

    @abstractmethod
    def named(self, prices: Any) -> tuple[list[Array], list[Array]]:
        """The rows of each part of the dual and the prices there, so far as they are in this process."""

    @abstractmethod
    def infinite(self, costs: Any) -> list[Array] | None:
        """The rows of each part that cost infinity; None where they are not in this process."""


class Pool(ABC):
    """All constraints of a problem."""

    @property
    @abstractmethod
    def dual(self) -> Dual:
        """The dual, of which only what does not depend on the constraints may be looked at."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many constraints there are."""

    @property
    @abstractmethod
    def is_smooth(self) -> bool:
        """Whether all losses have a derivative."""

    @property
    @abstractmethod
    def is_never_negative(self) -> bool:
        """Whether no loss is ever below zero, so that no value of the problem is."""

    @abstractmethod
    def objection(self) -> str | None:
        """Say why Newton on X cannot work with these constraints, or None where it can."""

    @abstractmethod
    def multiple_at_bounds(self, x: Array) -> float:
        """See `Dual.multiple_at_bounds`."""

    @abstractmethod
    def look(self, at: ConjugatePoint, wanted: Look) -> Working:
        """Find the constraints that matter at X."""

    @abstractmethod
    def every_cost(self, at: ConjugatePoint) -> Costs:
        """The losses of all constraints at X, as they are."""


@final
@dataclass(frozen=True, eq=False)
class WorkingHere(Working):
    """Rows of a dual in the memory of this process; `exact` has their losses as they are."""

    whole: Dual
    rows: list[Array]
    exact: Dual
    smooth: Dual

    @classmethod
    def of(cls, whole: Dual, rows: list[Array], wanted: Look) -> "WorkingHere":
        """These rows of the dual."""
        exact = weighted(whole.materialize_rows(rows), wanted.stride)
        return cls(whole, rows, exact, exact).narrowed(wanted.width, wanted.prices)

    @classmethod
    def of_all(cls, whole: Dual, wanted: Look) -> "WorkingHere":
        """All constraints of the dual, which are not copied."""
        exact = weighted(whole, wanted.stride)
        return cls(whole, whole.every_row, exact, exact).narrowed(wanted.width, wanted.prices)

    @property
    def size(self) -> int:
        return self.exact.size

    @property
    def is_whole(self) -> bool:
        return self.exact.size == self.whole.size

    def costs(self, at: Decomposed, products: Products | None = None) -> CostsHere:
        return CostsHere(self.smooth, at.frame, at.spectrum, exact=self.exact, products=products)

    def costs_again(self, costs: CostsHere) -> CostsHere:
        return CostsHere(self.smooth, costs.frame, costs.spectrum, exact=self.exact, same=costs)

    def everywhere(self, costs: CostsHere) -> list[Array]:
        pieces = zip(self.exact.split(costs.lam), self.rows, self.whole.parts, strict=True)
        return [scatter(values, rows, part.size) for values, rows, part in pieces]

    def narrowed(self, width: float, prices: Sequence[Array] | None) -> "WorkingHere":
        if not width:
            return replace(self, smooth=self.exact)
        centers = None
        if prices is not None:
            centers = [lam[rows] for lam, rows in zip(prices, self.rows, strict=True)]
        return replace(self, smooth=smoothed(self.exact, width, centers))

    def at_prices(self, costs: CostsHere, prices: Sequence[Array]) -> CostsHere:
        pieces = zip(prices, self.rows, strict=True)
        lam = clipped(concat([lam[rows] for lam, rows in pieces], costs.t), *self.exact.box)
        return costs.at_prices(lam)

    def named(self, prices: Array) -> tuple[list[Array], list[Array]]:
        return self.rows, self.exact.split(prices)

    def infinite(self, costs: CostsHere) -> list[Array]:
        pieces = zip(self.exact.parts, self.exact.split(costs.t), self.rows, strict=True)
        return [rows[namespace(t).isinf(part.loss.value(t))] for part, t, rows in pieces]


@final
@dataclass(frozen=True, eq=False)
class PoolHere(Pool):
    """The constraints of a dual in the memory of this process."""

    all: Dual

    @property
    def dual(self) -> Dual:
        return self.all

    @property
    def size(self) -> int:
        return self.all.size

    @property
    def is_smooth(self) -> bool:
        return all(part.loss.is_smooth for part in self.all.parts)

    @property
    def is_never_negative(self) -> bool:
        # The least value of a loss is -loss*(0), the same for constraints of one kind.
        # A linear loss has none; it moves the origin.
        def least(part: Part) -> Array:
            some = min(part.size, _OF_A_KIND)
            loss = part.index_rows(every_row(some, self.all.like)).loss
            return -loss.conjugate(constant(0.0, self.all.like, some))

        is_below = (bool(namespace(x).any(x < 0)) for x in map(least, self.all.parts))
        return not (self.all.origin.fixed or any(is_below))

    def objection(self) -> str | None:
        for part in self.all.parts:
            name = type(part.loss).__name__
            if not (part.loss.is_smooth or can_be_smoothed(part, self.all.like)):
                return f"{name} has no derivative everywhere, and is no hinge"
            # Where t may be zero or less, such a loss is infinite, at the start or later.
            offset = part.offset
            is_positive = (
                bool(namespace(offset).all(offset >= 0)) if is_array(offset) else offset >= 0
            )
            if part.size and part.loss.has_domain and not (part.map.is_nonnegative and is_positive):
                return f"{name} is infinite for some t that these constraints may have"
        return None

    def multiple_at_bounds(self, x: Array) -> float:
        return self.all.multiple_at_bounds(x)

    def look(self, at: ConjugatePoint, wanted: Look) -> WorkingHere:
        dual = self.all
        rows = (
            dual.every_row
            if wanted.everywhere
            else near_rows(dual, at, wanted.stride, wanted.first)
        )
        if wanted.stride == 1 and sum(int(r.shape[0]) for r in rows) >= MOST * dual.size:
            rows = dual.every_row
        return WorkingHere.of(dual, rows, wanted)

    def every_cost(self, at: ConjugatePoint) -> CostsHere:
        # Prices of losses with kinks are not asked for: any will do.
        return CostsHere(self.all, at.frame, at.spectrum, self.all.like)


def weighted(dual: Dual, factor: float) -> Dual:
    """The dual with so many times the weight on every loss."""
    if factor == 1:
        return dual
    parts = (replace(p, loss=replace(p.loss, weight=factor * p.loss.weight)) for p in dual.parts)
    return replace(dual, parts=tuple(parts))
