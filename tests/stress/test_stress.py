"""`python -m stress`: its judge can fail, its problems come again, its file survives, and a run finds nothing.

A judge that accepts everything finds nothing either, so each lie that an answer could tell is planted here.
"""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from stress.__main__ import main
from stress.arithmetic import DOUBLE, SIXTY
from stress.code import write_program
from stress.exact import Exact
from stress.formulas import LOSSES, MATRICES, REGULARIZERS
from stress.judge import Claim, judge
from stress.outcome import Finding
from stress.page import PAGE, RESULTS, publish, write_headline, write_page
from stress.problems import SOLVERS, draw
from stress.question import Clause, Question
from stress.recompute import Reading, recompute
from stress.report import count_outcomes, group_findings, list_outcomes
from stress.runner import attempt_task, list_tasks, try_tasks
from stress.second_opinion import make_program, optimal_value
from stress.shrink import shrink
from stress.store import Store, read_lines
from stress.tasks import STREAMS, Task
from stress.trial import ask
from stress.watch import OutOfTime, is_sentence, watch_call

import gramlearn
import oracles
from catalogue import concrete
from gramlearn.problem.constraints import Constraints
from gramlearn.problem.losses import Loss
from gramlearn.problem.spectral import Regularizer
from stress import calls, odd_data

ROOT = Path(__file__).parents[2]
ROWS = {"i": np.array([0, 1, 0]), "j": np.array([1, 2, 3])}


def question(regularizer="LogDet", loss="Hard", **bounds):
    """Three squared distances of four points, asked to be smaller than they are."""
    clause = Clause("SquaredDistances", ROWS, loss, bounds or {"upper": np.array([1.0, 0.5, 1.5])})
    return Question(regularizer, {}, np.eye(4), "matrix", (clause,))


def answer(asked):
    return Claim.of(gramlearn.solve(asked.build(), asked.solver, asked.tol))


def kinds(findings):
    return {finding.key.split()[0] for finding in findings}


# -- what there is --------------------------------------------------------------------------------------


def test_every_part_of_the_library_has_its_formulas_and_is_drawn():
    assert set(REGULARIZERS) == {c.__name__ for c in concrete(Regularizer)} == set(SOLVERS)
    assert set(LOSSES) == {c.__name__ for c in concrete(Loss)}
    assert set(MATRICES) == {c.__name__ for c in concrete(Constraints)}
    public = [getattr(gramlearn, name) for name in gramlearn.__all__]
    estimators = {
        c.__name__ for c in public if isinstance(c, type) and issubclass(c, BaseEstimator)
    }
    assert set(calls.ESTIMATORS) == estimators
    drawn = {word for index in range(300) for word in draw("wild", 0, index).labels}
    assert drawn >= {*REGULARIZERS, *LOSSES, *MATRICES, "contradiction", "reward", "single"}
    called = {calls.draw(0, index).estimator for index in range(300)}
    assert called == estimators


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("stream", STREAMS)
def test_a_task_depends_on_its_id_alone(stream, index):
    task = Task.of(f"{stream}-3-{index}")
    one, other = (STREAMS[stream].program(task.draw(), "") for _ in range(2))
    assert one == other
    assert one != STREAMS[stream].program(Task(stream, 4, index).draw(), "")


# -- numbers --------------------------------------------------------------------------------------------


def test_sums_and_products_are_exact():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4)) * 10.0 ** rng.integers(-200, 200, (3, 4))
    exact = Exact.of(x)
    assert np.array_equal(exact.nearest(), x)
    assert np.array_equal((exact * exact - exact * exact).integers, np.zeros((3, 4), dtype=int))
    big = Exact.of([2.0**60, 1.0, -(2.0**60)])
    assert big.sum().nearest() == 1.0
    assert (Exact.of([[0.1]]) @ Exact.of([[10.0]])).rounded()[0, 0] != 1  # 0.1 is no tenth


