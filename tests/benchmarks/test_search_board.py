"""Searches: what is judged is apart from what is said, as much is wrong as stated, and plain gains nothing."""

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.leaderboard import search, search_tasks
from benchmarks.leaderboard.boards import BOARDS
from benchmarks.leaderboard.search import PLAIN, judge_elsewhere, judge_here, scores_of
from benchmarks.leaderboard.search_rivals import _score
from benchmarks.leaderboard.search_tasks import KINDS, SCORES, load_task
from experiments.experiment import Result, checked_parts

SHARES = (0.0, 0.1, 0.2)


@pytest.fixture
def numbered(monkeypatch):
    """Points that are their own row numbers, in ten groups."""
    X, y = np.arange(600.0)[:, None], np.arange(600) % 10
    monkeypatch.setattr(search_tasks, "load_points", lambda name: (X, y))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", range(3))
def test_no_statement_is_about_what_is_searched_nor_about_an_unseen_group(numbered, kind, draw):
    task = load_task("any", kind, 200, 0.1, draw)
    said = set(task.X_train[np.asarray(task.side.involved())].ravel())
    assert task.side.n_points == len(task.X_train)
    assert said.isdisjoint(task.X_queries.ravel())
    assert said.isdisjoint(task.X_database.ravel())
    assert set(task.X_queries.ravel()).isdisjoint(task.X_database.ravel())
    unseen = set(task.y_queries[~task.is_seen])
    assert len(unseen) == 3
    assert unseen.isdisjoint(task.y_train)
    assert unseen <= set(task.y_database)
    assert set(task.y_queries[task.is_seen]) <= set(task.y_train)


def said_right(task) -> np.ndarray:
    """Of each statement, by its points: whether the groups say so, too."""
    i, j, alike = (np.asarray(column) for column in task.side.near_and_far())
    agrees = (task.y_train[i] == task.y_train[j]) == alike
    return agrees.reshape(-1, task.side.size).all(axis=0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_stated_share_is_wrong_and_all_else_the_same(numbered, kind):
    tasks = [load_task("any", kind, 200, share, 0) for share in SHARES]
    for share, task in zip(SHARES, tasks, strict=True):
        assert task.side.size == 200
        assert np.sum(~said_right(task)) == round(200 * share)
        np.testing.assert_array_equal(task.X_train, tasks[0].X_train)
        np.testing.assert_array_equal(task.X_queries, tasks[0].X_queries)

    def points(task) -> set[tuple[int, ...]]:
        return {tuple(sorted(row)) for row in np.asarray(task.side.statement_points()).tolist()}

    assert points(tasks[0]) == points(tasks[1]) == points(tasks[2])


def test_draws_have_other_points_and_other_unseen_groups(numbered):
    tasks = [load_task("any", "pairs", 200, 0.0, draw) for draw in range(4)]
    assert len({frozenset(t.y_queries[~t.is_seen]) for t in tasks}) > 1
    assert len({frozenset(t.X_queries.ravel()) for t in tasks}) == 4


def test_a_search_that_knows_the_groups_is_perfect_and_one_that_knows_nothing_is_not(numbered):
    task = load_task("any", "pairs", 200, 0.0, 0)
    perfect = task.judge(lambda points: 10.0 * (points % 10) + 1e-3 * points / 600)
    assert perfect == pytest.approx(dict.fromkeys(SCORES, 1.0))
    blind = task.judge(np.zeros_like)
    share = np.mean(task.y_queries[:, None] == task.y_database)
    assert blind == pytest.approx(dict.fromkeys(SCORES, share), abs=0.02)
    with pytest.raises(ValueError, match="not finite"):
        task.judge(lambda points: points * np.nan)


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_held_back_statements_are_scored_as_the_library_scores_them(scale):
    from sklearn.metrics import roc_auc_score

    from gramlearn import Pairs, Triplets

    rng = np.random.default_rng(0)
    X, y, L = scale * rng.normal(size=(60, 3)), np.arange(60) % 3, rng.normal(size=(3, 3))
    d = np.sum(((X[:, None] - X) @ L.T) ** 2, axis=2)
    i, j, alike = Pairs.from_labels(y, 100, random_state=0).near_and_far()
    area = _score(L, X, np.stack([i, j], axis=1), alike)
    assert area == pytest.approx(roc_auc_score(alike, -d[i, j]))
    table = Triplets.from_labels(y, 100, random_state=0).triplets
    kept = d[table[:, 0], table[:, 1]] < d[table[:, 0], table[:, 2]]
    assert _score(L, X, table, np.ones(100, dtype=bool)) == np.mean(kept)


def test_all_contestants_get_the_same_draws_and_those_of_other_seeds_differ():
    draws = [
        {p.draws[0].parameters["draw"] for p in BOARDS["search"](s).parts(False)} for s in (0, 1)
    ]
    assert draws == [set(range(5)), set(range(5, 10))]
    parts = checked_parts(BOARDS["search"](0), quick=False, seed=0)
    asked = [(p.draws[0].parameters["contestant"], p.draws[0].parameters["kind"]) for p in parts]
    assert ("metric-learn ITML", "triplets") not in asked
    assert asked.count((PLAIN, "pairs")) == asked.count(("linear adapter", "triplets")) == 6 * 3 * 5


def test_plain_gains_exactly_nothing():
    task = load_task("digits", "pairs", 200, 0.2, 0)
    plain = judge_here(PLAIN, task)
    assert {score: plain[score] for score in SCORES} == task.judge(lambda points: points)
    of = {"set": "digits", "kind": "pairs", "count": 200, "draw": 0, "wrong": 0.2}
    scores = scores_of([Result(of, {PLAIN: {"status": "done", **plain}})], SCORES[0])
    assert scores.above(scores.sets, PLAIN, PLAIN).center == 0.0


@pytest.mark.parametrize("name", ["metric-learn ITML", "linear adapter"])
def test_others_learn_what_separates_groups(monkeypatch, name):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 4
    X = np.column_stack([y, 3.0 * rng.normal(size=(400, 3))])
    monkeypatch.setattr(search_tasks, "load_points", lambda name: (X, y))
    task = load_task("any", "pairs", 200, 0.0, 0)
    (answer,) = judge_elsewhere(name, [task], may_make=False)
    if answer["status"] == "unavailable":
        pytest.skip(answer["reason"])
    assert answer["status"] == "done", answer["reason"]
    plain = task.judge(lambda points: points)
    assert answer["MAP, seen"] > plain["MAP, seen"] + 0.2


def test_a_quick_run_goes_on_where_it_was_and_says_what_is_gained(tmp_path, capsys, monkeypatch):
    X, y = search_tasks.load_points("digits")
    fewer = X.reshape(-1, 8, 8)[:, ::2, ::2].reshape(-1, 16)  # pixels, so that the fits are quick
    monkeypatch.setattr(search_tasks, "load_points", lambda name: (fewer, y))
    command = ["leaderboard", "search", "--quick", "--out", str(tmp_path)]
    assert main(command) == 0
    first = capsys.readouterr().out
    for words in ("contestant, triplets", "MAP, number of pairs", "recall, wrong, %"):
        assert words in first
    assert "| digits | 20 | +0.0 / +0.0 |" in first
    monkeypatch.setattr(search, "judge_here", None)  # nothing is computed again
    assert main(command) == 0
    assert capsys.readouterr().out == first
