"""Regularizers and losses at extreme arguments, against values of 50 digits (see make.py)."""

import json

import make
import numpy as np
import pytest
from mpmath import mp, mpf

from catalogue import REGULARIZERS, name_of
from gramlearn.problem import losses, regularizers
from gramlearn.problem.spectral import divided_differences

ROWS = json.loads(make.PATH.read_text())


def row_name(row):
    given = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
    return f"{row['class']}({given}).{row['function']}"


@pytest.mark.parametrize("row", ROWS, ids=row_name)
def test_values(row, library):
    is_loss = hasattr(losses, row["class"])
    part = getattr(losses if is_loss else regularizers, row["class"])(**row["parameters"])
    argument = library.array(row["arguments"])
    with np.errstate(over="ignore"):  # in branches that are not taken
        found = library.numpy(getattr(part, row["function"])(argument))
    # A few ulp. A loss begins by measuring its argument in units of b or C, which rounds once,
    # and the condition number says what becomes of that.
    condition = np.maximum(1, row["conditions"]) if is_loss else np.ones(len(found))
    expected = np.asarray([float(v) for v in row["values"]])
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], np.inf)
    found, expected = found[finite], expected[finite]
    error = np.abs(found - expected) / np.where(expected == 0, 1.0, np.abs(expected))
    np.testing.assert_array_less(error, 1e-15 * condition[finite])


def test_the_file_is_what_the_script_makes():
    assert list(make.rows()) == ROWS


@pytest.mark.parametrize("h", REGULARIZERS, ids=name_of)
def test_divided_differences(h, library):
    if type(h).__name__ not in make.REGULARIZERS:
        pytest.skip("make.py has no formulas for this regularizer")
    base = np.asarray([-1.7, -0.6, -1e-9, 1e-9, 0.6, 1.7])
    y = np.concatenate([base * (1 + gap) for gap in (0.0, 1e-12, 1e-7, 1.9e-5, 2.1e-5, 1e-3)])
    y = y[np.isfinite(h.conjugate(y))]
    slope = make.functions_of(type(h).__name__, vars(h))["conjugate_derivative"]
    with mp.workdps(50):
        exact = [
            [float((slope(mpf(a)) - slope(mpf(b))) / (mpf(a) - mpf(b))) if a != b else np.nan
             for b in y] for a in y
        ]  # fmt: skip
    exact = np.where(np.isnan(exact), np.diag(h.conjugate_second(y)), exact)
    # The quotient serves where the slopes differ by 1e-5 and more, and has lost EPS / 1e-5 = 2e-11;
    # nearer, h*'' in the middle is off by (1e-5)^2 times what h* has to say, at most 4.
    found = library.numpy(divided_differences(h, library.array(y)))
    np.testing.assert_allclose(found, exact, rtol=5e-10, atol=0)
