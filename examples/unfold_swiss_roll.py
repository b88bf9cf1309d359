"""Maximum variance unfolding: a swiss roll laid flat, and points it has not seen.

Neighbors may come nearer to each other but no farther apart; under this the points are pulled as far apart as
can be. The bound says how far that is: no kernel that keeps to it has a larger trace.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from gramlearn import MaximumVarianceUnfolding

points, along = make_swiss_roll(400, random_state=5)
seen, new = slice(0, 250), slice(250, 400)
model = MaximumVarianceUnfolding(n_neighbors=5, distances="at_most").fit(points[seen])
answer, share = model.solution_, model.eigenvalues_ / model.eigenvalues_.sum()
print(answer)
print(f"{share[:2].sum():.1%} of the variance is in two dimensions, {share[0]:.1%} in the first")
placed = model.transform(points[new])
fit = abs(np.corrcoef(placed[:, 0], along[new])[0, 1])
print(f"of new points, the first dimension and the place along the roll correlate by {fit:.3f}")

figure = plt.figure(figsize=(9, 3.6), layout="constrained")
left = figure.add_subplot(1, 2, 1, projection="3d")
left.scatter(*points[seen].T, c=along[seen], s=9)
left.set_title("the roll")
right = figure.add_subplot(1, 2, 2)
right.scatter(*model.embedding_.T, c=along[seen], s=9)
right.scatter(*placed.T, c=along[new], s=14, marker="x", linewidths=0.8)
right.set_aspect("equal", adjustable="datalim")
right.set_title("unfolded; new points as crosses")
figure.savefig("unfold_swiss_roll.png", dpi=150)
print("see unfold_swiss_roll.png")
