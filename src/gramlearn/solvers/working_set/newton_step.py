"""lam <- clip(lam + s H^-1 g): one projected Newton step for the dual, the direction by conjugate gradients.

Variables held at an end of the box by the gradient, or by the Newton direction itself, stay there; the others
move by that direction, cut off at the box (Bertsekas' two-metric projection). The step s is halved until the
dual rises enough (Armijo), which also brings it back from outside the domain, where the dual is -inf.
"""

from collections.abc import Callable

from gramlearn._base.arrays import (
    Array,
    clipped,
    eye,
    is_finite,
    machine_eps,
    namespace,
    read,
    where_true,
)
from gramlearn._base.matrices import cholesky_or_none, inverse_of_lower, transpose
from gramlearn.problem.dual import DualPoint
from gramlearn.problem.hessian import Hessian
from gramlearn.solvers.krylov import conjugate_gradients
from gramlearn.solvers.line_search import Step, line_search

Method = Callable[[Hessian, Array, Array], Array | None]  # (H, its diagonal, g) -> d

INF = float("inf")
_HALVINGS = 40
_FASTEST = 1e-8  # the factor for steps that are too long by many digits
_ROUNDS = 2  # how often the variables that are held at the box are chosen
# Small working sets are solved by elimination: exact where the problem is badly conditioned, and no slower.
_DIRECT_ROWS = 200
_DIRECT_ELEMENTS = 4_000_000
_DIRECT_DAMPINGS = (50.0, 1e4, 1e7)  # in units of rounding
# Down to this residual, products in single precision are accurate enough.
_SINGLE_ACCURACY = 1e-3
# Hard and hinge losses leave the Hessian singular when more constraints are active than X has
# entries. This share of the diagonal keeps the direction finite; the box and the line search cut it.
_DAMPING = 1e-6


def newton_step(point: DualPoint, accuracy: float) -> DualPoint | None:
    """Improve the dual by one step, or give None where only rounding is left.

    `accuracy` is the relative residual to which the Newton system is solved.
    """
    if point.value == -INF or not point.dual.size:
        return None
    lam, g = point.lam, point.gradient
    lo, hi = point.dual.box
    held = ((lam <= lo) & (g <= 0)) | ((lam >= hi) & (g >= 0)) | point.dual.idle
    free = where_true(~held)
    if free.shape[0] == 0:
        return None
    directions = []
    for method in _methods(int(free.shape[0]), point, accuracy):
        direction = _direction(point, held, method)
        if direction is not None:
            better = _search_along(point, direction, 0.5)
            if better is not None:
                return better
            directions.append(direction)
    # Another direction is better than a tiny share of a bad one; but where X is flat, all are too long.
    steps = (_search_along(point, direction, _FASTEST) for direction in directions)
    return next((better for better in steps if better is not None), None)


def _direction(point: DualPoint, held: Array, method: Method) -> Array | None:
    """Maximize the quadratic model of the dual over directions that stay inside the box at first.

    A variable at an end of the box that the solution would push out of it is held, too, and the system solved
    again: if it were only cut off, the step of the others would rely on it and have to be much shorter.
    """
    lam, g = point.lam, point.gradient
    xp = namespace(lam)
    lo, hi = point.dual.box
    step = xp.zeros_like(lam)
    for _ in range(_ROUNDS):
        rows = where_true(~held)
        if rows.shape[0] == 0:
            break
        H = point.hessian(rows)
        diagonal = _curvature(point, rows, H.diagonal)
        solved = method(H, diagonal, xp.take(g, rows))
        if solved is None or not is_finite(solved):
            return None
        step = xp.zeros_like(lam)
        step[~held] = solved
        outward = ((lam <= lo) & (step < 0)) | ((lam >= hi) & (step > 0))
        if not bool(xp.any(outward)):
            break
        held = held | outward
    return step


