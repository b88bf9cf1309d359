"""recall at 10 and mean average precision of a search, before and after a map learned from judged statements.

Half of the points are learned from, without those of a few groups; of the others, most are the database and
some are queries, of groups that statements spoke of ("seen") and of those that none did ("unseen"). All
statements are about points learned from, so that no query and nothing found is in one. A wrong pair is on the
other side, a wrong triplet has its last two points exchanged.

    task = load_task("newsgroups-100", "pairs", 2000, wrong=0.1, draw=0)
    learner = MetricLearner(random_state=0).fit(task.X_train, side=task.side)
    task.judge(learner.transform)["MAP, unseen"] - task.judge(lambda points: points)["MAP, unseen"]

Texts are latent semantic vectors of unit length; pixels are in a unit in which their mean squared norm is 1.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np

from gramlearn import Pairs, Triplets, datasets
from gramlearn.evaluation import average_precision, recall_at_k
from gramlearn.side_information import SideInformation

Embedding = Callable[[np.ndarray], np.ndarray]


@final
class Source(NamedTuple):
    """A data set, none for the digits of scikit-learn, and the columns of its latent semantic vectors."""

    name: str | None
    columns: int | None = None


SOURCES: Mapping[str, Source] = {
    "newsgroups-100": Source("newsgroups20", 100),
    "newsgroups-384": Source("newsgroups20", 384),
    "classic3-100": Source("classic3", 100),
    "classic3-384": Source("classic3", 384),
    "usps": Source("usps"),
    "mnist": Source("mnist"),
    "digits": Source(None),
}
SETS = {name: name.replace("-", ", ") for name, source in SOURCES.items() if source.name}
SCORES = ("MAP, seen", "MAP, unseen", "recall, seen", "recall, unseen")
LARGEST = 10_000  # points
_LEARNED_FROM, _QUERIES, _UNSEEN = 0.5, 0.1, 0.3  # shares of the points, and of the groups
_NEAREST = 10
_AT_ONCE = 500  # queries


@final
@dataclass(frozen=True, eq=False)
class Task:
    """What is learned from, and the searches it is judged by: groups are numbers, the same everywhere."""

    X_train: np.ndarray
    y_train: np.ndarray
    side: SideInformation
    X_database: np.ndarray
    y_database: np.ndarray
    X_queries: np.ndarray
    y_queries: np.ndarray
    is_seen: np.ndarray
    draw: int

    def judge(self, embedding: Embedding) -> dict[str, float]:
        """The `SCORES`: means over the queries, of a search by the distances of the embedded points."""
        database, queries = embedding(self.X_database), embedding(self.X_queries)
        if not (np.isfinite(database).all() and np.isfinite(queries).all()):
            raise ValueError("the learned coordinates are not finite")
        parts = list(self._search(database, queries))
        recall, precision = map(np.concatenate, zip(*parts, strict=True))
        groups = {"seen": self.is_seen, "unseen": ~self.is_seen}
        return {
            f"{name}, {group}": float(np.mean(scores[rows]))
            for name, scores in (("MAP", precision), ("recall", recall))
            for group, rows in groups.items()
        }

    def _search(
        self, database: np.ndarray, queries: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Recall and average precision of each query, some at a time."""
        from sklearn.metrics import euclidean_distances

        for rows in np.array_split(np.arange(len(queries)), 1 + len(queries) // _AT_ONCE):
            distances = euclidean_distances(queries[rows], database, squared=True)
            relevant = self.y_queries[rows, None] == self.y_database
            yield (
                recall_at_k(distances, relevant, _NEAREST),
                average_precision(distances, relevant),
            )


def load_task(name: str, kind: str, count: int, wrong: float, draw: int) -> Task:
    """The task of a set, with so many statements of a kind, of which a share is wrong.

    The points of a draw are the same whatever is said of them; so are the statements, whatever share is wrong.
    """
    X, y = load_points(name)
    learned, database, queries, seen = _split(y, draw)
    rng = np.random.default_rng([draw, count])
    return Task(
        X_train=X[learned],
        y_train=y[learned],
        side=_JUDGE[kind](y[learned], count, wrong, rng),
        X_database=X[database],
        y_database=y[database],
        X_queries=X[queries],
        y_queries=y[queries],
        is_seen=np.isin(y[queries], seen),
        draw=draw,
    )


def _judge_pairs(y: np.ndarray, count: int, wrong: float, rng: np.random.Generator) -> Pairs:
    side = Pairs.from_labels(y, count, random_state=rng)
    i, j, alike = (np.asarray(column) for column in side.near_and_far())
    table, said = np.stack([i, j], axis=1), alike ^ _choose(side.size, wrong, rng)
    return replace(side, similar=table[said], dissimilar=table[~said])


def _judge_triplets(y: np.ndarray, count: int, wrong: float, rng: np.random.Generator) -> Triplets:
    side = Triplets.from_labels(y, count, random_state=rng)
    table, is_wrong = np.array(side.triplets), _choose(side.size, wrong, rng)
    table[is_wrong] = table[is_wrong][:, [0, 2, 1]]
    return replace(side, triplets=table)


def _choose(size: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """A mask of a share of the statements; those of a smaller share are among those of a larger one."""
    chosen = np.zeros(size, dtype=bool)
    chosen[rng.permutation(size)[: round(share * size)]] = True
    return chosen


_JUDGE: Mapping[str, Callable[..., SideInformation]] = {
    "pairs": _judge_pairs,
    "triplets": _judge_triplets,
}
KINDS = tuple(_JUDGE)


def _split(y: np.ndarray, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(rows learned from, rows of the database, rows of the queries, seen groups)."""
    rng = np.random.default_rng(draw)
    groups = rng.permutation(np.unique(y))
    seen = groups[max(1, round(_UNSEEN * len(groups))) :]
    rows = rng.permutation(len(y))
    n_learned, n_queries = round(_LEARNED_FROM * len(y)), round(_QUERIES * len(y))
    learned, database, queries = np.split(rows, [n_learned, len(y) - n_queries])
    return learned[np.isin(y[learned], seen)], database, queries, seen


# -- points ----------------------------------------------------------------------------------------


@cache
def load_points(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points and their groups, numbered from 0; the same rows each time."""
    source, columns = SOURCES[name]
    return _pixels(source) if columns is None else _semantic_vectors(source, columns)


def _pixels(source: str | None) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    if source is None:
        X, y = load_digits(return_X_y=True)
    else:
        given = datasets.load(source)
        X, y = given.X, given.y
    rows = _some_rows(len(y))
    points = np.asarray(X[rows], dtype=float)
    return points / np.sqrt(np.mean(np.sum(points**2, axis=1))), _numbered(y[rows])


def _semantic_vectors(source: Any, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Of unit length, without what has no known word; groups are not used."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    given = datasets.load(source)
    counts = given.X
    if given.texts is not None:
        words = CountVectorizer(min_df=5, max_df=0.5, stop_words="english")
        counts = words.fit_transform(map(_body, given.texts))
    rows = _some_rows(len(given.y))
    rows = rows[np.asarray(counts[rows].sum(axis=1)).ravel() > 0]
    weighed = TfidfTransformer(sublinear_tf=True).fit_transform(counts[rows])
    vectors = TruncatedSVD(columns, random_state=0).fit_transform(weighed)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), _numbered(given.y[rows])


def _body(text: str) -> str:
    """Only what the author wrote: the header and the quoted lines would give the group away."""
    lines = text.partition("\n\n")[2].splitlines()
    return "\n".join(line for line in lines if not line.startswith((">", "|")))


def _some_rows(n: int) -> Any:
    return np.random.default_rng(0).permutation(n)[:LARGEST]


def _numbered(y: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(y, return_inverse=True)[1])
