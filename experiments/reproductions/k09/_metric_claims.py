"""K09 Figure 5: what the paper says of five sets, and which methods are best on all."""

from experiments.experiment import Claim
from experiments.intervals import listed
from experiments.reproductions.shared.by_set import BySet
from experiments.reproductions.shared.by_set_picture import gain

__all__ = ["BASELINE", "claims_of"]

BASELINE = "Euclidean"
_FIVE = ("iris", "wine", "ionosphere", "balance_scale", "soybean_small")  # Davis et al. (2007)
_LEARNED = {"MetricLearner, LogDet": "LogDet", "MetricLearner, von Neumann": "von Neumann"}
_RIVALS = {
    "LMNN": ("metric-learn LMNN", "large_margin_problem"),
    "MCML": ("pyDML MCML", "collapsing_classes_problem"),
}
_FIGURE = 'a figure; in words: "competitive with existing metric learning methods"'


def claims_of(errors: BySet) -> list[Claim]:
    """That learning helps, and that it does no worse than what the paper compares with."""
    return [_outperforms(errors, method) for method in _LEARNED] + [
        _competes(errors, method, rival) for method in _LEARNED for rival in _RIVALS
    ]


def _outperforms(errors: BySet, method: str) -> Claim:
    names = errors.answered(_FIVE, method, BASELINE)
    above = errors.above(names, method, BASELINE)
    lower = [name for name in names if gain(errors, name, method, BASELINE) > 0]
    return Claim(
        words=f"{_LEARNED[method]} significantly outperforms the plain distance",
        paper='in words: "significantly outperform the baseline"',
        ours=f"the error is {-above.center:.1f} ± {above.margin:.1f} % lower, over {listed(names)}; "
        f"lower on {listed(lower)}",
        criterion="the 95 % interval of the difference, draw by draw, is below zero, and it is lower on more "
        "than half of the sets",
        agrees=above.is_below_zero and len(lower) > len(names) / 2,
        reason="Features are standardized here, and the paper does not say how it scales them.",
    )


def _competes(errors: BySet, method: str, rival: str) -> Claim:
    words = f"{_LEARNED[method]} is competitive with {rival}"
    known = [name for name in _RIVALS[rival] if errors.answered(_FIVE, method, name)]
    if not known:
        return Claim(words, _FIGURE, f"{rival} has no answer", "", None, "It could not be run.")
    behind = {name: errors.above(_answered(errors, method, name), method, name) for name in known}
    better = max(known, key=lambda name: behind[name].center)
    names = _answered(errors, method, better)
    above = behind[better]
    worse = [name for name in names if gain(errors, name, method, better) < 0]
    return Claim(
        words=words,
        paper=_FIGURE,
        ours=f"the error is {abs(above.center):.1f} ± {above.margin:.1f} % "
        f"{'higher' if above.center > 0 else 'lower'} than that of {better}, the better of "
        f"{listed(known)}, over {listed(names)}; higher on {listed(worse)}",
        criterion="the 95 % interval of the difference, draw by draw, is not above zero",
        agrees=not above.is_above_zero,
        reason="The methods are tuned by two values alone.",
    )


def _answered(errors: BySet, method: str, other: str) -> list[str]:
    return errors.answered(_FIVE, method, other)
