"""Z11 Tables 4 and 5 as printed, and what they say, beside what came out here."""

from collections.abc import Sequence
from typing import Any

from experiments.experiment import Claim
from experiments.intervals import ANOTHER_METHOD, REACHES, Spread, listed, span, spread_of
from experiments.reproductions.z11._nonparametric_tables import REPEATS

__all__ = ["SETS", "VALUES", "accuracies_of", "claims_of", "told_of"]

SETS = ("iris", "protein")
VALUES = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
_TWO = VALUES.index(2.0)
_INSENSITIVE = 2.0  # points
# Accuracies with their standard deviations, then iterations.
_TOLD = {
    "iris B": "94.8±0.0 94.8±0.0 95.2±0.4 95.7±0.0 95.7±0.0 95.7±0.0 95.7±0.0 11 13 14 10 10 31 26",
    "protein B": "74.5±0.8 73.6±1.6 74.4±0.8 74.3±0.9 74.1±1.0 73.7±1.1 73.7±1.0 51 32 51 11 14 27 19",
    "iris p": "61.6±3.5 58.6±4.0 94.8±0.0 94.8±0.0 95.1±0.4 94.8±0.0 95.6±0.2 51 6 11 9 19 10 9",
    "protein p": "72.3±1.3 72.8±2.2 74.5±0.8 73.6±1.5 73.6±1.6 73.5±1.6 73.5±1.6 32 35 51 40 11 11 21",
}


def told_of(name: str, varied: str) -> tuple[list[Spread], list[int]]:
    """Accuracies and iterations, in the order of the values."""
    words = _TOLD[f"{name} {varied}"].split()
    accuracies = [Spread(*map(float, text.split("±")), REPEATS) for text in words[: len(VALUES)]]
    return accuracies, [int(text) for text in words[len(VALUES) :]]


def accuracies_of(draws: list[Any]) -> list[Spread]:
    """Of each value of B or p."""
    return [spread_of([a["accuracy"] for a in answers]) for answers in zip(*draws, strict=True)]


def claims_of(cases: dict[tuple[str, str], list[Any]]) -> list[Claim]:
    found = {case: accuracies_of(draws) for case, draws in cases.items()}
    return [
        *(_of_b(name, found[name, "B"]) for name in SETS),
        _identical(found["iris", "B"]),
        _best_at_four(found["iris", "p"], _beside_two(cases["iris", "p"], len(VALUES) - 1)),
        _best_at_two(found["protein", "p"]),
        *(
            _of_p(name, at, found[name, "p"], _beside_two(cases[name, "p"], at))
            for at in range(_TWO)
            for name in SETS
        ),
        _all_accuracies(found),
        _all_iterations(cases),
    ]


def _of_b(name: str, found: list[Spread]) -> Claim:
    centers = [spread.center for spread in found]
    return Claim(
        words=f"clusters of {name} are not sensitive to B",
        paper=span([told.center for told in told_of(name, "B")[0]], ".1f"),
        ours=span(centers, ".1f"),
        criterion=f"the means differ by no more than {_INSENSITIVE:g} points",
        agrees=max(centers) - min(centers) <= _INSENSITIVE,
        reason="Why is not known.",
    )


def _identical(of_iris: list[Spread]) -> Claim:
    same = [at for at, B in enumerate(VALUES) if B >= 2.5]
    told = told_of("iris", "B")[0]
    return Claim(
        words=f"the accuracy of iris is identical for B = {listed(f'{VALUES[at]:g}' for at in same)}",
        paper=listed(f"{told[at].center}" for at in same),
        ours=listed(f"{of_iris[at].center:.1f}" for at in same),
        criterion="the means are the same to the digit that is printed",
        agrees=len({f"{of_iris[at].center:.1f}" for at in same}) == 1,
        reason="Draws differ here; the paper's standard deviations there are 0.0.",
    )


def _most(accuracies: list[Spread]) -> float:
    """The value of the largest mean."""
    return max(zip(VALUES, accuracies, strict=True), key=lambda found: found[1].center)[0]


def _at(values: Sequence[float], accuracies: list[Spread]) -> str:
    at = [accuracies[VALUES.index(value)] for value in values]
    return listed(f"{s.center:.1f} ± {s.deviation:.1f}" for s in at)


