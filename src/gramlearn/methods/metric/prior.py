"""W0 = A'A, k x d: the metric to stay near, by a root of as many rows as it has rank.

The inverse covariance of n points has rank n - 1 at most: its root is made of their n x d differences from the
mean, in n^2 d operations, and W0 itself is written out where it is asked for.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from gramlearn._base.arrays import (
    Array,
    as_real,
    count_true,
    inverse_or_zero,
    machine_eps,
    namespace,
    to_numpy,
)
from gramlearn._base.matrices import eigvalsh, svd
from gramlearn._base.points import centered
from gramlearn._base.validation import as_numbers, check_choice, check_finite, check_symmetric
from gramlearn.methods.metric.maps import unit_free_root

_RANK = 1e-12  # an eigenvalue of correlations below this share of the largest counts as 0


@final
@dataclass(frozen=True, eq=False)
class Prior:
    """W0 = A'A, with A the root; the matrix as it was given, where it was."""

    root: Array
    given: Array | None = None

    @cached_property
    def matrix(self) -> Array:
        """W0, d x d."""
        return self.root.T @ self.root if self.given is None else self.given


def read_prior(prior: Any, X: Any, *, may_be_zero: bool = False) -> Prior | None:
    """W0 by its name or as a matrix, where X is; None for the identity, which is never written out.

    Zero is for regularizers that may leave the range of the prior.
    """
    d = X.shape[1]
    if isinstance(prior, str):
        check_choice(prior, "prior", {"identity": None, "inverse_covariance": None})
        return None if prior == "identity" else Prior(_root_of_inverse_covariance(X))
    W0 = as_real(as_numbers(prior, "prior"), X, names=("`prior`", "`X`"))
    if W0.shape != (d, d):
        raise ValueError(
            f"`prior` has shape {tuple(W0.shape)}, but X has {d} features; pass a {d} x {d} matrix, or a name."
        )
    check_symmetric(check_finite(W0, "prior"), "prior")
    s = to_numpy(eigvalsh(W0))
    if s[0] < -1e-10 * max(abs(s[-1]), abs(s[0])):
        raise ValueError(
            f"`prior` is not positive semidefinite (least eigenvalue {s[0]:.6g}); clip its negative "
            "eigenvalues."
        )
    if not (may_be_zero or namespace(W0).any(W0 != 0)):
        raise ValueError(
            "`prior` is zero, and a metric that stays within its range is zero, too; pass a matrix that "
            'measures some direction, or "identity".'
        )
    return Prior(unit_free_root(W0), W0)


def _root_of_inverse_covariance(X: Array) -> Array:
    """A with A'A = D^-1 C^+ D^-1, D the standard deviations and C the correlations: in any units the same.

    With Z = U S V' the points centered and divided by D, C = V S^2 V' / (n - 1), and A is made of S and V. A
    direction in which X does not vary has no inverse variance: it is left out, not made infinite.
    """
    n, xp = X.shape[0], namespace(X)
    Z = centered(X)
    deviation = xp.sqrt(xp.sum(Z**2, axis=0) / max(n - 1, 1))
    varies = deviation > 10 * machine_eps(X) * xp.max(xp.abs(X), axis=0)
    if not xp.any(varies):
        raise ValueError(
            "`X` does not vary, so it has no inverse covariance; pass points that differ, or another `prior`."
        )
    inverse = inverse_or_zero(deviation, varies)
    _, s, Vt = svd(Z * inverse)
    kept = count_true(s**2 > _RANK * s[0] ** 2)
    return max(n - 1, 1) ** 0.5 / s[:kept, None] * Vt[:kept, :] * inverse
