"""Which input losses accept and refuse: vectors of bounds and weights, any array library, templates."""

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest

from catalogue import BOUNDED_LOSS_TYPES, LOSSES, name_of
from gramlearn.problem.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge

EPS = np.finfo(np.float64).eps
KINDS = ["upper", "lower", "equal"]
OF_T = ["value", "excess", "scale", "severity"]
OF_LAM = ["conjugate", "conjugate_derivative", "conjugate_second"]

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=name_of)
every_bounded_type = pytest.mark.parametrize("cls", BOUNDED_LOSS_TYPES, ids=name_of)


def at(x):
    return np.asarray([x])


def box_of(loss):
    lo, hi = loss.box(at(0.0), 1)
    return lo[0], hi[0]


def spread(loss, numbers, weights):
    """Give the loss with one bound (or slope) and one weight for each constraint."""
    kind = next((k for k in KINDS if getattr(loss, k, None) is not None), "slope")
    return dataclasses.replace(loss, **{kind: numbers, "weight": weights})


# -- many constraints ------------------------------------------------------------------------------


@every_loss
def test_weights_multiply_the_loss(loss):
    heavy = dataclasses.replace(loss, weight=4.0)  # a power of two: lam / 4 is exact
    t, lam = np.linspace(0.05, 3.0, 60), np.linspace(-2, 2, 81)
    np.testing.assert_allclose(heavy.value(t), 4 * loss.value(t), rtol=4 * EPS)
    lam = np.where(loss.is_fixed, box_of(loss)[0], lam)
    for power, function in enumerate(OF_LAM):  # loss*(lam) = w loss_1*(lam / w), and so on
        np.testing.assert_allclose(
            getattr(heavy, function)(4 * lam),
            4.0 ** (1 - power) * getattr(loss, function)(lam),
            rtol=1e-14,  # near its open end LogDetSlack amplifies a rounding some ten times
        )
    np.testing.assert_allclose(box_of(heavy), 4 * np.asarray(box_of(loss)), rtol=2 * EPS)


@every_loss
def test_a_vector_of_bounds_is_many_losses(loss, library):
    numbers, weights = [0.5, 0.8, 1.1, 1.4, 1.7], [1.0, 3.0, 0.5, 2.0, 1.0]
    t, lam = np.asarray([0.2, 0.9, 1.0, 1.5, 3.0]), np.asarray([0.1, -0.3, 0.2, -0.1, 0.0])
    like = library.array(t)
    many = spread(loss, numbers, weights).prepare(5, like)
    single = [spread(loss, n, w) for n, w in zip(numbers, weights, strict=True)]
    if loss.is_fixed:
        lam = np.asarray([box_of(one)[0] for one in single])
    rows = np.asarray([4, 0, 2])
    some = many.take(library.index(rows))
    for function in (*OF_T, *OF_LAM):
        argument = lam if function in OF_LAM else t
        expected = np.asarray(
            [getattr(one, function)(at(x))[0] for one, x in zip(single, argument, strict=True)]
        )
        for chosen, found in (
            (slice(None), getattr(many, function)(library.array(argument))),
            (rows, getattr(some, function)(library.array(argument[rows]))),
        ):
            np.testing.assert_allclose(
                library.numpy(found), expected[chosen], rtol=8 * EPS, atol=8 * EPS
            )
    for end, found in enumerate(many.box(like, 5)):
        np.testing.assert_allclose(library.numpy(found), [box_of(one)[end] for one in single])
    for end, found in enumerate(some.box(like, 3)):
        np.testing.assert_allclose(library.numpy(found), [box_of(single[k])[end] for k in rows])


@every_loss
def test_one_number_is_a_vector_of_it(loss, library):
    like = library.array(np.linspace(0.1, 2.0, 7))
    scalar = loss.prepare(7, like)
    number = loss.slope if loss.is_fixed else loss.bound
    vector = spread(loss, np.full(7, number), np.ones(7)).prepare(7, like)
    for function in (*OF_T, *OF_LAM):
        # Dividing by a number and by a vector may round differently, and 1 - lam b magnifies it.
        np.testing.assert_allclose(
            library.numpy(getattr(scalar, function)(like)),
            library.numpy(getattr(vector, function)(like)),
            rtol=16 * EPS,
        )


# -- refusals --------------------------------------------------------------------------------------


@every_bounded_type
def test_a_template_has_no_values(cls):
    sentence = rf"`{cls.__name__}` has no bounds; pass exactly one of upper=, lower= and equal=\."
    for function in ("value", "excess", "scale", "conjugate_derivative"):
        with pytest.raises(ValueError, match=sentence):
            getattr(cls(), function)(at(1.0))
    with pytest.raises(ValueError, match=sentence):
        cls().prepare(3, at(1.0))