def _above_two(found: list[Spread]) -> str:
    means, deviations = zip(*found[_TWO:], strict=True)
    return (
        f"Over p >= 2 the means are {span(means, '.1f')}, where single draws have standard deviations of "
        f"{span(deviations, '.1f')}."
    )


def _beside_two(draws: list[Any], at: int) -> Spread:
    """What a value of p is above p = 2 by, draw by draw, for pairs are the same."""
    return spread_of([draw[at]["accuracy"] - draw[_TWO]["accuracy"] for draw in draws])


def _best_at_four(of_iris: list[Spread], above: Spread) -> Claim:
    most, last = _most(of_iris), VALUES[-1]
    return Claim(
        words=f"iris is best at p = {last:g}, but not significantly better than at p = 2",
        paper=_at((last, 2.0), told_of("iris", "p")[0]),
        ours=f"{_at((last, 2.0), of_iris)}, {above.center:+.1f} ± {above.margin:.1f} draw by draw; largest at "
        f"p = {most:g}",
        criterion="its mean is the largest, and the 95 % interval of the difference from p = 2 has zero in it",
        agrees=most == last and not above.is_above_zero,
        reason=_above_two(of_iris),
    )


def _best_at_two(of_protein: list[Spread]) -> Claim:
    most = _most(of_protein)
    return Claim(
        words="protein is best at p = 2",
        paper=f"{_at((2.0,), told_of('protein', 'p')[0])}, the largest",
        ours=f"{_at((2.0,), of_protein)}; largest {_at((most,), of_protein)} at p = {most:g}",
        criterion="its mean is the largest",
        agrees=most == 2.0,
        reason=_above_two(of_protein),
    )


def _of_p(name: str, at: int, found: list[Spread], above: Spread) -> Claim:
    pair = (VALUES[at], 2.0)
    return Claim(
        words=f"with p = {VALUES[at]:g}, clusters of {name} are significantly worse than with p = 2",
        paper=_at(pair, told_of(name, "p")[0]),
        ours=f"{_at(pair, found)}, {above.center:+.1f} ± {above.margin:.1f} draw by draw",
        criterion="the 95 % interval of the difference is below zero",
        agrees=above.is_below_zero,
        reason="Perhaps because rows are scaled to length one here; it was not tried without.",
    )


def _comparable(case: tuple[str, str]) -> list[int]:
    """Where accuracies shall be those of the paper: not where it says that they drop."""
    return [at for at, value in enumerate(VALUES) if case[1] == "B" or value >= 2]


def _all_accuracies(found: dict[tuple[str, str], list[Spread]]) -> Claim:
    told = {case: told_of(*case)[0] for case in found}
    below = [
        f"{case[0]} with {case[1]} = {VALUES[at]:g}"
        for case, ours in found.items()
        for at in _comparable(case)
        if not ours[at].reaches(told[case][at])
    ]

    def words(tables: dict[tuple[str, str], list[Spread]]) -> str:
        centers = {
            name: [
                s[at].center
                for case, s in tables.items()
                if case[0] == name
                for at in _comparable(case)
            ]
            for name in SETS
        }
        return listed(f"{span(numbers, '.1f')} ({name})" for name, numbers in centers.items())

    return Claim(
        words="accuracies of both tables reach the paper's, but for p < 2",
        paper=words(told),
        ours=f"{words(found)}; below: {listed(below)}",
        criterion=f"{REACHES}, for every one",
        agrees=not below,
        reason="Why is not known.",
    )


def _all_iterations(cases: dict[tuple[str, str], list[Any]]) -> Claim:
    def words(counts: dict[str, list[int]]) -> str:
        return listed(f"{span(found, 'd')} as {varied} changes" for varied, found in counts.items())

    told = {v: [n for case in cases if case[1] == v for n in told_of(*case)[1]] for v in ("B", "p")}
    taken = {
        v: [
            a["iterations"]
            for case, draws in cases.items()
            if case[1] == v
            for d in draws
            for a in d
        ]
        for v in ("B", "p")
    }
    return Claim(
        words="B affects the number of iterations",
        paper=words(told),
        ours=words(taken),
        criterion="",
        agrees=None,
        reason=ANOTHER_METHOD,
    )
