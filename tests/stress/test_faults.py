"""Ctrl-C, killed runs, full disks, little memory, many threads: a short run of what `stress` does at length."""

import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from stress.fault_tables import FOUND, make_fault_tables
from stress.faults import is_flawless
from stress.fits import FITS, digest
from stress.interrupts import find_trouble
from stress.kills import COMMANDS, kill_runs, run_in_fork
from stress.load import _fit_and_compare, _measure_growth, _Task, run_load
from stress.load import is_flawless as load_is_flawless
from stress.scarcity import SCARCITIES, try_scarcity
from stress.store import Store, read_lines
from tools.atomic_files import UnwritableError, write_atomically

from gramlearn import (
    KernelDesigner,
    KernelKMeans,
    MaximumVarianceUnfolding,
    MetricLearner,
    NonparametricKernel,
    OnlineMetricLearner,
    OnlinePCA,
    SolveInterrupted,
    balanced_cut,
)
from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.methods.kernel_design.problem import DesignProblem
from gramlearn.methods.kernel_design.program import Coefficients, Program
from gramlearn.problem.status import Status
from gramlearn.side_information import Triplets

pytestmark = pytest.mark.filterwarnings("ignore")
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")

# The module, which its function of the same name hides.
KMEANS = importlib.import_module("gramlearn.methods.clustering.kernel_kmeans")


