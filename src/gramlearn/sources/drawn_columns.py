"""Pairs of row numbers drawn at random, which are the same whenever and however they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from gramlearn.sources.columns import Columns, cut


@final
@dataclass(frozen=True)
class DrawnPairs(Columns):
    """Two columns of numbers below n_points that differ in every row, each pair of numbers equally likely."""

    names: tuple[str, str]
    n_points: int
    n_drawn: int
    seed: int
    chunk_rows: int

    @property
    def types(self) -> Mapping[str, np.dtype[np.int64]]:
        return dict.fromkeys(self.names, np.dtype(np.int64))

    @cached_property
    def sizes(self) -> Sequence[int]:
        return cut(self.n_drawn, self.chunk_rows)

    @property
    def source(self) -> str:
        return "pairs drawn at random"

    def read(self, chunk: int, names: Sequence[str]) -> list[np.ndarray]:
        rows = self.rows(chunk)
        # A step of this generator is four numbers, two rows; so a row has the same ones in any chunk.
        steps, inside = divmod(rows.start, 2)
        generator = np.random.Philox(key=self.seed)
        generator.advance(steps)
        raw = generator.random_raw(2 * (rows.stop - rows.start + inside))[2 * inside :]
        i = raw[::2] % np.uint64(self.n_points)
        j = (i + 1 + raw[1::2] % np.uint64(self.n_points - 1)) % np.uint64(self.n_points)
        found = dict(zip(self.names, (i.astype(np.int64), j.astype(np.int64)), strict=True))
        return [found[name] for name in names]

    @property
    def marks(self) -> list[bytes]:
        return [repr((self.names, self.n_points, self.n_drawn, self.seed)).encode()]

    def place(self, chunk: int, row: int) -> str:
        return f"row {self.rows(chunk).start + row} of {self.source}"

    def in_chunks_of(self, n_rows: int) -> "DrawnPairs":
        return replace(self, chunk_rows=n_rows)
