"""h and h* are conjugate to each other, and what is derived from them for matrices is right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import REGULARIZERS, name_of
from gramlearn.problem.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from gramlearn.problem.spectral import CholeskyPoint, SpectralPoint, divided_differences
from matrices import orthogonal, spectral

EPS = np.finfo(np.float64).eps
# The step of a central difference that balances rounding, EPS f / step, with truncation,
# step^2 f''' / 6: both come to EPS^(2/3), the noise floor, where f varies over lengths of 1.
STEP = EPS ** (1 / 3)
FLOOR = EPS ** (2 / 3)
EXTREMES = np.asarray([0.0, -0.0, 5e-324, -5e-324, 1e-160, -1e-160, 1.0, -1.0, 1e300, -1e300])
FUNCTIONS = ["value", "derivative", "conjugate", "conjugate_derivative", "conjugate_second"]

every_regularizer = pytest.mark.parametrize("h", REGULARIZERS, ids=name_of)
positive = st.floats(-6, 6).map(lambda e: 10.0**e)
real = st.floats(-6, 2.5).map(lambda e: 10.0**e).flatmap(lambda y: st.sampled_from([y, -y]))


def at(x):
    return np.asarray([x])


# -- numbers ---------------------------------------------------------------------------------------


@every_regularizer
@given(x=positive, y=real)
def test_fenchel_young(h, x, y):
    value, conjugate = h.value(at(x))[0], h.conjugate(at(y))[0]
    size = abs(value) + abs(conjugate) + abs(x * y)
    assert size == np.inf or value + conjugate - x * y >= -8 * EPS * size


@every_regularizer
@given(x=positive)
def test_fenchel_young_is_an_equality_at_the_derivative(h, x):
    # An error of one rounding in y enters squared, so only the sum itself rounds.
    y = h.derivative(at(x))
    value, conjugate = h.value(at(x)), h.conjugate(y)
    size = abs(value) + abs(conjugate) + abs(x * y)
    assert abs(value + conjugate - x * y)[0] <= 8 * EPS * size[0]


@every_regularizer
@given(x=positive)
def test_the_two_derivatives_are_inverse_functions(h, x):
    y = h.derivative(at(x))
    condition = 1 + abs(y * h.conjugate_second(y) / x)  # what the rounding of y does to x
    np.testing.assert_allclose(h.conjugate_derivative(y), x, rtol=4 * EPS * condition[0], atol=0)


@every_regularizer
@given(x=positive)
def test_derivatives_are_derivatives(h, x):
    def slope(f, x, length):
        step = STEP * length
        return (f(x + step) - f(x - step)) / (2 * step)

    x = at(x)
    size = abs(h.derivative(x)) + abs(h.value(x)) / x
    np.testing.assert_allclose(
        slope(h.value, x, x), h.derivative(x), rtol=0, atol=10 * FLOOR * size[0]
    )
    y = h.derivative(x)
    length = h.conjugate_derivative(y) / h.conjugate_second(y)  # over which h* changes
    for f, derivative in (
        (h.conjugate, h.conjugate_derivative),
        (h.conjugate_derivative, h.conjugate_second),
    ):
        size = abs(derivative(y)) + abs(f(y)) / length
        np.testing.assert_allclose(
            slope(f, y, length), derivative(y), rtol=0, atol=10 * FLOOR * size[0]
        )


@every_regularizer
@given(y=real)
def test_the_conjugate_is_convex_and_increasing(h, y):
    # Increasing, because only x >= 0 count in the supremum.
    if np.isfinite(h.conjugate(at(y))[0]):
        assert h.conjugate_second(at(y))[0] >= 0
        assert h.conjugate_derivative(at(y))[0] >= 0


@every_regularizer
@pytest.mark.parametrize("y", [-1e3, -3.0, -1e-3, 0.0, 1e-3, 3.0, 1e3])
def test_the_conjugate_is_the_supremum(h, y):
    # Neighbors differ by 2.3 %, so the maximizer is missed by 1.2 % and the maximum by 0.012^2 / 2
    # times x^2 h''(x), which is at most 3 |h*| + 1.
    x = np.concatenate([[0.0], np.geomspace(1e-300, 1e300, 60_001)])
    with np.errstate(
        over="ignore"
    ):  # h may overflow to +inf, and such x do not attain the supremum
        below = x * y - h.value(x)
    conjugate = h.conjugate(at(y))[0]
    if conjugate == np.inf:
        assert np.argmax(below) == len(x) - 1, "the supremum is +inf, so it grows to the end"
    else:
        size = abs(conjugate) + 1
        assert np.max(below) <= conjugate + 8 * EPS * size
        assert np.max(below) >= conjugate - 3e-4 * size


@every_regularizer
@pytest.mark.parametrize("function", ["value", "conjugate"])
def test_never_nan_nor_minus_infinity_at_extreme_arguments(h, function, library):
    with np.errstate(over="ignore", invalid="raise"):
        found = library.numpy(getattr(h, function)(library.array(EXTREMES)))
    assert np.all(found > -np.inf)  # false for NaN


@every_regularizer
def test_h_is_infinite_on_negative_numbers(h):
    with np.errstate(over="ignore"):
        assert np.all(h.value(np.asarray([-5e-324, -1e-9, -1.0, -1e300])) == np.inf)


@every_regularizer
def test_the_flags_say_what_happens_at_zero(h):
    assert h.needs_interior == (h.value(at(0.0))[0] == np.inf)
    assert h.keeps_range == (h.derivative(at(1e-300))[0] < -600)  # log(1e-300) = -690
    assert h.keeps_range or not h.needs_interior


@every_regularizer
def test_the_flags_say_what_the_derivatives_are(h):
    x = np.asarray([1e-3, 0.1, 1.0, 10.0, 1e3])
    second = 1 / h.conjugate_second(h.derivative(x))
    step = 1e-4 * x
    third = (1 / h.conjugate_second(h.derivative(x + step)) - second) / step
    is_tame = bool(np.all(np.abs(third) <= 2.01 * second**1.5))
    assert h.is_self_concordant == (is_tame and h.needs_interior)
    assert h.is_own_barrier == np.allclose(h.derivative(x), -1 / x)


@every_regularizer
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_library_gives_the_same_numbers(h, dtype, library):
    x = np.asarray([1e-3, 0.3, 1.0, 2.5, 40.0])
    y = h.derivative(x)
    for function in FUNCTIONS:
        argument = y if "conjugate" in function else x
        found = getattr(h, function)(library.array(argument, dtype))
        assert found.dtype == getattr(library.xp, dtype)
        # Their log, exp and pow may differ by some ulp, and so may the argument once it is rounded.
        np.testing.assert_allclose(
            library.numpy(found), getattr(h, function)(argument), rtol=20 * np.finfo(dtype).eps
        )


def test_Schatten_with_p_2_is_Frobenius():
    x = np.asarray([-3.0, -1e-9, 0.0, 1e-9, 0.4, 1.0, 7.0])
    for function in FUNCTIONS:
        argument = x if function != "derivative" else x[2:]
        np.testing.assert_array_equal(
            getattr(Schatten(2.0), function)(argument), getattr(Frobenius(), function)(argument)
        )


@pytest.mark.parametrize(
    ("p", "error", "sentence"),
    [
        (1.0, ValueError, r"`Schatten\(p=1.0\)`: p must be greater than 1; got 1.0\."),
        (-2, ValueError, r"`Schatten\(p=-2\)`: p must be positive and finite; got -2.0\."),
        (np.nan, ValueError, r"`Schatten\(p=nan\)`: p must be positive and finite; got nan\."),
        ("two", TypeError, r"`Schatten\(p='two'\)`: p must be a positive number; got str\."),
    ],
)
def test_Schatten_refuses_bad_exponents(p, error, sentence):
    with pytest.raises(error, match=sentence):
        Schatten(p)


# -- matrices --------------------------------------------------------------------------------------


def spectrum(h, kind):
    """Eigenvalues inside the domain of h*: apart, equal, or nearly so."""
    y = np.asarray([-2.0, -1.1, -0.4, 0.3, 0.9, 1.7])
    y = y[np.isfinite(h.conjugate(y))]
    if kind == "equal":
        y[1] = y[0]
    if kind == "nearly equal":
        y = np.concatenate([y, y[0] * (1 + np.asarray([1e-15, 1e-11, 1e-8, 1e-5, 1e-4]))])
    return y


every_spectrum = pytest.mark.parametrize("kind", ["apart", "equal", "nearly equal"])


def derivative(point, S):
    """Q (Phi o (Q' S Q)) Q'."""
    Q = point.frame
    return Q @ (point.divided_differences * (Q.T @ S @ Q)) @ Q.T


@every_regularizer
@every_spectrum
def test_value_and_gradient_of_the_spectral_function(h, kind, library):
    y = spectrum(h, kind)
    U = orthogonal(1, len(y))
    point = h.at(library.array(spectral(U, y)))
    # An eigenvalue is found to about n EPS |Y| = 5e-15, and h* multiplies that by |h*'| < 6.
    assert point.value == pytest.approx(h.conjugate(y).sum(), rel=1e-13, abs=1e-13)
    gradient = spectral(U, h.conjugate_derivative(y))
    F, Q, x = (library.numpy(part) for part in (point.factor, point.frame, point.spectrum))
    np.testing.assert_allclose(F @ F.T, gradient, rtol=0, atol=1e-13)
    np.testing.assert_allclose(Q * x @ Q.T, gradient, rtol=0, atol=1e-13)
    points = [point, h.at_gradient(library.array(F))] if np.all(x > 1e-6) else [point]
    for at_x in points:
        W, s, F = (library.numpy(part) for part in (*at_x.axes, at_x.factor))
        lengths = np.sort(np.sqrt(h.conjugate_derivative(y)))[::-1]
        np.testing.assert_allclose(s, lengths, rtol=0, atol=1e-7)
        np.testing.assert_allclose(W.T @ W, np.eye(len(y)), rtol=0, atol=1e-13)
        np.testing.assert_allclose((F @ W).T @ (F @ W), np.diag(s**2), rtol=0, atol=1e-12)


@every_regularizer
@given(
    seed=st.integers(0, 2**32 - 1), size=st.floats(-6, 1), below=st.sampled_from([0.0, 3.0, 30.0])
)
def test_no_error_of_Y_moves_the_value_farther_than_its_rounding(h, seed, size, below):
    # Below 0 the gradient is next to nothing, or nothing, and so is the first order of what an error does.
    rng = np.random.default_rng(seed)
    U, y = (
        orthogonal(seed, 4),
        -below + rng.uniform(-1, 1 if h.conjugate(at(1.0))[0] < np.inf else 0, 4),
    )
    Y = spectral(U, y)
    s = 10.0**size * rng.random(4)
    limit = np.sqrt(s[:, None] * s)
    E = (
        rng.choice([-1.0, 1.0]) * limit
        if rng.random() < 0.5
        else limit * rng.uniform(-1, 1, (4, 4))
    )
    E = np.triu(E) + np.triu(E, 1).T
    point, moved = h.at(Y), h.at(Y + E)
    if moved.value < np.inf:
        off = abs(moved.value - point.value)
        assert off <= point.rounding(s) + 64 * EPS * (abs(moved.value) + abs(point.value))


@every_regularizer
@every_spectrum
def test_the_derivative_of_the_gradient(h, kind, library):
    y = spectrum(h, kind)
    U = orthogonal(2, len(y))
    Y, S = spectral(U, y), np.random.default_rng(3).normal(size=(len(y), len(y)))
    S = S + S.T

    def gradient(Y):
        F = library.numpy(h.at(library.array(Y)).factor)
        return F @ F.T

    # Rounding leaves |X| n EPS / step = 1e-9, truncation step^2 |S|^3 h*'''' / 6 = 1e-8.
    step = 1e-5
    expected = (gradient(Y + step * S) - gradient(Y - step * S)) / (2 * step)
    found = library.numpy(derivative(h.at(library.array(Y)), library.array(S)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


@every_regularizer
@every_spectrum
def test_divided_differences_are_symmetric_and_nonnegative(h, kind, library):
    y = spectrum(h, kind)
    Phi = library.numpy(divided_differences(h, library.array(y)))
    assert np.all(Phi >= 0)
    np.testing.assert_array_equal(Phi, Phi.T)
    np.testing.assert_allclose(np.diag(Phi), h.conjugate_second(y), rtol=4 * EPS)


@every_spectrum
def test_the_Cholesky_point_of_LogDet_is_its_spectral_point(kind, library):
    y = spectrum(LogDet(), kind)
    U = orthogonal(4, len(y))
    Y = library.array(spectral(U, y))
    cholesky, eigen = LogDet().at(Y), SpectralPoint(LogDet(), Y)
    assert isinstance(cholesky, CholeskyPoint)
    assert cholesky.value == pytest.approx(eigen.value, rel=1e-14, abs=1e-14)
    X, Z = cholesky.factor @ cholesky.factor.T, eigen.factor @ eigen.factor.T
    np.testing.assert_allclose(library.numpy(X), library.numpy(Z), rtol=0, atol=1e-14)
    S = library.array(np.diag(np.arange(1.0, len(y) + 1)))
    # In the spectral form, eigenvalues within 1e-5 of each other are merged: an error of 1e-10.
    np.testing.assert_allclose(
        library.numpy(derivative(cholesky, S)), library.numpy(derivative(eigen, S)), atol=1e-9
    )


@pytest.mark.parametrize(
    ("h", "y"),
    [
        (LogDet(), [-1.0, -0.5, 0.3]),
        (LogDet(), [-1.0, 0.0, 0.0]),
        (LogDet(), [0.0, 0.0, 0.0]),
        (LogDet(), [1.0, 2.0, 1e300]),
        (VonNeumann(), [-1.0, 0.0, 1e4]),
        (VonNeumann(), [-1e300, -1e300, 1e300]),
        (Frobenius(), [-1e200, 1.0, 1e200]),
        (Schatten(1.5), [-1e200, 1.0, 1e200]),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["at", "spectral"])
def test_plus_infinity_outside_the_domain(h, y, form, library):
    Y = library.array(np.diag(y))
    with np.errstate(over="ignore", invalid="raise"):
        point = h.at(Y) if form == "at" else SpectralPoint(h, Y)
        assert point.value == np.inf


@every_regularizer
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_plus_infinity_where_Y_has_overflowed(h, bad, library):
    with np.errstate(invalid="ignore"):
        assert h.at(library.array(np.full((3, 3), bad))).value == np.inf


@every_regularizer
def test_evaluation_does_not_modify_its_argument(h):
    Y = -np.eye(3) + 0.1
    before = Y.copy()
    Y.flags.writeable = False
    point = h.at(Y)
    assert point.factor.shape == point.frame.shape == (3, 3)
    assert point.divided_differences.shape in ((1, 1), (3, 3))
    np.testing.assert_array_equal(Y, before)
