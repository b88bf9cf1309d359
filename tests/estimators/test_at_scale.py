"""A metric of statements that are read in chunks is the metric of the same statements in memory."""

import pickle
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import gramlearn
from gramlearn import MetricLearner, Status
from gramlearn.problem.status import SolveInterrupted
from gramlearn.side_information import Bounds, Pairs, Triplets
from gramlearn.side_information.stored_pairs import StoredPairs
from gramlearn.side_information.stored_triplets import StoredTriplets
from gramlearn.solvers import PrimalNewton

rng = np.random.default_rng(0)
N, D = 150, 4
X = rng.standard_normal((N, D)) * [1.0, 2.0, 0.5, 1.0]
y = (X[:, 0] + 0.2 * rng.standard_normal(N) > 0).astype(int)
i = np.concatenate([np.arange(N), rng.integers(0, N, 1850)])  # every point is in some pair
j = (i + rng.integers(1, N, len(i))) % N
ALIKE = y[i] == y[j]
PAIRS = Pairs(np.c_[i, j][ALIKE], np.c_[i, j][~ALIKE], n_points=N)
k = (j + 1 + rng.integers(0, 3, len(i))) % N
TABLE = np.c_[i, j, k][(k != i) & (k != j)]
NEARER = np.abs(X[TABLE[:, 0], 0] - X[TABLE[:, 1], 0]) < np.abs(
    X[TABLE[:, 0], 0] - X[TABLE[:, 2], 0]
)
TRIPLETS = Triplets(np.where(NEARER[:, None], TABLE, TABLE[:, [0, 2, 1]]), n_points=N)
STORED = StoredPairs.of(PAIRS, 500)
BOUNDS = (2.0, 8.0)


def value(learner: MetricLearner) -> float:
    assert learner.solution_.status is Status.OPTIMAL
    return learner.solution_.primal


@pytest.mark.parametrize(
    "settings",
    [
        {"C": 0.1},
        {"C": 0.1, "bounds": BOUNDS, "prior": "inverse_within"},
        {"C": 0.1, "bounds": BOUNDS, "prior": "inverse_covariance", "regularizer": "von_neumann"},
        {"C": 0.1, "bounds": BOUNDS, "prior": np.diag([1.0, 2.0, 0.0, 1.0])},
        {
            "C": 0.1,
            "bounds": BOUNDS,
            "prior": np.diag([1.0, 2.0, 0.0, 1.0]),
            "regularizer": "frobenius",
        },
        {"C": 0.01, "bounds": BOUNDS, "loss": "squared_hinge", "regularizer": "frobenius"},
        {"C": 0.1, "bounds": (0.5, 1.0), "loss": "hinge", "normalize": True},
        {"C": 0.1, "bounds": BOUNDS, "n_components": 2},
    ],
    ids=str,
)
def test_pairs_in_chunks_give_the_metric_of_pairs_in_memory(settings) -> None:
    learner = MetricLearner(**settings, tol=1e-9, random_state=0)
    whole, chunks = clone(learner).fit(X, side=PAIRS), clone(learner).fit(X, side=STORED)
    assert abs(value(chunks) - value(whole)) <= 2e-9 * value(whole)
    assert chunks.components_ == pytest.approx(whole.components_, abs=1e-3)
    assert chunks.transform(X).shape == whole.transform(X).shape
    assert chunks.threshold_ == pytest.approx(whole.threshold_, rel=1e-3)
    assert chunks.bounds_ == pytest.approx(whole.bounds_)
    assert chunks.columns_share_ == pytest.approx(whole.columns_share_, abs=1e-4)
    importances = whole.feature_importances_
    assert chunks.feature_importances_ == pytest.approx(importances, abs=1e-3)
    assert chunks.score(X, side=STORED) == pytest.approx(whole.score(X, side=PAIRS), abs=2e-3)
    assert (chunks.predict((X[i], X[j])) == whole.predict((X[i], X[j]))).mean() > 0.99


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_so_do_triplets(loss) -> None:
    learner = MetricLearner(loss=loss, C=0.05, tol=1e-9, random_state=0)
    whole = clone(learner).fit(X, side=TRIPLETS)
    chunks = clone(learner).fit(X, side=StoredTriplets.of(TRIPLETS, 400))
    assert abs(value(chunks) - value(whole)) <= 2e-9 * value(whole)


