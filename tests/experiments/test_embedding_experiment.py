"""The claims about Tables 8 and 9 of Z11: as printed, and judged by their criteria."""

from typing import Any

import pytest
from experiments.experiment import Claim, Result
from experiments.reproductions.z11 import _embedding_claims as tables

from experiments import reproductions

SETS = tables.SETS


def results(accuracy: dict[str, float], seconds: dict[str, float]) -> list[Result]:
    """Two draws of every set, 0.02 apart, one of the programs, and one spiral in other dimensions."""
    found: list[Result] = []
    for name in SETS:
        for shift in (-0.01, 0.01):
            value = {
                column: {"accuracy": accuracy[column] + shift, "seconds": seconds[column]}
                for column in ("KPCA", "MVE", "SPE")
            }
            found.append(Result({"data": name, "by": "ours"}, value))
        programs = {
            column: {"accuracy": 0.5, "seconds": seconds[column]}
            for column in ("MVE by SDP", "SPE by SDP")
        }
        found.append(Result({"data": name, "by": "sdp"}, programs))
    wider: dict[str, Any] = {"between": 0.2, "neighbors": 5}
    wider |= {f"{column} in {d}": 0.5 for column in ("MVE", "SPE") for d in (2, 3)}
    return [*found, Result({"data": "double_spiral", "by": "dimensions"}, wider)]


def claims(accuracy: dict[str, float], seconds: dict[str, float]) -> dict[str, Claim]:
    found = reproductions.find("embedding_tables").claims(results(accuracy, seconds))
    return {claim.words: claim for claim in found}


FAST = {"KPCA": 0.1, "MVE": 0.01, "SPE": 0.01, "MVE by SDP": 2.0, "SPE by SDP": 3.0}
HIGH = {"KPCA": 0.97, "MVE": 0.98, "SPE": 0.96}


def test_the_printed_speed_ups_are_those_of_the_printed_seconds() -> None:
    """Each column was typed from the paper; the seconds there are rounded."""
    for row in tables._PAPER.values():
        volume, volume_fast, structure, structure_fast = row.seconds
        expected = (volume / volume_fast, structure / structure_fast)
        assert row.speed_ups == pytest.approx(expected, rel=0.012)
        assert len(row.percents) == len(row.seconds) + 1 == len(tables.COLUMNS)


def test_australian_is_the_papers_alone() -> None:
    assert "australian" not in SETS
    assert "australian" not in tables.by_set(results(HIGH, FAST))
    absent = claims(HIGH, FAST)[
        "accuracies of nearest neighbors after KPCA, MVE and SPE on australian, in percent"
    ]
    assert (absent.agrees, absent.ours) == (None, "nothing")
    assert absent.paper == "63.2 ± 9.8, 63.8 ± 9.3 and 59.5 ± 10.1"
    taken = claims(HIGH, FAST)["seconds of MVE by SimpleNPKL"]
    assert taken.paper == "0.30 to 1.14"


@pytest.mark.parametrize(
    ("volume", "agrees", "ours"),
    [
        (0.98, True, "wine, ionosphere, heart_statlog, sonar, glass and breast_cancer_wdbc"),
        (0.9, False, "none"),
    ],
)
def test_minimum_volume_is_best_where_its_mean_is(volume: float, agrees: bool, ours: str) -> None:
    best = claims(HIGH | {"MVE": volume}, FAST)[
        "MVE by SimpleNPKL tends to be slightly better than the other methods"
    ]
    assert best.agrees is agrees
    assert best.ours == f"best of the three on {ours}"
    assert best.paper == "best of the five on sonar, glass, double_spiral and australian"


def test_accuracies_reach_the_papers_by_an_interval() -> None:
    words = "accuracies of nearest neighbors after KPCA reach the paper's, in percent"
    assert claims(HIGH, FAST)[words].agrees
    # Of wine, 90.5 ± 5.6 over 20, and here two draws 2 points apart: 2.46 sqrt(5.6^2 / 20 + 1^2) = 3.95.
    assert "wine" not in claims(HIGH | {"KPCA": 0.866}, FAST)[words].reason
    low = claims(HIGH | {"KPCA": 0.865}, FAST)[words]
    assert low.agrees is False
    assert low.reason.startswith("It is below on wine by 4.0 and breast_cancer_wdbc by 5.4.")


def test_a_slow_program_does_not_make_a_method_fast() -> None:
    """Wine takes the paper's solver 2.92 s, whatever SCS takes."""
    words = "MVE by SimpleNPKL is faster than by a general SDP solver"
    slow = claims(HIGH, FAST | {"MVE": 0.5, "MVE by SDP": 1000.0})[words]
    assert slow.agrees is False
    assert slow.ours.startswith("2000 times, against 5000 steps of SCS; 5.8 to 36.6 against")
    assert "1000.0 s on wine, where the paper's solver takes 2.92 s" in slow.reason
    assert "sonar" not in slow.reason
    assert claims(HIGH, FAST)[words].agrees
    assert claims(HIGH, FAST | {"MVE by SDP": 0.08})[words].agrees is False
