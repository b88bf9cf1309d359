"""Constraints in shards give the answer that the same constraints give in one memory."""

from dataclasses import replace

import numpy as np
import pytest
from gramlearn.losses import Hinge, LogDetSlack, SquaredHinge

from chunked_statements import Chunked, Example, Several
from gramlearn import Frobenius, LogDet, Status, VonNeumann, solve
from gramlearn._base.workers import Here
from gramlearn.solvers import PrimalNewton
from gramlearn.solvers.shards import Needed, Recovering, Site
from gramlearn.solvers.shards.forecast import read_limit

LOSSES = [Hinge, SquaredHinge, LogDetSlack]


@pytest.mark.parametrize("share", [0.0, 0.6, float("inf")])
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=repr)
@pytest.mark.parametrize("loss", LOSSES)
def test_shards_give_the_value_of_one_memory(loss, regularizer, share: float) -> None:
    """Both certify their gap, so that their values are no farther apart than the two gaps.

    There may be memory for none of the statements, or for some, or for all.
    """
    example = Example.of(loss, regularizer)
    whole = solve(example.whole, PrimalNewton(), tol=1e-9)
    shards = range(example.statements.n_chunks)
    needed = Needed.of(example.statements, shards, *example.points.shape)
    crew = Here(needed.least + 1000 + share * needed.statements)
    shards = solve(example.in_shards(crew), Recovering(), tol=1e-9)
    assert (crew._worker._store.stride > 1) is (share < 1)
    assert whole.status is shards.status is Status.OPTIMAL
    assert shards.relative_gap <= 1e-9
    assert abs(shards.primal - whole.primal) <= 1e-9 * abs(whole.primal)
    assert shards.dual <= whole.primal
    assert whole.dual <= shards.primal
    assert shards.duals == ()


def test_what_matters_is_kept_and_read_no_more(monkeypatch) -> None:
    """Of many steps, only those that look at all constraints read them."""
    example = Example.of(SquaredHinge, LogDet(), size=20_000, chunk=3000)
    needed = Needed.of(example.statements, range(7), *example.points.shape)
    asked: list[int] = []
    plain = Chunked.indexed_terms

    def counted(self, chunk, *args):
        asked.append(chunk)
        return plain(self, chunk, *args)

    monkeypatch.setattr(Chunked, "indexed_terms", counted)
    passes = {}
    for share in (0.0, 0.9):
        asked.clear()
        crew = Here(needed.least + 1000 + share * needed.statements)
        solution = solve(example.in_shards(crew), Recovering(), tol=1e-9)
        assert crew._worker._store.stride > 1
        assert solution.status is Status.OPTIMAL
        passes[share] = len(asked) / 7
    assert passes[0.9] <= 4
    assert passes[0.0] > 8


@pytest.mark.parametrize("loss", LOSSES)
def test_blocks_of_a_gpu_change_a_rounding(loss, monkeypatch) -> None:
    """Several threads read, and what is kept comes in larger blocks than shards."""
    example = Example.of(loss, LogDet(), size=1000, chunk=30)
    expected = solve(example.in_shards(Here()), Recovering(), tol=1e-9)
    monkeypatch.setattr("gramlearn.solvers.shards.store.is_on_host", lambda _: False)
    for room in (float("inf"), 1e5):
        needed = Needed.of(example.statements, range(34), *example.points.shape)
        crew = Here(needed.most + room)
        found = solve(example.in_shards(crew), Recovering(), tol=1e-9)
        assert len(list(crew._worker._store.blocks(1))) < 34 / 4
        assert abs(found.primal - expected.primal) <= 1e-9 * expected.primal


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


@pytest.mark.parametrize("loss", LOSSES)
def test_points_may_be_tensors(loss) -> None:
    """Statements are read in host memory, and go where the points are: the same questions, the same answer."""
    torch = pytest.importorskip("torch")
    example = Example.of(loss, VonNeumann())
    here, there = Several(1), Several(1)
    expected = solve(example.in_shards(here), Recovering(), tol=1e-9)
    tensors = replace(example, points=torch.asarray(example.points))
    found = solve(tensors.in_shards(there), Recovering(), tol=1e-9)
    assert isinstance(found.matrix, torch.Tensor)
    assert abs(found.primal - expected.primal) <= 1e-9 * expected.primal
    assert there.questions == here.questions
    site = there.workers[0]
    kept = [part.map for parts in site._store._kept.values() for part in parts]
    assert all(isinstance(index, torch.Tensor) for linear in kept for index in linear.indices)


