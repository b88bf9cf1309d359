"""The command on files: every line of its page and of its help runs, and what it says is so."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from gramlearn import nearest_correlation
from gramlearn.app import command
from gramlearn.files.matrices import read_matrix

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
LINES = [
    line for block in re.findall(r"```console\n(.*?)```", PAGE, re.S) for line in block.splitlines()
]
_MAIN = "import sys; from gramlearn.app.command import main; sys.exit(main())"
HEAVY = ("numpy", "scipy", "sklearn", "numba", "highspy", "tqdm")


def run(line, folder, stdin=None):
    """(exit code, stdout, stderr) of a line, in a folder."""
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    old_stdin = sys.stdin
    if stdin is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = command.main(shlex.split(line)[1:])
            except SystemExit as ended:
                code = ended.code
    finally:
        os.chdir(before)
        sys.stdin = old_stdin
    return code, out.buffer.getvalue().decode(errors="replace"), err.getvalue()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """What each line of the page gave, in order, and the folder that they were run in."""
    folder = tmp_path_factory.mktemp("command")
    return {line: run(line, folder) for line in LINES}, folder


def test_the_page_has_every_verb():
    assert {line.split()[1] for line in LINES} == set(command._VERBS)


@pytest.mark.parametrize("line", LINES)
def test_every_line_of_the_page_runs(page, line):
    code, out, err = page[0][line]
    assert code == 0, err
    assert out
    assert "Traceback" not in err


@pytest.mark.parametrize("verb", command._VERBS)
def test_the_example_in_the_help_of_a_verb_runs(page, verb):
    found, folder = page
    example = command._load(verb).example
    code, out, err = found.get(example) or run(example, folder)
    assert (code, bool(out)) == (0, True), err


@pytest.mark.parametrize("verb", ["", *command._VERBS])
def test_help_is_quick_and_loads_no_numerical_library(verb):
    code = (
        "import sys, time\n"
        "from gramlearn.app.command import main\n"
        f"try: main({[*([verb] if verb else []), '--help']!r})\n"
        "except SystemExit as ended: assert ended.code == 0\n"
        f"print([m for m in {HEAVY} if m in sys.modules])\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
    assert verb == "" or "example:" in found.stdout


# -- what they say ------------------------------------------------------------------------------------


def line_of(words):
    return next(line for line in LINES if words in line)


def test_a_model_learned_helps_on_what_was_held_out(page):
    code, out, _ = page[0][line_of("held_out.csv --json")]
    found = json.loads(out)
    assert code == 0
    assert found["helps"]
    assert found["gain"][0] > 2 * found["gain"][1] > 0


def test_mapped_points_are_those_of_transform_in_single_precision(page):
    import gramlearn

    X = np.load(page[1] / "example" / "points.npy")
    mapped = np.load(page[1] / "mapped.npy")
    assert mapped.dtype == np.float32
    learner = gramlearn.load(page[1] / "model.gram")
    np.testing.assert_array_equal(mapped, learner.transform(X).astype(np.float32))
    rows = page[0][line_of("-o - --to csv")][1].splitlines()
    assert len(rows) == len(X) + 1
    np.testing.assert_array_equal(np.float32(rows[1].split(",")[1:]), mapped[0])


def test_neighbors_are_the_nearest(page):
    mapped = np.load(page[1] / "mapped.npy").astype(float)
    squared = ((mapped - mapped[7]) ** 2).sum(axis=1)
    squared[7] = np.inf
    line = "gramlearn neighbors model.gram --points example/points.npy --query 7 -k 5 --json"
    code, out, _ = run(line, page[1])
    (answer,) = json.loads(out)["queries"]
    assert code == 0
    assert [int(one["id"]) for one in answer["neighbors"]] == np.argsort(squared)[:5].tolist()
    X = np.load(page[1] / "example" / "points.npy").astype(float)
    before = ((X - X[7]) ** 2).sum(axis=1)
    before[7] = np.inf
    for one in answer["neighbors"]:
        assert one["rank_before"] == 1 + np.sum(before < before[int(one["id"])])


def test_clusters_keep_the_links(page):
    _, out, _ = page[0][line_of("gramlearn cluster")]
    assert "links kept   100 of 100" in out
    table = (page[1] / "clusters.csv").read_text().splitlines()
    assert table[0] == "id,cluster"
    cluster = dict(row.split(",") for row in table[1:])
    assert len(cluster) == 1797
    for row in (page[1] / "example" / "links.csv").read_text().splitlines()[1:]:
        i, j, link = row.split(",")
        assert (cluster[i] == cluster[j]) == (link == "must-link")


def test_the_nearest_matrix_is_that_of_the_library(page):
    given = read_matrix(page[1] / "example" / "correlations.csv")
    found = read_matrix(page[1] / "nearest.csv")
    np.testing.assert_allclose(
        found.values, nearest_correlation(given.values, regularizer="frobenius"), atol=1e-9
    )
    assert found.names == given.names


def test_what_it_was_learned_from_is_no_score(page):
    base = "gramlearn score model.gram --points example/points.npy --side example/"
    code, out, _ = run(base + "judgments.csv", page[1])
    assert code == 1
    assert "that it was learned from: take others" in out
    code, out, _ = run(base + "held_out.csv", page[1])
    assert code == 0
    assert "learned from" not in out


def test_ranks_before_are_those_of_what_the_model_began_with(page, tmp_path):
    """Of points of length one, where the model scales them."""
    X = np.abs(np.random.default_rng(0).standard_normal((60, 4))) + 0.1
    X[1] = 50 * X[0]
    np.save(tmp_path / "X.npy", X)
    rows = "".join(f"{k},{k + 1},{k // 2 % 2}\n" for k in range(0, 58, 2))
    (tmp_path / "s.csv").write_text("a,b,alike\n" + rows)
    run("gramlearn fit --points X.npy --side s.csv --normalize -o m.gram", tmp_path)
    line = "gramlearn neighbors m.gram --points X.npy --query 0 -k 1 --json"
    (found,) = json.loads(run(line, tmp_path)[1])["queries"][0]["neighbors"]
    assert (found["id"], found["rank_before"]) == ("1", 1)
    assert found["distance"] == pytest.approx(0, abs=1e-6)


def test_features_are_taken_by_their_names(page, tmp_path):
    table = (page[1] / "example" / "digits.csv").read_text().splitlines()
    cells = [row.split(",") for row in table]
    turned = [[row[0], *row[:1:-1], "7"] for row in cells]
    turned[0][-1] = "more"
    (tmp_path / "turned.csv").write_text("\n".join(map(",".join, turned)))
    plain = f"gramlearn transform {page[1]}/by_labels.gram --points {page[1]}/example/digits.csv -o a.npy"
    code, _, err = run(
        f"gramlearn transform {page[1]}/by_labels.gram --points turned.csv -o b.npy", tmp_path
    )
    assert code == 0
    assert "left out" in err
    assert "'more'" in err
    run(plain, tmp_path)
    np.testing.assert_allclose(np.load(tmp_path / "b.npy"), np.load(tmp_path / "a.npy"), rtol=1e-6)


# -- exit codes ---------------------------------------------------------------------------------------


def test_a_model_that_does_not_help_is_an_answer_to_look_at(page, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.standard_normal((200, 5)))
    pairs = rng.permutation(200).reshape(-1, 2)
    text = "a,b,alike\n" + "".join(f"{i},{j},{k % 2}\n" for k, (i, j) in enumerate(pairs))
    (tmp_path / "side.csv").write_text(text)
    code, out, err = run("gramlearn fit --points X.npy --side side.csv -o m.gram", tmp_path)
    assert code == 1
    assert "is kept" in out + err
    assert (tmp_path / "m.gram").exists()
    code, out, _ = run("gramlearn score m.gram --points X.npy --side side.csv", tmp_path)
    assert code == 1
    assert "learned from" in out


def test_an_infeasible_matrix_is_an_answer_to_look_at(tmp_path):
    (tmp_path / "C.csv").write_text("1,1,-1\n1,1,1\n-1,1,1\n")
    (tmp_path / "F.csv").write_text("1,1,1\n1,1,1\n1,1,1\n")
    (tmp_path / "N.csv").write_text("old")
    code, out, err = run("gramlearn nearest-correlation C.csv --fixed F.csv -o N.csv", tmp_path)
    assert (code, out) == (1, "")
    assert err.startswith("gramlearn nearest-correlation: ")
    assert err.count("\n") == 1
    assert (tmp_path / "N.csv").read_text() == "old"


def test_links_that_do_not_hold_are_an_answer_to_look_at(page):
    line = line_of("gramlearn cluster") + " --method kernel --json"
    code, out, _ = run(line, page[1])
    found = json.loads(out)
    assert code == (found["links_kept"] < found["links"])


def test_half_a_matrix_is_a_matrix(tmp_path):
    (tmp_path / "half.csv").write_text("a,1,,\nb,0.9,1,\nc,-0.8,0.7,1\n")
    C = np.array([[1, 0.9, -0.8], [0.9, 1, 0.7], [-0.8, 0.7, 1]])
    (tmp_path / "fixed.csv").write_text("a,no,no,no\nb,yes,no,no\nc,no,no,no\n")
    line = "gramlearn nearest-correlation half.csv --fixed fixed.csv -o near.csv"
    code, _, err = run(line, tmp_path)
    assert code == 0
    assert "3 entries are taken from the other side" in err
    X = read_matrix(tmp_path / "near.csv").values
    np.testing.assert_array_equal(X, X.T)
    np.testing.assert_array_equal(X.diagonal(), 1)
    assert X[0, 1] == 0.9
    fixed = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    expected = nearest_correlation(C, regularizer="frobenius", fixed=fixed)
    np.testing.assert_allclose(X, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fit --points none.npy --side s.csv -o m.gram", "none.npy"),
        ("fit --points X.npy --side none.csv -o m.gram", "none.csv"),
        ("fit --points X.npy -o m.gram", "--side, or the column of labels"),
        ("fit --points X.npy --side s.csv --set rang=3 -o m.gram", "has no parameter 'rang'"),
        ("fit --points X.npy --side s.csv --set rang -o m.gram", "is not NAME=VALUE"),
        ("fit --points X.npy --side s.csv --kernel rbf --diagonal -o m.gram", "pass one of them"),
        ("fit --points X.npy --side s.csv -o none/m.gram", "could not be written"),
        ("score none.gram --points X.npy --side s.csv", "none.gram"),
        ("score X.npy --points X.npy --side s.csv", "X.npy"),
        ("transform none.gram --points X.npy -o Z.npy", "none.gram"),
        ("transform none.gram --points X.npy -o Z.doc", "does not say how to write it"),
        ("cluster --points X.npy --clusters 2 -o c.csv", "--links is missing"),
        ("cluster --points X.npy --links s.csv --clusters 0 -o c.csv", "'0' is not a whole number"),
        ("nearest-correlation none.csv -o N.csv", "none.csv"),
        ("inspect X.npy", "X.npy"),
        ("export none.gram --to nothing -o e", "invalid choice: 'nothing'"),
        ("learn", "invalid choice: 'learn'"),
    ],
)
def test_what_the_user_can_mend_is_one_sentence(tmp_path, line, words):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).standard_normal((40, 3)))
    rows = "".join(f"{k},{k + 1},{k // 2 % 2}\n" for k in range(0, 38))
    (tmp_path / "s.csv").write_text("a,b,alike\n" + rows)
    code, out, err = run(f"gramlearn {line}", tmp_path)
    said = [row for row in err.splitlines() if row.startswith("gramlearn")][-1]
    assert code == 2
    assert out == ""
    assert words in said
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.npy", "s.csv"]


@pytest.mark.parametrize(
    "options",
    [
        "--to onnx --metric cosine",
        "--to numpy --table a",
        "--to faiss --halfvec",
        "--to onnx --ids i",
    ],
)
def test_an_option_that_would_do_nothing_is_refused(page, options):
    code, _, err = run(f"gramlearn export model.gram {options} -o e", page[1])
    assert code == 2
    assert f"{options.split()[2]} has no meaning" in err


def test_an_unknown_query_is_named(page):
    line = "gramlearn neighbors model.gram --points example/points.npy --query 5000"
    code, _, err = run(line, page[1])
    assert code == 2
    assert "--query 5000 is not among the points" in err


def test_points_of_another_width_are_named(page, tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    for verb in ("transform", "neighbors"):
        end = "-o Z.npy" if verb == "transform" else "--query 0"
        code, _, err = run(f"gramlearn {verb} {page[1]}/model.gram --points X.npy {end}", tmp_path)
        assert code == 2
        assert "X.npy has 3 features, but the model was learned from 64" in err


def test_points_and_judgments_come_from_stdin(page, tmp_path):
    side = (page[1] / "example" / "held_out.csv").read_bytes()
    base = "gramlearn score model.gram --points example/points.npy --json --side "
    one = run(base + "example/held_out.csv", page[1])
    two = run(base + "- --side-format csv", page[1], side)
    assert one[0] == two[0] == 0
    assert json.loads(one[1])["gain"] == json.loads(two[1])["gain"]


def test_a_model_goes_through_pipes(page):
    model = (page[1] / "model.gram").read_bytes()
    line = "gramlearn transform - --points example/points.npy -o - --to npy"
    code, _, err = run_bytes(line, page[1], model)
    assert code == 0
    assert "1,797 x 64" in err
    line = "gramlearn fit --points example/points.npy --side example/judgments.csv -o -"
    code, written, err = run_bytes(line, page[1])
    assert code == 0
    assert "verdict" in err
    code, out, _ = run("gramlearn inspect - --json", page[1], written)
    assert code == 0
    assert json.loads(out)["kind"] == "MetricLearner"
    assert "-" not in os.listdir(page[1])


def run_bytes(line, folder, stdin=None):
    """The same in a process of its own, with what it writes as bytes."""
    done = subprocess.run(
        [sys.executable, "-c", _MAIN, *shlex.split(line)[1:]],
        input=stdin,
        capture_output=True,
        cwd=folder,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.mark.parametrize(
    "line",
    [
        "transform model.gram --points example/points.npy -o example/points.npy",
        "report model.gram --points example/points.npy -o model.gram",
        "nearest-correlation example/correlations.csv -o example/correlations.csv",
        "fit --points example/points.npy --side example/links.csv -o example/links.csv",
        "export model.gram --to faiss -o model.gram",
        "score model.gram --points example/points.npy --side example/links.csv --dropped model.gram",
    ],
)
def test_what_is_read_is_never_written_over(page, line):
    before = {p: p.stat().st_mtime_ns for p in page[1].rglob("*")}
    code, out, err = run(f"gramlearn {line}", page[1])
    assert (code, out) == (2, "")
    assert "choose another name" in err
    assert {p: p.stat().st_mtime_ns for p in page[1].rglob("*")} == before


def test_a_crash_is_no_answer(tmp_path, monkeypatch):
    def crash(*given, **more):
        raise ZeroDivisionError("of\nsomething")

    monkeypatch.setattr("gramlearn.files.matrices.read_matrix", crash)
    (tmp_path / "C.csv").write_text("1")
    code, out, err = run("gramlearn nearest-correlation C.csv -o N.csv", tmp_path)
    assert (code, out) == (2, "")
    assert "unexpected ZeroDivisionError: of something" in err
    assert err.count("\n") == 1
    monkeypatch.setenv("GRAMLEARN_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run("gramlearn nearest-correlation C.csv -o N.csv", tmp_path)


def test_every_row_that_is_dropped_can_be_had(page, tmp_path):
    table = (page[1] / "example" / "held_out.csv").read_text()
    wrong = "".join(f"{5000 + k},1,1\n" for k in range(20))
    (tmp_path / "side.csv").write_text(table + wrong + "3,3,1\n")
    end = f"--points {page[1]}/example/points.npy --side side.csv --dropped rows.csv"
    code, _, err = run(f"gramlearn score {page[1]}/model.gram {end}", tmp_path)
    assert code == 0
    assert "21 dropped" in err
    rows = (tmp_path / "rows.csv").read_text().splitlines()
    assert rows[0] == "place,reason"
    assert [row.split(",")[1] for row in rows[1:]] == [f' line {k}"' for k in range(1002, 1023)]


def test_interrupting_ends_with_one_line(page, monkeypatch):
    def interrupt(self, *given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("gramlearn.MetricLearner.fit", interrupt)
    line = "gramlearn fit --points example/points.npy --side example/judgments.csv -o again.gram"
    code, out, err = run(line, page[1])
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "gramlearn: interrupted"
    assert not (page[1] / "again.gram").exists()


# -- completion ---------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "found"), [("sc", "score"), ("fit --si", "--side --side-format"), ("fit --zz", "")]
)
def test_bash_completes_verbs_and_options(tmp_path, words, found):
    _, script, _ = run("gramlearn completion bash", tmp_path)
    given = f"gramlearn {words}".split()
    ask = f"COMP_WORDS=({' '.join(given)}); COMP_CWORD={len(given) - 1}; _gramlearn"
    shell = ["/bin/bash", "-c", f'{script}\n{ask}; echo "${{COMPREPLY[@]}}"']
    printed = subprocess.run(shell, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == found


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_every_option(tmp_path, shell):
    _, script, _ = run(f"gramlearn completion {shell}", tmp_path)
    for verb in command._VERBS:
        assert verb in script
    assert "n-components" in script


# -- tables of any size -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["npy", "csv", "jsonl", "parquet"])
@pytest.mark.parametrize("has_ids", [True, False])
def test_parquet_is_mapped_in_blocks_as_it_is_in_one(page, tmp_path, monkeypatch, ending, has_ids):
    arrow = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    X = np.load(page[1] / "example" / "points.npy")[:100]
    columns = {"embedding": arrow.FixedSizeListArray.from_arrays(X.ravel(), 64)}
    if has_ids:
        columns["id"] = [f"digit {k}" for k in range(100)]
    parquet.write_table(arrow.table(columns), tmp_path / "X.parquet")
    line = f"gramlearn transform {page[1]}/model.gram --points X.parquet -o"
    monkeypatch.setattr("gramlearn.app.verbs.transform._ROWS", 30)
    assert run(f"{line} parts.{ending}", tmp_path)[0] == 0
    monkeypatch.setattr("gramlearn.app.verbs.transform._ROWS", 1000)
    assert run(f"{line} whole.{ending}", tmp_path)[0] == 0
    parts, whole = (vectors_of(tmp_path / f"{name}.{ending}") for name in ("parts", "whole"))
    names = range(100) if ending == "npy" else columns.get("id", range(100))
    assert parts[0] == whole[0] == list(map(str, names))
    # A product of few rows may be rounded in another way than one of many.
    np.testing.assert_allclose(parts[1], whole[1], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        parts[1], np.load(page[1] / "mapped.npy")[:100], rtol=1e-5, atol=1e-5
    )


def vectors_of(path):
    """(ids, vectors) of a file; of .npy row numbers."""
    if path.suffix == ".npy":
        found = np.load(path)
        assert found.dtype == np.float32
        return [str(k) for k in range(len(found))], found
    if path.suffix == ".csv":
        rows = [row.split(",") for row in path.read_text().splitlines()[1:]]
        return [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=float)
    if path.suffix == ".jsonl":
        rows = [json.loads(row) for row in path.read_text().splitlines()]
    else:
        from pyarrow.parquet import read_table

        rows = read_table(path).to_pylist()
    return [str(row["id"]) for row in rows], np.array([row["vector"] for row in rows])


def test_a_part_with_other_features_is_refused_and_nothing_is_written(page, tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow", reason="the extra files is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra files is not installed")
    X = np.load(page[1] / "example" / "points.npy")[:60]
    columns = {f"x{j}": list(X[:, j].astype(float)) for j in range(64)}
    columns["x3"][50] = None
    parquet.write_table(arrow.table(columns), tmp_path / "X.parquet")
    monkeypatch.setattr("gramlearn.app.verbs.transform._ROWS", 30)
    line = f"gramlearn transform {page[1]}/model.gram --points X.parquet -o Z.npy"
    code, _, err = run(line, tmp_path)
    assert code == 2
    assert "X.parquet, row" in err
    assert os.listdir(tmp_path) == ["X.parquet"]


def test_a_store_of_answers_is_read_as_the_table_of_its_answers_is(tmp_path):
    from gramlearn.app.studio.store import Store
    from gramlearn.files.points import read_points

    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = np.c_[np.eye(3)[y] + 0.3 * rng.normal(size=(60, 3)), rng.normal(size=(60, 5))]
    np.save(tmp_path / "points.npy", X)
    rows = ["first,second,alike"]
    with Store.open(tmp_path / "judgments.db", read_points(tmp_path / "points.npy")) as store:
        for k in range(150):
            i, j = rng.choice(60, 2, replace=False).tolist()
            answer = "unsure" if k % 10 == 0 else "alike" if y[i] == y[j] else "unlike"
            store.answer(f"{k}", f"{k}", "Ada", "pair", (i, j), answer, False)
            rows.append(f"{i},{j},{answer}")
    (tmp_path / "judgments.csv").write_text("\n".join(rows))
    said = []
    for name in ("judgments.csv", "judgments.db"):
        files = f"--points points.npy --side {name}"
        code, _, err = run(f"gramlearn fit {files} -o {name}.gram", tmp_path)
        assert code in (0, 1), err
        assert f"{name}: 150 rows of judged pairs, 135 used" in err
        assert "15 undecided" in err
        score = run(f"gramlearn score {name}.gram {files} --json", tmp_path)
        report = run(f"gramlearn report {name}.gram {files} -o {name}.html", tmp_path)
        assert report[0] in (0, 1), report[2]
        assert (tmp_path / f"{name}.html").exists()
        said.append(score[:2])
    assert said[0] == said[1]
