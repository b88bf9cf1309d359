"""Minimum volume and structure preserving embeddings: digits on a map, and a graph as points in the plane."""

import numpy as np
from sklearn.datasets import load_digits

from gramlearn import MinimumVolumeEmbedding, StructurePreservingEmbedding
from gramlearn.plots import plot_map

X, y = load_digits(n_class=3, return_X_y=True)
X, y = X[::6], y[::6]
mve = MinimumVolumeEmbedding(n_neighbors=4).fit(X)
found = mve.solution_
print(f"MVE of {len(X)} digits: {found}")
first, last = found.rounds[0], found.rounds[-1]
print(f"share of the trace in two dimensions: {first.share:.0%}, after all rounds {last.share:.0%}")

# A grid of 5 x 6, known by its edges alone.
steps = [np.eye(n, k=1) + np.eye(n, k=-1) for n in (5, 6)]
W = np.kron(steps[0], np.eye(6)) + np.kron(np.eye(5), steps[1])
spe = StructurePreservingEmbedding(graph="precomputed", p=1.2).fit(W)
print(f"SPE of a grid: {spe.solution_}")
d = np.sum((spe.factor_[:, None] - spe.factor_[None]) ** 2, axis=2) + 1e9 * np.eye(30)
farthest = np.where(W > 0, d, 0).max(axis=1)
nearest = np.where(W > 0, np.inf, d).min(axis=1)
print(
    f"points whose neighbors are all nearer than any other: {np.mean(farthest <= nearest + 1e-6):.0%}"
)

try:
    from matplotlib.figure import Figure
except ImportError:
    print("with Matplotlib there would be a picture")
else:
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_map(mve.embedding_, y, ax=left).set_title("digits 0, 1 and 2, minimum volume")
    plot_map(spe.embedding_, graph=W, ax=right).set_title("a grid, structure preserved")
    figure.savefig("embeddings.png", dpi=120)
    print("saved embeddings.png")
