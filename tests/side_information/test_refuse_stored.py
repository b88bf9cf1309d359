"""What needs statements in memory says so in one sentence, with the argument that they were passed as."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gramlearn import POLA, KernelDesigner, MetricLearner, NonparametricKernel
from gramlearn.evaluation import suspects
from gramlearn.methods.clustering import constrained_kmeans
from gramlearn.side_information import Pairs, StoredPairs, StoredTriplets, Triplets, select_pairs
from gramlearn.side_information.stored import StoredStatements

N = 12
X = np.random.default_rng(0).normal(size=(N, 3))
PAIRS = StoredPairs.of(Pairs([[0, 1], [2, 3]], [[4, 5]], n_points=N))
TRIPLETS = StoredTriplets.of(Triplets([[0, 1, 2], [3, 4, 5]], n_points=N))

USERS: dict[str, tuple[StoredStatements, Callable[[Any], Any]]] = {
    "`side` of KernelDesigner": (TRIPLETS, lambda side: KernelDesigner().fit(X, side=side)),
    "`side` of POLA": (PAIRS, lambda side: POLA().fit(X, side=side)),
    "`side` of NonparametricKernel": (PAIRS, lambda side: NonparametricKernel().fit(X, side=side)),
    "`side` of suspects": (PAIRS, lambda side: suspects(MetricLearner(), X, side, n_folds=3)),
    "`side` of constrained_kmeans": (PAIRS, lambda side: constrained_kmeans(X, 2, side=side)),
    "`pairs` of from_pairs": (PAIRS, lambda pairs: Triplets.from_pairs(pairs, X)),
    "`pairs` of select_pairs": (PAIRS, lambda pairs: select_pairs(pairs, X, 1)),
}


@pytest.mark.parametrize("name", USERS)
def test_users_that_need_memory_say_so(name: str) -> None:
    stored, use = USERS[name]
    with pytest.raises(TypeError) as raised:
        use(stored)
    message = str(raised.value)
    assert message.startswith(f"{name.split(' ')[0]} is {type(stored).__name__}"), message
    assert "`read()`" in message
    assert "`sample(n)`" in message
    use(stored.read())  # which is right


def test_statements_are_no_labels() -> None:
    with pytest.raises(TypeError, match="pass it as `side=`, not as `y`"):
        MetricLearner().fit(X, PAIRS)
