"""gramlearn inspect: what a model file is, what it was learned from, its certificate, its features."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any, final

from gramlearn.app.arguments import add_answer
from gramlearn.app.output import DONE, aligned, show
from gramlearn.app.verb import Verb

_FEATURES = 8


@final
class Inspect(Verb):
    """See the module."""

    name = "inspect"
    help = "what a model file is, what it was learned from, its certificate"
    description = (
        "What a model file is, what it was learned from, what was chosen, its certificate and the features\n"
        "that count. --json has all that the file says, to the shape of each array."
    )
    example = "gramlearn inspect model.gram"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a model file")
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        from gramlearn.app.files_or_pipes import stored
        from gramlearn.estimators.saving import describe_file, load

        with stored(given.model) as file:
            found = describe_file(file)
            features = _features_that_count(load(file))
        answer = {**found, "features_that_count": dict(features)}
        shares = ", ".join(f"{name} {100 * share:.1f} %" for name, share in features)
        show(
            answer,
            aligned([*_rows(found), *([("features", shares)] if shares else [])]),
            given.json,
        )
        return DONE


def _rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a person asks first."""
    rows = [
        ("model", f"{found['kind']} of gramlearn {found['gramlearn']}, {found['bytes']:,} bytes"),
        ("points", f"of {found['n_features_in']:,} features"),
    ]
    if found.get("learned_from"):
        rows.append(("learned from", found["learned_from"]["words"]))
    if found.get("verdict"):
        rows.append(("verdict", found["verdict"]))
    given = {k: v for k, v in found["parameters"].items() if k in _TOLD and v not in _USUAL}
    if given:
        rows.append(("asked for", ", ".join(f"{name}={value}" for name, value in given.items())))
    chosen = [
        f"{name} {found[name]}" for name in ("prior", "statements", "strength") if found.get(name)
    ]
    if chosen:
        rows.append(("chosen", ", ".join(chosen)))
    if found.get("prior_share"):
        rows.append(("prior kept", f"{100 * found['prior_share']:.0f} % of the squared distances"))
    solution = found.get("solution")
    if solution:
        rows.append(
            (
                "certificate",
                f"{solution['status']}, relative gap {solution['relative_gap']:.1e}, "
                f"{solution['iterations']} iterations",
            )
        )
    kept = found["points_kept"]
    words = f"{kept['count']:,}: {kept['why']}" if kept["count"] else "none"
    rows.append(("points kept", words))
    if found["not_kept"]:
        rows.append(("not kept", "; ".join(f"{k}: {v}" for k, v in found["not_kept"].items())))
    return rows


_TOLD = (
    "regularizer",
    "prior",
    "loss",
    "C",
    "bounds",
    "rank",
    "n_components",
    "shape",
    "normalize",
    "kernel",
    "n_clusters",
    "graph",
)
_USUAL = (None, False, "logdet", "full")


def _features_that_count(model: Any) -> list[tuple[str, float]]:
    """The largest shares of the learned squared distances."""
    import numpy as np

    shares = getattr(model, "feature_importances_", None)
    if shares is None:
        return []
    names = getattr(model, "feature_names_in_", [f"x{k}" for k in range(len(shares))])
    order = np.argsort(-shares, kind="stable")[:_FEATURES]
    return [(str(names[k]), float(shares[k])) for k in order]


VERB = Inspect()