GRAPH = np.triu(np.random.default_rng(0).random((12, 12)) < 0.4, 1).astype(float)
GRAPH += GRAPH.T


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """A shell lets what it starts in the background ignore it, and so would these tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class _Interrupts:
    """KeyboardInterrupt at the n-th call of a Python function: as Ctrl-C, at a moment that is known."""

    def __init__(self, at: int | None = None) -> None:
        self.count, self._at = 0, at

    def __call__(self, frame, event, argument) -> None:
        if event == "call":
            self.count += 1
            if self.count == self._at:
                sys.settrace(None)
                raise KeyboardInterrupt

    def during(self, work):
        sys.settrace(self)
        try:
            return work()
        finally:
            sys.settrace(None)


@pytest.mark.parametrize("name", FITS)
def test_ctrl_c_at_any_moment_gives_the_best_answer_or_none(name: str) -> None:
    """The estimator is fitted with what there is, or what it was before; and the next fit knows of nothing."""
    fit = FITS[name]
    data = fit.data(0.5)
    fitted = fit.run(fit.make(), data)
    right = digest(fit.answers(fitted, data))
    every = _Interrupts()
    every.during(lambda: fit.run(fit.make(), data))
    rng = np.random.default_rng(0)
    for n in np.r_[rng.integers(1, every.count, 2), int(0.9 * every.count)]:
        estimator = fit.make() if n % 2 else fitted
        before, stop, outcome = dict(vars(estimator)), None, "over"
        try:
            _Interrupts(int(n)).during(lambda: fit.run(estimator, data))  # noqa: B023
        except SolveInterrupted as error:
            stop, outcome = error, "answer" if error.fitted else "nothing"
        except KeyboardInterrupt:
            outcome = "nothing"
        assert find_trouble(fit, estimator, data, before, stop, outcome) == ""
        if outcome == "answer" and estimator is fitted:
            fitted = fit.run(fit.make(), data)
        assert digest(fit.answers(fit.run(fit.make(), data), data)) == right


def test_an_interrupted_fit_is_usable_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = FITS["MaximumVarianceUnfolding"]
    X, _ = fit.data(1.0)
    from gramlearn.methods.unfolding import max_variance

    step, steps = max_variance.step, []

    def interrupt(*args):
        steps.append(1)
        if len(steps) == 6:
            raise KeyboardInterrupt
        return step(*args)

    monkeypatch.setattr(max_variance, "step", interrupt)
    estimator = MaximumVarianceUnfolding(n_neighbors=4, connect=True)
    with pytest.raises(
        SolveInterrupted, match="MaximumVarianceUnfolding is fitted with it"
    ) as caught:
        estimator.fit(X)
    assert estimator.solution_ is caught.value.solution
    assert estimator.solution_.status is Status.INTERRUPTED
    assert np.isfinite(estimator.solution_.gap)
    assert estimator.transform(X).shape == (len(X), 2)
    # No feasible kernel is better than the bound, that of the whole solve least of all.
    steps.extend([1] * 1000)
    whole = MaximumVarianceUnfolding(n_neighbors=4, connect=True).fit(X)
    assert whole.solution_.trace <= caught.value.solution.bound * (1 + 1e-3)


def test_a_kernel_design_cut_short_has_a_bound_and_can_be_solved_again() -> None:
    X, y = FITS["KernelDesigner"].data(1.0)
    triplets = Triplets.from_labels(y, 4000, random_state=0)
    kernels = ["linear", "rbf"]
    fresh = DesignProblem(kernels, X, triplets, np.arange(len(X)))
    right = fresh.solve(1.0, 0.01)
    problem = DesignProblem(kernels, X, triplets, np.arange(len(X)))

    def interrupt(record):
        if record.iteration == 1:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        problem.solve(1.0, 0.01, callback=interrupt)
    so_far = caught.value.solution
    assert so_far.status is Status.INTERRUPTED
    assert 0 < so_far.bound <= right.value * (1 + 1e-9)
    assert so_far.relative_gap < 1
    again = problem.solve(1.0, 0.01)
    assert np.array_equal(again.weights, right.weights)
    assert again.value == right.value


def test_a_kernel_design_has_an_answer_inside_its_first_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Weak duality holds of whatever HiGHS has come to: bound <= optimum <= value."""
    X, y = FITS["KernelDesigner"].data(1.0)
    problem = DesignProblem(
        ["linear", "rbf"], X, Triplets.from_labels(y, 4000, random_state=0), np.arange(len(X))
    )
    right = problem.solve(1.0, 0.01)

    def interrupt(program, steps):
        program._highs.setOptionValue("simplex_iteration_limit", steps)
        program._highs.run()
        raise KeyboardInterrupt

    values = []
    for steps in (1, 10, 30, 100):
        monkeypatch.setattr(Program, "_run", partialmethod(interrupt, steps))
        problem._begin()
        with pytest.raises(KeyboardInterrupt) as caught:
            problem.solve(1.0, 0.01)
        if not isinstance(caught.value, SolveInterrupted):
            continue  # K = 0 is better still
        answer = caught.value.solution
        assert answer.iterations == 0  # no round is over
        assert repr(answer).startswith("KernelDesign(INTERRUPTED")
        assert answer.bound <= right.value * (1 + 1e-9)
        assert right.bound <= answer.value * (1 + 1e-9)
        values.append(answer.value)
    assert values
    assert max(values) < right.history[0].certificate.primal  # of K = 0


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is heard: a shell that starts the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _program_of_seconds() -> Program:
    """HiGHS has to work on it for half a second before it first asks whether it should end."""
    rng = np.random.default_rng(0)
    m, n = 200, 4000
    of_comparisons = rng.standard_normal((n, m)), np.ones(n), np.ones(n)
    of_kernels = np.ones(m), 50, np.arange(m), np.ones(m)
    program = Program(Coefficients(*of_comparisons, *of_kernels, True, False))
    program.add_cuts(np.ones((1, m)))
    program.add_comparisons(np.arange(n), np.ones(n), np.zeros(n, dtype=bool))
    program.set_prices(0.1, 1e-3)
    return program


def _raised_inside(program: Program, signal_number: int, error: type[BaseException]) -> float:
    """Seconds from a signal to the error that its handler raises, out of a program that is being solved."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        signal.raise_signal(signal_number)

    def solve() -> None:
        threading.Timer(0.1, send).start()
        program.solve()

    with pytest.raises(error):
        solve()
    return time.monotonic() - sent[0]


@pytest.mark.usefixtures("ctrl_c")
def test_highs_stops_at_ctrl_c() -> None:
    """A linear program of many seconds ends when it is told to."""
    assert _raised_inside(_program_of_seconds(), signal.SIGINT, KeyboardInterrupt) < 1.0


@posix
def test_highs_stops_whatever_a_signal_handler_raises() -> None:
    """A limit that the user sets by a signal, or SIGTERM that ends a service, leaves nothing at work behind."""

    def handler(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, handler)
    try:
        program = _program_of_seconds()
        _raised_inside(program, signal.SIGALRM, TimeoutError)
    finally:
        signal.signal(signal.SIGALRM, before)
    for thread in threading.enumerate():
        if thread.name == "HiGHS":
            thread.join()
    assert (
        program._highs.modelStatusToString(program._highs.getModelStatus()) == "Interrupted by user"
    )


@posix
def test_python_exits_cleanly_while_highs_is_running() -> None:
    """Threads that Python does not wait for are torn down at its end, which C++ answers by abort()."""
    work = f"""
