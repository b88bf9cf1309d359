"""minimize over w >= 0    sum_f D(w_f, w0_f) + sum_k loss_k(t_k),  t = A w:  diagonal matrices.

D is the divergence of numbers, h(w) - h(w0) - h'(w0) (w - w0), and A has the squared differences of every
feature. With y = h'(w0) - A' lam the dual and the gap are those of a `Problem`, feature by feature:

    gap = sum_f [h(w_f) + h*(y_f) - w_f y_f] + sum_k [loss_k(t_k) + loss_k*(lam_k) - lam_k t_k]

for any w and any lam in its box. No term is negative, and each is zero at the optimum.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn.methods.metric.diagonal.squared_differences import (
    SquaredDifferences,
    no_differences,
    squared_differences,
)
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.constraints import PointConstraints
from gramlearn.problem.dual import LEAST_SHARE
from gramlearn.problem.losses import Loss
from gramlearn.problem.problem import Term
from gramlearn.problem.spectral import Regularizer

INF = float("inf")
EPS = float(np.finfo(np.float64).eps)
_SHARES = (0.5, 0.1, 0.01, 1e-4, 0.0)  # of lam, until the dual is finite
_NUDGE = 16 * EPS  # of a price: more than the rounding of sums of them


@final
@dataclass(frozen=True, eq=False)
class Statements:
    """The statements of one term: their loss, and the usual size of t."""

    constraints: PointConstraints
    loss: Loss
    unit: float

    @property
    def size(self) -> int:
        """How many they are."""
        return self.constraints.size


@final
@dataclass(frozen=True, eq=False)
class WeightProblem:
    """minimize over w >= 0    sum_f D(w_f, w0_f) + sum_k loss_k(t_k),  t = A w.

    `prior` is w0. Where the divergence keeps its range, features without weight keep none, and it is about the
    others alone.
    """

    regularizer: Regularizer
    prior: np.ndarray
    differences: SquaredDifferences
    parts: tuple[Statements, ...]
    features: np.ndarray  # the numbers of those that it is about
    n_features: int

    @staticmethod
    def of(
        regularizer: Regularizer, prior: np.ndarray, points: Any, terms: Sequence[Term]
    ) -> "WeightProblem":
        """Read the terms that side information makes, over points that may be sparse."""
        constraints: list[Any] = [term.constraints for term in terms]
        d = len(prior)
        features = np.flatnonzero((prior > 0) | (not regularizer.keeps_range))
        prior, points = (
            (prior, points) if len(features) == d else (prior[features], points[:, features])
        )
        A = squared_differences(points, constraints) if terms else no_differences(len(prior))
        ends = np.cumsum([0] + [c.size for c in constraints])
        t = A.uncanceled.times(prior if prior.any() else np.ones_like(prior))
        parts = []
        for k, (term, c) in enumerate(zip(terms, constraints, strict=True)):
            unit = float(np.mean(t[ends[k] : ends[k + 1]])) if c.size else 0.0
            parts.append(Statements(c, term.loss.prepare(c.size, prior), unit or 1.0))
        return WeightProblem(regularizer, prior, A, tuple(parts), features, d)

    def in_all_features(self, w: np.ndarray) -> np.ndarray:
        """These weights, and 0 for the features that it is not about."""
        out = np.zeros(self.n_features)
        out[self.features] = w
        return out

    @cached_property
    def slope(self) -> np.ndarray:
        """h'(w0)."""
        return np.asarray(self.regularizer.derivative(self.prior))

    @cached_property
    def constant(self) -> float:
        """sum_f h*(h'(w0_f))."""
        return float(np.sum(self.regularizer.conjugate(self.slope)))

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """(lo, hi), the box of lam."""
        ends = [part.loss.box(self.prior, part.size) for part in self.parts]
        none = np.zeros(0)
        return np.concatenate([none, *(lo for lo, _ in ends)]), np.concatenate(
            [none, *(hi for _, hi in ends)]
        )

    @cached_property
    def domain(self) -> tuple[np.ndarray, np.ndarray]:
        """(least, largest) t at which the losses are finite."""
        zero = np.zeros(self.differences.shape[0])
        low, high = (
            self.each(lambda part, z, end=end: z + part.loss.domain()[end], zero) for end in (0, 1)
        )
        return low, high

    def each(self, function: Callable[..., np.ndarray], *vectors: np.ndarray) -> np.ndarray:
        """Join function(part, piece, ...) over the parts."""
        pieces = zip(self.parts, *(self.split(v) for v in vectors), strict=True)
        return np.concatenate([np.zeros(0), *(function(*piece) for piece in pieces)])

    def split(self, vector: np.ndarray) -> list[np.ndarray]:
        """Cut a vector over all statements into one a part."""
        return [vector[rows] for rows in self._rows]

    @cached_property
    def _rows(self) -> list[slice]:
        ends = np.cumsum([0] + [part.size for part in self.parts])
        return [slice(start, end) for start, end in pairwise(ends)]

    def multiple_at_bounds(self, w: np.ndarray) -> float:
        """The c at which t of c w, before it cancels, is as large as the bounds of some part."""
        multiple, sizes = 0.0, self.split(self.differences.uncanceled.times(w))
        for part, size in zip(self.parts, sizes, strict=True):
            asked = float(np.sum(np.abs(part.loss.conjugate_derivative(np.zeros_like(size)))))
            given = float(np.sum(size))
            if 0 < asked < INF and 0 < given < INF:
                multiple = max(multiple, asked / given)
        return multiple or 1.0

    def describe(self, k: int) -> str:
        """Name statement k with its term and its bound."""
        for term, part in enumerate(self.parts):
            if k < part.size:
                words, bound = part.constraints.describe(k), part.loss.describe(k)
                return f"constraint {k} of term {term} ({words} {bound})"
            k -= part.size
        raise IndexError(k)


