"""The experiment of kernel design: its comparisons, choice of prices, rivals, tables and picture."""

import os
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from experiments.experiment import Result
from experiments.reproductions.f07 import _comparisons, kernel_design
from experiments.reproductions.f07._comparisons import (
    GAMMAS,
    SETS,
    SINGLE,
    Judged,
    Split,
    draw_split,
    learn_mix,
    rank_by_halves,
    score_grid,
    share_above,
)
from experiments.reproductions.shared.rivals import METRIC_LEARN, learn_mmc

from experiments import reproductions
from gramlearn import KernelDesigner, MetricLearner, Triplets, datasets
from gramlearn.evaluation import comparisons_kept

RNG = np.random.default_rng(0)
CLASSES = np.repeat([0, 1, 2], 16)
# The first feature tells classes apart, the second a little, the third is noise and the last one constant.
POINTS = RNG.standard_normal((48, 4)) * [0.4, 1.0, 1.0, 0.0] + CLASSES[:, None] * [
    1.5,
    0.5,
    0.0,
    0.0,
]


def judged(rows: np.ndarray, count: int = 60) -> Judged:
    return Judged(POINTS[rows], Triplets.from_labels(CLASSES[rows], count, random_state=0))


SPLIT = Split(
    judged(np.arange(0, 48, 2)),
    judged(np.arange(1, 48, 2)),
    (judged(np.arange(0, 48, 4)), judged(np.arange(2, 48, 4))),
)

# -- comparisons -----------------------------------------------------------------------------------


def test_a_comparison_of_equals_is_not_kept() -> None:
    near = np.array([1.0, 0.1 + 0.2, 1e-200, 2e-200, -1.0])
    far = np.array([0.5, 0.3, 1e-200, 1e-200, -0.5])
    assert share_above(near, far) == pytest.approx(2 / 5)


def test_the_share_kept_is_that_of_the_library() -> None:
    learner = MetricLearner(loss="hinge", C=1.0).fit(
        SPLIT.training.points, side=SPLIT.training.triplets
    )
    share = SPLIT.test.share_kept(lambda A, B: learner.pair_score((A, B)))
    assert share == comparisons_kept(learner, SPLIT.test.points, SPLIT.test.triplets)
    assert 0.5 < share < 1.0


def test_gaussians_of_all_widths_keep_what_the_distance_keeps() -> None:
    distance = SPLIT.test.share_kept(lambda A, B: -np.linalg.norm(A - B, axis=1))
    widths = ("Gauss, mu = 1", "Gauss, mu = 0.1")
    assert [SPLIT.test.share_kept(SINGLE[width].paired) for width in widths] == [distance] * 2


def test_of_features_that_are_not_negative_linear_and_polynomial_keep_the_same() -> None:
    """(t + 1)^2 grows with t >= 0, and in raw units most sets have such features alone."""
    raised = Judged(POINTS - POINTS.min(axis=0), SPLIT.test.triplets)
    linear = raised.share_kept(SINGLE["linear"].paired)
    assert linear == raised.share_kept(SINGLE["polynomial, degree 2"].paired)


def test_a_split_standardizes_by_what_is_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.arange(200.0)
    X = np.column_stack([numbers, RNG.standard_normal(200), np.full(200, 7.0)])
    labels = np.array(["a", "b", "c", "a"])[np.arange(200) % 4]
    data = datasets.Dataset("wine", "here", X=X, y=labels)
    monkeypatch.setattr(datasets, "load", lambda name: data)
    split = draw_split("wine", np.random.default_rng(1))
    raw = draw_split("wine", np.random.default_rng(1), raw=True)
    assert np.array_equal(raw.training.triplets.triplets, split.training.triplets.triplets)
    assert set(raw.test.points[:, 2]) == {7.0}
    assert split.training.points.shape == (170, 3)
    np.testing.assert_allclose(split.training.points.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.training.points.std(axis=0), [1.0, 1.0, 0.0])
    assert (split.training.triplets.size, split.test.triplets.size) == (1500, 1000)
    assert [half.triplets.size for half in split.halves] == [750, 750]

    # The first feature is the row number, shifted and scaled.
    alone = [split.training.points, split.test.points, *(half.points for half in split.halves)]
    slope = np.ptp(np.concatenate(alone)[:, 0]) / 199
    first = min(points[:, 0].min() for points in alone)
    rows = [np.rint((points[:, 0] - first) / slope).astype(int) for points in alone]
    assert np.array_equal(np.sort(np.concatenate(rows[:2])), np.arange(200))
    assert np.array_equal(np.sort(np.concatenate(rows[2:])), np.sort(rows[0]))
    for part, number in ((split.training, 0), (split.test, 1), (split.halves[0], 2)):
        i, j, k = labels[rows[number][np.asarray(part.triplets.triplets).T]]
        assert np.all(i == j)
        assert np.all(i != k)


