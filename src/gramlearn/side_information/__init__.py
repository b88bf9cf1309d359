"""What users know about their points, as indices: pairs alike and unlike, comparisons, bounds.

`bind` turns any of them into terms of a problem; `take` follows a subset of the points.
"""

from gramlearn.side_information.base import SideInformation
from gramlearn.side_information.bounds import Bounds
from gramlearn.side_information.closure import ContradictionError
from gramlearn.side_information.labels import from_labels, triplets_from_labels
from gramlearn.side_information.makers import (
    from_classes,
    from_clicks,
    from_judgments,
    from_similarities,
    relative_bounds,
)
from gramlearn.side_information.pairs import Pairs
from gramlearn.side_information.percentiles import percentile_bounds
from gramlearn.side_information.triplets import Triplets

__all__ = [
    "Bounds",
    "ContradictionError",
    "Pairs",
    "SideInformation",
    "Triplets",
    "from_classes",
    "from_clicks",
    "from_judgments",
    "from_labels",
    "from_similarities",
    "percentile_bounds",
    "relative_bounds",
    "triplets_from_labels",
]
