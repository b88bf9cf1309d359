"""What Z11 says of colored unfolding, beside what came out here, set by set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from experiments.experiment import Claim
from experiments.intervals import ANOTHER_MACHINE, listed, prose, span

_NEAR = 5.0  # percentage points of 5-NN: what is less apart is comparable


@final
@dataclass(frozen=True)
class Answers:
    """One set: the approximations by their rank d, the exact embedding, and the one with a larger capacity."""

    title: str
    paper: str
    stand_in: str
    by_rank: Mapping[int, Mapping[str, Any]]
    exact: Mapping[str, Any]
    wide: Mapping[str, Any]

    @property
    def seconds(self) -> dict[int, float]:
        """Of the approximations, by d."""
        return {d: value["seconds"] for d, value in self.by_rank.items()}

    @property
    def best(self) -> int:
        """The d whose embedding tells classes apart best; of equals the smallest."""
        return max(sorted(self.by_rank), key=lambda d: self.by_rank[d]["accuracy"])

    @property
    def is_comparable(self) -> bool:
        """Whether the exact embedding tells classes apart about as well as the best approximation."""
        apart = self.exact["accuracy"] - self.by_rank[self.best]["accuracy"]
        return bool(100 * abs(apart) <= _NEAR)

    def before(self, d: int) -> float:
        """The share of an approximation's seconds that its graph and eigenvectors take, in percent."""
        return float(100 * self.by_rank[d]["before"] / self.by_rank[d]["seconds"])

    def power(self) -> float:
        """The exponent of d in the seconds of the largest two."""
        (d, before), (twice, after) = sorted(self.seconds.items())[-2:]
        return float(np.log(after / before) / np.log(twice / d))


def claims_of(sets: Sequence[Answers], tol: float, capacity: str) -> list[Claim]:
    """The seconds of each set, then what is said of all."""
    gaps = [of.exact["relative_gap"] for of in sets]
    first = [of.seconds[min(of.seconds)] / of.exact["seconds"] for of in sets]
    last = [of.seconds[max(of.seconds)] / of.exact["seconds"] for of in sets]
    return [
        *(_seconds(of) for of in sets),
        Claim(
            words="the global optimum is found, without a d to choose",
            paper="yes",
            ours=f"relative gaps of {span(gaps, '.0e')}, certified",
            criterion=f"every gap is {tol:g} at most",
            agrees=max(gaps) <= tol,
        ),
        Claim(
            words="the approximation may be faster for very small d",
            paper="it could be",
            ours=f"the smallest d takes {span(first, '.2f')} of the time of the exact one",
            criterion="it is faster on every set",
            agrees=max(first) < 1,
        ),
        Claim(
            words="the exact embedding is much faster than the approximation when d is large",
            paper="much faster",
            ours=f"the largest d takes {span(last, '.2f')} times as long as the exact one",
            criterion="at least twice as long on every set",
            agrees=min(last) >= 2,
            reason=_why_not_exponential(sets),
        ),
        Claim(
            words="the time of the approximation grows exponentially with d",
            paper="exponentially",
            ours=f"between the largest two d as d^{span([of.power() for of in sets], '.1f')}",
            criterion="faster than d^3 on every set",
            agrees=min(of.power() for of in sets) > 3,
            reason=_why_not_exponential(sets),
        ),
        _comparable(sets, capacity),
    ]


def _seconds(of: Answers) -> Claim:
    ours = of.exact["seconds"]
    return Claim(
        words=f"seconds of the exact embedding of {of.title}",
        paper=of.paper,
        ours=f"{ours:.2g}",
        reason=ANOTHER_MACHINE,
        stand_in=of.stand_in,
    )


def _why_not_exponential(sets: Sequence[Answers]) -> str:
    small = span([of.before(min(of.by_rank)) for of in sets], ".0f")
    large = span([of.before(max(of.by_rank)) for of in sets], ".0f")
    return prose(f"""
        The paper has it from the cost of a general solver of semidefinite programs, by which the
        approximation is not solved here. Of its seconds, the graph and its eigenvectors take {small} % at the
        smallest d, and {large} % at the largest.
        """)


