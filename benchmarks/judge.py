"""The judge: primal(X) of anybody's X, dual(lam) of anybody's lam, from the formulas alone.

    primal = D(X, I) + sum_k loss(t_k)        dual = D*(S) - sum_k loss*(lam_k),   S = sum_k lam_k A_k

    t_k = <A_k, X>,   A_k = z z' with z = p_i - p_j, less the same of p_i - p_k for a triplet

    LogDet       D = tr X - log det X - r            D* = log det(I + S)
    VonNeumann   D = tr(X log X - X) + r             D* = r - tr exp(-S)
    Frobenius    D = |X - I|^2 / 2                   D* = r/2 - |max(I - S, 0)|^2 / 2

    LogDetSlack    loss = C (t/b - log(t/b) - 1)     loss* = -C log(1 - lam b/C),  lam < C/b
    KLSlack        loss = C (t log(t/b) - t + b)     loss* = C b (exp(lam/C) - 1)
    SquaredHinge   loss = C (t - b)^2 / 2            loss* = b lam + lam^2 / (2C)
    Hinge          loss = C |t - b|                  loss* = b lam,  |lam| <= C

A loss is zero on the right side of its bound b; lam_k >= 0 for an upper bound, lam_k <= 0 for a lower one.
Every dual value is at most every primal value. So the gap of an X is primal(X) minus the best dual value that
is known, whoever found it; nothing of the library is used here.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, final

from benchmarks.instance import Instance

__all__ = ["LOSSES", "REGULARIZERS", "Divergence", "Loss", "dual", "primal", "relative_gap"]

INF = float("inf")


class Divergence(ABC):
    """D(X, I), and what is left of it in the dual."""

    @abstractmethod
    def value(self, xp: Any, x: Any) -> float:
        """D(X, I) from the eigenvalues of X."""

    @abstractmethod
    def dual(self, xp: Any, s: Any) -> float:
        """D*(S) = the least of D(X, I) + <S, X> over PSD X, from the eigenvalues of S."""


@final
class LogDet(Divergence):
    """The Burg entropy's."""

    def value(self, xp: Any, x: Any) -> float:
        return INF if float(x.min()) <= 0 else float((x - xp.log(x) - 1).sum())

    def dual(self, xp: Any, s: Any) -> float:
        return -INF if float(s.min()) <= -1 else float(xp.log1p(s).sum())


@final
class VonNeumann(Divergence):
    """The entropy's."""

    def value(self, xp: Any, x: Any) -> float:
        if _is_indefinite(x):
            return INF
        log = xp.log(xp.where(x > 0, x, 1 + 0 * x))  # 0 log 0 = 0
        return float((x * log - x + 1).sum())

    def dual(self, xp: Any, s: Any) -> float:
        return -float(xp.expm1(-s).sum())


@final
class Frobenius(Divergence):
    """Half the squared distance."""

    def value(self, xp: Any, x: Any) -> float:
        return INF if _is_indefinite(x) else float(((x - 1) ** 2).sum()) / 2

    def dual(self, xp: Any, s: Any) -> float:
        # (1 - (1 - s)^2) / 2, which keeps its digits where s is small.
        return float(xp.where(s < 1, s - s * s / 2, 0.5 + 0 * s).sum())


def _is_indefinite(x: Any) -> bool:
    return float(x.min()) < -1e-12 * float(x.max())


class Loss(ABC):
    """A loss of t with a bound b and a price, and its conjugate."""

    @abstractmethod
    def value(self, xp: Any, t: Any, b: float, price: float) -> Any:
        """loss(t) at t on the wrong side of b."""

    @abstractmethod
    def conjugate(self, xp: Any, lam: Any, b: float, price: float) -> Any:
        """loss*(lam), where lam has the right sign."""


