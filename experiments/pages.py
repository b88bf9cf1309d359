"""From runs to documents: what is new is published, and the pages and their pictures are written from that."""

from pathlib import Path

from tools.whole_files import write_whole

from experiments import reproductions
from experiments.document import document, lacks
from experiments.experiment import Experiment
from experiments.guide import with_table
from experiments.outcome import Outcome
from experiments.publishing import publish, published
from experiments.report import draw
from experiments.runner import open_run
from gramlearn.datasets import DatasetNotFoundError

__all__ = ["GUIDE", "published_outcomes", "write_page"]

GUIDE = "how-to-choose.md"  # beside the page


def write_page(out: Path, folder: Path, to: Path) -> dict[str, str]:
    """Publish the runs in `out` into `folder`, and write the page, its pictures and the table of the guide.

    Gives what is not complete.
    """
    for name in reproductions.names():
        experiment = reproductions.find(name)
        run, known = _run_of(name, experiment, out), published(name, experiment, folder)
        # A run that is not over does not take the place of one that is.
        if run and (known is None or len(run.done) >= len(known.done)):
            publish(run, folder)
    outcomes, missing = published_outcomes(folder)
    write_whole(to, document(outcomes, missing))
    guide = to.parent / GUIDE
    if guide.exists():
        write_whole(guide, with_table(guide.read_text(encoding="utf-8"), outcomes))
    for outcome in outcomes:
        draw(outcome, to.parent / "images" / f"{outcome.name}.png")
    return missing | lacks(outcomes)


def published_outcomes(folder: Path) -> tuple[list[Outcome], dict[str, str]]:
    """What was published of all experiments, and why it is nothing of others."""
    outcomes, missing = [], {}
    for name in reproductions.names():
        outcome = published(name, reproductions.find(name), folder)
        if outcome:
            outcomes.append(outcome)
        else:
            missing[name] = (
                f"its present version has no results; `python -m experiments run {name}` makes them."
            )
    return outcomes, missing


def _run_of(name: str, experiment: Experiment, out: Path) -> Outcome | None:
    """The run of it in this folder, if there is one that can be read."""
    if not (out / name).is_dir():  # before its data are asked for, which may have to be fetched
        return None
    try:
        outcome = open_run(name, experiment, False, 0, out).outcome()
    except DatasetNotFoundError:  # without its data a run cannot be told from one with others
        return None
    return outcome if outcome.records else None
