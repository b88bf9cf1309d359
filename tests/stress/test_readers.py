"""Damaged files and wrong command lines are refused in one sentence, and no code in a file is run."""

import json
from pathlib import Path

import pytest
from stress.commands import PROGRAMS, CommandLine
from stress.readers import READERS, BadFile

from experiments import isolated
from stress import commands, readers


@pytest.mark.parametrize("name", READERS)
def test_every_reader_names_the_file_and_runs_nothing(name: str) -> None:
    place = list(READERS).index(name)
    for index in range(place, 100 * len(READERS), len(READERS)):
        bad = readers.draw(0, index)
        assert bad.reader == name
        assert readers.attempt(bad).findings == (), bad.program()


def test_a_result_without_a_name_is_damaged() -> None:
    good = READERS["benchmarks table"]().good()
    bad = BadFile("benchmarks table", "flipped", good.replace(b'"name"', b'"nAme"'))
    assert readers.attempt(bad).ending == "refused"
    assert readers.attempt(bad).findings == ()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("python -m benchmarks", ("table", "--out", "x" * 5000)),
        ("python -m experiments", ("report", "--out", "9" * 5000)),
        ("python -m stress", ("report", "x" * 5000)),
    ],
)
def test_names_that_no_file_system_accepts_are_refused(name: str, words: tuple[str, ...]) -> None:
    outcome = commands.attempt(CommandLine(name, words))
    assert outcome.ending == "refused"
    assert outcome.findings == ()


@pytest.mark.parametrize("name", READERS)
def test_undamaged_files_are_read(name: str) -> None:
    """A reader that refuses everything passes the test above."""
    good = READERS[name]().good()
    if name == "gramlearn.datasets.load":  # of which the sum is known, and not of what is made here
        assert "SHA-256" in readers.attempt(BadFile(name, "whole", good)).words
    else:
        assert readers.attempt(BadFile(name, "whole", good)).ending == "answered"


def test_readers_that_break_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    def loads(folder: Path) -> object:
        return pickle.loads((folder / "x.json").read_bytes())

    careless = readers.Reader("x.json", lambda: b"{}", loads)
    monkeypatch.setitem(READERS, "benchmarks table", lambda: careless)
    trap = pickle.dumps(readers._Trap())
    assert {f.kind for f in readers.attempt(BadFile("benchmarks table", "", trap)).findings} == {
        "ran"
    }
    found = readers.attempt(BadFile("benchmarks table", "", b"")).findings
    assert [f.kind for f in found] == ["exception"]
    smallest = readers.shrink(
        BadFile("benchmarks table", "", b"0" * 50),
        lambda bad: bool(readers.attempt(bad).findings),
        1.0,
    )
    assert smallest.content == b""


def test_a_damaged_answer_of_an_isolated_process_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def launch(module: str, python: str, folder: Path, *args: object, **how: object) -> str:
        isolated.write_answer(folder / "answer-0000", {"status": "done"})
        (folder / "answer-0000.npz").write_bytes(b"half")
        return ""

    monkeypatch.setattr(isolated, "launch", launch)
    monkeypatch.setattr(isolated, "_find_python", lambda package, may_make: ("python", ""))
    package = isolated.Package("json", ())
    (answer,) = isolated.call_isolated(json.dumps, package, [{}], 1.0, False)
    assert answer["status"] == "failed"
    assert "answer-0000.npz is damaged" in answer["reason"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_command_line_gets_a_status_and_a_sentence(name: str) -> None:
    place = list(PROGRAMS).index(name)
    for index in range(place, 40 * len(PROGRAMS), len(PROGRAMS)):
        line = commands.draw(0, index)
        assert line.name == name
        assert commands.attempt(line).findings == (), line.program()


@pytest.mark.parametrize("name", PROGRAMS)
def test_correct_command_lines_are_accepted(name: str) -> None:
    for line in PROGRAMS[name].lines:
        outcome = commands.attempt(CommandLine(name, tuple(line.split())))
        assert outcome.findings == ()


def test_command_lines_that_end_in_a_traceback_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from gramlearn.app import command

    def broken(words: list[str]) -> int:
        return int(words[0])

    monkeypatch.setattr(command, "main", broken)
    assert commands.attempt(CommandLine("gramlearn", ("a",))).findings[0].kind == "exception"
    assert commands.attempt(CommandLine("gramlearn", ("9",))).findings[0].kind == "status"
    assert commands.attempt(CommandLine("gramlearn", ("2",))).findings[0].kind == "words"
