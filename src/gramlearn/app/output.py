"""stdout = what was asked for; stderr = all that is said beside it.

With --json the answer is one JSON object, and numbers that are none (a gap that is infinite) are null.
"""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gramlearn._base.printable import printable

Rows = Sequence[tuple[str, str]]

DONE = 0
LOOK = 1  # an answer to look at: not certified, infeasible, of no help
WRONG = 2  # what the user gave
INTERRUPTED = 130


def say(words: str) -> None:
    """A line for a person, on stderr."""
    print(words, file=sys.stderr)


def show(
    answer: Mapping[str, Any], lines: Sequence[str], as_json: bool, to_stderr: bool = False
) -> None:
    """The answer as one JSON object on stdout, or in lines; on stderr where stdout holds data."""
    if as_json:
        lines = [json.dumps(plain(answer), ensure_ascii=False, allow_nan=False)]
    stream = sys.stderr if to_stderr else sys.stdout
    for line in lines:
        print(line if as_json else printable(line), file=stream)


def aligned(rows: Rows) -> list[str]:
    """Names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {value}" for name, value in rows]


def plain(value: Any) -> Any:
    """The same of what JSON has: NumPy's numbers and arrays become its own."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


@contextmanager
def warnings_said() -> Iterator[list[str]]:
    """Warnings of the library as lines on stderr; the list holds their words."""
    import warnings

    said: list[str] = []

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        words = str(message)
        if issubclass(category, DeprecationWarning) or words in said:
            return
        said.append(words)
        say(f"gramlearn: note: {printable(words)}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # Names are compared where files are read, and arrays have none.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        warnings.showwarning = note
        yield said
