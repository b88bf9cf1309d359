"""A compiled function is the same function, whether or not it can be cached on disk."""

import errno
from pathlib import Path

import pytest

from gramlearn._base.compilation import compiled


def _double(x: float) -> float:
    return 2.0 * x


def test_compiled_code_is_cached_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    assert compiled()(_double)(3.0) == 6.0
    assert list(tmp_path.rglob("*._double-*.nbi"))


def test_a_full_disk_does_not_prevent_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", fail)
    assert compiled()(_double)(3.0) == 6.0


def test_compiling_without_a_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    assert compiled(fastmath=True)(_double)(3.0) == 6.0


def test_other_errors_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args):
        raise ValueError("not of the disk")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", fail)
    with pytest.raises(ValueError, match="not of the disk"):
        compiled()(_double)(3.0)
