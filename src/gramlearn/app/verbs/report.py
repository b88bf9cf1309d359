"""gramlearn report: one page of HTML that says what was learned."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, final

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

if TYPE_CHECKING:
    from gramlearn.files.points import Points


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
        add_judgments(parser)
        parser.add_argument(
            "--labels", metavar="COLUMN", help="a column of the points with classes"
        )
        parser.add_argument(
            "--images",
            action="store_true",
            help="the items are paths of images, which are put into the page",
        )
        parser.add_argument(
            "--no-suspects",
            action="store_true",
            help="do not look for judgments that may be wrong, which takes ten fits",
        )
        parser.add_argument("--title", metavar="WORDS", help="the title of the page")
        parser.add_argument("--seed", type=seed, default=0, metavar="N", help="(default: 0)")
        add_output(parser, "the page to write")
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        from gramlearn.app.files_or_pipes import check_places, load_model, written_to
        from gramlearn.app.mapping import in_order_of
        from gramlearn.plots.report import report

        check_places(given)
        learner = load_model(given.model)
        points = read_given_points(given, given.labels)
        side = None if given.side is None else read_given_judgments(given, points).side
        with written_to(given.out) as path:
            report(
                learner,
                in_order_of(learner, points),
                side,
                points.labels,
                path=path,
                items=_items(points, given.images),
                ids=None if points.ids is None else _ids(points),
                title=given.title,
                suspects=False if given.no_suspects else None,
                seed=given.seed,
            )
        show({"report": given.out}, [given.out], given.json, to_stderr=given.out == "-")
        return DONE


def _ids(points: "Points") -> list[str]:
    """Of two tables the ids say which one they are of."""
    if points.n_queries is None:
        return list(points.ids or ())
    return [f"{part} {points.name_of(row)}" for part, rows in points.parts.items() for row in rows]


def _items(points: "Points", are_images: bool) -> "list[str] | list[Path] | None":
    """Texts, or where images are, beside the file that names them."""
    if points.items is None or not are_images:
        return points.items
    folder = Path(points.source).parent
    return [folder / item for item in points.items]


VERB = Report()
