"""The files of the page, by name: what a browser asks for is looked up here and is never a path on the disk.

HTML, CSS and ES modules by hand, without a build step; the look and the small parts are those of the report.
"""

from functools import cache
from importlib.resources import files

from gramlearn.plots.web import web_part

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_SHARED = ("look.css", "parts.js", "points.js")


@cache
def page_files() -> dict[str, tuple[str, bytes]]:
    """(content type, bytes) of every file; `index.html` is the page, the others stand under /page/."""
    own = {
        part.name: part.read_bytes()
        for part in files("gramlearn.app.studio.page").iterdir()
        if _ending(part.name) in _TYPES
    }
    shared = {name: web_part(name).encode() for name in _SHARED}
    return {name: (_TYPES[_ending(name)], text) for name, text in (own | shared).items()}


def _ending(name: str) -> str:
    return name[name.rfind(".") :]
