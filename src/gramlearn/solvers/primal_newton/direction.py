"""(I + h B* d B h) S = -h R: the Newton direction dY = S / h of the primal, in the frame of X.

B_k is A_k in that frame, d_k = loss_k''(t_k), R the residual, and h the root of Phi, the first divided
differences of grad phi*, all taken entry by entry. The solution makes Y + dY = Y0 - sum_k (lam_k + dlam_k) A_k
hold to first order, with dlam = d B(Phi o dY).
"""

from collections.abc import Callable
from typing import NamedTuple

from gramlearn._base.arrays import (
    Array,
    eye,
    machine_eps,
    namespace,
    read,
    symmetric_part,
    transpose,
)
from gramlearn.problem.hessian import Hessian
from gramlearn.problem.linear_maps import LinearMap, joint_adjoint, joint_apply, split
from gramlearn.problem.primal import PrimalPoint
from gramlearn.solvers.krylov import conjugate_gradients
from gramlearn.solvers.line_search import Step, line_search
from gramlearn.solvers.symmetric import Coordinates

INF = float("inf")

# Small systems are solved by elimination: exact where the problem is badly conditioned, and no slower.
_DIRECT_ROWS = 200
_DIRECT_RANK = 30
# For LogDet the system is cheap to write out, and to eliminate it takes less time than a few products with it.
_DIRECT_SHARE, _DIRECT_SIZE = 4, 6000
_DIRECT_ELEMENTS = 4_000_000
# Down to this residual, products in single precision are accurate enough.
_SINGLE_ACCURACY = 1e-3


def newton_direction(point: PrimalPoint, accuracy: float) -> Array:
    """Give dY, to a residual of `accuracy` |h R|."""
    R, Phi = point.residual, point.at.divided_differences
    maps, curvature = point.curved
    size, rank = int(curvature.shape[0]), int(R.shape[0])
    if size == 0:
        return -R
    few = size <= _DIRECT_ROWS and size * rank**2 <= _DIRECT_ELEMENTS
    if few or (Phi.shape[0] == 1 and size <= min(_DIRECT_SHARE * rank, _DIRECT_SIZE)):
        return _eliminated(maps, curvature, Phi, R)
    if rank <= _DIRECT_RANK:
        return _written_out(maps, curvature, Phi, R)
    xp = namespace(R)
    h = xp.sqrt(Phi)
    system = _System(maps, *_rotate(maps, curvature, Phi), curvature, h)
    right, narrow = -h * R, None
    if accuracy >= _SINGLE_ACCURACY and R.dtype == xp.float64:
        narrow = system.in_single()
    if narrow is None:
        S = _solve_by_cg(system, right, accuracy)
    else:
        unit = read(xp.max(xp.abs(right))) or 1.0
        S = _solve_by_cg(narrow, xp.astype(right / unit, xp.float32), accuracy)
        S = unit * xp.astype(S, R.dtype)
    tiny = xp.zeros_like(R) + h <= 1e-8 * read(xp.max(h))
    if not bool(xp.any(tiny)):
        return symmetric_part(S / h)
    # Entries of dY that hardly move X follow from the equation itself.
    follows = -R - joint_adjoint(maps, curvature * joint_apply(maps, h * S))
    return symmetric_part(xp.where(tiny, follows, S / xp.where(tiny, xp.ones_like(R), h)))


def promised_fall(point: PrimalPoint, dY: Array) -> float:
    """-<R, dX>, by which the value falls to first order."""
    return -read(namespace(dY).sum(point.at.divided_differences * point.residual * dY))


def search_along(
    point: PrimalPoint, dY: Array, promise: float, halvings: int
) -> PrimalPoint | None:
    """Halve the step until the value falls enough; where rounding hides its fall, the gap decides.

    Where X is zero and stays so to first order nothing is promised, and any fall is enough.
    """

    def take(size: float) -> Step:
        trial = point.moved(size * dY)
        fall = -INF if trial is None else point.value - trial.value
        return Step(trial, fall, size * promise)

    better: PrimalPoint | None = line_search(take, point.gap, point.noise, tries=halvings)
    return better


