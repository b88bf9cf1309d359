"""A bar that moves as the relative gap falls from 1 to tol: on a terminal, in a notebook, not in a log."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gramlearn.problem.solution import Record
from gramlearn.solvers.loop import check_callback

_BAR = "{desc} |{bar:30}| {elapsed}{postfix}"


@contextmanager
def progress_bar(
    title: str, tol: float, show: bool = True, callback: Callable[[Record], object] | None = None
) -> Iterator[Callable[[Record], object] | None]:
    """A callback for `solve` that moves a bar, if one shall be shown, and calls the user's own."""
    check_callback(callback)
    if not show:
        yield callback
        return
    from tqdm import tqdm

    # A notebook is no terminal, but rewrites a line as one does; None leaves the decision to the stream.
    disable = False if _is_notebook(sys.stderr) else None
    with tqdm(total=100, desc=title, disable=disable, leave=False, bar_format=_BAR) as bar:

        def move(record: Record) -> object:
            gap = record.certificate.relative_gap
            left = max(gap, record.certificate.violation)
            done = 100 * math.log(min(max(left, tol), 1.0)) / math.log(tol) if tol < 1 else 100
            # A method may need some steps to its first certificate.
            known = f"relative gap {gap:.1e}" if gap < math.inf else f"step {record.iteration}"
            bar.set_postfix_str(known, refresh=False)
            bar.update(max(done - bar.n, 0))
            return None if callback is None else callback(record)

        yield move


@contextmanager
def counting_bar(title: str, show: bool = True) -> Iterator[Callable[[], object]]:
    """A function to call after each of a number of things that is not known before; it moves a counter."""
    if not show:
        yield lambda: None
        return
    from tqdm import tqdm

    disable = False if _is_notebook(sys.stderr) else None
    with tqdm(desc=title, disable=disable, leave=False, unit=" candidates") as bar:
        yield bar.update


def _is_notebook(stream: object) -> bool:
    """Whether the stream is that of a Jupyter kernel."""
    return type(stream).__module__.split(".")[0] == "ipykernel"
