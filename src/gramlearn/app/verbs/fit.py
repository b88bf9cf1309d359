"""gramlearn fit: points and judgments, or labels, in; a model file out, with its certificate and verdict."""

import warnings
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, final

from gramlearn.app.arguments import (
    add_answer,
    add_judgments,
    add_output,
    add_points,
    count,
    parameter,
    read_given_judgments,
    read_given_points,
    seed,
)
from gramlearn.app.output import DONE, LOOK, aligned, say, show
from gramlearn.app.verb import Verb

if TYPE_CHECKING:
    from gramlearn.files.points import Points


@final
class Fit(Verb):
    """See the module."""

    name = "fit"
    help = "learn a metric or a kernel from points and judgments, or labels"
    description = (
        "Learn a metric from points and judgments about them, or from a column of labels, and write it as a\n"
        "model file. Nothing has to be chosen: what is held back decides, and where nothing learned is better\n"
        "than the plain distance, that is kept, and the exit code is 1."
    )
    example = "gramlearn fit --points example/points.npy --side example/judgments.csv -o model.gram"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_points(parser)
        add_judgments(parser, words="judgments about the points")
        parser.add_argument(
            "--labels", metavar="COLUMN", help="learn from this column of the points instead"
        )
        group = parser.add_argument_group("what is learned")
        group.add_argument(
            "--kernel",
            metavar="NAME",
            help="learn a kernel, such as rbf, instead of a metric",
        )
        group.add_argument(
            "--diagonal", action="store_true", help="learn a weight for each feature instead"
        )
        group.add_argument(
            "--normalize", action="store_true", help="scale points to length one first, for cosines"
        )
        group.add_argument(
            "--n-components",
            type=count,
            metavar="N",
            help="the number of columns of what comes out",
        )
        group.add_argument(
            "--set",
            action="append",
            default=[],
            type=parameter,
            metavar="NAME=VALUE",
            help="any other parameter of MetricLearner or KernelLearner, such as C=1.0",
        )
        group.add_argument("--seed", type=seed, default=0, metavar="N", help="(default: 0)")
        add_output(parser, "the model file to write")
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        import numpy as np

        from gramlearn.app.files_or_pipes import check_places, written_to

        if (given.side is None) == (given.labels is None):
            raise ValueError(
                "pass judgments with --side, or the column of labels with --labels, one of them."
            )
        check_places(given)
        learner = _learner(given)
        points = read_given_points(given, given.labels)
        if given.side is not None:
            judgments = read_given_judgments(given, points)
            known: dict[str, Any] = {"side": judgments.side}
            learned_from = f"{judgments.side.size:,} statements ({judgments.shape})"
        else:
            known = {"y": points.labels}
            learned_from = f"labels in {given.labels!r}"
        with warnings.catch_warnings():
            # The verdict is said below.
            warnings.filterwarnings("ignore", ".* is kept")
            learner.fit(points.X, **known)
        learner.set_params(verbose=dict(given.set).get("verbose", 0))
        if points.feature_names is not None:
            learner.feature_names_in_ = np.asarray(points.feature_names, dtype=object)
        with written_to(given.out) as path:
            learner.save(path)
        return _tell(given, points, learner, learned_from)


def _learner(given: Namespace) -> Any:
    from gramlearn import KernelLearner, MetricLearner

    chosen: dict[str, Any] = {"random_state": given.seed, "verbose": 1} | dict(given.set)
    if given.n_components is not None:
        chosen["n_components"] = given.n_components
    if given.normalize:
        chosen["normalize"] = True
    if given.diagonal and given.kernel:
        raise ValueError("--kernel and --diagonal were given; pass one of them.")
    if given.diagonal:
        chosen["shape"] = "diagonal"
    kind: Any = MetricLearner
    if given.kernel:
        kind, chosen["kernel"] = KernelLearner, given.kernel
    if chosen.get("kernel") == "precomputed":
        raise ValueError(
            "a model of a precomputed kernel knows no new points, and is not saved; pass points, and the name "
            "of a kernel."
        )
    known = kind._get_param_names()
    if unknown := sorted(set(chosen) - set(known)):
        raise ValueError(
            f"{kind.__name__} has no parameter {unknown[0]!r}; it has {', '.join(known)}."
        )
    return kind(**chosen)


def _tell(given: Namespace, points: "Points", learner: Any, learned_from: str) -> int:
    solution = learner.solution_
    is_certified = solution.status.name == "OPTIMAL"
    verdict = getattr(learner, "verdict_", None)
    helps = verdict is None or "helps" in verdict
    answer = {
        "model": str(given.out),
        "points": len(points.X),
        "features": points.X.shape[1],
        "learned_from": learned_from,
        "verdict": verdict,
        "helps": helps,
        "status": solution.status.name,
        "relative_gap": solution.relative_gap,
        "seconds": solution.seconds,
    }
    lines = aligned(
        [
            ("points", f"{len(points.X):,} x {points.X.shape[1]:,}"),
            ("learned from", learned_from),
            ("verdict", verdict or "nothing was chosen: the price was given"),
            (
                "certificate",
                f"{solution.status.name}, relative gap {solution.relative_gap:.1e}, "
                f"{solution.iterations} iterations",
            ),
            ("model", str(given.out)),
        ]
    )
    show(answer, lines, given.json, to_stderr=given.out == "-")
    if not is_certified:
        say("gramlearn: the answer is not certified to the gap that was asked for.")
    return DONE if is_certified and helps else LOOK


VERB = Fit()