@pytest.mark.parametrize("kind", ["mild", "wild"])
def test_doubles_and_sixty_digits_agree_within_the_bound_on_rounding(kind):
    rng = np.random.default_rng(1)
    for index in range(12):
        asked = draw(kind, 9, index)
        factor = np.linalg.cholesky(asked.prior @ asked.prior.T + np.eye(asked.dimension))
        if asked.prior_kind == "factor":
            factor = asked.prior
        duals = [np.zeros(clause.size) for clause in asked.clauses]
        for clause, lam in zip(asked.clauses, duals, strict=True):
            if clause.loss in ("Hard", "Square", "SquaredHinge"):
                sign = {"upper": 1, "lower": -1}.get(clause.side, rng.choice([-1, 1]))
                lam[:] = sign * rng.random(len(lam)) * 1e-3
        double, sixty = (recompute(Reading(asked, a), factor, duals) for a in (DOUBLE, SIXTY))
        for name in ("primal", "dual", "violation"):
            error = getattr(double, f"{name}_error")
            values = getattr(double, name), float(getattr(sixty, name))
            assert values[0] == values[1] or not abs(values[0] - values[1]) > error + 1e-300


@pytest.mark.parametrize(
    ("regularizer", "loss", "bounds"),
    [
        ("LogDet", "LogDetSlack", {"C": 2.0, "upper": 1.0}),
        ("LogDet", "Hinge", {"C": 0.3, "lower": 3.0}),
        ("VonNeumann", "KLSlack", {"C": 0.7, "equal": 1.0}),
        ("Frobenius", "SquaredHinge", {"C": 2.0, "lower": 3.0}),
        ("Frobenius", "Hard", {"upper": 0.5}),
    ],
)
def test_the_formulas_are_those_of_another_package(regularizer, loss, bounds):
    asked = question(regularizer, loss, **bounds)
    claim = answer(asked)
    values = recompute(Reading(asked, SIXTY), claim.factor, claim.duals)
    optimum = oracles.ask(make_program(asked))
    assert float(values.primal) == pytest.approx(optimum, rel=1e-5)
    assert float(values.dual) == pytest.approx(optimum, rel=1e-5)
    assert optimal_value(asked) in (None, pytest.approx(optimum, rel=1e-5))


def test_a_bound_beyond_all_digits_leaves_the_slack_finite():
    """t / b - 1 is -1 in 60 digits where t / b is 1e-300, and log(t / b) is -690."""
    loss, one = LOSSES["LogDetSlack"], SIXTY.real(np.ones(1))
    (value,) = loss.penalty(SIXTY, one, SIXTY.real(np.array([1e300])), one)
    assert float(value) == pytest.approx(300 * np.log(10) - 1, rel=1e-12)
    (near,) = loss.penalty(SIXTY, one * (1 + 1e-9), one, one)
    assert float(near) == pytest.approx(5e-19, rel=1e-6)


# -- lies -----------------------------------------------------------------------------------------------

HONEST = ("LogDet", "VonNeumann", "Frobenius")


@pytest.mark.parametrize("regularizer", HONEST)
def test_an_honest_answer_is_accepted(regularizer):
    asked = question(regularizer)
    assert judge(asked, answer(asked)) == []


@pytest.mark.parametrize("regularizer", HONEST)
@pytest.mark.parametrize(
    ("lie", "seen"),
    [
        (lambda c: replace(c, dual=c.dual + 1e-4), "dual"),
        (lambda c: replace(c, dual=c.dual - 1e-4, gap=0.0), "dual"),
        (lambda c: replace(c, primal=c.primal - 1e-4), "primal"),
        (lambda c: replace(c, duals=tuple(1.01 * v for v in c.duals)), "dual"),
        (lambda c: replace(c, duals=tuple(-v for v in c.duals)), "dual"),
        (lambda c: replace(c, duals=tuple(0 * v for v in c.duals)), "gap"),
        (lambda c: replace(c, factor=0.99 * c.factor), "primal"),
        (lambda c: replace(c, factor=1.01 * c.factor), "violation"),
        (lambda c: replace(c, status="INFEASIBLE"), "false"),
        (lambda c: replace(c, status="UNBOUNDED"), "false"),
        (lambda c: replace(c, factor=np.nan * c.factor), "nan"),
        (lambda c: replace(c, gap=np.nan), "nan"),
        (lambda c: replace(c, factor=c.factor[:-1]), "shape"),
    ],
)
def test_every_false_claim_is_found(regularizer, lie, seen):
    asked = question(regularizer)
    assert seen in kinds(judge(asked, lie(answer(asked))))


