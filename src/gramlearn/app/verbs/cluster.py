"""gramlearn cluster: points and links in, a cluster of each point out."""

import warnings
from argparse import ArgumentParser, Namespace
from typing import Any, final

from gramlearn.app.arguments import (
    add_answer,
    add_judgments,
    add_output,
    add_points,
    count,
    read_given_judgments,
    read_given_points,
    seed,
)
from gramlearn.app.output import DONE, LOOK, aligned, say, show
from gramlearn.app.verb import Verb


@final
class Cluster(Verb):
    """See the module."""

    name = "cluster"
    help = "clusters from points, must-links and cannot-links"
    description = (
        "Cluster points with links. --method metric learns a metric from the links and clusters by k-means so\n"
        "that they hold; --method kernel learns a kernel along a graph of neighbors, for clusters that are\n"
        "bent, and may break links: look at what comes out. The exit code is 1 where one does not hold."
    )
    example = (
        "gramlearn cluster --points example/points.npy --links example/links.csv --clusters 10 "
        "-o clusters.csv"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_points(parser, two_tables=False)
        add_judgments(parser, words="links")
        parser.add_argument(
            "--links", metavar="FILE", help="must-links and cannot-links (the same as --side)"
        )
        parser.add_argument(
            "--clusters", type=count, required=True, metavar="K", help="the number of clusters"
        )
        parser.add_argument("--method", choices=("metric", "kernel"), default="metric")
        parser.add_argument("--seed", type=seed, default=0, metavar="N", help="(default: 0)")
        add_output(parser, "a table of ids and clusters, .csv; - is stdout")
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        import numpy as np

        from gramlearn import Pairs
        from gramlearn.app.files_or_pipes import check_places

        if given.links is not None:
            if given.side is not None:
                raise ValueError("--links and --side are the same thing; pass one of them.")
            given.side = given.links
        if given.side is None:
            raise ValueError("--links is missing; without links k-means is what you want.")
        check_places(given)
        points = read_given_points(given)
        judgments = read_given_judgments(given, points)
        if not isinstance(judgments.side, Pairs):
            raise ValueError(
                f"{given.side} holds {judgments.shape}; clusters are made from links, pairs that belong "
                "together or not."
            )
        labels, solution = _METHODS[given.method](
            np.asarray(points.X, dtype=float), judgments.side, given.clusters, given.seed
        )
        ids = [points.name_of(k) for k in range(len(labels))]
        _write(given.out, ids, labels)
        sizes = np.bincount(labels, minlength=given.clusters)
        same = labels[judgments.side.similar[:, 0]] == labels[judgments.side.similar[:, 1]]
        differ = labels[judgments.side.dissimilar[:, 0]] != labels[judgments.side.dissimilar[:, 1]]
        kept = int(np.sum(same) + np.sum(differ))
        found = {
            "clusters": given.out,
            "sizes": sizes,
            "links": judgments.side.size,
            "links_kept": kept,
            "status": solution.status.name,
            "relative_gap": solution.relative_gap,
        }
        lines = aligned(
            [
                ("clusters", f"{given.clusters}, of {', '.join(map(str, sizes))} points"),
                ("links kept", f"{kept:,} of {judgments.side.size:,}"),
                (
                    "certificate",
                    f"{solution.status.name}, relative gap {solution.relative_gap:.1e}",
                ),
                ("written to", given.out),
            ]
        )
        show(found, lines, given.json, to_stderr=given.out == "-")
        holds = kept == judgments.side.size
        return DONE if holds and solution.status.name == "OPTIMAL" else LOOK


def _by_metric(X: Any, links: Any, n_clusters: int, seed: int) -> tuple[Any, Any]:
    from gramlearn import ConstrainedKMeans, MetricLearner

    learner = MetricLearner(random_state=seed, verbose=1)
    with warnings.catch_warnings():
        # The verdict is said below.
        warnings.filterwarnings("ignore", ".* is kept")
        learner.fit(X, side=links)
    say(learner.verdict_)
    clusters = ConstrainedKMeans(n_clusters, random_state=seed)
    return clusters.fit(learner.transform(X), side=links).labels_, learner.solution_


def _by_kernel(X: Any, links: Any, n_clusters: int, seed: int) -> tuple[Any, Any]:
    from gramlearn import NonparametricKernel

    kernel = NonparametricKernel(n_clusters=n_clusters, random_state=seed)
    return kernel.fit_predict(X, side=links), kernel.solution_


_METHODS = {"metric": _by_metric, "kernel": _by_kernel}


def _write(path: str, ids: list[str], labels: Any) -> None:
    from gramlearn.files.rows import write_rows

    write_rows(path, ("id", "cluster"), zip(ids, map(int, labels), strict=True))


VERB = Cluster()
