"""d(i, j) <= upper for pairs that are alike, d(i, j) >= lower for unlike ones; d is squared.

Pairs are facts: each is listed once, in either order, and stands on one side. How much a pair
counts is its weight. What the pairs imply is added by `closure`, on request.
"""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self, final

from gramlearn._base.arrays import Array, as_index, namespace, to_numpy, where_true
from gramlearn._base.validation import check_count
from gramlearn.problem.constraints import SquaredDistances
from gramlearn.problem.losses import BoundedLoss
from gramlearn.problem.problem import Term
from gramlearn.side_information.base import Beyond, Coincide, SideInformation, complete, renumber
from gramlearn.side_information.checks import (
    check_bounds,
    check_differ,
    check_n_points,
    check_numbers,
    check_once,
    check_table,
    contiguous_columns,
    pair_keys,
    rows_of,
)
from gramlearn.side_information.closure import (
    Contradiction,
    ContradictionError,
    find_contradictions,
    transitive_closure,
)
from gramlearn.side_information.percentiles import percentile_bounds

__all__ = ["Pairs", "check_not_crossed", "check_pairs"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Pairs(SideInformation):
    """d(i, j) <= upper for the similar pairs, d(i, j) >= lower for the dissimilar ones, d squared.

    Parameters
    ----------
    similar, dissimilar : m x 2 table of row indices, optional
        A list, or an array of any library. At least one of the two. A pair listed twice, in either
        order, is refused, for it would count double unseen: say so with a weight.
    n_points : int
        How many points the indices refer to: len(X).
    upper, lower : number or one for each pair, optional
        Squared distances. Where they are missing `bind` finds them. Of two numbers, upper must not
        exceed lower; bounds given for each pair are not compared, as they belong to different
        pairs.
    similar_weight, dissimilar_weight : positive number or one for each pair, optional
        What the loss of a pair is multiplied by.
    """

    similar: Any = None
    dissimilar: Any = None
    _: KW_ONLY
    n_points: Any = None
    upper: Any = None
    lower: Any = None
    similar_weight: Any = None
    dissimilar_weight: Any = None

    def __post_init__(self) -> None:
        n = check_n_points(self.n_points, "Pairs")
        similar, dissimilar = _check_tables(self.similar, self.dissimilar, n)
        fields = {"n_points": n, "similar": similar, "dissimilar": dissimilar}
        for name, side, positive in (
            ("upper", "similar", False),
            ("lower", "dissimilar", False),
            ("similar_weight", "similar", True),
            ("dissimilar_weight", "dissimilar", True),
        ):
            table = fields[side]
            fields[name] = check_numbers(
                getattr(self, name),
                name,
                table,
                partial(_name, side, table),
                positive=positive,
            )
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        check_not_crossed(self.upper, self.lower, "")

    @property
    def size(self) -> int:
        return int(self.similar.shape[0]) + int(self.dissimilar.shape[0])

    def __repr__(self) -> str:
        similar, dissimilar = self.similar.shape[0], self.dissimilar.shape[0]
        return f"Pairs({similar} similar, {dissimilar} dissimilar, n_points={self.n_points})"

    def describe(self, k: int) -> str:
        n_similar = int(self.similar.shape[0])
        if k < n_similar:
            return _name("similar", self.similar, k)
        return _name("dissimilar", self.dissimilar, k - n_similar)

    def take(self, rows: Any) -> Self:
        similar, kept, n_rows = renumber(self.similar, rows, self.n_points)
        dissimilar, also_kept, _ = renumber(self.dissimilar, rows, self.n_points)
        self._check_not_empty(int(similar.shape[0]) + int(dissimilar.shape[0]), n_rows)
        return replace(
            self,
            similar=similar,
            dissimilar=dissimilar,
            n_points=n_rows,
            upper=rows_of(self.upper, kept),
            lower=rows_of(self.lower, also_kept),
            similar_weight=rows_of(self.similar_weight, kept),
            dissimilar_weight=rows_of(self.dissimilar_weight, also_kept),
        )

    def hopeless(self, coincide: Coincide) -> Array:
        i, j = contiguous_columns(self.dissimilar)
        none_of_the_similar = self.similar[:, 0] < 0
        in_vain = as_index(coincide(i, j), i) > 0
        return namespace(i).concat([none_of_the_similar, in_vain])

    def without(self, mask: Array) -> Self:
        n_similar = int(self.similar.shape[0])
        kept, also_kept = where_true(~mask[:n_similar]), where_true(~mask[n_similar:])
        return replace(
            self,
            similar=namespace(kept).take(self.similar, kept, axis=0),
            dissimilar=namespace(kept).take(self.dissimilar, also_kept, axis=0),
            upper=rows_of(self.upper, kept),
            lower=rows_of(self.lower, also_kept),
            similar_weight=rows_of(self.similar_weight, kept),
            dissimilar_weight=rows_of(self.dissimilar_weight, also_kept),
        )

    def involved(self) -> Array:
        xp = namespace(self.similar)
        table = xp.concat([self.similar, self.dissimilar])
        return xp.unique_values(xp.reshape(table, (-1,)))

    def judged(self) -> tuple[Array, Array, Array]:
        xp = namespace(self.similar)
        table = xp.concat([self.similar, self.dissimilar])
        alike = as_index(xp.arange(table.shape[0]), table) < self.similar.shape[0]
        return table[:, 0], table[:, 1], alike

    def bind(
        self,
        loss: BoundedLoss,
        points: Any = None,
        bounds: Any = None,
        *,
        random_state: Any = None,
        beyond: Beyond | None = None,
    ) -> list[Term]:
        """One term for the similar pairs, then one for the dissimilar ones, each if there are any.

        A bound is the one given to `Pairs`; else the one in `bounds=(upper, lower)`; else it comes
        from `percentile_bounds(points)`.
        """
        points = self._check_points(points)
        upper, lower = self._find_bounds(points, bounds, random_state)
        terms = []
        for table, kind, bound, weight in (
            (self.similar, "upper", upper, self.similar_weight),
            (self.dissimilar, "lower", lower, self.dissimilar_weight),
        ):
            if table.shape[0]:
                i, j = contiguous_columns(table)
                offset = 0.0 if beyond is None else beyond(i, j)
                constraints = SquaredDistances(
                    i, j, points=points, n_points=self.n_points, offset=offset
                )
                terms.append(Term(constraints, complete(loss, kind, bound, weight)))
        return terms

    def _find_bounds(self, points: Any, bounds: Any, random_state: Any) -> tuple[Any, Any]:
        upper, lower = check_bounds(bounds)
        check_not_crossed(upper, lower, " in `bounds=(upper, lower)`")
        upper = upper if self.upper is None else self.upper
        lower = lower if self.lower is None else self.lower
        needs_upper = upper is None and self.similar.shape[0] > 0
        needs_lower = lower is None and self.dissimilar.shape[0] > 0
        if needs_upper or needs_lower:
            if points is None:
                missing = " and ".join(
                    name
                    for name, needed in (("upper", needs_upper), ("lower", needs_lower))
                    if needed
                )
                raise ValueError(
                    f"no bound is known ({missing}); pass `bounds=(upper, lower)` in squared "
                    "distances, or `points` to find them from."
                )
            found = percentile_bounds(points, random_state=random_state)
            upper = found[0] if upper is None else upper
            lower = found[1] if lower is None else lower
        if self.similar.shape[0] and self.dissimilar.shape[0]:
            check_not_crossed(upper, lower, "; pass both, so that they fit each other")
        return upper, lower

    def contradictions(self) -> list[Contradiction]:
        """List the dissimilar pairs that similar pairs join, as (pair, shortest chain).

        Runs in host memory, a breadth-first search for each point at which a contradiction begins.
        """
        return find_contradictions(to_numpy(self.similar), to_numpy(self.dissimilar), self.n_points)

    def closure(self, *, max_pairs: int = 10_000_000) -> Self:
        """Add what follows: alike is transitive, and unlike holds between whole components.

        The result can be far larger: m points joined by m - 1 similar pairs give m (m - 1) / 2. A
        closure of more than `max_pairs` pairs is refused. Contradictions raise
        `ContradictionError`, which lists all of them. Bounds and weights must be one number each,
        which the implied pairs inherit. Pairs come back as (i, j) with i < j in an order of their
        own. Runs in host memory.
        """
        max_pairs = check_count(max_pairs, "max_pairs")
        for name in ("upper", "lower", "similar_weight", "dissimilar_weight"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, float):
                raise ValueError(
                    f"`{name}` has one number for each pair, and the pairs that `closure` adds "
                    "have none; pass one number for all."
                )
        similar, dissimilar = transitive_closure(
            to_numpy(self.similar), to_numpy(self.dissimilar), self.n_points, max_pairs
        )
        return replace(
            self,
            similar=as_index(similar, self.similar),
            dissimilar=as_index(dissimilar, self.similar),
        )


def _name(side: str, table: Array, k: int) -> str:
    return f"the {side} pair ({int(table[k, 0])}, {int(table[k, 1])})"


def check_not_crossed(upper: Any, lower: Any, addition: str) -> None:
    """Of two numbers, upper must not exceed lower."""
    if isinstance(upper, float) and isinstance(lower, float) and upper > lower:
        raise ValueError(
            f"alike pairs are at most `upper` apart and unlike ones at least `lower`, so upper "
            f"must not exceed lower; got upper={upper:.6g} and lower={lower:.6g}{addition}."
        )


def _check_tables(similar: Any, dissimilar: Any, n_points: int) -> tuple[Array, Array]:
    """Both as m x 2 tables of one library, no pair twice and none on both sides."""
    given = {"similar": similar, "dissimilar": dissimilar}
    tables: dict[str, Array] = {}
    for name, x in given.items():
        tables[name] = check_table([] if x is None else x, name, (2,), n_points)
        check_differ(tables[name], name, (0, 1), "a pair needs two different points")
    if not any(table.shape[0] for table in tables.values()):
        raise ValueError(
            "side information is empty; pass `similar`, `dissimilar` or both, with at least one "
            "pair."
        )
    like = next(table for table in tables.values() if table.shape[0])
    tables = {name: as_index(table, like) for name, table in tables.items()}
    _check_listed_once(tables, n_points)
    return tables["similar"], tables["dissimilar"]


def _check_listed_once(tables: dict[str, Array], n_points: int) -> None:
    """No pair twice on one side, and none on both."""
    keys = [pair_keys(table, n_points) for table in tables.values()]
    xp = namespace(keys[0])
    ordered = xp.sort(xp.concat(keys), stable=False)
    again = ordered[1:] == ordered[:-1]
    if not bool(xp.any(again)):
        return
    for name, table in tables.items():
        advice = f"list each pair once, and pass `{name}_weight` where one shall count more"
        check_once(table, f"`{name}`", n_points, advice)
    both = [divmod(int(key), n_points) for key in ordered[1:][again]]
    more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
    raise ContradictionError(
        f"the pair {both[0]}{more} is in both `similar` and `dissimilar`; remove it from one of "
        "them.",
        [(pair, pair) for pair in both],
    )


def check_pairs(x: Any, name: str, n_points: int) -> None:
    """Pairs, over so many points."""
    if not isinstance(x, Pairs):
        raise TypeError(
            f"`{name}` must be Pairs(similar=..., dissimilar=..., n_points=...); got {type(x).__name__}."
        )
    x.check_fits(n_points)