@pytest.mark.parametrize("regularizer", ["LogDet", "VonNeumann"])
def test_an_answer_that_is_not_optimal_is_not_called_so(regularizer):
    asked = question(regularizer)
    rough = gramlearn.solve(asked.build(), tol=0.3)
    claim = replace(Claim.of(rough), status="OPTIMAL")
    assert rough.relative_gap > 1e-5
    assert "not" in kinds(judge(asked, claim))  # not optimal
    # An honest gap with an honest status is no finding, however large it is.
    assert judge(asked, replace(claim, status="STALLED")) == []


def test_an_answer_outside_the_range_of_the_prior_is_found():
    clause = Clause("Trace", {}, "Hard", {"upper": 1.0})
    asked = Question("VonNeumann", {}, np.eye(3)[:, :2], "factor", (clause,))
    claim = answer(asked)
    assert judge(asked, claim) == []
    outside = np.hstack([claim.factor, 0.1 * np.eye(3)[:, 2:]])
    assert "range" in kinds(judge(asked, replace(claim, factor=outside)))


def contradiction(apart=1e-5):
    clauses = [
        Clause("Trace", {}, "Hard", {"upper": 1.0}),
        Clause("Trace", {}, "Hard", {"lower": 1 + apart}),
    ]
    return Question("Frobenius", {}, np.eye(3), "matrix", tuple(clauses))


@pytest.mark.parametrize("apart", [1.0, 1e-5])
def test_a_proof_of_infeasibility_is_read(apart):
    asked = contradiction(apart)
    claim = replace(answer(question()), factor=np.eye(3), status="INFEASIBLE")
    for duals, proves in (
        ((1.0, -1.0), True),
        ((1.0, -1.0 - 1e-3), False),  # tr X <= 1 and (1 + 1e-3) tr X >= ... says nothing
        ((1.0, 0.0), False),
        ((-1.0, 1.0), False),
        ((0.0, 0.0), False),
    ):
        said = replace(claim, duals=tuple(np.array([v]) for v in duals))
        assert (judge(asked, said) == []) is proves, duals


@pytest.mark.parametrize(("slip", "proves"), [(1e-13, True), (1e-9, False)])
def test_a_proof_about_one_entry_is_read_in_units_of_its_bound(slip, proves):
    """X_00 <= 1 and X_00 >= 1 + 1e-5: a bound of 1e8 on another entry says nothing of this one."""
    bounds = ((0, {"upper": 1.0}), (0, {"lower": 1 + 1e-5}), (1, {"upper": 1e8}))
    clauses = (
        Clause("DiagonalEntries", {"i": np.array([i])}, "Hard", bound) for i, bound in bounds
    )
    asked = Question("Frobenius", {}, np.eye(3), "matrix", tuple(clauses))
    duals = tuple(np.array([v]) for v in (1.0, -1.0 - slip, 0.0))
    claim = replace(answer(question()), factor=np.eye(3), status="INFEASIBLE", duals=duals)
    assert (judge(asked, claim) == []) is proves


def test_a_proof_is_rejected_where_a_feasible_matrix_is_known():
    asked = replace(contradiction(1e-12), feasible=np.eye(3) / 3)
    claim = replace(answer(question()), factor=np.eye(3), status="INFEASIBLE")
    said = replace(claim, duals=(np.array([1.0]), np.array([-1.0])))
    assert kinds(judge(asked, said)) == {"false"}


