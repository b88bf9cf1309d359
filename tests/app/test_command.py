"""The gramlearn command: what it prints, what it writes, and how it fails."""

import io
import re
import sys
from contextlib import redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gramlearn.app import command, demo
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.solution import Record
from gramlearn.problem.status import Status
from gramlearn.solvers.progress import progress_bar

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What `gramlearn demo` prints, and the folder that it made and wrote to."""
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    with redirect_stdout(io.StringIO()) as printed:
        assert command.main(["demo", "--out", str(out)]) == 0
    return printed.getvalue(), out


def test_demo_prints_its_input(shown: tuple[str, Path]) -> None:
    text, _ = shown
    assert "178 wines of 3 growers" in text
    assert "89 to learn from, 89 held out" in text
    assert "500 pairs alike" in text
    assert "500 pairs unlike" in text
    alike, unlike = re.findall(r"for example points \d+ and \d+, (grower \d) and (grower \d)", text)
    assert alike[0] == alike[1]
    assert unlike[0] != unlike[1]


def test_demo_prints_a_certificate(shown: tuple[str, Path]) -> None:
    text, _ = shown
    rows = dict(
        re.findall(r"^  (primal value|dual value|gap|relative gap|status) +(.*)$", text, re.M)
    )
    primal, dual, gap = (float(rows[key]) for key in ("primal value", "dual value", "gap"))
    assert 0 <= primal - dual <= 2 * gap + 1e-8 * primal
    assert float(rows["relative gap"]) <= 1e-6
    assert rows["status"] == f"OPTIMAL: {Status.OPTIMAL.value}"


def test_demo_metric_improves_held_out_accuracy(shown: tuple[str, Path]) -> None:
    text, _ = shown
    means = {
        name: float(mean)
        for name, mean in re.findall(r"^  (plain|standardized|learned) .* ([\d.]+)%$", text, re.M)
    }
    assert means["learned"] > means["plain"] + 15
    assert means["learned"] > means["standardized"] - 1


def test_demo_writes_a_picture(shown: tuple[str, Path]) -> None:
    text, out = shown
    picture = out / demo.PICTURE
    assert [path.name for path in out.iterdir()] == [demo.PICTURE]
    assert f"Picture: {picture}" in text
    assert picture.read_bytes().startswith(PNG)
    assert picture.stat().st_size < 300 * 1024


def test_the_same_seed_gives_the_same_output() -> None:
    data = demo.DATA["digits"]
    bunch = data.load()
    first, again, other = (demo.prepare(data, bunch.data, bunch.target, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.train, again.train)
    np.testing.assert_array_equal(first.pairs.similar, again.pairs.similar)
    assert first.bounds == again.bounds
    assert not np.array_equal(first.pairs.similar, other.pairs.similar)


def test_demo_without_matplotlib_prints_the_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "_SPLITS", 1)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert command.main(["demo", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "relative gap" in printed
    assert 'pip install "gramlearn[plot]"' in printed
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["demo", "--data", "iris"], "'iris' is not known, choose wine or digits"),
        (["demo", "--seed", "-3"], "'-3' is not a whole number from 0 to 2147483647"),
        (["demo", "--seed", "1.5"], "'1.5' is not a whole number"),
        (["demo", "--color"], "unrecognized arguments: --color"),
        (["test"], "'test'"),
    ],
)
def test_bad_arguments_print_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert printed.err.count("\n") == 1


def test_unwritable_folder_is_refused_before_solving(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        assert command.main(["demo", "--out", str(out)]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith(f"gramlearn: {out} cannot be written to (")
        assert printed.err.endswith("choose another folder with --out\n")
        assert printed.err.count("\n") == 1


def test_unwritable_picture_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "_SPLITS", 1)
    (tmp_path / demo.PICTURE).mkdir()
    assert command.main(["demo", "--out", str(tmp_path)]) == 2
    assert f"{tmp_path / demo.PICTURE} cannot be written to" in capsys.readouterr().err


def test_interrupt_ends_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run_demo", interrupted)
    assert command.main(["demo"]) == 130
    assert capsys.readouterr() == ("", "gramlearn: interrupted\n")


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        expected = f"gramlearn {version('gramlearn')}\n"
    except PackageNotFoundError:
        expected = "gramlearn (version unknown: not installed, but run from its sources)\n"
    for arguments, beginning in (
        (["--version"], expected),
        (["--help"], "usage: gramlearn "),
        (["demo", "--help"], "usage: gramlearn demo "),
    ):
        with pytest.raises(SystemExit) as ended:
            command.main(arguments)
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith(beginning)
    assert command.main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_progress_bar_is_silent_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("solving", 1e-6) as callback:
        for gap in (1.0, float("inf"), 1e-3, 0.0):
            # Nothing that would stop the solve, either.
            assert callback(Record(0, 0.0, Certificate(1.0, 1.0 - gap, gap, 0.0), {})) is None
    assert capsys.readouterr() == ("", "")
