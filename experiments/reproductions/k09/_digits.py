"""K09 7.1: the digits 3, 8 and 9, and four ways to learn a kernel of them: two divergences, hard or slack."""

import numpy as np

from experiments.experiment import Part
from experiments.reproductions.shared.pairs import constraints, draw_pairs
from gramlearn import (
    Factor,
    Hard,
    KLSlack,
    LogDet,
    LogDetSlack,
    Problem,
    VonNeumann,
    datasets,
)

__all__ = ["DATA", "GAMMA", "METHODS", "WORDS", "problems"]

DATA = ("pendigits_389_317",)
GAMMA = 1000.0  # so large that slack is hardly used where the constraints can be met without
METHODS = {
    "logdet": (LogDet(), Hard()),
    "von_neumann": (VonNeumann(), Hard()),
    "logdet_slack": (LogDet(), LogDetSlack(gamma=GAMMA)),
    "von_neumann_slack": (VonNeumann(), KLSlack(gamma=GAMMA)),
}
WORDS = {
    "logdet": "LogDet",
    "von_neumann": "von Neumann",
    "logdet_slack": "LogDet, slack",
    "von_neumann_slack": "von Neumann, slack",
}


def problems(part: Part) -> tuple[dict[str, Problem], np.ndarray]:
    """One draw of pairs as a problem of each method, and the classes."""
    digits = datasets.load(*DATA)
    i, j = draw_pairs(len(digits.y), part.parameters["constraints"], part.generator())
    return {
        method: Problem(regularizer, Factor(digits.X), constraints(digits.X, digits.y, i, j, loss))
        for method, (regularizer, loss) in METHODS.items()
    }, digits.y
