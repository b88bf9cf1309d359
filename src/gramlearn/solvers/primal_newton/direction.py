"""(I + h B* d B h) S = -h R: the Newton direction dX = h S of the primal, in the frame of X.

B_k is A_k in that frame, d_k = loss_k''(t_k), R the gradient, and h the root of Phi, with 1/Phi the second
derivative of the divergence (and of a barrier, if there is one), all taken entry by entry.
"""

from collections.abc import Callable
from typing import NamedTuple

from gramlearn._base.arrays import Array, eye, machine_eps, namespace, read
from gramlearn._base.matrices import eigh, inverted, solved_or_nan, symmetric_part, transpose
from gramlearn.problem.curved import Curved
from gramlearn.problem.hessian import Hessian
from gramlearn.problem.linear_maps import joint_adjoint, joint_apply
from gramlearn.solvers.krylov import conjugate_gradients
from gramlearn.solvers.line_search import Step, line_search
from gramlearn.solvers.primal_newton.barrier import BarrierPoint, Ray
from gramlearn.solvers.primal_newton.memory import Inverse, Memory
from gramlearn.solvers.symmetric import Coordinates

INF = float("inf")

# Small systems are solved by elimination: exact where the problem is badly conditioned, and no slower. Over the
# constraints: up to so many, if their matrices have no more elements than this in all.
_DIRECT_ROWS, _DIRECT_ELEMENTS = 200, 4_000_000
# For LogDet that system is cheap to write out: up to so many constraints for each column of X, and in all.
_DIRECT_SHARE, _DIRECT_SIZE = 12, 6000
_MILD = 30.0  # a condition of the system up to which a few products solve it
# Over the entries of X: up to this rank, or this many multiplications to write the system out.
_DIRECT_RANK, _DIRECT_PRODUCTS = 12, 2e8
# Down to this residual, products in single precision are accurate enough.
_SINGLE_ACCURACY = 1e-3
_MODERATE = 1e6  # entries of up to this size need no other scale in single precision
# A system that took so many products is remembered, if it has so many constraints for each column of X: with
# fewer, products with the system are cheaper than with what is remembered.
_MANY_PRODUCTS, _MANY_ROWS = 6, 100
_SAMPLE = 80  # constraints for each column of X that make the preconditioner


class Accuracy(NamedTuple):
    """The residual to solve a system to: the usual one, or a finer one where the step may be the last.

    It may be the last where the quadratic model is off by no more than is tolerated. It is off by about the
    promised fall times the relative change of X. After such a step the gap is what the residual leaves.
    """

    usual: float
    fine: float = 1.0
    tolerated: float = 0.0
    # Whether the prices of the step are to certify X itself: the model is then off by half the promised fall.
    certifies_x: bool = False

    def at(self, point: BarrierPoint, dX: Array) -> float:
        """Choose the accuracy of a step, once it is known to the usual one."""
        if self.fine >= self.usual:
            return self.usual
        xp, root = namespace(dX), namespace(dX).sqrt(point.primal.at.spectrum)
        change = read(xp.max(xp.abs(dX / root[:, None] / root[None, :])))
        off = promised_fall(point, dX) * (0.5 if self.certifies_x else change)
        is_last = off <= self.tolerated
        return self.fine if is_last else self.usual


def newton_direction(
    point: BarrierPoint, accuracy: Accuracy, memory: Memory | None = None
) -> tuple[Array, Memory | None]:
    """Give dX = Phi o dY, to a residual of accuracy times |h R|, and what is remembered for the next system."""
    R, Phi = point.residual, point.softness
    curved = point.curved
    size, rank = curved.size, int(R.shape[0])
    if size == 0:
        return -Phi * R, memory
    few = size <= _DIRECT_ROWS and size * rank**2 <= _DIRECT_ELEMENTS
    is_cheap = Phi.shape[0] == 1 and size <= min(_DIRECT_SHARE * rank, _DIRECT_SIZE)
    # No eigenvalue of the system is larger than the trace and 1, and none is less than 1.
    if few or (is_cheap and 1 + curved.trace(Phi) > _MILD):
        return Phi * _eliminated(curved, Phi, R), memory
    if rank <= _DIRECT_RANK or size * (rank * (rank + 1) / 2) ** 2 <= _DIRECT_PRODUCTS:
        return Phi * _written_out(curved, Phi, R), memory
    xp = namespace(R)
    h = xp.sqrt(Phi)
    some = curved.sample(_SAMPLE * rank)
    inverse: Inverse = _Preconditioner.of(some, Phi, rank)
    if memory is not None:
        inverse = memory.deflation(point.primal.at.frame, h, inverse)
    system = _System(curved, h, inverse)
    right, narrow, unit = -h * R, None, 1.0
    if accuracy.usual >= _SINGLE_ACCURACY and R.dtype == xp.float64:
        narrow = system.in_single(some.magnitude)
    if narrow is not None:
        unit = read(xp.max(xp.abs(right))) or 1.0
        right = xp.astype(right / unit, xp.float32)
        accuracy = accuracy._replace(fine=max(accuracy.fine, _SINGLE_ACCURACY))

    def direction(S: Array) -> Array:
        return symmetric_part(h * (unit * xp.astype(S, R.dtype)))

    S, products = (narrow or system).solve(
        right, accuracy.usual, lambda S: accuracy.at(point, direction(S))
    )
    if len(products) >= _MANY_PRODUCTS and size >= _MANY_ROWS * rank:
        memory = Memory.of(products, inverse, point.primal.at.frame, h)
    return direction(S), memory


def promised_fall(point: BarrierPoint, dX: Array) -> float:
    """-<R, dX>, by which the value falls to first order."""
    return -read(namespace(dX).sum(point.residual * dX))