@final
class LogDetSlack(Loss):
    """The Burg entropy's divergence of t from b."""

    def value(self, xp: Any, t: Any, b: float, price: float) -> Any:
        ratio = xp.where(t > 0, t, b + 0 * t) / b
        return xp.where(t > 0, price * (ratio - xp.log(ratio) - 1), INF)

    def conjugate(self, xp: Any, lam: Any, b: float, price: float) -> Any:
        inside = lam < price / b
        return xp.where(inside, -price * xp.log1p(-xp.where(inside, lam, 0 * lam) * b / price), INF)


@final
class KLSlack(Loss):
    """The entropy's divergence of t from b."""

    def value(self, xp: Any, t: Any, b: float, price: float) -> Any:
        log = xp.log(xp.where(t > 0, t, b + 0 * t) / b)
        return price * (t * log - t + b)

    def conjugate(self, xp: Any, lam: Any, b: float, price: float) -> Any:
        return price * b * xp.expm1(lam / price)


@final
class SquaredHinge(Loss):
    """Half the square of the violation."""

    def value(self, xp: Any, t: Any, b: float, price: float) -> Any:
        del xp
        return price / 2 * (t - b) ** 2

    def conjugate(self, xp: Any, lam: Any, b: float, price: float) -> Any:
        del xp
        return b * lam + lam * lam / (2 * price)


@final
class Hinge(Loss):
    """The violation."""

    def value(self, xp: Any, t: Any, b: float, price: float) -> Any:
        return price * xp.abs(t - b)

    def conjugate(self, xp: Any, lam: Any, b: float, price: float) -> Any:
        return xp.where(xp.abs(lam) <= price, b * lam, INF)


REGULARIZERS: Mapping[str, Divergence] = {
    "LogDet": LogDet(),
    "VonNeumann": VonNeumann(),
    "Frobenius": Frobenius(),
}
LOSSES: Mapping[str, Loss] = {
    "LogDetSlack": LogDetSlack(),
    "KLSlack": KLSlack(),
    "SquaredHinge": SquaredHinge(),
    "Hinge": Hinge(),
}


def primal(instance: Instance, X: Any) -> float:
    """D(X, I) + sum loss; +inf where X is outside the domain. Never c x r numbers in memory."""
    xp, spec = instance.xp, instance.spec
    loss = LOSSES[spec.loss]
    X = (X + X.T) / 2
    if not bool(xp.isfinite(X).all()):
        return INF
    x, U = xp.linalg.eigh(X)
    total = REGULARIZERS[spec.regularizer].value(xp, x)
    if total == INF:
        return INF
    mapped = instance.points @ (U * xp.sqrt(xp.where(x > 0, x, 0 * x)))
    for rows, side, b in instance.halves():
        for chunk in instance.chunks(rows):
            t = sum(sign * (z * z).sum(1) for sign, z in instance.differences(chunk, mapped))
            wrong = t[side * (t - b) > 0]
            total += float(loss.value(xp, wrong, b, spec.price).sum())
    return total


def dual(instance: Instance, lam: Any) -> float:
    """The lower bound that lam proves; -inf where lam is outside its box."""
    xp, spec = instance.xp, instance.spec
    loss = LOSSES[spec.loss]
    S = 0 * instance.points[:1].T @ instance.points[:1]
    cost = 0.0
    for rows, side, b in instance.halves():
        for chunk in instance.chunks(rows):
            if bool((side * lam[chunk] < 0).any()):
                return -INF
            active = xp.where(lam[chunk] != 0)[0] + chunk.start
            price = lam[active]
            for sign, z in instance.differences(active):
                S = S + (z * (sign * price)[:, None]).T @ z
            cost += float(loss.conjugate(xp, price, b, spec.price).sum())
    if cost == INF:
        return -INF
    return REGULARIZERS[spec.regularizer].dual(xp, xp.linalg.eigvalsh(S)) - cost


def relative_gap(value: float, bound: float) -> float:
    """(primal - dual) against the larger of the two, as in the library's certificate."""
    if value == INF or bound == -INF:
        return INF
    return max(value - bound, 0.0) / max(abs(value), abs(bound), 1e-12)
