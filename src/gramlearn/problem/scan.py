"""low_k <= t_k <= high_k at X = F F', for every constraint: which of them cost something, and which nearly do?

A constraint whose loss vanishes on its whole interval is satisfied. With a stride only every `stride`-th
constraint is scanned.

Most constraints need no scan either. If X and an earlier R, at which every <A_k, R> is known, satisfy
low R <= X <= high R, then low <A_k, R> <= <A_k, X> <= high <A_k, R> for every A_k that is positive
semidefinite. As X converges, low and high approach 1 and only constraints near their bounds are undecided.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from gramlearn._base.arrays import (
    Array,
    chunks,
    concat,
    constant,
    count_true,
    every_row,
    machine_eps,
    namespace,
    read,
    rows_of,
    where_true,
)
from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.linear_maps import Estimates, Products
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import Decomposed

INF = float("inf")
# Constraints within this share of their bound are near it, or within a smaller one where these are many;
# within 0 are those that may cost something.
NEARNESS = (0.0, 0.003, 0.01, 0.03, 0.1)
_NUMBERS = 8  # that are made of a constraint on the way, at a time


@final
@dataclass(frozen=True, eq=False)
class Reference:
    """<A_k, R> of every constraint of a part, at an earlier R = F F'."""

    at: Decomposed | None  # R, or None where nothing will be compared with it
    estimates: Estimates

    @cached_property
    def _inverse_factor(self) -> Array | None:
        """F^-1, or None where R is next to singular."""
        if self.at is None:
            return None
        x = self.at.spectrum
        xp = namespace(x)
        is_singular = read(xp.min(x)) <= 1e-14 * read(xp.max(x))
        return None if is_singular else xp.linalg.inv(self.at.factor)

    def interval(self, factor: Array) -> tuple[float, float] | None:
        """(low, high) with low R <= X <= high R, rounding included; None where that would be too wide."""
        if self._inverse_factor is None:
            return None
        xp = namespace(factor)
        sigma = xp.linalg.svdvals(self._inverse_factor @ factor)
        largest, least = read(sigma[0]), read(sigma[-1])
        eps = machine_eps(factor)
        margin = 32 * eps * factor.shape[0] * largest / least if least > 0 else INF
        if margin > 1e-4:
            return None
        return (least * (1 - margin)) ** 2, (largest * (1 + margin)) ** 2


@final
@dataclass(frozen=True, eq=False)
class Scan:
    """Bounds on the t_k of a part, or of every `stride`-th of its constraints.

    They are computed from the reference where they are looked at, slice by slice: written out for a billion
    constraints they would take more memory than the constraints themselves.
    """

    part: Part  # cut down to the constraints that were scanned
    stride: int
    factor: Array
    reference: Reference
    interval: tuple[float, float] = (1.0, 1.0)  # (low, high) with low R <= X <= high R

    def bounds(self, rows: slice) -> tuple[Array, Array]:
        """(low, high) with low_k <= t_k <= high_k."""
        estimates = self.reference.estimates
        some = estimates._replace(values=estimates.values[rows])
        return some.bounds(rows_of(self.part.offset, rows), *self.interval)

    def undecided(self, margin: float = 0.0) -> Array:
        """The rows of what was scanned that may cost something, or would if t were off by this share."""
        return concat([rows for rows, *_ in self._undecided(margin)], every_row(0, self.factor))

    def _undecided(self, margin: float) -> Iterator[tuple[Array, Loss, Array, Array, Array]]:
        """Slice by slice: the undecided rows, their loss, the bounds on their t, and the size of these."""
        for rows in chunks(self.part.size, _NUMBERS, self.factor):
            low, high = self.bounds(rows)
            size = namespace(low).maximum(namespace(low).abs(low), namespace(low).abs(high))
            loss = self.part.loss.take(rows)
            width = margin * size
            found = where_true(~loss.is_slack(low - width, high + width))
            some = (x[found] for x in (low, high, size))
            yield found + rows.start, loss.take(found), *some

    def costly(self) -> tuple[Array, Array]:
        """The rows, of the whole part, whose loss is not zero at X, and their t."""
        rows = self.undecided()
        some = self.part.index_rows(rows)
        t = some.offset + some.map.restrict(self.factor).traces(constant(1.0, self.factor, 1))
        costly = where_true(~some.loss.is_slack(t, t))
        return rows[costly] * self.stride, t[costly]

    def nearness(self) -> tuple[Array, Array]:
        """The rows of what was scanned that are near their bounds or cost something, and how near.

        k where it is within `NEARNESS[k]` of its bound and not nearer: 0 is one that may cost something at X.
        """
        found, levels = [every_row(0, self.factor)], [every_row(0, self.factor)]
        for rows, loss, low, high, size in self._undecided(NEARNESS[-1]):
            xp, level = namespace(rows), namespace(rows).zeros_like(rows)
            for margin in NEARNESS[:-1]:
                is_farther = loss.is_slack(low - margin * size, high + margin * size)
                level = level + xp.astype(is_farther, level.dtype)
            found.append(rows)
            levels.append(level)
        return concat(found, found[0]), concat(levels, levels[0])

    def near(self, first: int) -> Array:
        """The rows, of the whole part, that may cost something at X, and some of the nearest others."""
        rows, level = self.nearness()
        counts = [count_true(level <= k) for k in range(len(NEARNESS))]
        return rows[level <= widest(counts, first)] * self.stride


def widest(counts: Sequence[int], first: int) -> int:
    """How near a constraint must be to be kept, where so many are as near as that or nearer."""
    limit = first + 3 * int(counts[0])
    return max(k for k, count in enumerate(counts) if k == 0 or count <= limit)


def scan(
    part: Part,
    at: Decomposed,
    products: Products,
    *,
    stride: int = 1,
    known: Reference | None = None,
    exact: bool = False,
) -> Scan:
    """Bound every t_k: from a `known` reference where that decides most constraints, or from X itself.

    Scans at the same X share their `products`. A reference and an exact scan are of the whole part.
    """
    factor = at.factor
    interval = None if known is None else known.interval(factor)
    if known is not None and interval is not None and part.map.is_nonnegative:
        found = Scan(part, 1, factor, known, interval)
        if 2 * int(found.undecided().shape[0]) < part.size:
            return found
    part = part.every(stride, factor)
    if exact:
        values = part.map.restrict(factor, products).traces(constant(1.0, factor, 1))
        reference = Reference(None, Estimates(values, 0.0, 0.0))
    else:
        reference = Reference(at, part.map.estimates(factor, products))
    return Scan(part, stride, factor, reference)


def near_rows(
    dual: Dual, at: Decomposed, stride: int, first: int, products: Products | None = None
) -> list[Array]:
    """Find the rows of each part that cost something at X, and some of the nearest others.

    With a stride only every `stride`-th constraint is scanned. The constraints outside the rows cost exactly
    nothing at X, so that the certificate of a PrimalPoint over the rows holds for all constraints.
    """
    products = {} if products is None else products
    found = []
    for part in dual.parts:
        size = -(-part.size // stride)
        if not part.loss.can_be_slack or size <= first:
            found.append(every_row(size, dual.like) * stride)
        else:
            found.append(scan(part, at, products, stride=stride).near(first))
    return found
