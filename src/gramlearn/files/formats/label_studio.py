"""Label Studio's JSON export -> a table: a row for each answer of an annotator, with the data of its task.

`Choices` and `Rating` say how alike the items of a task are; `Pairwise` says which of two, left or right, is
nearer to the third.
"""

from typing import Any

from gramlearn.files.columns import plain
from gramlearn.files.formats.json_records import make_table
from gramlearn.files.formats.table import Table, listed
from gramlearn.sources.errors import FileError

_THIRD = ("anchor", "query", "reference", "prompt", "item")
_SIDES = ("left", "right")


def is_label_studio(content: Any) -> bool:
    """Whether JSON is a list of tasks with annotations."""
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(task, dict) for task in content)
        and all(isinstance(task.get("data"), dict) for task in content)
        and any("annotations" in task or "completions" in task for task in content)
    )


def read_label_studio(tasks: list[dict[str, Any]], name: str) -> Table:
    """Answers as the columns "alike", "score" or "chosen" and "passed over"; None where a task has none."""
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for k, task in enumerate(tasks):
        number = task.get("id", k)
        for answer in _answers(task) or [{}]:
            if "selected" in answer:
                answer = _chosen(task["data"], answer["selected"], f"{name}, task {number}")
            rows.append({**task["data"], **answer})
            numbers.append(number)
    if not any(set(row) & {"alike", "score", "chosen"} for row in rows):
        raise FileError(
            f"{name} has {len(tasks):,} tasks of Label Studio, but no answer of Choices, Rating or Pairwise."
        )
    return make_table(name, rows, numbers, unit="task")


def _answers(task: dict[str, Any]) -> list[dict[str, Any]]:
    """One for each annotation: what was answered, and "skipped" where it was cancelled."""
    answers: list[dict[str, Any]] = []
    for annotation in task.get("annotations") or task.get("completions") or []:
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            answers.append({"alike": "skipped"})
            continue
        found: dict[str, Any] = {}
        for result in annotation.get("result") or []:
            value = result.get("value") if isinstance(result, dict) else None
            if not isinstance(value, dict):
                continue
            if isinstance(choices := value.get("choices"), list) and choices:
                # Of several choices none is the answer; together they are a word that is not known.
                found["alike"] = " and ".join(map(str, choices))
            elif "selected" in value:
                found["selected"] = value["selected"]
            elif "rating" in value:
                found["score"] = value["rating"]
        answers.append(found)
    return answers


def _chosen(data: dict[str, Any], selected: Any, place: str) -> dict[str, Any]:
    """(query, chosen, passed over) of two items, of which the left or the right was selected."""
    third = next((key for key in data if plain(key) in _THIRD), None)
    if third is None:
        raise FileError(
            f"{place} has the answer of a Pairwise, but nothing that the two are compared with, only "
            f"{listed(data)}; name it 'anchor' in the data of the task."
        )
    others = [key for key in data if key != third and isinstance(data[key], str | int | float)]
    by_side = {side: key for side in _SIDES for key in others if plain(key).startswith(side)}
    if len(by_side) < 2 and len(others) == 2:
        by_side = dict(zip(_SIDES, others, strict=True))
    if len(by_side) < 2:
        raise FileError(
            f"{place} has the answer of a Pairwise, and it cannot be told which of {listed(others)} was left "
            "and which right; name them 'left' and 'right' in the data of the task."
        )
    left, right = data[by_side["left"]], data[by_side["right"]]
    pairs = {"left": (left, right), "right": (right, left)}
    chosen, passed_over = pairs.get(str(selected).lower(), (None, None))
    return {"query": data[third], "chosen": chosen, "passed over": passed_over}
