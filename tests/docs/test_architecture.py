"""The rooms of the library are those of docs/architecture.md, and what is private to a room stays in it.

That a room imports only from the rooms below it is checked by import-linter, see pyproject.toml.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "src" / "gramlearn"
ROOMS = {path.parent.name for path in LIBRARY.glob("*/__init__.py")}
TESTED_ELSEWHERE = {"docs", "golden", "benchmarks", "experiments", "stress"}  # not rooms


def list_imports(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the full dotted name of whatever a file imports from the library."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno} imports from a relative path"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.startswith("gramlearn."))


def find_private_imports(room: str) -> list[str]:
    """The imports in a room of what another room keeps behind an underscore."""
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sorted((LIBRARY / room).rglob("*.py"))
        for line, name in list_imports(path)
        for other, *inner in [name.split(".")[1:]]
        if other != room and any(re.match(r"_(?!_)", part) for part in inner)
    ]


def test_the_library_has_at_most_15_entries() -> None:
    """Those with code: few enough to tell from their names where a new thing goes."""
    no_code = ("__pycache__", "py.typed")
    entries = [path.name for path in LIBRARY.iterdir() if path.name not in no_code]
    assert len(entries) <= 15, entries


def test_the_table_of_rooms_names_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("| room | what it holds |\n|---|---|\n")[1].split("\n\n")[0]
    named = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()]
    assert {room for row in named for room in row} == ROOMS


def test_the_tests_have_a_folder_for_every_room() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders == {room.strip("_") for room in ROOMS} | TESTED_ELSEWHERE


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_no_room_imports_what_is_private_to_another(room: str) -> None:
    assert find_private_imports(room) == []