def _comparable(sets: Sequence[Answers], capacity: str) -> Claim:
    return Claim(
        words="exact embeddings are comparable to those of the approximation",
        paper="comparable in most cases, to look at",
        ours=listed(_told_apart(of) for of in sets),
        criterion=prose(f"""
            on most sets, 5-NN of the exact embedding and of the best d are {_NEAR:g} points apart at most
            """),
        agrees=2 * sum(of.is_comparable for of in sets) > len(sets),
        reason=prose(f"""
            Within B = {capacity} N the leading dimensions of the exact embedding show labels alone, as is said
            below. The paper does not say which m of B = m N it took.
            """),
    )


def _told_apart(of: Answers) -> str:
    """How well five neighbors tell classes apart, exactly and with the best d."""
    best = 100 * of.by_rank[of.best]["accuracy"]
    return prose(f"""
        5-NN {100 * of.exact["accuracy"]:.1f} % exact, {best:.1f} % with d = {of.best} ({of.title})
        """)


def remarks_of(sets: Sequence[Answers], capacity: str) -> list[str]:
    """What the paper's capacity asks for, and what a larger one shows."""
    reached = listed(
        f"{100 * of.by_rank[d]['value'] / of.exact['value']:.0f} % ({of.title}, d = {d})"
        for of in sets
        for d in [max(of.by_rank)]
    )
    wide = listed(
        f"{of.wide['seconds']:.2g} s instead of {of.exact['seconds']:.2g} s ({of.title})"
        for of in sets
    )
    return [
        f"d is hard to choose: of the exact objective, the largest d has reached {reached}.",
        prose(f"""
            Within B = {capacity} N the exact embedding draws every class of USPS and newsgroups as a point.
            That is what this capacity asks for: distances alike, tr K² is the less the more dimensions K
            spreads over, so distances of neighbors are kept in the many others, and the leading ones show
            labels alone. A kernel of few dimensions that keeps distances has tr K² of the order of N². With B
            = {capacity} N² the points of a class spread along an arm, and groups on one topic lie together:
            hockey beside baseball, religion beside atheism. It takes {wide}. Song et al. have no bound on tr
            K².
            """),
    ]


def draw_points(axes: Any, embedding: Mapping[str, Any], title: str) -> None:
    """Points in the colors of their classes."""
    points, classes = np.asarray(embedding["points"]), np.asarray(embedding["classes"])
    names = embedding["names"]
    size = 5 if len(points) < 500 else 2.5
    for k, name in enumerate(names):
        color = f"C{k}" if len(names) <= 10 else _shade(k, len(names))
        axes.plot(*points[classes == k].T, ".", markersize=size, color=color, label=name)
    axes.set_title(title, fontsize="medium")
    axes.set(xticks=[], yticks=[])


def add_legend(axes: Any) -> None:
    """The names of the classes, below."""
    count = len(axes.lines)
    axes.legend(
        ncols=2 if count > 10 else min(count, 5),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.02),
        fontsize=6.5 if count > 10 else "small",
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.0,
        labelspacing=0.2,
        markerscale=3,
    )


def draw_seconds(
    axes: Any, seconds: Mapping[int | None, float], ranks: Sequence[int], paper: float
) -> None:
    """Seconds by rank, None for the exact embedding; the paper's are those of the exact one."""
    found = {rank: taken for rank, taken in seconds.items() if rank}
    if found:
        axes.plot(list(found), list(found.values()), "o-", label="rank d")
    if None in seconds:
        axes.axhline(seconds[None], color="C1", label="exact")
    axes.axhline(paper, color="C1", linestyle=":", label="exact, the paper")
    axes.set(xlabel="d", yscale="log", xscale="log")
    axes.set_xticks(ranks, [str(rank) for rank in ranks], minor=False)
    axes.set_xticks([], minor=True)
    bottom, top = axes.get_ylim()
    axes.set_ylim(10 ** np.floor(np.log10(bottom)), 10 ** np.ceil(np.log10(top)))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def _shade(k: int, count: int) -> Any:
    from matplotlib import colormaps

    return colormaps["turbo"]((k + 0.5) / count)
