"""Ranks, wins and harm on boards with known answers; a quick run of one; the same halves for everybody."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.leaderboard.boards import BOARDS
from benchmarks.leaderboard.neighbors import Half, errors_of
from benchmarks.leaderboard.ranking import harmed, mean_ranks, median_seconds, tally
from benchmarks.leaderboard.standing import list_gains, list_standing
from experiments.experiment import Result, checked_parts
from experiments.reproductions.shared.by_set import BySet

ROOT = Path(__file__).resolve().parents[2]


def board(*, gained: bool = False, **scores: list[list[float] | None]) -> BySet:
    """One list of draws for each set, by contestant; None where there is no answer."""
    n_sets, n_draws = len(next(iter(scores.values()))), 3
    draws = {
        f"set{s}": [
            {
                name: {"status": "failed", "reason": "no"}
                if of_sets[s] is None
                else {"status": "done", "error": of_sets[s][d], "seconds": 1.0 + d}
                for name, of_sets in scores.items()
            }
            for d in range(n_draws)
        ]
        for s in range(n_sets)
    }
    return BySet(draws, "error", gained=gained)


ERRORS: dict[str, list[list[float] | None]] = {
    "plain": [[0.2, 0.2, 0.2], [0.3, 0.3, 0.3], [0.1, 0.2, 0.3]],
    "better": [[0.1, 0.1, 0.1], [0.3, 0.3, 0.3], [0.1, 0.2, 0.3]],
    "worse": [[0.3, 0.3, 0.3], [0.2, 0.4, 0.3], [0.2, 0.3, 0.5]],
    "absent": [None, [0.1, 0.1, 0.1], None],
}
EXAMPLE = board(**ERRORS)
GAINS = board(
    gained=True,
    **{m: [s and [1 - error for error in s] for s in of_m] for m, of_m in ERRORS.items()},
)


@pytest.mark.parametrize("example", [EXAMPLE, GAINS], ids=["errors", "gains"])
def test_ranks_are_shared_by_equals_and_last_without_an_answer(example):
    ranks = mean_ranks(example)
    assert ranks == pytest.approx(
        {
            "plain": np.mean([2, 3, 1.5]),
            "better": np.mean([1, 3, 1.5]),
            "worse": np.mean([3, 3, 3]),
            "absent": np.mean([4, 1, 4]),
        }
    )
    assert sum(ranks.values()) == pytest.approx(1 + 2 + 3 + 4)


@pytest.mark.parametrize("example", [EXAMPLE, GAINS], ids=["errors", "gains"])
def test_a_set_is_won_or_lost_by_more_than_a_standard_error(example):
    assert tally(example, "better", "plain") == (1, 2, 0)
    assert tally(example, "worse", "plain") == (0, 1, 2)
    assert tally(example, "absent", "plain") == (1, 0, 2)
    assert tally(example, "plain", "plain") == (0, 3, 0)
    assert str(tally(example, "better", "plain")) == "1 / 2 / 0"
    assert harmed(example, "worse", "plain") == ["set0", "set2"]
    assert harmed(example, "better", "plain") == []


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 100.0])
@pytest.mark.parametrize("n_draws", [3, 7, 10])
def test_one_draw_of_all_is_no_more_than_its_standard_error(n_draws, unit):
    """Of differences d, 0, ..., 0 the mean and its standard error are d / n both."""
    draws = [
        {
            name: {"status": "done", "error": unit * (0.2 + 0.1 * (name == "other" and k == 0))}
            for name in ("plain", "other")
        }
        for k in range(n_draws)
    ]
    scores = BySet({"set": draws}, "error", gained=False)
    assert harmed(scores, "other", "plain") == []
    assert tally(scores, "other", "plain") == (0, 1, 0)


@pytest.mark.parametrize("example", [EXAMPLE, GAINS], ids=["errors", "gains"])
def test_gains_are_above_plain_whichever_way_a_score_goes(example):
    families = {("both",): ["set0", "set2"], ("one",): ["set1"]}
    boards = {"": replace(example, unit=100.0)}
    rows = list_gains(boards, "plain", families, ["family"])
    both = {"plain": "+0.0", "better": "+5.0", "worse": "-11.7", "absent": "none"}
    one = {"plain": "+0.0", "better": "+0.0", "worse": "+0.0", "absent": "+20.0"}
    assert rows == [{"family": "both", **both}, {"family": "one", **one}]


def test_the_standing_counts_the_sets_of_a_title_that_are_harmed():
    titles = {"set0": "first", "set1": "first", "set2": "second"}
    rows = {row["contestant"]: row for row in list_standing({"e": EXAMPLE}, "plain", titles)}
    assert next(iter(rows)) == "better"
    assert rows["worse"]["worse than plain on"] == "first (1 of 2), second"
    assert rows["plain"]["worse than plain on"] == ""


def test_seconds_are_those_of_fits_that_have_an_answer():
    assert median_seconds(EXAMPLE, "plain") == 2.0
    assert median_seconds(board(a=[None]), "a") is None


def test_all_groups_get_the_same_halves_and_other_seeds_others():
    parts = checked_parts(BOARDS["neighbors"](0), quick=False, seed=0)
    draws: dict[tuple[str, str], list[int]] = {}
    for part in parts:
        of_group = tuple(part.draws[0].parameters[key] for key in ("set", "group"))
        draws.setdefault(of_group, []).extend(draw.parameters["draw"] for draw in part.draws)
    assert len({name for name, _ in draws}) >= 20
    assert len({group for _, group in draws}) == 5
    assert all(numbers == list(range(10)) for numbers in draws.values())
    others = checked_parts(BOARDS["neighbors"](1), quick=False, seed=1)
    assert {d.parameters["draw"] for p in parts for d in p.draws}.isdisjoint(
        d.parameters["draw"] for p in others for d in p.draws
    )


def test_a_half_is_standardized_by_what_is_learned_from():
    rng = np.random.default_rng(0)
    X, y = rng.normal(3.0, 2.0, size=(60, 2)), np.arange(60) % 2
    half = Half(np.column_stack([X, np.ones(60)]), y, seed=1)
    np.testing.assert_allclose(half.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(half.X.std(axis=0), [1, 1, 0], atol=1e-12)
    assert not np.allclose(half.X_test.mean(axis=0)[:2], 0, atol=1e-3)
    half.y_test = half.y
    assert half.errors(half.X, half.X)["error1"] == 0.0  # each point is its own nearest
    with pytest.raises(ValueError, match="not finite"):
        half.errors(half.X * np.nan, half.X_test)


def test_groups_of_contestants_are_joined_draw_by_draw():
    def result(group: str, draw: int, name: str, error: float) -> Result:
        value = {name: {"status": "done", "reason": "", "error1": error, "seconds": 1.0}}
        return Result({"set": "iris", "group": group, "draw": draw}, value)

    results = [
        result("here", 1, "ours", 0.1),
        result("here", 0, "ours", 0.2),
        result("metric-learn", 0, "theirs", 0.4),
        result("metric-learn", 1, "theirs", 0.3),
    ]
    errors = errors_of(results, 1)
    assert errors.scores("iris", "ours") == pytest.approx([20, 10])
    assert errors.scores("iris", "theirs") == pytest.approx([40, 30])


def test_a_quick_run_goes_on_where_it_was_and_prints_the_standing(tmp_path, capsys, monkeypatch):
    assert main(["leaderboard", "neighbors", "--quick", "--out", str(tmp_path)]) == 0
    first = capsys.readouterr().out
    for words in ("gramlearn", "scikit-learn NCA", "mean rank, k = 5", "wins / ties / losses"):
        assert words in first
    monkeypatch.setattr(Half, "judge", None)  # nothing is computed again
    assert main(["leaderboard", "neighbors", "--quick", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == first
    assert (tmp_path / "leaderboard" / "neighbors-quick" / "table.md").exists()


def test_fits_of_other_packages_are_loaded_without_gramlearn():
    modules = "benchmarks.leaderboard.fits, benchmarks.leaderboard.search_rivals"
    code = f"import sys; sys.modules['gramlearn'] = None; import {modules}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_board_has_fewer_draws_and_sets_where_asked(tmp_path, capsys):
    whole, some = BOARDS["search"](1), BOARDS["search"](1, n_draws=2, sets=["usps"])
    assert list(some.draws) == list(whole.draws)[:2]
    assert some.sets == ["usps"]
    assert some.data == whole.data  # which parts are kept for: more draws and sets go on from there
    parts = {part.id: part for part in checked_parts(whole, quick=False, seed=1)}
    fewer = checked_parts(some, quick=False, seed=1)
    assert 0 < len(fewer) < len(parts)
    assert all(part == parts[part.id] for part in fewer)
    assert main(["leaderboard", "search", "--data", "uspss", "--out", str(tmp_path)]) == 2
    assert "no set uspss; it has newsgroups-100, " in capsys.readouterr().err
