"""A metric learned from a stream of pairs of wines, one step a pair, and its regret.

First the pairs are judged, alike or not: nothing has to be chosen. Then they have targets: wines of one grower
shall be 1 apart, in squared distance, and others 4. The regret is the sum of the losses so far less that of the
best fixed metric, which sees all pairs at once.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from gramlearn.constraints import SquaredDistances
from gramlearn.losses import Square
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from gramlearn import LogDet, OnlineMetricLearner, Problem, Term, solve

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X) / 5
rng = np.random.default_rng(0)
i, j = rng.integers(len(X), size=(2, 5000))
i, j = i[i != j], j[i != j]
target = np.where(y[i] == y[j], 1.0, 4.0)

alike = y[i] == y[j]
pairs = np.stack([X[i], X[j]], axis=1)
judged = OnlineMetricLearner().partial_fit(pairs[:500], alike[:500])
for start in range(500, 2500, 500):
    new = slice(start, start + 500)
    score = judged.score(pairs[new], alike[new])
    right = np.mean(judged.predict(pairs[new]) == np.where(alike[new], 1, -1))
    print(f"after {start} judged pairs: {right:.1%} of the next 500 right, ROC area {score:.3f}")
    judged.partial_fit(pairs[new], alike[new])

learner = OnlineMetricLearner().fit(pairs, target)

# The best metric in hindsight: hardly any prior, and the same losses.
losses = Term(SquaredDistances(i, j, points=X), Square(1.0, equal=target))
best = solve(Problem(LogDet(), np.eye(X.shape[1]), [losses]))
print(best)
fixed = (np.sum(((X[i] - X[j]) @ best.factor) ** 2, axis=1) - target) ** 2 / 2
regret = np.cumsum(learner.losses_ - fixed)
seen = np.arange(1, len(regret) + 1)
first, last = learner.losses_[:500].mean(), learner.losses_[-500:].mean()
print(f"loss a pair: {first:.3f} of the first 500, {last:.3f} of the last,")
print(
    f"{fixed.mean():.3f} of the best metric in hindsight; regret a pair {regret[-1] / len(regret):.3f}"
)

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(seen, regret / seen)
ax.set(
    xscale="log",
    xlabel="pairs seen",
    ylabel="regret a pair",
    title="A metric from a stream of pairs",
)
out = Path("online_metric.png")
figure.savefig(out, dpi=120)
print(f"the regret is drawn in {out}")
