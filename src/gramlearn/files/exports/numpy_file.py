"""L as a .npy file, or L with all that belongs to it as a .npz file; in double precision, as it was learned."""

import json
from pathlib import Path

import numpy as np

from gramlearn.files.exports.exporting import Export
from gramlearn.files.writing import replacing
from gramlearn.sources.errors import FileError


def write_numpy(export: Export) -> list[Path]:
    """The matrix; in .npz also `normalize`, `offset`, `feature_names` and `words`, which is JSON."""
    found = export.map_of_queries
    if export.path.suffix not in (".npy", ".npz"):
        raise FileError(
            f"{export.path} must end in .npy, for the matrix alone, or in .npz, for all that belongs to it."
        )
    if export.path.suffix == ".npy" and (found.normalize or found.offset is not None):
        why = "scales vectors to length one first" if found.normalize else "adds an offset"
        raise FileError(
            f"{export.path} would hold the matrix alone, and this map {why}; write a .npz file, which says so."
        )
    with replacing(export.path) as beside, beside.open("wb") as file:
        if export.path.suffix == ".npy":
            np.save(file, found.matrix)
        else:
            offset = np.zeros(found.n_columns) if found.offset is None else found.offset
            np.savez(
                file,
                matrix=found.matrix,
                offset=offset,
                normalize=np.array(found.normalize),
                feature_names=np.array(found.feature_names or (), dtype=str),
                words=np.array(json.dumps(dict(found.words))),
            )
    return [export.path]
