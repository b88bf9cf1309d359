"""Running all experiments: a failure does not stop the others, timed parts run alone, nothing is lost."""

import json
import os
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from experiments.__main__ import main
from experiments.run_all import Job, compute_all, open_all
from tools import process_pool

from experiments import __main__, reproductions
from toy_experiment import KILLED, SLOW, OneTimed, Toy

WHILE = 0.2  # seconds that a part takes


def record(out: Path, name: str, part: str) -> dict[str, Any]:
    text = (out / name / "parts" / f"{part}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_failure_does_not_stop_the_others(
    tmp_path: Path, toys: dict[str, Toy], capsys: pytest.CaptureFixture[str]
) -> None:
    toys["raising"] = Toy({"n1": ValueError("the sky fell"), "n2": {"mean": 0.5}})
    toys["dying"] = Toy({"n2": KILLED, "n3": SLOW})
    toys["unwritten"] = Toy()
    toys["unwritten"].figure = None  # type: ignore[method-assign, assignment]
    toys["without_data"] = Toy()
    toys["without_data"].data = ("no such set",)  # type: ignore[misc]
    assert main(["run", "--all", "--out", str(tmp_path), "--limit", "2"]) == 1
    said = capsys.readouterr().out
    assert "| raising | 3 of 4 | 1 |" in said
    assert "- raising/n1 failed: ValueError: the sky fell." in said
    assert "| dying | 2 of 4 | 2 |" in said
    assert "- dying/n2 failed: RuntimeError: its process ended with the status -9." in said
    assert "- dying/n3 failed: TimeoutError: it took more than the 2 s" in said
    assert "| unwritten | 4 of 4 | 0 |" in said
    assert "- unwritten: TypeError" in said
    assert "- without_data: `load('no such set')`: there is no data set of this name" in said
    assert "not complete, after" in said
    assert record(tmp_path, "dying", "n4")["memory_bytes"] > 2**20
    for name in ("raising", "dying"):
        assert (tmp_path / name / "table.md").exists()

    # The same command tries again what is missing, and that alone.
    before = record(tmp_path, "dying", "n4")
    toys["raising"], toys["dying"], toys["unwritten"] = Toy(), Toy(), Toy()
    del toys["without_data"]
    assert main(["run", "--all", "--out", str(tmp_path), "--workers", "1"]) == 0
    assert "\ncomplete, after" in capsys.readouterr().out
    assert record(tmp_path, "dying", "n4") == before
    assert record(tmp_path, "raising", "n2")["result"] == {"mean": 0.5}


@pytest.mark.parametrize("name", reproductions.names())
def test_every_experiment_can_be_sent_to_a_process(name: str) -> None:
    experiment = reproductions.find(name)
    sent, parts = pickle.loads(pickle.dumps((experiment, experiment.parts(quick=False))))
    assert sent.parts(quick=False) == parts == experiment.parts(quick=False)


def test_a_process_that_ends_while_it_loads_fails_its_part(
    tmp_path: Path,
    toys: dict[str, Toy],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    toys["toy"] = Toy()
    monkeypatch.setattr(
        process_pool, "_run_worker", os._exit
    )  # which wants a number, and gets a function
    assert main(["run", "--all", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "| toy | 0 of 4 | 4 |" in said
    assert "- toy/n1 failed: RuntimeError: its process ended with the status 1." in said


def test_timed_parts_run_alone_and_last(tmp_path: Path, toys: dict[str, Toy]) -> None:
    parts = {f"n{k}": WHILE for k in range(1, 5)}
    toys["timed"], toys["slower"], toys["quicker"], toys["new"] = (Toy(parts) for _ in range(4))
    toys["timed"].timed = True  # type: ignore[misc]
    opened = open_all(False, 0, tmp_path, {"slower": 9.0, "quicker": 3.0, "timed": 1.0})
    assert [run.name for run in opened.runs] == ["quicker", "slower", "new", "timed"]
    begun: list[str] = []
    compute_all(opened, 2, 60, lambda job, is_over: None if is_over else begun.append(job.run.name))
    assert begun == [name for name in ("quicker", "slower", "new", "timed") for _ in range(4)]
    found = {name: [record(tmp_path, name, part)["result"] for part in parts] for name in toys}
    others = [found[name] for name in ("slower", "quicker", "new")]
    assert len({result["process"] for results in others for result in results}) == 2
    assert len({result["process"] for result in found["timed"]}) == 1
    spans = sorted((r["began"], r["ended"]) for r in found["timed"])
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert max(r["ended"] for results in others for r in results) <= spans[0][0]
    assert {r["threads"] for results in found.values() for r in results} == {"1"}


def test_parts_that_are_not_timed_run_with_the_others(tmp_path: Path, toys: dict[str, Toy]) -> None:
    toys["timed"], toys["other"] = OneTimed(), Toy()
    begun: list[str] = []
    compute_all(
        open_all(False, 0, tmp_path, {"timed": 1.0, "other": 2.0}),
        1,
        60,
        lambda job, is_over: None if is_over else begun.append(str(job)),
    )
    assert begun[:4] == [f"other/n{k}" for k in range(1, 5)]
    assert begun[4:] == ["timed/n1", "timed/n3", "timed/n4", "timed/n2"]


def test_ctrl_c_keeps_what_is_finished(
    tmp_path: Path,
    toys: dict[str, Toy],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    toys["toy"] = Toy({"n3": SLOW})

    def until_the_third(opened: Any, n_workers: int, limit: float, report: Any) -> None:
        def interrupt(job: Job, is_over: bool) -> None:
            if job.part.id == "n3":
                raise KeyboardInterrupt
            report(job, is_over)

        compute_all(opened, 1, limit, interrupt)

    monkeypatch.setattr(__main__, "compute_all", until_the_third)
    assert main(["run", "--all", "--out", str(tmp_path)]) == 130
    said = capsys.readouterr().err
    assert "2 of 4 parts are finished and kept" in said
    assert "the same command goes on" in said


def test_one_experiment_or_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["digits389", "--all"], ["--all", "--workers", "0"]):
        with pytest.raises(SystemExit) as ending:
            main(["run", *arguments])
        assert ending.value.code == 2
    assert "it must be a whole number from 1; got 0" in capsys.readouterr().err
