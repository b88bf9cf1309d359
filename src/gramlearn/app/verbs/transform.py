"""gramlearn transform: points in, mapped points out, of any size."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from gramlearn.app.arguments import add_answer, add_output, add_points
from gramlearn.app.output import DONE, aligned, show
from gramlearn.app.verb import Verb

if TYPE_CHECKING:
    import numpy as np

    from gramlearn.files.points import Points

Block = tuple["list[str] | None", "np.ndarray"]
_ROWS = 65_536  # of a table, at once
_ENDINGS = ("npy", "parquet", "csv", "tsv", "jsonl")


@final
class Transform(Verb):
    """See the module."""

    name = "transform"
    help = "map points, of any size, to coordinates whose plain distances are the learned ones"
    description = (
        "Map points to coordinates whose plain distances are the learned ones. Large .npy files are read and\n"
        "written in blocks, and so is Parquet; numbers in single precision stay so."
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
        from gramlearn.app.arguments import read_given_blocks
        from gramlearn.app.files_or_pipes import check_places, load_model

        kind = given.to or Path(given.out).suffix[1:]
        if kind not in _ENDINGS:
            raise ValueError(
                f"{given.out} does not say how to write it; end it in .{', .'.join(_ENDINGS)}, or pass --to."
            )
        check_places(given)
        learner = load_model(given.model)
        n, blocks = read_given_blocks(given, _ROWS)
        mapped = _mapped(learner, blocks, n)
        first = next(mapped)
        _WRITERS[kind](given.out, n, first[1], chain([first], mapped))
        shape = (n, first[1].shape[1])
        answer = {"out": given.out, "shape": shape, "dtype": str(first[1].dtype)}
        lines = aligned(
            [("mapped", f"{shape[0]:,} x {shape[1]:,}, {first[1].dtype}"), ("to", given.out)]
        )
        show(answer, lines, given.json, to_stderr=given.out == "-")
        return DONE


def _mapped(learner: Any, blocks: Iterator["Points"], n: int) -> Iterator[Block]:
    """(ids, mapped points) of block after block, with a bar on a terminal."""
    from tqdm import tqdm

    from gramlearn.app.mapping import in_order_of, mapped_blocks

    done = 0
    with tqdm(total=n, desc="mapping points", unit=" points", leave=False, disable=None) as bar:
        for points in blocks:
            start = 0
            for Z in mapped_blocks(learner, in_order_of(learner, points, quietly=done > 0)):
                names = None if points.ids is None else points.ids[start : start + len(Z)]
                yield names, Z
                start, done = start + len(Z), done + len(Z)
                bar.update(len(Z))


def _to_npy(path: str, n: int, like: "np.ndarray", blocks: Iterator[Block]) -> None:
    import numpy as np

    from gramlearn.files.writing import replacing

    header = {
        "descr": np.lib.format.dtype_to_descr(like.dtype),
        "fortran_order": False,
        "shape": (n, like.shape[1]),
    }

    def write(file: Any) -> None:
        np.lib.format.write_array_header_1_0(file, header)
        for _, Z in blocks:
            file.write(np.ascontiguousarray(Z).tobytes())

    if path == "-":
        write(sys.stdout.buffer)
        return
    with replacing(path) as beside, beside.open("wb") as file:
        write(file)


def _to_rows(kind: str) -> Any:
    def write(path: str, n: int, like: "np.ndarray", blocks: Iterator[Block]) -> None:
        from gramlearn.files.rows import write_rows

        def rows() -> Iterator[list[Any]]:
            k = 0
            for ids, Z in blocks:
                for name, row in zip(ids or range(k, k + len(Z)), Z, strict=True):
                    numbers = [float(str(x)) for x in row]
                    yield [str(name), numbers] if kind == "jsonl" else [str(name), *numbers]
                k += len(Z)

        columns = ["vector"] if kind == "jsonl" else [f"x{j}" for j in range(like.shape[1])]
        write_rows(path, ["id", *columns], rows(), kind)

    return write


def _to_parquet(path: str, n: int, like: "np.ndarray", blocks: Iterator[Block]) -> None:
    from gramlearn.app.files_or_pipes import written_to
    from gramlearn.files.exports.parquet_table import write_vectors

    with written_to(path, ".parquet") as file:
        write_vectors(file, blocks, like.shape[1], column="vector")


_WRITERS = {
    "npy": _to_npy,
    "parquet": _to_parquet,
    **{kind: _to_rows(kind) for kind in ("csv", "tsv", "jsonl")},
}

VERB = Transform()
