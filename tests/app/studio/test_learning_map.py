"""The map: two principal directions before and now, moved as little as possible, with what was judged."""

import numpy as np
import pytest
from tests.app.studio.judges import KINDS, X, told

from gramlearn.app.studio.beside.map import Maps
from gramlearn.app.studio.beside.points import MOST_DIRECTIONS, Directions, blocks_of, sample_of

P = X - X.mean(axis=0)


def test_places_are_the_principal_directions_whatever_their_signs():
    found = Maps(P, np.arange(60)).draw(told("pair", 20), np.diag([5.0, 1, 1, 1]))
    for plane, points in ((found.before, P), (found.now, P * [5, 1, 1, 1])):
        own = np.linalg.svd(points)[1]
        np.testing.assert_allclose(np.linalg.svd(plane)[1], own[:2])


def test_points_stay_where_they_are_while_nothing_is_learned():
    maps = Maps(P, np.arange(60))
    for _ in range(2):
        found = maps.draw(told("pair", 20), np.eye(4))
        np.testing.assert_allclose(found.now, found.before, atol=1e-12)


def test_a_map_moves_less_than_it_would_turned_or_mirrored():
    maps = Maps(P, np.arange(60))
    rng = np.random.default_rng(0)
    A = np.eye(4)
    last = maps.draw(told("pair", 20), A).now
    for _ in range(10):
        A = A + 0.3 * rng.normal(size=(4, 4))
        now = maps.draw(told("pair", 20), A).now
        moved = np.linalg.norm(now - last)
        for angle in rng.uniform(0, 2 * np.pi, size=20):
            c, s = np.cos(angle), np.sin(angle)
            for other in ([[c, -s], [s, c]], [[c, s], [s, -c]]):
                assert np.linalg.norm(now @ np.array(other) - last) >= moved - 1e-9
        last = now


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_points_the_judged_ones_are_shown(kind):
    n = 5000
    Z = np.random.default_rng(0).normal(size=(n, 3))
    found = told(kind, 40)
    items = np.random.default_rng(1).permutation(n)[: found.items.size].reshape(found.items.shape)
    many = type(found)(kind, found.seq, items, found.said, found.random, found.plain)
    shown = Maps(Z, np.arange(n)).draw(many, np.eye(3))
    assert set(items.ravel().tolist()) <= set(shown.rows.tolist())
    assert len(shown.rows) == len(set(shown.rows.tolist())) <= 2000 + items.size
    ends = shown.rows[shown.lines[:, :2]]
    np.testing.assert_array_equal(ends, many.lines()[:, 1:3])
    content = shown.content()
    assert content.keys() == {"rows", "before", "now", "pairs"}
    assert len(content["rows"]) == len(content["before"]) == len(content["now"])


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (40, 1), (40, 3), (300, 250), (50, 400)])
def test_directions_keep_distances_or_their_leading_part(shape):
    points = np.random.default_rng(0).normal(size=shape) * np.linspace(3, 0.1, shape[1]) + 7
    directions = Directions.of(sample_of(points))
    placed = np.concatenate([directions.place(block) for block in blocks_of(points)])
    assert placed.shape[1] <= MOST_DIRECTIONS
    own, part = (one - one.mean(axis=0) for one in (points, placed * directions.length))
    kept = np.sum(part**2) / max(np.sum(own**2), 1e-300)
    if min(shape) <= MOST_DIRECTIONS:
        np.testing.assert_allclose(part @ part.T, own @ own.T, atol=1e-9)
    else:
        assert kept == pytest.approx(directions.share) != 1
        own_values = np.linalg.svd(own, compute_uv=False)[:MOST_DIRECTIONS]
        np.testing.assert_allclose(np.linalg.svd(part, compute_uv=False), own_values)
    if len(points) > 1:
        assert np.mean(np.vecdot(placed, placed)) == pytest.approx(1)


def test_points_that_are_all_equal_are_at_one_place():
    directions = Directions.of(np.ones((5, 3)))
    assert (directions.place(np.ones((5, 3))) == 0).all()
    found = Maps(np.zeros((60, 1)), np.arange(60)).draw(told("pair", 5), np.eye(1))
    assert (found.now == 0).all()
