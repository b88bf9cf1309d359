"""What users know about their points, as indices: pairs alike and unlike, comparisons, bounds.

`bind` turns any of them into terms of a problem; `keep_points` follows a subset of the points. Labels, clicks,
judgments and similarities become `Pairs` or `Triplets` by the class methods `from_...`. `StoredPairs` and
`StoredTriplets` are read from files, chunk by chunk.
"""

from gramlearn.side_information.active import pairs_to_ask, select_pairs
from gramlearn.side_information.base import SideInformation
from gramlearn.side_information.bounds import Bounds
from gramlearn.side_information.closure import ContradictionError
from gramlearn.side_information.pairs import Pairs
from gramlearn.side_information.percentiles import percentile_bounds
from gramlearn.side_information.stored_pairs import StoredPairs
from gramlearn.side_information.stored_triplets import StoredTriplets
from gramlearn.side_information.triplets import Triplets

__all__ = [
    "Bounds",
    "ContradictionError",
    "Pairs",
    "SideInformation",
    "StoredPairs",
    "StoredTriplets",
    "Triplets",
    "pairs_to_ask",
    "percentile_bounds",
    "select_pairs",
]
