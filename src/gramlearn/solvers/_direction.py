"""(I + sum_k d_k B_k <B_k, .>) S = -E: the Newton direction of X -> F (I + S) F', with d_k = loss_k''(t_k).

B_k is A_k in the frame F, in which the Hessian of -log det is the identity.
"""

from collections.abc import Callable, Iterator

from gramlearn._arrays import Array, concat, eye, namespace, read, symmetric_part, transpose
from gramlearn.dual import Hessian
from gramlearn.linear_maps import LinearMap
from gramlearn.primal import PrimalPoint

__all__ = ["newton_direction"]

_STEPS = 300
# Few constraints are eliminated instead: exact where the problem is badly conditioned, and no slower.
_DIRECT_ROWS = 200
_DIRECT_ELEMENTS = 4_000_000
# Down to this residual, products in single precision do.
_SINGLE_ACCURACY = 1e-3


def newton_direction(point: PrimalPoint, accuracy: float) -> Array:
    """Give S, to a residual of `accuracy` |E|."""
    E = point.gradient
    if not point.costly:
        return -E
    maps = [c.map for c in point.costly]
    curvature = concat([c.curvature for c in point.costly], E)
    size = int(curvature.shape[0])
    if size <= _DIRECT_ROWS and size * E.shape[0] ** 2 <= _DIRECT_ELEMENTS:
        return _eliminated(maps, curvature, E)
    xp = namespace(E)
    # In a basis in which sum_k sqrt(d_k) B_k is diagonal the system is nearly so: for normal directions z
    # the mean of zz' <zz', S> is 2 M S M + tr(SM) M, with M the mean of zz'. It ties an entry off the diagonal
    # to itself alone, and the entries on the diagonal to one another.
    _, U = xp.linalg.eigh(_adjoint(maps, xp.sqrt(curvature)))
    maps = [m.restrict(U) for m in maps]
    E = transpose(U) @ E @ U
    S = None
    if accuracy >= _SINGLE_ACCURACY and E.dtype == xp.float64:
        S = _in_single(maps, curvature, E, accuracy)
    if S is None:
        S = _conjugate_gradients(maps, curvature, E, accuracy)
    return symmetric_part(U @ S @ transpose(U))


def _eliminated(maps: list[LinearMap], curvature: Array, E: Array) -> Array:
    """S = -E - sum_k w_k B_k, with (diag(1/d) + B B*) w = -B(E), scaled to a unit diagonal."""
    xp = namespace(E)
    H = Hessian(maps, xp.ones_like(E[:1, :1]), 1 / curvature, int(E.shape[0]))
    scale = 1 / xp.sqrt(H.diagonal)
    scaled = H.matrix() * scale[:, None] * scale[None, :]
    right = -concat([m.apply(E) for m in maps], E) * scale
    w = scale * xp.linalg.solve(scaled, right[:, None])[:, 0]
    return -E - symmetric_part(_adjoint(maps, w))


def _in_single(maps: list[LinearMap], curvature: Array, E: Array, accuracy: float) -> Array | None:
    """The direction by products in single precision, or None where its range does not do."""
    xp = namespace(E)
    scale = max(m.magnitude() for m in maps) or 1.0
    size = read(xp.max(xp.abs(E))) or 1.0
    if read(xp.max(curvature)) * scale**2 > 1e15:
        return None
    narrow = [m.in_single(scale) for m in maps]
    scaled = xp.astype(curvature * scale**2, xp.float32)
    S = _conjugate_gradients(narrow, scaled, xp.astype(E / size, xp.float32), accuracy)
    return size * xp.astype(S, E.dtype)


def _conjugate_gradients(
    maps: list[LinearMap], curvature: Array, E: Array, accuracy: float
) -> Array:
    xp = namespace(E)
    precondition = _preconditioner(maps, curvature)
    S = xp.zeros_like(E)
    residual = -E
    z = precondition(residual)
    p = z
    rho = read(xp.sum(residual * z))
    goal = accuracy**2 * read(xp.sum(E * E))
    for _ in range(_STEPS):
        values = concat([m.apply(p) for m in maps], E)
        Hp = p + _adjoint(maps, curvature * values)
        alpha = rho / read(xp.sum(p * Hp))
        S = S + alpha * p
        residual = residual - alpha * Hp
        if read(xp.sum(residual * residual)) <= goal:
            break
        z = precondition(residual)
        old, rho = rho, read(xp.sum(residual * z))
        p = z + (rho / old) * p
    return S


def _preconditioner(maps: list[LinearMap], curvature: Array) -> Callable[[Array], Array]:
    """Divide by the diagonal of the system; on the entries S_ii solve their r x r block."""
    xp = namespace(curvature)
    squares = sum(m.squares(d) for m, d in _pieces(maps, curvature))
    # A symmetric S has every entry off the diagonal twice.
    diagonal = 1 + 2 * squares
    identity = eye(int(diagonal.shape[0]), diagonal)
    block = xp.linalg.inv(identity + squares)

    def precondition(R: Array) -> Array:
        onto = block @ xp.linalg.diagonal(R)
        return xp.where(identity > 0, identity * onto, R / diagonal)

    return precondition


def _adjoint(maps: list[LinearMap], v: Array) -> Array:
    return sum(m.adjoint(piece) for m, piece in _pieces(maps, v))


def _pieces(maps: list[LinearMap], v: Array) -> Iterator[tuple[LinearMap, Array]]:
    start = 0
    for m in maps:
        yield m, v[start : start + m.size]
        start += m.size
