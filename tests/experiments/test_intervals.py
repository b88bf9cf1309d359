"""Intervals of means and of their differences, as scipy.stats has them; and words for many numbers."""

import numpy as np
import pytest
import scipy.stats
from experiments.intervals import (
    Spread,
    are_alike,
    compare_by_set,
    listed,
    mcnemar_gain,
    measure_spread,
    prose,
    span,
)

RNG = np.random.default_rng(0)


def test_the_interval_of_a_difference_is_student_s() -> None:
    draws = RNG.normal(0.3, 1.0, size=7)
    found = measure_spread(draws.tolist())
    interval = scipy.stats.ttest_1samp(draws, 0.0).confidence_interval(0.95)
    assert (found.center - found.margin, found.center + found.margin) == pytest.approx(
        tuple(interval)
    )
    assert Spread(-1.0, 0.3, 4).is_below_zero
    assert not Spread(-0.2, 0.3, 4).is_below_zero
    assert not measure_spread([0.3]).is_above_zero  # one draw says nothing
    assert not mcnemar_gain(10, 9, 1000).is_above_zero
    assert mcnemar_gain(30, 9, 1000).is_above_zero
    assert mcnemar_gain(0, 0, 1000).margin == 0.0  # the same answers


def test_two_means_agree_within_the_interval_of_their_difference() -> None:
    paper = Spread(90.0, 12.0, 16)  # a standard error of 3
    ours = Spread(80.0, 20.0, 25)  # of 4, so that the difference has 5
    assert ours.error == 4.0
    assert (ours.above(paper).center, ours.above(paper).error) == (-10.0, 5.0)
    margin = ours.above(paper).margin
    assert margin == pytest.approx(scipy.stats.t.ppf(0.975, 5**4 / (4**4 / 24 + 3**4 / 15)) * 5)
    for away, is_near in ((0.99 * margin, True), (1.01 * margin, False)):
        below, above = Spread(90.0 - away, 20.0, 25), Spread(90.0 + away, 20.0, 25)
        assert below.near(paper) == paper.near(below) == above.near(paper) == is_near
        assert below.reaches(paper) == is_near
        assert above.reaches(paper)
    fewer = Spread(90.0 - 1.01 * margin, 20.0, 20)
    assert fewer.near(paper)  # fewer draws, more doubt


def test_the_interval_of_two_means_is_welch_s() -> None:
    a, b = RNG.normal(0.3, 1.0, size=7), RNG.normal(0.0, 3.0, size=4)
    found = measure_spread(a.tolist()).above(measure_spread(b.tolist()))
    interval = scipy.stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert (found.center - found.margin, found.center + found.margin) == pytest.approx(
        tuple(interval)
    )
    # Where no draw differs from another, any difference is one; one draw says nothing.
    assert Spread(1.0, 0.0, 5).above(Spread(0.9, 0.0, 5)).is_above_zero
    assert not measure_spread([0.9]).above(measure_spread(b.tolist())).is_above_zero
    assert measure_spread([9.0]).near(measure_spread(b.tolist()))


def test_numbers_may_differ_by_a_factor() -> None:
    assert [are_alike(x, 10.0) for x in (4.9, 5.0, 20.0, 20.1)] == [False, True, True, False]
    assert measure_spread([1.0, 3.0]) == Spread(2.0, pytest.approx(2**0.5), 2)
    assert measure_spread([5.0]) == Spread(5.0, 0.0, 1)
    assert tuple(Spread(5.0, 2.0, 7)) == (5.0, 2.0)  # what a table and a bar of errors take


def test_words_for_many_numbers() -> None:
    assert [listed(x) for x in ([], ["a"], ["a", "b"], "abc")] == [
        "none",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert span([0.84, 2.0, 1.0], ".1f") == "0.8 to 2.0"
    assert span([1.01, 0.99], ".1f") == "1.0"
    assert prose("\n  two\n  lines\n") == "two lines"
    pairs = {"iris": (Spread(90.04, 1.0), Spread(91.5, 2.0))}
    assert compare_by_set(pairs) == {"ours": "90.0 ± 1.0 (iris)", "paper": "91.5 ± 2.0 (iris)"}
