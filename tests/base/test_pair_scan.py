"""Squared norms of differences of pairs of rows: the compiled loop gives what plain NumPy gives."""

import os
import sys

import numpy as np
import pytest

from gramlearn._base import pair_norms
from gramlearn._base.pair_norms import (
    pair_squared_norms,
    pair_sums,
)
from gramlearn._base.threads import at_most_in_scans

EPS = np.finfo(np.float64).eps
N_PAIRS, N_POINTS, N_COLUMNS = 200, 30, 7


def pairs(dtype="float64"):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(N_POINTS, N_COLUMNS)).astype(dtype)
    return points, *rng.integers(0, N_POINTS, size=(2, N_PAIRS))


def differences(points, i, j, sign):
    points = points.astype(np.float64)
    return np.sum((points[i] + sign * points[j] * (sign != 0)) ** 2, axis=1)


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_squared_norms_of_pairs(sign, dtype, library):
    points, i, j = pairs(dtype)
    found = pair_squared_norms(
        library.array(points, dtype), library.index(i), library.index(j), sign
    )
    assert found.dtype == getattr(library.xp, dtype)
    # Seven squares and their sum round ten times.
    np.testing.assert_allclose(
        library.numpy(found), differences(points, i, j, sign), rtol=10 * np.finfo(dtype).eps
    )


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_compiled_body_equals_the_plain_one(sign, dtype):
    from gramlearn._base.pair_scan import pair_squared_norms as compiled

    points, i, j = pairs(dtype)
    out = np.empty(N_PAIRS, dtype=dtype)
    compiled(points, i, j, float(sign), out)
    # The compiled sum is reassociated: both are within ten roundings of the truth.
    np.testing.assert_allclose(
        out, pair_squared_norms(points, i, j, sign), rtol=20 * np.finfo(dtype).eps
    )


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_of_pairs_are_the_same_to_the_bit(sign, dtype, library):
    """Compiled or not: each is one rounding."""
    points, i, j = pairs(dtype)
    found = pair_sums(library.array(points, dtype), library.index(i), library.index(j), sign)
    expected = points[i] + sign * points[j] if sign else points[i]
    assert (library.numpy(found) == expected).all()
    if sign:
        from gramlearn._base.pair_scan import pair_sums as compiled

        out = np.empty_like(points, shape=(N_PAIRS, points.shape[1]))
        compiled(points, i, j, float(sign), out)
        assert (out == expected).all()


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_slices_of_a_scan_are_the_scan(n_threads, monkeypatch):
    """To the bit: a sum belongs to one pair, and so to one slice."""
    from gramlearn._base import pair_scan

    points, i, j = pairs()
    whole, sliced = np.empty(N_PAIRS), np.empty(N_PAIRS)
    pair_scan.pair_squared_norms(points, i, j, -1.0, whole)
    monkeypatch.setattr(pair_scan, "_SLICE", 1)
    monkeypatch.setattr(pair_scan.numba.config, "NUMBA_NUM_THREADS", n_threads)
    pair_scan.pair_squared_norms(points, i, j, -1.0, sliced)
    np.testing.assert_array_equal(sliced, whole)


def test_a_scan_takes_no_more_threads_than_it_may(monkeypatch):
    from gramlearn._base import pair_scan

    monkeypatch.setattr(pair_scan, "_SLICE", 1)
    monkeypatch.setattr(pair_scan.numba.config, "NUMBA_NUM_THREADS", 3)

    def slices() -> list[int]:
        return pair_scan.in_slices(1, np.arange(6))(len)

    with at_most_in_scans(2):
        assert slices() == [3, 3]
        with at_most_in_scans(4):
            assert slices() == [2, 2, 2]
    assert slices() == [2, 2, 2]


def test_a_scan_is_the_same_whatever_was_loaded_before(monkeypatch):
    """To the bit: the plain body rounds as the compiled one does not."""
    from gramlearn._base import pair_scan

    rng = np.random.default_rng(0)
    points, (i, j) = rng.standard_normal((50, 20)), rng.integers(0, 50, (2, 20_000))
    monkeypatch.setitem(sys.modules, "gramlearn._base.pair_scan", pair_scan)
    loaded = pair_squared_norms(points, i, j, -1)
    monkeypatch.delitem(sys.modules, "gramlearn._base.pair_scan")
    np.testing.assert_array_equal(pair_squared_norms(points, i, j, -1), loaded)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_of_a_process_that_has_scanned_can_scan(monkeypatch):
    """A fork has no threads of OpenMP, and would be killed where it used them."""
    from gramlearn._base import pair_scan

    monkeypatch.setattr(pair_scan, "_SLICE", 1)
    monkeypatch.setattr(pair_scan.numba.config, "NUMBA_NUM_THREADS", 2)
    points, i, j = pairs()
    out = np.empty(N_PAIRS)
    pair_scan.pair_squared_norms(points, i, j, -1.0, out)
    child = os.fork()
    if child == 0:
        again, code = np.empty(N_PAIRS), 1
        try:
            pair_scan.pair_squared_norms(points, i, j, -1.0, again)
            code = int(not np.array_equal(again, out))
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("threshold", [0, 10**9], ids=["compiled", "plain"])
@pytest.mark.parametrize("layout", ["read-only", "transposed", "strided"])
def test_pairs_of_rows_in_any_layout(threshold, layout, monkeypatch):
    monkeypatch.setattr(pair_norms, "_COMPILED_FROM_ELEMENTS", threshold)
    points, i, j = pairs()
    if layout == "transposed":
        points = np.asfortranarray(points)
    if layout == "strided":
        points, i = np.repeat(points, 2, axis=1)[:, ::2], np.repeat(i, 2)[::2]
    before = points.copy(), i.copy(), j.copy()
    for x in (points, i, j):
        x.flags.writeable = layout != "read-only"
    found = pair_squared_norms(points, i, j, -1)
    np.testing.assert_allclose(found, differences(points, i, j, -1), rtol=10 * EPS)
    for x, copy in zip((points, i, j), before, strict=True):
        np.testing.assert_array_equal(x, copy)


@pytest.mark.parametrize("threshold", [0, 10**9], ids=["compiled", "plain"])
def test_nan_is_never_lost(threshold, monkeypatch):
    monkeypatch.setattr(pair_norms, "_COMPILED_FROM_ELEMENTS", threshold)
    points, i, j = pairs()
    points[3, 2] = np.nan
    found = pair_squared_norms(points, i, j, -1)
    np.testing.assert_array_equal(np.isnan(found), (i == 3) | (j == 3))


def test_no_pairs(library):
    none = library.index([])
    assert pair_squared_norms(library.array(np.eye(3)), none, none, -1).shape == (0,)
