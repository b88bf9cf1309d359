"""gramlearn studio: a page on this machine that asks people about points, and keeps what they answer."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import final

from gramlearn.app.arguments import add_points, count
from gramlearn.app.output import DONE
from gramlearn.app.verb import Verb


@final
class OpenStudio(Verb):
    """See the module."""

    name = "studio"
    help = "ask people in the browser which points are alike, and learn from their answers"
    description = (
        "Serve a page on this machine that shows two or three items at a time, asks whether they are alike,\n"
        "and asks next what teaches most. Answers are in the store before the page is told so; the store is\n"
        "judgments for the other verbs: `gramlearn fit --points FILE --side STORE`. Ctrl-C stops it, and the\n"
        "same command goes on. With --demo it asks about handwritten digits."
    )
    example = (
        "gramlearn studio --points example/points.npy --items example/digits.csv --store answers.db "
        "--check"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_points(parser, two_tables=False, required=False)
        parser.add_argument(
            "--demo", action="store_true", help="ask about handwritten digits, which need no files"
        )
        parser.add_argument(
            "--items",
            metavar="FILE|FOLDER",
            help="what to show of a point: a table (.csv, .jsonl, ...), or a folder of pictures called by id",
        )
        parser.add_argument(
            "--store", metavar="FILE", help="where answers are kept (made where there is none)"
        )
        group = parser.add_argument_group("questions")
        group.add_argument(
            "--kind",
            choices=("pair", "triplet", "odd"),
            default="pair",
            help="alike or not, which of two is nearer, or which of three is odd (default: pair)",
        )
        group.add_argument(
            "--repeats", type=count, default=1, metavar="N", help="judges a question (default: 1)"
        )
        group.add_argument(
            "--judge", type=_name, default="me", metavar="NAME", help="who judges (default: me)"
        )
        group = parser.add_argument_group("the page")
        group.add_argument(
            "--host",
            default="127.0.0.1",
            metavar="ADDRESS",
            help="where to listen (default: this machine alone)",
        )
        group.add_argument(
            "--port", type=_port, default=0, metavar="N", help="(default: 0, one that is free)"
        )
        group.add_argument("--open", action="store_true", help="open the page in a browser")
        group.add_argument(
            "--check",
            action="store_true",
            help="say how points, items and store fit together, and stop",
        )

    def run(self, given: Namespace) -> int:
        from gramlearn.app.studio.serving import serve

        serve(given)
        return DONE


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise ArgumentTypeError(f"{text!r} is not a port, from 0 to 65535")
    return int(text)


def _name(text: str) -> str:
    if not text.strip() or len(text) > 80 or not text.isprintable():
        raise ArgumentTypeError(f"{text!r:.100} is not a name of 1 to 80 letters")
    return text.strip()


VERB = OpenStudio()
