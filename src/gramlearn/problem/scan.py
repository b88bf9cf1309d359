"""low_k <= t_k <= high_k at X = F F', for every constraint: which of them cost something, and which nearly do?

A constraint whose loss vanishes on its whole interval is satisfied. With a stride only every `stride`-th
constraint is scanned.

Most constraints need no scan either. If X and an earlier R, at which every <A_k, R> is known, satisfy
low R <= X <= high R, then low <A_k, R> <= <A_k, X> <= high <A_k, R> for every A_k that is positive
semidefinite. As X converges, low and high approach 1 and only constraints near their bounds are undecided.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from gramlearn._base.arrays import (
    Array,
    constant,
    count_true,
    every_row,
    machine_eps,
    namespace,
    read,
    where_true,
)
from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.linear_maps import Estimates, Products
from gramlearn.problem.spectral import Decomposed

INF = float("inf")
# Constraints within this share of their bound are near it, or within a smaller one where these are many;
# within 0 are those that may cost something.
NEARNESS = (0.0, 0.003, 0.01, 0.03, 0.1)


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
    """Bounds on the t_k of a part, or of every `stride`-th of its constraints."""

    part: Part  # cut down to the constraints that were scanned
    stride: int
    factor: Array
    low: Array
    high: Array
    reference: Reference

    def costly(self) -> tuple[Array, Array]:
        """The rows, of the whole part, whose loss is not zero at X, and their t."""
        rows = where_true(~self.part.loss.is_slack(self.low, self.high))
        some = self.part.index_rows(rows)
        t = some.offset + some.map.restrict(self.factor).traces(constant(1.0, self.factor, 1))
        costly = where_true(~some.loss.is_slack(t, t))
        return rows[costly] * self.stride, t[costly]

    def nearness(self) -> tuple[Array, Array]:
        """The rows of what was scanned that are near their bounds or cost something, and how near.

        k where it is within `NEARNESS[k]` of its bound and not nearer: 0 is one that may cost something at X.
        """
        low, high, loss = self.low, self.high, self.part.loss
        xp = namespace(low)
        size = xp.maximum(xp.abs(low), xp.abs(high))
        rows = where_true(~loss.is_slack(low - NEARNESS[-1] * size, high + NEARNESS[-1] * size))
        low, high, size, loss = low[rows], high[rows], size[rows], loss.take(rows)
        level = xp.zeros_like(rows)
        for margin in NEARNESS[:-1]:
            level = level + xp.astype(
                loss.is_slack(low - margin * size, high + margin * size), level.dtype
            )
        return rows, level

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
        low, high = known.estimates.bounds(part.offset, *interval)
        undecided = where_true(~part.loss.is_slack(low, high))
        if 2 * undecided.shape[0] < part.size:
            return Scan(part, 1, factor, low, high, known)
    if stride > 1:
        part = part.index_rows(every_row(-(-part.size // stride), factor) * stride)
    if exact:
        values = part.map.restrict(factor, products).traces(constant(1.0, factor, 1))
        reference = Reference(None, Estimates(values, 0.0, 0.0))
    else:
        reference = Reference(at, part.map.estimates(factor, products))
    return Scan(part, stride, factor, *reference.estimates.bounds(part.offset), reference)


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