@every_bounded_type
def test_a_positional_bound_raises_a_clear_error(cls):
    strengths = [1.0] * sum(not field.kw_only for field in dataclasses.fields(cls))
    call = ", ".join(str(x) for x in [*strengths, 1.5])
    expected = f"`{cls.__name__}({call})`: 1.5 has no name; pass the bound as one of upper=, lower= and equal=."
    with pytest.raises(TypeError) as e:
        cls(*strengths, 1.5)
    assert str(e.value) == expected
    with pytest.raises(TypeError, match=r"\[\.\.\.\] has no name; pass the bound"):
        cls(*strengths, np.ones(1000))


@every_loss
def test_a_loss_shows_its_arguments_and_can_be_copied(loss):
    shown = inspect.signature(type(loss)).parameters
    assert list(shown) == [f.name for f in _in_the_order_of_the_call(type(loss))]
    for again in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert vars(again) == vars(loss)


def _in_the_order_of_the_call(cls):
    return sorted(dataclasses.fields(cls), key=lambda field: field.kw_only)


one = np.asarray([1.0])
REFUSALS = [
    (lambda: Hard(upper=1.0, lower=0.5).prepare(1, one), r"`Hard` has 2 bounds; .*For an interval"),
    (lambda: Hard(upper=[1.0, 2.0]).prepare(3, one), r"`upper` has shape \(2,\), but .* 3 constr"),
    (lambda: Hard(lower=[np.nan, 1.0]).prepare(2, one), r"`lower` contains NaN or infinity; every"),
    (lambda: Hard(equal=np.inf).prepare(2, one), r"`equal` contains NaN or infinity; every"),
    (
        lambda: Hinge(upper=1.0, weight=0.0).prepare(2, one),
        r"`Hinge\(weight=...\)` must be positive",
    ),
    (
        lambda: Hinge(upper=1.0, weight=[1, -2]).prepare(2, one),
        r"the least weight is -2\. Leave out",
    ),
    (lambda: Hinge(upper=1.0, weight=np.nan).prepare(2, one), r"`weight` contains NaN or infinity"),
    (
        lambda: LogDetSlack(upper=[1, 0]).prepare(2, one),
        r"`LogDetSlack\(upper=...\)` measures the r",
    ),
    (
        lambda: KLSlack(lower=-1.0).prepare(2, one),
        r"must be positive; the least is -1\. Use Hinge or",
    ),
    (lambda: Linear([1.0, 2.0]).prepare(3, one), r"`slope` has shape \(2,\), but there are 3"),
    (lambda: Linear(np.nan).prepare(3, one), r"`slope` contains NaN or infinity"),
    (lambda: Hinge(-1.0), r"`Hinge\(C=-1.0\)`: C must be positive and finite; got -1.0\."),
    (lambda: Square(np.inf), r"`Square\(C=inf\)`: C must be positive and finite; got inf\."),
    (lambda: SquaredHinge(0.0), r"`SquaredHinge\(C=0.0\)`: C must be positive"),
    (lambda: KLSlack(np.nan), r"`KLSlack\(C=nan\)`: C must be positive"),
    (lambda: LogDetSlack(-2), r"`LogDetSlack\(C=-2\)`: C must be positive"),
    (
        lambda: SquaredHinge(equal=1.0),
        r"`SquaredHinge` takes upper= or lower=; for a target use Sq",
    ),
    (
        lambda: Square(upper=1.0),
        r"`Square` takes equal= only; for one-sided bounds use SquaredHinge",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), REFUSALS, ids=[s[:24] for _, s in REFUSALS])
def test_errors_say_what_to_do(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_bounds_of_another_library_are_refused(library):
    bounds = library.array([1.0, 2.0])
    if library.name == "numpy":
        Hard(upper=bounds).prepare(2, one)  # host data goes anywhere
    else:
        with pytest.raises(TypeError, match="must come from one library"):
            Hard(upper=bounds).prepare(2, one)


def test_prepare_leaves_the_callers_arrays_alone():
    bounds = np.asarray([1.0, 2.0, 3.0, 4.0])[::2]
    bounds.flags.writeable = False
    loss = LogDetSlack(upper=bounds).prepare(2, one)
    loss.conjugate(np.asarray([0.1, 0.2]))
    np.testing.assert_array_equal(bounds, [1.0, 3.0])
