"""What J12 says of its Figure 1 (a), beside the errors that came out."""

from collections.abc import Sequence

from experiments.experiment import Claim, Result
from experiments.judging import Spread, listed, prose, spread_of

__all__ = ["LEARNED", "METHODS", "claims_of", "errors_of", "missing_of"]

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


def errors_of(results: Sequence[Result]) -> dict[str, dict[str, Spread]]:
    """By set and method; without the methods that gave no metric in every repeat."""
    found: dict[str, list[dict[str, float]]] = {}
    for result in results:
        found.setdefault(_name(result), []).append(result.value["errors"])
    return {
        name: {
            method: spread_of([draw[method] for draw in draws])
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
        for method, reason in result.value["reasons"].items():
            places.setdefault((method, reason), []).append(_name(result))
    return [
        f"{METHODS[method]} gave no metric on {listed(dict.fromkeys(names))}: {reason}."
        for (method, reason), names in places.items()
    ]


def claims_of(results: Sequence[Result]) -> list[Claim]:
    """One for each of the two methods, one for MCML, and one for MMC."""
    found = errors_of(results)
    return [
        *(_higher(method, found) for method in ("linear", "gaussian")),
        _collapsing(results),
        _slow(results, found),
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
    near = [
        name
        for name, of_set in found.items()
        if of_set[method].center <= best[name][0] + of_set[method].deviation
    ]
    return Claim(
        words=f"{METHODS[method]} has somewhat higher accuracy for most of the sets",
        paper=_FIGURE,
        ours=f"on {len(below)} of {len(found)} versions of the sets: {listed(below)}",
        criterion=f"on more than half of the {len(found)}, its mean error is less than those of "
        "Euclidean distances, the inverse covariance and LMNN",
        agrees=len(below) > len(found) / 2,
        reason=prose(f"""
            It is not the first on {listed(behind)}. Within one standard deviation it is as good as the best of
            them on {len(near)}. The paper does not give the width of its kernel, and shows neither numbers nor
            the scaling of the features.
            """),
    )


def _collapsing(results: Sequence[Result]) -> Claim:
    reasons = {result.value["reasons"].get("MCML", "") for result in results} - {""}
    return Claim(
        words="MCML has somewhat lower accuracy than LogDet Linear for most of the sets",
        paper=_FIGURE,
        ours="none",
        criterion="",
        agrees=None,
        reason=f"{listed(sorted(reasons))}. It is the one package with MCML that was found, and comes as "
        "sources alone, while environments are made of built packages.",
    )


def _slow(results: Sequence[Result], found: dict[str, dict[str, Spread]]) -> Claim:
    ended = {_name(result) for result in results if "MMC" in result.value["reasons"]}
    worse = [
        name
        for name, of_set in found.items()
        if "MMC" in of_set and of_set["MMC"].center > of_set["linear"].center
    ]
    either = [name for name in found if name in worse or name in ended]
    return Claim(
        words="the method of Xing et al. (MMC) is very slow and inaccurate",
        paper="left out of the figure for it",
        ours=f"metric-learn's MMC came to no end in time on {listed(sorted(ended))}; its error is larger than "
        f"that of LogDet Linear on {listed(worse)}",
        criterion="one or the other is true of more than half of the sets",
        agrees=len(either) > len(found) / 2,
        reason=f"It is neither on {listed(name for name in found if name not in either)}.",
    )
