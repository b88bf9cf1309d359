"""Shards in one process: every k-th constraint stays in memory, as many as fit, and the others are read anew.

Constraints are handed out in blocks: a shard that is read, or what is kept of several. A pass costs so much for
each block, and then little for each constraint, so that blocks of a GPU are large where it has the memory. No
other block is larger than the largest shard.
"""

import math
from collections.abc import Iterator, Sequence
from typing import final

from gramlearn._base.ahead import at_once, made_ahead
from gramlearn._base.arrays import every_row, is_on_host
from gramlearn.problem.dual import Part
from gramlearn.solvers.shards.forecast import BYTES_A_ROW, Needed
from gramlearn.solvers.shards.source import Opened, Shard, joined_parts

_READERS_SHARE = 0.25  # of the memory of the host that they may use
_BLOCK_OF_GPU = 1 << 26
_THINNER = 4  # by such a factor fewer constraints are kept in memory, until they fit


@final
class Store:
    """Some of the shards, of which so many bytes may be kept."""

    def __init__(self, opened: Opened, shards: Sequence[int], needed: Needed, room: float) -> None:
        self._opened = opened
        self._shards = list(shards)
        self.stride = 1  # of the constraints that are kept
        while needed.statements > max(room, 1.0) * self.stride:
            self.stride *= _THINNER
        sizes = [self._size(shard) for shard in self._shards]
        self._block = max(sizes, default=0)
        room -= needed.statements / self.stride
        if not is_on_host(opened.points):
            larger = min(_BLOCK_OF_GPU, room / 4 / BYTES_A_ROW)
            room -= BYTES_A_ROW * max(larger - self._block, 0)
            self._block = max(self._block, int(larger))
        # How many constraints there is room for beside those.
        self.spare = room * sum(sizes) / max(needed.statements, 1)
        self._kept: dict[int, list[Part]] = {}

    def load(self) -> Iterator[tuple[int, Shard]]:
        """Read all shards, and keep what there is room for."""
        for shard, found in self._read():
            first = self._opened.first(shard)
            self._kept[shard] = self._thinned(found.dual.parts, first, self.stride)
            yield shard, found

    def blocks(self, stride: int) -> Iterator[tuple[int, list[Part]]]:
        """Every `stride`-th constraint, block by block, by the number of the first shard of each."""
        if stride % self.stride:
            for shard, found in self._read():
                first = self._opened.first(shard)
                yield shard, self._thinned(found.dual.parts, first, stride)
            return
        for shards in self._grouped(stride):
            parts = zip(*(self._of_kept(shard, stride) for shard in shards), strict=True)
            yield shards[0], [joined_parts(pieces) for pieces in parts]

    def _size(self, shard: int) -> int:
        rows = self._opened.source.statements.rows(shard)
        return rows.stop - rows.start

    def _grouped(self, stride: int) -> list[list[int]]:
        """Neighboring shards whose thinned constraints are a block."""
        groups: list[list[int]] = []
        size = math.inf
        for shard in self._kept:
            own = -(-self._size(shard) // stride)
            if size + own > self._block:
                groups.append([])
                size = 0
            groups[-1].append(shard)
            size += own
        return groups

    def _of_kept(self, shard: int, stride: int) -> list[Part]:
        first = self._opened.first(shard)
        first = (first + -first % self.stride) // self.stride
        return self._thinned(self._kept[shard], first, stride // self.stride)

    def _thinned(self, parts: Sequence[Part], first: int, stride: int) -> list[Part]:
        """Every `stride`-th constraint, where the first one of each part has this number."""
        if stride == 1:
            return list(parts)
        start = -first % stride
        counts = [max(-(-(part.size - start) // stride), 0) for part in parts]
        return [
            part.index_rows(every_row(count, self._opened.points) * stride + start)
            for part, count in zip(parts, counts, strict=True)
        ]

    def _read(self) -> Iterator[tuple[int, Shard]]:
        """Read the shards, the next ones in the background."""
        found = made_ahead(self._opened.read, self._shards, self._n_readers)
        yield from zip(self._shards, found, strict=True)

    @property
    def _n_readers(self) -> int:
        """How many shards are read at once: one beside the work, or many where a GPU does that."""
        if is_on_host(self._opened.points):
            return 1
        statements = self._opened.source.statements
        each = max((statements.bytes_to_read(shard) for shard in self._shards), default=1)
        return at_once(each, _READERS_SHARE)
