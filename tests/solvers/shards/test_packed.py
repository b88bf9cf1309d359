"""What is packed comes out as it was."""

import numpy as np
import pytest
from gramlearn.losses import Hinge, SquaredHinge

from gramlearn.solvers.shards.packed import PackedPrices, PackedRows

rng = np.random.default_rng(0)


@pytest.mark.parametrize("size", [0, 1, 8, 1001])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_rows(size: int, share: float) -> None:
    rows = np.flatnonzero(rng.uniform(size=size) < share)
    packed = PackedRows.of(rows, size)
    assert packed.count == len(rows)
    assert packed.rows(np.empty(0)).tolist() == rows.tolist()
    assert packed.bits is None or packed.bits.nbytes <= size / 8 + 1


@pytest.mark.parametrize(
    "loss", [Hinge(2.0, upper=1.0), Hinge(2.0, lower=1.0), SquaredHinge(2.0, lower=1.0)]
)
def test_prices(loss) -> None:
    size = 500
    rows = np.flatnonzero(rng.uniform(size=size) < 0.5)
    every = loss.prepare(size, np.empty(0))
    some = every.take(rows)
    lo, hi = some.box(np.empty(0), len(rows))
    lam = np.clip(rng.normal(0, 2, len(rows)), lo, hi)
    packed = PackedPrices.of(lam, some, PackedRows.of(rows, size))
    expected = np.zeros(size)
    expected[rows] = lam
    assert packed.everywhere(every, np.empty(0)).tolist() == expected.tolist()
