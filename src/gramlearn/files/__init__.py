"""Files that people have, and files that they keep: points, judgments, models, exports.

`read_points` and `read_judgments` take the shapes that people have; `export` writes a learned map for another
tool. A model is saved by its own `save`, and comes back by `gramlearn.load`.
"""

from gramlearn.files.errors import UnwritableFileError
from gramlearn.files.exports import METRICS, TARGETS, LinearMap, QueriesOnly, export
from gramlearn.files.judgments import Dropped, Judgments, read_judgments
from gramlearn.files.points import Points, join_points, read_points
from gramlearn.sources.errors import FileError

__all__ = [
    "METRICS",
    "TARGETS",
    "Dropped",
    "FileError",
    "Judgments",
    "LinearMap",
    "Points",
    "QueriesOnly",
    "UnwritableFileError",
    "export",
    "join_points",
    "read_judgments",
    "read_points",
]
