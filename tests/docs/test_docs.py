"""README, docs and examples: every Python block runs, every link leads somewhere, nothing is missing."""

import inspect
import re
import runpy
from pathlib import Path

import pytest

import gramlearn
from catalogue import concrete
from gramlearn import datasets
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.losses import Loss
from gramlearn.problem.solution import Record
from gramlearn.problem.spectral import Regularizer
from gramlearn.problem.status import Status

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PRINTED = {
    "balanced_cut": "edges between the halves 31, and no cut has fewer than 31.00",
    "direct_problem": "similarity of the ends                0.000 -> 0.500",
    "price_path": "best at price 0.15",
    "low_rank_kernel": "LowRankKernel(898 points, rank 100",
    "growing_range": "within the plane: INFEASIBLE",
    "hand_over": "NearestNeighbors, recall at 10          0.884 -> 0.919",
    "kernel_design": "KernelDesign(OPTIMAL, value",
    "nearest_correlation": " [0.1573 0.7607 1.    ]]\nSolution(OPTIMAL",  # Higham (2002)
    "online_pca": "the best fixed directions, known afterwards",
    "text_retrieval": "wrote text_map.npy, 40 x 40",
    "unfold_swiss_roll": "Unfolding(OPTIMAL: trace",
    "triplets": "Triplets(1988 comparisons, n_points=89)",
}
# Clusters, a design, a bound on the regret, and an Unfolding.
WITHOUT_SOLUTION = {"constrained_clusters", "kernel_design", "online_pca", "unfold_swiss_roll"}
NEEDS = {"text_retrieval": "newsgroups20"}  # the data set that an example reads
QUICK = {"text_retrieval"}  # takes a minute but for --quick
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the line it begins at."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)), found[1]) for found in BLOCK.finditer(text)]


# But for the README, both blocks of which the next test runs.
@pytest.mark.parametrize("page", [page for page in PAGES[1:] if blocks(page)], ids=lambda p: p.name)
def test_python_blocks_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All blocks of a page, in one namespace, in their order; they assert what they claim."""
    names = {"__name__": f"docs.{page.stem}"}
    for line, code in blocks(page):
        # Empty lines in front, so that a traceback shows the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), names)
    capsys.readouterr()


def test_readme_example_is_optimal_and_about_ten_lines() -> None:
    (_, code), (_, pipeline) = blocks(ROOT / "README.md")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    names: dict[str, object] = {}
    exec(code, names)
    solution = names["solution"]
    assert isinstance(solution, gramlearn.Solution)
    assert solution.status is Status.OPTIMAL
    exec(pipeline, names)
    # As its comment says, up to two wines of 178: what is chosen in a fold can hang on rounding.
    assert abs(names["after"] - 0.98) < 0.015


@pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning")  # UMAP's own
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run(
    example: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)  # where pictures go
    monkeypatch.setattr("sys.argv", [example.name, *(["--quick"] * (example.stem in QUICK))])
    if example.stem in NEEDS:
        try:
            datasets.load(NEEDS[example.stem])
        except datasets.DatasetNotFoundError as missing:
            pytest.skip(str(missing))
    runpy.run_path(str(example), run_name="__main__")
    printed = capsys.readouterr().out
    solved = re.search(r"(Solution|Answer)\((OPTIMAL|LOCAL)", printed)
    assert solved or example.stem in WITHOUT_SOLUTION
    assert PRINTED.get(example.stem, "") in printed


def test_an_example_without_its_data_says_where_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_network(subset: str) -> None:
        raise OSError(f"no {subset} messages without a network")

    monkeypatch.delenv("GRAMLEARN_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", no_network)
    monkeypatch.setattr("sys.argv", ["text_retrieval.py"])
    with pytest.raises(SystemExit, match=r"newsgroups20 is not here: put .* GRAMLEARN_DATA"):
        runpy.run_path(str(ROOT / "examples" / "text_retrieval.py"), run_name="__main__")


def test_examples_are_listed() -> None:
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert not [example.name for example in EXAMPLES if f"| [{example.name}]" not in page]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert not [target for target, _ in links if not (page.parent / target).exists()]
    lost = [
        f"{target}#{anchor}"
        for target, anchor in links
        if anchor and anchor not in anchors(page.parent / target if target else page)
    ]
    assert not lost


def anchors(page: Path) -> set[str]:
    """What the headings of a page are linked by: their words in lower case, without punctuation."""
    titles = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}


def test_readme_is_short_and_measures_nothing_that_benchmarks_do_not() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert readme.count("\n") <= 150
    table = readme.split("## Measured")[1].split("\n\n")[1].splitlines()[2:]
    assert len(table) >= 5
    for row in table:
        _, _, ours, others, command, _ = (cell.strip() for cell in row.split("|"))
        assert command.strip("`") in page
        for number in re.findall(r"\d[\d.]*", ours + others):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", page), number


def test_readme_picture_is_small() -> None:
    assert (ROOT / "docs" / "images" / "demo.png").stat().st_size < 300 * 1024


@pytest.mark.parametrize("base", [Regularizer, Loss], ids=lambda c: c.__name__)
def test_the_page_of_parts_names_every_part(base: type) -> None:
    page = (ROOT / "docs" / "parts-of-a-problem.md").read_text(encoding="utf-8")
    assert not [cls.__name__ for cls in concrete(base) if f"`{cls.__name__}(" not in page]


def test_every_status_is_explained() -> None:
    page = (ROOT / "docs" / "when-it-does-not-converge.md").read_text(encoding="utf-8")
    assert not [status.name for status in Status if f"| `{status.name}` |" not in page]


def test_api_names_everything_public() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    spaces = [getattr(gramlearn, name) for name in gramlearn.__all__]
    public = {*gramlearn.__all__}.union(*(s.__all__ for s in spaces if inspect.ismodule(s)))
    assert not sorted(name for name in public if not re.search(rf"`{name}\b", page))


@pytest.mark.parametrize(
    "noun", [Record, Certificate, gramlearn.Solution], ids=lambda c: c.__name__
)
def test_api_names_the_fields_of_a_solution(noun: type) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{noun.__name__}` |")]
    public = {name for name in dir(noun) if not name.startswith("_")}
    fields = {*noun.__annotations__, *public} - set(dir(tuple))
    assert fields
    assert not [field for field in fields if not re.search(rf"`{field}[`(]", row)]
