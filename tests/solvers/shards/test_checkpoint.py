"""A solve that goes on from a checkpoint comes to the answer of one that was not cut short."""

import os
from pathlib import Path

import numpy as np
import pytest
from gramlearn.losses import Hinge, LogDetSlack, SquaredHinge

from chunked_statements import Example
from gramlearn import Frobenius, LogDet, Status, VonNeumann, solve
from gramlearn._base.workers import Here
from gramlearn.solvers.shards import Checkpoint, Recovering
from gramlearn.solvers.shards.checkpoint import PROBLEM


def solved(example: Example, folder, stop: int | None = None):
    checkpoint = Checkpoint(folder)
    solver = Recovering(reached=checkpoint.resume({"X": "this"}), keep=checkpoint.keep)
    return solve(
        example.in_shards(Here()),
        solver,
        tol=1e-9,
        callback=lambda record: record.iteration == stop,
    )


@pytest.mark.filterwarnings("ignore:the solve was stopped by the callback")
@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=repr)
@pytest.mark.parametrize("loss", [Hinge, SquaredHinge, LogDetSlack])
def test_the_same_answer(loss, regularizer, tmp_path) -> None:
    example = Example.of(loss, regularizer)
    whole = solve(example.in_shards(Here()), Recovering(), tol=1e-9)
    for stop in (0, 1, 3, 4):
        solved(example, tmp_path, stop)
    solution = solved(example, tmp_path)
    assert solution.status is Status.OPTIMAL
    assert abs(solution.primal - whole.primal) <= 1e-9 * abs(whole.primal)
    again = solved(example, tmp_path)
    assert again.status is Status.OPTIMAL
    # Prices are not kept, and a kink needs a few steps to have its own again.
    assert again.iterations <= (8 if loss is Hinge else 2)
    assert abs(again.primal - whole.primal) <= 1e-9 * abs(whole.primal)


def test_nothing_that_was_reached_is_done_again(tmp_path) -> None:
    """Two halves take about as many steps as the whole."""
    example = Example.of(Hinge, LogDet())
    whole = solve(example.in_shards(Here()), Recovering(), tol=1e-9)
    half = whole.iterations // 2
    with pytest.warns(UserWarning, match="stopped by the callback"):
        solved(example, tmp_path, half)
    assert solved(example, tmp_path).iterations <= half + 8


def test_of_another_fit_it_is_refused_and_says_what_is_another(tmp_path) -> None:
    checkpoint = Checkpoint(tmp_path)
    given = {"C": "1.0", "prior": "None"}
    solver = Recovering(
        reached=checkpoint.resume({"X": "a", "statements": "b", PROBLEM: "c"}, given),
        keep=checkpoint.keep,
    )
    solve(Example.of(SquaredHinge, LogDet(), size=300).in_shards(Here()), solver)
    same = {"X": "a", "statements": "b"}
    for about, now, told in (
        (same | {"X": "z"}, {}, "X"),
        (same | {"X": "z", "statements": "z", PROBLEM: "z"}, given, "X, statements"),
        (same | {PROBLEM: "z"}, given | {"C": "2.0"}, "C"),
        (same | {"X": "z", PROBLEM: "z"}, given | {"prior": "z"}, "X, prior"),
        (same | {PROBLEM: "z"}, given, PROBLEM),
    ):
        with pytest.raises(ValueError, match=f"another fit has reached, which had other {told};"):
            Checkpoint(tmp_path).check(about, now)
    # What leads to the same problem is the same.
    assert Checkpoint(tmp_path).resume(same | {PROBLEM: "c"}, given | {"C": "one"}) is not None


def test_the_seed_stays_once_something_was_reached(tmp_path) -> None:
    seed = Checkpoint(tmp_path / "a").seed
    assert not (tmp_path / "a").exists()  # a fit that is refused leaves nothing
    assert seed != Checkpoint(tmp_path / "a").seed
    checkpoint = Checkpoint(tmp_path / "a")
    solver = Recovering(keep=checkpoint.keep)
    solve(Example.of(SquaredHinge, LogDet(), size=300).in_shards(Here()), solver)
    assert checkpoint.seed == Checkpoint(tmp_path / "a").seed


@pytest.mark.parametrize("content", [b"", b"abc", bytes(100), None])
def test_what_is_no_checkpoint_is_refused(content, tmp_path) -> None:
    from safetensors.numpy import save

    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(save({"x": np.zeros(2)}) if content is None else content)
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors is not .* another folder"):
        Checkpoint(tmp_path)


def test_a_file_in_place_of_a_folder(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot be made a folder"):
        Checkpoint(tmp_path / "file")


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to("nowhere")])
def test_what_stands_in_the_way_of_a_folder(make, tmp_path) -> None:
    make(tmp_path / "there")
    for folder in ("there", "there/fit", "there/of/fit"):
        with pytest.raises(ValueError, match="cannot be made a folder"):
            Checkpoint(tmp_path / folder)


def test_fits_that_begin_at_the_same_time_do_not_meet(tmp_path, monkeypatch) -> None:
    """Each looks whether it can write while the other makes a folder under the same missing one."""
    written = os.fsync

    def meanwhile(file: int) -> None:
        (tmp_path / "all" / "other").mkdir(parents=True, exist_ok=True)
        written(file)

    monkeypatch.setattr(os, "fsync", meanwhile)
    Checkpoint(tmp_path / "all" / "one" / "fit")
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["other"]


def test_a_way_that_goes_up_from_a_missing_folder(tmp_path) -> None:
    example = Example.of(SquaredHinge, LogDet(), size=300)
    solved(example, tmp_path / "a" / ".." / "b")
    assert Checkpoint(tmp_path / "b").resume({"X": "this"}) is not None


@pytest.mark.filterwarnings("ignore:the solve was stopped by the callback")
def test_nobody_is_sent_to_what_could_not_be_written(tmp_path, monkeypatch) -> None:
    """Nor to half a file; what was written before that is still there."""
    example, folder = Example.of(SquaredHinge, LogDet(), size=300), tmp_path / "fit"

    def full(*given) -> None:
        raise OSError(28, "No space left on device")

    def reached(words: str) -> str:
        checkpoint = Checkpoint(folder)
        solver = Recovering(reached=checkpoint.resume({"X": "this"}), keep=checkpoint.keep)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.warns(UserWarning, match=words):
                solve(example.in_shards(Here()), solver)
        return checkpoint.advice()

    assert reached("could not be written .* and the same call would begin anew") == ""
    assert list(folder.iterdir()) == []
    solved(example, folder, 1)
    assert "to go on from" in reached("the same call would go on from what was written last")


def test_a_folder_is_whole_at_any_moment(tmp_path, monkeypatch) -> None:
    """What interrupts the writing leaves the file as it was."""
    example = Example.of(SquaredHinge, LogDet(), size=300)
    solved(example, tmp_path)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()

    def fails(*args) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(KeyboardInterrupt):
        solved(example, tmp_path)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before
