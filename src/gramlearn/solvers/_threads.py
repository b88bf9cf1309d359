"""One thread for small products: several wait for each other, and on a busy machine most of the time."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

__all__ = ["one_thread"]


@lru_cache(maxsize=1)
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # which comes with scikit-learn

    return ThreadpoolController()


@contextmanager
def one_thread(when: bool = True) -> Iterator[None]:
    """Let BLAS use one thread inside the block."""
    if not when:
        yield
        return
    with _blas().limit(limits=1, user_api="blas"):
        yield
