"""Text of a stranger for a terminal: what it would obey is written as in a literal, and all else stays."""

import unicodedata
from typing import Any

# Controls, halves of characters, ends of lines and of paragraphs; these turn the direction of writing.
_OBEYED = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def is_printable(text: str) -> bool:
    """Whether no sign in it moves a cursor, changes colors, or turns the direction of writing."""
    return text.isprintable() or not any(map(_is_obeyed, text))


def printable(text: str) -> str:
    """The text, with each such sign as in a literal."""
    if is_printable(text):
        return text
    return "".join(c.encode("unicode_escape").decode("ascii") if _is_obeyed(c) else c for c in text)


def with_printable_texts(value: Any) -> Any:
    """The same JSON with such texts, names included."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [with_printable_texts(one) for one in value]
    if isinstance(value, dict):
        return {printable(name): with_printable_texts(one) for name, one in value.items()}
    return value


def _is_obeyed(sign: str) -> bool:
    return unicodedata.category(sign) in _OBEYED or sign in _TURNS