@pytest.mark.skipif(not os.environ.get(datasets.VARIABLE), reason=f"{datasets.VARIABLE} is not set")
def test_the_sets_are_those_of_table_1() -> None:
    printed = [
        (506, 13, 2),
        (351, 34, 2),
        (150, 4, 3),
        (178, 13, 3),
        (625, 4, 3),
        (569, 30, 2),
        (47, 35, 4),
        (116, 20, 6),
        (768, 8, 2),
    ]
    for name, (n, d, classes) in zip(SETS, printed, strict=True):
        split = draw_split(name, np.random.default_rng(0))
        sizes = len(split.training.points), len(split.test.points)
        assert sum(sizes) == n
        assert sizes[1] == round(0.15 * n)
        assert split.training.points.shape[1] == d
        y = datasets.load(SETS[name]).y
        assert len(np.unique(y > 25 if name == "boston" else y)) == classes


# -- the choice of gammas --------------------------------------------------------------------------


def test_candidates_are_ranked_by_both_halves_together() -> None:
    of_first, of_second = np.array([0.5, 0.9, 0.6, 0.8]), np.array([0.5, 0.5, 0.8, 0.6])
    shares = {id(SPLIT.halves[0]): of_first, id(SPLIT.halves[1]): of_second}

    def found(learned: Judged, judge: Judged) -> np.ndarray:
        assert {id(learned), id(judge)} == set(shares)
        return shares[id(learned)]

    assert rank_by_halves(SPLIT, found) == [1, 2, 3, 0]


