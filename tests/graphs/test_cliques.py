"""find_cliques: every edge is in a clique that no point could join."""

import numpy as np
import pytest

from gramlearn.graphs.cliques import find_cliques, list_neighbors


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 17, 70])
def test_every_edge_is_in_a_clique_that_nothing_can_be_added_to(n, share):
    is_edge = np.triu(np.random.default_rng(n).uniform(size=(n, n)) < share, 1)
    near = list_neighbors(n, *np.nonzero(is_edge))
    cliques = find_cliques(near)
    for clique in cliques:
        assert all(clique - {a} <= near[a] for a in clique)
        assert not set.intersection(*(near[a] for a in clique))
    covered = {(a, b) for clique in cliques for a in clique for b in clique if a < b}
    assert covered == set(zip(*(part.tolist() for part in np.nonzero(is_edge)), strict=True))
    assert cliques == sorted(cliques, key=sorted)
