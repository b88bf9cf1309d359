"""What a site is asked about X, and what it says: sums, counts and r x r matrices, which are joined by two."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gramlearn._base.arrays import Array, as_real, namespace
from gramlearn.problem.costs import Audit


class Framed(NamedTuple):
    """X = Q diag(x) Q' = F F'."""

    frame: Array
    spectrum: Array

    @property
    def factor(self) -> Array:
        """F."""
        return self.frame * namespace(self.spectrum).sqrt(self.spectrum)


class At(NamedTuple):
    """X, and the prices to take there.

    They are those of the losses with their ramps, or remembered ones, or those that a `step` leads to; see
    `Costs`. `exact` asks for the losses as they are.
    """

    frame: np.ndarray
    spectrum: np.ndarray
    prices: int | None = None
    step: np.ndarray | None = None
    exact: bool = False

    def framed(self, like: Array) -> Framed:
        """X in the library and on the device of `like`."""
        return Framed(as_real(self.frame, like), as_real(self.spectrum, like))


class Sought(NamedTuple):
    """Which constraints to look for: see `Look`, with prices by their number."""

    stride: int
    width: float
    density: float  # how many of the constraints that cost nothing are kept near, as a share of all looked at
    everywhere: bool
    prices: int | None


class Facts(NamedTuple):
    """What is known of constraints before any X is looked at; sizes and heads for each part, by shard."""

    sizes: dict[int, list[int]]
    heads: dict[
        int, list[np.ndarray]
    ]  # |t| at the prior and at the identity, of the first constraints
    is_smooth: bool
    is_never_negative: bool
    objection: str | None
    n_impossible: int = 0  # statements that no X can satisfy, which take no part
    impossible: Sequence[int] = ()  # the number of the first of them

    @property
    def size(self) -> int:
        """How many constraints there are."""
        return sum(sum(of_shard) for of_shard in self.sizes.values())

    def joined(self, other: "Facts") -> "Facts":
        """Those of two sites."""
        return Facts(
            self.sizes | other.sizes,
            self.heads | other.heads,
            self.is_smooth and other.is_smooth,
            self.is_never_negative and other.is_never_negative,
            self.objection or other.objection,
            self.n_impossible + other.n_impossible,
            sorted([*self.impossible, *other.impossible])[:1],
        )


class Reading(NamedTuple):
    """The sums of `Costs` at one X, and how many constraints are curved, and how much at most."""

    is_finite: bool
    active: int
    losses: float
    exact_losses: float
    mismatch: float  # with the losses as they are
    adjoint: Any
    moved: Any  # by how much the adjoint moves with a step, or zero
    n_curved: int
    largest: float
    magnitude: float

    @classmethod
    def nothing(cls, rank: int) -> "Reading":
        """That of no constraints."""
        zeros = np.zeros((rank, rank))
        return cls(True, 0, 0.0, 0.0, 0.0, zeros, zeros, 0, 0.0, 0.0)

    def joined(self, other: "Reading") -> "Reading":
        """That of two sites, or shards."""
        return Reading(
            self.is_finite and other.is_finite,
            *(a + b for a, b in zip(self[1:8], other[1:8], strict=True)),
            *(max(a, b) for a, b in zip(self[8:], other[8:], strict=True)),
        )


class Looked(NamedTuple):
    """How many constraints matter at X, out of how many, and their costs there."""

    size: int
    out_of: int
    reading: Reading

    def joined(self, other: "Looked") -> "Looked":
        """That of two sites."""
        size, out_of = self.size + other.size, self.out_of + other.out_of
        return Looked(size, out_of, self.reading.joined(other.reading))


def nothing_to_audit(rank: int) -> Audit:
    """The audit of no constraints."""
    return Audit(0.0, 0.0, 0.0, 0.0, np.zeros(rank))


def join_audits(one: list[Audit], other: list[Audit]) -> list[Audit]:
    """The sums, share by share, and the worse violation."""
    return [
        Audit(
            a.gap + b.gap,
            a.gap_error + b.gap_error,
            a.loss_error + b.loss_error,
            max(a.violation, b.violation),
            a.spread + b.spread,
        )
        for a, b in zip(one, other, strict=True)
    ]


def join_sizes(
    one: list[tuple[float, float]], other: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """The sums, part by part; of sites without shards there are none."""
    if not (one and other):
        return one or other
    return [(a + c, b + d) for (a, b), (c, d) in zip(one, other, strict=True)]


def join_pairs(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """The sums of two matrices each."""
    return one[0] + other[0], one[1] + other[1]


Gathered = tuple[list[tuple[np.ndarray, tuple[float, ...]]], np.ndarray]


def join_gathered(one: Gathered, other: Gathered) -> Gathered:
    """The directions of one and then of the other, with their weights, and their curvature."""
    return one[0] + other[0], np.concatenate([one[1], other[1]])
