"""A metric learned by the workers of a Dask cluster is that of one machine, also where one is killed."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from gramlearn import MetricLearner, Status
from gramlearn._base.workers.in_dask import aligned
from gramlearn._base.workers.on_dask import OnDask
from gramlearn.side_information import Pairs

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.xdist_group("cluster")  # one cluster for all

rng = np.random.default_rng(0)
N, D, SIZE = 300, 4, 4000
X = rng.standard_normal((N, D)) * [1.0, 2.0, 0.5, 1.0]
BLOCKS = da.from_array(X, chunks=(100, 3))
i, j = np.array(np.triu_indices(N, 1))[:, rng.permutation(N * (N - 1) // 2)[:SIZE]]
ALIKE = np.abs(X[i, 0] - X[j, 0]) < 0.5
LEARNER = {"loss": "squared_hinge", "C": 0.01, "bounds": (2.0, 8.0), "tol": 1e-9, "random_state": 0}


@pytest.fixture(scope="module")
def side(tmp_path_factory):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    path = tmp_path_factory.mktemp("cluster") / "pairs.parquet"
    # Chunks are at least so many rows that a few of them are one: four files make four.
    path.mkdir()
    for part in range(4):
        rows = slice(part * SIZE // 4, (part + 1) * SIZE // 4)
        table = pyarrow.table({"i": i[rows], "j": j[rows], "alike": ALIKE[rows]})
        write_table(table, path / f"{part}.parquet")
    stored = Pairs.from_parquet(path, n_points=N)
    object.__setattr__(stored.columns, "chunk_rows", SIZE // 4)
    assert stored.n_chunks == 4
    return stored


@pytest.fixture(scope="module")
def whole(side):
    learner = MetricLearner(**LEARNER).fit(X, side=side)
    assert learner.solution_.status is Status.OPTIMAL
    return learner


@pytest.fixture(scope="module")
def client():
    import dask

    settings = {"distributed.worker.daemon": False, "distributed.logging.distributed": "critical"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def of_so_many(client, count: int) -> None:
    """Also in the place of processes that their nannies have given up."""
    client.cluster.scale(count)
    client.wait_for_workers(count, timeout=90)


def test_points_begin_at_full_words_wherever_they_came_from():
    off = np.frombuffer(b"\0" + X.tobytes(), offset=1).reshape(X.shape)
    assert not off.flags.aligned
    assert aligned(off).flags.aligned
    np.testing.assert_array_equal(aligned(off), X)
    assert aligned(X) is X


def test_a_worker_scans_with_the_threads_of_its_process(client):
    class Counting:
        def __init__(self, parts, shared, memory):
            pass

        def threads(self):
            from gramlearn._base.threads import threads_of_scan

            return threads_of_scan(64)

        def close(self):
            pass

    with OnDask(client) as crew:
        crew.place(Counting, [1], X)
        assert crew.map("threads") == [1]


def check_same(learner: MetricLearner, whole: MetricLearner) -> None:
    solution = learner.solution_
    assert solution.status is Status.OPTIMAL
    assert solution.relative_gap <= 1e-9
    assert abs(solution.primal - whole.solution_.primal) <= 1e-9 * whole.solution_.primal


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_value_and_certificate_of_one_machine(client, side, whole, count: int) -> None:
    of_so_many(client, count)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as those about large graphs
        for points, given in ((X, client), (BLOCKS, None)):
            learner = MetricLearner(**LEARNER).fit(points, side=side, client=given)
            check_same(learner, whole)
            assert learner.bytes_moved_ > 0
    spilled = client.run(lambda dask_worker: getattr(dask_worker.data, "spilled_total", None))
    assert all(not any(total or ()) for total in spilled.values())
    deadline = time.monotonic() + 10
    while sum(client.run(_count_workers).values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sum(client.run(_count_workers).values()) == 0  # nothing is left there


def _count_workers() -> int:
    from gramlearn._base.workers.posts import POSTS

    return len(POSTS)


def test_pairs_in_memory_travel_once(client, whole) -> None:
    pairs = Pairs(np.c_[i, j][ALIKE], np.c_[i, j][~ALIKE], n_points=N)
    check_same(MetricLearner(**LEARNER).fit(X, side=pairs, client=client), whole)


def test_pairs_drawn_from_labels_choose_as_in_memory(client) -> None:
    """They are of all classes, so that no share of the prior is kept for others."""
    y = (X[:, 0] > 0) + 2 * (X[:, 3] > 0.3)
    learner = MetricLearner(n_pairs=800, random_state=0)
    chosen = [clone(learner).fit(X, y, **there) for there in ({}, {"client": client})]
    assert len({(fit.prior_share_, fit.statements_, fit.prior_) for fit in chosen}) == 1


def test_what_moves_does_not_depend_on_how_many_pairs_there_are(client, tmp_path) -> None:
    moved = []
    for size in (1000, 4000):
        np.save(tmp_path / f"{size}.npy", np.c_[i, j][ALIKE][:size])
        pairs = Pairs.from_npy(tmp_path / f"{size}.npy", n_points=N)
        learner = MetricLearner(**LEARNER | {"C": 0.01 * 1000 / size}).fit(
            X, side=pairs, client=client
        )
        moved.append(learner.bytes_moved_ / learner.n_iter_)
    assert moved[1] <= 2 * moved[0]


def test_two_fits_at_once_both_end(client, side, whole) -> None:
    found = {}

    def fit(name: str) -> None:
        learner = MetricLearner(**LEARNER, memory_limit="200MB")
        found[name] = learner.fit(X, side=side, client=client)

    threads = [threading.Thread(target=fit, args=(name,)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    for name in ("one", "other"):
        check_same(found[name], whole)


def test_a_fit_may_be_a_task_of_a_process_with_one_thread(client, side, whole) -> None:
    """It asks that process, too, which would wait for itself."""
    of_so_many(client, 1)

    def fit(seceded: bool) -> MetricLearner:
        from distributed import get_client, rejoin, secede

        if seceded:
            secede()
        learner = MetricLearner(**LEARNER).fit(X, side=side, client=get_client())
        if seceded:
            rejoin()
        return learner

    for seceded in (False, True, False):
        check_same(client.submit(fit, seceded, pure=False).result(timeout=60), whole)


def test_a_task_comes_back_from_a_fit_however_that_ends(client, side) -> None:
    """Else its process runs more tasks than it has threads."""

    def fit() -> list[bool]:
        from distributed import get_client
        from distributed.threadpoolexecutor import thread_state

        ends = []
        lazy = da.from_array(np.arange(N) % 2, chunks=N)
        settings = LEARNER | {"n_pairs": 100}
        for given, y, pairs in (({"memory_limit": 1000}, None, side), ({}, lazy, None)):
            try:
                MetricLearner(**settings | given).fit(X, y, side=pairs, client=get_client())
            except ValueError:
                ends.append(thread_state.proceed)
            else:
                ends.append(thread_state.proceed)
        return ends

    of_so_many(client, 1)
    assert client.submit(fit, pure=False).result(timeout=60) == [True, True]


def test_an_error_of_workers_is_told_once(client, monkeypatch) -> None:
    """Each process would write that of a task to its log, however often it came."""
    of_so_many(client, 2)
    futures = []
    submit = OnDask._submit

    def kept(self, *args):
        futures.append(submit(self, *args))
        return futures[-1]

    monkeypatch.setattr(OnDask, "_submit", kept)
    with pytest.raises(ValueError, match=r"^no points$"):
        OnDask(client).place(_Refusing, [1, 1], X)
    with OnDask(client) as crew:
        crew.place(_Odd, [1, 1], X)
        for question, error in (("late", "its own"), ("local", "OfNobodyElseError: 7")):
            with pytest.raises((TimeoutError, RuntimeError), match=error):
                crew.map("answer", question)
            with pytest.raises((TimeoutError, RuntimeError), match=error):
                crew.reduce(lambda one, other: one, "answer", question)
    distributed.wait(futures, timeout=10)
    assert {future.status for future in futures} == {"finished"}


class _Refusing:
    def __init__(self, *given) -> None:
        raise ValueError("no points")


def test_what_was_learned_is_lazy_on_arrays_of_dask(client, whole) -> None:
    first, other = BLOCKS, BLOCKS[::-1]
    lazy = [
        (whole.transform(first), whole.transform(X)),
        (whole.pair_distance((first, other)), whole.pair_distance((X, X[::-1]))),
        (whole.pair_distance(da.stack([first, other], axis=1)), whole.pair_distance((X, X[::-1]))),
        (whole.predict((first, other)), whole.predict((X, X[::-1]))),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found, expected in lazy:
            assert hasattr(found, "__dask_graph__")
            assert found.shape == expected.shape
            assert found.compute() == pytest.approx(expected, abs=1e-12)
            assert found.compute().dtype == found.dtype == expected.dtype


def test_what_was_learned_is_in_a_graph_once() -> None:
    """It may be large, and blocks many."""
    import cloudpickle
    import dask

    points = np.random.default_rng(0).standard_normal((60, 50))
    pairs = Pairs([[k, k + 1] for k in range(59)], n_points=60)
    wide = MetricLearner(C=0.1).fit(points, side=pairs)
    (lazy,) = dask.optimize(wide.transform(da.ones((300, 50), chunks=(3, 50))))
    tasks = list(dict(lazy.__dask_graph__()).values())
    assert len(tasks) >= 100
    assert sum(len(cloudpickle.dumps(task)) > wide.components_.nbytes / 2 for task in tasks) == 1
    assert all(repr(task) for task in tasks)  # which Dask writes to its logs


def test_a_killed_worker_costs_the_reload_of_its_chunks(client, side, whole) -> None:
    of_so_many(client, 2)
    killed = []

    def kill(record) -> None:
        if record.iteration == 3 and not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    learner = MetricLearner(**LEARNER, callback=kill).fit(X, side=side, client=client)
    assert killed
    check_same(learner, whole)


def test_a_cluster_that_shrinks_costs_no_more(client, side, whole) -> None:
    """Its workers go while they are asked, and do not come back."""
    from gramlearn._base.workers import on_dask

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_dask, "_PATIENCE", 0.5)
        of_so_many(client, 3)
        client.cluster.scale(1)
        check_same(MetricLearner(**LEARNER).fit(X, side=side, client=client), whole)
    of_so_many(client, 2)


def test_workers_that_never_last_cost_a_sentence(client, side, monkeypatch) -> None:
    from gramlearn._base.workers import on_dask

    monkeypatch.setattr(on_dask, "_MOST_LOST", 2)
    with (
        on_dask.OnDask(client) as crew,
        pytest.raises(MemoryError, match="were lost 2 times before they gave an answer"),
    ):
        crew.place(_Fatal(), [1, 1], X)
    of_so_many(client, 2)


def test_a_question_that_ends_workers_each_time_costs_a_sentence(client, monkeypatch) -> None:
    """Though they are made anew and answer others in between."""
    from gramlearn._base.workers import PartsLostError, on_dask

    monkeypatch.setattr(on_dask, "_MOST_LOST", 2)
    with on_dask.OnDask(client) as crew:
        crew.place(_Odd, [1], X)
        with pytest.raises(PartsLostError):
            crew.map("answer", "end")
        assert 1 in crew.map("answer", "one")
        with pytest.raises(MemoryError, match="were lost 2 times before they gave an answer"):
            crew.map("answer", "end")


def test_an_answer_may_take_long_to_travel_and_an_error_may_be_one_of_time(
    client, monkeypatch
) -> None:
    from gramlearn._base.workers import on_dask

    with on_dask.OnDask(client) as crew:
        crew.place(_Odd, [1], X)
        monkeypatch.setattr(on_dask, "_LOOK", 1e-4)
        assert crew.map("answer", "large")[0].nbytes == 8_000_000
        with pytest.raises(TimeoutError, match="its own"):
            crew.map("answer", "late")


class _Odd:
    """A worker with a way of its own to answer each question."""

    def __init__(self, *given) -> None:
        pass

    def answer(self, question: str):
        if question == "end":
            from gramlearn._base.workers import posts

            raise posts.VacantError  # as where the process was started anew
        if question == "late":
            raise TimeoutError("its own")
        if question == "local":

            class OfNobodyElseError(Exception):
                pass

            raise OfNobodyElseError(7)
        return np.zeros(1_000_000) if question == "large" else 1

    def close(self) -> None:
        pass


def test_arrays_that_another_client_keeps_are_computed_by_that_one(
    client, side, whole, monkeypatch
) -> None:
    """Also where Dask knows of no client, as in a thread of its own."""
    with distributed.Client(client.cluster, set_as_default=False) as other:
        kept = other.persist(BLOCKS)
        learner, found = MetricLearner(**LEARNER), []

        def fit() -> None:
            found.append(learner.fit(kept, side=side, client=other))

        monkeypatch.setattr("distributed.client._global_clients", {})
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join(timeout=60)
    check_same(found[0], whole)


def test_a_client_that_closes_during_a_fit_costs_a_sentence(client, side) -> None:
    with distributed.Client(client.cluster, set_as_default=False) as other:

        def close(record) -> None:
            if record.iteration == 2:
                other.close()

        with pytest.raises(ValueError, match="`client` is closed; pass a distributed"):
            MetricLearner(**LEARNER, callback=close).fit(X, side=side, client=other)


def test_a_client_that_does_not_wait_is_refused(client, side) -> None:
    import asyncio

    async def fit() -> None:
        async with distributed.Client(client.cluster.scheduler_address, asynchronous=True) as other:
            with pytest.raises(TypeError, match="`client` is asynchronous, and a fit waits"):
                MetricLearner(**LEARNER).fit(X, side=side, client=other)

    asyncio.run(fit())


def test_arrays_of_dask_of_another_shape_are_refused(whole) -> None:
    with pytest.raises(ValueError, match="`pairs` has sides of 300 and 200 rows"):
        whole.pair_distance((BLOCKS, BLOCKS[:200]))
    with pytest.raises(ValueError, match="`X` must be two-dimensional"):
        whole.transform(BLOCKS[:, 0])
    frame = pytest.importorskip("dask.dataframe").from_dask_array(BLOCKS.rechunk((100, -1)))
    with pytest.raises(TypeError, match=r"a data frame of Dask; pass X\.to_dask_array"):
        MetricLearner(**LEARNER).fit(frame, side=Pairs([[0, 1]], n_points=N), client=5)


class _Fatal:
    """Makes no worker, and ends the process."""

    def __call__(self, *given) -> None:
        os._exit(1)


def test_a_worker_that_leaves_too_little_memory_costs_a_sentence(client, side, monkeypatch) -> None:
    """Nobody takes its place, and the others have no room for its chunks."""
    from gramlearn._base.workers import on_dask

    of_so_many(client, 2)
    monkeypatch.setattr(on_dask, "_PATIENCE", 0.0)
    lost = []

    def lose(record) -> None:
        if record.iteration == 2:
            lost.append(sorted(client.scheduler_info(n_workers=-1)["workers"])[0])
            client.retire_workers(lost[-1:], close_workers=True)
            monkeypatch.setattr(on_dask, "_USABLE", 1e-4)

    with pytest.raises(
        ValueError, match=r"the memory that is left \(.*\) is less than the .*; add"
    ):
        MetricLearner(**LEARNER, callback=lose).fit(X, side=side, client=client)
    assert lost


def test_a_closed_client_is_refused(client, side) -> None:
    with distributed.Client(client.cluster, set_as_default=False) as other:
        pass
    with pytest.raises(ValueError, match=r"`client` is closed; pass a distributed\.Client that is"):
        MetricLearner(**LEARNER).fit(X, side=side, client=other)


def test_what_is_wrong_with_a_file_is_said_by_the_worker_that_reads_it(
    client, side, tmp_path
) -> None:
    table = np.c_[i, j][ALIKE]
    np.save(tmp_path / "pairs.npy", table)
    pairs = Pairs.from_npy(tmp_path / "pairs.npy", n_points=N)

    def shorten(record) -> None:
        if record.iteration == 1:
            np.save(tmp_path / "pairs.npy", table[:-5])

    least = MetricLearner(**LEARNER).forecast(X, pairs).least
    learner = MetricLearner(**LEARNER, callback=shorten, memory_limit=least + 1000)
    with pytest.raises(ValueError, match=r"pairs\.npy has been changed since it was opened"):
        learner.fit(X, side=pairs, client=client)
