"""One word, one meaning: a parameter has the same first sentence in every estimator and in docs/api.md."""

import inspect
import re
from pathlib import Path

import pytest

from gramlearn import estimators

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^(\S.*?) : (.+)\n((?:    .*\n?)+)", re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)

every_estimator = pytest.mark.parametrize("name", estimators.__all__)


def parameters(name: str) -> list[str]:
    return list(inspect.signature(getattr(estimators, name)).parameters)


def descriptions(name: str) -> dict[str, str]:
    """What the docstring says of each parameter, on one line."""
    docstring = inspect.getdoc(getattr(estimators, name)) or ""
    section = re.split(r"^(?:Parameters|Attributes)\n-+\n", docstring, flags=re.MULTILINE)[1]
    return {word: " ".join(text.split()) for word, _, text in ENTRY.findall(section)}


def table() -> dict[str, tuple[str, list[str]]]:
    """The meaning of each parameter, and the estimators that have it, as the page says."""
    section = re.split(r"^#+ Parameters, by name$", PAGE, flags=re.MULTILINE)[1]
    section = re.split(r"^#", section, flags=re.MULTILINE)[0]
    rows = ROW.findall(section)
    assert [word for word, _, _ in rows] == sorted((row[0] for row in rows), key=str.lower)
    return {word: (meaning, owners.split(", ")) for word, meaning, owners in rows}


@every_estimator
def test_a_docstring_has_every_parameter_in_the_order_of_the_signature(name: str) -> None:
    assert list(descriptions(name)) == parameters(name)


@every_estimator
def test_a_parameter_means_what_the_page_says(name: str) -> None:
    meanings = {word: meaning for word, (meaning, _) in table().items()}
    for word, text in descriptions(name).items():
        assert f"{text} ".startswith(f"{meanings[word]} "), f"{name}({word}=...): {text}"


def test_a_meaning_is_one_sentence() -> None:
    meanings = [meaning for meaning, _ in table().values()]
    assert not [text for text in meanings if not re.fullmatch(r"(?:[^.]|\.(?=\S))+\.", text)]


def test_the_page_names_the_estimators_that_have_a_parameter() -> None:
    having = {
        word: [
            name for name in sorted(estimators.__all__, key=str.lower) if word in parameters(name)
        ]
        for word in {word for name in estimators.__all__ for word in parameters(name)}
    }
    assert {word: owners for word, (_, owners) in table().items()} == having
