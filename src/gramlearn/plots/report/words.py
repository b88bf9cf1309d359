"""The sentences on top of the page: what was learned from what, and whether it helps."""

from importlib.metadata import version
from typing import Any

from gramlearn.methods.choosing.choose import CLEAR, SURE
from gramlearn.plots.report.reading import Given


def headline(learner: Any, scored: dict[str, Any] | None) -> list[str]:
    """The verdict, and where there is none, or besides, what the statements given say."""
    verdict = getattr(learner, "verdict_", None)
    sentences = [] if verdict is None else [str(verdict)]
    if scored is not None:
        sentences.append(_of_scores(scored, is_alone=verdict is None))
    return sentences or [
        "Whether it helps was not judged: no statements or labels were given to compare before and after by."
    ]


def _of_scores(scored: dict[str, Any], is_alone: bool) -> str:
    gain, error = scored["gain"]
    before, after = (100 * scored[name][0] for name in ("before", "after"))
    by = f"{100 * abs(gain):.1f} points"
    by += "" if error is None else f" (standard error {100 * error:.1f})"
    numbers = f"{after:.1f} % after, {before:.1f} % before"
    of = f"On the {scored['of']} given here"
    if scored["was_learned_from"] == "yes":
        return f"{of}, which are those that it was learned from: {numbers}."
    if scored["was_learned_from"] == "maybe":
        return f"{of}, which may be those that it was learned from: {numbers}."
    if error is None or abs(gain) <= CLEAR * error:
        said = f"the learned distance is not clearly better than the plain one: {numbers}"
        said += "" if error is None else f", a difference of {by}"
        return f"{of} {said}."
    words = "helps" if gain > 0 else "does harm"
    words = words if abs(gain) > SURE * error else f"probably {words}"
    if is_alone:
        than = "above" if gain > 0 else "below"
        where = f"{by} {than} the plain distance"
        return f"The learned metric {words}: on the {scored['of']} given here {where}, {numbers}."
    return f"{of} it {words}: {numbers}."


def about(given: Given, n_shown: int) -> list[list[str]]:
    """Names and values: what this page is about."""
    learner = given.learner
    n, d = given.X.shape
    found = [["learner", type(learner).__name__], ["points", f"{n:,} of {d:,} features"]]
    if n_shown < n:
        found.append(["on the maps", f"{n_shown:,} of them, drawn at random"])
    if given.side is not None:
        found.append(["statements", _counts(given.side)])
    if given.names:
        found.append(["classes", f"{len(given.names):,}"])
    found.append(["made by", f"gramlearn {version('gramlearn')}"])
    return found


def _counts(side: Any) -> str:
    similar, dissimilar = (getattr(side, name, None) for name in ("similar", "dissimilar"))
    kind = type(side).__name__.lower()
    if similar is None or dissimilar is None:
        return f"{side.size:,} {kind}"
    return f"{side.size:,} pairs, {len(similar):,} alike and {len(dissimilar):,} unlike"
