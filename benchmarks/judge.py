"""The judge: primal(X) of anybody's X, dual(lam) of anybody's lam, from the formulas alone.

With z_k = p_i - p_j, t_k = z_k' X z_k and the prior X0 = I:

    logdet        primal = tr X - log det X - r + sum_k gamma (t_k/b - log(t_k/b) - 1)
                  dual   = log det(I + sum_k lam_k z_k z_k') + sum_k gamma log(1 - lam_k b/gamma)
    von_neumann   primal = tr(X log X - X) + r + sum_k gamma (t_k log(t_k/b) - t_k + b)
                  dual   = r - tr exp(-sum_k lam_k z_k z_k') - sum_k gamma b (exp(lam_k/gamma) - 1)

where the sum of the primal runs over the pairs on the wrong side of their bound b, and lam_k >= 0
for an upper bound, lam_k <= 0 for a lower one. Every dual value is at most every primal value. So
the gap of an X is primal(X) minus the best dual value that is known, whoever found it; nothing of
the library is used here.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, final

from benchmarks.instance import Instance

__all__ = ["OBJECTIVES", "Objective", "dual", "primal", "relative_gap"]

INF = float("inf")


class Objective(ABC):
    """A divergence from the identity and a loss, with their conjugates."""

    @abstractmethod
    def divergence(self, xp: Any, x: Any) -> float:
        """D(X, I) from the eigenvalues of X."""

    @abstractmethod
    def loss(self, xp: Any, t: Any, b: float, gamma: float) -> Any:
        """loss(t) at t on the wrong side of b."""

    @abstractmethod
    def conjugate_divergence(self, xp: Any, s: Any) -> float:
        """phi*(Y0) - phi*(Y) from the eigenvalues of Y0 - Y = sum_k lam_k z_k z_k'."""

    @abstractmethod
    def conjugate_loss(self, xp: Any, lam: Any, b: float, gamma: float) -> Any:
        """loss*(lam), where lam has the right sign."""


@final
class LogDet(Objective):
    """Both divergences are the Burg entropy's."""

    def divergence(self, xp: Any, x: Any) -> float:
        return INF if float(x.min()) <= 0 else float((x - xp.log(x) - 1).sum())

    def loss(self, xp: Any, t: Any, b: float, gamma: float) -> Any:
        ratio = xp.where(t > 0, t, b + 0 * t) / b
        return xp.where(t > 0, gamma * (ratio - xp.log(ratio) - 1), INF)

    def conjugate_divergence(self, xp: Any, s: Any) -> float:
        return -INF if float(s.min()) <= -1 else float(xp.log1p(s).sum())

    def conjugate_loss(self, xp: Any, lam: Any, b: float, gamma: float) -> Any:
        inside = lam < gamma / b
        return xp.where(inside, -gamma * xp.log1p(-xp.where(inside, lam, 0 * lam) * b / gamma), INF)


@final
class VonNeumann(Objective):
    """Both divergences are the entropy's."""

    def divergence(self, xp: Any, x: Any) -> float:
        if float(x.min()) < -1e-12 * float(x.max()):
            return INF
        log = xp.log(xp.where(x > 0, x, 1 + 0 * x))  # 0 log 0 = 0
        return float((x * log - x + 1).sum())

    def loss(self, xp: Any, t: Any, b: float, gamma: float) -> Any:
        log = xp.log(xp.where(t > 0, t, b + 0 * t) / b)
        return gamma * (t * log - t + b)

    def conjugate_divergence(self, xp: Any, s: Any) -> float:
        return -float(xp.expm1(-s).sum())

    def conjugate_loss(self, xp: Any, lam: Any, b: float, gamma: float) -> Any:
        return gamma * b * xp.expm1(lam / gamma)


OBJECTIVES: Mapping[str, Objective] = {"logdet": LogDet(), "von_neumann": VonNeumann()}


def primal(instance: Instance, X: Any, objective: str) -> float:
    """D(X, I) + sum loss; +inf where X is outside the domain. Never c x r numbers in memory."""
    xp, chosen = instance.xp, OBJECTIVES[objective]
    X = (X + X.T) / 2
    if not bool(xp.isfinite(X).all()):
        return INF
    x, U = xp.linalg.eigh(X)
    total = chosen.divergence(xp, x)
    if total == INF:
        return INF
    mapped = instance.points @ (U * xp.sqrt(xp.where(x > 0, x, 0 * x)))
    for rows, side, b in instance.halves():
        for chunk in instance.chunks(rows):
            z = instance.differences(chunk, mapped)
            t = (z * z).sum(1)
            wrong = t[side * (t - b) > 0]
            total += float(chosen.loss(xp, wrong, b, instance.gamma).sum())
    return total


def dual(instance: Instance, lam: Any, objective: str) -> float:
    """The lower bound that lam proves; -inf where lam is outside its box."""
    xp, chosen = instance.xp, OBJECTIVES[objective]
    points = instance.points
    S = 0 * points[:1].T @ points[:1]
    cost = 0.0
    for rows, side, b in instance.halves():
        for chunk in instance.chunks(rows):
            price = lam[chunk]
            if bool((side * price < 0).any()):
                return -INF
            active = price != 0
            price = price[active]
            z = points[instance.i[chunk][active]] - points[instance.j[chunk][active]]
            S = S + (z * price[:, None]).T @ z
            cost += float(chosen.conjugate_loss(xp, price, b, instance.gamma).sum())
    if cost == INF:
        return -INF
    return chosen.conjugate_divergence(xp, xp.linalg.eigvalsh(S)) - cost


def relative_gap(value: float, bound: float) -> float:
    """(primal - dual) against the larger of the two, as in the library's certificate."""
    if value == INF or bound == -INF:
        return INF
    return max(value - bound, 0.0) / max(abs(value), abs(bound), 1e-12)
