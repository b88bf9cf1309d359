"""What is held back says nothing that the rest says as well."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlearn import Bounds, Pairs, Triplets

SHARES = st.floats(0.05, 0.95)


def sets_of(side):
    return {frozenset(row) for row in np.asarray(side.statement_points()).tolist()}


@st.composite
def sides(draw):
    n = draw(st.integers(4, 9))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    rows = np.array([rng.permutation(n)[:3] for _ in range(draw(st.integers(2, 40)))])
    kind = draw(st.sampled_from(["triplets", "odd", "bounds", "pairs"]))
    if kind == "triplets":
        return Triplets(rows, n_points=n)
    if kind == "odd":
        return Triplets.from_odd_one_out(rows, n_points=n)
    if kind == "bounds":
        rows = np.unique(np.sort(rows[:, :2], axis=1), axis=0)
        return Bounds(rows[:, 0], rows[:, 1], upper=rng.random(len(rows)), n_points=n)
    return Pairs(rows[:, :2], n_points=n, upper=rng.random(len(rows)))


@given(side=sides(), share=SHARES, seed=st.integers(0, 100))
def test_no_set_of_points_is_on_both_sides(side, share, seed):
    if len(sets_of(side)) < 2:
        message = "two statements or more" if side.size < 2 else "about the same points"
        with pytest.raises(ValueError, match=message):
            side.split(share, random_state=seed)
        return
    rest, held = side.split(share, random_state=seed)
    assert rest.size + held.size == side.size
    assert rest.size
    assert held.size
    assert not sets_of(rest) & sets_of(held)
    assert sets_of(rest) | sets_of(held) == sets_of(side)


@given(side=sides(), share=SHARES, seed=st.integers(0, 100))
def test_every_statement_held_back_is_about_a_point_that_the_rest_does_not_mention(
    side, share, seed
):
    try:
        rest, held = side.split(share, by="points", random_state=seed)
    except ValueError as refusal:
        assert "two statements or more" in str(refusal) or "share" in str(refusal)  # noqa: PT017
        return
    assert rest.size + held.size == side.size
    assert rest.size
    assert held.size
    known = set(np.asarray(rest.involved()).tolist())
    assert all(not points <= known for points in sets_of(held))


def test_about_the_share_asked_for_is_held_back():
    rng = np.random.default_rng(0)
    pairs = Pairs(rng.permutation(400).reshape(-1, 2), n_points=400)
    many = Pairs(
        np.stack([np.arange(300), rng.permutation(300) + 300], axis=1)[rng.integers(300, size=900)],
        n_points=600,
        upper=rng.random(900),
    )
    for side in (pairs, many):
        for by in ("statements", "points"):
            _, held = side.split(0.2, by=by, random_state=1)
            assert held.size == pytest.approx(0.2 * side.size, abs=10)


def test_a_point_of_too_many_statements_is_not_held_back():
    """A query that everything is compared with."""
    side = Triplets([[0, j, k] for j in range(1, 12) for k in range(12, 16)], n_points=16)
    rest, held = side.split(0.3, by="points", random_state=0)
    assert 0 in np.asarray(rest.involved())
    assert 0 < held.size < 0.7 * side.size


def test_splits_that_cannot_be_are_refused_in_a_sentence():
    twice = Triplets.from_odd_one_out([[0, 1, 2]], n_points=3)
    with pytest.raises(ValueError, match="all 2 statements are about the same points"):
        twice.split()
    with pytest.raises(ValueError, match=r'one point that all of them share.*by="statements"'):
        Pairs([[0, 1], [0, 1]], n_points=2, upper=[1.0, 2.0]).split(by="points")
    with pytest.raises(ValueError, match="`by='rows'` is not known"):
        twice.split(by="rows")