def test_unbounded_is_accepted_where_it_is_true():
    reward = Clause("Trace", {}, "Linear", {"slope": -2.0})
    bound = Clause("Trace", {}, "Hard", {"upper": 9.0})
    claim = replace(answer(question()), status="UNBOUNDED", factor=np.eye(3))
    free = Question("LogDet", {}, np.eye(3), "matrix", (reward,))
    assert judge(free, replace(claim, duals=(np.array([-2.0]),))) == []
    bounded = replace(free, clauses=(reward, bound))
    assert judge(bounded, replace(claim, duals=(np.array([-2.0]), np.zeros(1))))


def test_unbounded_is_rejected_despite_an_expensive_direction():
    """Prices of 1.2 bound it, which a solver sees in units of the direction that costs 1e10 and others."""
    P = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    rows = (
        ((0.0, 1.0, -3.0), "Hard", {"equal": 0.5}),
        ((0.0, 2.0, -3.0), "Linear", {"slope": -1.0}),
        ((1.0, 0.0, 0.0), "Linear", {"slope": 1e10}),
    )
    clauses = (
        Clause("DenseMatrices", {"matrices": (P @ np.diag(d) @ P.T)[None]}, loss, parameters)
        for d, loss, parameters in rows
    )
    asked = Question("LogDet", {}, np.eye(3), "matrix", tuple(clauses))
    duals = tuple(np.array([v]) for v in (0.0, -1.0, 1e10))
    claim = replace(answer(question()), factor=np.eye(3), status="UNBOUNDED", duals=duals)
    assert kinds(judge(asked, claim)) == {"false"}


def test_overflow_is_accepted_where_it_is_true():
    reward = Clause("Trace", {}, "Linear", {"slope": -2000.0})
    bound = Clause("Trace", {}, "Hard", {"upper": 9.0})
    claim = replace(answer(question()), status="OVERFLOW", factor=np.eye(3))
    free = Question("VonNeumann", {}, np.eye(3), "matrix", (reward,))
    assert judge(free, replace(claim, duals=(np.array([-2000.0]),))) == []
    bounded = replace(free, clauses=(reward, bound))
    assert judge(bounded, replace(claim, duals=(np.array([-2000.0]), np.zeros(1))))
    small = replace(free, clauses=(replace(reward, parameters={"slope": -20.0}),))
    assert judge(small, replace(claim, duals=(np.array([-20.0]),)))
    said = replace(claim, duals=(np.array([-2000.0]), np.zeros(1)))
    for gamma, is_believed in (
        (1.0, True),
        (1e3, False),
    ):  # the price of 2000 costs exp(2000 / gamma)
        slack = Clause("Trace", {}, "KLSlack", {"upper": 9.0, "C": gamma})
        slackened = Question("LogDet", {}, np.eye(3), "matrix", (reward, slack))
        assert (judge(slackened, said) == []) is is_believed


# -- calls under watch ------------------------------------------------------------------------------------


def test_deliberate_errors_are_distinguished_from_accidents():
    def error_of(call):
        return watch_call(call).error

    assert is_sentence(error_of(lambda: gramlearn.Schatten(0.5)))
    assert is_sentence(error_of(lambda: gramlearn.KernelKMeans(2).fit([[np.nan], [1.0]])))
    assert not is_sentence(error_of(lambda: np.zeros(3).reshape(2)))
    assert not is_sentence(error_of(lambda: np.linalg.inv(np.zeros((2, 2)))))
    assert not is_sentence(error_of(lambda: None.factor))


def test_a_call_that_does_not_end_is_stopped():
    seen = watch_call(lambda: [None for _ in iter(int, 1)], 0.05)
    assert isinstance(seen.error, OutOfTime)


