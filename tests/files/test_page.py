"""Every example of a file on docs/files.md is read as the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

from gramlearn.files.judgments import read_judgments
from gramlearn.files.points import Points

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
SECTIONS = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
BLOCK = re.compile(r"^```(csv|tsv|jsonl|json|trec)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    (section.partition("\n")[0], format, text)
    for section in SECTIONS
    for format, text in BLOCK.findall(section)
]
POINTS = Points(np.eye(6), ids=["mug", "cup", "bowl", "plate", "fork", "spoon"])


def test_every_shape_has_an_example():
    """But for a store of answers, which is no text."""
    assert len({heading for heading, _, _ in EXAMPLES}) == len(SECTIONS) - 1 == 9


@pytest.mark.parametrize(("heading", "format", "text"), EXAMPLES)
def test_an_example_is_read(tmp_path, heading, format, text):
    path = tmp_path / "example"
    path.write_text(text)
    judgments = read_judgments(path, POINTS, format=format)
    named = re.match(r"`(\w+)`", heading)
    assert judgments.shape == (named[1] if named else "pairs")
    # Of three scores the one between is left out; all else counts.
    assert len(judgments.dropped) == (judgments.shape == "scores")
