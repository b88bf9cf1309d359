"""gramlearn score: how much of what judgments say comes out right, before and after, with standard errors."""

from argparse import ArgumentParser, Namespace
from typing import final

from gramlearn.app.arguments import (
    add_answer,
    add_judgments,
    add_points,
    read_given_judgments,
    read_given_points,
)
from gramlearn.app.output import DONE, LOOK, aligned, show
from gramlearn.app.verb import Verb


@final
class Score(Verb):
    """See the module."""

    name = "score"
    help = "before and after on judgments that were held back"
    description = (
        "How much of what judgments say comes out right under the plain and under the learned distance, with\n"
        "standard errors. Take judgments that the model was not learned from. The exit code is 1 where the\n"
        "gain is not above two standard errors."
    )
    example = "gramlearn score model.gram --points example/points.npy --side example/held_out.csv"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a model file")
        add_points(parser)
        add_judgments(parser)
        parser.add_argument(
            "--labels", metavar="COLUMN", help="judge by this column of the points instead"
        )
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        from gramlearn.app.files_or_pipes import check_not_read, load_model
        from gramlearn.app.mapping import in_order_of
        from gramlearn.methods.choosing.choose import CLEAR
        from gramlearn.plots.report.reading import Given
        from gramlearn.plots.report.scores import score_given

        if (given.side is None) == (given.labels is None):
            raise ValueError(
                "pass judgments with --side, or the column of labels with --labels, one of them."
            )
        check_not_read(given)
        learner = load_model(given.model)
        points = read_given_points(given, given.labels)
        side = None if given.side is None else read_given_judgments(given, points).side
        found = score_given(
            Given.read(learner, in_order_of(learner, points), side, points.labels, 0)
        )
        if found is None:
            raise ValueError("there is nothing to judge by: the labels are all the same.")
        gain, error = found["gain"]
        was_learned_from = found["was_learned_from"]
        is_clear = error is not None and gain > CLEAR * error
        helps = is_clear and was_learned_from != "yes"
        verdict = "The learned distance helps" if helps else "No clear gain"
        if was_learned_from == "yes":
            verdict = "These are the judgments that it was learned from: take others"
        units = {"before": "%", "after": "%", "gain": "points"}
        rows = [(name, _with_error(unit, *found[name])) for name, unit in units.items()]
        lines = [f"{found['what']}, of {found['of']}", *aligned(rows), f"{verdict}."]
        if was_learned_from == "maybe":
            lines.append("They may be the judgments that it was learned from; if so, take others.")
        show({**found, "helps": helps, "verdict": verdict}, lines, given.json)
        return DONE if helps else LOOK


def _with_error(unit: str, value: float, error: float | None) -> str:
    words = f"{100 * value:.1f} {unit}"
    return words if error is None else f"{words} (standard error {100 * error:.1f})"


VERB = Score()
