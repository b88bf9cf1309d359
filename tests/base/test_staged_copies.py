"""What is sent to a GPU beside its work arrives whole, whatever its type and its place in memory."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

from gramlearn._base import staged_copies  # noqa: E402 - after it is known that there is a GPU
from gramlearn._base.arrays import as_index, as_real, free_bytes  # noqa: E402

LIKE = torch.zeros(1, dtype=torch.float64, device="cuda")


@pytest.mark.parametrize("size", [1 << 17, 3_000_001])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_row_numbers(size: int, dtype, monkeypatch) -> None:
    monkeypatch.setattr(staged_copies, "_PIECE_BYTES", 1 << 20)
    table = np.random.default_rng(0).integers(0, 1 << 30, (size, 2)).astype(dtype)
    table.setflags(write=False)
    for column in table.T:
        there = as_index(column, LIKE)
        assert there.is_cuda
        assert there.cpu().numpy().dtype == dtype
        assert np.array_equal(there.cpu().numpy(), column)


def test_numbers_of_another_type() -> None:
    table = np.random.default_rng(0).standard_normal((500_000, 3)).astype(np.float32)[::-1]
    assert np.array_equal(as_real(table, LIKE).cpu().numpy(), table.astype(np.float64))


def test_free_memory() -> None:
    before = free_bytes(LIKE)
    kept = torch.zeros(1 << 28, dtype=torch.uint8, device="cuda")
    assert before - 2 * len(kept) <= free_bytes(LIKE) <= before - len(kept)
    assert free_bytes(np.zeros(1)) == float("inf")