def test_warnings_that_leak_and_inputs_that_change_are_findings(monkeypatch):
    asked = question()
    solve = gramlearn.solve

    def spoiled(problem, *args, **options):
        asked.prior[0, 0] = 2.0
        warnings.warn("divide by zero", RuntimeWarning, stacklevel=1)
        return solve(problem, *args, **options)

    monkeypatch.setattr(gramlearn, "solve", spoiled)
    found = ask(asked).findings
    assert {"warning", "changed input"} <= {finding.kind for finding in found}


def test_an_exception_of_a_solve_is_a_finding(monkeypatch):
    def broken(*args, **options):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(gramlearn, "solve", broken)
    outcome = ask(question())
    assert outcome.ending == "broken"
    assert outcome.findings[0].kind == "exception"


def odd_call(estimator, line="pass", arguments=()):
    head = calls.draw(0, 0).head
    return calls.Call(estimator, head, (("X: odd", line),), None, tuple(arguments))


def test_a_fit_that_goes_wrong_is_found(monkeypatch):
    fit = gramlearn.KernelKMeans.fit
    call = odd_call("KernelKMeans", arguments=[("n_clusters", "2"), ("random_state", "0")])
    assert calls.attempt(call).findings == ()

    def spoiling(self, X, y=None):
        X[0] = 0.0
        return fit(self, X, y)

    def forgetting(self, X, y=None):
        fit(self, X, y)
        self.inertia_ = float(np.random.default_rng().random())
        return self

    def blind(self, X, y=None):
        fit(self, X, y)
        self.inertia_ = float("nan")
        return self

    for replaced, kind in (
        (spoiling, "changed input"),
        (forgetting, "not repeatable"),
        (blind, "nan"),
    ):
        monkeypatch.setattr(gramlearn.KernelKMeans, "fit", replaced)
        assert kind in {finding.kind for finding in calls.attempt(call).findings}


def test_invalid_points_must_be_refused():
    wrong = (("wrong X: NaN", odd_data.WRONG_POINTS["NaN"]),)
    call = replace(odd_call("KernelKMeans", arguments=[("n_clusters", "2")]), oddities=wrong)
    assert calls.attempt(call).ending == "refused"


def test_every_invalid_point_is_invalid_in_any_array():
    """A mask that hides nothing, or NaN in whole numbers, would be no finding."""
    for what, line in odd_data.WRONG_POINTS.items():
        for before in ("zeros", "truth values", "bytes", "sparse array", "lists", "far away"):
            odd = (("X", odd_data.POINTS[before]), ("wrong X: " + what, line))
            call = replace(odd_call("KernelKMeans", arguments=[("n_clusters", "1")]), oddities=odd)
            assert calls.attempt(call).ending == "refused", (what, before)


def test_an_error_of_the_tool_itself_is_a_finding_with_its_place(monkeypatch):
    def broken(call):
        raise ZeroDivisionError("of a judge")

    monkeypatch.setitem(STREAMS, "estimators", STREAMS["estimators"]._replace(attempt=broken))
    (found,) = attempt_task(Task.of("estimators-0-0"))["findings"]
    assert found["kind"] == "tool"
    assert "of a judge" in found["words"]


# -- the smallest example -----------------------------------------------------------------------------------


