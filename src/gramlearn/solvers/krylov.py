"""A x = b by conjugate gradients, for a positive definite A given by its products with vectors."""

from collections.abc import Callable

from gramlearn._base.arrays import Array, namespace, read

_STEPS = 250  # the most products; a direction that is less accurate still leads down


def conjugate_gradients(
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    b: Array,
    accuracy: float,
    finer: Callable[[Array], float] | None = None,
    *,
    in_preconditioned_norm: bool,
) -> Array:
    """Solve A x = b, for a b of any shape, until |residual| <= accuracy |b|.

    There `finer` may ask for another accuracy, knowing x, and the solve goes on to that one. The norm is
    Euclidean, or that of the preconditioner, sqrt(v' M^-1 v), which does not depend on the units of x. Where
    rounding makes A indefinite, the best direction so far is returned.
    """
    xp = namespace(b)

    def inner(v: Array, w: Array) -> float:
        return read(xp.sum(v * w))

    x, residual = xp.zeros_like(b), b
    z = p = precondition(residual)
    rho = inner(residual, z)
    if not rho > 0:
        return z  # so small that its square is zero
    size = rho if in_preconditioned_norm else inner(b, b)
    goal = accuracy**2 * size

    def is_solved(reached: float) -> bool:
        nonlocal goal, finer
        if finer is not None and not reached > goal:
            goal, finer = finer(x) ** 2 * size, None
        return not reached > goal

    for _ in range(_STEPS):
        image = product(p)
        curvature = inner(p, image)
        if curvature <= 0:
            return x if inner(x, b) > 0 else z
        alpha = rho / curvature
        x, residual = x + alpha * p, residual - alpha * image
        if not in_preconditioned_norm and is_solved(inner(residual, residual)):
            break
        z = precondition(residual)
        before, rho = rho, inner(residual, z)
        if in_preconditioned_norm and is_solved(rho):
            break
        p = z + (rho / before) * p
    return x
