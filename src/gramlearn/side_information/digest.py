"""SHA-256 of what is known: the same for the same statements about the same rows, in the same order."""

from collections.abc import Iterable
from dataclasses import fields
from hashlib import sha256
from typing import Any, cast

import numpy as np

from gramlearn._base.arrays import to_numpy
from gramlearn.side_information.base import SideInformation


def digest_statements(side: SideInformation) -> str:
    """Of all that the statements hold, weights and bounds as well."""
    parts = [as_bytes(getattr(side, field.name)) for field in fields(cast(Any, side))]
    return digest(type(side).__name__, parts)


def digest(kind: str, parts: Iterable[bytes]) -> str:
    """Of a kind of thing and its parts, each with its length: what ends one cannot begin the next."""
    found = sha256(kind.encode())
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def as_bytes(value: Any) -> bytes:
    """Numbers, words, None, or an array of them."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value).encode("utf-8", "replace")
    array = to_numpy(value)
    if array.dtype.kind in "OU":
        return "\0".join(map(str, array.ravel().tolist())).encode("utf-8", "replace")
    return np.ascontiguousarray(array).tobytes()
