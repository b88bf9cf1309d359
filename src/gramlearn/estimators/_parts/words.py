"""true, 3, 0.5, "text": the parts that JSON itself has."""

import math
from collections.abc import Mapping
from typing import Any, final

from gramlearn._base.printable import is_printable
from gramlearn.estimators._parts.base import FilePart, Incoming, Outgoing

INFINITE = {"inf": math.inf, "-inf": -math.inf}
LARGEST = 2**63 - 1  # of whole numbers


@final
class Flag(FilePart):
    """True or false."""

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return bool(value)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if not isinstance(given, bool):
            of.fail(name, f"is {given!r:.40}, and should be true or false")
        return given


@final
class Whole(FilePart):
    """A whole number of at least so many; with a symbol, the size that arrays have by that name."""

    def __init__(self, least: int = 0, symbol: str = "") -> None:
        self._least, self._symbol = least, symbol

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return int(value)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if type(given) is not int or not self._least <= given <= LARGEST:
            of.fail(name, f"is {given!r:.40}, and should be a whole number from {self._least}")
        if self._symbol:
            of.agree(self._symbol, given, name)
        return given


@final
class Number(FilePart):
    """A number in a range; infinity is the text "inf", where it is allowed."""

    def __init__(
        self, least: float = -math.inf, most: float = math.inf, *, may_be_infinite: bool = False
    ) -> None:
        self._least, self._most, self._may_be_infinite = least, most, may_be_infinite

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        number = float(value)
        return str(number) if math.isinf(number) and self._may_be_infinite else number

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if self._may_be_infinite and isinstance(given, str) and given in INFINITE:
            return INFINITE[given]
        is_number = type(given) is float or (type(given) is int and abs(given) <= LARGEST)
        if not is_number or not math.isfinite(given) or not self._least <= given <= self._most:
            of.fail(name, f"is {given!r:.40}, and should be a number within its range")
        return float(given)


@final
class Text(FilePart):
    """Text of the library, which has printable signs alone."""

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return str(value)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if not isinstance(given, str) or not is_writable(given) or not is_printable(given):
            of.fail(name, f"is {given!a:.40}, and should be text of printable signs")
        return given


@final
class Choice(FilePart):
    """One of a few words, each of which stands for a value."""

    def __init__(self, words: Mapping[str, Any]) -> None:
        self._words = dict(words)

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return next(word for word, meant in self._words.items() if meant is value)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if not isinstance(given, str) or given not in self._words:
            of.fail(name, f"is {given!r:.40}, and should be one of {', '.join(self._words)}")
        return self._words[given]


def read_word(given: Any, name: str, of: Incoming) -> Any:
    """None, a flag, a number or text."""
    is_known = given is None or isinstance(given, bool | int | float | str)
    if not is_known:
        of.fail(name, "is neither text nor a number")
    if isinstance(given, int) and abs(given) > LARGEST:
        of.fail(name, "is too large a number")
    if isinstance(given, float) and not math.isfinite(given):
        of.fail(name, "is no finite number")
    if isinstance(given, str) and not is_writable(given):
        of.fail(name, "is no text")
    return given


def is_writable(text: str) -> bool:
    """Whether it is text in any encoding: halves of characters are not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
