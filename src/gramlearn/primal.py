"""primal(X) - dual(lam) = tr E - log det(I + E) at any X = F F', with lam_k = loss_k'(t_k), for LogDet.

Here t = offset + <A, X> and E = F'(sum_k lam_k A_k - Y0) F - I, the gradient of the primal in the frame F.
With that lam every Fenchel-Young term of the gap is zero, and what is left is the divergence D(X, X(lam)): the
gap is known wherever the gradient is, free of cancellation, and needs no X(lam).

A `PrimalPoint` is the counterpart of a `DualPoint`: there lam is given and X follows, here X is given and lam
follows. It needs losses that have a derivative.
"""

from functools import cached_property
from typing import NamedTuple, final

from gramlearn._arrays import (
    Array,
    cholesky_or_none,
    concat,
    constant,
    every_row,
    eye,
    namespace,
    read,
    symmetric_part,
    transpose,
    where_true,
)
from gramlearn.certificate import Certificate
from gramlearn.dual import Dual, Part
from gramlearn.linear_maps import LinearMap

__all__ = ["Costly", "PrimalPoint", "near_rows"]

INF = float("inf")
# Constraints within this share of their bound are near it, or within a smaller one where these are many.
_MARGINS = (0.1, 0.03, 0.01, 0.003)


class Costly(NamedTuple):
    """Constraints of one part that cost something: their B_k = F' A_k F, loss' and loss''."""

    map: LinearMap
    prices: Array
    curvature: Array


@final
class PrimalPoint:
    """The primal at one X = F F'. The value is computed at once, everything else when asked for."""

    def __init__(self, dual: Dual, factor: Array) -> None:
        self.dual = dual
        self.factor = factor
        xp = namespace(factor)
        one = constant(1.0, factor, 1)
        self.maps: list[LinearMap] = [part.map.restrict(factor) for part in dual.parts]
        parts = zip(dual.parts, self.maps, strict=True)
        self.t = concat([part.offset + framed.traces(one) for part, framed in parts], factor)
        self._prior = symmetric_part(transpose(factor) @ (dual.Y0 @ factor))
        losses = read(xp.sum(dual.each(lambda part, t: part.loss.value(t), self.t)))
        log_det = 2 * read(xp.linalg.slogdet(factor)[1])
        terms = [dual.constant, -read(xp.linalg.trace(self._prior)), -log_det, losses]
        self.value = sum(terms)
        self._size = sum(abs(term) for term in terms)

    @cached_property
    def lam(self) -> Array:
        """loss'(t): the duals that X prices its constraints at."""
        return self.dual.each(lambda part, t: part.loss.price(t), self.t)

    @cached_property
    def costly(self) -> list["Costly"]:
        """The constraints that cost something, part by part, in the frame F; the others add nothing below."""
        found = []
        parts = zip(
            self.dual.parts,
            self.maps,
            self.dual.split(self.t),
            self.dual.split(self.lam),
            strict=True,
        )
        for part, framed, t, lam in parts:
            rows = where_true(~part.loss.is_slack(t, t))
            if rows.shape[0]:
                prices = lam[rows]
                second = part.loss.take(rows).conjugate_second(prices)
                found.append(Costly(framed.take(rows), prices, 1 / second))
        return found

    @cached_property
    def gradient(self) -> Array:
        """E."""
        E = -self._prior - eye(self.factor.shape[0], self.factor)
        return symmetric_part(sum((c.map.adjoint(c.prices) for c in self.costly), start=E))

    @cached_property
    def gap(self) -> float:
        """primal(X) - dual(lam), +inf where X(lam) does not exist."""
        return _divergence(self.gradient)

    @property
    def noise(self) -> float:
        """A bound on the rounding error of the value, whose terms may cancel."""
        return 8 * float(namespace(self.factor).finfo(self.factor.dtype).eps) * self._size

    def judged(self) -> tuple[Certificate, Array]:
        """The certificate of X over the constraints of this dual, and the duals it rests on.

        These are lam, or as large a part of it as leaves an X(lam). The gap grows by what the rounding of E may
        hide, entry by entry: a product of r terms each.
        """
        xp = namespace(self.factor)
        prior = -self._prior
        identity = eye(self.factor.shape[0], self.factor)
        lam, E, gap = self.lam, self.gradient, self.gap
        if gap == INF:
            share = _largest_share(prior, E + identity - prior)
            E = prior - identity + share * (E + identity - prior)
            lam = share * lam
            unpaid = self.dual.each(lambda part, t, v: part.loss.gap(t, v), self.t, lam)
            gap = _divergence(E) + read(xp.sum(unpaid))
        error = float(xp.finfo(E.dtype).eps) * E.shape[0] * (1 + read(xp.max(xp.abs(prior))))
        gap += error * (error + read(xp.sum(xp.abs(E))))
        size = abs(self.dual.constant)
        return Certificate(self.value, self.value - gap, gap, 0.0, size=size), lam

    def moved(self, S: Array) -> "PrimalPoint | None":
        """The point at X + F S F', or None where that is not positive definite."""
        C = cholesky_or_none(eye(S.shape[0], S) + S)
        return None if C is None else PrimalPoint(self.dual, self.factor @ C)


def _divergence(E: Array) -> float:
    """tr E - log det(I + E), +inf where I + E is not positive definite."""
    xp = namespace(E)
    e = xp.linalg.eigvalsh(E)
    if not read(e[0]) > -1:
        return INF
    # e - log(1 + e) loses its digits to cancellation near 0, where it is e^2 (1/2 - e/3 + ...).
    small = xp.abs(e) < 1e-4
    return max(read(xp.sum(xp.where(small, e * e * (0.5 - e / 3), e - xp.log1p(e)))), 0.0)


def _largest_share(prior: Array, W: Array) -> float:
    """Nine tenths of the largest s with prior + s W positive semidefinite; 0 where rounding hides it."""
    L = cholesky_or_none(prior)
    if L is None:
        return 0.0
    inverse = namespace(L).linalg.inv(L)
    least = read(namespace(L).linalg.eigvalsh(symmetric_part(inverse @ W @ transpose(inverse)))[0])
    return min(1.0, 0.9 / -least) if least < 0 else 1.0


def near_rows(dual: Dual, factor: Array, stride: int, first: int) -> list[Array]:
    """Find the rows of each part that cost something at X = F F', and some of the nearest others.

    With a stride only every so-manieth constraint is looked at. The constraints outside the rows cost
    nothing at X, to the last digit, so that a PrimalPoint over the rows judges X over all of them.
    """
    products: dict[int, Array] = {}
    found = []
    for part in dual.parts:
        if stride == 1:
            found.append(_near(part, factor, first, products))
        else:
            sample = every_row(-(-part.size // stride), factor) * stride
            found.append(sample[_near(part.select(sample), factor, first, products)])
    return found


def _near(part: Part, factor: Array, first: int, products: dict[int, Array]) -> Array:
    rows = every_row(part.size, factor)
    if not part.loss.can_be_slack or part.size <= first:
        return rows
    xp = namespace(factor)
    low, high = part.map.estimates(factor, products).bounds()
    low, high, loss = part.offset + low, part.offset + high, part.loss
    costly = where_true(~loss.is_slack(low, high))
    limit = first + 3 * int(costly.shape[0])
    for margin in _MARGINS:
        width = margin * xp.maximum(xp.abs(low), xp.abs(high))
        inside = where_true(~loss.is_slack(low - width, high + width))
        rows, low, high, loss = rows[inside], low[inside], high[inside], loss.take(inside)
        if rows.shape[0] <= limit:
            return rows
    return costly
