"""C <- C + A B' by BLAS, from compiled loops: what a product adds to is read once, not twice.

Numba's own products write a new matrix, and the sum would be one more pass over memory. The function is handed
to compiled code as an argument (`DGEMM`), since an address in the code itself could not be kept on disk.
"""

import numba.experimental.function_type  # noqa: F401 (it lets functions be arguments)
import numpy as np
from numba import types
from numba.extending import get_cython_function_address

from gramlearn._base.compilation import compiled


class _Dgemm(types.WrapperAddressProtocol):
    def __wrapper_address__(self) -> int:
        return int(get_cython_function_address("scipy.linalg.cython_blas", "dgemm"))

    def signature(self) -> object:
        return types.int64(*[types.uintp] * 13)


DGEMM = _Dgemm()


@compiled()
def add_product(dgemm, A, B, C):  # type: ignore[no-untyped-def]
    """C <- C + A B', for matrices whose rows lie one after the other in memory."""
    # BLAS has the columns one after the other and so sees the transposes: C' <- C' + B A'.
    plain, flipped = np.array([78], np.uint8), np.array([84], np.uint8)  # the letters N and T
    rows, columns = np.array([C.shape[0]], np.int32), np.array([C.shape[1]], np.int32)
    inner, one = np.array([A.shape[1]], np.int32), np.array([1.0])
    dgemm(
        flipped.ctypes.data, plain.ctypes.data, columns.ctypes.data, rows.ctypes.data, inner.ctypes.data,
        one.ctypes.data, B.ctypes.data, inner.ctypes.data, A.ctypes.data, inner.ctypes.data,
        one.ctypes.data, C.ctypes.data, columns.ctypes.data,
    )  # fmt: skip
