"""What the points are, in words or pictures, cut so that all of them fit into the page.

Texts are data: they may hold anything. Files are read for a Path alone, so that no text makes a file of this
machine a part of the page, and only pictures are taken.
"""

import struct
import zlib
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from gramlearn.plots.report.page import as_block

_LONGEST = (2000, 1000, 500, 240, 120, 60, 30, 12)  # letters of one text
_ALL_TEXTS, _ALL_IDS, _ALL_IMAGES = 1_000_000, 250_000, 1_200_000  # bytes of the page
_ID = 80
_KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}
_BITS = 8  # of a number in a picture
_GRAY, _COLORS = 0, {3: 2, 4: 6}  # as PNG calls them, colors by how many numbers a point has


@final
@dataclass(frozen=True, eq=False)
class Items:
    """Texts, or pictures, and names of points, each or none."""

    texts: list[str] | None = None
    images: list[Path] | np.ndarray | None = None
    ids: list[str] | None = None

    @classmethod
    def read(cls, items: Any, ids: Any, n_points: int) -> Self:
        """As given, one for each point."""
        names = None if ids is None else [_text(name) for name in _listed(ids, "ids", n_points)]
        if items is None:
            return cls(ids=names)
        known = _listed(items, "items", n_points)
        if any(getattr(item, "ndim", 0) for item in known):
            return cls(images=gray_or_colors(items), ids=names)
        are_paths = [isinstance(item, Path) for item in known]
        if all(are_paths):
            return cls(images=known, ids=names)
        if any(are_paths):
            raise TypeError(
                "`items` holds both texts and paths of pictures; pass a Path for each point, or a text for "
                "each."
            )
        return cls(texts=[_text(item) for item in known], ids=names)

    def of(self, rows: np.ndarray, first: np.ndarray) -> dict[str, Any]:
        """Those of some points; of pictures, where not all fit, those named first and as many others as do."""
        shown = [int(row) for row in rows]
        return {
            "texts": None
            if self.texts is None
            else _cut([self.texts[k] for k in shown], _ALL_TEXTS),
            "ids": None if self.ids is None else _cut([self.ids[k] for k in shown], _ALL_IDS, _ID),
            "are_small": isinstance(self.images, np.ndarray),
            "images": None if self.images is None else self._images(shown, {int(k) for k in first}),
        }

    def _images(self, rows: list[int], first: set[int]) -> dict[str, str]:
        """The picture of each place among the rows, as a data address."""
        found: dict[str, str] = {}
        left = _ALL_IMAGES
        for place in sorted(range(len(rows)), key=lambda place: rows[place] not in first):
            address = self._image(rows[place])
            if len(address) <= left:
                found[str(place)] = address
                left -= len(address)
        return found

    def _image(self, row: int) -> str:
        assert self.images is not None
        if isinstance(self.images, np.ndarray):
            return _address(as_png(self.images[row]), "png")
        path = self.images[row]
        try:
            if path.stat().st_size > _ALL_IMAGES:
                return " " * (_ALL_IMAGES + 1)  # as long as no address may be
            data = path.read_bytes()
        except OSError as error:
            raise ValueError(
                f"`items[{row}]` is {path}, which could not be read ({(error.strerror or '').lower()}); pass a "
                "text, or the Path of a picture."
            ) from None
        kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            kind = "webp"
        if kind is None:
            raise ValueError(
                f"`items[{row}]` is {path}, which is no PNG, JPEG, GIF or WebP file; pass a text, or the Path "
                "of such a picture."
            )
        return _address(data, kind)


def _listed(values: Any, name: str, n_points: int) -> list[Any]:
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise TypeError(f"`{name}` must be a sequence, one for each point; got {values!r:.60}.")
    found = list(values)
    if len(found) != n_points:
        raise ValueError(
            f"`{name}` has {len(found):,} entries, but `X` has {n_points:,} rows; pass one for each."
        )
    return found


def _text(value: Any) -> str:
    """Any text that can be written down: halves of letters become question marks."""
    return str(value).encode("utf-8", "replace").decode()


def _cut(texts: list[str], most: int, longest: int = _LONGEST[0]) -> list[str]:
    """The texts, all cut to one length at which they fit, with the number of letters left out."""
    cut: list[str] = []
    for length in [length for length in (longest, *_LONGEST) if length <= longest]:
        cut = [text if len(text) <= length else _shortened(text, length) for text in texts]
        if len(as_block(cut).encode()) <= most:
            break
    return cut


def _shortened(text: str, length: int) -> str:
    return f"{text[:length]} … ({len(text) - length:,} more letters)"


def _address(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{b64encode(data).decode()}"


def gray_or_colors(items: Any) -> np.ndarray:
    """Gray values or colors as whole numbers from 0 to 255; gray ones from the least to the largest of all."""
    try:
        values = np.asarray(items)
    except ValueError:  # of pictures that differ in size
        raise ValueError(
            "`items` holds arrays of different shapes; pass pictures of one size, or a Path of a picture each."
        ) from None
    are_colors = values.ndim == 4 and values.shape[3] in _COLORS
    if not (are_colors or values.ndim == 3) or 0 in values.shape:
        raise ValueError(
            f"`items` is an array of shape {values.shape}; pass texts, or pictures as n x height x width gray "
            "values, or n x height x width x 3 colors (4 with opacity)."
        )
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        raise ValueError("`items` must hold finite gray values or colors, or texts.")
    low, high = float(values.min()), float(values.max())
    if are_colors:
        if values.dtype.kind == "f" and low >= 0 and high <= 1:
            return np.asarray(np.rint(values * 255)).astype(np.uint8)
        raise ValueError(
            f"`items` has colors of {values.dtype} from {low:g} to {high:g}; pass whole numbers from 0 to 255, "
            "of type uint8, or floating ones from 0 to 1."
        )
    return np.asarray(np.rint((values - low) * (255 / (high - low or 1.0)))).astype(np.uint8)


def as_png(picture: np.ndarray) -> bytes:
    """A picture as a PNG file: its size, its rows, each after a zero, and an end."""
    height, width = picture.shape[:2]
    kind = _GRAY if picture.ndim == 2 else _COLORS[picture.shape[2]]
    size = struct.pack(">IIBBBBB", width, height, _BITS, kind, 0, 0, 0)
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    parts = [(b"IHDR", size), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return next(iter(_KINDS)) + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
