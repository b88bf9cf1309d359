"""Tables of a board: who stands where against plain points, whom it harms, and what it gains."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any

from experiments.experiment import Result
from experiments.reproductions.shared.by_set import BySet

from benchmarks.leaderboard.ranking import harmed, mean_ranks, median_seconds, tally


def join_groups(
    results: Sequence[Result], key: str, name_set: Callable[[Mapping[str, Any]], str], **how: Any
) -> BySet:
    """The scores of all groups of contestants, draw by draw; parameters name the set, and `how` is BySet's.

    Of a run that goes on later, the draws that all of them have been tried on.
    """
    draws: dict[str, dict[int, dict[str, Mapping[str, Any]]]] = {}
    for result in results:
        of_set = draws.setdefault(name_set(result.parameters), {})
        of_set.setdefault(result.parameters["draw"], {}).update(result.value)
    every = {name for result in results for name in result.value}
    by_set = {
        name: [of_set[k] for k in sorted(of_set) if of_set[k].keys() >= every]
        for name, of_set in draws.items()
    }
    return BySet({name: found for name, found in by_set.items() if found}, key, **how)


def list_standing(
    boards: Mapping[str, BySet], plain: str, titles: Mapping[str, str], head: str = "contestant"
) -> list[dict[str, str]]:
    """Ranks, wins and losses against plain points by score, whom it harms, and seconds; the best first.

    Of sets that share a title, it says how many are harmed.
    """
    ranks = {label: mean_ranks(scores) for label, scores in boards.items()}
    first = next(iter(boards.values()))
    methods = sorted(first.methods, key=lambda m: sum(of_label[m] for of_label in ranks.values()))
    every = Counter(titles[name] for name in first.sets)
    rows = []
    for method in methods:
        row = {head: method}
        for label, scores in boards.items():
            row[f"mean rank, {label}"] = f"{ranks[label][method]:.2f}"
            row[f"wins / ties / losses, {label}"] = str(tally(scores, method, plain))
        worse = {name for scores in boards.values() for name in harmed(scores, method, plain)}
        counts = Counter(titles[name] for name in first.sets if name in worse)
        row[f"worse than {plain} on"] = ", ".join(
            title if every[title] == 1 else f"{title} ({count} of {every[title]})"
            for title, count in counts.items()
        )
        seconds = median_seconds(first, method)
        row["seconds"] = "" if seconds is None else f"{seconds:.2g}"
        rows.append(row)
    return rows


def list_gains(
    boards: Mapping[str, BySet],
    plain: str,
    families: Mapping[tuple[str, ...], Sequence[str]],
    heads: Sequence[str],
) -> list[dict[str, str]]:
    """Families of sets by contestants: the mean gain on plain points, by each score in turn.

    A family is its words, one for each of the heads, and the names of its sets.
    """
    methods = next(iter(boards.values())).methods
    rows = []
    for words, names in families.items():
        gains = {m: " / ".join(_gain(b, names, m, plain) for b in boards.values()) for m in methods}
        rows.append(dict(zip(heads, words, strict=True)) | gains)
    return rows


def _gain(scores: BySet, names: Sequence[str], method: str, plain: str) -> str:
    """Where it has an answer on all of these sets."""
    if len(scores.answered(names, method, plain)) < len(names):
        return "none"
    above = mean(scores.above([name], method, plain).center for name in names)
    return f"{above if scores.gained else -above:+z.1f}"  # z: no minus before zero
