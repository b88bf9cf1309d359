"""An experiment: a claim of a paper, as independent parts that anybody can compute again.

    parts(quick)  ->  compute(part), each on its own  ->  table(results), figure(results), claims(results)

The seed of a part follows from the seed of the run and the part's id alone, so a part is the same
whichever others are computed, and in whatever order.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")


@final
@dataclass(frozen=True)
class Part:
    """One job: its parameters, numbers and words alone, and an id that can name a file.

    In an experiment that measures seconds, `timed` says whether those of this part count: then nothing else
    runs beside it. A part may be made of `draws`, each with an id and a seed of its own, which are computed in
    one go; then `compute` gives {"draws": [what came of each]}.
    """

    id: str
    parameters: Mapping[str, Any]
    seed: int = 0
    timed: bool = True
    draws: tuple["Part", ...] = ()

    @classmethod
    def of_draws(cls, id: str, draws: Iterable["Part"]) -> "Part":
        """Draws in one go: methods of others are loaded once, and one that is too slow is not tried again."""
        found = tuple(draws)
        return cls(id, {"draws": [dict(draw.parameters) for draw in found]}, draws=found)

    def seeded(self, seed: int) -> "Part":
        """The same part in the run that has this seed."""
        digest = hashlib.sha256(self.id.encode()).digest()
        key = tuple(np.frombuffer(digest, dtype="<u4").tolist())
        state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1)
        draws = tuple(draw.seeded(seed) for draw in self.draws)
        return replace(self, seed=int(state[0]), draws=draws)

    def generator(self) -> np.random.Generator:
        """The random numbers of this part, from their beginning."""
        return np.random.default_rng(self.seed)


@final
@dataclass(frozen=True)
class Result:
    """What a finished part gave, or one draw of it."""

    parameters: Mapping[str, Any]
    value: Mapping[str, Any]


def results_of(parameters: Mapping[str, Any], value: Mapping[str, Any]) -> list[Result]:
    """What a finished part gave: one result, or one for each of its draws."""
    if "draws" not in parameters:
        return [Result(parameters, value)]
    drawn = zip(parameters["draws"], value["draws"], strict=True)
    return [Result(of_draw, found) for of_draw, found in drawn]


@final
@dataclass(frozen=True)
class Claim:
    """One thing a paper says, beside what came out here.

    Attributes
    ----------
    words : what is claimed
    paper : the paper's number, or its words: the one thing that is typed
    ours : the same from the results
    criterion : when the two agree, so that whoever doubts the verdict can give another
    agrees : the verdict; None, and no criterion, where the paper gives nothing to judge by
    reason : why they do not agree; numbers in it are from the results, or from the paper
    stand_in : what was used where the paper's own data cannot be had
    """

    words: str
    paper: str
    ours: str
    criterion: str = ""
    agrees: bool | None = None
    reason: str = ""
    stand_in: str = ""


class Experiment(ABC):
    """A claim, and what is needed to look at it again.

    Attributes
    ----------
    paper : where the claim stands, as "Authors (year), section, figure"
    claim : the table or figure, in a sentence
    version : raised whenever `compute` changes, so that older parts are not taken for new ones
    data : the names of the data sets it loads
    title : the heading of its section in docs/reproduction.md
    setup : how it was done, in sentences, without results
    timed : whether seconds are among its claims, so that nothing else may run beside its timed parts
    guide : what the numbers of `guide_rows` are, where docs/methods-compared.md has these
    """

    paper: str
    claim: str
    version: int
    data: tuple[str, ...] = ()
    title: str = ""
    setup: str = ""
    timed: bool = False
    guide: str = ""

    @abstractmethod
    def parts(self, quick: bool) -> list[Part]:
        """The parts; where `quick`, so few and small ones that all take seconds."""

    @abstractmethod
    def compute(self, part: Part) -> dict[str, Any]:
        """Compute one part from its parameters and its seed, or its draws; the answer must fit into JSON."""

    @abstractmethod
    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        """The rows of the table, from as many results as there are, but at least one.

        Rows of other columns than those before them begin a table of their own.
        """

    @abstractmethod
    def figure(self, results: Sequence[Result]) -> Any:
        """A Matplotlib Figure, from as many results as there are, but at least one."""

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        """What the paper says beside what came out, from all results; none until they are written."""
        return []

    def guide_rows(self, results: Sequence[Result]) -> list[dict[str, str]]:
        """Methods by data sets: its part of the table in docs/methods-compared.md, where it has words."""
        return self.table(results)

    def remarks(self, results: Sequence[Result]) -> list[str]:
        """What else is to be said of the outcome; numbers in it are from the results."""
        return []

    def kept(self, result: Result) -> dict[str, Any]:
        """What of a result table, figure, claims and remarks need: all of it, unless it is large."""
        return dict(result.value)


def values_by(name: str, results: Sequence[Result]) -> dict[Any, list[Any]]:
    """What came out for each value of a parameter, in the order it came."""
    found: dict[Any, list[Any]] = {}
    for result in results:
        found.setdefault(result.parameters[name], []).append(result.value)
    return found


def panels(size: tuple[float, float], *shape: int, **options: Any) -> tuple[Any, Any]:
    """A Matplotlib Figure of so many inches, and its axes: `shape` and options are those of `subplots`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*shape, **options)


def checked_parts(experiment: Experiment, quick: bool, seed: int) -> list[Part]:
    """The parts of a run, seeded, each with an id of its own that can name a file."""
    parts = [part.seeded(seed) for part in experiment.parts(quick)]
    seen: set[str] = set()
    for one in (one for part in parts for one in (part, *part.draws)):
        if not _ID.fullmatch(one.id):
            raise ValueError(
                f"the part id {one.id!r} cannot name a file; use a-z, 0-9, dots, dashes and underscores."
            )
        if one.id in seen:
            raise ValueError(f"two parts have the id {one.id!r}; give each its own.")
        seen.add(one.id)
    return parts
