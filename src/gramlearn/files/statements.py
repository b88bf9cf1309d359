"""Rows of a shape -> Pairs, Triplets or Bounds, by one function for each shape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from gramlearn._base.distinct_rows import distinct_rows
from gramlearn.files import words
from gramlearn.files.formats.table import shown
from gramlearn.files.ids import id_texts
from gramlearn.files.relevance import compare_documents
from gramlearn.files.settling import Verdicts, as_pairs, settle
from gramlearn.files.shapes import SHAPES, Found
from gramlearn.files.used_rows import UsedRows
from gramlearn.side_information import Bounds, Pairs, Triplets
from gramlearn.sources.errors import FileError

Side = Pairs | Triplets | Bounds

_MEANINGS_OF_ENTAILMENT: Mapping[float | None, int] = {
    0.0: words.ALIKE,
    1.0: words.NEITHER,
    2.0: words.UNLIKE,
}


@final
@dataclass
class Choices:
    """How judgments are read, and what has to be said about it."""

    conflicts: str
    percentiles: tuple[float, float]
    notes: list[str] = field(default_factory=list)


def state(found: Found, rows: UsedRows, choices: Choices) -> Side:
    """The statements of the rows that can be used; the others are dropped, each with its reason."""
    return _MAKERS[found.shape.name](found, rows, choices)


def _state_pairs(found: Found, rows: UsedRows, choices: Choices) -> Side:
    column = found.column["alike"]
    cells = rows.table.columns[column]
    said = _read_entailment(cells, rows) if found.is_entailment else words.read_words(cells)
    points = rows.find_all({role: found.column[role] for role in ("first", "second")})
    rows.drop(
        said == words.NEITHER,
        "undecided",
        lambda row: f"{shown(cells[row])} says neither alike nor unlike",
    )
    rows.drop(
        said == words.NOT_KNOWN,
        "without a known judgment",
        lambda row: (
            f"{shown(cells[row])} in the column {shown(column)} is no judgment that is known"
        ),
    )
    return _judged(found, rows, choices, points, said == words.ALIKE)


def _read_entailment(cells: Any, rows: UsedRows) -> np.ndarray:
    """Of premises and hypotheses 0, 1 and 2 are entailment, neutral and contradiction."""
    numbers = words.numbers_of(cells)
    if not numbers:
        return words.read_words(cells)
    if 2.0 not in numbers:
        raise FileError(
            f"{rows.table.source} has premises and hypotheses with labels of which none is 2, so that it is "
            "not told whether 0 or 1 is entailment; write the words, or name the columns by `columns`: "
            "first=..., second=..., alike=..."
        )
    meanings = _MEANINGS_OF_ENTAILMENT
    return np.asarray([meanings.get(words.number_of(cell), words.NOT_KNOWN) for cell in cells])


def _state_scores(found: Found, rows: UsedRows, choices: Choices) -> Side:
    """Alike at or above the upper percentile of the scores, unlike at or below the lower one."""
    # The two are of either table, or a query and a document.
    items = ("query", "document") if "query" in found.column else ("first", "second")
    points = rows.find_all({role: found.column[role] for role in items})
    scores = rows.numbers(found.column["score"], kind="without a score")
    rows.check_any()
    kept = scores[rows.kept]
    low, high = np.percentile(kept, choices.percentiles)
    if kept.min() == kept.max():
        raise FileError(
            f"{rows.table.source} has the same score, {low:.6g}, in every row: no pair is more alike than "
            "another."
        )
    # Where most scores are equal these are neither, unless they are the least or the greatest.
    alike = scores >= high if high > low or high == kept.max() else scores > high
    unlike = scores <= low if high > low or low == kept.min() else scores < low
    rows.drop(
        ~(alike | unlike),
        "with a middling score",
        lambda row: f"the score {scores[row]:.6g} lies between {low:.6g} and {high:.6g}",
    )
    choices.notes.append(
        f"Scores: the pairs at and above {scores[rows.is_used & alike].min():.6g} are alike, those at and "
        f"below {scores[rows.is_used & unlike].max():.6g} unlike; these are percentiles "
        f"{choices.percentiles[1]:g} and {choices.percentiles[0]:g}."
    )
    return _judged(found, rows, choices, points, alike)


def _judged(
    found: Found, rows: UsedRows, choices: Choices, points: dict[str, np.ndarray], alike: np.ndarray
) -> Pairs:
    """Pairs, once rows that contradict each other are settled."""
    weight = _weights(found, rows)
    rows.check_any()
    first, second = points.values()
    _settle(rows, choices, first, second, alike, weight)
    rows.check_any()
    kept = rows.kept
    i, j, alike, n = first[kept], second[kept], alike[kept], len(rows.points)
    if "weight" in found.column:
        return as_pairs(settle(i, j, alike, weight[kept], choices.conflicts), n)
    return Pairs.from_judgments(i, j, alike, n, conflicts=choices.conflicts)


def _settle(
    rows: UsedRows,
    choices: Choices,
    first: np.ndarray,
    second: np.ndarray,
    alike: np.ndarray,
    weight: np.ndarray,
    *,
    is_ordered: bool = False,
) -> np.ndarray:
    """Drop the rows that do not count where a pair is judged both ways; for each row, what its pair came to."""
    kept = rows.kept
    verdicts, settled = _weigh(rows, choices, first, second, alike, weight, is_ordered)
    n_open = int(verdicts.is_open.sum())
    if not n_open:
        return settled
    if choices.conflicts == "raise":
        of_it = kept[verdicts.kind == np.flatnonzero(verdicts.is_open)[0]]
        one, other = of_it[alike[of_it]][0], of_it[~alike[of_it]][0]
        names = [shown(rows.points.name_of(points[one])) for points in (first, second)]
        raise FileError(
            f"{names[0]} and {names[1]} are judged alike ({rows.table.place(one)}) and unlike "
            f"({rows.table.place(other)}), and {n_open - 1:,} other pairs both ways; correct them, or say with "
            "`conflicts` what counts."
        )
    decides = {
        "majority": "the majority decides",
        "drop": "they are left out",
        "similar": "only the rows that say alike count",
        "dissimilar": "only the rows that say unlike count",
    }[choices.conflicts]
    choices.notes.append(f"Pairs judged both alike and unlike: {n_open:,}; {decides}.")
    why = "as often alike as unlike" if choices.conflicts == "majority" else "both alike and unlike"
    rows.drop(
        kept[~verdicts.counts],
        "of a pair judged both ways",
        lambda row: (
            f"the pair {shown(rows.points.name_of(first[row]))}, "
            f"{shown(rows.points.name_of(second[row]))} is judged {why}"
        ),
    )
    return settled


def _weigh(
    rows: UsedRows,
    choices: Choices,
    first: np.ndarray,
    second: np.ndarray,
    alike: np.ndarray,
    weight: np.ndarray,
    is_ordered: bool,
) -> tuple[Verdicts, np.ndarray]:
    """The verdicts on the rows that are kept; and for each row of the table, what its pair came to."""
    kept = rows.kept
    i, j = first[kept], second[kept]
    verdicts = settle(i, j, alike[kept], weight[kept], choices.conflicts, is_ordered=is_ordered)
    settled = alike.copy()
    settled[kept] = verdicts.lead[verdicts.kind] > 0
    return verdicts, settled


def _state_similar(found: Found, rows: UsedRows, choices: Choices) -> Side:
    points = rows.find_all({role: found.column[role] for role in ("anchor", "positive")})
    return _judged(found, rows, choices, points, np.ones(rows.table.n_rows, dtype=bool))


def _state_triplets(found: Found, rows: UsedRows, choices: Choices) -> Side:
    """(anchor, positive, negative), or (query, chosen, passed over): the first is nearer to the second."""
    del choices
    points = rows.find_all({role: found.column[role] for role in found.shape.roles})
    weight = _weights(found, rows)
    rows.check_any()
    kept = rows.kept
    table = np.stack([column[kept] for column in points.values()], axis=1)
    return _triplets(found, rows, table, weight[kept])


def _state_odd(found: Found, rows: UsedRows, choices: Choices) -> Side:
    """Of three items one is the odd one out: the others are nearer to each other than to it."""
    del choices
    items = {
        role: found.column[role] for role in ("first", "second", "third") if role in found.column
    }
    if len(items) == 3:
        points = rows.find_all(items)
        three = np.stack(list(points.values()), axis=1)
        place = _find_odd(found, rows, three, list(items.values()))
        order = np.asarray([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[np.maximum(place, 0)]
        table = np.take_along_axis(three, order, axis=1)
    else:
        points = rows.find_all({**items, "odd": found.column["odd"]})
        table = np.stack(list(points.values()), axis=1)
    weight = _weights(found, rows)
    rows.check_any()
    table, weight = table[rows.kept], weight[rows.kept]
    both = np.concatenate([table, table[:, [1, 0, 2]]])
    return _triplets(found, rows, both, np.concatenate([weight, weight]))


def _find_odd(found: Found, rows: UsedRows, three: np.ndarray, names: list[str]) -> np.ndarray:
    """0, 1 or 2 for each row: the odd one is told by its id, by its column's name, or by its place."""
    column = found.column["odd"]
    texts = [text or "" for text in id_texts(rows.table.columns[column])]
    part_of_ids = rows.points.rows_of(texts)
    by_id = np.where(
        (three == part_of_ids[:, None]).any(axis=1),
        (three == part_of_ids[:, None]).argmax(axis=1),
        -1,
    )
    plain_names = {words.simple(name): k for k, name in enumerate(names)}
    by_name = np.asarray([plain_names.get(words.simple(text), -1) for text in texts])
    readings = [by_id, by_name]
    for first in (1, 0):
        numbers = {str(k + first): k for k in range(3)}
        readings.append(
            np.asarray([numbers.get(text.removesuffix(".0"), -1) for text in texts], dtype=np.int64)
        )
    kept = rows.is_used
    # The reading that fits most rows; of two the earlier.
    best = max(readings, key=lambda reading: int((reading[kept] >= 0).sum()))
    rows.drop(
        best < 0,
        "without a known odd one",
        lambda row: f"{shown(texts[row])} in the column {shown(column)} is none of the three",
    )
    return best


