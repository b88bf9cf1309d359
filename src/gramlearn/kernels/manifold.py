"""k(x, z) - k_x' (I + M K)^-1 M k_z: a kernel that knows the shape of the data (Sindhwani et al., 2005).

K is the kernel of the points, k_x = k(X, x), and M = strength L^degree with L the Laplacian of their neighbor
graph. It is the kernel of the norm |f|^2 + f(X)' M f(X), under which functions that change quickly along the
data are long; among the points it is (K^-1 + M)^-1. It is defined for all points, not those alone.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np

from gramlearn._base.arrays import is_elsewhere
from gramlearn._base.validation import check_count, check_host_points
from gramlearn.graphs.neighbors import laplacian, neighbor_graph
from gramlearn.kernels.kernel import Kernel
from gramlearn.kernels.matrix import KernelMatrix, read_kernel_matrix


@final
@dataclass(frozen=True, eq=False)
class ManifoldKernel(Kernel):
    """A kernel for `kernel=`, made of another kernel and of points, labeled or not.

    Parameters
    ----------
    X : array n x d
        The points whose shape counts.
    kernel, kernel_params :
        k, by its name or as a function.
    n_neighbors : int
        Of the graph: two points are joined where one is among the nearest of the other.
    strength : float
        How much the shape counts, at least 0.
    degree : int
        The power of the Laplacian.
    normalized : bool
        Whether the Laplacian is I - D^(-1/2) A D^(-1/2), or D - A.
    """

    X: Any
    kernel: Any = "rbf"
    kernel_params: dict[str, Any] | None = None
    n_neighbors: int = 5
    strength: float = 1.0
    degree: int = 1
    normalized: bool = True
    _base: KernelMatrix = field(init=False, repr=False)
    _core: np.ndarray = field(init=False, repr=False)
    words = "ManifoldKernel"
    needs_numpy: ClassVar[bool] = True

    @property
    def is_psd(self) -> bool:  # type: ignore[override]  # as the kernel it is made of
        return self._base.kernel.is_psd

    def __post_init__(self) -> None:
        points = check_host_points(self.X, "X")  # their neighbors are found in host memory
        base = read_kernel_matrix(points, self.kernel, self.kernel_params or {})
        if base.stored is not None:
            raise ValueError(
                "`kernel` must be a name or a function here: a precomputed one says nothing about new points."
            )
        if not self.strength >= 0:
            raise ValueError(f"`strength` must be at least 0; got {self.strength!r}.")
        graph = neighbor_graph(base.points, self.n_neighbors)
        L = laplacian(graph, normalized=self.normalized).toarray()
        M = self.strength * np.linalg.matrix_power(L, check_count(self.degree, "degree"))
        # (I + MK)^-1 M = M - M (K^-1 + M)^-1 M = R (I + R K R)^-1 R with R = M^(1/2): symmetric, whatever K is.
        s, V = np.linalg.eigh(M)
        R = (V * np.sqrt(np.maximum(s, 0.0))) @ V.T
        inner = np.eye(len(M)) + R @ base.matrix() @ R
        object.__setattr__(self, "_base", base)
        object.__setattr__(self, "_core", R @ np.linalg.solve(inner, R))

    @classmethod
    def worked_out(cls, base: KernelMatrix, core: np.ndarray, **parameters: Any) -> Self:
        """The kernel whose matrix, n x n, was worked out before, from the same points and parameters."""
        made = object.__new__(cls)
        every = {"X": base.points, "kernel": base.kernel, "kernel_params": None, **parameters}
        for name, value in {**every, "_base": base, "_core": core}.items():
            object.__setattr__(made, name, value)
        return made

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """All k(a, b)."""
        if is_elsewhere(A):
            raise TypeError(
                "ManifoldKernel compares points in host memory, and works on NumPy arrays alone; pass "
                "X.cpu().numpy()."
            )
        every = self._base.comparison(np.arange(self._base.n_points))
        first = every(A)
        second = first if A is B else every(B)
        values = self._base.between(A, B) - first @ self._core @ second.T
        return (values + values.T) / 2 if A is B else values