def test_from_a_file_over_a_memory_map_within_a_limit(tmp_path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(
        pyarrow.table({"i": i, "j": j, "alike": ALIKE}),
        tmp_path / "pairs.parquet",
        row_group_size=300,
    )
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    side = Pairs.from_parquet(tmp_path / "pairs.parquet", n_points=N)
    whole = MetricLearner(C=0.1, bounds=BOUNDS, tol=1e-9).fit(X, side=PAIRS)
    forecast = whole.forecast(mapped, side)
    assert 0 < forecast.least < forecast.most
    for limit in (None, "1GB", forecast.least + 100):
        learner = MetricLearner(C=0.1, bounds=BOUNDS, tol=1e-9, memory_limit=limit)
        learner.fit(mapped, side=side)
        # Listed once or twice, a pair counts as often.
        assert abs(value(learner) - value(whole)) <= 2e-9 * value(whole)
    with pytest.raises(ValueError, match="`memory_limit='1kB'` is less than the"):
        learner.set_params(memory_limit="1kB").fit(mapped, side=side)
    assert learner.learned_from_["kind"] == "StoredPairs"
    assert learner.learned_from_["count"] == len(i)


def test_what_was_learned_holds_on_to_no_statements() -> None:
    learner = MetricLearner(C=0.1, bounds=BOUNDS).fit(X, side=STORED)
    many = Pairs(np.tile(PAIRS.similar, (1, 1)), PAIRS.dissimilar, n_points=N)
    assert len(pickle.dumps(learner)) < len(pickle.dumps(many)) / 2
    assert learner.solution_.problem.pool.size == 0


def test_it_can_be_saved(tmp_path) -> None:
    learner = MetricLearner(C=0.1, bounds=BOUNDS).fit(X, side=STORED)
    learner.save(tmp_path / "model.gram")
    again = gramlearn.load(tmp_path / "model.gram")
    assert again.transform(X) == pytest.approx(learner.transform(X), abs=1e-12)


def test_a_price_is_chosen_by_a_sample(monkeypatch) -> None:
    """With a quarter of the statements, the price of each in the end is a quarter, and the metric no worse."""
    monkeypatch.setattr("gramlearn.methods.metric.at_scale.SAMPLE", 500)
    learner = MetricLearner(random_state=0).fit(X, side=STORED)
    assert "helps" in learner.verdict_
    assert learner.strength_ > 0
    assert learner.solution_.relative_gap <= 1e-6
    sample = MetricLearner(random_state=0, bounds=learner.bounds_)
    sample.fit(X, side=STORED.sample(500, np.random.default_rng(0)))
    assert pytest.approx(sample.C_ * 500 / len(i), rel=0.5) == learner.C_
    plain = MetricLearner(C=1e-9, bounds=BOUNDS).fit(X, side=STORED)
    assert learner.score(X, side=STORED) > plain.score(X, side=STORED) + 0.05


def test_the_margin_of_triplets_is_chosen_with_it() -> None:
    learner = MetricLearner(random_state=0).fit(X, side=StoredTriplets.of(TRIPLETS, 400))
    assert "helps" in learner.verdict_
    far = MetricLearner(random_state=0).fit(100 * X, side=StoredTriplets.of(TRIPLETS, 400))
    assert far.components_ == pytest.approx(learner.components_, rel=1e-3, abs=1e-4)


def test_where_nothing_helps_the_plain_distance_stays() -> None:
    some = np.unique(np.sort(np.c_[i, j], axis=1), axis=0)
    shuffled = np.random.default_rng(1).uniform(size=len(some)) < 0.5
    noise = Pairs(some[shuffled], some[~shuffled], n_points=N)
    with pytest.warns(UserWarning, match="plain distance"):
        learner = MetricLearner(random_state=0).fit(X, side=StoredPairs.of(noise, 500))
    assert learner.C_ is None
    assert learner.components_ == pytest.approx(np.eye(D))


@pytest.mark.parametrize("name", ["memory_limit", "checkpoint"])
def test_what_takes_no_part_in_memory_is_said(name, tmp_path) -> None:
    given = {"memory_limit": "4GB", "checkpoint": tmp_path / "fit"}[name]
    learner = MetricLearner(C=0.1, bounds=BOUNDS, **{name: given})
    with pytest.warns(UserWarning, match=f"`{name}` is for statements in files and on clusters"):
        learner.fit(X, side=PAIRS)
    assert not (tmp_path / "fit").exists()


def test_equal_points_that_are_to_lie_apart_take_no_part() -> None:
    twice = X.copy()
    a, b = PAIRS.dissimilar[7]
    twice[b] = twice[a]
    learner = MetricLearner(C=0.1, bounds=BOUNDS, tol=1e-9)
    with pytest.warns(
        UserWarning, match="ask points that are equal to lie apart, such as the dissim"
    ):
        chunks = clone(learner).fit(twice, side=STORED)
    with pytest.warns(UserWarning, match="ask points that are equal to lie apart"):
        whole = clone(learner).fit(twice, side=PAIRS)
    assert abs(value(chunks) - value(whole)) <= 2e-9 * value(whole)
    apart = StoredPairs.of(Pairs(dissimilar=[[a, b]], n_points=N))
    with pytest.raises(ValueError, match="all statements ask points that are equal to lie apart"):
        learner.fit(twice, side=apart)


@pytest.mark.filterwarnings("ignore:the solve was stopped by the callback")
def test_a_fit_goes_on_from_its_checkpoint(tmp_path) -> None:
    settings = {"loss": "hinge", "C": 0.1, "tol": 1e-9, "checkpoint": tmp_path / "fit"}
    MetricLearner(**settings, callback=lambda record: record.iteration == 9).fit(X, side=STORED)
    learner = MetricLearner(**settings).fit(X, side=STORED)
    whole = MetricLearner(**settings | {"checkpoint": tmp_path / "b"}, bounds=learner.bounds_)
    whole.fit(X, side=STORED)
    assert abs(value(learner) - value(whole)) <= 2e-9 * value(whole)
    assert learner.n_iter_ <= whole.n_iter_
    for changed in ({"C": 0.2}, {"prior": "inverse_covariance"}, {"regularizer": "von_neumann"}):
        (name,) = changed
        with pytest.raises(ValueError, match=f"another fit has reached, which had other {name};"):
            MetricLearner(**settings | changed).fit(X, side=STORED)
    other = X.copy()
    other[-1, -1] = np.nextafter(other[-1, -1], 9.0)
    with pytest.raises(ValueError, match="another fit has reached, which had other X;"):
        MetricLearner(**settings).fit(other, side=STORED)
    fewer = StoredPairs.of(Pairs(PAIRS.similar[1:], PAIRS.dissimilar, n_points=N), 500)
    with pytest.raises(ValueError, match="another fit has reached, which had other statements;"):
        MetricLearner(**settings).fit(X, side=fewer)


def test_a_fit_that_is_refused_leaves_no_checkpoint(tmp_path) -> None:
    for refused in ({"rank": 2}, {"memory_limit": "1kB"}, {"n_components": 9}):
        (name,) = refused
        learner = MetricLearner(C=0.1, checkpoint=tmp_path / "new" / "fit", **refused)
        with pytest.raises(ValueError, match=name):
            learner.fit(X, side=STORED)
        assert not (tmp_path / "new").exists()


KILLED = """
    import os, signal, sys
    import numpy as np
    from gramlearn import MetricLearner
    from gramlearn.side_information import Pairs

    folder, last = sys.argv[1], int(sys.argv[2])

    def kill(record):
        print(record.iteration, flush=True)
        if record.iteration == last:
            os.kill(os.getpid(), signal.SIGKILL)

    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3))
    pairs = Pairs.from_npy(folder + "/near.npy", folder + "/far.npy", n_points=100)
    learner = MetricLearner(loss="hinge", C=0.1, tol=1e-9, checkpoint=folder + "/fit", callback=kill)
    print(repr(learner.fit(X, side=pairs).solution_.primal))
    if last < 0:
        os.rename(folder + "/fit/checkpoint.safetensors", folder + "/kept")
        for _ in range(2):
            print(repr(learner.fit(X, side=pairs).solution_.primal))
"""


def test_kill_9_costs_no_step(tmp_path) -> None:
    table = np.random.default_rng(1).permuted(np.tile(np.arange(100), (600, 1)), axis=1)[:, :2]
    np.save(tmp_path / "near.npy", table[:300])
    np.save(tmp_path / "far.npy", table[300:])

    def run(last: int) -> tuple[int, list[str]]:
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), str(last)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode, done.stdout.split()

    code, before = run(12)
    assert code == -signal.SIGKILL
    code, printed = run(-1)
    assert code == 0
    ends = [k for k, word in enumerate(printed) if "." in word]
    values = [float(printed[k]) for k in ends]
    after, whole = ends[0], ends[1] - ends[0] - 1
    assert values[0] > 0
    assert abs(values[1] - values[2]) <= 1e-6
    assert len(before) + after <= whole + 8


