"""What is tried: priors alone, and what is learned from each of them by statements of some kinds, at strengths.

neighbors    labeled points that are near, compared
others       pairs, and what comparisons call alike, compared with points drawn at random
given        statements as they are
drawn        pairs as they are, beside pairs drawn at random as unlike
"""

from collections.abc import Sequence
from dataclasses import replace

from gramlearn.methods.choosing.candidates import PRIORS, Family
from gramlearn.side_information import Pairs, SideInformation, Triplets

_PRIOR_SHARE = 0.25  # of distances, for groups that no statement is about
_STRENGTHS = {
    "neighbors": (3.0, 30.0),
    "others": (0.2, 1.0, 5.0),
    "given": (1.0, 10.0, 100.0),
    "drawn": (1.0, 10.0, 100.0),
}


def families_of_labels(
    n_classes: int, n_directions: int, priors: Sequence[str] = PRIORS
) -> list[Family]:
    """Priors alone, few columns of what tells classes apart, and near points compared.

    There are c - 1 discriminant directions of c classes; twice as many leave room for classes of several parts.
    """
    found = _alone(priors)
    if Family("inverse_within") in found:
        counts = (n_classes - 1, 2 * (n_classes - 1))
        few = [count for count in counts if count < n_directions]
        found += [Family("inverse_within", n_components=count) for count in few]
    return found + [_learning(prior, "neighbors") for prior in priors]


def families_as_given(priors: Sequence[str] = PRIORS) -> list[Family]:
    """Plain, and the statements as they are, from the first of the priors."""
    return [Family("identity"), _learning(priors[0], "given")]


def families_of(side: SideInformation, priors: Sequence[str] = PRIORS) -> list[Family]:
    """Priors alone; pairs compared with others, or as they are where they have bounds; comparisons both ways.

    What is alike is known of the groups that statements are about alone, and other groups may differ just
    there: of several priors none is chosen for being small where alike points differ.
    """
    priors = _of_any_groups(priors)
    is_compared = isinstance(side, Triplets) or (
        isinstance(side, Pairs) and not _has_bounds(side) and bool(side.similar.shape[0])
    )
    kinds = ["others"] if is_compared else ["given"]
    if isinstance(side, Triplets):
        kinds = ["others", "given"]
    return _alone(priors) + [_learning(prior, kind) for kind in kinds for prior in priors]


def families_of_sample(side: SideInformation, priors: Sequence[str] = PRIORS) -> list[Family]:
    """The same priors, and statements as they are, which can be summed over where they are too many to hold.

    Pairs without bounds, which would be compared with others, also stand beside pairs drawn at random in place
    of that. Where no bounds say how far apart points are to be, a share of the prior is kept, as of
    comparisons.
    """
    priors = _of_any_groups(priors)
    share = 0.0 if _has_bounds(side) else _PRIOR_SHARE
    may_draw = isinstance(side, Pairs) and not _has_bounds(side) and len(side.similar)
    kinds = ["drawn", "given"] if may_draw else ["given"]
    learned = [_learning(prior, kind) for kind in kinds for prior in priors]
    return _alone(priors) + [replace(family, prior_share=share) for family in learned]


def _has_bounds(side: SideInformation) -> bool:
    return isinstance(side, Pairs) and (side.upper is not None or side.lower is not None)


def _of_any_groups(priors: Sequence[str]) -> Sequence[str]:
    """Of several those that are not small where alike points differ."""
    if len(priors) == 1:
        return priors
    return [prior for prior in priors if prior != "inverse_within"]


def _alone(priors: Sequence[str]) -> list[Family]:
    """Nothing learned; the plain distance first."""
    return [Family("identity"), *(Family(prior) for prior in priors if prior != "identity")]


def families_of_weights(families: Sequence[Family]) -> list[Family]:
    """The same for a weight for each feature, in all columns."""
    return [family for family in families if family.is_whole]


def _learning(prior: str, kind: str) -> Family:
    share = _PRIOR_SHARE if kind == "others" else 0.0
    return Family(prior, kind, _STRENGTHS[kind], prior_share=share)
