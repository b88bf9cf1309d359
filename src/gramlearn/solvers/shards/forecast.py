"""How much memory a site takes beside its points, before it starts.

    products      the points times a factor of X, in single and in double precision:         n r 12
    shards        the shard being worked on and the one being read, and what is made of it
    stand_in      the sample of curved constraints in a Newton direction, twice:              3 * 8 r * its size
    marks         a bit or two for every constraint: whether it matters, and its price

What is left of a limit keeps constraints in memory, so that they need not be read in every pass.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gramlearn.solvers.shards.source import Source

# Curved constraints that stand for all of them in a Newton direction, for each entry of X, and at least so
# many: the direction is off by about the root of the inverse of the former.
_PER_ENTRY, _LEAST = 20, 50_000
_BYTES_A_ROW = 150  # of what is made of a constraint while its shard is worked on
_NAMES = "BkMGTPE"


def stand_in(rank: int) -> int:
    """How many curved constraints stand for all of them in a Newton direction."""
    return max(_PER_ENTRY * rank * (rank + 1) // 2, _LEAST)


class Forecast(NamedTuple):
    """Bytes beside the points."""

    products: int
    shards: int
    stand_in: int
    marks: int
    statements: int  # all of them in memory, which takes no reading but the first

    @classmethod
    def of(cls, source: Source, shards: Sequence[int], n_points: int) -> "Forecast":
        """That of a site with these shards."""
        rank, statements = source.common.rank, source.statements
        counts = [statements.rows(shard) for shard in shards]
        sizes = [rows.stop - rows.start for rows in counts]
        widest = max(sizes, default=0)
        reading = max((statements.bytes_to_read(shard) for shard in shards), default=0)
        return cls(
            12 * n_points * rank,
            2 * reading + _BYTES_A_ROW * widest,
            3 * 8 * rank * min(stand_in(rank), sum(sizes)),
            sum(sizes) // 2,
            sum(statements.bytes_of(shard) for shard in shards),
        )

    @property
    def least(self) -> int:
        """What it takes at least, where statements are read anew in every pass."""
        return self.products + self.shards + self.stand_in + self.marks

    @property
    def most(self) -> int:
        """What it takes where all statements are kept."""
        return self.least + self.statements

    def kept(self, limit: float) -> float:
        """The bytes of statements that a limit leaves room for."""
        if limit < self.least:
            raise MemoryError(
                f"a memory limit of {in_words(limit)} is below the least that this takes beside the points, "
                f"{in_words(self.least)}; raise it, learn in fewer directions, or cut the statements into "
                "smaller chunks (row groups)"
            )
        return limit - self.least

    def __str__(self) -> str:
        return (
            f"{in_words(self.least)} beside the points at least, with statements read in every pass, and "
            f"{in_words(self.most)} with all of them in memory"
        )


def in_words(size: float) -> str:
    """1.5 GB for 1.5e9 bytes."""
    power = 0
    while size >= 1000 and power < len(_NAMES) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.3g} {_NAMES[power].strip('B')}B"