def _state_bounds(found: Found, rows: UsedRows, choices: Choices) -> Side:
    """Squared distances between a lower and an upper number; the first row of a pair counts."""
    del choices
    points = rows.find_all({role: found.column[role] for role in ("first", "second")})
    limits = {
        name: _limits(rows, found.column[name], missing)
        for name, missing in (("upper", np.inf), ("lower", 0.0))
        if name in found.column
    }
    size = rows.table.n_rows
    upper = limits.get("upper", np.full(size, np.inf))
    lower = limits.get("lower", np.zeros(size))
    rows.drop(
        lower > upper,
        "with bounds that cross",
        lambda row: f"the lower bound {lower[row]:g} exceeds the upper bound {upper[row]:g}",
    )
    rows.drop(
        (lower <= 0) & (upper == np.inf),
        "without a bound",
        lambda row: "there is no bound on either side",
    )
    weight = _weights(found, rows)
    rows.check_any()
    kept = rows.kept
    table = np.stack([column[kept] for column in points.values()], axis=1)
    distinct = distinct_rows(np.sort(table, axis=1))
    is_first = np.zeros(len(kept), dtype=bool)
    is_first[distinct.first] = True
    firsts = kept[distinct.first[distinct.kind]]
    earlier = dict(zip(kept.tolist(), firsts.tolist(), strict=True))
    rows.drop(
        kept[~is_first],
        "of a pair bounded before",
        lambda row: f"the pair has bounds already ({rows.table.place(earlier[row])})",
    )
    kept = rows.kept
    i, j = (column[kept] for column in points.values())
    return Bounds(
        i,
        j,
        upper=upper[kept],
        lower=lower[kept],
        n_points=len(rows.points),
        weight=weight[kept] if "weight" in found.column else None,
    )


