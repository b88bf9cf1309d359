"""One HTML file that says in a page what was learned, and whether it helps.

It opens from disk and asks for nothing from anywhere: numbers, script and style are inside. Of many points some
are shown, so that the file stays below 3 MB.
"""

from pathlib import Path
from typing import Any

from gramlearn.files.writing import write_text
from gramlearn.plots.report.certificate import certificate_of, trials_of
from gramlearn.plots.report.features import directions_of, features_of
from gramlearn.plots.report.items import Items
from gramlearn.plots.report.lengths import lengths_of
from gramlearn.plots.report.maps import choose_rows, maps_of
from gramlearn.plots.report.page import fill_page
from gramlearn.plots.report.reading import Given
from gramlearn.plots.report.scores import score_given, score_held_back
from gramlearn.plots.report.statements import Listed, list_statements
from gramlearn.plots.report.words import about, headline
from gramlearn.side_information import SideInformation
from gramlearn.side_information.ranking import RankedStatements

__all__ = ["report"]


def report(
    learner: Any,
    X: Any,
    side: SideInformation | None = None,
    y: Any = None,
    *,
    path: str | Path,
    items: Any = None,
    ids: Any = None,
    title: str | None = None,
    suspects: RankedStatements | bool | None = None,
    seed: int = 0,
) -> Path:
    """Write a page about a fitted learner: its verdict, maps before and after, statements, certificate.

    Parameters
    ----------
    learner : fitted estimator
        One that learns from statements, such as MetricLearner, KernelLearner or OnlineMetricLearner. What it
        does not have is left out, with a word.
    X : array, sparse matrix or data frame n x d
        The points to show, such as those that were held back.
    side : Pairs, Triplets or Bounds, optional
        Statements about the rows of X, by which before and after are compared; best some that were not learned
        from.
    y : vector of n labels, optional
        The colors of the maps. Without `side`, what before and after are compared by.
    path : str or Path
        The file to write, such as "report.html".
    items : sequence of n, optional
        What the points are: texts, or for images a Path each, of a PNG, JPEG, GIF or WebP file, or an array
        n x height x width of gray values, or n x height x width x 3 of colors, uint8 or from 0 to 1. A text is
        never read as the name of a file.
    ids : sequence of n, optional
        What the points are called; without it by their row numbers.
    title : str, optional
    suspects : RankedStatements or bool, optional
        What `suspects` gave for these statements. True asks for it here, which fits ten times; None does so
        where there are at most 2,000 statements and 100 features, and False leaves it out.
    seed : int
        Seeds the draws: of points to show, of pairs from labels.

    Returns
    -------
    Path
        Where the page is.
    """
    given = Given.read(learner, X, side, y, seed)
    learner = given.learner
    named = Items.read(items, ids, given.n_points)
    listed: Listed = list_statements(given, suspects)
    rows = choose_rows(given, listed.rows)
    scored = score_given(given)
    content = {
        "about": about(given, len(rows)),
        "scores": {"given": scored, "held_back": score_held_back(learner)},
        "maps": maps_of(given, rows),
        "items": named.of(rows, first=listed.rows),
        "lengths": lengths_of(given),
        "features": features_of(learner),
        "directions": directions_of(learner, given.X),
        "statements": listed.in_terms_of(rows),
        "certificate": certificate_of(learner),
        "trials": trials_of(learner),
    }
    name = f"What this {type(learner).__name__} learned" if title is None else str(title)
    text = fill_page(name, headline(learner, scored), content)
    write_text(path, text)
    return Path(path)
