"""Two moons, ten judged pairs: clusters, a map, neighbors by meaning, and the pairs to ask about next.

Neither distances nor the pairs alone find the moons. A kernel that the pairs pull and a graph of neighbors
carries on does.
"""

from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import rand_score

from gramlearn import NonparametricKernel, Pairs
from gramlearn.plots import plot_map

X, y = make_moons(200, noise=0.06, random_state=0)
side = Pairs.from_labels(y, 10, random_state=0)
model = NonparametricKernel("squared_hinge", capacity=200.0, n_clusters=2, random_state=0)
clusters = model.fit_predict(X, side=side)
print(model.solution_)

plain = KMeans(2, n_init=10, random_state=0).fit_predict(X)
print(
    f"pairs of points that clusters treat as the classes do: {rand_score(y, plain):.3f} by distances,"
)
print(f"{rand_score(y, clusters):.3f} with {side.size} pairs and neighbors")

rows, similarity = model.similar_to(0, 5)
print(
    f"most similar to point 0 (class {y[0]}): points {rows.tolist()}, of classes {y[rows].tolist()}"
)
print(f"to be asked next: {model.ask(3).tolist()}")

new, truth = make_moons(100, noise=0.06, random_state=1)
nearest = (model.transform(new) @ model.embedding_.T).argmax(axis=1)
print(f"new points next to one of their own class: {(y[nearest] == truth).mean():.3f}")

axes = plot_map(X, clusters, pairs=side, graph=model.graph_, names=["one cluster", "the other"])
axes.figure.savefig("pairs_and_neighbors.png", dpi=120)
print("pairs_and_neighbors.png")
