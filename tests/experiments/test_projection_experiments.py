"""Experiments that project until the duals settle: what the rule does without an answer, and what is said."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from experiments.experiment import Part, Result
from experiments.reproductions.k09 import spambase
from experiments.reproductions.k09._projections import (
    describe_solution,
    make_alike_claim,
    project_and_follow,
    solve_as_published,
)
from experiments.reproductions.k09._slack import Found, improvement_claim, time_claim
from experiments.reproductions.shared.pairs import draw_pairs, make_constraints

import gramlearn as gl
from experiments import reproductions
from gramlearn import datasets
from gramlearn.solvers import Projections


def feasible() -> gl.Problem:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 6)), rng.integers(3, size=40)
    i, j = draw_pairs(40, 12, rng)
    return gl.Problem(gl.LogDet(), gl.Factor(X), make_constraints(X, y, i, j, gl.losses.Hard()))


def test_the_duals_alone_stop_where_the_solver_stops_if_there_is_an_answer() -> None:
    problem, solver = feasible(), Projections("cyclic", seed=3)
    alone, judged = (
        project_and_follow(problem, solver, 500),
        describe_solution(solve_as_published(problem, solver, 500)),
    )
    assert alone["status"] == judged["status"] == "STOPPED"
    assert alone["cycles"] == judged["cycles"] == len(alone["satisfied"]) - 1
    assert alone["satisfied"][0] == 0.0
    assert alone["satisfied"][-1] > 0.5


def test_duals_that_grow_steadily_change_by_less_than_a_thousandth_after_a_thousand_cycles() -> (
    None
):
    """Of one scale x, held below 3/4 and above 5/4: every cycle moves log x by log(5/3), there and back."""
    terms = [
        gl.Term(gl.constraints.SquaredDistances([0], [1]), gl.losses.Hard(upper=0.75)),
        gl.Term(gl.constraints.SquaredDistances([2], [3]), gl.losses.Hard(lower=1.25)),
    ]
    points = gl.Factor(np.array([[0.0], [1.0], [0.0], [1.0]]))
    problem = gl.Problem(gl.VonNeumann(), points, terms)
    solver = Projections("cyclic", block=1)
    assert solve_as_published(problem, solver, 100).status is gl.Status.INFEASIBLE
    found = project_and_follow(problem, solver, 2000)
    assert found["status"] == "STOPPED"
    assert abs(found["cycles"] - 1000) <= 2
    assert set(found["satisfied"][1:]) == {0.5}  # one of the two, after every cycle
    assert project_and_follow(problem, solver, 10)["status"] == "ITERATION_LIMIT"


def test_approximate_projections_end_near_the_exact_kernel() -> None:
    experiment = reproductions.find("exact_and_approximate")
    answers = experiment.compute(Part("c0100-r00", {"constraints": 100, "repeat": 0}).seeded(0))
    assert answers["working_set"]["relative_gap"] <= 1e-6
    assert 0 < answers["approximate"]["apart"] <= 0.01
    assert 0 < answers["working_set"]["apart"] <= 0.01


def test_standardized_features_have_no_units(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    plain = datasets.Dataset("plain", "made here", rng.normal(size=(60, 4)), np.arange(60) % 2)
    scaled = replace(plain, X=plain.X * [1.0, 10.0, 100.0, 0.1] + 5)
    found = []
    for data in (plain, scaled):
        monkeypatch.setattr(datasets, "load", lambda name, data=data: data)
        parameters = {"constraints": 8, "repeat": 0, "variant": "standardized"}
        found.append(spambase.EXPERIMENT.compute(Part("a", parameters)))
    for name in ("logdet", "von_neumann"):
        one, other = (answers[name] for answers in found)
        assert "newton" not in one
        assert one["projections"]["cycles"] == other["projections"]["cycles"] > 0
        assert one["nmi_stopped"] == pytest.approx(other["nmi_stopped"])


def test_variants_are_kept_apart_from_the_draws_of_the_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    data = datasets.Dataset("plain", "made here", rng.normal(size=(60, 4)), np.arange(60) % 2)
    monkeypatch.setattr(datasets, "load", lambda name: data)
    experiment = spambase.EXPERIMENT
    results = []
    for variant in ({}, {"variant": "gamma100"}):
        parameters = {"constraints": 8, "repeat": 0, **variant}
        results.append(Result(parameters, experiment.compute(Part("a", parameters))))
    own, other = experiment.table(results)
    assert "otherwise" not in own
    assert own["draws"] == "1"
    assert other["otherwise"] == "spambase, raw, gamma = 100"
    alone = experiment.figure(results[:1]).axes[1].lines
    both = experiment.figure(results).axes[1].lines
    for line, again in zip(alone, both, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), again.get_xydata())


def took(cycles: int, *seconds: float) -> list[dict[str, Any]]:
    return [{"projections": {"status": "STOPPED", "cycles": cycles, "seconds": s}} for s in seconds]


def test_time_in_all_is_compared_by_medians() -> None:
    """The first draw compiles; a mean would say the contrary."""
    logdet, neumann = took(100, 20.0, 1.0, 1.1), took(10, 2.0, 2.1, 2.2)
    draws = [{"logdet": a, "von_neumann": b} for a, b in zip(logdet, neumann, strict=True)]
    assert time_claim(Found({0: draws, 50: draws})).agrees
    turned = [{"logdet": d["von_neumann"], "von_neumann": d["logdet"]} for d in draws]
    assert not time_claim(Found({50: turned})).agrees
    assert not time_claim(Found({50: turned, 100: draws})).agrees  # half is not more than half


def test_divergences_are_compared_on_the_same_draws() -> None:
    """A small gap that every draw has is a difference, however widely the draws are spread."""
    draws = np.linspace(0.5, 0.9, 20)
    steady, chance = 0.02 + 0.001 * np.cos(np.arange(20)), 0.02 * np.cos(np.arange(20))

    def found(gap: np.ndarray) -> Found:
        both = {"logdet": draws + gap, "von_neumann": draws}
        return Found(
            {
                30: [
                    {name: {"nmi_stopped": scores[k]} for name, scores in both.items()}
                    for k in range(20)
                ]
            }
        )

    def agrees(found: Found) -> bool | None:
        return make_alike_claim("", "", {30: found.ahead(30)}, setting="", also="").agrees

    assert found(steady).nmi("logdet", 30).near(found(steady).nmi("von_neumann", 30))
    assert not agrees(found(steady))
    assert agrees(found(chance))


def test_gains_are_judged_by_intervals_and_cycles_by_finished_solves() -> None:
    def draw(nmi: float, status: str, cycles: int) -> dict[str, Any]:
        answer = {"nmi_stopped": nmi, "projections": {"status": status, "cycles": cycles}}
        answer["newton"] = {"status": "OPTIMAL", "cycles": 9}
        return dict.fromkeys(("logdet", "von_neumann"), answer)

    before = [draw(nmi, "STOPPED", 0) for nmi in (0.10, 0.11, 0.12)]
    unsteady = [draw(nmi, "STOPPED", 10) for nmi in (0.1, 0.3, 0.2)]
    steady = [*(draw(nmi, "OPTIMAL", 20) for nmi in (0.21, 0.20)), draw(0.19, "STALLED", 3)]
    found = Found({0: before, 50: unsteady, 100: steady})
    assert not improvement_claim(replace(found, draws={0: before, 50: unsteady})).agrees
    claim = improvement_claim(found)
    assert claim.agrees
    assert "NMI from 0.110 to 0.200 with 100 constraints, by +0.090 ± 0.0" in claim.ours
    assert [found.cycles("logdet", count) for count in found.counts] == [10, 20]
    assert (found.unfinished("projections"), found.unfinished("newton")) == (2, 0)