@pytest.mark.parametrize("weak", [False, True])
def test_the_grid_is_what_single_fits_give(weak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_comparisons, "_TOL", 1e-6)
    first, second = SPLIT.halves
    shares = score_grid(first, second, weak)
    assert not shares.all()
    assert shares.max() > 0.7
    for row, column in ((5, 5), (5, 1), (4, 2), (3, 3), (1, 4), (0, 5)):
        designer = KernelDesigner(
            list(SINGLE.values()), weak=weak, sparsity=GAMMAS[column], trace_price=GAMMAS[row]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of weights that are all zero, and of their gap
            designer.fit(first.points, side=first.triplets)
        share = comparisons_kept(designer, second.points, second.triplets)
        assert shares[row, column] == pytest.approx(share, abs=0.02)


def test_a_mix_says_what_it_uses() -> None:
    mix = learn_mix(SPLIT, weak=True)
    designer = KernelDesigner(
        list(SINGLE.values()), weak=True, sparsity=mix.gamma1, trace_price=mix.gamma2
    )
    designer.fit(SPLIT.training.points, side=SPLIT.training.triplets)
    assert mix.share_kept == comparisons_kept(designer, SPLIT.test.points, SPLIT.test.triplets)
    largest = np.abs(designer.weights_).reshape(4, len(SINGLE)).max(axis=1)
    assert mix.used_constant == (largest[3] > 0.01)
    assert mix.used == np.count_nonzero(largest > 0.01)
    assert mix.selected == np.count_nonzero(largest)


def test_gammas_that_leave_no_weight_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the halves had liked the largest prices best, at which no kernel is worth its trace."""
    high = np.linspace(1.0, 0.0, len(GAMMAS) ** 2).reshape(len(GAMMAS), -1)
    monkeypatch.setattr(_comparisons, "score_grid", lambda learned, judge, weak: high)
    mix = learn_mix(SPLIT, weak=False)
    assert mix.passed_over > 0
    assert mix.share_kept > 0.5
    number = GAMMAS.index(mix.gamma2) * len(GAMMAS) + GAMMAS.index(mix.gamma1)
    assert number == mix.passed_over


# -- Xing et al. -----------------------------------------------------------------------------------


def test_each_comparison_is_an_alike_and_an_unlike_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(SPLIT, training=replace(SPLIT.training, points=2 * SPLIT.training.points))

    def asked(function: Any, package: Any, calls: Any, limit: float, may_make: bool) -> list[Any]:
        assert (function, package, limit, may_make) == (learn_mmc, METRIC_LEARN, 3.0, False)
        table = np.asarray(SPLIT.training.triplets.triplets)
        for call in calls:
            np.testing.assert_array_equal(call["alike"], table[:, :2])
            np.testing.assert_array_equal(call["unlike"], table[:, [0, 2]])
        return [(call["diagonal"], call["X"][0, 0]) for call in calls]

    monkeypatch.setattr(kernel_design, "call_isolated", asked)
    first, second = (split.training.points[0, 0] for split in (SPLIT, other))
    assert kernel_design._xing([SPLIT, other], 3.0, False) == [
        {"full": (False, first), "diagonal": (True, first)},
        {"full": (False, second), "diagonal": (True, second)},
    ]


# -- the tables and the picture --------------------------------------------------------------------


def result(name: str, weak: float, xing: float | None, **more: Any) -> Result:
    """A split of a set, with single kernels at 0.6 and 0.7, and the others as given."""
    kept = {"Gauss, mu = 1": 0.7, "Gauss, mu = 0.1": 0.7, "polynomial, degree 2": 0.6}
    kept |= {"linear": more.get("linear", 0.61), "mix of full kernels": more.get("full", 0.69)}
    kept |= {"mix of weak kernels": weak, "MMC, diagonal": 0.5, "MetricLearner": 0.75}
    kept |= {} if xing is None else {"Xing et al. (MMC)": xing}
    mix = {"gamma1": 10.0, "gamma2": 1e-4, "passed_over": 0, "used_constant": 0}
    mix |= {"used": more.get("used", 3), "selected": 4}
    done = {"status": "done", "reason": "", "converged": True, "is_start": False}
    lost = {"status": "ended", "reason": "it was ended after 15 s"}
    value = {
        "kept": kept,
        "mixes": {"mix of weak kernels": mix, "mix of full kernels": mix | {"passed_over": 2}},
        "xing": {
            "full": lost if xing is None else done | {"converged": False},
            "diagonal": done | {"is_start": True},
        },
        "gamma": 0.1,
        "features": 4,
        "test_triplets": more.get("test_triplets", 1000),
    }
    return Result({"set": name, "split": 0}, value)


RESULTS = [
    result("iris", 0.855, 0.8),
    result("iris", 0.845, None),
    result("iris", 0.85, 0.8),
    result("balance", 0.646, 0.83, linear=0.66, full=0.75, used=4),
    result("balance", 0.644, 0.82, linear=0.68, full=0.75, used=4),
]


def test_the_tables_say_what_agrees() -> None:
    rows = reproductions.find("kernel_design").table(RESULTS)
    assert [row["set"] for row in rows] == ["3 iris", "5 balance", "all"] * 3
    iris, balance, both = rows[:3]
    assert iris["mix of weak kernels"] == "85.0 ± 0.5"
    assert iris["weak - best single (paper: above 0)"] == "+15.0 ± 1.2, agrees"
    assert balance["weak - best single (paper: above 0)"] == "-5.5 ± 1.3, differs"
    assert both["weak - best single (paper: above 0)"] == "1 agrees, 1 differs"
    # Where the paper has a single kernel ahead of the mix of full ones, and where it says nothing.
    assert iris["full - best single (paper)"] == "-1.0 ± 0.0 (below 0), agrees"
    assert balance["full - best single (paper)"] == "+5.0 ± 0.0"
    assert iris["linear - polynomial (paper: about 0)"].endswith("+1.0 ± 0.0, agrees")
    assert balance["linear - polynomial (paper: about 0)"].endswith("+7.0 ± 12.7, differs")

    iris, balance, both = rows[3:6]
    used = "used by weak kernels, |alpha| > 0.01 (paper)"
    assert (iris[used], balance[used]) == ("3.0 ± 0.0 (fewer), agrees", "4.0 ± 0.0 (all), agrees")
    assert both[used] == "2 agrees"
    assert iris["of these constant"] == "0.0"
    assert iris["gamma1, gamma2, mix of weak kernels"] == "10, 0.0001 (3 of 3)"
    assert iris["gamma1, gamma2, mix of full kernels"].endswith("left no weight on 3")


@pytest.mark.parametrize(
    ("name", "used", "words"),
    [
        ("iris", (4, 4, 4, 2), "3.5 ± 1.0 (fewer), undecided"),
        ("iris", (4, 4, 4, 4), "4.0 ± 0.0 (fewer), differs"),
        ("iris", (2, 2, 4, 2), "2.5 ± 1.0 (fewer), undecided"),
        ("iris", (2, 2, 3, 2), "2.2 ± 0.5 (fewer), agrees"),
        ("balance", (4, 4, 4, 2), "3.5 ± 1.0 (all), differs"),
    ],
)
def test_features_are_fewer_by_the_whole_interval(
    name: str, used: tuple[int, ...], words: str
) -> None:
    results = [result(name, 0.9, 0.8, used=count) for count in used]
    row = reproductions.find("kernel_design").table(results)[2]
    assert row["used by weak kernels, |alpha| > 0.01 (paper)"] == words


def raw_result(linear: float) -> Result:
    return Result(
        {"set": "iris", "split": 0, "raw": True},
        {"kept": dict.fromkeys(SINGLE, 0.5) | {"linear": linear}},
    )


def test_claims_are_judged_by_their_criteria() -> None:
    experiment = reproductions.find("kernel_design")
    claims = {claim.words: claim for claim in experiment.claims([*RESULTS, raw_result(0.5)])}
    verdicts = [claim.agrees for claim in claims.values()]
    # Of two sets one each way, so not on all, not on most, and on some; features; Xing et al.
    assert verdicts == [False, False, True, False, True, True, True, True, True]
    weak, generally, behind, apart, *_ = claims.values()
    assert weak.reason.startswith("Behind on balance, undecided on none.")
    assert generally.ours == "-1.0 ± 0.0 (iris) and +5.0 ± 0.0 (balance) points"
    assert behind.ours == "in the mean by -1.0 ± 0.0 (iris) points"
    assert apart.words.endswith("features standardized")
    few = [result("iris", 0.9, 0.8, used=used) for used in (4, 4, 4, 2)]
    claims = {claim.words: claim for claim in experiment.claims([*few, *RESULTS[3:]])}
    features = claims[
        "weak kernels use fewer features than there are, on all sets but balance scale"
    ]
    assert features.agrees is False
    assert "Not so on iris, where 3 of 4 splits use all." in features.reason
    assert features.ours == "3.5 ± 1.6 of 4 (iris)"


def test_remarks_say_where_little_is_shown() -> None:
    experiment = reproductions.find("kernel_design")
    few = result("iris", 0.9, 0.8, test_triplets=40)
    _, alike, judged_by = experiment.remarks([*RESULTS, few, raw_result(0.5)])
    assert "keep exactly as many on iris:" in alike
    assert judged_by == "The fewest test comparisons are those of iris: 40 to 1000 a split."
    _, alike, _ = experiment.remarks([*RESULTS, raw_result(0.6)])
    assert "keep exactly as many on none:" in alike


def test_raw_units_are_a_table_of_their_own() -> None:
    raw = [raw_result(0.5), raw_result(0.5)]
    experiment = reproductions.find("kernel_design")
    assert experiment.table(raw) == experiment.table([*RESULTS, *raw])[9:]
    iris, _ = experiment.table(raw)
    assert (iris["set, in raw units"], iris["linear"]) == ("3 iris", "50.0 ± 0.0")
    assert iris["linear - polynomial (paper: about 0)"] == "+0.0 ± 0.0, agrees"


def test_the_table_of_metrics_leaves_nothing_out() -> None:
    iris, balance, both = reproductions.find("kernel_design").table(RESULTS)[6:]
    assert iris["Xing et al. (MMC)"] == "80.0 ± 0.0 (2 of 3)"
    assert iris["of the splits, MMC"] == (
        "full: 2 did not converge, 1 took too long (it was ended after 15 s); "
        "diagonal: 3 gave the identity it began with"
    )
    # On the splits where both gave an answer.
    assert iris["weak - better of MMC (paper)"] == "+5.2 ± 3.2 (above 0), agrees"
    assert balance["weak - better of MMC (paper)"] == "-18.0 ± 5.1 (not above 0), agrees"
    assert both["weak - better of MMC (paper)"] == "2 agrees"
    assert iris["weak - MetricLearner"] == "+10.0 ± 1.2"


def test_a_difference_with_zero_in_its_interval_is_undecided() -> None:
    results = [result("iris", 0.9, 0.8), result("iris", 0.75, 0.8)]
    iris = reproductions.find("kernel_design").table(results)[-2]
    assert iris["weak - better of MMC (paper)"] == "+2.5 ± 95.3 (above 0), undecided"


def test_without_any_answer_of_a_rival_the_table_says_so() -> None:
    lost = result("iris", 0.9, None)
    del lost.value["kept"]["MMC, diagonal"]
    lost.value["xing"]["diagonal"].update(status="failed", reason="ValueError: NaN.")
    iris = reproductions.find("kernel_design").table([lost])[-2]
    assert (iris["Xing et al. (MMC)"], iris["MMC, diagonal"]) == ("none", "none")
    assert iris["weak - better of MMC (paper)"] == "no answer"
    assert "diagonal: 1 ended with an error (ValueError: NaN)" in iris["of the splits, MMC"]


def test_the_picture_has_a_bar_for_every_answer() -> None:
    single, features, metrics = reproductions.find("kernel_design").figure(RESULTS).axes
    heights = {
        bars.get_label(): [patch.get_height() for patch in bars.patches]
        for axes in (single, metrics, features)
        for bars in axes.containers
        if hasattr(bars, "patches")
    }
    assert len(single.patches) == 12
    assert heights["mix of weak kernels"] == pytest.approx([85.0, 64.5])
    assert heights["Xing et al. (MMC)"] == pytest.approx([80.0, 82.5])
    assert heights["features of the set"] == [4, 4]
    assert heights["used, |alpha| > 0.01"] == [3, 4]
    assert [text.get_text() for text in single.get_xticklabels()] == ["3\niris", "5\nbalance"]
    alone = reproductions.find("kernel_design").figure(RESULTS[1:2])
    assert len(alone.axes[2].patches) == 3  # none of the variant that gave no answer
    raw = Result({"set": "iris", "split": 0, "raw": True}, {"kept": dict.fromkeys(SINGLE, 0.5)})
    assert not reproductions.find("kernel_design").figure([raw]).axes[0].patches


def test_claims_leave_out_a_missing_package() -> None:
    lost = [result("iris", 0.9, None), result("balance", 0.65, None, linear=0.66, used=4)]
    for found in lost:
        found.value["kept"].pop("MMC, diagonal")
        for variant in found.value["xing"]:
            found.value["xing"][variant] = {"status": "unavailable", "reason": "no wheel"}
    experiment = reproductions.find("kernel_design")
    *_, outperform, alike = experiment.claims([*lost, *lost])
    assert (outperform.agrees, alike.agrees) == (None, None)
    *_, outperform, alike = experiment.claims([*RESULTS[:2], *lost[1:], *lost[1:]])
    assert outperform.ours.endswith("points; without an answer of MMC: 1")
    assert alike.agrees is None
