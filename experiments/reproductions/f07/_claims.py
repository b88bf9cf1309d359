"""What F07 3.2 says of Figures 1, 2 and 3, set by set, and what came out here.

The figures print no numbers, so its words stand in their place. A difference of two methods on the same
splits is decided where zero is not in its 95 % interval.
"""

from collections.abc import Mapping, Sequence
from statistics import mean

from experiments.experiment import Claim, Result
from experiments.intervals import Spread, listed, prose, span
from experiments.reproductions.f07 import _tables as tables
from experiments.reproductions.f07._comparisons import SINGLE

LIMIT = 15.0  # seconds of the processor, for a fit of MMC
_DECIDED = "the 95 % interval of the difference is above zero on every such set"

SETUP = prose(
    f"""0.85 of the points of each set, drawn 10 times, are to learn from, by 1500 comparisons of two points of
    one class and one of another; 1000 comparisons of the other points judge (all there are, on small sets).
    Of the two points of one class, one, drawn at random, is compared with the third; the paper may mean
    both. Features are standardized on the points to learn from; single kernels are looked at in raw units,
    too. The family is Gaussians of mu = 1 and 0.1, the polynomial of degree two and the linear kernel, of all
    features or of each feature alone, and the identity, which is ours. gamma1 and gamma2 are chosen among 36
    pairs by two halves of the points to learn from. Xing et al. (2002) is MMC of the package metric-learn, full
    and diagonal, {LIMIT:.0f} processor seconds a fit, on the same comparisons as pairs; MetricLearner learns
    from the same comparisons, with a hinge whose price the halves choose. Differences are those of the same
    splits, and they and the features used by claim 6 come with the half of their 95 % interval."""
)


def claims_of(results: Sequence[Result]) -> list[Claim]:
    """One claim a sentence of the paper."""
    sets = tables.group_by_set(results)
    single = {name: _best(splits, tuple(SINGLE)) for name, splits in sets.items()}
    weak = {
        name: tables.difference(splits, tables.WEAK, single[name]) for name, splits in sets.items()
    }
    full = {
        name: tables.difference(splits, tables.FULL, single[name]) for name, splits in sets.items()
    }
    xing = {
        name: tables.difference(splits, tables.WEAK, _best(splits, answered))
        for name, splits in sets.items()
        if (answered := tuple(m for m in tables.XING.values() if tables.list_shares(splits, m)))
    }
    used = {
        name: tables.Fewer.of(tables.list_weak(splits, "used"), splits[0]["features"])
        for name, splits in sets.items()
    }
    fewer = {name: count for name, count in used.items() if name != tables.EXCEPTION}
    return [
        Claim(
            "weak kernels keep more comparisons than any single kernel, on all nine sets",
            '"always better than single kernels"',
            _set_by_set(weak),
            _DECIDED,
            all(found.is_above_zero for found in weak.values()),
            f"{_exceptions(weak)} Compared is the best single kernel, which the test comparisons choose.",
        ),
        _generally(full),
        _some_behind(full),
        *(_alike(tables.group_by_set(results, raw), raw) for raw in (False, True)),
        Claim(
            "weak kernels use fewer features than there are, on all sets but balance scale",
            '"reduces the number of features for all but one dataset", counting "α\'s larger than 0.01"',
            listed(f"{count} ({name})" for name, count in fewer.items()),
            "the mean number of features with |alpha| > 0.01 has a 95 % interval below all, on every such "
            "set",
            all(count.is_fewer for count in fewer.values()),
            _not_fewer(fewer),
        ),
        Claim(
            "on balance scale they use all features",
            '"always equal to the original dimensionality"',
            str(used[tables.EXCEPTION]),
            "all of them, on every split",
            used[tables.EXCEPTION].is_all,
            "Some splits leave a feature out.",
        ),
        *_of_xing(xing, len(sets)),
    ]


def _of_xing(xing: Mapping[str, Spread], n_sets: int) -> list[Claim]:
    """Where MMC has an answer."""
    others = {name: found for name, found in xing.items() if name != tables.EXCEPTION}
    words = "weak kernels clearly outperform Xing et al. (2002), on all sets but balance scale"
    alike, no_answer = "on balance scale they do not outperform it", "MMC has no answer."
    paper = '"except for dataset 5, our method clearly outperforms"'
    claims = [Claim(words, paper, "none", "", None, no_answer)]
    if others:
        missing = n_sets - len(xing)
        claims = [
            Claim(
                words,
                paper,
                _set_by_set(others) + (f"; without an answer of MMC: {missing}" if missing else ""),
                _DECIDED,
                all(found.is_above_zero for found in others.values()),
                prose(
                    f"""{_exceptions(others)} Compared is the better of two variants of MMC, which the test
                    comparisons choose; the paper used the authors' code, and does not say how features were
                    scaled."""
                ),
            )
        ]
    if tables.EXCEPTION not in xing:
        return [*claims, Claim(alike, '"except for dataset 5"', "none", "", None, no_answer)]
    return [
        *claims,
        Claim(
            alike,
            '"except for dataset 5"',
            f"{xing[tables.EXCEPTION].interval:+.1f} points",
            "the 95 % interval of the difference is not above zero",
            not xing[tables.EXCEPTION].is_above_zero,
            "They do.",
        ),
    ]