def test_ctrl_c_leaves_the_answer_so_far() -> None:
    def interrupt(record) -> None:
        if record.iteration == 6:
            raise KeyboardInterrupt

    learner = MetricLearner(loss="hinge", C=0.1, bounds=BOUNDS, callback=interrupt)
    with pytest.raises(SolveInterrupted):
        learner.fit(X, side=STORED)
    assert learner.transform(X).shape == X.shape
    assert learner.solution_.problem.pool.size == 0


@pytest.mark.parametrize("loss", ["slack", "hinge", "squared_hinge"])
def test_a_warm_start_finds_the_same_sooner(loss) -> None:
    learner = MetricLearner(loss=loss, C=0.1, bounds=BOUNDS, warm_start=True, tol=1e-9)
    first = value(learner.fit(X, side=STORED))
    steps = learner.n_iter_
    assert abs(value(learner.fit(X, side=STORED)) - first) <= 2e-9 * first
    assert learner.n_iter_ < steps


def test_a_time_limit_is_kept() -> None:
    with pytest.warns(UserWarning, match="time_limit"):
        MetricLearner(loss="hinge", C=0.1, bounds=BOUNDS, tol=1e-12, time_limit=0.05).fit(
            X, side=STORED
        )


def test_where_all_hold_already_it_says_so() -> None:
    side = StoredPairs.of(Pairs([[0, 1]], n_points=N, upper=1e6))
    with pytest.warns(UserWarning, match="all statements hold under the prior already"):
        MetricLearner(C=1.0, loss="squared_hinge").fit(X, side=side)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"shape": "diagonal"}, 'shape="diagonal"'),
        ({"rank": 2}, "`rank` is for statements in memory"),
        ({"basis": "means", "rank": 2}, "is for statements in memory"),
        ({"regularize": "kernel", "regularizer": "frobenius"}, "is for statements in memory"),
        ({"solver": "working_set"}, "`solver='working_set'` needs all statements in memory"),
        ({"loss": "hard"}, "`loss='hard'` makes all statements hold, and needs them in memory"),
        ({"memory_limit": "much"}, "`memory_limit` must be a number of bytes"),
        ({"n_components": 9}, "n_components=9"),
    ],
    ids=str,
)
def test_what_needs_statements_in_memory_says_so(settings, words) -> None:
    learner = MetricLearner(C=0.1, bounds=BOUNDS).fit(X, side=STORED)
    before = learner.components_
    with pytest.raises(ValueError, match=words):
        learner.set_params(**settings).fit(X, side=STORED)
    learner.set_params(**{name: MetricLearner().get_params()[name] for name in settings})
    assert np.array_equal(learner.components_, before)