def _methods(size: int, point: DualPoint, accuracy: float) -> list[Method]:
    """Ways to solve H d = g, the cheapest first; the next is used where rounding spoils one."""
    rank = point.dual.rank
    methods: list[Method] = []
    if size <= _DIRECT_ROWS and size * rank**2 <= _DIRECT_ELEMENTS:
        methods.append(_direct)
    else:
        if accuracy >= _SINGLE_ACCURACY and point.lam.dtype == namespace(point.lam).float64:
            methods.append(
                lambda H, diagonal, g: _solve_by_cg(H, H.in_single(), diagonal, g, accuracy)
            )
        methods.append(lambda H, diagonal, g: _solve_by_cg(H, H.product, diagonal, g, accuracy))
    methods.append(lambda H, diagonal, g: g / diagonal)
    return methods


def _curvature(point: DualPoint, rows: Array, diagonal: Array) -> Array:
    """Lift the diagonal of the Hessian where X is flat along a constraint, so that steps stay finite.

    Where X is zero and stays so to second order, the curvature of the other constraints is used, at the size
    of this one.
    """
    xp = namespace(diagonal)
    if read(xp.min(diagonal)) > 1e-12 * read(xp.max(diagonal)):
        return diagonal
    squared_norms = xp.take(point.dual.squared_norms, rows)
    usual = xp.where(squared_norms > 0, squared_norms, xp.ones_like(squared_norms))
    ratio = read(xp.max(diagonal / usual))
    return xp.maximum(diagonal, (1e-6 * ratio if ratio > 0 else 1.0) * usual)


def _search_along(point: DualPoint, direction: Array, shrink: float) -> DualPoint | None:
    """Step along the direction, cut off at the box, until the dual has risen enough."""
    lam = point.lam
    xp = namespace(lam)
    huge = float(xp.finfo(lam.dtype).max)

    def take(size: float) -> Step | None:
        whole = lam + size * direction
        moved = clipped(whole, point.dual.box[0], point.dual.ceiling(lam))
        way = moved - lam
        promise = read(xp.vecdot(point.gradient, way))
        if promise <= 0:
            return None  # cut off at the box, the direction no longer ascends
        trial = point.dual.at(moved)
        if not -(huge**0.9) < trial.value < INF:
            # Outside the domain, or so far out that products with X would overflow.
            return Step(None, -INF, promise)
        # Clipped, since an exponential may overflow; such a slope is steep enough.
        slope = read(xp.vecdot(clipped(trial.gradient, -(huge**0.3), huge**0.3), way))
        # A slope at the end of a step that the box cut off does not mean that it was too short.
        is_whole = bool(xp.all(moved == whole))
        return Step(trial, trial.value - point.value, promise, slope, is_whole)

    better: DualPoint | None = line_search(take, point, point.noise, tries=_HALVINGS, shrink=shrink)
    return better


def _direct(H: Hessian, diagonal: Array, g: Array) -> Array | None:
    """Solve (H + damping) d = g by elimination, scaled to a unit diagonal; damped more where that fails."""
    xp = namespace(g)
    scale = 1 / xp.sqrt(diagonal)
    scaled = H.matrix() * scale[:, None] * scale[None, :]
    for units in _DIRECT_DAMPINGS:
        lower = cholesky_or_none(scaled + units * machine_eps(g) * eye(H.size, g))
        if lower is not None:
            inverse = inverse_of_lower(lower)
            return scale * (transpose(inverse) @ (inverse @ (scale * g)))
    return None


def _solve_by_cg(
    H: Hessian, product: Callable[[Array], Array], diagonal: Array, g: Array, accuracy: float
) -> Array:
    """Solve (H + damping) d = g by conjugate gradients."""
    damping, precondition = _DAMPING * diagonal, H.preconditioner(diagonal)
    return conjugate_gradients(
        lambda d: product(d) + damping * d, precondition, g, accuracy, in_preconditioned_norm=True
    )
