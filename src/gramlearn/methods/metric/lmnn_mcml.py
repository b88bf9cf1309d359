"""minimize <C0, W> + sum loss(<C_k, W>) - g log det W: metrics by semidefinite programs (J12 5.3).

    large margin (LMNN)         pull target neighbors; d(i, l) >= d(i, j) + 1 for every impostor l, at a price
    collapsing classes (MCML)   pull all pairs of one class; d(i, j) >= 1 for pairs of two

A semidefinite program may have many solutions; -g log det W chooses the one of largest determinant as g, the
`logdet_price`, falls to 0, and makes it a problem for `solve`. Here it is g D(W, I), so that g tr W comes with
it. The whole is divided by g, which changes no solution.
"""

from typing import Any

import numpy as np

from gramlearn._base.validation import (
    check_count,
    check_host_points,
    check_positive,
    check_share,
    generator,
)
from gramlearn.problem.constraints import DistanceComparisons, SquaredDistances
from gramlearn.problem.losses import Hinge, Linear
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import LogDet
from gramlearn.side_information import Pairs
from gramlearn.side_information.neighbors import Neighborhoods
from gramlearn.side_information.sampling import check_as_many, read_labels


def large_margin_problem(
    points: Any,
    y: Any,
    n_neighbors: int = 3,
    n_impostors: int = 30,
    pull: float = 0.5,
    logdet_price: float = 0.1,
) -> Problem:
    """Give the problem of Weinberger, Blitzer and Saul (2005): (1 - mu) d of targets + mu hinges of impostors.

    Parameters
    ----------
    points : array n x d
    y : vector of n labels
        As in `Pairs.from_labels`; unlabeled points are neither targets nor impostors.
    n_neighbors : int
        The nearest points of its class, in the plain distance, that each point is pulled to.
    n_impostors : int
        The nearest points of other classes, in the plain distance, that are watched for each point.
    pull : float, between 0 and 1
        1 - mu, the weight of the pull; the hinges have mu.
    logdet_price : float
        g of -g log det W, relative to the mean loss of a point.

    Returns
    -------
    Problem
        For `solve`; `points @ solution.factor` are the points under the metric. Its terms are the pull and the
        hinges. Distances are those of points scaled to a mean squared distance of 1 between targets.
    """
    X = check_host_points(points, "points")
    check_share(pull, "pull")
    price = check_positive(logdet_price, "logdet_price", "large_margin_problem")
    counts = check_count(n_neighbors, "n_neighbors"), check_count(n_impostors, "n_impostors")
    found = Neighborhoods.of(X, y, *counts, name="points")
    pairs, comparisons = found.pairs_of_one_class, found.triplets
    weight = 1 / (price * read_labels(y)[1].size)
    scale = found.mean_distance(pairs)
    if scale == 0:
        raise ValueError("all target neighbors are equal points; there is nothing to pull.")
    X = X / np.sqrt(scale)
    hinge = Hinge((1 - pull) * weight, upper=-1.0)
    pulls = Term(SquaredDistances(*pairs.T, points=X), Linear(pull * weight))
    pushes = Term(DistanceComparisons(*comparisons.T, points=X), hinge)
    return Problem(LogDet(), np.eye(X.shape[1]), [pulls, pushes])


def collapsing_classes_problem(
    points: Any,
    y: Any,
    n_pairs: int | None = None,
    C: float = 1.0,
    logdet_price: float = 0.1,
    random_state: Any = None,
) -> Problem:
    """Give the problem of Globerson and Roweis (2005) as a linear program in W: classes to points, apart by 1.

    Their objective asks that all points of a class collapse to one, infinitely far from all others, and
    measures by relative entropy how near that is. Linear in W, as J12 has it, the pull of pairs of one class
    is the sum of their squared distances, and pairs of two classes are pushed at least 1 apart.

    Parameters
    ----------
    points : array n x d
    y : vector of n labels
    n_pairs : int, optional
        How many pairs, half of each kind; 40 c^2 for c classes where it is not given.
    C : float
        The price of a pair of two classes that is not 1 apart, relative to the pull of one pair.
    logdet_price : float
        g of -g log det W, relative to the mean loss of a pair.
    random_state : int, Generator or None
        Seeds the draw of pairs.
    """
    X = check_host_points(points, "points")
    check_as_many(read_labels(y)[0].size, len(X), "points")
    weight = 1 / check_positive(logdet_price, "logdet_price", "collapsing_classes_problem")
    price = check_positive(C, "C", "collapsing_classes_problem")
    pairs = Pairs.from_labels(y, n_pairs, random_state=generator(random_state))
    near, far = np.asarray(pairs.similar), np.asarray(pairs.dissimilar)
    hinge = Hinge(price * weight / len(far), lower=1.0)
    pulls = Term(SquaredDistances(*near.T, points=X), Linear(weight / len(near)))
    pushes = Term(SquaredDistances(*far.T, points=X), hinge)
    return Problem(LogDet(), np.eye(X.shape[1]), [pulls, pushes])