def test_other_input_is_refused() -> None:
    learner = MetricLearner(C=0.1, bounds=BOUNDS)
    with pytest.raises(TypeError, match="`X` must be a dense table"):
        learner.fit(csr_array(X), side=STORED)
    with pytest.raises(ValueError, match="n_points=150 but received 149 rows"):
        learner.fit(X[1:], side=STORED)
    wrong = X.copy()
    wrong[77, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        learner.fit(wrong, side=STORED)
    learner.fit(X, side=STORED)
    with pytest.raises(TypeError, match="`partial_fit` goes on from statements in memory"):
        learner.partial_fit(X, side=PAIRS)
    with pytest.raises(TypeError, match=r"`client` must be a distributed\.Client; got int"):
        learner.fit(X, side=PAIRS, client=5)
    bounds = Bounds([0], [1], lower=1.0, n_points=N)
    with pytest.raises(TypeError, match="`side` holds Bounds"):
        learner.fit(X, side=bounds, client=object())


def test_a_fit_in_memory_may_follow() -> None:
    learner = MetricLearner(C=0.1, bounds=BOUNDS).fit(X, side=STORED).fit(X, side=PAIRS)
    assert learner.partial_fit(X, side=PAIRS).learned_from_["kind"] == "Pairs"


def interrupting(at: int):
    def interrupt(record) -> None:
        if record.iteration == at:
            raise KeyboardInterrupt

    return interrupt


def test_ctrl_c_says_at_once_what_goes_on_and_where_to_go_on_from(tmp_path, capsys) -> None:
    learner = MetricLearner(
        loss="hinge", C=0.1, bounds=BOUNDS, checkpoint=tmp_path / "fit", callback=interrupting(6)
    )
    with pytest.raises(SolveInterrupted) as stop:
        learner.fit(X, side=STORED)
    told = capsys.readouterr().err
    assert "makes a certificate" in told
    assert "Ctrl-C again ends at once, without one" in told
    advice = (
        f"call fit again with the same arguments to go on from `checkpoint='{tmp_path / 'fit'}'`"
    )
    assert advice in told
    assert advice in str(stop.value)
    assert str(pickle.loads(pickle.dumps(stop.value))) == str(stop.value)
    again = learner.set_params(callback=None).fit(X, side=STORED)
    assert again.solution_.status is Status.OPTIMAL


@pytest.mark.parametrize("at", [0, 6])
def test_a_second_ctrl_c_ends_at_once_and_says_of_no_gap(at, tmp_path, monkeypatch) -> None:
    from gramlearn.solvers.shards import Recovering

    def impatient(*args) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Recovering, "settle", impatient)
    learner = MetricLearner(
        loss="hinge", C=0.1, bounds=BOUNDS, checkpoint=tmp_path / "fit", callback=interrupting(at)
    )
    with pytest.raises(SolveInterrupted, match="interrupted before it had a certificate") as stop:
        learner.fit(X, side=STORED)
    assert "inf" not in str(stop.value)
    assert "this exception is the prior, or not known to be better" in str(stop.value)
    assert "the answer so far" not in str(stop.value)
    assert str(pickle.loads(pickle.dumps(stop.value))) == str(stop.value)
    assert (str(tmp_path / "fit") in str(stop.value)) is (at > 0)  # once something was reached
    assert not hasattr(learner, "solution_")


