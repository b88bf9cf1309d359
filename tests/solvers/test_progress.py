"""A bar on a terminal and in a notebook; nothing in a log."""

import io
import sys

import pytest
from sklearn.datasets import load_iris

from gramlearn import MetricLearner


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Notebook(io.StringIO):
    """A stream as Jupyter's kernel has it: no terminal, from its package."""

    __module__ = "ipykernel.iostream"


@pytest.mark.parametrize(
    ("stream", "is_shown"), [(Terminal, True), (Notebook, True), (io.StringIO, False)]
)
@pytest.mark.parametrize("verbose", [0, 1])
def test_progress_is_shown_on_a_terminal_and_in_a_notebook(stream, is_shown, verbose, monkeypatch):
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    MetricLearner(verbose=verbose, random_state=0, C=1.0).fit(*load_iris(return_X_y=True))
    shown = written.getvalue()
    assert ("learning" in shown) == bool(is_shown and verbose)
    assert "\n" not in shown.strip("\n")  # one line, that is written anew
