"""What a run found, counted: by stream and ending, by part, and every distinct finding with an example."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stress.formulas import LOSSES, MATRICES, REGULARIZERS
from stress.outcome import UNFINISHED, Finding
from stress.store import path_of, read_lines
from stress.tasks import GROUPS, STREAMS, Task

__all__ = [
    "BY_CHOICE",
    "Case",
    "count_outcomes",
    "describe_finding",
    "group_findings",
    "is_unfinished",
    "is_users",
    "list_outcomes",
    "list_starts",
    "make_tables",
    "markdown_table",
    "write_report",
]

BY_CHOICE = "By who chose the solver"

Groups = Callable[[Mapping[str, Any]], Iterable[str]]


class Case(NamedTuple):
    """A distinct finding: how often it was seen, in which streams, and the tasks that show it."""

    finding: Finding
    ids: list[str]

    @property
    def streams(self) -> str:
        """Such as "wild 3, mild 1"."""
        seen = Counter(name.split("-")[0] for name in self.ids)
        return ", ".join(f"{stream} {number}" for stream, number in seen.most_common())


def list_outcomes(folder: Path) -> list[dict[str, Any]]:
    """The lines of all tasks."""
    path = path_of(folder)
    try:
        lines = [line for line in read_lines(folder) if "id" in line]
        make_tables(lines), group_findings(lines)  # all that is counted is there
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} has lines that no run has written, or damaged ones ({type(error).__name__}); remove them, "
            "and the run goes on with what they were of."
        ) from error
    if not lines:
        raise ValueError(
            f"there are no results in {path}; `python -m stress run --out {folder}` makes some."
        )
    return lines


def list_starts(folder: Path) -> list[dict[str, Any]]:
    """Who ran it, when, on what."""
    return [line["start"] for line in read_lines(folder) if "start" in line]


def is_unfinished(line: Mapping[str, Any]) -> bool:
    """Whether it ended without an answer: at the limit, or stuck before."""
    return line["ending"] == "unfinished" or line["status"] in UNFINISHED


def group_findings(lines: Iterable[Mapping[str, Any]]) -> list[Case]:
    """Distinct findings, the most frequent first."""
    found: dict[tuple[str, str], list[tuple[str, Finding]]] = defaultdict(list)
    for line in lines:
        for entry in line["findings"]:
            finding = Finding(**entry)
            found[finding.kind, finding.key].append((line["id"], finding))
    listed = [Case(seen[0][1], [name for name, _ in seen]) for seen in found.values()]
    return sorted(listed, key=lambda case: (-len(case.ids), case.finding))


def count_outcomes(lines: Sequence[Mapping[str, Any]], groups_of: Groups) -> list[dict[str, Any]]:
    """A row for each group: tried, answered, refused, unfinished (how many stuck, the share), with findings."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        for group in groups_of(line):
            groups[group].append(line)
    rows = []
    for group, members in sorted(groups.items()):
        unfinished = sum(map(is_unfinished, members))
        refused = sum(line["ending"] == "refused" for line in members)
        broken = sum(line["ending"] == "broken" for line in members)
        rows.append(
            {
                "": group,
                "tried": len(members),
                "answered": len(members) - unfinished - refused - broken,
                "refused": refused,
                "unfinished": unfinished,
                "of these stuck": sum(line["status"] == "STALLED" for line in members),
                "share unfinished": f"{100 * unfinished / len(members):.2f} %",
                "with findings": sum(bool(line["findings"]) for line in members),
            }
        )
    return rows


def group_by_parts(parts: Iterable[str]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Group by those labels that are among these."""
    known = set(parts)
    return lambda line: [label for label in line["labels"] if label in known]


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as Markdown."""
    if not rows:
        return "nothing\n"
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([str(row[name]) for name in head] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def select_group(lines: Sequence[Mapping[str, Any]], group: str) -> list[Mapping[str, Any]]:
    """Those whose stream is of this group."""
    return [line for line in lines if STREAMS[line["stream"]].group == group]


def make_tables(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Every table of counts by its title."""
    by_group = {name: select_group(lines, name) for name in GROUPS}
    problems = by_group["problems"]
    asked: list[tuple[str, Sequence[Mapping[str, Any]], Groups]] = [
        ("What was tried", lines, lambda line: [line["stream"]]),
        (BY_CHOICE, problems, lambda line: [f"{line['stream']}, {_choice(line)}"]),
        ("By status", problems, lambda line: [line["status"] or line["ending"]]),
        ("By regularizer", problems, group_by_parts(REGULARIZERS)),
        ("By loss", problems, group_by_parts(LOSSES)),
        ("By constraint", problems, group_by_parts(MATRICES)),
        ("By solver", problems, lambda line: [line["solver"]]),
        ("By estimator", by_group["estimators"], lambda line: line["labels"][:1]),
        ("By reader", by_group["readers"], lambda line: line["labels"][:1]),
        ("By command", by_group["commands"], lambda line: line["labels"][:1]),
    ]
    return {title: count_outcomes(some, groups) for title, some, groups in asked if some}


def is_users(line: Mapping[str, Any]) -> bool:
    """Whether it is a problem as most users pose it: the library chose the solver."""
    return bool(line["solver"] == "auto")


def _choice(line: Mapping[str, Any]) -> str:
    return "the library" if is_users(line) else "a name"


def write_report(folder: Path, example: Callable[[Task, Finding], str] | None) -> str:
    """All of it as Markdown; `example` makes the program of a finding."""
    lines = list_outcomes(folder)
    text = []
    for title, rows in make_tables(lines).items():
        text += [f"## {title}\n", markdown_table(rows)]
    found = group_findings(lines)
    text.append(f"## Findings: {len(found)}\n")
    for case in found:
        text += describe_finding(case, example)
    return "\n".join(text)


def describe_finding(case: Case, example: Callable[[Task, Finding], str] | None) -> list[str]:
    """One finding in words, with its program."""
    finding, shown = case.finding, ", ".join(case.ids[:5])
    text = [f"### {finding.kind}: {finding.key}\n"]
    text.append(f"{_times(len(case.ids))} ({case.streams}), such as {shown}: {finding.words}\n")
    if example is not None:
        text.append(f"```py\n{example(Task.of(case.ids[0]), finding)}```\n")
    return text


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
