"""Checks of arguments: good ones come back, and an error names a bad one as the user wrote it."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramlearn._base import validation


@pytest.mark.parametrize(
    ("check", "good", "result"),
    [
        (lambda x: validation.check_positive(x, "C", "Hinge"), 2, 2.0),
        (lambda x: validation.check_number(x, "offset"), -1.5, -1.5),
        (lambda x: validation.check_count(x, "rank"), np.int8(3), 3),
        (lambda x: validation.check_count(x, "rank"), 3.0, 3),
        (lambda x: validation.check_share(x, "share"), 0.25, 0.25),
        (lambda x: validation.check_flag(x, "warm"), 1, True),
        (lambda x: validation.check_choice(x, "loss", {"hinge": 7}), "hinge", 7),
    ],
)
def test_good_numbers_come_back(check, good, result) -> None:
    found = check(good)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("check", "bad", "message"),
    [
        (lambda x: validation.check_positive(x, "C", "Hinge"), 0, r"`Hinge\(C=0\)`: C must be pos"),
        (lambda x: validation.check_positive(x, "C", "Hinge"), True, r"`Hinge\(C=True\)`"),
        (lambda x: validation.check_positive(x, "C", "Hinge"), 1e200, "must lie between"),
        (lambda x: validation.check_number(x, "offset"), np.nan, "`offset` must be a finite"),
        (lambda x: validation.check_count(x, "rank"), 2.5, "`rank` must be a whole number"),
        (lambda x: validation.check_count(x, "rank", most=9), 10, "pass at most 9"),
        (lambda x: validation.check_share(x, "share"), 1, "`share` must be a number between"),
        (lambda x: validation.check_flag(x, "warm"), np.zeros(2), "`warm` must be True or False"),
        (lambda x: validation.check_choice(x, "loss", {"hinge": 7}), "hing", "one of 'hinge'"),
        (lambda x: validation.check_no_class(x, "loss"), dict, "pass an object of it"),
        (lambda x: validation.generator(x), "seed", "`random_state` must be None"),
    ],
)
def test_bad_numbers_are_refused_by_name(check, bad, message) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        check(bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, 2.0], r"`X` must be two-dimensional; got shape \(2,\)"),
        (np.zeros((0, 3)), "at least one row and one column"),
        ([[1.0, np.nan]], "`X` contains NaN or infinity .*row 0"),
        ([[1.0], [2.0, 3.0]], "`X` has rows of different lengths"),
        ([["a", "b"]], "`X` holds 'a' at row 0, column 0"),
        ([[1e200]], r"`X` has entries of up to 1.0e\+200"),
        (np.ma.masked_less([[1.0, -1.0]], 0), "`X` is a masked array with 1 masked"),
        (csr_array(np.eye(2)), "`X` is sparse; pass a dense array"),
    ],
)
def test_bad_points_are_refused_by_name(bad, message) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        validation.check_points(bad, "X")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([0, -1], "`i` contains -1; row indices start at 0"),
        ([0, 3], "`i` refers to row 3, but there are 3 rows"),
        ([0.5], "`i` must hold whole numbers"),
        ([[0]], "`i` must be one-dimensional"),
    ],
)
def test_bad_row_numbers_are_refused_by_name(bad, message) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        validation.check_indices(bad, "i", n_points=3)


def test_points_and_row_numbers_stay_in_their_library(library) -> None:
    X = validation.check_points(library.array([[1.0, 2.0]]), "X")
    np.testing.assert_array_equal(library.numpy(X), [[1.0, 2.0]])
    index = validation.check_indices(library.index([1, 0]), "i", n_points=2)
    np.testing.assert_array_equal(library.numpy(index), [1, 0])


def test_a_matrix_is_symmetric_up_to_rounding() -> None:
    A = np.array([[1.0, 2.0], [2.0 + 1e-12, 1.0]])
    assert validation.check_symmetric(A, "K") is A
    with pytest.raises(ValueError, match=r"`K` is not symmetric .*difference from its transpose 2"):
        validation.check_symmetric(np.triu(A) + np.eye(2), "K")
    with pytest.raises(ValueError, match="`K` must be a square matrix"):
        validation.check_symmetric(A[:1], "K")


def test_seeds_of_every_kind_make_a_generator() -> None:
    generator = np.random.default_rng(3)
    assert validation.generator(generator) is generator
    draws = [validation.generator(np.random.RandomState(3)).random() for _ in range(2)]
    assert draws[0] == draws[1]