def _limits(rows: UsedRows, column: str, missing: float) -> np.ndarray:
    """The numbers of a column of bounds; an empty cell is no bound."""
    cells = rows.table.columns[column]
    limits = np.full(len(cells), missing)
    bad = []
    for row, cell in enumerate(cells):
        if not words.is_filled(cell):
            continue
        number = words.number_of(cell)
        if number is not None and number >= 0:
            limits[row] = number
        else:
            bad.append(row)
    rows.drop(
        np.asarray(bad, dtype=np.int64),
        "without a bound that is a number",
        lambda row: (
            f"the column {shown(column)} has {shown(cells[row])}, but a squared distance is expected"
        ),
    )
    return limits


def _state_relevance(found: Found, rows: UsedRows, choices: Choices) -> Side:
    """Relevant documents are alike with the query, or nearer to it than those judged irrelevant."""
    points = rows.find_all({role: found.column[role] for role in ("query", "document")})
    relevance = rows.numbers(found.column["relevance"], kind="without a relevance")
    rows.check_any()
    relevant = relevance > 0
    queries, documents = points.values()
    weight = np.ones(rows.table.n_rows)
    becomes = found.relevance_as
    if becomes is None:
        verdicts, settled = _weigh(rows, choices, queries, documents, relevant, weight, True)
        counted = rows.kept[verdicts.counts]
        share = np.isin(queries[counted], _with_both(queries, settled, counted))
        becomes = "triplets" if share.sum() * 2 >= len(share) > 0 else "pairs"
    if becomes == "pairs":
        return _judged(found, rows, choices, points, relevant)
    if "weight" in found.column:
        choices.notes.append(
            f"Comparisons of documents have no weights: the column {shown(found.column['weight'])} is not used."
        )
    relevant = _settle(rows, choices, queries, documents, relevant, weight, is_ordered=True)
    rows.check_any()
    has_both = np.isin(queries, _with_both(queries, relevant, rows.kept))
    rows.drop(
        ~has_both,
        "of a query without a comparison",
        lambda row: (
            f"the query {shown(rows.points.name_of(queries[row]))} has no document judged "
            f"{'irrelevant' if relevant[row] else 'relevant'} to compare with"
        ),
    )
    rows.check_any()
    kept = rows.kept
    table, note = compare_documents(queries[kept], documents[kept], relevant[kept])
    if note:
        choices.notes.append(note)
    return Triplets(table, n_points=len(rows.points))


def _with_both(queries: np.ndarray, relevant: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The queries that have relevant and irrelevant documents."""
    return np.intersect1d(queries[kept[relevant[kept]]], queries[kept[~relevant[kept]]])


def _weights(found: Found, rows: UsedRows) -> np.ndarray:
    """The weight of each row, 1 without a column of weights."""
    if "weight" not in found.column:
        return np.ones(rows.table.n_rows)
    return rows.numbers(found.column["weight"], above=0.0, kind="without a weight")


def _triplets(found: Found, rows: UsedRows, table: np.ndarray, weight: np.ndarray) -> Triplets:
    has_weights = "weight" in found.column
    return Triplets(table, n_points=len(rows.points), weight=weight if has_weights else None)


_MAKERS: Mapping[str, Callable[[Found, UsedRows, Choices], Side]] = {
    "odd": _state_odd,
    "clicks": _state_triplets,
    "triplets": _state_triplets,
    "qrels": _state_relevance,
    "bounds": _state_bounds,
    "pairs": _state_pairs,
    "scores": _state_scores,
    "similar": _state_similar,
}
assert set(_MAKERS) == set(SHAPES)
