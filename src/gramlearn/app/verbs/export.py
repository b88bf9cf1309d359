"""gramlearn export: the learned map in the form of another tool."""

from argparse import ArgumentParser, Namespace
from typing import Any, final

from gramlearn.app.arguments import add_answer
from gramlearn.app.output import DONE, say, show
from gramlearn.app.verb import Verb

_TARGETS = ("onnx", "sentence-transformers", "faiss", "usearch", "parquet", "pgvector", "numpy")


@final
class Export(Verb):
    """See the module."""

    name = "export"
    help = "the learned map for ONNX, sentence-transformers, FAISS, pgvector, ..."
    description = (
        "Write the learned map in the form of another tool: a network (onnx), a Dense module\n"
        "(sentence-transformers), an index that maps what it is given (faiss, usearch), mapped points\n"
        "(parquet, pgvector), or the matrix alone (numpy). docs/exports.md says how each is used."
    )
    example = "gramlearn export model.gram --to numpy -o map.npy"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a model file")
        parser.add_argument("--to", required=True, choices=_TARGETS, help="the other tool")
        parser.add_argument(
            "-o", "--out", required=True, metavar="PATH", help="the file, or folder, to write"
        )
        parser.add_argument(
            "--points",
            metavar="FILE",
            help="points to map, for parquet, pgvector and usearch, and to fill an index of faiss",
        )
        parser.add_argument("--ids", metavar="FILE", help="one id a line, for points without ids")
        parser.add_argument(
            "--queries-only",
            action="store_true",
            help="documents stay as they are: the map of queries, for inner products",
        )
        parser.add_argument(
            "--metric",
            choices=("euclidean", "inner_product", "cosine"),
            help="what documents are ranked by (default: euclidean; with --queries-only inner_product)",
        )
        parser.add_argument(
            "--center",
            metavar="FILE",
            help="points by whose mean --queries-only --metric euclidean moves all of them, so that single "
            "precision is enough; the same for queries and documents",
        )
        parser.add_argument("--table", metavar="NAME", help="of pgvector (default: items)")
        parser.add_argument(
            "--vectors", metavar="NAME", help="the column of vectors (default: embedding)"
        )
        parser.add_argument(
            "--halfvec", action="store_true", help="numbers of 16 bits, for up to 4,000 columns"
        )
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        from gramlearn.app.files_or_pipes import check_not_read, load_model
        from gramlearn.files.exports import export

        if given.out == "-":
            raise ValueError("-o - is for one stream; an export is a file or a folder: name it.")
        _check_has_a_meaning(given)
        check_not_read(given)
        learner = load_model(given.model)
        more: dict[str, Any] = {}
        if given.points is not None:
            from gramlearn.app.mapping import in_order_of
            from gramlearn.files.points import read_points

            points = read_points(given.points, ids=given.ids)
            say(points.summary())
            more = {"points": in_order_of(learner, points), "ids": _ids(points.ids, given.to)}
        written = export(
            learner,
            given.out,
            given.to,
            queries_only=given.queries_only,
            metric=given.metric,
            table=given.table or "items",
            column=given.vectors or "embedding",
            halfvec=given.halfvec,
            center=_center(learner, given.center),
            **more,
        )
        paths = [str(path) for path in written]
        show({"to": given.to, "written": paths}, paths, given.json)
        return DONE


def _check_has_a_meaning(given: Namespace) -> None:
    """Whether each option is one of the target: what does nothing was meant to do something."""
    tables = ("parquet", "pgvector")
    indexes = ("faiss", "usearch", "pgvector")
    needs = {
        "--metric": (given.metric, (), given.to in indexes or given.queries_only),
        "--center": (given.center, (), given.queries_only),
        "--table": (given.table, ("pgvector",), False),
        "--vectors": (given.vectors, tables, False),
        "--halfvec": (given.halfvec, ("pgvector",), False),
        "--ids": (given.ids, (), given.points is not None),
    }
    for option, (value, targets, is_of_use) in needs.items():
        if value and not is_of_use and given.to not in targets:
            raise ValueError(
                f"{option} has no meaning for this export to {given.to}; leave it out."
            )


def _ids(ids: list[str] | None, to: str) -> list[str] | None:
    """The ids, where the target can hold them: an index has whole numbers alone."""
    if ids is None or to not in ("faiss", "usearch") or all(map(_is_whole, ids)):
        return ids
    say(f"gramlearn: note: ids such as {ids[0]!r} are no numbers, so {to} has row numbers instead.")
    return None


def _center(learner: Any, path: str | None) -> Any:
    """The mean of these points."""
    if path is None:
        return None
    from gramlearn.app.mapping import in_order_of
    from gramlearn.files.points import read_points

    return in_order_of(learner, read_points(path)).mean(axis=0, dtype=float)


def _is_whole(name: str) -> bool:
    return name.isdecimal() and name == str(int(name))


VERB = Export()