import signal, threading, time
import numpy as np
from gramlearn.methods.kernel_design import program
from gramlearn.methods.kernel_design.program import Coefficients, Program

{inspect.getsource(_program_of_seconds)}

class Slow:  # Python takes a while to end
    def __del__(self, sleep=time.sleep):
        sleep(1.0)

slow = Slow()
program._PATIENCE = 0.0
signal.signal(signal.SIGINT, signal.default_int_handler)
program = _program_of_seconds()
threading.Timer(0.1, signal.raise_signal, (signal.SIGINT,)).start()
try:
    program.solve()
except KeyboardInterrupt:
    print("at work:", program.last_prices() is None)
"""
    ended = subprocess.run([sys.executable, "-c", work], **OUTPUT)
    assert (ended.stdout, ended.stderr) == ("at work: True\n", "")


def test_ctrl_c_in_distinct_rows_raises_KeyboardInterrupt() -> None:
    """At whatever call: NumPy's own function makes a TypeError of one that comes while it compares rows."""
    table = np.random.default_rng(0).integers(3, size=(20, 2))
    every = _Interrupts()
    every.during(lambda: distinct_rows(table))
    assert every.count
    for n in range(1, every.count + 1):
        with pytest.raises(KeyboardInterrupt):
            _Interrupts(n).during(lambda: distinct_rows(table))


