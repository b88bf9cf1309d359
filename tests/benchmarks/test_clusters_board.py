"""Clusters: links are true and within one half, scores know right from nothing, failures are answers."""

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.leaderboard import clusters
from benchmarks.leaderboard.boards import BOARDS
from benchmarks.leaderboard.clusters import PLAIN, SCORES, judge_elsewhere, load_linked
from experiments.experiment import Result


@pytest.fixture
def blobs(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = 5.0 * np.eye(3)[y] + rng.normal(size=(60, 3))
    monkeypatch.setattr(clusters, "load_set", lambda name: (X, y))


@pytest.mark.parametrize("draw", range(3))
def test_links_are_true_and_within_one_half(blobs, draw):
    few, many = load_linked("any", 20, draw), load_linked("any", 50, draw)
    for task, count in ((few, 20), (many, 50)):
        i, j, alike = (np.asarray(column) for column in task.side.near_and_far())
        assert task.side.size == count
        np.testing.assert_array_equal(task.y[i] == task.y[j], alike)
        assert task.is_free.sum() == 30
        assert not task.is_free[np.concatenate([i, j])].any()
    np.testing.assert_array_equal(few.is_free, many.is_free)

    def links(task) -> set[tuple[int, ...]]:
        return {tuple(sorted(row)) for row in np.asarray(task.side.statement_points()).tolist()}

    assert links(few) < links(many)


def test_scores_know_the_classes_from_one_cluster(blobs):
    task = load_linked("any", 20, 0)
    assert task.judge((task.y + 1) % 3) == dict.fromkeys(SCORES, 1.0)
    one = task.judge(np.zeros(60))
    assert one["ARI, all"] == pytest.approx(0.0)
    assert one["accuracy, all"] == pytest.approx(19 / 59)  # 20 points of each class
    half = np.where(task.is_free, task.y, 0)  # right where no link is
    assert task.judge(half)["ARI, no link"] == 1.0 > task.judge(half)["ARI, all"]


def test_ours_find_round_classes_and_keep_the_links(blobs):
    found = clusters.judge_here(load_linked("any", 50, 0))
    assert next(iter(found)) == PLAIN
    for answer in found.values():
        assert answer["status"] == "done", answer["reason"]
        assert answer["ARI, all"] > 0.9


def test_others_answer_or_say_why_not(blobs):
    (found,) = judge_elsewhere([load_linked("any", 20, 0)], may_make=False)
    assert set(found) == {"COP-KMeans", "PCK-means", "MPCK-means"}
    if found["PCK-means"]["status"] == "unavailable":
        pytest.skip(found["PCK-means"]["reason"])
    for answer in found.values():
        assert "ARI, all" in answer if answer["status"] == "done" else answer["reason"]
    assert found["PCK-means"]["ARI, all"] > 0.9


def test_a_failure_is_none_and_plain_gains_exactly_nothing():
    def result(draw: int, **values: float) -> Result:
        found = {
            name: {"status": "done", "seconds": 1.0, **dict.fromkeys(SCORES, value)}
            for name, value in ((PLAIN, values["plain"]), ("ours", values["ours"]))
        }
        found["COP-KMeans"] = {"status": "failed", "reason": "it found no cluster"}
        return Result({"set": "iris", "draw": draw, "count": 20}, found)

    rows = BOARDS["clusters"](0).table(
        [result(0, plain=0.5, ours=0.7), result(1, plain=0.1, ours=0.7)]
    )
    gains = [row for row in rows if row.get("ARI, number of links") == "20"]
    assert [row["points"] for row in gains] == ["all", "iris"]
    for row in gains:
        assert row[PLAIN] == "+0.0 / +0.0"
        assert row["ours"] == "+40.0 / +40.0"
        assert row["COP-KMeans"] == "none / none"


def test_a_quick_run_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    command = ["leaderboard", "clusters", "--quick", "--out", str(tmp_path)]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "| iris | 50 | +0.0 / +0.0 |" in first
    monkeypatch.setattr(clusters, "judge_here", None)  # nothing is computed again
    assert main(command) == 0
    assert capsys.readouterr().out == first
