"""Rows as Markdown."""

from itertools import groupby

__all__ = ["markdown_table"]


def markdown_table(rows: list[dict[str, str]]) -> str:
    """A table of rows; where the columns change, another one."""
    tables = []
    for head, of_head in groupby(rows, key=list):
        lines = [_line(head), _line(["---"] * len(head))]
        tables.append(
            "\n".join(lines + [_line([row[column] for column in head]) for row in of_head])
        )
    return "\n\n".join(tables)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