@pytest.mark.parametrize("kind", ["pca", "metric"])
def test_an_interrupted_stream_can_be_continued(kind: str) -> None:
    """fit(X) = what was learned until Ctrl-C, and partial_fit of the rest, to the bit."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((40, 5)), rng.random(40) + 0.5
    make = (lambda: OnlinePCA(2, eta=0.1)) if kind == "pca" else OnlineMetricLearner
    targets = (None,) if kind == "pca" else (y,)

    def rest(k: int):
        return (Z[k:], *(() if kind == "pca" else (y[k:],)))

    right = make().fit(Z, *targets)
    every = _Interrupts()
    every.during(lambda: make().fit(Z, *targets))
    said: list[tuple[int, str]] = []
    for n in range(1, every.count, max(1, every.count // 60)):
        stream = make()
        try:
            _Interrupts(n).during(lambda: stream.fit(Z, *targets))  # noqa: B023
        except SolveInterrupted as stop:
            seen = stream.n_samples_seen_ if kind == "pca" else stream.n_pairs_seen_
            said.append((seen, str(stop)))
            stream.partial_fit(*rest(seen)) if seen < 40 else None
            assert np.array_equal(stream.components_, right.components_)
        except KeyboardInterrupt:
            assert not hasattr(stream, "components_")
    assert len(said) > 5
    assert all(f"after {seen} of 40" in words for seen, words in said)


def test_a_failed_fit_keeps_the_earlier_one() -> None:
    X, y = FITS["MetricLearner"].data(0.5)
    learner = MetricLearner(random_state=0, C=1.0).fit(X, y)
    before = dict(vars(learner))
    with pytest.raises(ValueError, match="labels"):
        learner.fit(X[:, :2], y[:-1])
    assert vars(learner) == before
    assert learner.transform(X).shape == X.shape


def test_an_interrupted_answer_that_cannot_be_fitted_is_in_the_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = FITS["KernelDesigner"]
    X, y = fit.data(1.0)
    designer = fit.make()

    def fail(*args):
        raise RuntimeError("it cannot be kept")

    monkeypatch.setattr(KernelDesigner, "_set_kernel", fail)
    from gramlearn.methods.kernel_design import problem

    rounds = problem.DesignProblem._cut

    def interrupt(self, *args):
        rounds(self, *args)
        raise KeyboardInterrupt

    monkeypatch.setattr(problem.DesignProblem, "_cut", interrupt)
    with pytest.raises(SolveInterrupted) as caught:
        designer.fit(X, y)
    assert np.isfinite(caught.value.solution.gap)
    assert not hasattr(designer, "solution_")


@pytest.mark.parametrize("solved", [0, 3])
def test_an_interrupted_cut_is_balanced_and_has_a_bound(solved: int) -> None:
    A, right, seen = GRAPH, balanced_cut(GRAPH, random_state=0), set()

    def interrupt(record) -> None:
        seen.add(record.details["eps"])
        if len(seen) > solved:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        balanced_cut(A, random_state=0, callback=interrupt)
    check_cut(caught.value.solution, right)
    if solved:
        assert caught.value.solution.path == right.path[:solved]


def test_a_cut_interrupted_while_it_is_rounded_has_the_whole_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = balanced_cut(GRAPH, random_state=0)
    module, calls = sys.modules[balanced_cut.__module__], list[int]()
    inner = module._best_halves

    def interrupt(*args):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return inner(*args)

    monkeypatch.setattr(module, "_best_halves", interrupt)
    with pytest.raises(SolveInterrupted) as caught:
        balanced_cut(GRAPH, random_state=0)
    check_cut(caught.value.solution, right)
    assert caught.value.solution.bound == right.bound


def check_cut(cut, right) -> None:
    """It is balanced, weighs what it says, and its bound is one."""
    assert np.bincount(cut.labels).tolist() == [6, 6]
    assert cut.weight == GRAPH[cut.labels == 0][:, cut.labels == 1].sum()
    assert cut.bound <= right.bound * (1 + 1e-9)


def test_interrupted_clusters_are_the_best_of_the_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    X = FITS["KernelKMeans"].data(0.5)[0]
    lloyd, starts = KMEANS._run_lloyd, []

    def interrupt(*args):
        if len(starts) == 3:
            raise KeyboardInterrupt
        starts.append(1)
        return lloyd(*args)

    monkeypatch.setattr(KMEANS, "_run_lloyd", interrupt)
    clusters = KernelKMeans(5, random_state=0)
    with pytest.raises(SolveInterrupted, match="start"):
        clusters.fit(X)
    starts.extend([1] * 100)
    three = KernelKMeans(5, n_init=3, random_state=0).fit(X)
    assert np.array_equal(clusters.labels_, three.labels_)
    assert clusters.inertia_ == three.inertia_


def test_ctrl_c_in_the_clusters_of_a_kernel_keeps_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = FITS["NonparametricKernel"]
    X, y = fit.data(0.5)

    def interrupt(*args):
        raise KeyboardInterrupt

    kernel = NonparametricKernel(random_state=0)
    monkeypatch.setattr(KMEANS, "_run_lloyd", interrupt)
    with pytest.raises(KeyboardInterrupt):
        kernel.fit_predict(X, y)
    assert kernel.kernel_entries(0, 0) >= 0
    assert not hasattr(kernel, "labels_")


# -- runs ------------------------------------------------------------------------------------------


@posix
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_killed_run_leaves_complete_files_and_continues(tmp_path: Path) -> None:
    found = kill_runs("experiments run", 4, 0, tmp_path)
    assert is_flawless(found), found
    assert found["same_results"]


@posix
@pytest.mark.parametrize("name", SCARCITIES)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_scarce_resources_give_a_clear_error_and_lose_nothing(name: str) -> None:
    found = try_scarcity(name)
    if "untried" in found:
        pytest.skip(found["untried"])
    assert found["troubles"] == [], found


@posix
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_line_partly_written_to_a_full_disk_is_removed(tmp_path: Path) -> None:
    """A write may write less than it is given: the next line would stand behind a torn one."""
    import resource

    said = tmp_path / "said"

    def work(out: Path) -> int:
        store = Store(out, {"seed": 0})
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = store.path.stat().st_size + 50
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        words = "nothing"
        try:
            store.add({"id": "long", "text": "x" * 200})
        except UnwritableError as error:
            words = str(error)
        store.add({"id": "short"})
        # What is said goes to a file as well, and names a folder whose name may be long.
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(words, file=sys.stderr)
        return 0

    assert run_in_fork(work, tmp_path / "out", None, str(said)) == 0
    assert "could not be written: files may not grow so large" in said.read_text(encoding="utf-8")
    assert [line.get("id") for line in read_lines(tmp_path / "out")] == [None, "short"]


def test_temporary_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], **OUTPUT)
    dead, alive, other = (
        tmp_path / f".a.json.{ended.stdout.strip()}",
        tmp_path / f".a.json.{os.getppid()}",
        tmp_path / ".a.json.mine",
    )
    for file in (dead, alive, other):
        file.write_text("half")
    write_atomically(tmp_path / "a.json", "{}")
    assert sorted(f.name for f in tmp_path.iterdir()) == sorted([alive.name, other.name, "a.json"])


def test_a_folder_in_place_of_a_file_raises_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a.json" / "b").mkdir(parents=True)
    with pytest.raises(UnwritableError, match="a folder stands where the file belongs"):
        write_atomically(tmp_path / "a.json", "{}")
    assert [f.name for f in tmp_path.iterdir()] == ["a.json"]


OUTPUT = {"capture_output": True, "text": True, "check": True}


# -- load ------------------------------------------------------------------------------------------


def test_parallel_threads_give_the_answers_of_each_alone() -> None:
    found = run_load(0.01, 1, 4, names=["MetricLearner hard", "KernelDesigner"])
    assert load_is_flawless(found), found
    assert found["fits"] > 0
    assert found["other_bits"] == {}


def test_load_distinguishes_rounding_from_wrong_answers() -> None:
    """To the bit with one thread of BLAS; with several a certificate, or a rounding where there is none."""
    learner, stream = FITS["MetricLearner hard"], FITS["OnlineMetricLearner"]
    for fit in (learner, stream):
        data = fit.data(0.5)
        alone = fit.answers(fit.run(fit.make(), data), data)
        for change in (0.0, 1e-15, 1e-3):
            task = _Task("", fit, data, [array * (1 + change) for array in alone])
            far, words = _fit_and_compare(task, to_the_bit=True)
            assert (far > 0, words) == ((True, "other bits") if change else (False, ""))
            words = _fit_and_compare(task, to_the_bit=False)[1]
            is_other = change > 1e-9 and fit is stream
            assert words == ("1.0e-03 from the one alone" if is_other else "")


def test_memory_that_grows_with_every_fit_is_found() -> None:
    flat = [{"blocks": 1e6 + (-1) ** k * 1e3, "MiB": 300.0 + k % 3} for k in range(15)]
    leak = [{**one, "blocks": one["blocks"] + 2e3 * k} for k, one in enumerate(flat)]
    filling = [{**one, "MiB": one["MiB"] - 100 * (k < 4)} for k, one in enumerate(flat)]
    assert [_measure_growth(seen)[1] for seen in (flat, leak, filling)] == [False, True, False]


# -- what was published ----------------------------------------------------------------------------


def test_the_published_results_are_complete_and_without_findings() -> None:
    names = ["kills", "load", "scarcity", "sigint", "studio"]
    found = {name: json.loads((FOUND / f"{name}.json").read_text()) for name in names}
    assert [one["fit"] for one in found["sigint"]] == list(FITS)
    assert [one["command"] for one in found["kills"]] == list(COMMANDS)
    assert [one["scarcity"] for one in found["scarcity"]] == list(SCARCITIES)
    assert all(one["moments"] == 100 for one in found["sigint"] + found["kills"] + found["studio"])
    assert all(
        map(is_flawless, found["sigint"] + found["kills"] + found["studio"] + found["scarcity"])
    )
    assert load_is_flawless(found["load"])
    tables = make_fault_tables()
    assert len(tables) == len(names)
    assert all(len({tuple(row) for row in rows}) == 1 for rows in tables.values())
