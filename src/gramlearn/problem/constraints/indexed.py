"""sum_k loss(t_k), t_k = sum_s w_s |p_a + sign p_b|_X^2, by row numbers alone: part of a term of a problem.

It is what a chunk of many constraints holds. Points, which all chunks share, join it where the sum is made.
"""

from dataclasses import dataclass
from typing import final

from gramlearn._base.arrays import Array
from gramlearn.problem.linear_maps import Direction
from gramlearn.problem.losses import BoundedLoss


@final
@dataclass(frozen=True, eq=False)
class IndexedTerm:
    """Constraints of one kind, perhaps none, with a loss that is not prepared yet.

    Attributes
    ----------
    columns : tuple of vectors
        Row numbers i, j, ..., one of each for a constraint.
    directions : tuple of Direction
        What they are put together to, as a `PointMap` takes it.
    loss : BoundedLoss
        With its bounds and weights: one number, or one for each constraint.
    rows : slice
        The places of these constraints where all chunks, and in each chunk all of its terms, stand one after
        another.
    """

    columns: tuple[Array, ...]
    directions: tuple[Direction, ...]
    loss: BoundedLoss
    rows: slice

    @property
    def size(self) -> int:
        """How many constraints there are."""
        return int(self.columns[0].shape[0])
