"""A checksum is that of the numbers, wherever they are, and no change of them goes unseen."""

import numpy as np
import pytest

from gramlearn._base import checksum as module
from gramlearn._base.checksum import checksum


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("shape", [(100, 7), (1, 3), (0, 3), (33, 1)])
def test_it_sees_each_change_of_an_entry_and_of_the_order(
    dtype, shape, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(module, "_BLOCK", 128)
    X = np.random.default_rng(0).integers(-99, 99, shape).astype(dtype)
    known = checksum(X)
    assert checksum(X.copy(order="F")) == known
    np.save(tmp_path / "X.npy", X)
    assert checksum(np.load(tmp_path / "X.npy", mmap_mode="r" if X.size else None)) == known
    seen = {known}
    for k in range(X.size):
        other = X.copy()
        other.flat[k] += 1
        seen.add(checksum(other))
    assert len(seen) == X.size + 1
    if len(X) > 1:
        assert checksum(X[::-1]) != known
    assert checksum(X.reshape(-1, 1)) != known or shape[1] == 1
