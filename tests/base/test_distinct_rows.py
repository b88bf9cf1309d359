"""Distinct rows: those of `numpy.unique`, and Ctrl-C stays a KeyboardInterrupt."""

import ast
from pathlib import Path

import numpy as np
import pytest

import gramlearn
from gramlearn._base.distinct_rows import distinct_rows, numbers_of_equal_rows

_rng = np.random.default_rng(0)
TABLES = {
    "pairs": _rng.integers(5, size=(60, 2)),
    "triplets": _rng.integers(-2, 3, size=(60, 3)),
    "all different": _rng.standard_normal((20, 4)),
    "zeros of both signs": _rng.choice([-1.0, -0.0, 0.0], size=(40, 2)),
    "infinities": _rng.choice([-np.inf, 0.0, np.inf], size=(40, 2)).astype(np.float32),
    "tags": _rng.random((30, 3)) < 0.5,
    "names": _rng.choice(["b", "a", "ab"], size=(30, 2)),
    "a vector": _rng.choice(["b", "a", "ab"], size=30),
    "one row": np.array([[3, 1]]),
    "no row": np.empty((0, 2), dtype=int),
}


@pytest.mark.parametrize("name", TABLES)
def test_distinct_rows_are_those_of_numpy(name: str) -> None:
    table = TABLES[name]
    before = table.copy()
    ours = distinct_rows(table)
    theirs = np.unique(table, axis=0, return_index=True, return_inverse=True, return_counts=True)
    for mine, right in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, right.reshape(mine.shape))
    assert ours.rows.dtype == table.dtype
    np.testing.assert_array_equal(ours.rows[ours.kind], table)
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_rows_without_columns_are_equal(n: int) -> None:
    distinct = distinct_rows(np.empty((n, 0)))
    assert distinct.rows.shape == (min(n, 1), 0)
    assert distinct.first.tolist() == [0][:n]
    assert distinct.kind.tolist() == [0] * n
    assert distinct.counts.tolist() == [n][:n]


def test_the_library_never_calls_unique_with_an_axis() -> None:
    """`numpy.unique(axis=...)` turns Ctrl-C into a TypeError."""
    for path in Path(gramlearn.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "unique":
                assert "axis" not in {word.arg for word in node.keywords}, (path, node.lineno)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(0, 3), (1, 2), (5, 0), (300, 1), (300, 4)])
def test_equal_rows_have_one_number(shape, dtype) -> None:
    table = _rng.integers(0, 4, shape).astype(dtype)
    numbers = numbers_of_equal_rows(table)
    expected = np.all(table[:, None] == table[None], axis=2)
    if numbers is None:
        assert expected.sum() == shape[0]
    else:
        assert np.array_equal(numbers[:, None] == numbers[None], expected)


def test_rows_that_differ_in_the_last_digit_differ() -> None:
    table = _rng.standard_normal((2000, 5))
    table[1000:] = table[:1000]
    table[1500:, 2] = np.nextafter(table[1500:, 2], 9)
    numbers = numbers_of_equal_rows(table)
    assert np.sum(numbers[1000:] == numbers[:1000]) == 500
    assert numbers_of_equal_rows(table[500:1500]) is None
