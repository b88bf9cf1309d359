"""Methods of other packages, in environments and processes of their own."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from experiments.isolated import Package, call_isolated, limit_seconds
from experiments.reproductions.shared.rivals import (
    CLUSTERING,
    METRIC_LEARN,
    PYDML,
    find_clusters,
    learn_metric,
    learn_mmc,
)
from tools import environments
from tools.environments import UnavailableError

from experiments import isolated
from gramlearn import Pairs
from gramlearn.evaluation import normalized_mutual_information

RNG = np.random.default_rng(0)
CLASSES = np.arange(60) % 3
# The last of four features is noise, and the largest.
POINTS = RNG.standard_normal((60, 4)) * [1, 1, 1, 3] + 2.0 * np.eye(3, 4)[CLASSES]
HERE = Package("json", ())  # this interpreter, and a module that it has


def a_function(limit: float, does: str, values: np.ndarray) -> dict[str, Any]:
    """What a package might do."""
    if does == "raise":
        raise ValueError("no such metric")
    if does == "leave":
        os._exit(3)
    with limit_seconds(limit):
        while does == "go on":
            pass
    return {"doubled": 2 * values, "limit": limit, "words": does}


@pytest.fixture(autouse=True)
def environments_afresh() -> Iterator[None]:
    isolated._find_python.cache_clear()
    yield
    isolated._find_python.cache_clear()


def test_outcomes_of_calls_that_end_raise_time_out_or_die(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolated, "launch", launch_with_tests)
    ways = ("answer", "raise", "go on", "answer", "leave", "answer")
    calls = [{"does": way, "values": RNG.normal(size=(2, 3))} for way in ways]
    first, raised, ended, again, left, last = call_isolated(
        a_function, HERE, calls, 0.2, may_make=False
    )
    for answer, call in ((first, calls[0]), (again, calls[3])):
        assert (answer["status"], answer["reason"], answer["limit"]) == ("done", "", 0.2)
        np.testing.assert_array_equal(answer["doubled"], 2 * call["values"])
    assert raised == {"status": "failed", "reason": "ValueError: no such metric"}
    assert ended == {"status": "ended", "reason": "a fit took more than 0.2 s"}
    assert left["status"] == "failed"
    assert left["reason"].startswith("it ended with status 3")
    # What came after the call that took the process with it was asked anew.
    np.testing.assert_array_equal(last["doubled"], 2 * calls[5]["values"])


def test_after_a_time_out_the_next_of_its_kind_are_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(isolated, "launch", launch_with_tests)
    asked = (("slow", "go on"), ("quick", "raise"), ("slow", "answer"), ("quick", "answer"))
    calls = [{"does": way, "values": np.ones(2)} for _, way in asked]
    kinds = [kind for kind, _ in asked]
    answers = call_isolated(a_function, HERE, calls, 0.2, may_make=False, kinds=kinds)
    # What failed is tried again: another draw may do better.
    assert [answer["status"] for answer in answers] == ["ended", "failed", "ended", "done"]
    assert answers[2] == answers[0]


def launch_with_tests(*args: Any, **given: Any) -> str:
    """The same, where the process finds this file, too."""
    from tools.launch import launch

    folder = str(Path(__file__).parents[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([folder, *sys.path]))
        return launch(*args, **{**given, "alone": False})


def test_a_package_that_cannot_be_installed_is_recorded() -> None:
    missing = Package("nothing", ("no-such-package==0",))
    words = "a quick run makes no environment for no-such-package==0; a full run does, once"
    found = call_isolated(a_function, missing, [{}, {}], 1.0, may_make=False)
    assert found == [{"status": "unavailable", "reason": words}] * 2


def test_an_environment_that_cannot_be_made_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def refuse(*given: Any) -> str:
        tried.append(given)
        raise UnavailableError("no such package")

    monkeypatch.setattr(isolated, "find_interpreter", refuse)
    for _ in range(2):
        (answer,) = call_isolated(a_function, PYDML, [{}], 1.0, may_make=True)
        assert answer == {"status": "unavailable", "reason": "no such package"}
    assert tried == [(PYDML.requirements, True, PYDML.sources)]


# -- environments ----------------------------------------------------------------------------------


def test_the_first_of_two_processes_names_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other finds it made when it is done itself, and leaves nothing behind."""
    made = []

    def make(folder: Path, *rest: Any) -> None:
        for place in (folder, CACHE / folder.name.rsplit("-", 1)[0]) if made else (folder,):
            (place / "bin").mkdir(parents=True)
        made.append(folder)

    CACHE = tmp_path
    monkeypatch.setattr(environments, "CACHE", CACHE)
    monkeypatch.setattr(environments, "_make", make)
    first = environments.find_interpreter(("a==1",), may_make=True)
    assert first == environments.find_interpreter(("a==1",), may_make=False)
    other = environments.find_interpreter(("b==1",), may_make=True)
    assert len(made) == 2
    assert {folder.name for folder in CACHE.iterdir()} == {
        Path(python).parents[1].name for python in (first, other)
    }