@pytest.mark.parametrize("loss", ["slack", "hinge", "squared_hinge"])
@pytest.mark.parametrize("regularizer", ["logdet", "von_neumann", "frobenius"])
def test_a_callback_sees_a_finite_gap_from_the_first_step_on(regularizer, loss) -> None:
    """And one that bounds the distance from the optimum, once all statements were looked at."""
    records = []
    learner = MetricLearner(
        regularizer, loss=loss, C=0.1, bounds=BOUNDS, tol=1e-9, solver=PrimalNewton(sample=100)
    )
    learner.set_params(callback=records.append).fit(X, side=STORED)
    optimum = learner.solution_.primal
    gaps = [record.certificate.relative_gap for record in records]
    assert max(gaps) <= 1.0
    assert gaps[-1] <= 1e-9
    for record in records:
        certificate = record.certificate
        rounding = 1e-14 * certificate.primal
        assert certificate.primal - certificate.dual <= certificate.gap + rounding
        if not record.details["is_estimate"]:
            assert certificate.dual <= optimum * (1 + 1e-9)


def test_a_verdict_is_there_where_a_price_was_chosen_and_else_says_why_not() -> None:
    learner = MetricLearner(C=0.1, bounds=BOUNDS)
    assert not hasattr(learner, "verdict_")
    learner.fit(X, side=STORED)
    assert not hasattr(learner, "verdict_")
    with pytest.raises(AttributeError, match="`verdict_` judges a price that was chosen, and this"):
        _ = learner.verdict_
