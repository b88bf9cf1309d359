"""Twelve sets of points with classes, on which all methods are compared, and the parts of such a comparison.

Draws are numbered from ten: those before were looked at while the values that methods choose from were set.
"""

import numpy as np

from experiments.experiment import Part
from gramlearn import datasets

SETS = {
    "iris": "iris",
    "wine": "wine",
    "ionosphere": "ionosphere",
    "balance_scale": "balance scale",
    "soybean_small": "soybean",
    "breast_cancer_wdbc": "breast cancer",
    "protein": "protein",
    "pima_diabetes": "pima",
    "boston_housing": "boston",
    "glass": "glass",
    "heart_statlog": "heart",
    "sonar": "sonar",
}
DRAWS = range(10, 15)
HOUSE = 25.0  # thousands of dollars: what tells the two classes of Boston's houses apart


def make_parts(quick: bool) -> list[Part]:
    """One for each set, of all draws; quick: the first draw of the first, without methods of others."""
    names, numbers = (["iris"], [0]) if quick else (list(SETS), list(DRAWS))
    return [
        Part.of_draws(
            name,
            (Part(f"{name}-r{k}", {"set": name, "draw": k, "rivals": not quick}) for k in numbers),
        )
        for name in names
    ]


def load_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features as they come, and classes numbered from 0."""
    given = datasets.load(name)
    y = given.y > HOUSE if name == "boston_housing" else given.y
    return np.asarray(given.X, dtype=float), np.unique(y, return_inverse=True)[1]
