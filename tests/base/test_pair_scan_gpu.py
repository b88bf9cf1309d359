"""Squared norms of differences of pairs of rows on a GPU: the compiled body gives what plain PyTorch gives."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
if not torch.cuda.is_available():
    pytest.skip("no GPU", allow_module_level=True)

from gramlearn._base import pair_norms  # noqa: E402 - after it is known that there is a GPU
from gramlearn._base.pair_norms import pair_squared_norms  # noqa: E402


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("width", [1, 7, 100, 128, 200])
def test_the_compiled_body_equals_the_plain_one(sign, dtype, index, width, monkeypatch):
    """For any width, for a slice of the columns, and for every third pair of a table of pairs."""
    draw = torch.Generator("cuda").manual_seed(0)
    of_points = {"dtype": getattr(torch, dtype), "device": "cuda", "generator": draw}
    points = torch.randn((300, width + 3), **of_points)[:, :width]
    of_rows = {"dtype": getattr(torch, index), "device": "cuda", "generator": draw}
    i, j = (torch.randint(300, (1001,), **of_rows)[::3] for _ in range(2))
    plain = pair_squared_norms(points, i, j, sign)
    monkeypatch.setattr(pair_norms, "_COMPILED_ON_GPU_FROM", 0)
    compiled = pair_squared_norms(points, i, j, sign)
    assert compiled.dtype == plain.dtype
    tolerance = (width + 10) * np.finfo(dtype).eps
    torch.testing.assert_close(compiled, plain, rtol=tolerance, atol=0)
