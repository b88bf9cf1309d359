"""What a source knows of its points before statements are read."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from gramlearn.solvers.shards.source import near_others


@pytest.mark.parametrize("reach", [1e-15, 1e-9, 1e-3, 0.3, 10.0])
@pytest.mark.parametrize("width", [1, 3, 40])
def test_none_of_the_points_that_are_near_others_is_missed(reach, width):
    rng = np.random.default_rng(width)
    points = rng.standard_normal((60, width))
    points[40:50] = points[:10] + reach / width * rng.uniform(-1, 1, (10, width))
    apart = squareform(pdist(points)) + 1e9 * np.eye(60)
    truly = (apart <= reach).any(axis=1)
    assert truly.any()
    found = near_others(points, reach)
    assert found[truly].all()
    if reach < 1e-3:
        assert found.sum() == 20  # and no other


def test_points_that_are_apart_are_told_by_none():
    assert near_others(np.linspace(0, 1, 1000)[:, None], 1e-9) is None
    assert near_others(np.zeros((0, 3)), 1e-9) is None
