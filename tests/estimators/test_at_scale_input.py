"""Whatever is odd about points or parameters, a fit to statements in chunks takes it, or says why not."""

import os
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from gramlearn.losses import SquaredHinge

import gramlearn
from gramlearn import MetricLearner
from gramlearn._base.workers import Here
from gramlearn.methods.metric.at_scale import digest_of_points
from gramlearn.side_information import Pairs
from gramlearn.side_information.stored_pairs import StoredPairs
from gramlearn.solvers.shards import Checkpoint
from gramlearn.solvers.shards.forecast import Forecast, Needed, enough, in_words, read_limit

rng = np.random.default_rng(0)
N, D = 60, 3
X = rng.standard_normal((N, D))
i = rng.integers(0, N, 900)
j = (i + rng.integers(1, N, 900)) % N
ALIKE = np.abs(X[i, 0] - X[j, 0]) < 0.7
SIDE = StoredPairs.of(Pairs(np.c_[i, j][ALIKE], np.c_[i, j][~ALIKE], n_points=N), 200)
GIVEN = {"C": 0.1, "bounds": (1.0, 4.0), "tol": 1e-9, "random_state": 0}


@pytest.mark.parametrize("prior", [None, "inverse_covariance"])
def test_a_data_frame_is_its_numbers(prior: str | None) -> None:
    pandas = pytest.importorskip("pandas")
    learner = MetricLearner(**GIVEN, prior=prior)
    whole = learner.fit(X, side=SIDE).components_
    assert learner.fit(pandas.DataFrame(X, columns=list("abc")), side=SIDE).components_ == (
        pytest.approx(whole, abs=1e-12)
    )
    assert list(learner.feature_names_in_) == ["a", "b", "c"]
    frame = pandas.DataFrame(X)
    assert learner.forecast(frame, SIDE).least >= learner.forecast(X, SIDE).least


def test_a_forecast_takes_any_prior() -> None:
    plain = MetricLearner(**GIVEN).forecast(X, SIDE)
    assert MetricLearner(**GIVEN, prior=np.eye(D)).forecast(X, SIDE).least > plain.least


@pytest.mark.parametrize("C", [0.1, None])
def test_a_prior_that_is_not_known_is_told_all_names(C: float | None) -> None:
    learner = MetricLearner(**GIVEN | {"C": C}, prior="whitened")
    with pytest.raises(
        ValueError, match="choose one of 'identity', 'standardized', 'inverse_within'"
    ):
        learner.fit(X, side=SIDE)


def test_few_statements_for_a_hinge_are_counted() -> None:
    few = StoredPairs.of(Pairs([[0, 1]], [[2, 3]], n_points=N, upper=1e-3, lower=50.0))
    learner = MetricLearner(C=0.1, loss="hinge")
    with pytest.raises(
        ValueError, match=r"2 statements, and a metric of 3 x 3 .* more than 6 where"
    ):
        learner.fit(X, side=few)
    learner.set_params(loss="squared_hinge").fit(X, side=few)  # as the sentence says


def test_a_warm_start_says_what_a_model_file_lacks(tmp_path: Path) -> None:
    MetricLearner(**GIVEN, warm_start=True).fit(X, side=SIDE).save(tmp_path / "m.gram")
    with pytest.warns(UserWarning, match="the last answer came from a model file"):
        gramlearn.load(tmp_path / "m.gram").fit(X, side=SIDE)


def test_nothing_is_left_of_an_earlier_fit() -> None:
    learner = MetricLearner(**GIVEN).fit(X, side=SIDE)
    names = set(vars(MetricLearner(**GIVEN).fit(X, side=SIDE.read())))
    assert set(vars(learner.fit(X, side=SIDE.read()))) == names


@pytest.mark.parametrize("given", [5, True, b"folder", ["folder"]])
def test_a_checkpoint_is_a_path(given) -> None:
    with pytest.raises(TypeError, match="`checkpoint` must be the path of a folder; got"):
        MetricLearner(**GIVEN, checkpoint=given).fit(X, side=SIDE)


def test_a_checkpoint_that_cannot_be_written_is_refused_at_once(
    monkeypatch, tmp_path: Path
) -> None:
    def full(*given) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match=r"`checkpoint=.*No space left on device\); pass a folder"):
        Checkpoint(tmp_path)


