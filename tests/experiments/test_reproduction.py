"""docs/reproduction.md: it is what the published results give, and has no number from elsewhere."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from experiments.__main__ import main
from experiments.experiment import Claim, Result
from experiments.pages import (
    GUIDE,
    TABLE_BEGIN,
    TABLE_END,
    load_published,
    replace_table,
    write_document,
)
from experiments.published import FOLDER, read_published
from experiments.reproductions.f07.kernel_design import shares_by_set
from experiments.reproductions.k09._mnist_claims import Found
from experiments.reproductions.shared.by_set import BySet
from experiments.reproductions.shared.twelve_sets import SETS
from experiments.reproductions.z11.embedding_tables import accuracies_by_set
from experiments.runs import Outcome
from experiments.summary import VERDICTS, choose_verdict

from experiments import reproductions
from gramlearn import Status
from toy_experiment import Toy

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?")


@pytest.fixture
def report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command; gives its status, the page and what was said of it."""

    def run() -> tuple[int, str, str]:
        folders = ["--out", str(tmp_path / "runs"), "--published", str(tmp_path / "published")]
        page = tmp_path / "docs" / "page.md"
        capsys.readouterr()
        status = main(["report", *folders, "--to", str(page)])
        return status, page.read_text(encoding="utf-8"), capsys.readouterr().err

    return run


def run_of(toy: str, out: Path) -> int:
    return main(["run", toy, "--out", str(out / "runs")])


# -- the page of a toy -----------------------------------------------------------------------------


def test_the_page_says_what_the_results_say(
    tmp_path: Path, toys: dict[str, Toy], report: Any
) -> None:
    toys["toy"] = Toy()
    assert run_of("toy", tmp_path) == 0
    status, page, said = report()
    assert (status, said) == (0, "")
    files = (tmp_path / "runs/toy/parts").iterdir()
    parts = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    largest = max(part["result"]["mean"] for part in parts)
    assert f"| 1 | means are below one | 0.5 | {largest:.4f} at most | all are | agrees |" in page
    assert "One is" not in page  # a reason is for what differs
    assert "Numbers are drawn." in page
    assert "python -m experiments run toy" in page
    assert "| toy | 4 of 4 | 0 |" in page
    for part in parts:
        assert f"| {part['parameters']['n']} | {part['result']['mean']:.3f} |" in page
    assert (tmp_path / "docs/images/toy.png").read_bytes().startswith(b"\x89PNG")

    # Without the run the page is the same: it comes from what was published.
    (tmp_path / "runs").rename(tmp_path / "elsewhere")
    (tmp_path / "runs").mkdir()
    assert report() == (0, page, "")

    file = tmp_path / "published" / "toy.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"mean":0.', '"mean":7.'), "utf-8")
    _, other, _ = report()
    assert f"7.{f'{largest:.4f}'[2:]} at most | all are | differs |" in other
    assert f"Claim 1 differs: One is 7.{f'{largest:.5f}'[2:]}." in other
    assert "| [Means of numbers](#means-of-numbers) | section 0 | 1 |  | 1 |  |  |" in other
    assert "| **all** |  | 1 |  | 1 |  |  |" in other


def test_missing_results_are_listed(tmp_path: Path, toys: dict[str, Toy], report: Any) -> None:
    toys["toy"], toys["other"] = Toy(), Toy()
    assert run_of("toy", tmp_path) == 0
    status, page, said = report()
    assert status == 1
    words = (
        "other: its present version has no results; `python -m experiments run other` makes them."
    )
    assert said == words + "\n"
    assert f"Missing:\n\n- {words}\n" in page

    toys["other"].claims = lambda results: []  # type: ignore[method-assign]
    assert run_of("other", tmp_path) == 0
    status, page, said = report()
    assert (status, said) == (1, "other: its claims have not been written down yet.\n")
    assert "Its claims have not been written down yet." in page


def test_an_incomplete_run_does_not_replace_a_complete_one(
    tmp_path: Path, toys: dict[str, Toy], report: Any
) -> None:
    toys["toy"] = Toy({"n2": ValueError("no")})
    assert run_of("toy", tmp_path) == 1
    status, page, said = report()
    assert (status, said) == (1, "toy: 3 of 4 parts are finished.\n")
    assert "- n2 failed: ValueError: no." in page
    toys["toy"] = Toy()
    assert run_of("toy", tmp_path) == 0
    status, whole, _ = report()
    assert status == 0
    assert "n2 failed" not in whole
    (tmp_path / "runs/toy/parts/n4.json").unlink()
    assert report()[:2] == (0, whole)


def test_published_results_of_another_version_or_parameters_are_not_taken(
    tmp_path: Path, toys: dict[str, Toy], report: Any
) -> None:
    toys["toy"] = Toy()
    assert run_of("toy", tmp_path) == 0
    assert report()[0] == 0
    other = Toy()
    other.parts = lambda quick: [*Toy().parts(quick)[1:]]  # type: ignore[method-assign]
    found = read_published("toy", other, tmp_path / "published")
    assert found is not None
    assert found.is_complete
    assert len(found.records) == 3
    other = Toy()
    other.version = 2  # type: ignore[misc]
    assert read_published("toy", other, tmp_path / "published") is None