def _generally(full: Mapping[str, Spread]) -> Claim:
    ahead = [name for name, found in full.items() if found.center > 0]
    return Claim(
        "a mix of full kernels keeps more comparisons than single kernels",
        '"generally the case"',
        _set_by_set(full),
        "its mean is larger than that of the best single kernel on more than half of the sets",
        2 * len(ahead) > len(full),
        f"It is so on {listed(ahead)} alone; the best single kernel is what the test comparisons choose.",
    )


def _some_behind(full: Mapping[str, Spread]) -> Claim:
    behind = {name: found for name, found in full.items() if found.center < 0}
    decided = [name for name, found in behind.items() if found.is_below_zero]
    return Claim(
        "a mix of full kernels is behind a single kernel on some sets",
        f'"a single kernel provides a higher performance in average": {listed(tables.SINGLE_AHEAD)}',
        f"in the mean by {_set_by_set(behind)}",
        "the 95 % interval of the difference is below zero on some set",
        bool(decided),
        "No such difference is decided; the best single kernel is what the test comparisons choose.",
    )


def _alike(sets: Mapping[str, tables.Splits], raw: bool) -> Claim:
    linear = _linear(sets)
    return Claim(
        "the linear kernel performs almost identically to the polynomial one, features "
        + ("as they are" if raw else "standardized"),
        '"almost identically"',
        _set_by_set(linear),
        f"they are less than {tables.ALMOST:.0f} points apart on every set",
        all(abs(found.center) < tables.ALMOST for found in linear.values()),
        prose(
            """The two differ where x'y may be negative, which the polynomial kernel folds over. The paper does
            not say how features were scaled."""
        ),
    )


def remarks_of(results: Sequence[Result]) -> list[str]:
    """How our own metrics do on the same comparisons, and what to keep in mind."""
    sets = tables.group_by_set(results)
    ours = {
        name: tables.difference(splits, tables.WEAK, tables.LEARNER)
        for name, splits in sets.items()
    }
    ahead = [name for name, found in ours.items() if found.is_above_zero]
    behind = [name for name, found in ours.items() if found.is_below_zero]
    counts = {name: [split["test_triplets"] for split in splits] for name, splits in sets.items()}
    fewest = min(counts, key=lambda name: min(counts[name]))
    raw = _linear(tables.group_by_set(results, True))
    same = [name for name, found in raw.items() if found.center == found.deviation == 0.0]
    return [
        prose(
            f"""Beside MetricLearner on the same comparisons, weak kernels keep more on {listed(ahead)}, and
            less on {listed(behind)}."""
        ),
        prose(
            f"""Where no x'y is negative, (x'y + 1)² and x'y order pairs alike, whatever the data. With
            features as they are, the linear and the polynomial kernel keep exactly as many on {listed(same)}:
            that they agree there says little."""
        ),
        f"The fewest test comparisons are those of {fewest}: {span(counts[fewest], 'd')} a split.",
    ]


def _linear(sets: Mapping[str, tables.Splits]) -> dict[str, Spread]:
    """The linear kernel less the polynomial one."""
    return {
        name: tables.difference(splits, "linear", "polynomial, degree 2")
        for name, splits in sets.items()
    }


def _best(splits: Sequence[Mapping[str, object]], methods: tuple[str, ...]) -> str:
    """The method that keeps most in the mean, of those that gave an answer."""
    answered = [method for method in methods if tables.list_shares(splits, method)]
    return max(answered, key=lambda method: mean(tables.list_shares(splits, method)))


def _set_by_set(differences: Mapping[str, Spread]) -> str:
    unit = " points" if differences else ""
    return listed(f"{found.interval:+.1f} ({name})" for name, found in differences.items()) + unit


def _exceptions(differences: Mapping[str, Spread]) -> str:
    """Where a difference is not above zero, and whether it is below."""
    behind = [name for name, found in differences.items() if found.is_below_zero]
    undecided = [
        name
        for name, found in differences.items()
        if not (found.is_above_zero or found.is_below_zero)
    ]
    return f"Behind on {listed(behind)}, undecided on {listed(undecided)}."


def _not_fewer(used: Mapping[str, tables.Fewer]) -> str:
    names = listed(
        f"{name}, where {count.n_all} of {count.left.count} splits use all"
        for name, count in used.items()
        if not count.is_fewer
    )
    return prose(
        f"""Not so on {names}. What is larger than 0.01 depends on how features are scaled, which the paper
        does not say."""
    )