def search_along(ray: Ray, promise: float, tries: int) -> BarrierPoint | None:
    """Halve the step until the value falls enough; where rounding hides its fall, the gap decides."""
    here = ray.start

    def take(size: float) -> Step:
        trial = ray.at(size)
        rise = -INF if trial is None else here.value - trial.value
        return Step(trial, rise, size * promise)

    better: BarrierPoint | None = line_search(take, here, here.noise, tries=tries)
    return better


def _eliminated(curved: Curved, Phi: Array, R: Array) -> Array:
    """dY = -R - B* w, with (1/d + B Phi B*) w = -B(Phi R), scaled to a unit diagonal."""
    xp = namespace(R)
    maps, curvature = curved.gathered()
    H = Hessian(maps, Phi, 1 / curvature, int(R.shape[0]))
    scale = 1 / xp.sqrt(H.diagonal)
    scaled = H.matrix() * scale[:, None] * scale[None, :] + _damping(R) * eye(H.size, R)
    right = -joint_apply(maps, Phi * R) * scale
    w = scale * solved_or_nan(scaled, right)
    return -R - symmetric_part(joint_adjoint(maps, w))


def _written_out(curved: Curved, Phi: Array, R: Array) -> Array:
    """dY = -R - M(h S), with M = B* d B as a matrix over the coordinates of symmetric matrices."""
    xp = namespace(R)
    coordinates = Coordinates(int(R.shape[0]), R)
    M = curved.gram(coordinates)
    h = xp.sqrt(coordinates.entries(xp.zeros_like(R) + Phi))
    system = h[:, None] * M * h[None, :]
    # Next to large entries the identity is lost to rounding, and with it the null space of M.
    largest = read(xp.max(xp.abs(xp.linalg.diagonal(system))))
    system = system + (1 + _damping(R) * largest) * eye(coordinates.size, R)
    S = solved_or_nan(system, -(h * coordinates.vector(R)))
    return -R - coordinates.matrix(M @ (h * S))


def _damping(like: Array) -> float:
    return 50 * machine_eps(like)


class _Preconditioner(NamedTuple):
    """An approximate inverse of I + h B* d B h, in the basis U.

    Entries off the diagonal of S are multiplied by those of `off_diagonal`, which is zero on its diagonal; the
    entries S_ii together by `block`.
    """

    U: Array
    off_diagonal: Array
    block: Array

    @classmethod
    def of(cls, curved: Curved, Phi: Array, rank: int) -> "_Preconditioner":
        """Take for U the eigenvectors of sum_k sqrt(d_k) |B_k|, with h as the closest product sqrt(p_i p_j).

        For normal directions z the mean of zz' <zz', S> is 2 M S M + tr(SM) M, with M the mean of zz'. Where M
        is diagonal this ties an entry off the diagonal to itself alone, and those on the diagonal to one
        another. In a sum of differences zz' - yy' the M of z and that of y would cancel, but both have a part
        in the system. A sample of the constraints shows that as well as all of them.
        """
        xp, M = namespace(Phi), curved.spread()
        sums = xp.sum(xp.zeros_like(M) + Phi, axis=1)
        root = xp.sqrt(sums / xp.sqrt(xp.sum(sums)))
        _, U = eigh(symmetric_part(root[:, None] * M * root[None, :]))
        squares, of_diagonals = curved.squares(root[:, None] * U)
        identity = eye(rank, M)
        block = inverted(identity + of_diagonals)
        # A symmetric S has every entry off the diagonal twice.
        return cls(U, (1 - identity) / (1 + 2 * squares), block)

    @property
    def known(self) -> list[tuple[Array, Array]]:
        return []

    @property
    def largest(self) -> Array:
        xp = namespace(self.off_diagonal)
        return 1 / xp.min(self.off_diagonal + eye(int(self.U.shape[0]), self.U))

    def apply(self, residual: Array) -> Array:
        xp, U = namespace(residual), self.U
        rotated = transpose(U) @ residual @ U
        onto = self.block @ xp.linalg.diagonal(rotated)
        return U @ xp.where(self.off_diagonal > 0, rotated * self.off_diagonal, onto) @ transpose(U)

    def in_single(self) -> "_Preconditioner":
        xp = namespace(self.U)
        return _Preconditioner(*(xp.astype(x, xp.float32) for x in self))


class _System(NamedTuple):
    """S -> (I + h B* d B h) S, with a preconditioner."""

    curved: Curved
    h: Array
    inverse: Inverse

    def product(self, S: Array) -> Array:
        return S + self.h * self.curved.product(self.h * S)

    def in_single(self, scale: float) -> "_System | None":
        """The same in single precision, scaled to entries of about 1; None where its range is too small.

        The scale is the largest entry of a B_k, or of a sample of them.
        """
        if 1 / _MODERATE <= scale <= _MODERATE:
            scale = 1.0  # nothing to multiply
        xp = namespace(self.h)
        peak = read(xp.max(self.h)) or 1.0
        if self.curved.largest * (scale * peak) ** 2 > 1e15 or read(self.inverse.largest) > 1e30:
            return None
        h = xp.astype(self.h / peak, xp.float32)
        return _System(self.curved.in_single(scale, peak), h, self.inverse.in_single())

    def solve(
        self, right: Array, accuracy: float, finer: Callable[[Array], float]
    ) -> tuple[Array, list[tuple[Array, Array]]]:
        """The solution, and the pairs (S, product of S) that it took."""
        pairs = []

        def product(S: Array) -> Array:
            pairs.append((S, self.product(S)))
            return pairs[-1][1]

        S = conjugate_gradients(
            product, self.inverse.apply, right, accuracy, finer, in_preconditioned_norm=False
        )
        return S, pairs
