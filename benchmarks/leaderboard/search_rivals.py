"""L of a map x -> L x learned from statements, by other packages: ITML of metric-learn, an adapter of PyTorch.

The adapter is what people put behind a frozen encoder: a linear map that begins as the identity, a margin
loss, Adam. It costs d^2 for a pair that is alike, max(0, m - d)^2 for one that is not, and for a triplet
max(0, m + d(i, j)^2 - d(i, k)^2), where 1 is the mean squared distance before. Its rate, margin m and number of
steps are chosen by a quarter of the statements, held back, and it is learned anew from all of them.

Each runs in an environment of its own, for which this file needs NumPy alone beside the package. A table of
statements has the columns (i, j) or (i, j, k); `alike` says of each pair what it is.
"""

import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from experiments.isolated import limit_seconds

from benchmarks.leaderboard.fits import answer_of

_HELD = 0.25
# A rate of 1e-2, where a few wrong statements chose it, made searches much worse.
_RATES, _MARGINS, _STEPS = (1e-4, 1e-3), (0.5, 1.0), (30, 100, 300, 1000)
_BATCH = 128


def learn_itml(
    limit: float, X: np.ndarray, table: np.ndarray, alike: np.ndarray, seed: int
) -> dict[str, Any]:
    """At its defaults, from pairs."""
    from metric_learn import ITML

    learner = ITML(preprocessor=X, random_state=seed)
    began = time.process_time()
    with limit_seconds(limit):
        learner.fit(table, np.where(alike, 1, -1))
    return answer_of(np.asarray(learner.components_), began)


def learn_adapter(
    limit: float, X: np.ndarray, table: np.ndarray, alike: np.ndarray, seed: int
) -> dict[str, Any]:
    """Rate, margin and number of steps by held-back statements; the limit is on all of it."""
    began = time.process_time()
    shuffled = np.random.default_rng(seed).permutation(len(table))
    n_held = round(_HELD * len(table))
    held, rest = shuffled[:n_held], shuffled[n_held:]
    with limit_seconds(limit):
        scores = {
            (rate, margin, steps): _score(L, X, table[held], alike[held])
            for rate, margin in product(_RATES, _MARGINS)
            for steps, L in _train(X, table[rest], alike[rest], rate, margin, _STEPS, seed)
        }
        rate, margin, steps = max(scores, key=lambda choice: scores[choice])
        ((_, L),) = _train(X, table, alike, rate, margin, (steps,), seed)
    choice = f"rate {rate:g}, margin {margin:g}, {steps} steps"
    return {**answer_of(L, began), "choice": choice}


def _train(
    X: np.ndarray,
    table: np.ndarray,
    alike: np.ndarray,
    rate: float,
    margin: float,
    steps: tuple[int, ...],
    seed: int,
) -> Iterator[tuple[int, np.ndarray]]:
    """(how many steps, L) after each of these numbers of steps."""
    import torch

    points = torch.tensor(X / _unit(X), dtype=torch.float32)
    rows, near = torch.tensor(table), torch.tensor(alike)
    draw = torch.Generator().manual_seed(seed)
    L = torch.eye(X.shape[1], requires_grad=True)
    adam = torch.optim.Adam([L], lr=rate)
    for step in range(1, max(steps) + 1):
        batch = torch.randint(len(rows), (_BATCH,), generator=draw)
        i, others = (
            points[rows[batch, 0]],
            [points[rows[batch, c]] for c in range(1, rows.shape[1])],
        )
        d = [torch.sum(((i - j) @ L.T) ** 2, dim=1) for j in others]
        if len(d) == 1:
            apart = torch.relu(margin - torch.sqrt(d[0] + 1e-12)) ** 2
            loss = torch.where(near[batch], d[0], apart).mean()
        else:
            loss = torch.relu(margin + d[0] - d[1]).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step in steps:
            yield step, L.detach().numpy().astype(float)


def _score(L: np.ndarray, X: np.ndarray, table: np.ndarray, alike: np.ndarray) -> float:
    """The share of triplets kept, or how often an alike pair is nearer than another: the area under the ROC."""
    mapped = X @ L.T
    d = [np.sum((mapped[table[:, 0]] - mapped[column]) ** 2, axis=1) for column in table.T[1:]]
    if len(d) == 2:
        return float(np.mean(d[0] < d[1]))
    return 1 - float(np.mean(np.searchsorted(np.sort(d[0][~alike]), d[0][alike]))) / np.sum(~alike)


def _unit(X: np.ndarray) -> float:
    """The root of the mean squared distance."""
    return float(np.sqrt(2 * np.sum(X.var(axis=0))))
