"""Numbering pairs and triplets: 0, 1, ..., total - 1 <-> places, without listing them.

Points sorted by group stand in runs: start, start + 1, ..., start + size - 1. Pairs within a run
are a triangle of size (size - 1) / 2 numbers, pairs between two runs a rectangle, two places of a
run with one outside it a box. To draw distinct ones is then to draw distinct numbers, and to list
all is to list all numbers. Memory is that of the ones asked for, never n^2. Host memory and NumPy:
these are indices, which go with points of any library.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np


def sorted_distinct(numbers: np.ndarray) -> np.ndarray:
    """What `numpy.unique` gives, by a sort; its hash table is many times slower on millions."""
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def distinct_numbers(rng: np.random.Generator, total: int, size: int) -> np.ndarray:
    """Draw `size` different numbers of 0..total-1, shuffled, every choice equally likely."""
    if 2 * size > total:
        return rng.permutation(total)[:size]
    # Draw with replacement until enough are different. `drawn` stays symmetric in all numbers, so
    # that any part of it, chosen blindly, is a fair draw.
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < size:
        n_draws = int(-total * np.log1p(-(size - drawn.size) / total) * 1.02) + 16
        drawn = sorted_distinct(np.concat([drawn, rng.integers(total, size=n_draws)]))
    return rng.permutation(drawn)[:size]


@final
@dataclass(frozen=True, eq=False)
class Runs:
    """Points sorted by group: order[start[g]], ..., order[start[g] + size[g] - 1] is group g."""

    order: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, groups: np.ndarray) -> "Runs":
        """Sort points by their group, 0..c-1."""
        return cls(np.argsort(groups, kind="stable"), np.bincount(groups))

    @property
    def end(self) -> np.ndarray:
        """One past the last place of each group."""
        return np.cumsum(self.size)

    @property
    def start(self) -> np.ndarray:
        """The first place of each group."""
        return self.end - self.size

    def points(self, places: tuple[np.ndarray, ...]) -> np.ndarray:
        """Turn pairs or triplets of places into a table of points, one row for each."""
        return np.stack([self.order[place] for place in places], axis=1)


class Blocks(ABC):
    """Blocks of pairs or triplets of places, numbered one after the other."""

    @property
    @abstractmethod
    def counts(self) -> np.ndarray:
        """How many each block has."""

    @abstractmethod
    def inside(self, block: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
        """Give the q-th of each block."""

    @property
    @final
    def total(self) -> int:
        """How many there are."""
        return int(self.counts.sum()) if self.counts.size else 0

    @final
    def places(self, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Give the places of those that have these numbers."""
        ends = np.cumsum(self.counts)
        block = np.searchsorted(ends, numbers, side="right")
        return self.inside(block, numbers - (ends - self.counts)[block])

    @final
    def all_places(self) -> tuple[np.ndarray, ...]:
        """Give every one."""
        return self.places(np.arange(self.total))


@final
@dataclass(frozen=True, eq=False)
class Triangles(Blocks):
    """Pairs a < b within a run: (0, 1), (0, 2), (1, 2), (0, 3), ... from its start."""

    start: np.ndarray
    size: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        return self.size * (self.size - 1) // 2

    def inside(self, block: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # q = b (b - 1) / 2 + a with a < b. The root is rounded: for a large q it is one off at
        # most.
        b = ((1 + np.sqrt(8.0 * q + 1)) / 2).astype(np.int64)
        b -= b * (b - 1) // 2 > q
        b += b * (b + 1) // 2 <= q
        a = q - b * (b - 1) // 2
        start = self.start[block]
        return start + a, start + b


@final
@dataclass(frozen=True, eq=False)
class Rectangles(Blocks):
    """Pairs of a place in one run and a place in another."""

    start: np.ndarray
    size: np.ndarray
    other_start: np.ndarray
    other_size: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        return self.size * self.other_size

    def inside(self, block: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        width = self.other_size[block]
        return self.start[block] + q // width, self.other_start[block] + q % width


@final
@dataclass(frozen=True, eq=False)
class Boxes(Blocks):
    """Triplets (a, b, c) of two places in a run, in either order, and one of `total_size` outside it."""

    start: np.ndarray
    size: np.ndarray
    total_size: int

    @property
    def counts(self) -> np.ndarray:
        return self.size * (self.size - 1) * (self.total_size - self.size)

    def inside(self, block: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        start, size = self.start[block], self.size[block]
        pair, c = np.divmod(q, self.total_size - size)
        a, b = np.divmod(pair, size - 1)
        # b and c are counted without the place, or the run, that they leave out.
        return start + a, start + b + (b >= a), c + np.where(c >= start, size, 0)
