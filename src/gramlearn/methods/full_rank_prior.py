"""X0 + eps N, N the projector on the null space of X0: a prior whose range may grow (K09 6.5).

LogDet and von Neumann keep X within the range of X0, and where no X in that range satisfies the constraints the
problem has no solution. From X0 + eps N it has one as soon as any positive definite matrix satisfies them. As
eps falls, X tends to the solution within the range where there is one: like eps for LogDet, and like 1 /
log(1/eps) for von Neumann, whose divergence depends on log(eps).
"""

from typing import Any

from gramlearn._base.arrays import Array, as_real, eye, namespace, read
from gramlearn._base.matrices import transpose
from gramlearn._base.validation import as_numbers, check_positive
from gramlearn.problem.prior import Factor, Space


def full_rank_prior(prior: Any, eps: float = 1e-3) -> Array:
    """Give X0 + eps m N, N the projector on the null space of X0 and m the mean of its positive eigenvalues.

    Parameters
    ----------
    prior : array n x n or n x r, or Factor
        X0, or a factor G of X0 = G G', as in `Problem`.
    eps : float
        How much the new directions weigh, relative to those of X0. Smaller keeps X nearer to the range of
        X0; below about 1e-8 a solve may run out of digits.

    Returns
    -------
    array n x n
        A positive definite prior, in the library of `prior`. It is X0 itself where X0 has full rank.
    """
    check_positive(eps, "eps", "full_rank_prior")
    space = Space.of(prior, True, "float64")  # which checks the prior
    X0 = as_real(as_numbers(prior.G if isinstance(prior, Factor) else prior, "prior"))
    if isinstance(prior, Factor) or X0.shape[0] != X0.shape[1]:
        X0 = X0 @ transpose(X0)
    rank = int(space.spectrum.shape[0])
    if space.basis is None or rank == space.dimension:
        return X0
    weight = eps * read(namespace(X0).mean(space.spectrum))
    V = space.basis
    return X0 + weight * (eye(space.dimension, X0) - V @ transpose(V))
