"""Arbitrary symmetric matrices A_k: the trace, dense stacks, sparse ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from gramlearn._base.arrays import Array, as_index, as_real, constant, every_row, namespace
from gramlearn._base.validation import as_numbers, check_finite, check_symmetric
from gramlearn.problem.constraints.base import Constraints, check_offset
from gramlearn.problem.linear_maps import Entries, LinearMap, MatrixMap, SparseMap


def _check_dimension(given: int, dimension: int) -> None:
    if given != dimension:
        raise ValueError(
            f"`matrices` are of size {given}, but the prior is a matrix of size {dimension}; the two "
            "must agree."
        )


@final
@dataclass(frozen=True, eq=False)
class Trace(Constraints):
    """t = tr X."""

    offset: Any = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", check_offset(self.offset, 1))

    @property
    def size(self) -> int:
        return 1

    def restricted_map(self, basis: Array | None, dimension: int, like: Array) -> LinearMap:
        every = every_row(dimension, like)
        one = constant(1.0, like, dimension)
        table = Entries(namespace(like).zeros_like(every), every, every, one)
        identity = SparseMap(table, 1, constant(0.0, like, dimension), is_nonnegative=True)
        return identity if basis is None else identity.restrict(basis)

    def describe(self, k: int) -> str:
        del k
        return "trace"

    @classmethod
    def examples(cls, n: int) -> list[Constraints]:
        del n
        return [cls()]


@final
@dataclass(frozen=True, eq=False)
class DenseMatrices(Constraints):
    """t_k = <A_k, X> for arbitrary symmetric matrices, given as an array c x n x n."""

    matrices: Any
    offset: Any = 0.0

    def __post_init__(self) -> None:
        A = as_real(as_numbers(self.matrices, "matrices"))
        if A.ndim != 3:
            raise ValueError(
                f"`matrices` must be an array c x n x n; got {A.ndim} dimension(s). For one matrix pass "
                "matrices[None]."
            )
        check_finite(A, "matrices")
        for k in range(int(A.shape[0])):
            check_symmetric(A[k, :, :], f"matrices[{k}]")
        object.__setattr__(self, "matrices", A)
        object.__setattr__(self, "offset", check_offset(self.offset, int(A.shape[0])))

    @property
    def size(self) -> int:
        return int(self.matrices.shape[0])

    def restricted_map(self, basis: Array | None, dimension: int, like: Array) -> LinearMap:
        _check_dimension(int(self.matrices.shape[1]), dimension)
        stack = MatrixMap(as_real(self.matrices, like))
        return stack if basis is None else stack.restrict(basis)

    def describe(self, k: int) -> str:
        return f"matrix {k}"

    @classmethod
    def examples(cls, n: int) -> list[Constraints]:
        A = [[[1.0 / (1 + abs(i - j)) + 0.3 * (k + 1) * (i == j == k) for j in range(n)] for i in range(n)]
             for k in range(3)]  # fmt: skip
        return [cls(A)]


@final
@dataclass(frozen=True, eq=False)
class SparseMatrices(Constraints):
    """t_k = <A_k, X> for a sequence of symmetric SciPy sparse matrices n x n."""

    matrices: Sequence[Any]
    offset: Any = 0.0

    def __post_init__(self) -> None:
        from scipy.sparse import issparse

        if issparse(self.matrices) or np.ndim(self.matrices) == 0:
            raise TypeError(
                "`matrices` must be a list of SciPy sparse matrices; got "
                f"{type(self.matrices).__name__}. For one matrix pass [A]."
            )
        for k, A in enumerate(self.matrices):
            if not issparse(A):
                raise TypeError(
                    f"`matrices[{k}]` must be a SciPy sparse matrix; got {type(A).__name__}. Use DenseMatrices "
                    "for dense ones."
                )
        shapes = {tuple(A.shape) for A in self.matrices}
        if len(shapes) > 1 or any(len(s) != 2 or s[0] != s[1] for s in shapes):
            raise ValueError(
                f"`matrices` must be square and of one size; got the shapes {sorted(shapes)}."
            )
        for k, A in enumerate(self.matrices):
            check_finite(A.tocoo().data, f"matrices[{k}]")
            if abs(A - A.T).sum() > 1e-8 * abs(A).sum():
                raise ValueError(f"`matrices[{k}]` is not symmetric; pass (A + A.T) / 2.")
        object.__setattr__(self, "matrices", tuple(A.tocoo() for A in self.matrices))
        object.__setattr__(self, "offset", check_offset(self.offset, len(self.matrices)))

    @property
    def size(self) -> int:
        return len(self.matrices)

    def restricted_map(self, basis: Array | None, dimension: int, like: Array) -> LinearMap:
        for A in self.matrices:
            _check_dimension(int(A.shape[0]), dimension)
        sizes = [A.nnz for A in self.matrices]
        k = np.repeat(np.arange(self.size), sizes)
        row, column, data = (
            np.concatenate([np.zeros(0), *(getattr(A, name) for A in self.matrices)])
            for name in ("row", "col", "data")
        )
        k, i, j = (as_index(x.astype(np.int64), like) for x in (k, row, column))
        table = Entries(k, i, j, as_real(data, like))
        sparse = SparseMap(table, self.size, constant(0.0, like, dimension))
        return sparse if basis is None else sparse.restrict(basis)

    def describe(self, k: int) -> str:
        return f"matrix {k}"

    @classmethod
    def examples(cls, n: int) -> list[Constraints]:
        from scipy.sparse import coo_array

        pairs = [(k, (k + 1) % n) for k in range(3)]
        return [
            cls([coo_array(([1.0, 1.0, 2.0], ([a, b, a], [b, a, a])), (n, n)) for a, b in pairs])
        ]
