"""minimize D(M, M0) + sum over chunks sum_k loss_k((p_i - p_j)' M (p_i - p_j)): statements never held whole.

A crew holds the points and reads the statements, chunk by chunk, in every pass; see `solvers.shards`. What is
a statistic is one of a sample of the statements, and of the points that these are about.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.utils import _safe_indexing

from gramlearn._base.arrays import (
    Array,
    as_real,
    is_array,
    is_finite,
    is_on_host,
    namespace,
    to_numpy,
)
from gramlearn._base.checksum import checksum
from gramlearn._base.distances import rounding_under
from gramlearn._base.points import rows_at
from gramlearn._base.unit_length import of_unit_length
from gramlearn._base.validation import as_numbers, check_extent, check_finite
from gramlearn._base.warnings import warn
from gramlearn._base.workers import Crew
from gramlearn._base.workers.lazy import is_lazy
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.problem import Problem
from gramlearn.problem.spectral import Regularizer
from gramlearn.side_information import SideInformation
from gramlearn.side_information.digest import as_bytes, digest
from gramlearn.side_information.stored import StoredStatements
from gramlearn.solvers.shards import PoolOfShards, Site, Source
from gramlearn.solvers.shards.forecast import in_chunks_for

_ROWS = 1 << 16  # that are made other than they were given in one piece
# Statements of a chunk where the points are on a device, to which a launch costs most.
_OF_DEVICE = 1 << 24
_LOOKED_AT = 1000  # rows of points that are elsewhere
SAMPLE = 20_000  # statements that tell what is a statistic


class Sample(NamedTuple):
    """Some of the statements, about points numbered anew, and these points."""

    side: SideInformation
    points: Any

    @classmethod
    def of(cls, X: Any, side: StoredStatements, rng: np.random.Generator, crew: Crew) -> "Sample":
        """Draw one, each statement equally likely."""
        some = side.sample(cls.size_of(side), rng)
        rows = to_numpy(some.involved())
        return cls(some.keep_points(rows), rows_in_memory(X, rows, crew))

    @staticmethod
    def size_of(side: StoredStatements) -> int:
        """How many are drawn; repeated ones are one statement of the sample, with their weights added."""
        return min(SAMPLE, side.size)


def rows_in_memory(X: Any, rows: np.ndarray, crew: Crew) -> Any:
    """Some rows of X, wherever it is, as they are given, in host memory."""
    if is_lazy(X):
        return crew.computed(X[rows])
    return to_numpy(rows_at(X, rows)) if is_array(X) else _safe_indexing(X, rows)


def digest_of_points(X: Any, crew: Crew) -> str:
    """The same for the same points; of those that are not in this process's memory, of a thousand rows."""
    if not is_lazy(X) and is_on_host(X):
        return digest("points", [checksum(to_numpy(X))])
    rows = np.arange(0, X.shape[0], max(1, X.shape[0] // _LOOKED_AT))
    some = to_numpy(rows_in_memory(X, rows, crew))
    return digest("points", [str(tuple(X.shape)).encode(), as_bytes(some)])


def is_double(X: Any) -> bool:
    """Whether the numbers are in double precision as they are; not those of a data frame."""
    return str(getattr(X, "dtype", "")).endswith("float64")


@final
@dataclass(frozen=True, eq=False)
class Seen:
    """p = (x - center) root', x scaled to length one before if asked for: the points as M sees them."""

    unit_length: bool = False
    center: np.ndarray | None = None
    root: np.ndarray | None = None

    def bytes_of(self, X: Any) -> int:
        """What the p take beside X; nothing where they are X itself."""
        n, d = (int(size) for size in X.shape)
        is_same = not self.unit_length and self.root is None and is_double(X)
        return 0 if is_same else 8 * n * (d if self.root is None else len(self.root))

    def __call__(self, X: Any) -> Array:
        """The points p, in double precision, checked."""
        X = as_numbers(X, "X")
        blocks = [slice(k, k + _ROWS) for k in range(0, int(X.shape[0]), _ROWS)]
        for rows in blocks:
            if not is_finite(X[rows]):
                check_finite(X, "X")  # which names the row
            check_extent(X[rows])
        if not self.bytes_of(X):
            return X
        xp = namespace(X)
        width = int(X.shape[1]) if self.root is None else len(self.root)
        like = as_real(X[:0])
        points = xp.empty((int(X.shape[0]), width), dtype=like.dtype, device=like.device)
        for rows in blocks:
            points[rows] = self._moved(as_real(X[rows]), rows.start)
        return points

    def rounding(self, X: Array) -> float:
        """How far apart points may come out that are equal as M sees them."""
        xp = namespace(X)
        center = None if self.center is None else as_real(self.center, as_real(X[:0]))
        sizes = None
        for start in range(0, int(X.shape[0]), _ROWS):
            x = self._measured(as_real(X[start : start + _ROWS]), start)
            largest = xp.max(xp.abs(x if center is None else x - center), axis=0)
            sizes = largest if sizes is None else xp.maximum(sizes, largest)
        return rounding_under(sizes, None if self.root is None else as_real(self.root, sizes))

    def _moved(self, x: Array, first: int) -> Array:
        return self.of_measured(self._measured(x, first))

    def _measured(self, x: Array, first: int) -> Array:
        if not self.unit_length:
            return x
        return of_unit_length(x, "X", "leave it out, or pass normalize=False", first)

    def of_measured(self, x: Array) -> Array:
        """The points p, from x of length one if that was asked for."""
        if self.root is None:
            return x
        x = x if self.center is None else x - as_real(self.center, x)
        return x @ as_real(self.root, x).T


def place_site(source: Source, seen: Seen, shards: Any, X: Any, memory: float) -> Site:
    """A site over the rows of X, wherever it is to stand."""
    # Equal rows differ by rounding once they were moved by a matrix, and rows that are multiples of each other
    # are equal once they have length one.
    given = None if seen.root is None else X
    points = seen(X)
    # What is next to nothing must not ask for a distance where the loss is infinite at zero.
    is_moved = seen.unit_length or seen.root is not None
    rounding = seen.rounding(X) if is_moved or source.is_infinite_at_zero else 0.0
    return Site(source, shards, points, memory - seen.bytes_of(X), given, rounding)


@final
@dataclass(frozen=True, eq=False)
class AtScale:
    """What is asked of M by statements that are read in chunks: a problem without terms, and these."""

    problem: Problem
    seen: Seen
    statements: StoredStatements
    loss: BoundedLoss
    bounds: tuple[float | None, float | None] | None

    @classmethod
    def of(
        cls,
        regularizer: Regularizer,
        root: np.ndarray | None,
        matrix: np.ndarray | None,
        X: np.ndarray,
        unit_length: bool,
        statements: StoredStatements,
        loss: BoundedLoss,
        bounds: tuple[float | None, float | None] | None,
    ) -> "AtScale":
        """D(M, I) with W = A' M A, for a root A or the identity, or D(W, W0) for a matrix W0.

        X are some of the points, as they are measured.
        """
        if matrix is None:
            n = X.shape[1] if root is None else len(root)
            problem, V = Problem(regularizer, np.eye(n)), root
            # Distances do not see the origin, and have more digits near it.
            center = None if root is None else X.mean(axis=0)
        else:
            problem = Problem(regularizer, matrix)
            basis = problem.space.basis
            V, center = None if basis is None else basis.T, None
        return cls(problem, Seen(unit_length, center, V), statements, loss, bounds)

    @property
    def source(self) -> Source:
        """The statements with what every chunk of them needs."""
        dual, spectrum = self.problem.dual, self.problem.space.spectrum
        return Source(dual, spectrum, self.statements, self.loss, self.bounds)

    @property
    def digest(self) -> str:
        """The same for the same problem, whatever the points and the statements."""
        given = self.statements.layout.numbers
        words = repr(
            (self.problem.regularizer, self.loss, self.bounds, given, self.seen.unit_length)
        )
        numbers = (self.problem.space.spectrum, self.seen.root)
        return digest("metric", [words.encode(), *map(as_bytes, numbers)])

    def placed(self, crew: Crew, X: Any) -> Problem:
        """The problem with its statements, at the workers of a crew; what no metric can honor is left out."""
        statements = self.statements
        if is_array(X) and not is_on_host(X):
            statements = statements.in_chunks_of(_OF_DEVICE)
        size = int(X.shape[0]), self.problem.space.dimension, self.seen.bytes_of(X)
        n_places, room = crew.room_beside(X)
        statements = in_chunks_for(statements, n_places, *size, room)
        source = replace(self.source, statements=statements)
        crew.place(partial(place_site, source, self.seen), source.sizes, X)
        pool = PoolOfShards(crew, source.common)
        self._warn_of(pool.facts.n_impossible, pool.facts.impossible, pool.size)
        return self.problem.with_pool(pool)

    def _warn_of(self, count: int, places: Any, left: int) -> None:
        if not count:
            return
        first = self.statements.describe(places[0])
        if not left:
            raise ValueError(
                f"all statements ask points that are equal to lie apart, such as {first}; no metric can do "
                "that. Check X for duplicates."
            )
        warn(
            f"{count:,} of {self.statements.n_given:,} statements ask points that are equal to lie apart, such "
            f"as {first}; no metric can do that, and they take no part."
        )


def with_margin(statements: StoredStatements, margin: float) -> StoredStatements:
    """Comparisons with this margin, for all of them."""
    layout = replace(statements.layout, numbers={**statements.layout.numbers, "margin": margin})
    return replace(statements, layout=layout)
