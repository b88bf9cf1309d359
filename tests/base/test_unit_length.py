"""x / |x| is the same of dense and of sparse rows of any size, in their precision."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gramlearn._base.unit_length import of_unit_length

X = np.random.default_rng(0).standard_normal((20, 5))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_rows_have_length_one_whatever_their_size(kind, size):
    found = of_unit_length(kind(size * X), "X", "leave it out")
    np.testing.assert_allclose(found.toarray() if issparse(found) else found, UNIT, rtol=1e-14)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_the_precision_stays_and_nothing_given_is_changed(kind):
    given = kind(X.astype(np.float32))
    before = given.copy()
    assert of_unit_length(given, "X", "leave it out").dtype == np.float32
    assert abs(given - before).max() == 0


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_row_of_zeros_is_named_by_its_number_in_the_whole(kind):
    given = X.copy()
    given[3] = 0
    with pytest.raises(
        ValueError, match=r"`Z` has a row of zeros \(row 103\), .*; leave it out\.$"
    ):
        of_unit_length(kind(given), "Z", "leave it out", first=100)
