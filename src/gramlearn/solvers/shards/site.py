"""Some of the shards, in one process: what a solve asks of their constraints is answered in sums.

A site keeps little of a shard: which rows matter, in one bit each, and the prices that ramps go through. Its
`Store` keeps every k-th constraint, as many as there is memory for, and what matters is kept where that fits as
well. A pass over all constraints reads the others anew. What stands for the curved constraints, in the many
products of a Newton direction, is a sample of them. So memory depends on the points and on r, and hardly on how
many constraints there are.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any, NamedTuple, cast, final

import numpy as np

from gramlearn._base.arrays import (
    Array,
    as_real,
    concat,
    constant,
    every_row,
    free_bytes,
    is_array,
    namespace,
    read,
    to_numpy,
)
from gramlearn.problem.costs import Audit, CostsHere, relative_change
from gramlearn.problem.curved import CurvedHere
from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.linear_maps import DirectionMap, LinearMap, Products, joined
from gramlearn.problem.pool import MOST, Look, PoolHere, WorkingHere, weighted
from gramlearn.problem.scan import near_rows
from gramlearn.solvers.shards.answers import (
    At,
    Facts,
    Gathered,
    Looked,
    Reading,
    Sought,
    join_audits,
    join_sizes,
    nothing_to_audit,
)
from gramlearn.solvers.shards.forecast import Needed
from gramlearn.solvers.shards.packed import PackedPrices, PackedRows
from gramlearn.solvers.shards.source import Source
from gramlearn.solvers.shards.store import Store
from gramlearn.solvers.symmetric import Coordinates

_SPARE = 0.9  # share of the free memory of a device that may be used
_HEAD = 1000  # constraints that tell the usual size of t
_WATCHED = 500  # constraints of a shard that tell how far t moves


class _Chosen(NamedTuple):
    """Constraints that matter, by shard, and the ramps in place of their kinks."""

    stride: int
    width: float
    prices: int | None
    rows: dict[int, list[PackedRows]]
    kept: "_Kept"


class _Kept:
    """Chosen constraints that stay in memory, block by block: all of them, or none where there is no room."""

    def __init__(self, room: float) -> None:
        self._room = room
        self.size = 0
        self.duals: dict[int, Dual] | None = {}

    def add(self, block: int, dual: Dual) -> None:
        """Keep those of a block, as long as there is room."""
        if self.duals is None:
            return
        self.size += dual.size
        self.duals[block] = dual
        if self.size > self._room:
            self.size, self.duals = 0, None


@final
class Site:
    """The constraints of some shards, over these points, which takes `memory` bytes beside them at most.

    The points may have been made of `given` ones, of which equal ones are known by their numbers; those that
    are no farther apart than `rounding` count as equal, too.
    """

    def __init__(
        self,
        source: Source,
        shards: Sequence[int],
        points: Any,
        memory: float = math.inf,
        given: Any = None,
        rounding: float = 0.0,
    ) -> None:
        self._opened = source.over(points, given, rounding)
        self._like = self._opened.common.like
        self._rank = self._opened.common.rank
        n_points = int(self._opened.points.shape[0])
        needed = Needed.of(source.statements, shards, n_points, self._rank)
        room = needed.kept(min(memory, _SPARE * free_bytes(self._like)))
        self._store = Store(self._opened, shards, needed, room)
        self._facts: Facts | None = None
        self._units: list[float] = []
        self._stand_in = 1.0
        self._chosen: dict[int, _Chosen] = {}
        self._prices: dict[int, dict[int, list[PackedPrices]]] = {}
        self._curved: dict[int, CurvedHere] = {}
        self._watched: dict[int, tuple[Array, Array]] = {}

    def close(self) -> None:
        """Let go of everything."""
        self.__dict__.clear()

    def answer(self, forgotten: Sequence[int], question: str, *args: Any) -> Any:
        """Answer a question, which is the name of a method, after forgetting what is not needed any more."""
        for number in forgotten:
            for kept in (self._chosen, self._prices, self._curved, self._watched):
                kept.pop(number, None)
        return getattr(self, question)(*args)

    # ---- before any X -----------------------------------------------------------------------

    def facts(self) -> Facts:
        """What is known before any X is looked at."""
        if self._facts is None:
            self._facts = self._load()
        return self._facts

    def _load(self) -> Facts:
        """Read all shards once, and keep what there is memory for."""
        sizes, heads, is_smooth, is_never_negative, objection = {}, {}, True, True, None
        n_lost, first_lost = 0, math.inf
        spectrum = as_real(self._opened.source.spectrum, self._like)
        for shard, (dual, lost) in self._store.load():
            n_lost, first_lost = n_lost + lost.size, min([first_lost, *lost[:1]])
            sizes[shard] = [part.size for part in dual.parts]
            some = [
                part.index_rows(every_row(min(part.size, _HEAD), self._like)).map.detached()
                for part in dual.parts
            ]
            heads[shard] = [
                to_numpy(namespace(x).abs(linear.traces(x)))
                for x in (spectrum, namespace(spectrum).ones_like(spectrum))
                for linear in some
            ]
            pool = PoolHere(dual)
            is_smooth = is_smooth and pool.is_smooth
            is_never_negative = is_never_negative and pool.is_never_negative
            objection = objection or pool.objection()
        impossible = [int(first_lost)] if n_lost else []
        return Facts(sizes, heads, is_smooth, is_never_negative, objection, n_lost, impossible)

    def settle(self, units: Sequence[float], stand_in: float) -> None:
        """Be told the usual size of t for every part, and what share may stand for curved constraints."""
        self.facts()  # a site that came late has read nothing yet
        self._units, self._stand_in = list(units), stand_in

    def sizes_at(self, x: np.ndarray) -> list[tuple[float, float]]:
        """For every part the sums of its bounds and of t, see `Dual.sizes_at`."""
        found = [dual.sizes_at(as_real(x, self._like)) for _, dual in self._duals(1)]
        return reduce(join_sizes, found) if found else []

    # ---- at an X ----------------------------------------------------------------------------

    def look(self, chosen: int, costs: int, at: At, sought: Sought) -> Looked:
        """Choose the constraints that matter at X, under this number, and give their costs there."""
        framed, products = at.framed(self._like), Products()
        found: dict[int, list[PackedRows]] = {}
        size = out_of = 0
        sums = _Sums(self._like, self._rank)
        kept = _Kept(self._store.spare - self._size_of_kept)
        for block, dual in self._duals(sought.stride):
            first = math.ceil(sought.density * dual.size)
            rows = dual.every_row
            if not sought.everywhere:
                rows = near_rows(dual, framed, 1, first, products)
            if sought.stride == 1 and sum(int(r.shape[0]) for r in rows) >= MOST * dual.size:
                rows = dual.every_row
            found[block] = [
                PackedRows.of(some, part.size) for some, part in zip(rows, dual.parts, strict=True)
            ]
            some = _cut(dual, rows)
            size, out_of = size + some.size, out_of + dual.size
            kept.add(block, some)
            working = self._working(block, some, found[block], sought)
            thinning = self._thinning(block, found[block], sought.stride)
            sums.add(working.costs(framed, products), None, thinning)
        self._chosen[chosen] = _Chosen(sought.stride, sought.width, sought.prices, found, kept)
        return Looked(size, out_of, self._put_aside(costs, sums))

    def narrow(self, old: int, new: int, width: float, prices: int | None) -> None:
        """The same constraints with ramps of another width, through these prices, under a new number."""
        self._chosen[new] = self._chosen[old]._replace(width=width, prices=prices)

    def read(self, chosen: int, costs: int, at: At) -> Reading:
        """The costs of what was chosen, at X."""
        known, sums = self._chosen[chosen], _Sums(self._like, self._rank)
        for block, _, found, moved in self._costs(chosen, at):
            sums.add(found, moved, self._thinning(block, known.rows[block], known.stride))
        return self._put_aside(costs, sums)

    def losses_of_all(self, at: At) -> float:
        """The losses of all constraints at X, as they are."""
        framed, products = at.framed(self._like), Products()
        return sum(
            # Prices, which losses with kinks do not have, are not asked for: any will do.
            CostsHere(dual, framed.frame, framed.spectrum, dual.like, products=products).losses
            for _, dual in self._duals(1)
        )

    def audits(self, chosen: int, at: At, shares: Sequence[float]) -> list[Audit]:
        """What a certificate needs to know of these shares of the prices."""
        totals = [nothing_to_audit(self._rank) for _ in shares]
        for _, _, costs, _ in self._costs(chosen, at):
            found = [each._replace(spread=to_numpy(each.spread)) for each in costs.audits(shares)]
            totals = join_audits(totals, found)
        return totals

    def remember(self, chosen: int, prices: int, at: At) -> None:
        """Keep the prices at X, under this number."""
        self._prices[prices] = {
            block: [
                PackedPrices.of(lam, part.loss, rows)
                for lam, part, rows in zip(
                    working.exact.split(costs.lam),
                    working.exact.parts,
                    self._chosen[chosen].rows[block],
                    strict=True,
                )
            ]
            for block, working, costs, _ in self._costs(chosen, at)
        }

    def change(self, old: int, new: int) -> float:
        """How far t moved between two costs, at most, over some of the constraints."""
        (before, units), (after, _) = self._watched[old], self._watched[new]
        change = relative_change(before, after, units)
        return read(namespace(change).max(change)) if change.shape[0] else 0.0

    # ---- curved constraints -----------------------------------------------------------------

    def curved(self, costs: int, question: str, *args: Any) -> Any:
        """Ask the curved constraints of these costs."""
        curved = self._curved[costs]
        like = curved.curvature
        brought = [as_real(x, like) if is_array(x) else x for x in args]
        return _sent(getattr(curved, question)(*brought))

    def gram(self, costs: int) -> np.ndarray:
        """See `Curved.gram`."""
        coordinates = Coordinates(self._rank, self._like)
        return to_numpy(self._curved[costs].gram(coordinates))

    def gathered(self, costs: int) -> Gathered:
        """The directions of the curved constraints with their weights, and how curved they are."""
        curved = self._curved[costs]
        maps = cast(list[DirectionMap], curved.maps)
        return [(to_numpy(m.z), m.weights) for m in maps], to_numpy(curved.curvature)

    def sample(self, costs: int, new: int, every: int) -> Reading:
        """Every so manieth of the curved constraints, under a new number."""
        curved = self._curved[costs]
        self._curved[new] = curved.every(every, 0) if every > 1 else curved
        return _bends(self._curved[new], self._rank)

    def in_single(self, costs: int, new: int, scale: float, peak: float) -> Reading:
        """The curved constraints in single precision, under a new number."""
        self._curved[new] = self._curved[costs].in_single(scale, peak)
        return _bends(self._curved[new], self._rank)

    # ---- blocks of constraints ---------------------------------------------------------------

    def _costs(
        self, chosen: int, at: At
    ) -> Iterator[tuple[int, WorkingHere, CostsHere, Array | None]]:
        """The costs of what was chosen, block by block, and how a step moves their adjoint."""
        known = self._chosen[chosen]
        framed, products = at.framed(self._like), Products()
        for block, dual in self._chosen_duals(known):
            rows = known.rows[block]
            working = self._working(block, dual, rows, known)
            costs, moved = working.costs(framed, products), None
            if at.step is not None:
                costs, moved = costs.ahead(as_real(at.step, self._like))
            elif at.prices is not None:
                prices = self._known_prices(block, working.exact, rows, at.prices)
                costs = working.at_prices(costs, prices or self._no_prices(dual))
            elif at.exact:
                costs = costs.with_kinks()
            yield block, working, costs, moved

    def _chosen_duals(self, known: _Chosen) -> Iterator[tuple[int, Dual]]:
        """What was chosen, block by block: kept, or cut out of all constraints again."""
        if known.kept.duals is not None:
            yield from known.kept.duals.items()
            return
        for block, dual in self._duals(known.stride):
            yield block, _cut(dual, [some.rows(self._like) for some in known.rows[block]])

    @property
    def _size_of_kept(self) -> int:
        """How many chosen constraints are kept; what was narrowed shares them."""
        return sum(kept.size for kept in {known.kept for known in self._chosen.values()})

    def _working(
        self, block: int, dual: Dual, rows: list[PackedRows], ramps: "_Chosen | Sought"
    ) -> WorkingHere:
        """The constraints of a dual, all of which were chosen: those of a block at these rows."""
        prices = None
        if ramps.width and ramps.prices is not None:
            prices = self._known_prices(block, weighted(dual, ramps.stride), rows, ramps.prices)
        return WorkingHere.of_all(dual, Look(ramps.stride, ramps.width, 0, False, prices))

    def _put_aside(self, costs: int, sums: "_Sums") -> Reading:
        """Keep what stands for the curved constraints, and the t that are watched, under this number."""
        self._curved[costs], self._watched[costs] = sums.curved, sums.watched
        return sums.total

    def _thinning(self, block: int, rows: list[PackedRows], stride: int) -> tuple[int, int]:
        """How many curved constraints of a block may stand for all of them, and where to begin."""
        size = sum(some.size for some in rows)
        return math.ceil(self._stand_in * stride * size), block

    def _known_prices(
        self, block: int, dual: Dual, rows: list[PackedRows], prices: int
    ) -> list[Array] | None:
        """Remembered prices of a dual, which has a block's constraints at these rows.

        None where the block came here since.
        """
        known = self._prices.get(prices, {}).get(block)
        if known is None:
            return None
        pieces = zip(known, rows, dual.parts, strict=True)
        return [packed.at(some, part.loss, self._like) for packed, some, part in pieces]

    def _no_prices(self, dual: Dual) -> list[Array]:
        return [constant(0.0, self._like, part.size) for part in dual.parts]

    def _duals(self, stride: int) -> Iterator[tuple[int, Dual]]:
        """Every `stride`-th constraint, block by block."""
        for block, parts in self._store.blocks(stride):
            yield block, self._with_units(parts)

    def _with_units(self, parts: list[Part]) -> Dual:
        units = zip(parts, self._units, strict=True)
        return replace(
            self._opened.common, parts=tuple(replace(part, unit=unit) for part, unit in units)
        )


def _cut(dual: Dual, rows: list[Array]) -> Dual:
    """The dual of these rows only; where they are all, the dual itself."""
    return (
        dual
        if sum(int(some.shape[0]) for some in rows) == dual.size
        else dual.materialize_rows(rows)
    )


class _Sums:
    """The costs of shards, added up; with what is kept of them, if they are at the prices of their losses."""

    def __init__(self, like: Array, rank: int) -> None:
        self._like, self._rank = like, rank
        self._total = Reading.nothing(rank)
        self._maps: list[LinearMap] = []
        self._curvature: list[Array] = []
        self._t: list[Array] = []
        self._units: list[Array] = []

    def add(self, costs: CostsHere, moved: Array | None, thinning: tuple[int, int]) -> None:
        """Add those of one shard, of which so many curved ones may stand for all; see `Site._thinning`."""
        if not costs.dual.size:
            return
        self._total = self._total.joined(_sums(costs, moved))
        if not (costs.is_priced and costs.is_finite):
            return
        curved = costs.curved
        every = curved.size // thinning[0]
        some = curved.every(every, thinning[1] % every) if every > 1 else curved
        if some.size:
            self._maps += [linear.detached() for linear in some.maps if linear.size]
            self._curvature.append(some.curvature)
        watched = slice(None, None, -(-costs.dual.size // _WATCHED))
        units = [constant(part.unit, costs.t, part.size) for part in costs.dual.parts]
        self._t.append(costs.t[watched])
        self._units.append(concat(units, costs.t)[watched])

    @property
    def total(self) -> Reading:
        """All sums."""
        return self._total.joined(_bends(self.curved, self._rank))

    @cached_property
    def curved(self) -> CurvedHere:
        """What stands for the curved constraints."""
        return CurvedHere(joined(self._maps), concat(self._curvature, self._like), self._rank)

    @property
    def watched(self) -> tuple[Array, Array]:
        """Some of the t, and their usual size."""
        return concat(self._t, self._like), concat(self._units, self._like)


def _sums(costs: CostsHere, moved: Array | None) -> Reading:
    nothing, exact = Reading.nothing(costs.dual.rank), costs.with_kinks()
    if not costs.is_finite:
        return nothing._replace(is_finite=False)
    return nothing._replace(
        active=costs.active,
        losses=costs.losses,
        exact_losses=exact.losses,
        mismatch=exact.mismatch,
        adjoint=to_numpy(costs.adjoint),
        moved=nothing.moved if moved is None else to_numpy(moved),
    )


def _bends(curved: CurvedHere, rank: int) -> Reading:
    """A reading of nothing but how many constraints are curved, and how much."""
    if not curved.size:
        return Reading.nothing(rank)
    return Reading.nothing(rank)._replace(
        n_curved=curved.size, largest=curved.largest, magnitude=curved.magnitude
    )


def _sent(answer: Any) -> Any:
    """An answer in host memory: arrays travel as those of NumPy."""
    if isinstance(answer, tuple | list):
        return type(answer)(_sent(x) for x in answer)
    return to_numpy(answer) if is_array(answer) else answer
