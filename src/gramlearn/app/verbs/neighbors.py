"""gramlearn neighbors: what lies nearest to a point under the learned distance, and where it lay before."""

from argparse import ArgumentParser, Namespace
from typing import Any, NamedTuple, final

from gramlearn.app.arguments import add_answer, add_points, count, read_given_points
from gramlearn.app.output import DONE, show
from gramlearn.app.verb import Verb

_AT_ONCE = 65_536  # points


@final
class Neighbors(Verb):
    """See the module."""

    name = "neighbors"
    help = "what lies nearest to a point, before and after"
    description = (
        "The nearest points of one or several others, under the learned distance, with the rank that each had\n"
        "by the plain one. With two tables of points, those of --queries are asked for, and --points searched."
    )
    example = "gramlearn neighbors model.gram --points example/points.npy --query 0 -k 5"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a model file")
        add_points(parser)
        parser.add_argument(
            "--query",
            action="append",
            required=True,
            metavar="ID",
            help="the id of a point, or its row number; may be given several times",
        )
        parser.add_argument(
            "-k", type=count, default=10, metavar="K", help="how many (default: 10)"
        )
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        import numpy as np

        from gramlearn.app.files_or_pipes import load_model
        from gramlearn.app.mapping import in_order_of, mapped
        from gramlearn.files.points import OF_SEVERAL
        from gramlearn.plots.report.reading import plain_points

        learner = load_model(given.model)
        points = read_given_points(given)
        searched = points.parts["points" if given.queries is None else "documents"]
        asked = "points" if given.queries is None else "queries"
        rows = points.rows_of(given.query, asked)
        if np.any(rows < 0):
            query = given.query[int(np.argmax(rows < 0))]
            if rows[rows < 0][0] == OF_SEVERAL:
                raise ValueError(
                    f"--query {query} is the text of several {asked}; name one by its id."
                )
            raise ValueError(
                f"--query {query} is not among the {asked}, whose ids are like "
                f"{'0' if points.ids is None else points.ids[points.parts[asked].start]!r}."
            )
        all_points = in_order_of(learner, points)
        X = all_points[searched.start : searched.stop]
        plain = plain_points(learner, all_points)
        Z = mapped(learner, X)
        answer, lines = [], []
        for query, row in zip(given.query, rows, strict=True):
            after = _squared(Z, mapped(learner, all_points[row : row + 1])[0])
            before = _squared(plain[searched.start : searched.stop], plain[row])
            if row in searched:
                after[row - searched.start] = before[row - searched.start] = np.inf
            k = min(given.k, int(np.isfinite(after).sum()))
            nearest = np.argsort(after, kind="stable")[:k]
            found = [
                _Found(
                    points,
                    searched.start + int(j),
                    float(after[j]),
                    int(np.sum(before < before[j])),
                )
                for j in nearest
            ]
            answer.append({"query": query, "neighbors": [one.named for one in found]})
            lines.append(f"nearest to {query}{_shown(points, int(row))}")
            lines.append(f"  {'rank':>4}  {'before':>6}  {'distance':>10}  id")
            lines += [f"  {place:>4}  {one.words}" for place, one in enumerate(found, 1)]
        show({"queries": answer}, lines, given.json)
        return DONE


def _squared(points: Any, x: Any) -> Any:
    """Squared distances of all points from x, some at a time: X may be a memory map."""
    import numpy as np

    blocks = (points[k : k + _AT_ONCE] for k in range(0, len(points), _AT_ONCE))
    return np.concatenate([((np.asarray(b, dtype=float) - x) ** 2).sum(axis=1) for b in blocks])


def _shown(points: Any, row: int) -> str:
    """The item of a point, in a line."""
    if points.items is None:
        return ""
    return f"  {' '.join(str(points.items[row]).split())[:70]}"


@final
class _Found(NamedTuple):
    """A neighbor: its row, its squared distance, and how many points were nearer before."""

    points: Any
    row: int
    squared: float
    nearer_before: int

    @property
    def named(self) -> dict[str, Any]:
        found = {
            "id": self.points.name_of(self.row),
            "distance": self.squared**0.5,
            "rank_before": self.nearer_before + 1,
        }
        items = self.points.items
        return found if items is None else found | {"item": items[self.row]}

    @property
    def words(self) -> str:
        shown = f"{self.points.name_of(self.row)}{_shown(self.points, self.row)}"
        return f"{self.nearer_before + 1:>6}  {self.squared**0.5:>10.4g}  {shown}"


VERB = Neighbors()
