"""Shards on a Dask cluster: the answer of one machine, also where a worker is killed."""

import os
import signal
import time
import warnings

import pytest
from gramlearn.losses import SquaredHinge

from chunked_statements import Example
from gramlearn import LogDet, Status, solve
from gramlearn._base.workers import Here
from gramlearn.solvers.shards import Recovering

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("cluster")  # one cluster for all

EXAMPLE = Example.of(SquaredHinge, LogDet(), size=2000, chunk=250)


@pytest.fixture(scope="module")
def client():
    settings = {"distributed.worker.daemon": False, "distributed.logging.distributed": "critical"}
    import dask

    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="1GiB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def solved(client, example: Example = EXAMPLE, **options):
    from gramlearn._base.workers.on_dask import OnDask

    with OnDask(client) as crew, warnings.catch_warnings():
        warnings.simplefilter("error")  # such as those about large graphs
        solution = solve(example.in_shards(crew), Recovering(), tol=1e-9, **options)
        return solution, crew.moved


HERE = solve(EXAMPLE.in_shards(Here()), Recovering(), tol=1e-9)


def test_a_cluster_gives_the_value_of_one_machine(client) -> None:
    solution, moved = solved(client)
    assert solution.status is Status.OPTIMAL
    assert abs(solution.primal - HERE.primal) <= 1e-9 * HERE.primal
    assert solution.relative_gap <= 1e-9
    assert moved > 0
    deadline = time.monotonic() + 10
    while sum(client.run(_count_workers).values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sum(client.run(_count_workers).values()) == 0


def _count_workers() -> int:
    from gramlearn._base.workers.on_dask import _WORKERS

    return len(_WORKERS)


def test_a_killed_worker_costs_the_reload_of_its_chunks(client) -> None:
    pids = client.run(os.getpid)
    killed = []

    def kill(record) -> None:
        if record.iteration == 4 and not killed:
            killed.append(min(pids.values()))
            os.kill(killed[0], signal.SIGKILL)

    solution, _ = solved(client, callback=kill)
    assert killed
    assert solution.status is Status.OPTIMAL
    assert abs(solution.primal - HERE.primal) <= 1e-9 * HERE.primal
