"""An index of usearch with the mapped vectors; queries are mapped before they are searched for."""

from pathlib import Path

from gramlearn.files.exports.exporting import Export, imported, with_whole_ids
from gramlearn.files.writing import replacing

_METRICS = {"euclidean": "l2sq", "inner_product": "ip", "cosine": "cos"}


def write_usearch(export: Export) -> list[Path]:
    """Vectors in float32, by ids that are whole numbers of at least 0."""
    usearch = imported("usearch.index", "usearch", 'an export to="usearch"')
    export = with_whole_ids(export, "usearch", least=0)
    index = usearch.Index(ndim=export.n_columns, metric=_METRICS[export.metric], dtype="f32")
    for ids, vectors in export.documents():
        index.add(ids.astype("uint64"), vectors)
    with replacing(export.path) as beside:
        # By Python, whose errors say that a disk is full.
        beside.write_bytes(index.save())
    return [export.path]
