"""What is packed comes out as it was."""

import numpy as np
import pytest
from gramlearn.losses import Hinge, SquaredHinge

from gramlearn.solvers.shards.packed import PackedPrices, PackedRows

rng = np.random.default_rng(0)


@pytest.mark.parametrize("size", [0, 1, 8, 1001])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_rows(size: int, share: float, library) -> None:
    rows = np.flatnonzero(rng.uniform(size=size) < share)
    packed = PackedRows.of(library.index(rows), size)
    assert packed.count == len(rows)
    assert library.numpy(packed.rows(library.array([]))).tolist() == rows.tolist()
    assert packed.bits is None or packed.bits.shape[0] <= size / 8 + 1


@pytest.mark.parametrize(
    "loss", [Hinge(2.0, upper=1.0), Hinge(2.0, lower=1.0), SquaredHinge(2.0, lower=1.0)]
)
def test_prices(loss, library) -> None:
    size, like = 500, library.array([])
    rows = np.flatnonzero(rng.uniform(size=size) < 0.5)
    every = loss.prepare(size, like)
    there = library.index(rows)
    some = every.take(there)
    ends = (library.numpy(end) for end in some.box(like, len(rows)))
    lam = np.clip(rng.normal(0, 2, len(rows)), *ends)
    packed = PackedPrices.of(library.array(lam), some, PackedRows.of(there, size))
    expected = np.zeros(size)
    expected[rows] = lam
    for others in (rows, np.arange(size), np.flatnonzero(rng.uniform(size=size) < 0.5)):
        wanted = PackedRows.of(library.index(others), size)
        found = packed.at(wanted, every.take(library.index(others)), like)
        assert library.numpy(found).tolist() == expected[others].tolist()
