"""Wines in raw units, and pairs that a taster is sure of: k-means that keeps every pair.

k-means alone sees little besides the feature with the largest numbers. Pairs known to belong together, or
not to, are kept at all times; so is what they imply, and what cannot be kept is named.
"""

from sklearn.datasets import load_wine

from gramlearn import ConstrainedKMeans, Pairs
from gramlearn.evaluation import pair_accuracy

X, y = load_wine(return_X_y=True)
for n_pairs in (0, 40, 150, 300):
    side = Pairs.from_labels(y, n_pairs, random_state=0) if n_pairs else None
    model = ConstrainedKMeans(3, random_state=0).fit(X, side=side)
    agree = pair_accuracy(y, model.labels_)
    print(f"{n_pairs:3} pairs: {agree:.3f} of all pairs of wines are treated as their growers do")

four = [(0, 60), (0, 140), (0, 100), (60, 140), (60, 100), (140, 100)]
try:
    ConstrainedKMeans(3).fit(X, side=Pairs([], four, n_points=len(X)))
except ValueError as error:
    print(error)
