"""mapped = vectors L', one MatMul of ONNX, in float32: for onnxruntime in any language, and in browsers.

Vectors that are scaled to length one are divided by their largest entry first, as `transform` does it, so that
no square leaves the range of float32. A row of zeros, which `transform` refuses, becomes zeros there.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from gramlearn.files.exports.exporting import Export, imported
from gramlearn.files.writing import replacing

_OPSET = 17
_IR_VERSION = 8  # of the same year: what is newer, old runtimes refuse
_MOST_BYTES = 2**31 - 2**20  # a protocol buffer holds 2 GB


def write_onnx(export: Export) -> list[Path]:
    """A model of one input, `vectors` N x d, and one output, `mapped` N x m."""
    onnx = imported("onnx", "onnx", 'an export to="onnx"', extra="onnx")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    found = export.map_of_queries
    L, offset = found.single()
    if L.nbytes > _MOST_BYTES:
        raise ValueError(
            f"a matrix of {found.n_columns} x {found.n_features} is larger than the 2 GB of an ONNX file; fit "
            "with n_components=, or export to='numpy'."
        )
    constants = {"matrix": np.ascontiguousarray(L.T)}
    nodes: list[Any] = []
    last = "vectors"
    if found.normalize:
        constants |= {
            "tiny": np.array(np.finfo(np.float32).tiny),
            "one": np.array(1.0, dtype=np.float32),
        }
        nodes += [
            helper.make_node("Abs", ["vectors"], ["sizes"]),
            helper.make_node("ReduceMax", ["sizes"], ["largest"], axes=[1], keepdims=1),
            helper.make_node("Max", ["largest", "tiny"], ["divisor"]),
            helper.make_node("Div", ["vectors", "divisor"], ["scaled"]),
            helper.make_node("ReduceL2", ["scaled"], ["norms"], axes=[1], keepdims=1),
            # At least one, but for a row of zeros.
            helper.make_node("Max", ["norms", "one"], ["lengths"]),
            helper.make_node("Div", ["scaled", "lengths"], ["directions"]),
        ]
        last = "directions"
    if offset is None:
        nodes.append(helper.make_node("MatMul", [last, "matrix"], ["mapped"]))
    else:
        constants["offset"] = offset
        nodes += [
            helper.make_node("MatMul", [last, "matrix"], ["product"]),
            helper.make_node("Add", ["product", "offset"], ["mapped"]),
        ]
    graph = helper.make_graph(
        nodes,
        "gramlearn",
        [helper.make_tensor_value_info("vectors", kind, ["N", found.n_features])],
        [helper.make_tensor_value_info("mapped", kind, ["N", found.n_columns])],
        [onnx.numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(
        graph,
        producer_name="gramlearn",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    words = dict(found.words)
    if found.feature_names is not None:
        words["feature_names"] = json.dumps(list(found.feature_names))
    helper.set_model_props(model, words)
    onnx.checker.check_model(model)
    with replacing(export.path) as beside:
        beside.write_bytes(model.SerializeToString())
    return [export.path]