def test_a_disk_that_fills_up_costs_the_checkpoint_and_not_the_fit(monkeypatch, tmp_path) -> None:
    def full(*given) -> None:
        raise OSError(28, "No space left on device")

    def fill(record) -> None:
        if record.iteration == 1:
            monkeypatch.setattr(os, "fsync", full)

    learner = MetricLearner(**GIVEN, checkpoint=tmp_path, callback=fill)
    with pytest.warns(UserWarning, match="could not be written .* the fit goes on") as told:
        learner.fit(X, side=SIDE)
    assert len(told) == 1
    assert learner.solution_.relative_gap <= 1e-9


def test_a_choice_is_made_again_whatever_the_time(tmp_path: Path) -> None:
    """So that a fit that was cut short by its limit goes on."""
    settings = {"random_state": 0, "checkpoint": tmp_path}
    with pytest.warns(UserWarning, match="time_limit"):
        cut = MetricLearner(**settings, time_limit=1e-3).fit(X, side=SIDE)
    assert cut.verdict_.startswith("Stopped at a relative gap of")
    assert MetricLearner(**settings).fit(X, side=SIDE).C_ == cut.C_


@pytest.mark.parametrize(
    ("settings", "move"),
    [
        ({}, lambda x: x * (1 + 1e-15)),
        ({"normalize": True, "bounds": (0.5, 1.0)}, lambda x: 3 * x),
        ({"prior": np.diag([1.0, 0.0, 1.0])}, lambda x: x + np.eye(3)[1]),
        ({"prior": np.diag([1.0, 0.0, 1.0]), "loss": "hinge"}, lambda x: x + np.eye(3)[1]),
    ],
    ids=["rounding", "multiples", "a prior", "a prior and a hinge"],
)
def test_points_that_a_metric_cannot_tell_apart_are_equal(settings, move) -> None:
    """As they are in memory: also where rounding parts them, which a loss that is infinite at 0 would see."""
    pairs = SIDE.read()
    a, b = pairs.dissimilar[7]
    points = X.copy()
    points[b] = move(points[a])
    learner = MetricLearner(**GIVEN | settings)
    with pytest.warns(
        UserWarning, match="1 of [0-9]* statements ask points that are equal to lie apart"
    ):
        chunks = learner.fit(points, side=StoredPairs.of(pairs, 200)).solution_
    others = pairs.drop(np.arange(pairs.size) == len(pairs.similar) + 7)
    whole = learner.fit(points, side=others).solution_
    assert abs(chunks.primal - whole.primal) <= 2e-9 * whole.primal


@pytest.mark.parametrize("C", [0.1, None])
def test_a_limit_that_is_too_low_says_what_helps_before_all_else(C, monkeypatch) -> None:
    monkeypatch.setattr("gramlearn.methods.metric.at_scale.Sample.of", None)
    learner = MetricLearner(**GIVEN | {"C": C}, memory_limit="9 kB")
    forecast = learner.forecast(X, SIDE)
    assert str(forecast).endswith("; the limit of 9 kB is too little")
    least = re.escape(enough(forecast.least))
    with pytest.raises(
        ValueError, match=f"^`memory_limit='9 kB'` is less than the {least} that this"
    ):
        learner.fit(X, side=SIDE)


def test_a_forecast_says_what_a_limit_has_room_for() -> None:
    learner = MetricLearner(**GIVEN)
    least, most, room = learner.forecast(X, SIDE)
    assert room is None
    for limit, words in ((most, "has room for all"), (most - 1, "has room for some of them")):
        assert words in str(learner.set_params(memory_limit=limit).forecast(X, SIDE))
    assert learner.forecast(X, SIDE)[:2] == (least, most)


def test_the_least_in_a_forecast_is_the_least_that_is_taken() -> None:
    learner = MetricLearner(**GIVEN)
    least = learner.forecast(X, SIDE).least
    fewer = SIDE.in_chunks_of(50)
    assert learner.forecast(X, fewer).least < least - 1
    learner.set_params(memory_limit=least - 1)
    with pytest.raises(ValueError, match=r"pass `side\.in_chunks_of\(n\)` with fewer statements"):
        learner.fit(X, side=SIDE)
    learner.fit(X, side=fewer)
    learner.set_params(normalize=True, memory_limit=10)
    with pytest.raises(ValueError, match="`memory_limit=10` is less than the"):
        learner.fit(X, side=SIDE)


