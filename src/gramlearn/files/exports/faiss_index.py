"""A FAISS index that takes raw vectors: LinearTransform in an IndexPreTransform, before exact search.

Where queries alone are mapped, the transform is theirs: documents go to the index within, `index.index`.
"""

from pathlib import Path
from typing import Any

from gramlearn.files.exports.exporting import Export, imported, with_whole_ids
from gramlearn.files.writing import replacing


def write_faiss(export: Export) -> list[Path]:
    """The transform, and a flat index with the points, if there are any; ids are kept where they were given."""
    faiss = imported("faiss", "faiss-cpu", 'an export to="faiss"')
    export = with_whole_ids(export, "FAISS")
    by_products = export.metric != "euclidean"
    within = (faiss.IndexFlatIP if by_products else faiss.IndexFlatL2)(export.n_columns)
    if export.points is not None and export.points.are_named:
        within = faiss.IndexIDMap2(within)
    for ids, vectors in export.documents():
        if export.metric == "cosine":
            faiss.normalize_L2(vectors)
        if export.points is not None and export.points.are_named:
            within.add_with_ids(vectors, ids)
        else:
            within.add(vectors)
    index = faiss.IndexPreTransform(within)
    for step in reversed(_steps(faiss, export)):
        index.prepend_transform(step)
    with replacing(export.path) as beside, beside.open("wb") as file:
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))
    return [export.path]


def _steps(faiss: Any, export: Export) -> list[Any]:
    """What a raw vector goes through, in this order."""
    found = export.map_of_queries
    L, offset = found.single()
    linear = faiss.LinearTransform(found.n_features, found.n_columns, offset is not None)
    faiss.copy_array_to_vector(L.ravel(), linear.A)
    if offset is not None:
        faiss.copy_array_to_vector(offset, linear.b)
    linear.is_trained = True
    steps = [linear]
    if found.normalize:
        steps.insert(0, faiss.NormalizationTransform(found.n_features, 2.0))
    if export.metric == "cosine":
        steps.append(faiss.NormalizationTransform(found.n_columns, 2.0))
    return steps
