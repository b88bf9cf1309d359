"""Two bounds on the same thing that oppose each other are found at once, whatever else is asked."""

import numpy as np
import pytest
from gramlearn.constraints import (
    DenseMatrices,
    DiagonalEntries,
    DistanceComparisons,
    Similarities,
    SquaredDistances,
    Trace,
)
from gramlearn.losses import Hard, Linear

from conftest import Library
from gramlearn import LogDet, Problem, Status, Term, VonNeumann, solve
from gramlearn.solvers.working_set.infeasibility import find_opposed_bounds

POINTS = np.random.default_rng(0).normal(size=(7, 5)) * 1e6
A = np.random.default_rng(1).normal(size=(1, 5, 5))
KINDS = {
    "distances": SquaredDistances([3], [5], points=POINTS),
    "norms": DiagonalEntries([2], points=POINTS),
    "similarities": Similarities([1], [4], points=POINTS),
    "comparisons": DistanceComparisons([0], [1], [2], points=POINTS),
    "trace": Trace(),
    "matrices": DenseMatrices(A + A.mT),
}


@pytest.mark.parametrize("solver", ["auto", "interior_point", "projections"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_contradiction_is_found_beside_large_rewards(kind: str, solver: str) -> None:
    """Bounds that are apart by 1e-8, beside rewards that make X a million times what they speak of."""
    low, high = 2.0, 2.0 * (1 - 1e-8)
    terms = [
        Term(SquaredDistances([0, 1], [6, 6], points=POINTS), Hard(upper=1e20)),
        Term(KINDS[kind], Hard(upper=high)),
        Term(Trace(), Linear(-0.5)),
        Term(KINDS[kind], Hard(lower=low)),
    ]
    solution = solve(Problem(LogDet(), np.eye(5), terms), solver=solver)
    assert solution.status is Status.INFEASIBLE
    assert solution.iterations == 0
    assert [float(v[0]) for v in (solution.duals[1], solution.duals[3])] == [1.0, -1.0]
    assert len(solution.conflict) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("apart", [0.0, 1e-16, 1e-3])
def test_bounds_that_leave_room_are_not_opposed(kind: str, apart: float) -> None:
    terms = [Term(KINDS[kind], Hard(lower=1.0)), Term(KINDS[kind], Hard(upper=1.0 + apart))]
    assert find_opposed_bounds(Problem(VonNeumann(), np.eye(5), terms).dual) is None


def test_offsets_count_in_opposed_bounds(library: Library) -> None:
    """10 + t <= 11 and 5 + t >= 7 ask for t <= 1 and t >= 2; with 5 + t >= 6 they agree."""
    upper = Term(DiagonalEntries([0], offset=10.0), Hard(upper=11.0))
    for least, is_opposed in ((7.0, True), (6.0, False)):
        lower = Term(DiagonalEntries([0], offset=5.0), Hard(lower=least))
        problem = Problem(LogDet(), library.array(np.eye(3)), [upper, lower])
        v = find_opposed_bounds(problem.dual)
        assert (v is not None) is is_opposed
        if v is not None:
            assert library.numpy(v).tolist() == [1.0, -1.0]


def test_the_two_most_opposed_bounds_are_named() -> None:
    """Among a thousand bounds on ten distances, those on the fourth oppose each other by most."""
    rng = np.random.default_rng(0)
    j = rng.integers(1, 6, 1000)
    lower = np.where(j == 4, rng.uniform(2.0, 3.0, 1000), rng.uniform(0.0, 1.05, 1000))
    upper = rng.uniform(1.0, 2.0, 1000)
    rows = SquaredDistances(np.zeros(1000, dtype=int), j, points=np.eye(6))
    terms = [Term(rows, Hard(lower=lower)), Term(rows, Hard(upper=upper))]
    solution = solve(Problem(LogDet(), np.eye(6), terms))
    asking, allowing = (int(np.flatnonzero(v)[0]) for v in solution.duals)
    assert lower[asking] == lower[j == 4].max()
    assert upper[allowing] == upper[j == 4].min()