def test_a_problem_is_shrunk_to_what_the_finding_needs_and_printed_as_a_program(tmp_path):
    asked = next(
        drawn
        for drawn in (draw("wild", 0, index) for index in range(100))
        if len(drawn.clauses) > 2 and "SquaredDistances" in drawn.labels and drawn.dimension > 5
    )
    smallest = shrink(asked, lambda q: "SquaredDistances" in q.labels)
    assert len(smallest.clauses) == smallest.size == 1
    assert smallest.dimension <= 2
    path = tmp_path / "example.py"
    path.write_text(write_program(smallest, "words"), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert "Solution(" in done.stdout, done.stderr


@pytest.mark.parametrize("index", range(6))
def test_a_program_says_what_was_asked_to_the_last_bit(index):
    asked = draw("wild", 2, index)
    names = {}
    exec(write_program(asked).split("solution =")[0], names)
    again = Question.of(names["problem"], asked.tol)
    assert (
        write_program(replace(again, solver=asked.solver, feasible=None)).splitlines()[-2:]
        == (write_program(asked).splitlines()[-2:])
    )
    assert [c.size for c in again.clauses] == [c.size for c in asked.clauses]
    assert np.array_equal(again.prior, asked.prior)


# -- the file of a run ------------------------------------------------------------------------------------

FACTS = {"seed": 0}


def line(name, status="OPTIMAL", findings=(), ending="answered", labels=("LogDet",)):
    stream = name.split("-")[0]
    return {
        "id": name, "stream": stream, "labels": list(labels), "ending": ending, "status": status,
        "solver": "auto", "seconds": 0.1, "words": "", "findings": [f._asdict() for f in findings],
    }  # fmt: skip


def test_an_incomplete_line_is_dropped_and_tried_again(tmp_path):
    store = Store(tmp_path, FACTS)
    for index in range(3):
        store.add(line(f"mild-0-{index}"))
    store.close()
    path = tmp_path / "outcomes.jsonl"
    content = path.read_bytes()
    for cut in (1, 20, len(content.splitlines(keepends=True)[-1]) - 1):
        path.write_bytes(content[:-cut])
        again = Store(tmp_path, FACTS)
        assert again.done == {"mild-0-0", "mild-0-1"}
        assert next(list_tasks(["mild"], 0, again.done, None, [])).id == "mild-0-2"
        again.add(line("mild-0-2"))
        again.close()
        assert [entry["id"] for entry in read_lines(tmp_path) if "id" in entry] == [
            f"mild-0-{index}" for index in range(3)
        ]
        content = path.read_bytes()


def test_a_folder_of_another_seed_is_refused(tmp_path, capsys):
    Store(tmp_path, FACTS).close()
    assert main(["run", "--seed", "5", "--out", str(tmp_path)]) == 2
    assert "holds a run of seed 0" in capsys.readouterr().err


def test_the_report_counts_right(tmp_path, capsys):
    crash, lie = Finding("exception", "E", "broke"), Finding("certificate", "dual", "lied")
    store = Store(tmp_path, FACTS)
    store.add(line("mild-0-0"))
    store.add(line("mild-0-1", "STALLED"))
    store.add(line("wild-0-0", "", [crash], "broken", ["VonNeumann"]))
    store.add(line("wild-0-1", "OPTIMAL", [crash, lie]))
    store.add(line("estimators-0-0", "", (), "refused", ["POLA"]))
    store.add(line("estimators-0-1", "", (), "unfinished", ["POLA"]))
    store.close()
    rows = {
        row[""]: row
        for row in count_outcomes(list_outcomes(tmp_path), lambda entry: [entry["stream"]])
    }
    assert rows["mild"] | {"": 0} == {
        "": 0, "tried": 2, "answered": 1, "refused": 0, "unfinished": 1, "of these stuck": 1,
        "share unfinished": "50.00 %", "with findings": 0,
    }  # fmt: skip
    assert (rows["wild"]["answered"], rows["wild"]["with findings"]) == (1, 2)
    assert (rows["estimators"]["refused"], rows["estimators"]["unfinished"]) == (1, 1)
    found = {case.finding.kind: case.ids for case in group_findings(list_outcomes(tmp_path))}
    assert found == {"exception": ["wild-0-0", "wild-0-1"], "certificate": ["wild-0-1"]}
    assert main(["report", str(tmp_path), "--no-examples"]) == 0
    assert "Findings: 2" in capsys.readouterr().out


def test_the_page_is_written_from_what_was_published(tmp_path):
    store = Store(tmp_path, page_facts())
    store.add(line("mild-0-0"))
    store.add(line("wild-0-0", "", [Finding("exception", "E", "it broke")], "broken"))
    store.add(line("estimators-0-0", "", (), "refused", ["POLA"]))
    store.add(line("mild-0-1", "STALLED"))
    store.add({**line("mild-0-2", "STALLED"), "solver": "projections"})
    store.close()
    results = tmp_path / "results.json"
    publish([tmp_path, tmp_path], lambda task, finding: f"# {task.id}\n", results)
    text = write_page(json.loads(results.read_text(encoding="utf-8")))
    assert (
        "**8 random problems and 2 odd calls of estimators: one distinct finding is left. Unfinished: 50.00 % "
        "of mild problems and 0.00 % of wild problems with the solver left to the library, 0.00 % of calls.**"
    ) in text
    assert text.count("| mild-0-1 | LogDet | ") == 2
    assert "mild-0-2" not in text  # whoever names a solver may have another
    assert "### exception: E\n\n2 times (wild 2), such as wild-0-0, wild-0-0: it broke" in text
    assert "```py\n# wild-0-0\n```" in text  # not run with the pages' own programs
    assert "- seed: 0\n" in text


def page_facts():
    return {
        **FACTS,
        "commit": "c",
        "python": "3",
        "machine": {"cores": 2},
        "versions": {"numpy": "2"},
    }


@pytest.mark.skipif(not RESULTS.exists(), reason="nothing was published yet")
def test_the_page_says_what_was_published_to_the_letter():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == write_page(results)
    for name in ("README.md", "docs/benchmarks.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert write_headline(results) in " ".join(text.split())


def test_show_prints_the_program_of_a_task(tmp_path, capsys):
    assert main(["show", str(tmp_path), "mild-0-3"]) == 0
    assert "solve(problem" in capsys.readouterr().out
    assert main(["show", str(tmp_path), "nothing"]) == 2
    assert "there is no task 'nothing'" in capsys.readouterr().err


def test_the_program_of_a_task_names_no_solver_that_refuses_it():
    points = np.eye(3)
    clause = Clause(
        "SquaredDistances",
        {"i": np.array([0]), "j": np.array([1]), "points": points},
        "Hard",
        {"upper": 1.0},
    )
    drawn = Question("Frobenius", {}, points, "matrix", (clause,), "quasi_newton")
    assert drawn.accepted_solver == "auto"
    assert "solver=" not in write_program(drawn)
    assert 'solver="interior_point"' in write_program(replace(drawn, solver="interior_point"))


def test_a_killed_run_continues_where_it_was(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "stress", "run", "--stream", "mild", "--count", "2"]
    command += ["--minutes", "5", "--jobs", "1", "--out", str(tmp_path)]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)
    while sum("id" in entry for entry in read_lines(tmp_path)) < 1:
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.wait()
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = list_outcomes(tmp_path)
    assert [entry["id"] for entry in lines] == [f"mild-0-{index}" for index in range(2)]
    assert "with findings" in done.stdout
    assert done.stderr == ""  # no bar in a log


class Ending(Task):
    """A task that ends its worker, or never ends itself."""

    def attempt(self):
        if self.index:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
            time.sleep(1000)
        os._exit(3)


def test_a_worker_that_dies_or_hangs_is_a_finding_and_is_replaced(tmp_path):
    store = Store(tmp_path, FACTS)
    tasks = [Ending("mild", 0, 0), Ending("mild", 0, 1), Task("mild", 0, 2)]
    assert try_tasks(iter(tasks), store, 60, 1, patience=6) == 3
    store.close()
    found = [
        [finding["kind"] for finding in entry["findings"]] for entry in list_outcomes(tmp_path)
    ]
    assert found == [["death"], ["hang"], []]


# -- two minutes of it ------------------------------------------------------------------------------------

PIECES = 8


@pytest.mark.parametrize("piece", range(PIECES))
@pytest.mark.parametrize(("stream", "number"), [("mild", 25), ("wild", 10), ("estimators", 25)])
def test_nothing_is_found(stream, number, piece):
    for index in range(piece * number, (piece + 1) * number):
        outcome = Task(stream, 2, index).attempt()
        assert outcome["findings"] == [], json.dumps(outcome["findings"])
