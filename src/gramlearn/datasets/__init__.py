"""Data sets of the papers and of the demo, from a folder, from scikit-learn, or fetched when asked for."""

from gramlearn.datasets.loading import VARIABLE as VARIABLE
from gramlearn.datasets.loading import Dataset, DatasetNotFoundError, load, names

__all__ = ["Dataset", "DatasetNotFoundError", "load", "names"]
