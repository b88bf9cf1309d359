"""A `Dense` module of sentence-transformers: a folder to append to a model, so that it encodes mapped vectors.

The activation is named, for the default one is Tanh, and so is what is taken for a name that is not known.
"""

import json
from pathlib import Path

from gramlearn.files.exports.exporting import Export, make_folder, write_files
from gramlearn.sources.errors import FileError

_SIMILARITIES = {"euclidean": "euclidean", "inner_product": "dot", "cosine": "cosine"}
_FILES = ("config.json", "model.safetensors", "README.md")


def write_dense_module(export: Export) -> list[Path]:
    """config.json, model.safetensors, and README.md, which says how to append the folder to a model."""
    from safetensors.numpy import save

    found = export.map_of_queries
    L, offset = found.single()
    config = {
        "in_features": found.n_features,
        "out_features": found.n_columns,
        "bias": offset is not None,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    weights = {"linear.weight": L}
    if offset is not None:
        weights["linear.bias"] = offset
    _check_folder(export.path)
    content = {
        "config.json": json.dumps(config, indent=2).encode() + b"\n",
        "model.safetensors": save(weights, {"format": "pt", **found.words}),
        "README.md": _readme(export).encode(),
    }
    make_folder(export.path)
    return write_files(export.path, {name: content[name] for name in _FILES})


def _check_folder(path: Path) -> None:
    """What a model keeps in a folder of the same files is not written over."""
    if not path.is_dir():
        return
    others = sorted({inside.name for inside in path.iterdir()} - set(_FILES))
    if others:
        raise FileError(
            f"{path} holds other files, such as {others[0]}; choose a folder of its own, such as "
            f"{path / 'gramlearn_Dense'}."
        )


def _readme(export: Export) -> str:
    """How to append the folder, by sentence-transformers or by hand."""
    scales = export.map_of_queries.normalize
    name = export.path.resolve().name
    kinds = ["Normalize", "Dense"] if scales else ["Dense"]
    entries = [
        {
            "idx": idx,
            "name": str(idx),
            "path": name if kind == "Dense" else f"{idx}_{kind}",
            "type": f"sentence_transformers.models.{kind}",
        }
        for idx, kind in enumerate(kinds, start=2)
    ]
    scaling = "model.append(Normalize())\n" if scales else ""
    folder = " An empty folder `2_Normalize` goes with the first one." if scales else ""
    known = "".join(
        f"- {key}: {' '.join(text.split())}\n" for key, text in export.map.words.items()
    )
    return f"""# A learned linear map, as a `Dense` module of sentence-transformers

It maps vectors of {export.map.n_features} numbers to {export.map_of_queries.n_columns}. {_whom(export)}

{known}
Append it after the last module of the model whose vectors it was learned from:

```python
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import {", ".join(sorted(kinds))}

model = SentenceTransformer("YOUR-MODEL")
{scaling}model.append(Dense.load({f"PATH-TO/{name}"!r}))
model.similarity_fn_name = "{_SIMILARITIES[export.metric]}"
model.save_pretrained("YOUR-MODEL-mapped")
```

By hand: copy this folder into that of the model, and add to the end of its `modules.json` what follows, for a
model of two modules; if yours has more, count on from there.{folder}

```json
{json.dumps(entries, indent=2)}
```
"""


def _whom(export: Export) -> str:
    if not export.is_for_queries_only:
        return "Queries and documents go through it alike."
    return "It is for queries alone: documents are encoded by the model without it, " + (
        "and each has one more coordinate, x'Mx."
        if export.n_columns > export.map.n_features
        else "and stay as they are."
    )