def test_an_environment_that_cannot_be_stored_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "CACHE", tmp_path)
    monkeypatch.setattr(environments, "_make", lambda folder, *rest: None)  # nothing to rename
    with pytest.raises(UnavailableError, match="could not be kept"):
        environments.find_interpreter(("a==1",), may_make=True)


def test_a_failure_leaves_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(folder: Path, *rest: Any) -> None:
        folder.mkdir(parents=True)
        raise UnavailableError("no")

    monkeypatch.setattr(environments, "CACHE", tmp_path)
    monkeypatch.setattr(environments, "_make", make)
    with pytest.raises(UnavailableError, match="no"):
        environments.find_interpreter(("a==1",), may_make=True)
    assert not list(tmp_path.iterdir())


def test_source_packages_are_built_with_their_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = []
    monkeypatch.setattr(
        environments, "_call", lambda command, wanted, **more: commands.append(command)
    )
    monkeypatch.setattr(environments, "CACHE", tmp_path)
    environments._make(tmp_path, ("a==1",), ("b==2",), "a and b")
    _, binary, built = commands
    assert binary[-3:] == ["--only-binary", ":all:", "a==1"]
    assert built[-3:] == ["--no-build-isolation", "--no-deps", "b==2"]


# -- the packages, where their environments are ----------------------------------------------------


def asked(function: Any, package: Package, call: dict[str, Any]) -> dict[str, Any]:
    (answer,) = call_isolated(function, package, [call], 10.0, may_make=False)
    if answer["status"] == "unavailable":
        pytest.skip(answer["reason"])
    assert answer["status"] == "done", answer["reason"]
    return answer


@pytest.mark.parametrize(("package", "name"), [(METRIC_LEARN, "RCA_Supervised"), (PYDML, "MCML")])
def test_metrics_of_packages_are_positive_semidefinite_and_find_what_matters(
    package: Package, name: str
) -> None:
    W = asked(learn_metric, package, {"name": name, "X": POINTS, "y": CLASSES})["W"]
    assert np.linalg.eigvalsh((W + W.T) / 2)[0] > -1e-9
    means = np.stack([POINTS[c == CLASSES].mean(axis=0) for c in range(3)])
    within, between = POINTS - means[CLASSES], means - means.mean(axis=0)

    def ratio(M: np.ndarray) -> float:
        return float(np.trace(between @ M @ between.T) / np.trace(within @ M @ within.T))

    assert ratio(W) > ratio(np.eye(4))


def pairs() -> dict[str, np.ndarray]:
    found = Pairs.from_classes(CLASSES, 10, random_state=0)
    return {"alike": np.asarray(found.similar), "unlike": np.asarray(found.dissimilar)}


@pytest.mark.parametrize("diagonal", [False, True])
def test_mmc_improves_its_objective(diagonal: bool) -> None:
    given = pairs()
    answer = asked(learn_mmc, METRIC_LEARN, {"X": POINTS, **given, "diagonal": diagonal})
    assert not answer["is_start"]

    def objective(W: np.ndarray) -> float:
        similar, unlike = (
            np.einsum("ij,jk,ik->i", z, W, z)
            for z in (POINTS[table[:, 0]] - POINTS[table[:, 1]] for table in given.values())
        )
        return float(np.sqrt(unlike).sum() / np.sqrt(similar.sum()))

    W = answer["W"]
    assert objective(W) > 1.05 * objective(np.eye(4))
    assert diagonal == (np.count_nonzero(W - np.diag(np.diag(W))) == 0)


def test_mpck_means_finds_the_classes() -> None:
    call = {"name": "MPCK-means", "X": POINTS, "n_clusters": 3, **pairs(), "seed": 0}
    clusters = asked(find_clusters, CLUSTERING, call)["clusters"]
    assert normalized_mutual_information(CLASSES, clusters) > 0.4


@pytest.mark.parametrize(("does", "reason"), [
    ("raise", "ValueError: Input contains NaN."),
    ("nan", "ValueError: its answer is not finite"),
])  # fmt: skip
def test_the_outcome_of_mmc_is_recorded(
    does: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Learner:
        def __init__(self, **given: Any) -> None:
            pass

        def fit(self, table: np.ndarray, kinds: np.ndarray) -> None:
            if does == "raise":
                raise ValueError("Input contains NaN.")

        def get_mahalanobis_matrix(self) -> np.ndarray:
            return np.full((4, 4), np.nan)

    monkeypatch.setitem(sys.modules, "metric_learn", SimpleNamespace(MMC=Learner))
    answer = isolated.try_fit(lambda: learn_mmc(1.0, POINTS, **pairs(), diagonal=False))
    assert answer == {"status": "failed", "reason": reason}
