"""The benchmarks: the judge is right, the data are as described, and no result is lost."""

import json
import math
import sys
from dataclasses import asdict, replace
from importlib.util import find_spec
from itertools import pairwise, product

import numpy as np
import pytest
from benchmarks.__main__ import _choose_tasks, _parser, main
from benchmarks.choice import Choice, write_choices
from benchmarks.contestants import find, names
from benchmarks.contestants._ours import make_problem, solve_quietly
from benchmarks.data import make, make_generator
from benchmarks.data._pairs import draw_pairs
from benchmarks.data._real import principal_components, scale_points
from benchmarks.data._triplets import find_margin, neighbor_triplets
from benchmarks.instance import Instance, Spec, load, save
from benchmarks.rating import rate_results
from benchmarks.reference import find_reference
from benchmarks.report import write_table
from benchmarks.runner import Limit, run_contestant, run_instance
from benchmarks.scripts import metric_learn_comparison
from benchmarks.scripts.metric_learn_fits import GRAMLEARN, METRIC_LEARN
from benchmarks.scripts.metric_learn_report import difference
from benchmarks.scripts.metric_learn_splits import splits
from scipy.stats import sem
from sklearn.metrics import zero_one_loss
from sklearn.neighbors import KNeighborsClassifier
from tools.environments import UnavailableError, find_interpreter
from tools.launch import launch
from tools.meter import PeakMemory, measure_pass_seconds
from tools.neighbor_vote import vote

import gramlearn as gl
from benchmarks import choice, judge
from gramlearn.solvers.solve import SOLVERS

