"""What J12 says of its Figure 1 (a), beside the errors that came out."""

from collections.abc import Sequence

from experiments.experiment import Claim, Result
from experiments.intervals import Spread, listed, measure_spread, prose

LEARNED = ("linear", "gaussian", "online")
METHODS = {
    "linear": "LogDet Linear",
    "gaussian": "LogDet Gaussian",
    "online": "LogDet Online",
    "euclidean": "Euclidean",
    "inverse_covariance": "inverse covariance",
    "MCML": "MCML",
    "LMNN": "LMNN",
    "NCA": "NCA",
    "RCA": "RCA",
    "MMC": "MMC",
}
_RIVALS = ("euclidean", "inverse_covariance", "MCML", "LMNN")  # those of the figure
_FIGURE = "a figure without numbers"
_LEFT_OUT = "left out of the figure, as very slow and inaccurate"


def errors_of(results: Sequence[Result]) -> dict[str, dict[str, Spread]]:
    """By set and method; without the methods that gave no metric in every repeat."""
    found: dict[str, list[dict[str, float]]] = {}
    for result in results:
        found.setdefault(_name(result), []).append(result.value["errors"])
    return {
        name: {
            method: measure_spread([draw[method] for draw in draws])
            for method in METHODS
            if all(method in draw for draw in draws)
        }
        for name, draws in found.items()
    }


def _name(result: Result) -> str:
    words: str = result.parameters["set"].replace("_", " ")
    return f"standardized {words}" if result.parameters["scaled"] else words


def missing_of(results: Sequence[Result]) -> list[str]:
    """One sentence for each reason why a rival gave no metric."""
    places: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for method, answer in result.value["reasons"].items():
            places.setdefault((method, answer["reason"]), []).append(_name(result))
    return [
        f"{METHODS[method]} gave no metric on {listed(dict.fromkeys(names))}: {reason}."
        for (method, reason), names in places.items()
    ]


def claims_of(results: Sequence[Result]) -> list[Claim]:
    """Of the two methods, of MCML, and two of MMC; judged by the sets as they come."""
    plain = [result for result in results if not result.parameters["scaled"]]
    found = errors_of(plain)
    return [
        *(_higher(method, found) for method in ("linear", "gaussian")),
        _collapsing(plain, found),
        _slow(plain, found),
        _inaccurate(found),
    ]


def _higher(method: str, found: dict[str, dict[str, Spread]]) -> Claim:
    best = {
        name: min((of_set[r].center, METHODS[r]) for r in _RIVALS if r in of_set)
        for name, of_set in found.items()
    }
    below = [name for name, of_set in found.items() if of_set[method].center < best[name][0]]
    behind = [
        f"{name} ({of_set[method].center:.3f}, {best[name][1]} {best[name][0]:.3f})"
        for name, of_set in found.items()
        if name not in below
    ]
    rivals = [METHODS[r] for r in _RIVALS if any(r in of_set for of_set in found.values())]
    return Claim(
        words=f"{METHODS[method]} has somewhat higher accuracy for most of the sets",
        paper=_FIGURE,
        ours=f"on {len(below)} of {len(found)}: {listed(below)}",
        criterion=f"on more than half of the {len(found)}, its mean error is less than those of "
        f"{listed(rivals)}, where they have one",
        agrees=len(below) > len(found) / 2,
        reason=prose(f"""
            It is not the first on {listed(behind)}. The paper does not give the width of its kernel, and shows
            neither numbers nor the scaling of the features.
            """),
    )


def _collapsing(results: Sequence[Result], found: dict[str, dict[str, Spread]]) -> Claim:
    words = "MCML has somewhat lower accuracy than LogDet Linear for most of the sets"
    known = [name for name, of_set in found.items() if "MCML" in of_set]
    reasons = {
        r.value["reasons"]["MCML"]["reason"] for r in results if "MCML" in r.value["reasons"]
    }
    if not known:
        return Claim(words, _FIGURE, "none", "", None, f"{listed(sorted(reasons))}.")
    worse = [name for name in known if found[name]["MCML"].center > found[name]["linear"].center]
    return Claim(
        words=words,
        paper=_FIGURE,
        ours=f"pyDML's errs more on {listed(worse)}, of {listed(known)}",
        criterion="its mean error is larger on more than half of the sets on which it has one",
        agrees=len(worse) > len(known) / 2,
        reason=f"It errs no more on {listed(name for name in known if name not in worse)}.",
    )


def _slow(results: Sequence[Result], found: dict[str, dict[str, Spread]]) -> Claim:
    lost = {(_name(r), r.value["reasons"].get("MMC", {}).get("status", "done")) for r in results}
    ended = sorted({name for name, status in lost if status == "ended"})
    words = "the method of Xing et al. (MMC) is very slow"
    if all(status == "unavailable" for _, status in lost):
        return Claim(words, _LEFT_OUT, "none", "", None, "The package could not be had.")
    return Claim(
        words=words,
        paper=_LEFT_OUT,
        ours=f"metric-learn's MMC came to no end in time on {listed(ended)}, of {len(found)} sets",
        criterion="on more than half of the sets",
        agrees=len(ended) > len(found) / 2,
        reason="The paper does not say which code it tried, or how long.",
    )


def _inaccurate(found: dict[str, dict[str, Spread]]) -> Claim:
    known = [name for name, of_set in found.items() if "MMC" in of_set]
    worse = [name for name in known if found[name]["MMC"].center > found[name]["euclidean"].center]
    words = "the method of Xing et al. (MMC) is inaccurate"
    if not known:
        return Claim(words, _LEFT_OUT, "none", "", None, "It has no answer.")
    return Claim(
        words=words,
        paper=_LEFT_OUT,
        ours=f"metric-learn's errs more than Euclidean distances on {listed(worse)}, of the {len(known)} sets "
        "where it came to an end",
        criterion="on more than half of these",
        agrees=len(worse) > len(known) / 2,
        reason="The paper does not say which code it tried.",
    )
