"""gramlearn demo: the library at work on real data, or that data as files for the other verbs."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import final

from gramlearn.app.arguments import seed
from gramlearn.app.output import DONE, WRONG, say
from gramlearn.app.verb import Verb

_DATA = ("wine", "digits")


@final
class Demo(Verb):
    """See the module."""

    name = "demo"
    help = "learn a metric on real data, certify it, and draw it"
    description = (
        "Learn a metric from pairs of labeled points, print its certificate and the nearest-neighbor\n"
        "accuracy on held-out points, and write a picture, demo.png. With --files, write points and judgments\n"
        "about them as files to try the other verbs on. Needs no download and takes a few seconds."
    )
    example = "gramlearn demo --files example"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--out",
            type=Path,
            default=Path(),
            metavar="DIR",
            help="the folder for the picture (default: the present one)",
        )
        parser.add_argument(
            "--data",
            type=_data_name,
            default="wine",
            metavar="|".join(_DATA),
            help="which data, of those that come with scikit-learn (default: wine)",
        )
        parser.add_argument(
            "--seed",
            type=seed,
            default=0,
            metavar="N",
            help="seeds the split and the draw of pairs (default: 0)",
        )
        parser.add_argument(
            "--files",
            type=Path,
            metavar="DIR",
            help="write digits, judgments about them, links and a matrix as files here, and draw nothing",
        )

    def run(self, given: Namespace) -> int:
        if given.files is not None:
            from gramlearn.app.example_files import write_example

            for path, what in write_example(given.files, given.seed):
                print(f"{path}  {what}")
            return DONE
        from gramlearn.app.demo import UnwritableError, run_demo

        try:
            run_demo(given.data, given.out, given.seed)
        except UnwritableError as error:
            say(f"gramlearn: {error}; choose another folder with --out")
            return WRONG
        return DONE


def _data_name(text: str) -> str:
    if text not in _DATA:
        raise ArgumentTypeError(f"{text!r} is not known, choose {' or '.join(_DATA)}")
    return text


VERB = Demo()
