"""The functions of `arrays` give the same in every array library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlearn._base import arrays
from gramlearn._base.arrays import (
    as_index,
    as_real,
    chunks,
    concat,
    concat_in_single,
    constant,
    each_once,
    eye,
    is_array,
    is_finite,
    is_missing,
    largest,
    namespace,
    read,
    rows_of,
    scatter,
    to_numpy,
    where_true,
)
from gramlearn._base.bits import bits_of, booleans_of
from gramlearn._base.matrices import (
    cholesky_or_none,
    inverse_of_lower,
    inverted,
    log_abs_det,
    solved_or_nan,
    symmetric_part,
    transpose,
    weighted_gram,
)

EPS = np.finfo(np.float64).eps

# -- making arrays ---------------------------------------------------------------------------------


def test_is_array_and_namespace(library):
    assert is_array(library.array([1.0]))
    assert not is_array([1.0])
    assert not is_array(1.0)
    assert namespace([1.0], library.array([1.0]), 2.0) is library.xp
    assert namespace([1.0]) is namespace(np.zeros(1))


def test_as_real_keeps_the_library(library):
    for dtype in ("float32", "int64", "float64"):
        x = as_real(library.array([1, 2, 3], dtype))
        assert x.dtype == library.xp.float64
        np.testing.assert_array_equal(library.numpy(x), [1.0, 2.0, 3.0])
    x = library.array([1.0])
    assert as_real(x) is x or library.name != "numpy"  # no copy without need
    assert as_real([1, 2]).dtype == np.float64


def test_as_real_follows_another_array(library):
    for dtype in ("float32", "float64"):
        like = library.array([0.0], dtype)
        for x in ([1, 2], np.asarray([1, 2]), library.array([1.0, 2.0])):
            found = as_real(x, like)
            assert found.dtype == like.dtype
            np.testing.assert_array_equal(library.numpy(found), [1.0, 2.0])


def test_columns_of_arrow_become_numpy_arrays():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for column in (["a", "b", None], [1, 2, None], [True, False, None]):
        assert list(to_numpy(pa.array(column))[:2]) == column[:2]


def test_tensors_that_numpy_has_no_type_for_become_numpy_arrays():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.float16):
        found = to_numpy(torch.asarray([1.0, -2.0]).to(dtype))
        np.testing.assert_array_equal(found, [1.0, -2.0])
    turned = torch.asarray([1.0 + 2.0j]).conj().imag  # minus what lies in memory
    np.testing.assert_array_equal(to_numpy(turned), [-2.0])


def test_as_index(library):
    like = library.array([0.0])
    for x in ([1, 2], np.asarray([1, 2], dtype=np.uint8), library.index([1, 2])):
        found = as_index(x, like)
        assert found.dtype == library.xp.int64
        np.testing.assert_array_equal(library.numpy(found), [1, 2])
    for x in (np.asarray([1, 2], dtype=np.int32), library.array([1, 2], "int32")):
        found = as_index(x, like)
        assert found.dtype == library.xp.int32
        np.testing.assert_array_equal(library.numpy(found), [1, 2])
    x = library.index([1, 2])
    assert as_index(x) is x


def test_libraries_do_not_mix(library):
    x = library.array([1.0])
    if library.name == "numpy":
        return  # host data goes anywhere
    sentence = r"one array is a \S+ and another a numpy\.ndarray; all arrays of a problem must come from one"
    with pytest.raises(TypeError, match=sentence):
        as_real(x, np.zeros(1))
    with pytest.raises(TypeError, match=sentence):
        as_index(library.index([1]), np.zeros(1))


def test_constants(library):
    like = library.array([0.0], "float32")
    for found, expected in (
        (constant(2.5, like, 3), np.full(3, 2.5)),
        (constant(2.5, like, (2, 1)), np.full((2, 1), 2.5)),
        (eye(3, like), np.eye(3)),
    ):
        assert found.dtype == like.dtype
        np.testing.assert_array_equal(library.numpy(found), expected)


def test_reading(library):
    assert read(library.array(1.5)) == 1.5
    assert type(read(library.array(1.5))) is float
    np.testing.assert_array_equal(to_numpy(library.array([1.0, 2.0])), [1.0, 2.0])
    assert type(to_numpy(library.array([1.0]))) is np.ndarray


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite(bad, library):
    assert is_finite(library.array([1.0, -1e308]))
    assert is_finite(library.array([]))
    assert not is_finite(library.array([[1.0, bad]]))


# -- vectors of rows -------------------------------------------------------------------------------


def test_concat(library):
    like = library.array([0.0])
    one, two = library.array([1.0]), library.array([2.0, 3.0])
    np.testing.assert_array_equal(library.numpy(concat([one, two], like)), [1.0, 2.0, 3.0])
    assert concat([two], like) is two
    assert concat([], like).shape == (0,)


@given(x=st.lists(st.integers(-9, 9), min_size=1, max_size=8), part=st.floats(0, 1))
def test_largest(library, x, part):
    count = round(part * len(x))
    found = library.numpy(largest(library.array(x), count))
    assert len(found) == len(set(found.tolist())) == count
    assert sorted(np.asarray(x)[found]) == sorted(x)[len(x) - count :]


def test_largest_of_fewer(library):
    assert sorted(library.numpy(largest(library.array([3.0, 1.0]), 5))) == [0, 1]


ascending = st.sets(st.integers(0, 9)).map(sorted)


@given(rows=ascending, known=ascending)
def test_missing(library, rows, known):
    found = library.numpy(is_missing(library.index(rows), library.index(known)))
    assert found.tolist() == [row not in known for row in rows]


@pytest.mark.parametrize("size", [1, 7, 500])
def test_row_numbers_are_listed_once(library, size):
    rows = np.random.default_rng(size).integers(0, size, 90)
    found = each_once(library.index(rows), size)
    np.testing.assert_array_equal(library.numpy(found), np.unique(rows))
    assert library.numpy(each_once(library.index(rows[:0]), size)).shape == (0,)


@given(rows=ascending)
def test_scatter_undoes_take(library, rows):
    values = library.array(np.arange(1.0, len(rows) + 1))
    found = library.numpy(scatter(values, library.index(rows), 10))
    expected = np.zeros(10)
    expected[rows] = np.arange(1.0, len(rows) + 1)
    np.testing.assert_array_equal(found, expected)


def test_rows_of_a_single_number(library):
    rows = library.index([2, 0])
    assert rows_of(1.5, rows) == 1.5
    assert rows_of(None, rows) is None
    np.testing.assert_array_equal(library.numpy(rows_of(library.array([1, 2, 3]), rows)), [3, 1])


@given(mask=st.lists(st.booleans(), max_size=40))
def test_booleans_in_bits(mask, library):
    bits = bits_of(library.array(mask, "bool"))
    assert library.numpy(bits).tolist() == np.packbits(np.array(mask, dtype=bool)).tolist()
    assert library.numpy(booleans_of(bits, len(mask))).tolist() == mask


def test_where_true(library):
    mask = library.array([0, 1, 1, 0, 1]) > 0
    np.testing.assert_array_equal(library.numpy(where_true(mask)), [1, 2, 4])


@given(n_rows=st.integers(0, 50), n_columns=st.integers(0, 5), limit=st.integers(1, 400))
def test_chunks_cover_every_row_once(n_rows, n_columns, limit):
    like = np.zeros(1)
    before = arrays._CHUNK_BYTES_HOST
    try:
        arrays._CHUNK_BYTES_HOST = limit
        parts = list(chunks(n_rows, n_columns, like))
    finally:
        arrays._CHUNK_BYTES_HOST = before
    assert [k for part in parts for k in range(part.start, part.stop)] == list(range(n_rows))
    for part in parts:  # at least one row, however little fits
        rows = part.stop - part.start
        assert rows == 1 or 8 * rows * n_columns <= max(limit, 8 * rows * (n_columns == 0))


# -- matrices --------------------------------------------------------------------------------------


def test_transpose_and_symmetric_part(library):
    A = np.random.default_rng(0).normal(size=(2, 3, 3))
    np.testing.assert_array_equal(library.numpy(transpose(library.array(A))), A.transpose(0, 2, 1))
    S = library.numpy(symmetric_part(library.array(A)))
    np.testing.assert_array_equal(S, S.transpose(0, 2, 1))


@given(spectrum=st.lists(st.floats(-2, 4), min_size=1, max_size=5))
def test_cholesky_exists_exactly_for_positive_definite_matrices(library, spectrum):
    least = min(spectrum)
    if abs(least) < 1e-12:
        return  # rounding of the matrix decides
    U = np.linalg.qr(np.random.default_rng(1).normal(size=(len(spectrum),) * 2))[0]
    A = U * spectrum @ U.T
    L = cholesky_or_none(library.array(A))
    if least < 0:
        assert L is None
    else:
        L = library.numpy(L)
        np.testing.assert_array_equal(L, np.tril(L))
        np.testing.assert_allclose(L @ L.T, A, rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [1, 2, 40])
def test_inverse_of_a_triangle(size, dtype, library):
    rng = np.random.default_rng(0)
    L = np.tril(rng.standard_normal((size, size)), -1) / size + np.diag(1 + rng.random(size))
    given = library.array(L, dtype)
    before = library.numpy(given).copy()
    inverse = library.numpy(inverse_of_lower(given))
    assert inverse.dtype == dtype
    assert not np.triu(inverse, 1).any()
    np.testing.assert_allclose(inverse @ L, np.eye(size), atol=100 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(library.numpy(given), before)


@pytest.mark.parametrize("signs", [(1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0)])
@pytest.mark.parametrize("limit", [8, 200, 1 << 20])
def test_a_weighted_sum_of_products_in_blocks_of_any_size(signs, limit, library, monkeypatch):
    monkeypatch.setattr(arrays, "_CHUNK_BYTES_HOST", limit)
    rng = np.random.default_rng(0)
    z, v = rng.standard_normal((30, 4)), rng.uniform(*sorted(signs), size=30)
    if signs[0] == signs[1]:
        v = signs[0] * rng.random(30)
    gram = library.numpy(weighted_gram(library.array(z), library.array(v)))
    np.testing.assert_allclose(gram, np.einsum("k,ki,kj->ij", v, z, z), rtol=0, atol=1e-13)
    assert not library.numpy(weighted_gram(library.array(z[:0]), library.array(v[:0]))).any()


def test_joining_in_single_precision(library):
    parts = [np.asarray([[1.0, 2.0]]), np.asarray([[1e-3, 1e300], [3.0, -1.0]])]
    joined = library.numpy(concat_in_single([library.array(part) for part in parts]))
    assert joined.dtype == np.float32
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(joined, np.concatenate(parts).astype(np.float32))


@pytest.mark.parametrize("size", [1, 7])
def test_inverses_and_determinants(size, library):
    A = np.random.default_rng(0).standard_normal((size, size))
    np.testing.assert_allclose(
        library.numpy(inverted(library.array(A))) @ A, np.eye(size), atol=1e-12
    )
    assert log_abs_det(library.array(A)) == pytest.approx(np.log(abs(np.linalg.det(A))))
    assert log_abs_det(library.array(np.zeros((size, size)))) == -np.inf
    x = library.numpy(solved_or_nan(library.array(A), library.array(A @ np.ones(size))))
    np.testing.assert_allclose(x, 1.0, rtol=1e-12)
    none = solved_or_nan(library.array(np.zeros((size, size))), library.array(np.ones(size)))
    assert np.all(np.isnan(library.numpy(none)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0])
def test_cholesky_is_none_for_numbers_that_are_not_finite(bad, library):
    assert cholesky_or_none(library.array(np.diag([1.0, bad, 2.0]))) is None
    assert cholesky_or_none(library.array(np.full((3, 3), bad))) is None