def test_chunks_become_smaller_until_a_limit_has_room_for_them(monkeypatch) -> None:
    """And no smaller: with the least there is room for, the value is the same."""
    monkeypatch.setattr("gramlearn.solvers.shards.forecast._SMALLEST", 40)
    learner = MetricLearner(**GIVEN)
    large = SIDE.in_chunks_of(5000)
    least, most, _ = learner.forecast(X, large)
    assert least == learner.forecast(X, SIDE.in_chunks_of(40)).least < most
    asked = []
    plain = StoredPairs.statements

    def counted(self, chunk):
        asked.append(self.n_chunks)
        return plain(self, chunk)

    monkeypatch.setattr(StoredPairs, "statements", counted)
    values = []
    last = SIDE.in_chunks_of(40).n_chunks
    for limit, n_chunks in (
        (2 * most, {large.n_chunks}),
        ((least + most) / 2, set(range(large.n_chunks + 1, last))),
        (least, {last}),
    ):
        asked.clear()
        learner.set_params(memory_limit=limit).fit(X, side=large)
        assert asked[-1] in n_chunks
        values.append(learner.solution_.primal)
    assert values == pytest.approx(values[:1] * 3, rel=2e-9)


def test_only_the_solve_of_all_statements_is_told_of_and_all_else_takes_of_its_time(
    monkeypatch,
) -> None:
    """Of the sample that the price was chosen by, a metric is wanted for no longer than that."""
    from gramlearn.estimators import _at_scale

    given = []

    def attempt(problem, solver, tol, max_iter, callback, start, limit, on_interrupt):
        given.append(limit)
        return solve_as_before(problem, solver, tol, max_iter, callback, start, limit, on_interrupt)

    solve_as_before = _at_scale.attempt
    monkeypatch.setattr(_at_scale, "attempt", attempt)
    steps = []
    learner = MetricLearner(
        random_state=0, time_limit=60.0, callback=lambda r: steps.append(r.iteration)
    )
    learner.fit(X, side=SIDE)
    assert steps == list(range(learner.n_iter_ + 1))
    (limit,) = given
    assert 0 < limit < 60.0 - 1e-3


