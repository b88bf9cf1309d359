"""load(path): an estimator from a model file; describe_file(path): what the file says of it.

The kinds are a closed list. What a file names is looked up in it, and nothing is imported, called or evaluated
because a file says so.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gramlearn.estimators._parts.answers import ANSWER
from gramlearn.estimators._parts.base import FilePart, Incoming
from gramlearn.estimators._parts.words import Text, Whole
from gramlearn.estimators._saving_methods import (
    FORMAT,
    PARAMETER,
    SavesModel,
    constructor_parameters,
    file_name,
    saved_parts,
)
from gramlearn.estimators.kernel_designer import KernelDesigner
from gramlearn.estimators.kernel_learner import KernelLearner
from gramlearn.estimators.metric_learner import MetricLearner
from gramlearn.estimators.nonparametric_kernel import NonparametricKernel
from gramlearn.estimators.online_metric_learner import OnlineMetricLearner
from gramlearn.estimators.semi_supervised_embedding import SemiSupervisedEmbedding
from gramlearn.files.model_file import Header, damaged, read_header, read_model_file
from gramlearn.sources.errors import FileError

KINDS: Mapping[str, type[SavesModel]] = {
    kind.__name__: kind
    for kind in (
        KernelDesigner,
        KernelLearner,
        MetricLearner,
        NonparametricKernel,
        OnlineMetricLearner,
        SemiSupervisedEmbedding,
    )
}
_TOP = (
    "format",
    "gramlearn",
    "numpy",
    "kind",
    "parameters",
    "not_kept",
    "points_kept",
    "fitted",
)


def load(path: str | Path) -> Any:
    """The estimator that `save` wrote: it transforms, measures, predicts and scores as before, to the bit.

    It can be fitted again. What is not in the file is said by `describe_file`, and in a sentence where it is
    asked for.

    Parameters
    ----------
    path : str or Path
        A model file. It may come from anywhere: nothing in it is run, and one that lies about its sizes, types
        or numbers raises FileError.
    """
    model, arrays = read_model_file(path)
    cls = _checked_kind(model, path)
    of = Incoming(path, arrays)
    estimator = cls(**_parameters(cls, model, of))
    parts = {file_name(name): (name, part) for name, part in saved_parts(cls).items()}
    given = model["fitted"]
    missing = [key for key, (_, part) in parts.items() if part.is_needed and key not in given]
    if missing or not set(given) <= set(parts):
        wrong = missing or sorted(set(given) - set(parts))
        raise damaged(path, f"{'there is no' if missing else 'nobody knows'} `{wrong[0]:.60}`")
    kept = {
        name: part.read(given[key], key, of) for key, (name, part) in parts.items() if key in given
    }
    if unused := sorted(set(arrays) - of.used):
        raise damaged(path, f"nothing uses the array {unused[0]!r:.60}")
    try:
        estimator._take_back(kept)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise damaged(path, " ".join(str(error).split())[:160]) from None
    return estimator


def describe_file(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself, from its header alone, as JSON has it.

    Returns
    -------
    dict
        "kind", "format", "gramlearn", "numpy", "bytes", "parameters", "not_kept", "points_kept" ("count" and
        "why"), "arrays" ("dtype" and "shape" of each), and of what was learned what the header tells: the
        certificate as "solution", "learned_from", "verdict", "C", "threshold", "feature_names_in" and so on.
    """
    header = read_header(path)
    model = header.model
    cls = _checked_kind(model, path)
    of = Incoming(path, {})
    told: dict[str, Any] = {}
    for name, part in saved_parts(cls).items():
        key = file_name(name)
        given = model["fitted"].get(key)
        if key not in model["fitted"]:
            continue
        if part.is_plain:
            told[key] = part.read(given, key, of)
        elif part is ANSWER:
            found = ANSWER.summary(given, key, of)
            certificate = found.pop("certificate")
            numbers = ("primal", "dual", "gap", "violation")
            found |= {number: getattr(certificate, number) for number in numbers}
            told[key] = {**found, "status": found["status"].name}
        elif isinstance(given, dict) and isinstance(given.get("words"), list):
            told[key] = [str(word) for word in given["words"]]
    return {
        **{key: model[key] for key in _TOP if key != "fitted"},
        "bytes": header.size,
        "arrays": _tables(header),
        **told,
    }


def _tables(header: Header) -> dict[str, Any]:
    return {
        name: {"dtype": entry.dtype.name, "shape": list(entry.shape)}
        for name, entry in sorted(header.entries.items())
    }


def _checked_kind(model: Mapping[str, Any], path: str | Path) -> type[SavesModel]:
    """The class that a file is of, once its format and its outermost names are as they should be."""
    number = model.get("format")
    if type(number) is int and number > FORMAT:
        raise FileError(
            f"{path} was written by a newer gramlearn (format {number}, this one reads {FORMAT}); upgrade with "
            "`pip install --upgrade gramlearn`."
        )
    if type(number) is not int or number != FORMAT:
        raise damaged(path, f"its format is {number!r:.40}, and not {FORMAT}")
    if set(model) != set(_TOP):
        raise damaged(path, f"it should have {', '.join(_TOP)}, and no more")
    of = Incoming(path, {})
    for name in ("gramlearn", "numpy"):
        Text().read(model[name], name, of)
    kind = model["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise damaged(path, f"it is of the kind {kind!r:.40}, not of {', '.join(KINDS)}")
    for name in ("parameters", "not_kept", "points_kept", "fitted"):
        if not isinstance(model[name], dict):
            raise damaged(path, f"`{name}` is no JSON object")
    for name, why in model["not_kept"].items():
        Text().read(why, f"not_kept.{name:.40}", of)
    points: dict[str, FilePart] = {"count": Whole(), "why": Text()}
    if set(model["points_kept"]) != set(points):
        raise damaged(path, "`points_kept` should have count and why, and no more")
    for name, part in points.items():
        part.read(model["points_kept"][name], f"points_kept.{name}", of)
    return KINDS[kind]


def _parameters(cls: type, model: Mapping[str, Any], of: Incoming) -> dict[str, Any]:
    """The parameters of the constructor; what was not kept has its default."""
    given, known = model["parameters"], constructor_parameters(cls)
    unknown = sorted((set(given) | set(model["not_kept"])) - set(known))
    if unknown:
        raise damaged(of.path, f"{cls.__name__} has no parameter {unknown[0]!r:.60}")
    return {
        name: PARAMETER.read(value, f"parameters.{name}", of)
        for name, value in given.items()
        if name not in model["not_kept"]
    }
