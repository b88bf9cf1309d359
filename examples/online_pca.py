"""PCA of a stream that turns: after half of the rows the variance moves to other directions.

Online PCA bounds its loss against the best fixed directions, whatever the stream does, and follows it.
"""

import numpy as np
from sklearn.decomposition import PCA

from gramlearn import OnlinePCA

rng = np.random.default_rng(0)
scales = np.r_[3.0, 2.0, np.full(18, 0.3)]
X = np.concatenate(
    [rng.standard_normal((500, 20)) * scales, rng.standard_normal((500, 20)) * scales[::-1]]
)
X /= np.linalg.norm(X, axis=1).max()

model = OnlinePCA(n_components=2, eta=1.0)
for first in range(0, 1000, 250):
    before = getattr(model, "loss_", 0.0)
    model.partial_fit(X[first : first + 250])
    total = np.sum(X[first : first + 250] ** 2)
    print(
        f"rows {first:4d} to {first + 249}: {(model.loss_ - before) / total:.0%} of the variance lost"
    )

batch = PCA(2).fit(X)
lost = np.sum((X - batch.inverse_transform(batch.transform(X))) ** 2)
d = 18
bound = (model.eta * lost + d * np.log(20 / d)) / (1 - np.exp(-model.eta))
print(
    f"loss {model.loss_:.1f}; the best fixed directions, known afterwards: {lost:.1f}; bound {bound:.1f}"
)