def test_ctrl_c_while_a_price_is_chosen_changes_nothing(monkeypatch) -> None:
    from gramlearn.methods.choosing import learning

    learner = MetricLearner(**GIVEN).fit(X, side=SIDE)
    before = learner.components_

    def interrupted(*given) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(learning, "follow_path", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.set_params(C=None).fit(X, side=SIDE)
    assert learner.components_ is before or np.array_equal(learner.components_, before)


def test_ctrl_c_while_statements_are_read_leaves_nothing_behind(monkeypatch, tmp_path) -> None:
    def interrupted(*given) -> None:
        raise KeyboardInterrupt

    closed = []
    monkeypatch.setattr("gramlearn.methods.metric.at_scale.rows_in_memory", interrupted)
    monkeypatch.setattr(Here, "close", lambda crew: closed.append(crew))
    learner = MetricLearner(**GIVEN, checkpoint=tmp_path / "fit")
    before, threads = dict(vars(learner)), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, side=SIDE)
    assert closed
    assert vars(learner) == before
    assert threading.active_count() == threads
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:the solve was stopped by the callback")
@pytest.mark.parametrize(
    "draw",
    [
        np.random.default_rng,
        np.random.RandomState,
        np.random.PCG64,
        lambda seed: np.random.Generator(np.random.MT19937(seed)),
    ],
    ids=["Generator", "RandomState", "BitGenerator", "Generator of many words"],
)
def test_a_checkpoint_knows_what_is_drawn_from_by_its_state(draw, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("gramlearn.methods.metric.at_scale.SAMPLE", 20)
    settings = {"C": 0.1, "tol": 1e-9, "checkpoint": tmp_path / "fit"}
    once = draw(3)
    stopped = {"callback": lambda record: record.iteration == 3}
    MetricLearner(**settings, random_state=once, **stopped).fit(X, side=SIDE)
    with pytest.raises(
        ValueError, match="state of `random_state`; pass an empty folder, and `random_state` as a"
    ) as refused:
        MetricLearner(**settings, random_state=once).fit(X, side=SIDE)
    assert "numbers that follow" not in str(refused.value)
    MetricLearner(**settings, random_state=draw(3)).fit(X, side=SIDE)


def test_what_is_drawn_from_is_named_where_statements_are_drawn(tmp_path) -> None:
    """Of labels, on a cluster or of points that Dask has."""
    da = pytest.importorskip("dask.array")
    rng, y = np.random.default_rng(3), np.arange(N) % 3
    settings = GIVEN | {"checkpoint": tmp_path, "random_state": rng, "n_pairs": 100}
    points = da.from_array(X)
    MetricLearner(**settings).fit(points, y)
    with pytest.raises(ValueError, match="had other statements, state of `random_state`; pass"):
        MetricLearner(**settings).fit(points, y)


def test_all_points_in_host_memory_tell_a_checkpoint(tmp_path) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    points = rng.standard_normal((3000, 2))
    crew = Here()
    other = points.copy()
    other[1] += 1.0
    known = digest_of_points(points, crew)
    assert digest_of_points(torch.asarray(points), crew) == known
    assert digest_of_points(torch.asarray(other), crew) != known


@pytest.mark.parametrize(
    "size", [1, 999, 1000, 1001, 111_499, 999_500, 1.005e9, 1_380_000_000, 4e12]
)
def test_a_size_in_words_is_no_less_where_it_is_to_be_enough(size) -> None:
    """And is the least of three digits that is enough."""
    up = read_limit(enough(size))
    assert size <= up <= 1.01 * size
    assert read_limit(enough(up)) == up
    assert abs(read_limit(in_words(size)) - size) <= 0.005 * size


def test_a_refusal_quotes_a_limit_that_is_taken() -> None:
    for least in (111_499, 1_000_001):
        for given in (None, "9 kB"):
            forecast = Forecast(least, 10 * least, 9000.0)
            with pytest.raises(ValueError, match="is less than the") as refused:
                forecast.check(given, "half of the memory that is free")
            found = re.search("less than the (.*) that", str(refused.value))
            Forecast(least, 10 * least, read_limit(found[1])).check(found[1], "")


def test_what_there_is_without_a_limit_is_called_by_its_name(monkeypatch) -> None:
    monkeypatch.setattr("gramlearn._base.workers.available_memory", lambda: 20_000.0)
    with pytest.raises(
        ValueError, match=r"^half of the memory that is free \(10 kB\) is less than"
    ):
        MetricLearner(**GIVEN).fit(X, side=SIDE)


def test_a_place_refuses_as_a_forecast_does() -> None:
    needed = Needed(10_000, 1234, 0, 0, 0)
    with pytest.raises(ValueError, match=r"that is left \(0 B\) is less than the 11\.3 kB that"):
        needed.kept(-5.0)
    assert needed.kept(11_300) == 66


@pytest.mark.filterwarnings("ignore:all .* statements hold under the prior")
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"C": 1.0}, "`C`"),
        ({"loss": "hard"}, "`loss`"),
        ({"loss": SquaredHinge(1.0)}, "`loss`"),
        ({"C": 1.0, "basis": "class_means"}, "`C` and `basis`"),
        ({"basis": "class_means"}, "`basis`"),
    ],
    ids=["C", "hard", "an object", "both", "basis"],
)
def test_what_kept_a_price_from_being_chosen_is_named(settings, named) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    points = rng.standard_normal((20, 3)) + 10 * y[:, None]
    learner = MetricLearner(**settings, n_pairs=40, bounds=(60.0, 100.0), random_state=0)
    learner.fit(points, y)
    with pytest.raises(AttributeError, match=f"chose none; fit without {named} to have it chosen"):
        _ = learner.verdict_
    learner.set_params(C=None, loss=None, basis="svd")
    with pytest.raises(AttributeError, match="chose none; fit again to have it chosen"):
        _ = learner.verdict_
