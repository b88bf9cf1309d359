"""L, for whatever multiplies a vector with a matrix: one file, or folder, of a learned map for each target."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from gramlearn._base.warnings import warn
from gramlearn.files.exports.dense_module import write_dense_module
from gramlearn.files.exports.exporting import Export, Target
from gramlearn.files.exports.faiss_index import write_faiss
from gramlearn.files.exports.linear_map import LinearMap
from gramlearn.files.exports.numpy_file import write_numpy
from gramlearn.files.exports.onnx_model import write_onnx
from gramlearn.files.exports.parquet_table import write_parquet
from gramlearn.files.exports.pgvector_sql import write_pgvector
from gramlearn.files.exports.queries_only import QueriesOnly
from gramlearn.files.exports.usearch_index import write_usearch
from gramlearn.files.exports.vectors import Points
from gramlearn.sources.errors import FileError

__all__ = ["METRICS", "TARGETS", "LinearMap", "QueriesOnly", "Target", "export"]

METRICS = ("euclidean", "inner_product", "cosine")
TARGETS: Mapping[str, Target] = {
    "onnx": Target(write_onnx, "none", ".onnx", "a model of one MatMul"),
    "sentence-transformers": Target(write_dense_module, "none", "", "the folder of a Dense module"),
    "faiss": Target(write_faiss, "optional", ".faiss", "an index that takes raw vectors"),
    "usearch": Target(write_usearch, "needed", ".usearch", "an index of mapped vectors"),
    "parquet": Target(write_parquet, "needed", ".parquet", "ids and mapped vectors"),
    "pgvector": Target(
        write_pgvector, "optional", ".sql", "a table, its rows and its index, as SQL"
    ),
    "numpy": Target(write_numpy, "none", ".npz", "the matrix, as .npy or .npz"),
}


def export(
    learner: Any,
    path: str | PathLike[str],
    to: str,
    *,
    queries_only: bool = False,
    points: Any = None,
    ids: Any = None,
    metric: str | None = None,
    table: str = "items",
    column: str = "embedding",
    halfvec: bool = False,
    center: Any = None,
) -> list[Path]:
    """Write a learned linear map in the format of what is to apply it, and return the paths of the files.

    Parameters
    ----------
    learner : estimator or LinearMap
        A fitted MetricLearner or OnlineMetricLearner, or what else has `components_` and transforms by them.
    path : str or path
        The file to write; for "sentence-transformers" a folder.
    to : str
        "onnx", "sentence-transformers", "faiss", "usearch", "parquet", "pgvector" or "numpy".
    queries_only : bool
        Whether documents stay as they are, and queries alone are mapped; see `QueriesOnly`. Targets that hold
        no points are for the queries then, those that hold points for the documents, and "faiss" for both.
    points : array n x d, data frame or path of a .npy file, optional
        The vectors of documents, as they are before the map, for targets that hold some.
    ids : list of n, optional
        A whole number or a text for each of them; row numbers if None.
    metric : "euclidean", "inner_product" or "cosine", optional
        What documents are ranked by, of mapped vectors. If None, Euclidean distances, which are what is
        learned; with `queries_only` inner products, the metric that leaves documents just as they are.
    table, column : str
        The names of the table, or schema.table, and of the column of vectors: of "pgvector", and the column of
        "parquet".
    halfvec : bool
        Whether the table of "pgvector" keeps numbers of 16 bits, of which an index takes 4,000.
    center : vector of d, optional
        With `queries_only` and metric="euclidean", what documents and queries are measured from; zero if None.
        Where documents lie far from zero, their mean keeps the digits of float32 for what tells them apart. The
        map of queries and the vectors of documents need the same.
    """
    target = _target(to, points is not None, ids is not None)
    found = learner if isinstance(learner, LinearMap) else LinearMap.of(learner)
    ranked_by = metric or ("inner_product" if queries_only else "euclidean")
    if ranked_by not in METRICS:
        known = ", ".join(map(repr, METRICS))
        raise ValueError(f"`metric={metric!r}` is not known; choose one of {known}.")
    if center is not None and not queries_only:
        raise ValueError("`center` is for `queries_only=True`; leave it out.")
    side = QueriesOnly(found, ranked_by, center) if queries_only else found
    place = Path(path)
    kept = None
    if points is not None:
        _check_not_over(place, points)
        kept = Points.of(points, ids, found.n_features, found.feature_names)
        if isinstance(side, QueriesOnly) and side.loses_digits_of(kept.rows):
            warn(
                "the documents lie so far from `center` that an index in float32 confuses near ones; pass "
                "center=points.mean(axis=0), to the export of the map of queries as well."
            )
    searched_by = "inner_product" if queries_only else ranked_by
    return target.write(Export(place, found, side, searched_by, kept, table, column, halfvec))


def _target(to: str, has_points: bool, has_ids: bool) -> Target:
    """The target by name, if it can hold what was given, and needs no more."""
    if to not in TARGETS:
        known = ", ".join(map(repr, TARGETS))
        raise ValueError(f"`to={to!r}` is not known; choose one of {known}.")
    target = TARGETS[to]
    if has_points and target.points == "none":
        others = ", ".join(repr(name) for name, other in TARGETS.items() if other.points != "none")
        raise ValueError(
            f"`to={to!r}` holds the map, and no points; leave `points` out, or choose one of {others}."
        )
    if not has_points and target.points == "needed":
        raise ValueError(
            f"`to={to!r}` holds mapped vectors, and `points` is missing; pass the vectors to map."
        )
    if has_ids and not has_points:
        raise ValueError("`ids` are given without `points`; pass the vectors that they name.")
    return target


def _check_not_over(place: Path, points: Any) -> None:
    """The vectors that were given are never written over."""
    source = points if isinstance(points, str | PathLike) else getattr(points, "filename", None)
    if source is not None and place.exists() and Path(source).exists() and place.samefile(source):
        raise FileError(
            f"{place} is the file of `points`, which stays as it is; choose another name."
        )