def test_the_guide_has_the_tables_of_those_that_have_words_for_it(
    tmp_path: Path, toys: dict[str, Toy], report: Any
) -> None:
    toys["toy"], toys["other"], toys["silent"] = Toy(), Toy(), Toy()
    toys["toy"].guide, toys["other"].guide = "means", "the same"  # type: ignore[misc]
    guide = tmp_path / "docs" / GUIDE
    guide.parent.mkdir()
    guide.write_text(f"before\n{TABLE_BEGIN}\nold\n{TABLE_END}\nafter\n", encoding="utf-8")
    for name in toys:
        assert run_of(name, tmp_path) == 0
    assert report()[0] == 0
    page = guide.read_text(encoding="utf-8")
    before, table, after = re.split(f"{re.escape(TABLE_BEGIN)}|{re.escape(TABLE_END)}", page)
    assert (before, after) == ("before\n", "\nafter\n")
    lines = table.strip().splitlines()
    assert lines[0] == "|  | mean |"
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        *("| *the same*", "| 1", "| 2", "| 3", "| 4"),
        *("| *means*", "| 1", "| 2", "| 3", "| 4"),
    ]
    assert "old" not in page

    # Where an experiment has fewer data sets, it stands last, and its cells are empty.
    toys["other"].guide_rows = lambda results: [{"n": "few"}]  # type: ignore[method-assign]
    assert report()[0] == 0
    page = guide.read_text(encoding="utf-8")
    assert page.index("| *means* |  |") < page.index("| *the same* |  |\n| few |  |\n\n")
    toys["other"].guide_rows = lambda results: []  # type: ignore[method-assign]
    assert report()[0] == 0
    assert "the same" not in guide.read_text(encoding="utf-8")

    toys["other"] = Toy(dict.fromkeys(("n1", "n2", "n3", "n4"), ValueError("no")))
    toys["other"].guide = "the same"  # type: ignore[misc]
    for folder in ("runs", "published"):
        (tmp_path / folder).rename(tmp_path / f"old-{folder}")
    for name in toys:
        run_of(name, tmp_path)
    report()
    assert "the same" not in guide.read_text(encoding="utf-8")  # all of its parts failed

    guide.write_text("no place", encoding="utf-8")
    status, _, said = report()
    assert status == 2
    assert "the page has no place for the table" in said


def test_every_claim_has_one_verdict() -> None:
    def claim(agrees: bool | None, stand_in: str = "") -> Claim:
        return Claim("words", "1", "2", "they are equal", agrees, stand_in=stand_in)

    given = [claim(True), claim(False), claim(None), claim(True, "another"), claim(None, "another")]
    assert [VERDICTS.index(choose_verdict(c)) for c in given] == [0, 1, 2, 3, 2]


# -- the page of this repository -------------------------------------------------------------------


def test_the_committed_page_is_what_the_published_results_give() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith("<!-- Generated by `python -m experiments report`")
    assert page == write_document(*load_published(FOLDER))


def test_the_committed_guide_has_the_table_of_the_published_results() -> None:
    page = (PAGE.parent / GUIDE).read_text(encoding="utf-8")
    assert page == replace_table(page, PUBLISHED)


def test_published_results_are_small_and_known() -> None:
    files = list(FOLDER.glob("*"))
    assert {file.stem for file in files} <= set(reproductions.names())
    assert sum(file.stat().st_size for file in files) < 2 * 2**20


PUBLISHED, _ = load_published(FOLDER)


def results_of(name: str) -> list[Result]:
    (outcome,) = [found for found in PUBLISHED if found.name == name]
    return outcome.results()


def test_what_the_guide_says_of_metrics_is_true() -> None:
    errors = BySet.of(results_of("metrics_by_set"), "error", 100.0, False)
    plain, logdet, von_neumann = "Euclidean", "MetricLearner, LogDet", "MetricLearner, von Neumann"
    assert errors.times_best()[plain] == len(errors.sets) / 3
    gains = {
        m: [errors.above([n], plain, m).center for n in errors.sets] for m in (logdet, von_neumann)
    }
    for found in gains.values():
        assert sum(gain > 0 for gain in found) > len(found) / 2
        assert errors.sets[found.index(max(found))] == "balance_scale"
    assert max(abs(a - b) for a, b in zip(*gains.values(), strict=True)) < 2
    assert all(found[errors.sets.index("glass")] < -5 for found in gains.values())
    seconds = {
        row["error, %"]: float(row["seconds"]) for row in errors.rows("error, %", SETS, ".1f")
    }
    assert seconds[logdet] < 0.1
    assert seconds[logdet] < seconds["large_margin_problem"]
    assert next(iter(errors.times_best())) == "large_margin_problem"
    assert errors.best("sonar") == ["large_margin_problem"]
    for name in ("wine", "ionosphere"):
        kernels = {"KernelLearner, rbf", "KernelDesigner, weak kernels", "metric-learn LMNN"}
        assert kernels <= set(errors.best(name))
    assert errors.best("balance_scale") == ["metric-learn NCA"]
    assert any(errors.above([n], "metric-learn NCA", plain).center > 0 for n in errors.sets)
    assert all(errors.above([n], "inverse covariance", plain).center > 0 for n in errors.sets)


