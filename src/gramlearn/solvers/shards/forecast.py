"""How much memory a site takes beside its points, before it starts.

    products      the points times a factor of X, in single and in double precision:         n r 12
                  and the points themselves, if they are needed other than they are given
    shards        the shard being worked on and the one being read, and what is made of it
    stand_in      the sample of curved constraints in a Newton direction, at three X, once
                  in pieces as well; of so many or fewer than twice as many:                  8 * 8 r * its size
    marks         a bit or two for every constraint: whether it matters, and its price

What is left of a limit keeps constraints in memory, so that they need not be read in every pass. Where it is
small, chunks are made smaller.
"""

import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from gramlearn._base.validation import check_positive
from gramlearn.solvers.shards.source import Statements

# Curved constraints that stand for all of them in a Newton direction, for each entry of X, and at least so
# many: the direction is off by about the root of the inverse of the former.
_PER_ENTRY, _LEAST = 20, 50_000
BYTES_A_ROW = 150  # of what is made of a constraint while its shard is worked on
# Statements of a chunk: of smaller ones, what a chunk costs beside its statements would be felt.
_SMALLEST = 1 << 16
_NAMES = "BkMGTPE"
_LIMIT = re.compile(
    r"(?P<number>\d+(\.\d+)?([eE]\+?\d+)?)\s*(?P<unit>[kMGTmgtK]?)(?P<binary>i?)[bB]?"
)


def stand_in(rank: int) -> int:
    """How many curved constraints stand for all of them in a Newton direction."""
    return max(_PER_ENTRY * rank * (rank + 1) // 2, _LEAST)


class Needed(NamedTuple):
    """Bytes beside the points, of statements in these chunks."""

    products: int
    shards: int
    stand_in: int
    marks: int
    statements: int  # all of them in memory, which takes no reading but the first

    @classmethod
    def of(
        cls,
        statements: Statements,
        shards: Sequence[int],
        n_points: int,
        rank: int,
        copied: int = 0,
    ) -> "Needed":
        """That of a site with these shards, and a copy of the points of so many bytes."""
        counts = [statements.rows(shard) for shard in shards]
        sizes = [rows.stop - rows.start for rows in counts]
        widest = max(sizes, default=0)
        reading = max((statements.bytes_to_read(shard) for shard in shards), default=0)
        return cls(
            12 * n_points * rank + copied,
            2 * reading + BYTES_A_ROW * widest,
            4 * 8 * rank * min(2 * stand_in(rank), sum(sizes)),
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
            more = "add memory, raise `memory_limit` if it was given"
            raise _too_little(_with_size("the memory that is left", limit), self.least, more)
        return limit - self.least


class Forecast(NamedTuple):
    """The memory that a fit takes beside the points, in bytes, and what it may take."""

    least: int  # with statements that are read in every pass, in small chunks
    most: int  # with all of them kept
    room: float | None = None  # where a limit was given

    def check(self, given: Any, without: str) -> None:
        """Refuse too little room: the `memory_limit` that was given, or what there is without one, in words."""
        if self.room is None or self.room >= self.least:
            return
        if given is not None and read_limit(given) == self.room:
            raise _too_little(f"`memory_limit={given!r}`", self.least, "raise it")
        raise _too_little(_with_size(without, self.room), self.least, "add memory")

    def __str__(self) -> str:
        words = (
            f"{enough(self.least)} beside the points at least, with statements read in every pass, and "
            f"{enough(self.most)} with all of them in memory"
        )
        if self.room is None:
            return words
        fits = "is too little" if self.room < self.least else "has room for some of them"
        fits = "has room for all of them" if self.room >= self.most else fits
        return f"{words}; the limit of {in_words(self.room)} {fits}"


def _too_little(little: str, least: float, more: str) -> ValueError:
    return ValueError(
        f"{little} is less than the {enough(least)} that this takes beside the points at least; {more}, learn "
        "from fewer features, or pass `side.in_chunks_of(n)` with fewer statements n in a chunk."
    )


def _with_size(memory: str, size: float) -> str:
    return f"{memory} ({in_words(max(size, 0.0), ROUND_FLOOR)})"


class Chunked(Statements, Protocol):
    """Statements that can be cut into other chunks."""

    def in_chunks_of(self, n_rows: int) -> Self:
        """The same statements in chunks of about so many."""


SomeChunks = TypeVar("SomeChunks", bound=Chunked)


def in_small_chunks(statements: SomeChunks) -> SomeChunks:
    """The statements in the smallest chunks that a limit makes of them."""
    # A chunk may be half as large again as was asked for.
    is_small = _widest(statements) <= 1.5 * _SMALLEST
    return statements if is_small else statements.in_chunks_of(_SMALLEST)


def in_chunks_for(
    statements: SomeChunks, n_places: int, n_points: int, rank: int, copied: int, room: float
) -> SomeChunks:
    """The statements in chunks for which so many bytes are enough, read at so many places.

    They take half of what is left at most, so that statements may be kept in the other half.
    """
    n_rows, smallest = _widest(statements), in_small_chunks(statements)
    while smallest is not statements and n_rows > _SMALLEST:
        some = range(-(-statements.n_chunks // n_places))
        needed = Needed.of(statements, some, n_points, rank, copied)
        if 2 * needed.shards <= room - (needed.least - needed.shards):
            return statements
        n_rows = max(n_rows // 2, _SMALLEST)
        statements = statements.in_chunks_of(n_rows)
    return statements


def _widest(statements: Statements) -> int:
    rows = [statements.rows(chunk) for chunk in range(statements.n_chunks)]
    return max((some.stop - some.start for some in rows), default=0)


def read_limit(limit: Any) -> float:
    """Bytes, from a number or from words such as "4GB" and "500 MiB"."""
    if isinstance(limit, str):
        found = _LIMIT.fullmatch(limit.strip())
        if found is None:
            raise ValueError(
                f'`memory_limit` must be a number of bytes, or words such as "4GB"; got {limit!r:.60}.'
            )
        power = "kmgt".index(found["unit"].lower()) + 1 if found["unit"] else 0
        limit = float(Decimal(found["number"]) * (1024 if found["binary"] else 1000) ** power)
    return float(check_positive(limit, "memory_limit", "MetricLearner"))


def enough(size: float) -> str:
    """A limit, in words, that has room for so many bytes."""
    return in_words(size, ROUND_CEILING)


def in_words(size: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """1.5 GB for 1.5e9 bytes, in three digits."""
    digits = Context(prec=3, rounding=rounding).create_decimal(float(size))
    power = min(max(digits.adjusted() // 3, 0), len(_NAMES) - 1)
    return f"{digits.scaleb(-3 * power).normalize():f} {_NAMES[power].strip('B')}B"
