"""Statements in chunks of some rows: which of two points are near each other, and which are far apart."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Hinge

from gramlearn import Problem, Term
from gramlearn._base.arrays import eye
from gramlearn._base.workers import Crew
from gramlearn._base.workers.crew import PartsLostError
from gramlearn.problem.constraints.indexed import IndexedTerm
from gramlearn.problem.linear_maps import Direction
from gramlearn.solvers.shards import PoolOfShards, Site, Source

DIFFERENCE = (Direction(1.0, 0, -1, 1),)


@dataclass(frozen=True)
class Chunked:
    """Pairs (i, j): those that are alike have a loss with an upper bound, the others one with a lower bound."""

    i: np.ndarray
    j: np.ndarray
    alike: np.ndarray
    losses: tuple[Any, Any]
    chunk: int

    @property
    def n_chunks(self) -> int:
        return -(-len(self.i) // self.chunk)

    def rows(self, chunk: int) -> slice:
        return slice(chunk * self.chunk, min((chunk + 1) * self.chunk, len(self.i)))

    def bytes_of(self, chunk: int) -> int:
        rows = self.rows(chunk)
        return 16 * (rows.stop - rows.start)

    @property
    def n_given(self) -> int:
        return self.rows(self.n_chunks - 1).stop

    def bytes_to_read(self, chunk: int) -> int:
        return 2 * self.bytes_of(chunk)

    def indexed_terms(self, chunk: int, loss: Any, bounds: Any = None) -> list[IndexedTerm]:
        rows = self.rows(chunk)
        i, j, alike = self.i[rows], self.j[rows], self.alike[rows]
        terms, start = [], rows.start
        for of, found in zip((alike, ~alike), self.losses, strict=True):
            end = start + int(of.sum())
            terms.append(IndexedTerm((i[of], j[of]), DIFFERENCE, found, slice(start, end)))
            start = end
        return terms


@dataclass(frozen=True)
class Example:
    """The same problem in one memory and in shards."""

    points: Any
    statements: Chunked
    regularizer: Any

    @classmethod
    def of(
        cls, loss: Any, regularizer: Any, *, size: int = 3000, rank: int = 4, chunk: int = 700
    ) -> "Example":
        rng = np.random.default_rng(0)
        points = rng.standard_normal((200, rank))
        i, j = rng.integers(0, 100, size), rng.integers(100, 200, size)
        stretched = (points[i] - points[j]) * 10.0 ** np.linspace(-0.5, 0.5, rank)
        distances = np.sum(stretched**2, axis=1)
        middle = np.median(distances)
        alike = distances * rng.uniform(0.8, 1.25, size) < middle
        price = 300.0 / size
        losses = (loss(price, upper=0.5 * middle), loss(price, lower=middle))
        return cls(points, Chunked(i, j, alike, losses, chunk), regularizer)

    @property
    def bare(self) -> Problem:
        """Without its constraints."""
        return Problem(self.regularizer, eye(self.points.shape[1], self.points))

    @property
    def whole(self) -> Problem:
        """In one memory."""
        s = self.statements
        terms = [
            Term(SquaredDistances(s.i[of], s.j[of], points=self.points), loss)
            for of, loss in zip((s.alike, ~s.alike), s.losses, strict=True)
        ]
        return Problem(self.regularizer, eye(self.points.shape[1], self.points), terms)

    @property
    def source(self) -> Source:
        bare = self.bare
        return Source(bare.dual, bare.space.spectrum, self.statements, Hinge())

    def in_shards(self, crew: Crew) -> Problem:
        source, bare = self.source, self.bare
        crew.place(partial(Site, source), source.sizes, self.points)
        return bare.with_pool(PoolOfShards(crew, bare.dual))


class Several(Crew):
    """So many workers in this process. `losing` names the questions at which one is lost, by their number."""

    def __init__(self, count: int, losing: tuple[int, ...] = ()) -> None:
        self.count, self.losing = count, losing
        self.asked = 0
        self.questions: list[str] = []

    def place(self, make: Any, sizes: Any, shared: Any) -> None:
        self.make = make, shared
        self.shards = [list(range(len(sizes)))[k :: self.count] for k in range(self.count)]
        self.workers = [make(shards, shared, float("inf")) for shards in self.shards]

    def room_beside(self, shared: Any) -> tuple[int, float]:
        return self.count, float("inf")

    @property
    def n_places(self) -> int:
        return self.count

    def map(self, question: str, *args: Any) -> list[Any]:
        self.asked += 1
        self.questions.append(args[1])
        if self.asked in self.losing:
            lost = self.asked % self.count
            make, shared = self.make
            self.workers[lost] = make(self.shards[lost], shared, float("inf"))
            raise PartsLostError
        return [getattr(worker, question)(*args) for worker in self.workers]

    def close(self) -> None:
        for worker in self.workers:
            worker.close()
