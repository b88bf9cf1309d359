"""The experiments: no finished part is lost, computed twice, confused with another or hidden."""

import csv
import json
import os
import re
import textwrap
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from experiments.__main__ import main
from experiments.experiment import Part, Result, checked_parts
from experiments.published import publish, read_published
from experiments.reproductions.shared.pairs import draw_pairs, make_constraints, share_satisfied
from experiments.reproductions.shared.scores import clustering_nmi
from experiments.runs import compute_missing, open_run
from tools.atomic_files import write_atomically

import gramlearn as gl
from experiments import reproductions
from gramlearn import datasets
from toy_experiment import Toy

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def run_toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command, with this experiment under the name "toy"."""

    def run(toy: Toy, *arguments: str) -> int:
        monkeypatch.setattr(reproductions, "find", lambda name: toy)
        return main([*(arguments or ("run",)), "toy", "--out", str(tmp_path)])

    return run


def means(folder: Path) -> dict[str, float]:
    return {part["id"]: part["result"]["mean"] for part in records(folder)}


def records(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "parts").iterdir())
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


# -- seeds -----------------------------------------------------------------------------------------


def test_seeds_follow_from_the_id_and_not_from_the_order(tmp_path: Path, run_toy: Any) -> None:
    forward, backward, quick = (
        {part.id: part.seed for part in checked_parts(toy, few, 7)}
        for toy, few in ((Toy(), False), (Toy(order=-1), False), (Toy(), True))
    )
    assert forward == backward
    assert quick == {id: forward[id] for id in ("n1", "n2")}
    assert len(set(forward.values())) == 4
    assert forward != {part.id: part.seed for part in checked_parts(Toy(), False, 8)}


def test_a_result_can_be_reproduced_from_its_seed(tmp_path: Path, run_toy: Any) -> None:
    assert run_toy(Toy()) == 0
    record = json.loads((tmp_path / "toy" / "parts" / "n3.json").read_text(encoding="utf-8"))
    expected = np.random.default_rng(record["seed"]).random(3)
    assert record["result"]["numbers"] == expected.tolist()


@pytest.mark.parametrize("ids", [("a", "a"), ("../a",), ("A",), ("",)])
def test_ids_that_cannot_name_files_are_refused(ids: tuple[str, ...]) -> None:
    toy = Toy()
    toy.parts = lambda quick: [Part(id, {}) for id in ids]  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"two parts have the id|cannot name a file"):
        checked_parts(toy, False, 0)


def test_draws_in_one_part_give_what_separate_parts_give(tmp_path: Path) -> None:
    class InOneGo(Toy):
        def parts(self, quick: bool) -> list[Part]:
            return [Part.of_draws("all", super().parts(quick))]

        def compute(self, part: Part) -> dict[str, Any]:
            return {"draws": [super(InOneGo, self).compute(draw) for draw in part.draws]}

    apart, together = (
        open_run("toy", toy, False, 0, tmp_path / name)
        for name, toy in (("apart", Toy()), ("together", InOneGo()))
    )
    for run in (apart, together):
        compute_missing(run)
    assert len(together.outcome().records) == 1
    assert together.outcome().results() == apart.outcome().results()
    publish(together.outcome(), tmp_path)
    again = read_published("toy", InOneGo(), tmp_path)
    assert again is not None
    assert again.results() == apart.outcome().results()


# -- going on after an end -------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(143)])
def test_a_run_continues_where_it_ended(
    ending: BaseException, tmp_path: Path, capsys: pytest.CaptureFixture[str], run_toy: Any
) -> None:
    killed = Toy({"n3": ending})
    if isinstance(ending, KeyboardInterrupt):
        assert run_toy(killed) == 130
        said = capsys.readouterr().err
        assert "2 of 4 parts are finished and kept" in said
        assert "the same command goes on" in said
    else:
        with pytest.raises(SystemExit):
            run_toy(killed)
    assert sorted(os.listdir(tmp_path / "toy" / "parts")) == ["n1.json", "n2.json"]
    again = Toy()
    assert run_toy(again) == 0
    assert again.computed == ["n3", "n4"]

    whole = open_run("toy", Toy(), False, 0, tmp_path / "whole")
    compute_missing(whole)
    assert means(tmp_path / "toy") == {
        record["id"]: record["result"]["mean"] for record in whole.outcome().records
    }


def test_a_part_of_another_version_parameters_or_seed_is_not_taken(
    tmp_path: Path, run_toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_toy(Toy()) == 0
    same = Toy()
    assert run_toy(same) == 0
    assert same.computed == []

    newer = Toy()
    newer.version = 2  # type: ignore[misc]
    assert run_toy(newer) == 0
    assert newer.computed == ["n1", "n2", "n3", "n4"]

    other = Toy()
    other.version = 2  # type: ignore[misc]
    parts = [Part("n1", {"n": 5}), *other.parts(False)[1:]]
    other.parts = lambda quick: parts  # type: ignore[method-assign]
    assert run_toy(other) == 0
    assert other.computed == ["n1"]

    seeded = Toy()
    assert run_toy(seeded, "run", "--seed", "3") == 0
    assert seeded.computed == ["n1", "n2", "n3", "n4"]
    assert means(tmp_path / "toy-seed3") != means(tmp_path / "toy")


def test_other_data_are_another_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Toy()
    toy.data = ("iris",)  # type: ignore[misc]
    for source, count in (("here", 4), ("here", 4), ("there", 8)):
        found = datasets.Dataset("iris", source, X=None, y=np.zeros(1))
        monkeypatch.setattr(datasets, "load", lambda name, found=found: found)
        compute_missing(open_run("toy", toy, False, 0, tmp_path))
        assert len(toy.computed) == count


@pytest.mark.parametrize("content", ["", '{"id": "n2"', "[]", '{"id": "n2"}'])
def test_a_damaged_part_is_computed_again(content: str, tmp_path: Path, run_toy: Any) -> None:
    assert run_toy(Toy()) == 0
    (tmp_path / "toy" / "parts" / "n2.json").write_text(content, encoding="utf-8")
    again = Toy()
    assert run_toy(again) == 0
    assert again.computed == ["n2"]


def test_a_file_is_complete_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new" / "part.json"
    write_atomically(path, "old")

    def killed(*paths: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(path.parent) == ["part.json"]


# -- what goes wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (ValueError("the sky fell"), "ValueError: the sky fell"),
        ({"mean": float("nan")}, "ValueError: Out of range float values"),
        ({"mean": np.float32(1)}, "TypeError: Object of type float32"),
    ],
)
def test_a_part_that_fails_is_recorded_and_tried_again(
    trouble: Any, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], run_toy: Any
) -> None:
    failing = Toy({"n2": trouble})
    assert run_toy(failing) == 1
    assert failing.computed == ["n1", "n2", "n3", "n4"]
    printed = capsys.readouterr().out
    assert f"- n2 failed: {error}" in printed
    assert "3 of 4 parts" in printed
    record = json.loads((tmp_path / "toy" / "parts" / "n2.json").read_text(encoding="utf-8"))
    assert record["status"] == "failed"
    assert record["error"].startswith(error)
    assert "result" not in record

    mended = Toy()
    assert run_toy(mended) == 0
    assert mended.computed == ["n2"]


def test_all_parts_may_fail(tmp_path: Path, run_toy: Any) -> None:
    assert run_toy(Toy({f"n{k}": ValueError("no") for k in range(1, 5)})) == 1
    assert not (tmp_path / "toy" / "figure.png").exists()


def test_errors_the_user_can_fix_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["run", "digits398"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("there is no experiment 'digits398'; choose one of digits389")
    assert said.count("\n") == 1

    def refuse(**arguments: Any) -> Any:
        raise URLError("no network in tests")

    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    assert main(["run", "digits389", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("the data set pendigits_389_317 is not here: put")
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_empty_table_says_how_to_fill_it(
    capsys: pytest.CaptureFixture[str], run_toy: Any
) -> None:
    assert run_toy(Toy(), "table", "--quick") == 2
    said = capsys.readouterr().err
    assert re.search(r"`python -m experiments run toy --quick --out \S+` makes some", said)


def test_the_verdicts_of_a_whole_run_are_below_its_table(
    capsys: pytest.CaptureFixture[str], run_toy: Any
) -> None:
    verdict = "| 1 | means are below one | 0.5 |"
    assert run_toy(Toy({"n2": ValueError("no")})) == 1
    assert verdict not in capsys.readouterr().out
    assert run_toy(Toy()) == 0
    shown = capsys.readouterr().out
    assert shown.index("| n | mean |") < shown.index(verdict)


def test_where_there_is_no_run_the_table_is_the_published_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(datasets.VARIABLE, raising=False)  # no data are asked for
    assert main(["table", "digits389_neighbors", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "this is what was published" in shown.err
    assert "| constraints | draws |" in shown.out
    assert "verdict" in shown.out


@pytest.mark.parametrize("command", [
    ("run", "toy", "--out", __file__),
    ("run", "toy", "--out", ""),
    ("report", "--published", __file__),
    ("report", "--to", str(Path(__file__).parent)),
])  # fmt: skip
def test_a_path_of_the_wrong_kind_is_one_sentence(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(list(command))
    assert re.search(r"it must be a (folder|file); got", capsys.readouterr().err)


def test_a_report_without_a_folder_raises_a_clear_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["report", "--out", str(tmp_path / "typo")]) == 2
    assert "pass as --out where runs are" in capsys.readouterr().err


# -- what is left ----------------------------------------------------------------------------------


def test_results_say_where_they_come_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], run_toy: Any
) -> None:
    assert run_toy(Toy(), "run", "--quick") == 0
    shown = capsys.readouterr()
    assert shown.err == ""  # no bar where there is no terminal
    folder = tmp_path / "toy-quick"
    parts = records(folder)
    for part in parts:
        assert {"processor", "cores", "system"} <= set(part["machine"])
        assert {"python", "numpy", "scipy", "scikit-learn", "gramlearn"} == set(part["versions"])
        assert part["versions"]["numpy"] == np.__version__
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["n1", "n2"]
    for row, part in zip(rows, parts, strict=True):
        assert int(row["seed"]) == part["seed"]
        assert float(row["result.mean"]) == part["result"]["mean"]
        assert json.loads(row["result.numbers"]) == part["result"]["numbers"]
        assert row["machine.cores"] == str(part["machine"]["cores"])
        assert row["versions.numpy"] == np.__version__
    assert (folder / "figure.png").read_bytes().startswith(PNG)
    table = (folder / "table.md").read_text(encoding="utf-8")
    assert table == shown.out
    assert Toy.claim in table
    assert "2 of 2 parts (quick); seed 0; version 1;" in table
    assert f"| 2 | {parts[1]['result']['mean']:.3f} |" in table
    assert run_toy(Toy(), "table", "--quick") == 0
    assert capsys.readouterr().out == table


def test_rows_of_other_columns_are_a_table_of_their_own(
    capsys: pytest.CaptureFixture[str], run_toy: Any
) -> None:
    toy = Toy()
    rows = [{"a": "1"}, {"a": "2"}, {"b": "3", "c": "4"}]
    toy.table = lambda results: rows  # type: ignore[method-assign]
    assert run_toy(toy) == 0
    said = capsys.readouterr().out
    assert "| a |\n| --- |\n| 1 |\n| 2 |\n\n| b | c |\n| --- | --- |\n| 3 | 4 |\n\n" in said


def test_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    for name in reproductions.names():
        assert name in printed
        assert reproductions.find(name).claim in printed


def test_the_example_of_the_readme_needs_no_data() -> None:
    page = (Path(reproductions.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"python -m experiments (?:run|table) (\w+)", page))
    assert len(shown) == 1
    assert not reproductions.find(shown.pop()).data


def test_the_experiment_of_the_readme_is_whole() -> None:
    page = (Path(reproductions.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("This one is whole")
    code = rest.partition("\n\n")[2].partition("EXPERIMENT = Mine()\n")[0]
    found: dict[str, Any] = {}
    exec(textwrap.dedent(code + "EXPERIMENT = Mine()\n"), found)
    experiment = found["EXPERIMENT"]
    parts = checked_parts(experiment, False, 0)
    results = [Result(part.parameters, experiment.compute(part)) for part in parts]
    assert len(experiment.table(results)) == len(parts) == 5
    assert experiment.figure(results).axes
    (claim,) = experiment.claims(results)
    assert claim.agrees in (True, False)


# -- digits389 -------------------------------------------------------------------------------------


def test_nmi_is_the_formula_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    clusters = np.repeat([0, 1, 2], [10, 20, 30])
    points = centers[clusters] + rng.normal(size=(60, 2))
    assert clustering_nmi(points, clusters, seed=0) == pytest.approx(1.0)
    classes = np.repeat([0, 1, 2], [15, 25, 20])
    joint = np.array(
        [[np.mean((clusters == c) & (classes == k)) for k in range(3)] for c in range(3)]
    )
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    seen = joint > 0
    information = np.sum(joint[seen] * np.log(joint[seen] / np.outer(rows, columns)[seen]))
    entropies = [-np.sum(p * np.log(p)) for p in (rows, columns)]
    expected = information / np.mean(entropies)
    assert clustering_nmi(points, classes, seed=0) == pytest.approx(expected, rel=1e-12)


def test_pairs_come_nearer_or_go_farther_by_a_quarter() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 6)), rng.integers(3, size=40)
    i, j = draw_pairs(40, 12, rng)
    assert len({(a, b) for a, b in zip(i, j, strict=True)}) == 12
    assert (i < j).all()
    terms = make_constraints(X, y, i, j, gl.losses.Hard())
    solution = gl.solve(gl.Problem(gl.LogDet(), gl.Factor(X), terms))
    assert solution.status is gl.Status.OPTIMAL
    before, after = (np.sum((F[i] - F[j]) ** 2, axis=1) for F in (X, solution.factor))
    same = y[i] == y[j]
    assert same.any()
    assert not same.all()
    assert (after[same] <= 0.75 * before[same] * (1 + 1e-5)).all()
    assert (after[~same] >= 1.25 * before[~same] * (1 - 1e-5)).all()
    assert share_satisfied(solution.factor, terms) == 1.0
    assert share_satisfied(X, terms) == 0.0


def test_infeasible_draws_are_counted_without_nmi(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of rank one has its scale alone, which cannot both fall and rise by a quarter."""
    line = datasets.Dataset("line", "made here", np.arange(1.0, 9.0)[:, None], np.arange(8) % 2)
    monkeypatch.setattr(datasets, "load", lambda name: line)
    experiment = reproductions.find("digits389")
    value = experiment.compute(Part("all", {"constraints": 28, "repeat": 0}))
    for method in ("logdet", "von_neumann"):
        assert value[method]["status"] == "INFEASIBLE"
        assert "nmi" not in value[method]
    for method in ("logdet_slack", "von_neumann_slack"):
        assert value[method]["status"] == "OPTIMAL"
        assert 0 <= value[method]["nmi"] <= 1
    parameters = {"constraints": 28, "repeat": 0}
    (row,) = experiment.table([Result(parameters, value)])
    assert row["NMI, LogDet"] == "none (1 infeasible)"
    assert row["NMI, LogDet, slack"] == f"{value['logdet_slack']['nmi']:.3f} ± 0.000"
    labels = experiment.figure([Result(parameters, value)]).axes[0].get_legend_handles_labels()[1]
    assert labels == ["LogDet, slack", "von Neumann, slack"]


@pytest.mark.skipif(not os.environ.get(datasets.VARIABLE), reason=f"{datasets.VARIABLE} is not set")
def test_digits389_quick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "digits389", "--quick", "--out", str(tmp_path)]) == 0
    assert "6 of 6 parts (quick)" in capsys.readouterr().out
    folder = tmp_path / "digits389-quick"
    by_count: dict[int, list[float]] = {}
    for part in records(folder):
        for method in ("logdet", "von_neumann"):
            answer = part["result"][method]
            assert answer["status"] == "OPTIMAL"
            assert max(answer["relative_gap"], answer["violation"]) <= 1e-6
            by_count.setdefault(part["parameters"]["constraints"], []).append(answer["nmi"])
    assert np.mean(by_count[60]) > np.mean(by_count[0]) + 0.1
    assert (folder / "figure.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("name", reproductions.names())
def test_every_experiment_runs_quickly(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = reproductions.find(name)
    if experiment.data and not os.environ.get(datasets.VARIABLE):
        pytest.skip(f"{datasets.VARIABLE} is not set")
    assert main(["run", name, "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "failed" not in printed
    assert (tmp_path / f"{name}-quick" / "figure.png").read_bytes().startswith(PNG)
