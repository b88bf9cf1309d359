"""gramlearn transform: points in, mapped points out, of any size."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from gramlearn.app.arguments import add_answer, add_output, add_points, read_given_points
from gramlearn.app.output import DONE, aligned, show
from gramlearn.app.verb import Verb

if TYPE_CHECKING:
    import numpy as np

    from gramlearn.files.points import Points

_ENDINGS = ("npy", "parquet", "csv", "tsv", "jsonl")


@final
class Transform(Verb):
    """See the module."""

    name = "transform"
    help = "map points, of any size, to coordinates whose plain distances are the learned ones"
    description = (
        "Map points to coordinates whose plain distances are the learned ones. Large .npy files are read and\n"
        "written in blocks, and numbers in single precision stay so."
    )
    example = "gramlearn transform model.gram --points example/points.npy -o mapped.npy"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a model file")
        add_points(parser, two_tables=False)
        add_output(parser, "mapped points, .npy, .parquet, .csv, .tsv or .jsonl; - is stdout")
        parser.add_argument(
            "--to", choices=_ENDINGS, help="the format, where the file does not say it"
        )
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        from gramlearn.app.files_or_pipes import check_places, load_model
        from gramlearn.app.mapping import in_order_of, mapped_blocks

        kind = given.to or Path(given.out).suffix[1:]
        if kind not in _ENDINGS:
            raise ValueError(
                f"{given.out} does not say how to write it; end it in .{', .'.join(_ENDINGS)}, or pass --to."
            )
        check_places(given.out, given.json, given.points, given.model, given.ids)
        learner = load_model(given.model)
        points = read_given_points(given)
        blocks = mapped_blocks(learner, in_order_of(learner, points), "mapping points")
        first = next(blocks)
        _WRITERS[kind](given.out, points, first, blocks)
        shape = (len(points.X), first.shape[1])
        answer = {"out": given.out, "shape": shape, "dtype": str(first.dtype)}
        lines = aligned(
            [("mapped", f"{shape[0]:,} x {shape[1]:,}, {first.dtype}"), ("to", given.out)]
        )
        show(answer, lines, given.json, to_stderr=given.out == "-")
        return DONE


def _to_npy(path: str, points: "Points", first: "np.ndarray", rest: Iterator["np.ndarray"]) -> None:
    import numpy as np

    from gramlearn.files.writing import replacing

    header = {
        "descr": np.lib.format.dtype_to_descr(first.dtype),
        "fortran_order": False,
        "shape": (len(points.X), first.shape[1]),
    }

    def write(file: Any) -> None:
        np.lib.format.write_array_header_1_0(file, header)
        for block in _chained(first, rest):
            file.write(np.ascontiguousarray(block).tobytes())

    if path == "-":
        write(sys.stdout.buffer)
        return
    with replacing(path) as beside, beside.open("wb") as file:
        write(file)


def _to_rows(kind: str) -> Any:
    def write(
        path: str, points: "Points", first: "np.ndarray", rest: Iterator["np.ndarray"]
    ) -> None:
        from gramlearn.files.rows import write_rows

        ids = [points.name_of(k) for k in range(len(points.X))]

        def rows() -> Iterator[list[Any]]:
            k = 0
            for block in _chained(first, rest):
                for row in block:
                    numbers = [float(str(x)) for x in row]
                    yield [ids[k], numbers] if kind == "jsonl" else [ids[k], *numbers]
                    k += 1

        columns = ["vector"] if kind == "jsonl" else [f"x{j}" for j in range(first.shape[1])]
        write_rows(path, ["id", *columns], rows(), kind)

    return write


def _to_parquet(
    path: str, points: "Points", first: "np.ndarray", rest: Iterator["np.ndarray"]
) -> None:
    from gramlearn.app.files_or_pipes import written_to
    from gramlearn.files.exports.parquet_table import write_vectors

    with written_to(path, ".parquet") as file:
        write_vectors(file, points.ids, _chained(first, rest), first.shape[1], column="vector")


def _chained(first: "np.ndarray", rest: Iterator["np.ndarray"]) -> Iterator["np.ndarray"]:
    yield first
    yield from rest


_WRITERS = {
    "npy": _to_npy,
    "parquet": _to_parquet,
    **{kind: _to_rows(kind) for kind in ("csv", "tsv", "jsonl")},
}

VERB = Transform()
