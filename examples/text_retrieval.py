"""You have vectors of texts and a few thousand judged pairs: does a learned map find better, and on new topics?

Messages of 20 newsgroups, as TF-IDF reduced to 384 dimensions. 4,000 pairs of older messages from 12 groups
are judged, alike where they are from one group. Settings are chosen by searches in 4 other groups, and the map
is judged in the last 4, of which no pair spoke. All searches are among later messages, none of them in a pair.

    GRAMLEARN_DATA=FOLDER python examples/text_retrieval.py [--quick] [--seed N] [--rank R]

Without the folder, scikit-learn fetches the messages. Another seed is another choice of the groups.
"""

import argparse
import sys
from itertools import product

import numpy as np
from sklearn.datasets import fetch_20newsgroups
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import euclidean_distances, roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from gramlearn import MetricLearner, Pairs, datasets
from gramlearn.evaluation import average_precision, recall_at_k

GAMMAS = (1.0, 10.0)
BOUNDS = (None, (1.0, 2.0))  # None: the 5th and 95th percentile of squared distances
SEARCHES = {
    "Euclidean": np.asarray,
    "cosine": normalize,
}  # cosine: of length one again, after the map


def messages() -> list[tuple[list[str], np.ndarray]]:
    """(texts, groups) of the older messages and of the later ones."""
    try:
        found = datasets.load("newsgroups20")
        return [(list(found.texts), found.y), (list(found.texts_test), found.y_test)]
    except datasets.DatasetNotFoundError as missing:
        try:
            parts = [fetch_20newsgroups(subset=subset) for subset in ("train", "test")]
        except OSError:
            sys.exit(str(missing))
        return [(part.data, np.array(part.target_names)[part.target]) for part in parts]


def body(text: str) -> str:
    """Only what the author wrote: the header and the quoted lines would give the group away."""
    lines = text.partition("\n\n")[2].splitlines()
    return "\n".join(line for line in lines if not line.startswith((">", "|")))


def vectors(older: list[str], later: list[str], d: int) -> tuple[np.ndarray, np.ndarray]:
    """d numbers of length one for each message, zeros for one without a known word; no group is used."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=5, max_df=0.5, stop_words="english")
    model = make_pipeline(words, TruncatedSVD(d, random_state=0))
    return normalize(model.fit_transform(older)), normalize(model.transform(later))


def search(points: np.ndarray, labels: np.ndarray, queries: np.ndarray) -> dict[str, np.ndarray]:
    """The scores of each query, a row of the points, among all the others."""
    parts = []
    for rows in np.array_split(queries, 1 + len(queries) // 500):
        distances = euclidean_distances(points[rows], points)
        distances[np.arange(len(rows)), rows] = np.inf  # the query itself
        relevant = labels[rows, None] == labels
        parts.append((recall_at_k(distances, relevant, 10), average_precision(distances, relevant)))
    recall, precision = map(np.concatenate, zip(*parts, strict=True))
    return {"recall at 10": recall, "mean average precision": precision}


def auc_of_pairs(points: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> float:
    """How often an alike pair is nearer than an unlike one: the area under the ROC curve of 4,000 pairs."""
    pairs = Pairs.from_labels(labels[rows], 4000, random_state=0)
    i, j, alike = pairs.near_and_far()
    return float(roc_auc_score(alike, -np.linalg.norm(points[rows[i]] - points[rows[j]], axis=1)))


def verdict(before: np.ndarray, after: np.ndarray) -> str:
    """What the map is worth, beside its standard error over the queries."""
    gain = after - before
    mean, error = gain.mean(), gain.std(ddof=1) / np.sqrt(len(gain))
    words = "the map helps" if mean > 0 else "the map HURTS, leave the vectors as they are"
    if abs(mean) <= 2 * error:
        words = "the map does NOT help: no difference beyond two standard errors"
    return f"{before.mean():.3f} -> {after.mean():.3f}  ({mean:+.3f}, s.e. {error:.3f}): {words}"


def main(quick: bool, seed: int, rank: int) -> None:
    """Learn, choose, judge, and write the map."""
    (older, y_old), (later, y) = messages()
    if quick:
        older, y_old, later, y = older[::5], y_old[::5], later[::5], y[::5]
    d, rank, n_pairs = (40, 20, 1000) if quick else (384, rank, 4000)
    X_old, X = vectors([body(text) for text in older], [body(text) for text in later], d)
    X_old, y_old = X_old[X_old.any(axis=1)], y_old[X_old.any(axis=1)]
    X, y = X[X.any(axis=1)], y[X.any(axis=1)]

    groups = np.random.default_rng(seed).permutation(np.unique(y))
    seen, chosen_by, new = (np.flatnonzero(np.isin(y, part)) for part in np.split(groups, [12, 16]))
    judged = np.isin(y_old, groups[:12])
    side = Pairs.from_labels(y_old[judged], n_pairs, random_state=seed)
    print(f"{len(X)} later messages in {d} dimensions; {side} of {judged.sum()} older ones")
    plain = search(X, y, chosen_by)["mean average precision"].mean()
    print(f"mean average precision in the groups to choose by:\n  {plain:.3f}  before")

    best = -np.inf
    for gamma, bounds in product(GAMMAS, BOUNDS):
        # Three digits of the optimum are more than a search can tell apart.
        candidate = MetricLearner(C=gamma, bounds=bounds, rank=rank, tol=1e-3, random_state=0)
        candidate.fit(X_old[judged], side=side)
        for name, scaled in SEARCHES.items():
            points = scaled(candidate.transform(X))
            score = search(points, y, chosen_by)["mean average precision"].mean()
            words = f"gamma={gamma:g}, bounds={bounds}, {name} search"
            print(f"  {score:.3f}  {words}")
            if score > best:
                best, learner, mapped, chosen, scale = score, candidate, points, words, scaled
    print(f"chosen: {chosen}; {learner.solution_}")
    if best <= plain:
        print("no setting is better than the plain vectors there: expect no help")

    for name, rows in (("groups of the judged pairs", seen), ("new groups", new)):
        print(f"\n{name}, {len(rows)} queries")
        before, after = search(X, y, rows), search(mapped, y, rows)
        for score in before:
            print(f"  {score:26}{verdict(before[score], after[score])}")
        pairs = auc_of_pairs(X, y, rows), auc_of_pairs(mapped, y, rows)
        print("  {:26}{:.3f} -> {:.3f}".format("order of new pairs (AUC)", *pairs))
    gain = after["mean average precision"] - before["mean average precision"]
    print("\nmean average precision, one by one:")
    for group in groups[16:]:
        print(f"  {group:26}{gain[y[new] == group].mean():+.3f}")

    # The map is one matrix, and the index is an index as before.
    np.save("text_map.npy", learner.components_.T)
    text_map = np.load("text_map.npy")
    stored = scale(X @ text_map)
    _, neighbors = NearestNeighbors(n_neighbors=5).fit(stored).kneighbors(stored[new[:1]])
    print(f"\nwrote text_map.npy, {d} x {d}: store vectors @ text_map in the index, search with")
    print(f"query @ text_map; the first query, of {y[new[0]]}, finds itself and messages of")
    print("  " + ", ".join(y[neighbors[0, 1:]]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the messages, in seconds")
    parser.add_argument("--seed", type=int, default=0, help="which groups are seen and which new")
    parser.add_argument("--rank", type=int, default=100, help="of the map; 384 is all of it")
    main(**vars(parser.parse_args()))
