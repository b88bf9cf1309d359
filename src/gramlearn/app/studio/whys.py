"""Answers that cannot all be right, and why.

Of pairs: unlike ones that a chain of alike ones joins. Of comparisons: d(i, j) < d(i, k) is an edge from the
pair i, j to the pair i, k, and those on a circle of such edges contradict each other.
"""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramlearn.app.studio.asked import UNSURE, Key, said
from gramlearn.app.studio.store import Answer
from gramlearn.side_information.closure import find_contradictions

Reasons = list[tuple[Answer, str | None]]


def find_contradictory(kind: str, answers: Iterable[Answer], n_points: int) -> Reasons:
    """The answers of which not all can be right, those that belong together side by side."""
    sure = [answer for answer in answers if answer.answer != UNSURE]
    return _of_pairs(sure, n_points) if kind == "pair" else _of_comparisons(sure)


def comparisons_of(answer: Answer) -> list[tuple[int, int, int]]:
    """(i, j, k): i is nearer to j than to k."""
    chosen = said(answer)
    if answer.kind == "triplet":
        first, *others = answer.items
        return [(first, chosen, next(k for k in others if k != chosen))]
    i, j = (k for k in answer.items if k != chosen)
    return [(i, j, chosen), (j, i, chosen)]


def _of_pairs(answers: list[Answer], n_points: int) -> Reasons:
    both: dict[str, dict[Key, list[Answer]]] = {"alike": {}, "unlike": {}}
    for answer in answers:
        i, j = sorted(answer.items)
        both[answer.answer].setdefault((i, j), []).append(answer)
    alike, unlike = (np.array(list(of), dtype=np.int64).reshape(-1, 2) for of in both.values())
    found: Reasons = []
    for (a, b), chain in find_contradictions(alike, unlike, n_points):
        links = [tuple(sorted(link)) for link in pairwise(chain)]
        far = both["unlike"][tuple(sorted((a, b)))]
        words = f"{len(links)} answers" if len(links) > 1 else "an answer"
        found += [
            (answer, f"Unlike, but {words} in a chain say that they are alike.") for answer in far
        ]
        for link in links:
            why = "Alike, and one of a chain that joins two unlike ones."
            found += [(answer, why) for answer in both["alike"][link]]
    return list({answer.seq: (answer, why) for answer, why in reversed(found)}.values())[::-1]


def _of_comparisons(answers: list[Answer]) -> Reasons:
    node: dict[tuple[int, int], int] = {}
    edges = []
    for answer in answers:
        for i, j, k in comparisons_of(answer):
            near, far = (node.setdefault((min(i, m), max(i, m)), len(node)) for m in (j, k))
            edges.append((near, far, answer))
    if not edges:
        return []
    near, far = np.array([edge[:2] for edge in edges]).T
    graph = csr_array((np.ones(len(edges)), (near, far)), shape=(len(node), len(node)))
    _, part = connected_components(graph, directed=True, connection="strong")
    on_a_circle = part[near] == part[far]
    chosen = {
        edges[k][2].seq: (int(part[near[k]]), edges[k][2]) for k in np.flatnonzero(on_a_circle)
    }
    why = "With others it says that a distance is less than itself."
    return [
        (answer, why) for _, answer in sorted(chosen.values(), key=lambda of: (of[0], of[1].seq))
    ]
