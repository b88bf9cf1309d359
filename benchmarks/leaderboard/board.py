"""A board: which draws of which sets; the draws of another seed are others."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from experiments.experiment import Experiment


class Board(Experiment):
    """What boards have in common.

    Attributes
    ----------
    titles : the sets, and what tables call them
    n_draws : how many draws there are of each
    quick_set : the one set of a quick run, of the first draws
    """

    paper: str = "leaderboard"
    titles: ClassVar[Mapping[str, str]]
    n_draws: ClassVar[int]
    quick_set: ClassVar[str]
    n_quick_draws: ClassVar[int] = 1

    def __init__(
        self,
        seed: int = 0,
        quick: bool = False,
        n_draws: int | None = None,
        sets: Sequence[str] | None = None,
    ) -> None:
        unknown = [name for name in sets or () if name not in self.titles]
        if unknown:
            raise ValueError(
                f"the board has no set {', '.join(unknown)}; it has {', '.join(self.titles)}."
            )
        most = self.n_quick_draws if quick else self.n_draws
        first = seed * self.n_draws
        self.draws = range(first, first + min(most, n_draws or most))
        self.sets = [self.quick_set] if quick else list(sets or self.titles)
        # Of all sets: a part is the same whichever others are asked for.
        whole = self.sets if quick else self.titles
        self.data = tuple(dict.fromkeys(d for d in map(self.source_of, whole) if d))

    @abstractmethod
    def source_of(self, name: str) -> str | None:
        """The data set that a set is made from; None where it comes with scikit-learn."""
