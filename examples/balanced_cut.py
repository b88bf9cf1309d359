"""A graph in two halves: the nearest correlation matrix to eps pinv(L), eps falling, rounded to a cut.

L is the Laplacian. The relaxation bounds every cut into halves from below, so the answer comes with a number
that says how much better another one could be.
"""

import numpy as np

from gramlearn import balanced_cut

rng = np.random.default_rng(0)
side = np.arange(40) % 2
upper = np.triu(rng.random((40, 40)) < np.where(side[:, None] == side, 0.4, 0.08), 1)
graph = (upper + upper.T).astype(float)

cut = balanced_cut(graph, random_state=0)

print(cut.solution)
for eps, value in cut.path:
    print(f"eps {eps:9.2e}   tr L X / 4 = {value:7.3f}")
print(f"edges between the halves {cut.weight:.0f}, and no cut has fewer than {cut.bound:.2f}")
print(f"vertices on the side they were drawn on: {np.mean(cut.labels == side):.0%}")