class Sums(NamedTuple):
    """What w and lam make of A: t = A w, A'lam, and the sizes of both before they cancel."""

    t: np.ndarray
    sizes: np.ndarray
    prices: np.ndarray
    spread: np.ndarray

    @staticmethod
    def of(A: SquaredDifferences, w: np.ndarray, lam: np.ndarray) -> "Sums":
        """Pass over A, twice where w and lam are of one sign and nothing cancels."""
        t = A.times(w)
        sizes = t if A.uncanceled is A else A.uncanceled.times(w)
        if A.uncanceled is A:
            # Both sums from the two signs, which do not cancel.
            up, down = (A.adjoint(np.maximum(s * lam, 0.0)) for s in (1.0, -1.0))
            return Sums(t, sizes, up - down, up + down)
        return Sums(t, sizes, A.adjoint(lam), A.uncanceled.adjoint(np.abs(lam)))


def certify(
    problem: WeightProblem, w: np.ndarray, lam: np.ndarray, sums: Sums
) -> tuple[Certificate, np.ndarray]:
    """The certificate of w, and its duals: lam, or the nearest to it at which the dual is finite.

    The gap and both values include their rounding, for which a term of t or y may be off by a few units of its
    last place.
    """
    h, slope, t = problem.regularizer, problem.slope, sums.t
    if not problem.parts and np.array_equal(w, problem.prior):
        least = LEAST_SHARE * abs(problem.constant)  # nothing is asked, and D(w0, w0) = 0 exactly
        return Certificate(0.0, 0.0, 0.0, 0.0, least=least), lam
    values = [h.value(w), slope * w, problem.each(lambda p, t: p.loss.value_inside(t), t)]
    sizes = sum(float(np.sum(np.abs(value))) for value in values) + abs(problem.constant)
    primal = float(np.sum(values[0]) - np.sum(values[1]) + np.sum(values[2])) + problem.constant
    t_error = 4 * EPS * sums.sizes
    gap = INF
    for changed, prices, spread in _possible_prices(problem, lam, sums):
        error = 4 * EPS * (np.abs(slope) + spread)
        gap = float(np.sum(_young(h, w, slope - prices, error)))
        if gap < INF:
            lam = changed
            break
    losses = problem.each(lambda p, t, v: p.loss.gap(t, v), t, lam)
    errors = problem.each(lambda p, t, v, e: p.loss.gap_error(t, v, e), t, lam, t_error)
    rounding = 4 * EPS * sizes
    gap += max(float(np.sum(losses)), 0.0) + float(np.sum(errors))
    # loss(t) moves by no more than the gap of t with lam, and lam t.
    loss_error = float(np.sum(errors) + np.sum(np.abs(lam) * t_error))
    violations = (
        part.loss.violation(piece, part.unit, off)
        for part, piece, off in zip(
            problem.parts, problem.split(t), problem.split(t_error), strict=True
        )
    )
    violation = max(violations, default=0.0)
    dual = primal - gap - rounding if gap < INF else -INF
    least = LEAST_SHARE * abs(problem.constant)
    gap += loss_error + 2 * rounding
    return Certificate(primal + loss_error + rounding, dual, gap, violation, least=least), lam


