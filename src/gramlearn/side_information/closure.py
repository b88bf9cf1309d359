"""What links imply: alike is transitive, and unlike holds between whole components.

    i ~ j, j ~ k  =>  i ~ k                 i ~ i', i !~ j, j ~ j'  =>  i' !~ j'

A cannot-link within a component of must-links is a contradiction, named with the shortest chain
that joins its ends. Graph algorithms run in host memory, on NumPy copies of the indices.
"""

from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from gramlearn._base.arrays import Array, is_missing, namespace, to_numpy
from gramlearn.side_information.indexing import Rectangles, Runs, Triangles, sorted_distinct

Contradiction = tuple[tuple[int, int], tuple[int, ...]]

_SHOWN = 5
_LONGEST_CHAIN = 12


class ContradictionError(ValueError):
    """Dissimilar pairs that similar pairs join; `contradictions` lists all, as (pair, chain)."""

    def __init__(self, message: str, contradictions: list[Contradiction]) -> None:
        super().__init__(message)
        self.contradictions = contradictions

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.contradictions)


def refuse_pairs_on_both_sides(pairs: list[tuple[int, int]], how: str) -> NoReturn:
    """Say of which pairs, i < j, it is stated that they are similar and that they are not."""
    more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
    raise ContradictionError(
        f"the pair {pairs[0]}{more} is {how}; remove it from one side, or make "
        '`Pairs.from_judgments(i, j, alike, n_points, conflicts=...)`, which settles it by "majority", leaves '
        'it out ("drop"), or takes one side ("similar", "dissimilar").',
        [(pair, pair) for pair in pairs],
    )


def refuse_pairs_in_both(similar: Array, dissimilar: Array, n_points: int) -> None:
    """Let no pair be similar and dissimilar, by the keys of both, in any array library."""
    xp = namespace(similar)
    near, far = (xp.sort(keys) for keys in (similar, dissimilar))
    # Each once, though it may stand in a list with several bounds.
    shared = xp.unique_values(near[~is_missing(near, far)])
    if both := [divmod(int(key), n_points) for key in to_numpy(shared)]:
        refuse_pairs_on_both_sides(both, "in both `similar` and `dissimilar`")


def _graph(similar: np.ndarray, n_points: int) -> csr_array:
    """Must-links as the adjacency of a graph, both ways."""
    i, j = np.concat([similar, similar[:, ::-1]]).T
    return csr_array((np.ones(i.size), (i, j)), shape=(n_points, n_points))


def _components(similar: np.ndarray, n_points: int) -> np.ndarray:
    _, component = connected_components(_graph(similar, n_points), directed=False)
    return component.astype(np.int64)


def joined_components(similar: np.ndarray, dissimilar: np.ndarray, n_points: int) -> np.ndarray:
    """Number the components of must-links, one number for each point; contradictions raise an error."""
    contradictions = find_contradictions(similar, dissimilar, n_points)
    if contradictions:
        raise ContradictionError(_sentence(contradictions), contradictions)
    return _components(similar, n_points)


def find_contradictions(
    similar: np.ndarray, dissimilar: np.ndarray, n_points: int
) -> list[Contradiction]:
    """List the dissimilar pairs within a component of similar pairs, each with its shortest chain.

    One breadth-first search of a component for each point at which a contradiction begins.
    """
    component = _components(similar, n_points)
    wrong = dissimilar[component[dissimilar[:, 0]] == component[dissimilar[:, 1]]]
    if not wrong.size:
        return []
    # Sorted by component, every component is a block of the graph, and a search costs its own size.
    runs = Runs.of(component)
    starts, stops, place = runs.start, runs.end, np.argsort(runs.order)
    graph, ends = _graph(place[similar], n_points), place[wrong]
    by_source = np.argsort(ends[:, 0], kind="stable")
    sources = np.split(by_source, np.flatnonzero(np.diff(ends[by_source, 0])) + 1)
    chains: dict[int, tuple[int, ...]] = {}
    for rows in sources:
        source = int(ends[rows[0], 0])
        c = component[runs.order[source]]
        start, stop = int(starts[c]), int(stops[c])
        _, previous = breadth_first_order(_block(graph, start, stop), source - start)
        for row in rows:
            chain = [int(ends[row, 1])]
            while chain[-1] != source:
                chain.append(start + int(previous[chain[-1] - start]))
            chains[int(row)] = tuple(int(runs.order[p]) for p in reversed(chain))
    return [((int(a), int(b)), chains[k]) for k, (a, b) in enumerate(wrong)]


def _block(graph: csr_array, start: int, stop: int) -> csr_array:
    """The rows and columns start..stop-1 of a graph that has no other entries in these rows."""
    first, last = graph.indptr[start], graph.indptr[stop]
    parts = (
        graph.data[first:last],
        graph.indices[first:last] - start,
        graph.indptr[start : stop + 1] - first,
    )
    return csr_array(parts, shape=(stop - start, stop - start))


def transitive_closure(
    similar: np.ndarray, dissimilar: np.ndarray, n_points: int, max_pairs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Give all must-links and all cannot-links that follow, each once, as (i, j) with i < j."""
    component = joined_components(similar, dissimilar, n_points)
    runs = Runs.of(component)
    alike = Triangles(runs.start, runs.size)
    joined = np.sort(component[dissimilar], axis=1)
    first, second = np.divmod(sorted_distinct(joined[:, 0] * n_points + joined[:, 1]), n_points)
    unlike = Rectangles(runs.start[first], runs.size[first], runs.start[second], runs.size[second])
    total = alike.total + unlike.total
    if total > max_pairs:
        raise ValueError(
            f"the closure has {alike.total} similar and {unlike.total} dissimilar pairs, more than "
            f"max_pairs={max_pairs}; a component of m points alone gives m (m - 1) / 2. Work with "
            "the pairs as they are, or raise max_pairs."
        )
    i_alike, i_unlike = (runs.points(blocks.all_places()) for blocks in (alike, unlike))
    return np.sort(i_alike, axis=1), np.sort(i_unlike, axis=1)


def _sentence(contradictions: list[Contradiction]) -> str:
    named = [
        f"dissimilar {pair} contradicts the must-links {_words(chain)}"
        for pair, chain in contradictions[:_SHOWN]
    ]
    count = len(contradictions)
    more = f"; and {count - _SHOWN} more" if count > _SHOWN else ""
    return (
        f"{count} contradiction{'s' if count > 1 else ''}: {'; '.join(named)}{more}. Remove one "
        "link of each chain, or the dissimilar pair."
    )


def _words(chain: tuple[int, ...]) -> str:
    if len(chain) <= _LONGEST_CHAIN:
        return " - ".join(map(str, chain))
    ends = " - ".join(map(str, chain[:4])), " - ".join(map(str, chain[-4:]))
    return f"{ends[0]} - ... - {ends[1]} ({len(chain) - 1} links)"
