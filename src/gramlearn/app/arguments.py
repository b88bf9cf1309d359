"""Options that several verbs share: points, judgments, and how to read them."""

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramlearn.files.judgments import Judgments
    from gramlearn.files.points import Points

_TABLES = "csv|tsv|jsonl|json|parquet"


def add_points(parser: ArgumentParser, *, two_tables: bool = True, required: bool = True) -> None:
    """--points, and how to read them."""
    group = parser.add_argument_group("points")
    group.add_argument(
        "--points",
        required=required,
        metavar="FILE",
        help="the points: .npy, .csv, .tsv, .jsonl or .parquet; - is stdin",
    )
    if two_tables:
        group.add_argument(
            "--queries",
            metavar="FILE",
            help="a second table of points, of queries; the first is of documents then",
        )
        group.add_argument("--queries-ids", metavar="FILE", help="what --ids is, for --queries")
    else:
        parser.set_defaults(queries=None, queries_ids=None)
    group.add_argument("--ids", metavar="FILE", help="one id a line, for points without ids (.npy)")
    for name, what in (
        ("id", "of ids (found by its name: id, _id, key, ...; else row numbers)"),
        ("vector", "of vectors (else all columns of numbers)"),
        ("item", "of texts, or of paths of images, to show"),
    ):
        group.add_argument(f"--{name}-column", metavar="NAME", help=f"the column {what}")
    group.add_argument(
        "--points-format", metavar=f"{_TABLES}|npy", help="where the suffix does not tell it"
    )


def add_judgments(parser: ArgumentParser, words: str = "judgments") -> None:
    """--side, and how to read it."""
    group = parser.add_argument_group("judgments")
    group.add_argument(
        "--side",
        metavar="FILE",
        help=f"{words}: a table, qrels, a BEIR folder, an export of Label Studio, a store of "
        "answers (.db); - is stdin",
    )
    group.add_argument(
        "--shape", metavar="NAME", help="what a row says, where its columns do not tell it"
    )
    group.add_argument(
        "--column",
        action="append",
        default=[],
        type=_renamed,
        metavar="NAME=COLUMN",
        help="which column has what, such as first=item_a; may be given several times",
    )
    group.add_argument(
        "--side-format", metavar=f"{_TABLES}|trec|sqlite", help="where the suffix does not tell it"
    )
    group.add_argument(
        "--conflicts",
        choices=("majority", "drop", "similar", "dissimilar", "raise"),
        default="majority",
        help="what a pair is that people disagree about (default: what most of them say)",
    )
    group.add_argument(
        "--dropped",
        metavar="FILE",
        help="write every row that is left out here, with its place and the reason (.csv, .tsv, .jsonl)",
    )
    group.add_argument(
        "--percentiles",
        nargs=2,
        type=float,
        default=(25.0, 75.0),
        metavar=("LOW", "HIGH"),
        help="of scores: up to which pairs are unlike, and from which alike (default: 25 75)",
    )


def add_answer(parser: ArgumentParser) -> None:
    """--json."""
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def add_output(parser: ArgumentParser, what: str) -> None:
    """-o."""
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help=what)


def read_given_points(given: Namespace, label_column: str | None = None) -> "Points":
    """The points, of one table or of two, with what was read said on stderr."""
    from gramlearn.app.output import say
    from gramlearn.files.points import join_points, read_points

    def read(path: str, ids: str | None) -> "Points":
        return read_points(path, label_column=label_column, ids=ids, **_how_to_read(given))

    points = read(given.points, given.ids)
    say(points.summary())
    if given.queries is None:
        return points
    queries = read(given.queries, given.queries_ids)
    say(queries.summary())
    return join_points(queries, points)


def read_given_blocks(given: Namespace, n_rows: int) -> "tuple[int, Iterator[Points]]":
    """How many points there are, and these, some at a time; what was read is said on stderr."""
    from gramlearn.app.output import say
    from gramlearn.files.points import read_point_blocks

    n, blocks = read_point_blocks(given.points, n_rows, ids=given.ids, **_how_to_read(given))
    first = next(blocks)
    say(first.summary(n))
    return n, chain([first], blocks)


def _how_to_read(given: Namespace) -> dict[str, Any]:
    return {
        "id_column": given.id_column,
        "item_column": given.item_column,
        "vector_column": given.vector_column,
        "format": given.points_format,
    }


def read_given_judgments(given: Namespace, points: "Points") -> "Judgments":
    """The judgments about these points, with what was dropped said on stderr."""
    from gramlearn.app.output import say
    from gramlearn.files.judgments import read_judgments

    judgments = read_judgments(
        given.side,
        points,
        shape=given.shape,
        columns=dict(given.column),
        format=given.side_format,
        conflicts=given.conflicts,
        percentiles=tuple(given.percentiles),
    )
    say(judgments.summary())
    if given.dropped is not None:
        from gramlearn.files.rows import write_rows

        rows = ((row.place, row.reason) for row in judgments.dropped)
        write_rows(given.dropped, ("place", "reason"), rows)
    return judgments


def parameter(text: str) -> tuple[str, Any]:
    """NAME=VALUE, the value as JSON has it, or else as a word."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as rank=50")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def seed(text: str) -> int:
    """A whole number that seeds."""
    if not text.isdecimal() or int(text) >= 2**31:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 to {2**31 - 1}")
    return int(text)


def _renamed(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals or not name or not column:
        raise ArgumentTypeError(f"{text!r} is not NAME=COLUMN, such as first=item_a")
    return name, column