def _possible_prices(
    problem: WeightProblem, lam: np.ndarray, sums: Sums
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(lam', A'lam', its size before it cancels): lam, then lam moved up by its rounding, then shares of lam.

    Where prices are large, rounding alone may put y outside the domain. Distances have no negative entries in
    A, so that to move all prices up makes y smaller.
    """
    yield lam, sums.prices, sums.spread
    hi = problem.box[1]
    moved = lam + np.minimum(_NUDGE * np.abs(lam), (hi - lam) / 2)
    further = Sums.of(problem.differences, np.zeros_like(problem.prior), moved)
    yield moved, further.prices, further.spread
    for share in _SHARES:
        yield share * lam, share * sums.prices, share * sums.spread


def _young(h: Regularizer, w: np.ndarray, y: np.ndarray, error: np.ndarray) -> np.ndarray:
    """h(w) + h*(y) - w y >= 0 at the worst y within the error: it is convex in y."""
    at = (h.value(w) + h.conjugate(v) - w * v for v in (y - error, y + error))
    size = np.abs(h.value(w)) + np.abs(w * y)
    low, high = at
    return np.maximum(np.maximum(low, high), 0.0) + 4 * EPS * size


def find_contradiction(
    problem: WeightProblem, w: np.ndarray, directions: Sequence[np.ndarray]
) -> np.ndarray | None:
    """Give v with A'v >= 0 and sum_k v_k b_k < 0, which no w >= 0 allows, or None where no direction is one.

    b_k is the end of the domain of loss_k that v_k pushes t_k to. As in `refutation`, it is a proof that any w
    which satisfies the statements is a million times larger than the prior, this w and the bounds.
    """
    low, high = problem.domain
    for direction in directions:
        for share in (0.0, 1e-4, 1e-2):
            is_large = np.abs(direction) > share * np.max(np.abs(direction))
            is_provable = np.where(direction > 0, high, -low) < INF
            v = np.where(is_large & is_provable, direction, 0.0)
            size = float(np.max(np.abs(v)))
            if 0 < size < INF and _refutes(problem, v / size, problem.prior + w):
                return np.asarray(v / size)
    return None


def _refutes(problem: WeightProblem, v: np.ndarray, usual: np.ndarray) -> bool:
    low, high = problem.domain
    end = np.where(v > 0, high, np.where(v < 0, low, 0.0))
    room, terms = float(np.sum(v * end)), float(np.sum(np.abs(v * end)))
    S, spread = problem.differences.adjoint(v), problem.differences.uncanceled.adjoint(np.abs(v))
    relative = S / np.where(spread > 0, spread, 1.0)
    error, noise = max(-float(np.min(relative)), 0.0) + 4 * EPS, 16 * EPS * terms
    if room < -noise:
        beyond = error * max(terms, float(spread @ usual))
        return -room - noise >= EPS**-0.4 * beyond
    # t = A w > 0 for w > 0, and some t may not reach their ends.
    counts = problem.regularizer.needs_interior and float(np.max(relative)) > EPS**0.15
    sizes = np.abs(v) * problem.differences.uncanceled.times(usual)
    is_open = problem.each(lambda p, s: s * float(p.loss.has_open_domain), sizes)
    has_open_end = float(np.sum(is_open)) > EPS**0.4 * float(np.sum(sizes)) > 0
    return room <= noise and error <= EPS**0.7 and (counts or has_open_end)
