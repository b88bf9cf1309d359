"""template + style + script + data = one file that asks for nothing from anywhere, by its own policy.

The policy allows the script and the style by the hashes of their bytes, and pictures by data addresses. What
the user gave is data: it stands in a block that is never run, with every sign escaped that could end it.
"""

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from gramlearn.plots.web import as_script, web_part

_LONGEST_TITLE = 200
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029\x7f"}


def fill_page(title: str, sentences: list[str], content: dict[str, Any]) -> str:
    """The text of the file."""
    style = web_part("look.css") + _part("page.css")
    script = as_script("parts.js", "points.js") + _part("page.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…"
    first, *others = [escape(_written(sentence)) for sentence in sentences]
    return Template(_part("page.html")).substitute(
        policy=policy,
        title=escape(_written(title)),
        verdict=first,
        besides="".join(f'<p class="besides">{sentence}</p>' for sentence in others),
        style=style,
        script=script,
        data=as_block(content),
    )


def as_block(content: Any) -> str:
    """JSON that may stand in a block of a page, whatever it says."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode().translate(_ESCAPED)


def _written(text: str) -> str:
    """As UTF-8 can hold it, without signs that HTML has no place for."""
    text = text.encode("utf-8", "replace").decode()
    return "".join(sign if sign >= " " or sign in "\t\n" else " " for sign in text)


def _part(name: str) -> str:
    return files("gramlearn.plots.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