TINY = Spec("synthetic", n=40, r=5, c=60)
LIBRARIES = ["numpy", pytest.param("torch:cpu", marks=pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed"))]  # fmt: skip


@pytest.fixture(params=LIBRARIES)
def tiny(request):
    return make(replace(TINY, library=request.param))


# -- the judge -----------------------------------------------------------------------------------

PROBLEMS = list(product(judge.REGULARIZERS, judge.LOSSES))
TRIPLETS = [(phi, loss) for phi, loss in PROBLEMS if loss in ("Hinge", "SquaredHinge")]


def tiny_triplets(library="numpy", **changes):
    """Comparisons of distances, which the points that they are about mostly contradict."""
    draw = make_generator(library, 1)
    i, j, k = (draw.below(12, 30) for _ in range(3))
    i, j, k = (x[(i != j) & (i != k) & (j != k)] for x in (i, j, k))
    c = int(i.shape[0])
    spec = replace(TINY, n=12, r=4, c=c, kind="triplets", library=library, **changes)
    return Instance(spec, draw.normal(12, 4), i, j, c, -0.5, k=k)


def tiny_of(kind, regularizer, loss, library="numpy", price=0.3):
    problem = {"regularizer": regularizer, "loss": loss, "price": price}
    if kind == "triplets":
        return tiny_triplets(library, **problem)
    return make(replace(TINY, library=library, **problem))


EVERY = [("pairs", *problem) for problem in PROBLEMS]
EVERY += [("triplets", *problem) for problem in TRIPLETS]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("kind", "regularizer", "loss"), EVERY)
def test_judge_agrees_with_the_certificate(kind, regularizer, loss, library):
    instance = tiny_of(kind, regularizer, loss, library)
    solution = gl.solve(make_problem(instance), tol=1e-4)
    value = judge.primal(instance, solution.matrix)
    bound = judge.dual(instance, instance.xp.concat(solution.duals))
    assert value == pytest.approx(solution.primal, rel=1e-10)
    assert bound == pytest.approx(solution.dual, rel=1e-10)
    assert judge.relative_gap(value, bound) == pytest.approx(solution.relative_gap, abs=1e-10)


@pytest.mark.parametrize(("kind", "regularizer", "loss"), EVERY)
def test_primal_and_dual_meet_at_the_optimum_and_nowhere_cross(kind, regularizer, loss):
    instance = tiny_of(kind, regularizer, loss)
    solution = solve_quietly(make_problem(instance), tol=1e-9)
    optimum = judge.dual(instance, np.concatenate(solution.duals))
    assert judge.relative_gap(judge.primal(instance, solution.matrix), optimum) < 1e-9
    rng, spec = np.random.default_rng(0), instance.spec
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        F = np.eye(spec.r) + scale * rng.standard_normal((spec.r, spec.r))
        sides = np.where(np.arange(spec.c) < instance.alike, 1.0, -1.0)
        highest = spec.price / max(abs(instance.upper), 1.0)
        lam = min(scale, 0.9) * highest * sides * rng.random(spec.c)
        assert judge.primal(instance, F @ F.T) >= optimum - 1e-9 * abs(optimum)
        assert judge.dual(instance, lam) <= optimum + 1e-9 * abs(optimum)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("name", judge.LOSSES)
def test_conjugates_of_losses_are_suprema(name, side):
    loss, b, price = judge.LOSSES[name], 1.3, 0.7
    least = -60.0 if "Hinge" in name else 0.0  # a slack is finite for t > 0
    t = np.linspace(least, 60.0, 2_400_001)[1:]
    wrong = side * (t - b) > 0
    values = np.where(wrong, loss.value(np, np.where(wrong, t, b), b, price), 0.0)
    for lam in side * np.array([1e-3, 0.1, 0.3, 0.5]):
        expected = np.max(lam * t - values)
        found = float(loss.conjugate(np, np.array([lam]), b, price)[0])
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", judge.REGULARIZERS)
def test_duals_of_divergences_are_infima(name):
    divergence = judge.REGULARIZERS[name]
    x = np.linspace(1e-9, 10.0, 4001)
    values = np.array([divergence.value(np, x[k : k + 1]) for k in range(len(x))])
    for s in (-0.6, -0.1, 0.0, 0.4, 2.0):
        infimum = np.min(values + s * x)
        assert divergence.dual(np, np.array([s])) == pytest.approx(infimum, abs=1e-4)


def test_judge_is_infinite_outside_the_domain():
    tiny = make(TINY)
    von_neumann = make(replace(TINY, regularizer="VonNeumann", loss="KLSlack"))
    hinge = make(replace(TINY, regularizer="Frobenius", loss="Hinge"))
    assert judge.primal(tiny, np.diag([1.0, 1.0, 1.0, 1.0, 0.0])) == np.inf
    for instance in (von_neumann, hinge):
        assert judge.primal(instance, np.diag([1.0, 1.0, 1.0, 1.0, -0.1])) == np.inf
    assert judge.primal(tiny, np.full((5, 5), np.nan)) == np.inf
    assert judge.dual(von_neumann, -np.ones(TINY.c)) == -np.inf
    too_far = np.where(np.arange(TINY.c) < tiny.alike, TINY.price / tiny.upper, 0.0)
    assert judge.dual(tiny, too_far) == -np.inf
    assert judge.dual(hinge, np.where(np.arange(TINY.c) < tiny.alike, 1.1, 0.0)) == -np.inf


def test_chunks_do_not_change_the_judged_values(monkeypatch):
    instances = [make(TINY), tiny_triplets(loss="SquaredHinge")]

    def judged():
        values = []
        for instance in instances:
            lam = np.where(np.arange(instance.spec.c) < instance.alike, 0.01, -0.01)
            values += [judge.primal(instance, np.eye(instance.spec.r)), judge.dual(instance, lam)]
        return values

    whole = judged()
    monkeypatch.setattr("benchmarks.instance._CHUNK_NUMBERS", {"numpy": 35})
    assert judged() == pytest.approx(whole, rel=1e-13)


# -- the data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
def test_pairs_are_of_one_class_or_of_two(library):
    draw = make_generator(library, 3)
    y = draw.array(np.array([2, 0, 1, 0, 2, 2, 7, 1]))  # the 7 has no partner of its own class
    i, j = draw_pairs(y, 300, 600, draw)
    same = np.asarray(y[i] == y[j])
    assert same[:300].all()
    assert not same[300:].any()
    assert not np.asarray(i == j).any()
    drawn = {(int(a), int(b)) for a, b in zip(i[:300], j[:300], strict=True)}
    assert len(drawn) == 2 + 2 + 6  # every ordered pair of one class occurs


def test_an_instance_is_the_same_whenever_it_is_made(tiny):
    again = make(tiny.spec)
    assert bool((again.points == tiny.points).all())
    assert bool((again.i == tiny.i).all())
    assert (again.upper, again.lower) == (tiny.upper, tiny.lower)
    assert 0 < tiny.upper < tiny.lower


def test_triplets_are_of_the_nearest_of_a_class_and_of_others():
    points = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 3
    i, j, k = neighbor_triplets(points, y, 60 * 10)
    squared = ((points[:, None] - points[None, :]) ** 2).sum(2)
    assert (np.bincount(i) == 10).all()
    assert (y[i] == y[j]).all()
    assert (y[i] != y[k]).all()
    assert (i != j).all()
    for point in (0, 17):
        same = np.setdiff1d(np.flatnonzero(y == y[point]), [point])
        others = np.flatnonzero(y != y[point])
        nearest = same[np.argsort(squared[point, same])[:5]]
        strangers = others[np.argsort(squared[point, others])[:2]]
        expected = {(a, b) for a in nearest for b in strangers}
        assert set(zip(j[i == point], k[i == point], strict=True)) == expected
    mean = squared.sum() / (60 * 59)
    assert find_margin(points) == pytest.approx(0.1 * mean)


def test_components_are_those_of_the_covariance_and_scaling_makes_norms_one():
    X = np.random.default_rng(0).normal(size=(50, 6)) * np.arange(1, 7) + 3.0
    found = principal_components(X, 3)
    variances = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    assert np.cov(found.T, bias=True) == pytest.approx(np.diag(variances[:3]), abs=1e-9)
    assert np.mean(np.sum(scale_points(found) ** 2, axis=1)) == pytest.approx(1.0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_instance_travels_between_processes(tmp_path, library):
    for kind in ("pairs", "triplets"):
        instance = tiny_of(kind, "Frobenius", "Hinge", library)
        if kind == "triplets":  # such come from real data, which are made on the host
            instance = replace(instance, spec=replace(instance.spec, is_real=True))
        save(instance, tmp_path)
        read = load(tmp_path)
        assert read.spec == instance.spec
        assert read.halves() == instance.halves()
        for name, column in instance.columns.items():
            assert bool((read.columns[name] == column).all())
        assert bool((read.points == instance.points).all())


@pytest.mark.parametrize(("data", "r"), [("usps", 36), ("spambase", 57)])
def test_real_data_have_a_mean_squared_norm_of_one(data, r):
    try:
        pairs = make(Spec(data, n=1000, r=r, c=500, is_real=True))
        triplets = make(Spec(data, n=1000, r=r, c=30_000, is_real=True, kind="triplets"))
    except UnavailableError as reason:
        pytest.skip(str(reason))
    assert np.mean(np.sum(pairs.points**2, axis=1)) == pytest.approx(1.0)
    assert triplets.upper == pytest.approx(-0.2, rel=0.02)  # mean squared distance 2, centered
    assert (pairs.points == triplets.points).all()


def test_absent_data_are_recorded_as_skipped(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAMLEARN_DATA", raising=False)
    run = run_instance(replace(TINY, data="mnist"), ["working_set"], Limit(1.0), tmp_path)
    assert run["results"][0]["status"] == "skipped"
    assert "GRAMLEARN_DATA is not set" in run["results"][0]["reason"]
    assert main(["table", "--out", str(tmp_path)]) == 0


# -- the contestants -----------------------------------------------------------------------------


def test_cyclic_projections_come_down_to_the_optimum():
    tiny, bound = make(TINY), find_reference(make(TINY)).dual
    answers = list(find("cyclic_projections").solve(tiny, math.inf))
    assert all(a.seconds < b.seconds for a, b in pairwise(answers))
    gaps = [judge.relative_gap(judge.primal(tiny, a.X), bound) for a in answers]
    assert gaps[0] > 1e-3  # one cycle is far from enough
    assert gaps[-1] < 1e-10


def test_the_model_of_cvxpy_is_the_same_objective():
    pytest.importorskip("cvxpy")
    tiny = make(TINY)
    *_, last = find("cvxpy_clarabel").solve(tiny, 20.0)
    value = judge.primal(tiny, last.X)
    assert judge.relative_gap(value, find_reference(tiny).dual) < 1e-6


def test_every_contestant_says_what_it_is():
    assert {
        "primal_newton",
        "working_set",
        "auto",
        "interior_point",
        "projections",
        "cyclic_projections",
        "metric_learn_itml",
    } <= set(names())
    for name in names():
        assert find(name).summary
    enormous = Spec("synthetic", n=10, r=100, c=10_000_000)
    assert "16 GB" in find("metric_learn_itml").refuses(enormous)
    assert "1.0e+11 numbers" in find("cvxpy_scs").refuses(enormous)


def test_contestants_refuse_what_they_cannot_solve():
    spec = replace(TINY, r=100, c=100_000, n=1000)
    hinge = replace(spec, loss="Hinge")
    triplets = replace(spec, kind="triplets", loss="SquaredHinge")
    assert find("auto").refuses(hinge) is None
    assert find("primal_newton").refuses(triplets) is None
    assert find("primal_newton").refuses(hinge) is None
    assert "entries" in find("primal_newton").refuses(replace(hinge, c=1000))
    assert "points" in find("quasi_newton").refuses(replace(hinge, regularizer="Frobenius"))
    for name in ("cyclic_projections", "cvxpy_scs", "metric_learn_itml"):
        for other in (hinge, triplets):
            assert find(name).refuses(other) == "it solves LogDet with LogDetSlack on pairs only"


def test_every_solver_of_the_library_is_a_contestant():
    assert set(SOLVERS) <= set(names())


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("nobody", "choose one of"),
        ("2.5", "written as package.module"),
        (".relative", "written as package.module"),
        ("no_such_package.module", "No module named 'no_such_package'"),
        ("json.decoder", "has no CONTESTANT"),
    ],
)
def test_a_missing_contestant_is_reported(name, word, capsys):
    assert main(["run", "--quick", "--only", name]) == 2
    assert word in capsys.readouterr().err


# -- failures are results ------------------------------------------------------------------------

FAILING = """
import os, signal
from benchmarks.contestants import Answer, Contestant

class Failing(Contestant):
    summary = "fails"
    def solve(self, instance, limit):
        yield Answer(0.5, instance.xp.eye(instance.spec.r))
        {how}

CONTESTANT = Failing()
"""


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Make a contestant that fails in the way asked for, known by its dotted name."""
    folder = tmp_path / "strangers"
    folder.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")

    def write(name, how):
        (folder / f"{name}.py").write_text(FAILING.format(how=how), encoding="utf-8")
        return f"strangers.{name}"

    yield write
    for module in [m for m in sys.modules if m.startswith("strangers")]:
        del sys.modules[module]


def test_an_unreadable_contestant_is_reported(failing, capsys):
    name = failing("unreadable", "return )")
    assert main(["run", "--quick", "--only", name]) == 2
    assert "cannot be imported (SyntaxError: " in capsys.readouterr().err


def test_a_contestant_that_raises_keeps_what_it_had(failing, tmp_path):
    name = failing("raising", "raise ArithmeticError('the sky fell')")
    [result] = run_instance(TINY, [name], Limit(1.0), tmp_path / "out")["results"]
    assert result["status"] == "failed"
    assert result["reason"] == "ArithmeticError: the sky fell"
    assert [answer["seconds"] for answer in result["curve"]] == [0.5]
    assert result["reached"] == {"1e-02": None, "1e-04": None, "1e-06": None}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
def test_a_contestant_that_dies_is_recorded(failing, tmp_path):
    name = failing("dying", "os.kill(os.getpid(), signal.SIGKILL)")
    run = run_instance(TINY, [name], Limit(1.0), tmp_path / "out")
    assert run["results"][0]["status"] == "failed"
    assert "SIGKILL" in run["results"][0]["reason"]
    written = json.loads((tmp_path / "out" / f"{TINY.name}.json").read_text(encoding="utf-8"))
    assert written == run


def test_a_contestant_of_another_library_is_skipped():
    pytest.importorskip("torch")
    tiny = make(replace(TINY, library="torch:cpu"))
    result = run_contestant("cyclic_projections", tiny, Limit(1.0))
    assert (result["status"], result["reason"]) == (
        "skipped",
        "it does not work on arrays of torch:cpu",
    )


def test_a_quick_run_makes_no_environment(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.environments.CACHE", tmp_path)
    tiny = make(TINY)
    result = run_contestant("metric_learn_itml", tiny, Limit(1.0), may_make=False)
    assert result["status"] == "skipped"
    assert "makes no environment for metric-learn==0.7.0" in result["reason"]


# -- the command ---------------------------------------------------------------------------------


def test_quick_run_writes_results_table_and_plot(tmp_path, capsys):
    out = ["--out", str(tmp_path)]
    assert main(["run", "--quick", "--only", "working_set", *out]) == 0
    assert main(["run", "--quick", "--only", "cyclic_projections", *out]) == 0
    run = json.loads((tmp_path / f"{TINY.name}.json").read_text(encoding="utf-8"))
    results = {result["contestant"]: result for result in run["results"]}
    assert set(results) == {"working_set", "cyclic_projections"}
    ours = results["working_set"]
    assert ours["status"] == "done"
    assert 0 < ours["reached"]["1e-02"] <= ours["reached"]["1e-06"]
    assert ours["curve"][-1]["judged_gap"] <= ours["curve"][-1]["relative_gap"] + 1e-12
    assert len(ours["pass_seconds"]) == 2
    assert ours["peak_bytes"] is None or ours["peak_bytes"] >= 0
    assert (tmp_path / f"{TINY.name}.png").stat().st_size > 10_000
    capsys.readouterr()
    assert main(["table", *out]) == 0
    printed = capsys.readouterr()
    assert "| working_set |" in printed.out
    assert printed.err == ""


def test_a_run_goes_on_from_what_is_finished_at_this_commit(tmp_path, monkeypatch):
    commit = "1234567"
    monkeypatch.setattr("benchmarks.runner.describe_commit", lambda: commit)
    started = []
    answers = {"status": "done", "reason": "", "curve": []}
    monkeypatch.setattr(
        "benchmarks.runner.run_contestant",
        lambda name, *rest: started.append(name) or dict(answers),
    )

    def run(*names, limit=1.0, **options):
        started.clear()
        results = run_instance(TINY, names, Limit(limit), tmp_path, **options)["results"]
        assert set(names) <= {result["contestant"] for result in results}
        return list(started)

    assert run("auto") == ["auto"]
    assert run("auto", "working_set") == ["working_set"]
    assert run("auto", "working_set") == []
    assert run("auto", again=True) == ["auto"]
    assert run("auto", limit=2.0) == ["auto"]
    commit = "1234568"
    assert run("auto", limit=2.0) == ["auto"]
    commit = "1234568-dirty"  # what has changed since is not known
    assert run("auto", limit=2.0) == ["auto"]
    assert run("auto", limit=2.0) == ["auto"]


def chosen(words):
    return list(_choose_tasks(_parser().parse_args(["run", *words.split()])))


def test_passes_limit_a_solve_where_they_take_time():
    def limits(words):
        return set(_choose_tasks(_parser().parse_args(["run", *words.split()])).values())

    assert limits("--data mnist --sizes table") == {Limit(600.0, 2_000)}
    assert limits("--data mnist --sizes table --library torch:cuda") == {Limit(600.0)}
    assert limits("--data mnist --sizes table --limit 7") == {Limit(7.0)}


def test_options_choose_the_instances_of_a_run():
    assert {spec.data for spec in chosen("")} == {"synthetic", "isotropic", "mnist"}
    assert not any(spec.is_real for spec in chosen("--data synthetic"))
    real = chosen("--data mnist --data usps --data spambase --data newsgroups")
    assert all(spec.is_real for spec in real)
    assert len({spec.name for spec in real}) == len(real) == 12 * 3 * (3 + 2 + 2 + 2) + 6 + 21
    assert len(chosen("--sizes table")) == 13
    [spec] = chosen("--data usps --pairs 100000 --regularizer Frobenius --loss Hinge --price 1e3")
    assert spec.name == "usps-real-r100-n7291-c100000-Frobenius-Hinge-C1000"
    [spec] = chosen("--data spambase --sizes neighbors --price 0.1 --library torch:cuda --seed 3")
    assert spec.name == (
        "spambase-real-r57-n1000-c30000-triplets-LogDet-SquaredHinge-C0.1-seed3-torch-cuda"
    )
    with pytest.raises(ValueError, match="no instance is left"):
        chosen("--data usps --price 7")


# -- the rating ----------------------------------------------------------------------------------


def result_of(name, *answers, status="done", reason=""):
    """As the judge leaves it: (seconds, certified gap), and primal and dual of the last answer."""
    curve = [{"seconds": a[0], "certified_gap": a[1], "note": ""} for a in answers]
    for answer, known in zip(curve, answers, strict=True):
        answer |= dict(zip(("primal", "dual"), known[2:], strict=False))
    return {
        "contestant": name, "status": status, "reason": reason, "curve": curve,
        "pass_seconds": [0.5, 0.6], "peak_bytes": 0, "warm_up_seconds": 0.0, "limit_seconds": 9.0,
    }  # fmt: skip


def run_of(*results, **problem):
    spec = replace(TINY, data="usps", is_real=True, **problem)
    machine = {"processor": "abacus", "cores": 1, "threads": {}}
    run = {"instance": {"name": spec.name, **asdict(spec)}, "machine": machine, "reference": None}
    run["results"] = list(results)
    rate_results(run)
    return run


def test_the_bound_is_the_best_dual_of_all():
    ours = result_of("auto", (1.0, 1e-3), (2.0, 1e-7, 100.00001, 100.0))
    other = result_of("working_set", (1.0, 0.1, 110.0, 99.0))
    stranger = result_of("stranger", (3.0, None, 101.0))
    run = run_of(ours, other, stranger)
    assert (run["bound"]["dual"], run["bound"]["found_by"]) == (100.0, "auto")
    assert run["bound"]["relative_gap"] == pytest.approx(1e-7, rel=1e-6)
    assert ours["reached"] == {"1e-02": 1.0, "1e-04": 2.0, "1e-06": 2.0}
    assert other["curve"][0]["relative_gap"] == pytest.approx(0.1)  # what it proves itself
    assert other["curve"][0]["judged_gap"] == pytest.approx(1 / 11)
    assert stranger["curve"][0]["relative_gap"] == pytest.approx(1 / 101)


def test_a_contestant_that_claims_too_much_has_failed():
    run = run_of(result_of("auto", (1.0, 1e-7), (1.5, 1e-7, 110.0, 100.0)))
    [result] = run["results"]
    assert result["status"] == "failed"
    assert result["reason"] == "it certified a gap of 1.0e-07, and the judge finds 9.1e-02"
    assert result["reached"] == {"1e-02": None, "1e-04": None, "1e-06": None}


def test_real_instances_share_a_table():
    quick, slow = (1.0, 1e-7, 1.0, 1.0), (4.0, 1e-7, 1.0, 1.0)
    failure = {"status": "failed", "reason": "it was ended after 60 s"}
    skipped = {"status": "skipped", "reason": "no"}
    runs = [
        run_of(result_of("auto", slow), result_of("working_set", quick), price=1.0),
        run_of(result_of("auto", quick), result_of("working_set", slow), price=10.0),
        run_of(
            result_of("auto", (7.0, 0.25, 4.0, 3.0)), result_of("working_set", quick), loss="Hinge"
        ),
        run_of(result_of("auto", **failure), result_of("working_set", **skipped), loss="KLSlack"),
    ]
    table = write_table(runs)
    assert table.count("### usps, 60 pairs of 40 points, rank 5") == 1
    assert "**auto**: 1e-6 on 2 of 4" in table
    assert "**working_set**: 1e-6 on 3 of 3" in table
    assert "|  | C = 1 | C = 10 |" in table
    assert "| LogDet + LogDetSlack | 4 s, 8 | 1 s, 2 |" in table
    assert "| LogDet + Hinge | gap 0.25 after 7 s |  |" in table
    assert "| LogDet + KLSlack | failed |  |" in table
    assert "- auto, LogDet + KLSlack, C = 1: it was ended after 60 s." in table


def test_the_choice_of_a_solver_is_compared():
    choices = [
        Choice("a", 4.0, "working_set", 1.0),
        Choice("b", 1.0, "working_set", 4.0),
        Choice("c", 1.0, None, None),
        Choice("d", None, "working_set", 2.0),
        Choice("e", None, None, None),
    ]
    lines = list(write_choices(choices))
    times = [line.split(" | ")[1] for line in lines[2:7]]
    assert times == ["4.00", "1.00", "1.00", "never there", "nobody there"]
    assert lines[-1] == "5 instances, 4 solved. The largest loss is inf: d."
    assert list(write_choices([]))[2:] == []


class Clock:
    """Each solve takes as many seconds as its solver is said to, whatever else the machine does."""

    def __init__(self, seconds):
        self.seconds, self.now, self.solved = seconds, 0.0, []

    def perf_counter(self):
        return self.now

    def solve(self, problem, solver, *, time_limit, **given):
        self.now += self.seconds[solver]
        if given.get("max_iter") is None:
            self.solved.append((solver, time_limit))
        return solve_quietly(problem, solver, **given)


@pytest.mark.parametrize(
    ("auto", "rivals", "again", "row"),
    [
        (1.0, [], 0, ["1.00", "1", "", ""]),
        (2.25, ["working_set"], 0, ["1.12", "2.2", "working_set", "2"]),
        (3.0, ["primal_newton", "working_set"], 3, ["1.50", "3", "working_set", "2"]),
    ],
)
def test_auto_is_timed_beside_the_solvers_that_may_be_quicker(
    auto, rivals, again, row, capsys, monkeypatch
):
    """None gets longer than "auto" took, and the best is timed again where it is clearly quicker."""
    quick = {"primal_newton": 2.5, "working_set": 2.0}
    clock = Clock({**dict.fromkeys(SOLVERS, 4.0), **quick, "auto": auto})
    monkeypatch.setattr(choice, "time", clock)
    monkeypatch.setattr(choice, "solve_quietly", clock.solve)
    assert main(["auto", "--quick", "--limit", "60"]) == 0
    once = [("auto", 60.0), *((name, auto) for name in rivals)]
    assert clock.solved == once + again * [("auto", 60.0), ("working_set", 60.0)]
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| synth")]
    assert [cell.strip() for cell in line.split("|")][2:-1] == row


def test_unknown_names_are_refused(tmp_path, capsys):
    assert main(["run", "--quick", "--only", "nobody", "--out", str(tmp_path)]) == 2
    assert "there is no contestant 'nobody'; choose one of " in capsys.readouterr().err
    assert main(["table", "--out", str(tmp_path)]) == 2
    assert "there are no results in" in capsys.readouterr().err
    assert main(["list"]) == 0
    assert "synthetic-r20-n500-c2000" in capsys.readouterr().out


def test_peak_memory_and_passes_are_measured():
    assert measure_pass_seconds(1000, 5, "numpy") > 0
    with PeakMemory("numpy") as memory:
        block = np.ones(5_000_000)
        del block
    assert memory.above is None or 30e6 < memory.above < 80e6


# -- beside metric-learn -------------------------------------------------------------------------


def test_a_learner_is_worse_beyond_one_standard_error_of_the_paired_difference():
    ours, theirs = [0.10, 0.14, 0.12, 0.20], [0.09, 0.15, 0.10, 0.19]
    found = difference(ours, theirs)
    assert found.mean == pytest.approx(0.0075)
    assert found.standard_error == pytest.approx(sem(np.subtract(ours, theirs)))
    assert (found.verdict, difference(theirs, ours).verdict) == ("worse", "better")
    # One repeat alone that differs is worth exactly one standard error.
    alone = difference([0.10, 0.14, 0.12, 0.20], [0.10, 0.14, 0.11, 0.20])
    assert alone.mean == pytest.approx(alone.standard_error)
    assert alone.verdict == "no worse"


def test_the_vote_of_neighbors_leaves_no_tie_to_rounding():
    rng = np.random.default_rng(0)
    points, labels, others = (
        rng.normal(size=(60, 3)),
        rng.integers(0, 3, 60),
        rng.normal(size=(40, 3)),
    )
    expected = KNeighborsClassifier(5).fit(points, labels).predict(others)
    assert vote(points, labels, others, 5).tolist() == expected.tolist()
    # Two points as far from the center, in opposite directions: the first is the nearer, whatever the map.
    center = np.full((1, 3), 0.1)
    for change in (np.eye(3), rng.normal(size=(3, 3))):
        for step in rng.normal(size=(100, 3)):
            two = np.stack([center[0] + step, center[0] - step])
            assert vote(two @ change, np.array([1, 0]), center @ change, 1) == [1]


def test_quick_comparison_goes_without_metric_learn(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tools.environments.CACHE", tmp_path / "no environments")
    settings = replace(metric_learn_comparison.QUICK, races=metric_learn_comparison.QUICK.races[1:])
    monkeypatch.setattr(metric_learn_comparison, "QUICK", settings)
    arguments = ["--quick", "--out", str(tmp_path)]
    assert metric_learn_comparison.main(arguments) == 0
    printed = capsys.readouterr()
    assert "| iris | 10 | " in printed.out
    assert "metric-learn was left out: a quick run makes no environment" in printed.out
    assert printed.err == ""
    assert (tmp_path / "comparison.png").stat().st_size > 10_000
    file = tmp_path / "comparison.json"
    written = json.loads(file.read_text(encoding="utf-8"))
    learners = written["accuracy"]["1.0"]["iris"]["learners"]
    tasks = list(splits("iris", settings.repeats, settings.per_class, settings.percentiles, 1.0))
    plain, learned = [], []
    for task in tasks:
        X, i, j = task.instance.points, task.instance.i, task.instance.j
        assert (task.labels[i] == task.labels[j]).sum() == task.instance.alike
        table = np.stack([i, j], axis=1)
        side = gl.Pairs(table[: task.instance.alike], table[task.instance.alike :], n_points=len(X))
        bounds = (task.instance.upper, task.instance.lower)
        metric = gl.MetricLearner(bounds=bounds, C=1.0).fit(X, side=side)
        neighbors = KNeighborsClassifier(4)
        for found, change in ((plain, np.asarray), (learned, metric.transform)):
            answers = neighbors.fit(change(X), task.labels).predict(change(task.others))
            found.append(zero_one_loss(task.others_labels, answers))
    assert learners["Euclidean"]["errors"]["4"] == pytest.approx(
        np.mean([plain[::2], plain[1::2]], 0)
    )
    assert learners["gramlearn"]["errors"]["4"] == pytest.approx(
        np.mean([learned[::2], learned[1::2]], 0)
    )
    assert [race["learners"]["gramlearn"]["status"] for race in written["races"]] == ["done"]
    # What is there is not done again.
    monkeypatch.setattr("benchmarks.scripts.metric_learn_comparison.launch", None)
    assert metric_learn_comparison.main(arguments) == 0
    assert json.loads(file.read_text(encoding="utf-8"))["accuracy"] == written["accuracy"]


def test_itml_comes_near_the_optimum_and_never_below_it(tmp_path):
    try:
        python = find_interpreter(find("metric_learn_itml").requirements, may_make=False)
    except UnavailableError as reason:
        pytest.skip(str(reason))
    task = next(splits("wine", 1, 20, (1, 99), 0.1))
    (tmp_path / "0").mkdir()
    save(task.instance, tmp_path / "0")
    launch("benchmarks.scripts.metric_learn_fits", python, tmp_path, METRIC_LEARN, 60.0, alone=True)
    report = json.loads((tmp_path / "0" / "metric-learn.json").read_text(encoding="utf-8"))
    assert report["status"] == "done"
    assert report["iterations"] < 1000
    value = judge.primal(task.instance, np.load(tmp_path / "0" / "metric-learn.npy"))
    optimum = find_reference(task.instance)
    assert 0 <= judge.relative_gap(value, optimum.dual) < 1e-3


def test_a_fit_over_its_time_limit_is_stopped_and_recorded(tmp_path):
    (tmp_path / "0").mkdir()
    save(next(splits("iris", 1, 20, (1, 99), 1.0)).instance, tmp_path / "0")
    launch("benchmarks.scripts.metric_learn_fits", sys.executable, tmp_path, GRAMLEARN, 1e-3)
    report = json.loads((tmp_path / "0" / "gramlearn.json").read_text(encoding="utf-8"))
    assert (report["status"], report["processor_seconds"]) == ("ended", 1e-3)
    assert report["seconds"] > 0
    assert report["peak_bytes"] is None or report["peak_bytes"] >= 0
    assert not (tmp_path / "0" / "gramlearn.npy").exists()