def _eliminated(maps: list[LinearMap], curvature: Array, Phi: Array, R: Array) -> Array:
    """dY = -R - B* w, with (1/d + B Phi B*) w = -B(Phi R), scaled to a unit diagonal."""
    xp = namespace(R)
    H = Hessian(maps, Phi, 1 / curvature, int(R.shape[0]))
    scale = 1 / xp.sqrt(H.diagonal)
    scaled = H.matrix() * scale[:, None] * scale[None, :] + _damping(R) * eye(H.size, R)
    right = -joint_apply(maps, Phi * R) * scale
    w = scale * xp.linalg.solve(scaled, right[:, None])[:, 0]
    return -R - symmetric_part(joint_adjoint(maps, w))


def _written_out(maps: list[LinearMap], curvature: Array, Phi: Array, R: Array) -> Array:
    """dY = -R - M(h S), with M = B* d B as a matrix over the coordinates of symmetric matrices."""
    xp = namespace(R)
    coordinates = Coordinates(int(R.shape[0]), R)
    M = coordinates.gram(maps, curvature)
    h = xp.sqrt(coordinates.entries(xp.zeros_like(R) + Phi))
    system = h[:, None] * M * h[None, :]
    # Next to large entries the identity is lost to rounding, and with it the null space of M.
    largest = read(xp.max(xp.abs(xp.linalg.diagonal(system))))
    system = system + (1 + _damping(R) * largest) * eye(coordinates.size, R)
    S = xp.linalg.solve(system, -(h * coordinates.vector(R))[:, None])[:, 0]
    return -R - coordinates.matrix(M @ (h * S))


def _damping(like: Array) -> float:
    return 50 * machine_eps(like)


def _rotate(maps: list[LinearMap], curvature: Array, Phi: Array) -> tuple[list[LinearMap], Array]:
    """Rotate to the eigenvectors U of sum_k sqrt(d_k) B_k, with h taken as the closest product sqrt(p_i p_j).

    For normal directions z the mean of zz' <zz', S> is 2 M S M + tr(SM) M, with M the mean of zz'. Where M is
    diagonal this ties an entry off the diagonal to itself alone, and those on the diagonal to one another.
    """
    xp = namespace(curvature)
    M = joint_adjoint(maps, xp.sqrt(curvature))
    sums = xp.sum(xp.zeros_like(M) + Phi, axis=1)
    root = xp.sqrt(sums / xp.sqrt(xp.sum(sums)))
    _, U = xp.linalg.eigh(symmetric_part(root[:, None] * M * root[None, :]))
    return [m.restrict(root[:, None] * U) for m in maps], U


class _System(NamedTuple):
    """S -> (I + h B* d B h) S, and an approximate inverse from the maps in a basis U, see `_rotate`."""

    maps: list[LinearMap]
    rotated: list[LinearMap]
    U: Array
    curvature: Array
    h: Array

    def product(self, S: Array) -> Array:
        h = self.h
        return S + h * joint_adjoint(self.maps, self.curvature * joint_apply(self.maps, h * S))

    def preconditioner(self) -> Callable[[Array], Array]:
        """Divide by the diagonal of the rotated system; on the entries S_ii solve their r x r block."""
        xp = namespace(self.curvature)
        maps, U = self.rotated, self.U
        pieces = zip(maps, split(maps, self.curvature), strict=True)
        squares = sum(m.squares(d) for m, d in pieces)
        # A symmetric S has every entry off the diagonal twice.
        diagonal = 1 + 2 * squares
        identity = eye(int(diagonal.shape[0]), diagonal)
        block = xp.linalg.inv(identity + squares)

        def precondition(residual: Array) -> Array:
            rotated = transpose(U) @ residual @ U
            onto = block @ xp.linalg.diagonal(rotated)
            return U @ xp.where(identity > 0, identity * onto, rotated / diagonal) @ transpose(U)

        return precondition

    def in_single(self) -> "_System | None":
        """The same in single precision, scaled to entries of about 1; None where its range is too small."""
        xp = namespace(self.curvature)
        scale = max(m.magnitude() for m in self.maps) or 1.0
        peak = read(xp.max(self.h)) or 1.0
        curvature = self.curvature * (scale * peak) ** 2
        if read(xp.max(curvature)) > 1e15:
            return None
        maps = [m.in_single(scale) for m in self.maps]
        # The rotated maps hold h already.
        rotated = [m.in_single(scale * peak) for m in self.rotated]
        vectors = (self.U, curvature, self.h / peak)
        return _System(maps, rotated, *(xp.astype(x, xp.float32) for x in vectors))


def _solve_by_cg(system: _System, right: Array, accuracy: float) -> Array:
    products = system.product, system.preconditioner()
    return conjugate_gradients(*products, right, accuracy, in_preconditioned_norm=False)
