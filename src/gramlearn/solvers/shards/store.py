"""Shards in one process: every k-th constraint stays in memory, as many as fit, and the others are read anew.

Constraints are handed out in blocks, which are no larger than the largest shard: a shard that is read, or what
is kept of several. A pass costs so much for each block, and then little for each constraint.
"""

import math
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import final

from gramlearn._base.arrays import Array, every_row, is_on_host
from gramlearn.problem.dual import Part
from gramlearn.solvers.shards.forecast import Forecast
from gramlearn.solvers.shards.source import Opened, Shard, joined_parts

_READERS_OF_GPU = 12
_THINNER = 4  # by such a factor fewer constraints are kept in memory, until they fit


@final
class Store:
    """Some of the shards, of which so many bytes may be kept."""

    def __init__(
        self, opened: Opened, shards: Sequence[int], needed: Forecast, room: float
    ) -> None:
        self._opened = opened
        self._shards = list(shards)
        self.stride = 1  # of the constraints that are kept
        while needed.statements > max(room, 1.0) * self.stride:
            self.stride *= _THINNER
        sizes = [self._size(shard) for shard in self._shards]
        self._widest = max(sizes, default=0)
        self._bytes_each = needed.statements / max(sum(sizes), 1)
        # How many constraints there is room for beside those.
        self.spare = math.inf
        if room < math.inf and self._bytes_each:
            self.spare = (room - needed.statements / self.stride) / self._bytes_each
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
            if size + own > self._widest:
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
        n_readers = _n_readers(self._opened.points)
        with ThreadPoolExecutor(n_readers) as background:
            ahead = deque(
                background.submit(self._opened.read, shard) for shard in self._shards[:n_readers]
            )
            for k, shard in enumerate(self._shards):
                found = ahead.popleft().result()
                for following in self._shards[k + n_readers : k + n_readers + 1]:
                    ahead.append(background.submit(self._opened.read, following))
                yield shard, found


def _n_readers(points: Array) -> int:
    """How many shards are read at once: one beside the work, or many where a GPU does that."""
    return 1 if is_on_host(points) else min(_READERS_OF_GPU, os.cpu_count() or 1)
