"""Columns found by their names: case, spaces, hyphens and underscores do not matter."""

import re
from collections.abc import Iterable

from gramlearn.files.formats.table import Table, listed, shown
from gramlearn.sources.errors import FileError

_IGNORED = re.compile(r"[\s_\-.]+")


def plain(name: str) -> str:
    """A name without what does not matter."""
    return _IGNORED.sub("", name).lower()


def find_column(names: Iterable[str], wanted: Iterable[str]) -> str | None:
    """The column that has the first of the wanted names that any has."""
    by_name: dict[str, str] = {}
    for name in names:
        by_name.setdefault(plain(name), name)
    return next((by_name[name] for name in wanted if name in by_name), None)


def named_column(table: Table, name: str, argument: str) -> str:
    """The column that the user named, as it stands or but for what does not matter."""
    if name in table.columns:
        return name
    found = find_column(table.columns, [plain(name)])
    if found is None:
        raise FileError(
            f"`{argument}` names the column {shown(name)}, which {table.source} does not have; it has "
            f"{listed(table.columns)}."
        )
    return found
