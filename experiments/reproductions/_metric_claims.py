"""K09 Figure 5: what the paper says of five sets, and which methods are best on all."""

from statistics import mean

from experiments.experiment import Claim
from experiments.judging import listed
from experiments.reproductions._by_set import BySet

__all__ = ["BASELINE", "best_on", "claims_of", "gain"]

BASELINE = "Euclidean"
_FIVE = ("iris", "wine", "ionosphere", "balance_scale", "soybean_small")  # Davis et al. (2007)
_LEARNED = {"MetricLearner, LogDet": "LogDet", "MetricLearner, von Neumann": "von Neumann"}
_RIVALS = {"metric-learn LMNN": "LMNN", "collapsing_classes_problem": "MCML"}
_FIGURE = "a figure without numbers"


def gain(errors: BySet, name: str, method: str) -> float:
    """What the mean error is below that of the plain distance; NaN where there is none."""
    found, plain = errors.scores(name, method), errors.scores(name, BASELINE)
    return mean(plain) - mean(found) if found and plain else float("nan")


def best_on(errors: BySet, name: str) -> list[str]:
    """The method of least error, and those that are not more than a standard error behind it."""
    means = {m: mean(scores) for m in errors.methods if (scores := errors.scores(name, m))}
    first = min(means, key=lambda method: means[method])
    behind = {m: errors.above([name], m, first) for m in means}
    return [m for m, difference in behind.items() if difference.center <= difference.deviation]


def claims_of(errors: BySet) -> list[Claim]:
    """That learning helps, and that it does no worse than what the paper compares with."""
    return [_outperforms(errors, method) for method in _LEARNED] + [
        _competes(errors, method, rival) for method in _LEARNED for rival in _RIVALS
    ]


def _outperforms(errors: BySet, method: str) -> Claim:
    names = errors.answered(_FIVE, method, BASELINE)
    above = errors.above(names, method, BASELINE)
    return Claim(
        words=f"{_LEARNED[method]} significantly outperforms the plain distance",
        paper=_FIGURE,
        ours=f"the error is {-above.center:.1f} ± {above.deviation:.1f} % lower, over {listed(names)}",
        criterion="lower by more than two standard errors over draws",
        agrees=-above.center > 2 * above.deviation,
        reason="Features are standardized here, which the plain distance gains from.",
    )


def _competes(errors: BySet, method: str, rival: str) -> Claim:
    names = errors.answered(_FIVE, method, rival)
    words = f"{_LEARNED[method]} is competitive with {_RIVALS[rival]}"
    if not names:
        return Claim(words, _FIGURE, f"{rival} has no answer", "", None, "It could not be run.")
    above = errors.above(names, method, rival)
    worse = [name for name in names if gain(errors, name, method) < gain(errors, name, rival)]
    return Claim(
        words=words,
        paper=_FIGURE,
        ours=f"the error is {abs(above.center):.1f} ± {above.deviation:.1f} % "
        f"{'higher' if above.center > 0 else 'lower'}, over {listed(names)}; higher on {listed(worse)}",
        criterion="not higher by more than two standard errors over draws",
        agrees=above.center <= 2 * above.deviation,
        reason="The methods are tuned by two values alone.",
    )
