"""A judge who looks at one feature of four, the smallest, and what he answers."""

import numpy as np

from gramlearn.app.studio.asked import WIDTH, key_of
from gramlearn.app.studio.beside.told import Told
from gramlearn.app.studio.store import Answer

KINDS = tuple(WIDTH)
X = np.random.default_rng(0).normal(size=(60, 4)) * [0.5, 2, 2, 2]


def say(kind, items):
    a, b, *c = X[list(items), 0]
    if kind == "pair":
        return "alike" if abs(a - b) < 0.4 else "unlike"
    apart = [abs(a - b), abs(a - c[0]), abs(b - c[0])]
    if kind == "triplet":
        return "second" if apart[0] < apart[1] else "third"
    return ("third", "second", "first")[int(np.argmin(apart))]


def answers(kind, n, seed=0, answer=say, is_random=lambda k: k % 7 == 0, first=1, points=60):
    """Of n different questions at random, numbered from `first` on; those that `is_random` says judge."""
    rng = np.random.default_rng(seed)
    found = {}
    while len(found) < n:
        items, k = (
            tuple(rng.choice(points, WIDTH[kind], replace=False).tolist()),
            first + len(found),
        )
        key = key_of(kind, items)
        if key not in found:
            said = answer(kind, items)
            found[key] = Answer(k, 0.0, "me", str(k), kind, items, said, is_random(k))
    return [*found.values()]


def told(kind, n, **more):
    return Told.of(kind, answers(kind, n, **more), X)