def test_a_start_is_taken_up() -> None:
    """From the optimum there is nothing left to do."""
    from gramlearn.solvers.solver import Start

    example = Example.of(SquaredHinge, LogDet())
    problem = example.in_shards(Here())
    first = solve(problem, Recovering(), tol=1e-9)
    again = solve(problem, Recovering(), tol=1e-9, start=Start((), first.factor))
    assert again.iterations <= 2 < first.iterations
    assert abs(again.primal - first.primal) <= 1e-9 * first.primal


@pytest.mark.parametrize("regularizer", [LogDet(), Frobenius()], ids=repr)
def test_what_stands_for_curved_constraints_takes_no_more_than_was_said(
    regularizer, monkeypatch
) -> None:
    """While it is joined it is there twice, beside that of two other X."""
    monkeypatch.setattr("gramlearn.solvers.shards.forecast._LEAST", 300)
    monkeypatch.setattr("gramlearn.solvers.shards.forecast._PER_ENTRY", 2)
    example = Example.of(SquaredHinge, regularizer, size=20_000, chunk=3000)
    needed = Needed.of(example.statements, range(7), *example.points.shape)
    taken: list[int] = []
    plain = Site._put_aside

    def counted(self, costs, sums):
        before = [linear for curved in self._curved.values() for linear in curved.maps]
        taken.append(sum(linear.z.nbytes for linear in [*before, *sums._maps, *sums._maps]))
        return plain(self, costs, sums)

    monkeypatch.setattr(Site, "_put_aside", counted)
    assert solve(example.in_shards(Here()), Recovering(), tol=1e-9).status is Status.OPTIMAL
    assert needed.stand_in / 3 < max(taken) <= needed.stand_in


def test_a_limit_below_the_least_is_refused() -> None:
    example = Example.of(SquaredHinge, LogDet())
    with pytest.raises(
        ValueError, match=r"the memory that is left \(10 kB\) is less than the .* that this takes"
    ):
        example.in_shards(Here(10_000))


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (5e9, 5e9),
        ("4GB", 4e9),
        ("500 MiB", 500 * 2**20),
        ("1.5g", 1.5e9),
        ("800", 800),
        ("3 kB", 3000),
        ("1e9", 1e9),
        ("1.5E3 kB", 1.5e6),
    ],
)
def test_limits_are_read(given, size: float) -> None:
    assert read_limit(given) == size


@pytest.mark.parametrize("given", ["4 apples", "GB", "-3GB", 0, -1.0, [1], "nan"])
def test_limits_that_are_none_are_refused(given) -> None:
    with pytest.raises((TypeError, ValueError), match="memory_limit"):
        read_limit(given)


@pytest.mark.parametrize("loss", LOSSES)
def test_statements_that_no_metric_can_honor_take_no_part(loss) -> None:
    """The answer is that of the others; they are counted, and the first is named by its number."""
    example = Example.of(loss, LogDet(), size=1000, chunk=200)
    s, points = example.statements, example.points.copy()
    rows = np.flatnonzero(~s.alike)[[5, 100, 300]]
    points[s.j[rows]] = points[s.i[rows]]
    is_equal = np.all(points[s.i] == points[s.j], axis=1)
    kept = ~is_equal | s.alike
    among = replace(example, points=points)
    without = replace(s, i=s.i[kept], j=s.j[kept], alike=s.alike[kept])
    whole = solve(replace(among, statements=without).whole, PrimalNewton(), tol=1e-9)
    crew = Several(3)
    problem = among.in_shards(crew)
    facts = problem.pool.facts
    assert facts.n_impossible == np.sum(~kept)
    chunk = np.flatnonzero(~kept)[0] // s.chunk
    inside = slice(chunk * s.chunk, (chunk + 1) * s.chunk)
    order = np.argsort(~s.alike[inside], kind="stable")  # the order of the terms
    assert facts.impossible == [chunk * s.chunk + np.flatnonzero(~kept[inside][order])[0]]
    shards = solve(problem, Recovering(), tol=1e-9)
    assert abs(shards.primal - whole.primal) <= 1e-9 * whole.primal


def test_some_workers_may_have_their_points_elsewhere() -> None:
    """Each answers in NumPy, wherever its points are."""
    torch = pytest.importorskip("torch")

    class Mixed(Several):
        def place(self, make, sizes, shared) -> None:
            super().place(make, sizes, shared)
            self.workers[1] = make(self.shards[1], torch.as_tensor(shared), float("inf"))

    for loss in LOSSES:
        example = Example.of(loss, LogDet(), size=1000, chunk=200)
        values = [
            solve(example.in_shards(crew), Recovering(), tol=1e-9).primal
            for crew in (Several(2), Mixed(2))
        ]
        assert np.ptp(values) <= 1e-9 * values[0]
