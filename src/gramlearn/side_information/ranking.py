"""Statements in an order, the one that matters most first: each with its number, its words and its sizes."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from gramlearn.side_information.base import SideInformation

_SHOWN = 10  # rows that are written out


@final
@dataclass(frozen=True, eq=False, repr=False)
class RankedStatements:
    """The statements that are broken, or suspected, the worst first.

    `ranked[:20]` are the first twenty; `side.drop(ranked.mask)` leaves them out. `len` counts them.

    Attributes
    ----------
    number : vector of int
        k of `side.describe(k)`: its place in the side information.
    words : tuple of str
        Such as "the similar pair (4, 17)".
    size : vector
        What they are ranked by, which `meaning` says.
    weight : vector
    price : vector or None
        |lam| of the solution, where the metric was learned from these statements: how hard each pulls at it.
    meaning : str
    n_statements : int
        How many the side information has.
    """

    number: np.ndarray
    words: tuple[str, ...]
    size: np.ndarray
    weight: np.ndarray
    price: np.ndarray | None
    meaning: str
    n_statements: int

    @classmethod
    def of(
        cls,
        side: SideInformation,
        size: np.ndarray,
        above: float,
        meaning: str,
        price: np.ndarray | None = None,
    ) -> Self:
        """The statements whose size is above a number, in falling order; equal ones in their own."""
        order = np.argsort(-size, kind="stable")
        chosen = order[size[order] > above]
        return cls(
            chosen,
            tuple(side.describe(int(k)) for k in chosen),
            size[chosen],
            side.weights()[chosen],
            None if price is None else price[chosen],
            meaning,
            side.size,
        )

    @property
    def mask(self) -> np.ndarray:
        """A boolean for each statement of the side information: whether it is one of these."""
        mask = np.zeros(self.n_statements, dtype=bool)
        mask[self.number] = True
        return mask

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, some: slice) -> Self:
        if not isinstance(some, slice):
            raise TypeError(
                f"ranked statements are cut by slices, such as [:20]; got [{some!r:.40}]. Columns are "
                "attributes: `number`, `words`, `size`, `weight`, `price`."
            )
        rows: dict[str, Any] = {
            name: getattr(self, name)[some] for name in ("number", "words", "size", "weight")
        }
        price = None if self.price is None else self.price[some]
        return type(self)(**rows, price=price, meaning=self.meaning, n_statements=self.n_statements)

    def __repr__(self) -> str:
        head = f"{len(self)} of {self.n_statements} statements, by {self.meaning}"
        lines = [
            f"{k:>8}  {size:>9.4g}  {words}"
            for k, size, words in zip(self.number, self.size, self.words, strict=True)
        ]
        rest = [f"{'':>8}  ... and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([head, *lines[:_SHOWN], *rest])
