"""gramlearn report: one page of HTML that says what was learned."""

from argparse import ArgumentParser, Namespace
from typing import final

from gramlearn.app.arguments import (
    add_answer,
    add_judgments,
    add_output,
    add_points,
    read_given_judgments,
    read_given_points,
    seed,
)
from gramlearn.app.output import DONE, show
from gramlearn.app.verb import Verb


@final
class Report(Verb):
    """See the module."""

    name = "report"
    help = "one page of HTML: maps before and after, scores, suspects, the certificate"
    description = (
        "Write one page of HTML that says what was learned: the verdict, scores before and after, maps,\n"
        "distances, features that count, violated and suspect judgments, the certificate. The page asks for\n"
        "nothing from anywhere."
    )
    example = (
        "gramlearn report model.gram --points example/points.npy --side example/judgments.csv "
        "-o report.html"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a model file")
        add_points(parser)
        add_judgments(parser, required=False)
        parser.add_argument(
            "--labels", metavar="COLUMN", help="a column of the points with classes"
        )
        parser.add_argument("--title", metavar="WORDS", help="the title of the page")
        parser.add_argument("--seed", type=seed, default=0, metavar="N", help="(default: 0)")
        add_output(parser, "the page to write")
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        from gramlearn.app.mapping import in_order_of
        from gramlearn.estimators.saving import load
        from gramlearn.plots.report import report

        learner = load(given.model)
        points = read_given_points(given, given.labels)
        side = None if given.side is None else read_given_judgments(given, points).side
        path = report(
            learner,
            in_order_of(learner, points),
            side,
            points.labels,
            path=given.out,
            items=points.items,
            ids=points.ids,
            title=given.title,
            seed=given.seed,
        )
        show({"report": str(path)}, [str(path)], given.json)
        return DONE


VERB = Report()
