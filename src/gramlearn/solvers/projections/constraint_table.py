"""The constraints of a dual as plain arrays, one list for all parts: what compiled loops read."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.losses import Curve

# In the order of the numbers in `line`.
FORMS = ("constant", "rational", "exponential", "affine")


class Table(NamedTuple):
    """Directions of every constraint, see `RankOnes`, and the numbers of every loss."""

    directions: tuple[np.ndarray, ...]  # rows, start, first, second, sign, weight
    numbers: tuple[np.ndarray, ...]  # form, offset, bound, strength, lo, hi


def table_of(dual: Dual) -> Table:
    """Join the parts of a dual; points that parts have in common are stored once."""
    tables: list[np.ndarray] = []
    pieces: list[list[np.ndarray]] = [[] for _ in range(5)]
    n_directions = 0
    for part in dual.parts:
        ones = part.map.rank_ones()
        above = _height_above(ones.rows, tables)
        found = (ones.start[:-1] + n_directions, ones.first + above, ones.second + above)
        for pile, values in zip(pieces, (*found, ones.sign, ones.weight), strict=True):
            pile.append(values)
        n_directions += ones.first.shape[0]
    empty = np.zeros((0, dual.rank)), np.zeros(0, np.int64), np.zeros(0)
    rows = np.concatenate([empty[0], *tables])
    start, first, second = (np.concatenate([empty[1], *pile]) for pile in pieces[:3])
    sign, weight = (np.concatenate([empty[2], *pile]) for pile in pieces[3:])
    start = np.append(start, n_directions)
    lo, hi = dual.box

    def each(number: Callable[[Part], Any]) -> np.ndarray:
        return np.concatenate([empty[2], *(np.full(p.size, 0.0) + number(p) for p in dual.parts)])

    numbers = (
        each(lambda p: FORMS.index(_curve(p).form)).astype(np.int64),
        each(lambda p: p.offset),
        each(lambda p: _curve(p).bound),
        each(lambda p: _curve(p).strength),
        np.asarray(lo),
        np.asarray(hi),
    )
    directions = (np.ascontiguousarray(rows), start, first, second, sign, weight)
    return Table(directions, numbers)


def _height_above(rows: np.ndarray, tables: list[np.ndarray]) -> int:
    """How many rows come before these in the joined table, to which new ones are added.

    Different parts may hold equal rows in different arrays, made from one basis or one identity.
    """
    height = 0
    for table in tables:
        if table is rows or np.array_equal(table, rows):
            return height
        height += table.shape[0]
    tables.append(rows)
    return height


def _curve(part: Part) -> Curve:
    curve = part.loss.curve
    assert curve is not None  # the solver objects to others
    return curve
