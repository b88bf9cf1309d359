"""Constraints in shards give the answer that the same constraints give in one memory."""

import numpy as np
import pytest
from gramlearn.losses import Hinge, LogDetSlack, SquaredHinge

from chunked_statements import Example, Several
from gramlearn import Frobenius, LogDet, Status, VonNeumann, solve
from gramlearn._base.workers import Here
from gramlearn.solvers import PrimalNewton
from gramlearn.solvers.shards import Forecast, Recovering

LOSSES = [Hinge, SquaredHinge, LogDetSlack]


@pytest.mark.parametrize("is_scarce", [False, True])
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=repr)
@pytest.mark.parametrize("loss", LOSSES)
def test_shards_give_the_value_of_one_memory(loss, regularizer, is_scarce: bool) -> None:
    """Both certify their gap, so that their values are no farther apart than the two gaps."""
    example = Example.of(loss, regularizer)
    whole = solve(example.whole, PrimalNewton(), tol=1e-9)
    least = Forecast.of(
        example.source, range(example.statements.n_chunks), len(example.points)
    ).least
    crew = Here(least + 1000 if is_scarce else float("inf"))
    shards = solve(example.in_shards(crew), Recovering(), tol=1e-9)
    assert (crew._worker._stride > 1) is is_scarce
    assert whole.status is shards.status is Status.OPTIMAL
    assert shards.relative_gap <= 1e-9
    assert abs(shards.primal - whole.primal) <= 1e-9 * abs(whole.primal)
    assert shards.dual <= whole.primal
    assert whole.dual <= shards.primal
    assert shards.duals == ()


@pytest.mark.parametrize("loss", LOSSES)
def test_as_many_workers_as_one_likes(loss) -> None:
    """Shards are what they are, wherever they stand: more workers, even idle ones, change a rounding."""
    values = {}
    for count in (1, 2, 7):
        crew = Several(count)
        example = Example.of(loss, LogDet(), size=1000, chunk=200)
        solution = solve(example.in_shards(crew), Recovering(), tol=1e-9)
        values[count] = solution.primal
        assert solution.status is Status.OPTIMAL
    assert np.ptp(list(values.values())) <= 1e-11 * values[1]


@pytest.mark.parametrize("chunk", [1, 37, 300])
def test_chunks_of_any_size(chunk: int) -> None:
    example = Example.of(SquaredHinge, LogDet(), size=300, chunk=chunk)
    whole = solve(example.whole, PrimalNewton(), tol=1e-9)
    shards = solve(
        example.in_shards(Here()), Recovering(PrimalNewton(first=50, sample=40)), tol=1e-9
    )
    assert abs(shards.primal - whole.primal) <= 1e-9 * whole.primal


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_worker_costs_a_new_look_and_not_the_fit(loss) -> None:
    example = Example.of(loss, LogDet(), size=1000, chunk=300)
    crew = Several(2)
    undisturbed = solve(example.in_shards(crew), Recovering(), tol=1e-9)
    asked = crew.asked
    for losing in ([1, 2], [asked // 2, asked // 2 + 1], [9, 20, asked - 1]):
        crew = Several(2, tuple(losing))
        solution = solve(example.in_shards(crew), Recovering(), tol=1e-9)
        assert solution.status is Status.OPTIMAL
        assert abs(solution.primal - undisturbed.primal) <= 1e-9 * undisturbed.primal


def test_what_is_not_needed_any_more_is_forgotten() -> None:
    """However many steps were taken, a site keeps what a few points need."""
    example = Example.of(Hinge, LogDet())
    crew = Here()
    problem = example.in_shards(crew)
    most = []

    def count(record) -> None:
        site = crew._worker
        most.append(max(len(x) for x in (site._chosen, site._prices, site._curved, site._watched)))

    solution = solve(problem, Recovering(), tol=1e-9, callback=count)
    assert len(solution.history) > 20
    assert max(most) <= 5


def test_a_sample_stands_for_many_curved_constraints(monkeypatch) -> None:
    """Newton's direction is a little off, its answer is not."""
    example = Example.of(SquaredHinge, LogDet(), size=20_000, chunk=3000)
    whole = solve(example.whole, PrimalNewton(), tol=1e-9)
    monkeypatch.setattr("gramlearn.solvers.shards.forecast._LEAST", 400)
    crew = Here()
    problem = example.in_shards(crew)
    curved = []
    shards = solve(
        problem,
        Recovering(),
        tol=1e-9,
        callback=lambda _: curved.append(max(c.size for c in crew._worker._curved.values())),
    )
    assert max(curved) < 1000
    assert shards.status is Status.OPTIMAL
    assert abs(shards.primal - whole.primal) <= 1e-9 * whole.primal


def test_a_start_is_taken_up() -> None:
    """From the optimum there is nothing left to do."""
    from gramlearn.solvers.solver import Start

    example = Example.of(SquaredHinge, LogDet())
    problem = example.in_shards(Here())
    first = solve(problem, Recovering(), tol=1e-9)
    again = solve(problem, Recovering(), tol=1e-9, start=Start((), first.factor))
    assert again.iterations <= 2 < first.iterations
    assert abs(again.primal - first.primal) <= 1e-9 * first.primal


def test_a_limit_below_the_least_is_refused() -> None:
    example = Example.of(SquaredHinge, LogDet())
    with pytest.raises(
        MemoryError, match=r"a memory limit of 10 kB is below the least .* raise it"
    ):
        example.in_shards(Here(10_000))