def test_what_the_guide_says_of_comparisons_and_maps_is_true() -> None:
    shares = shares_by_set(results_of("kernel_design"))
    weak, learner = "KernelDesigner, mix of weak kernels", "MetricLearner, hinge"
    assert next(iter(shares.times_best())) == weak
    assert shares.above(["balance_scale"], learner, weak).center > 15
    first, *others = accuracies_by_set(results_of("embedding_tables")).times_best().items()
    assert "PCA" in first[0]
    assert len(others) == 2


def test_what_the_guide_says_of_clusters_and_digits_is_true() -> None:
    scores = BySet.of(results_of("clusters_by_set"), "nmi")
    both, learned, kept = (
        "MetricLearner, ConstrainedKMeans",
        "MetricLearner, k-means",
        "ConstrainedKMeans",
    )
    gains = {m: scores.above(scores.sets, m, "k-means") for m in (learned, kept)}
    assert gains[kept].center < gains[learned].center / 2
    assert next(iter(scores.times_best())) == both
    for name in ("sonar", "breast_cancer_wdbc"):
        assert scores.best(name) == ["NonparametricKernel"]

    found = Found.of(results_of("mnist"))
    before = found.baseline["deskewed"]
    learned = min(found.errors(name, 100_000).center for name in ("logdet", "von_neumann"))
    assert found.baseline["raw"] - before > before - learned


@pytest.mark.parametrize("outcome", PUBLISHED, ids=lambda outcome: outcome.name)
def test_every_claim_not_met_has_a_reason(outcome: Outcome) -> None:
    claims = outcome.experiment.claims(outcome.results())
    assert outcome.experiment.title
    assert outcome.experiment.setup
    assert claims
    assert [c.words for c in claims if not c.agrees and not c.reason] == []
    assert [c.words for c in claims if not (c.paper and c.ours and c.words)] == []
    assert [c.words for c in claims if (c.agrees is None) == bool(c.criterion)] == []


# -- no number of ours is typed --------------------------------------------------------------------


def disturbed(value: Any, rng: random.Random) -> Any:
    """Another result: every number changed, and some answers gone."""
    if isinstance(value, dict):
        return {name: disturbed(inner, rng) for name, inner in value.items()}
    if isinstance(value, list):
        return [disturbed(inner, rng) for inner in value]
    if value in (Status.OPTIMAL.name, Status.STOPPED.name) and rng.random() < 0.3:
        return Status.INFEASIBLE.name
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return type(value)(value * 10 ** rng.uniform(-1.5, 0.5) + (value != 0) * isinstance(value, int))


def texts(value: Any) -> list[str]:
    """All words in a result."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in texts(one)]


def sayings(outcome: Outcome) -> list[str]:
    """All that is said of ours, but for the table."""
    results = outcome.results()
    said = [text for c in outcome.experiment.claims(results) for text in (c.ours, c.reason)]
    return [*said, *outcome.experiment.remarks(results)]


def typed(outcome: Outcome) -> set[str]:
    """Numbers that stay the same whatever comes out, and are not the paper's or the setting's."""
    experiment, results = outcome.experiment, outcome.results()
    claims = experiment.claims(results)
    given = [experiment.setup, experiment.claim, experiment.title, str(len(results))]
    given += [text for c in claims for text in (c.words, c.paper, c.criterion, c.stand_in)]
    given += [json.dumps(result.parameters) for result in results]
    given += [text for result in results for text in texts(result.value)]  # what packages said
    fixed = [set(NUMBER.findall(text)) for text in sayings(outcome)]
    for seed in range(8):
        rng = random.Random(seed)
        records = [{**r, "result": disturbed(r["result"], rng)} for r in outcome.records]
        for numbers, text in zip(fixed, sayings(replace(outcome, records=records)), strict=True):
            numbers &= set(NUMBER.findall(text))
    found = {number for number in set().union(*fixed) if float(number)}  # a zero stays a zero
    return found - set(NUMBER.findall(" ".join(given)))


@pytest.mark.parametrize("outcome", PUBLISHED, ids=lambda outcome: outcome.name)
def test_numbers_of_ours_change_with_the_results(outcome: Outcome) -> None:
    assert typed(outcome) == set()


def test_a_typed_number_is_found(tmp_path: Path, toys: dict[str, Toy], report: Any) -> None:
    toys["toy"] = Toy()
    assert run_of("toy", tmp_path) == 0
    assert report()[0] == 0
    outcome = read_published("toy", toys["toy"], tmp_path / "published")
    assert outcome is not None
    assert typed(outcome) == set()
    toys["toy"].remarks = lambda results: ["One of them is 0.123."]  # type: ignore[method-assign]
    assert typed(outcome) == {"0.123"}
