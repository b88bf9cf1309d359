"""5, "rbf", (5, 95), Hinge(2.0): parameters as users give them, and nothing that is a program."""

import math
from collections.abc import Collection, Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, cast, final

import numpy as np

from gramlearn.estimators._parts.base import FilePart, Incoming, Outgoing
from gramlearn.estimators._parts.words import INFINITE, LARGEST, is_writable, read_word
from gramlearn.files.model_file import is_storable


class NotPlainError(Exception):
    """A value that no model file holds; its text says what it is."""


@final
class Plain(FilePart):
    """What users pass as a parameter: what JSON has, tuples, arrays, and parts of the library by their names.

    Parts that are quick to make are kept by their parameters, others by what was worked out.

    In JSON an object has one name, which says what it is: "tuple", "dict", "number", "array", or "part".
    """

    is_plain = False

    def __init__(
        self,
        parts: Collection[type] = (),
        worked_out: Mapping[type, FilePart] | None = None,
        only: type | None = None,
    ) -> None:
        self._worked_out = dict(worked_out or {})
        self._parts = {part.__name__: part for part in (*parts, *self._worked_out)}
        self._only = only

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        if value is None or isinstance(value, bool | np.bool_):
            return None if value is None else bool(value)
        if isinstance(value, str):
            if is_writable(value):
                return str(value)
        elif isinstance(value, Integral):
            if abs(int(value)) <= LARGEST:
                return int(value)
        elif isinstance(value, Real):
            number = float(value)
            if not math.isnan(number):
                return {"number": str(number)} if math.isinf(number) else number
        elif isinstance(value, np.ndarray):
            if is_storable(value) and not (value.dtype.kind == "f" and np.isnan(value).any()):
                return to.keep(value, name)
        elif isinstance(value, tuple | list):
            found = [self.write(one, f"{name}.{k}", to) for k, one in enumerate(value)]
            return found if isinstance(value, list) else {"tuple": found}
        elif isinstance(value, dict):
            if all(isinstance(key, str) and is_writable(key) for key in value):
                items = value.items()
                return {
                    "dict": {key: self.write(one, inner_name(name, key), to) for key, one in items}
                }
        elif self._parts.get(type(value).__name__) is type(value):
            if type(value) in self._worked_out:
                inner = self._worked_out[type(value)].write(value, name, to)
                return {"part": type(value).__name__, "fields": inner}
            given = {field.name: getattr(value, field.name) for field in fields(cast(Any, value))}
            inner = {key: self.write(one, f"{name}.{key}", to) for key, one in given.items()}
            return {"part": type(value).__name__, "fields": inner}
        raise NotPlainError(_description(value))

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        value = self._read(given, name, of)
        if self._only is not None and not isinstance(value, self._only):
            of.fail(name, f"is no {self._only.__name__}")
        return value

    def _read(self, given: Any, name: str, of: Incoming) -> Any:
        if isinstance(given, list):
            return [self._read(one, f"{name}.{k}", of) for k, one in enumerate(given)]
        if not isinstance(given, dict):
            return read_word(given, name, of)
        if "array" in given:
            array = of.array(given, name)
            if array.dtype.kind == "f" and np.isnan(array).any():
                of.fail(name, "holds NaN")
            return array
        if set(given) == {"part", "fields"}:
            return self._read_part(given, name, of)
        kind, inner = next(iter(given.items())) if len(given) == 1 else (None, None)
        if kind == "number" and isinstance(inner, str) and inner in INFINITE:
            return INFINITE[inner]
        if kind == "tuple" and isinstance(inner, list):
            return tuple(self._read(one, f"{name}.{k}", of) for k, one in enumerate(inner))
        if kind == "dict" and isinstance(inner, dict):
            return {key: self._read(one, inner_name(name, key), of) for key, one in inner.items()}
        return of.fail(name, "is nothing that a parameter can be")

    def _read_part(self, given: dict[str, Any], name: str, of: Incoming) -> Any:
        kind, inner = given["part"], given["fields"]
        if not isinstance(kind, str) or kind not in self._parts or not isinstance(inner, dict):
            of.fail(name, f"is a part by the name {kind!r:.40}, which is not known")
        part = self._parts[kind]
        if part in self._worked_out:
            return self._worked_out[part].read(inner, name, of)
        if not set(inner) <= {field.name for field in fields(part)}:
            of.fail(name, f"has parameters that {kind} does not know")
        values = {key: self._read(one, f"{name}.{key}", of) for key, one in inner.items()}
        try:
            return part(**values)
        except (TypeError, ValueError) as error:
            of.fail(name, f"cannot be ({' '.join(str(error).split())[:160]})")


def inner_name(name: str, key: str) -> str:
    """The name of what stands under a key of the user's: dots in it are no steps further in."""
    escaped = key.replace("\\", "\\\\").replace(".", "\\.")
    return f"{name}.{escaped}"


def _description(value: Any) -> str:
    """What a value is, in a few words without its content."""
    if callable(value) and hasattr(value, "__name__"):
        return f"the function `{value.__name__}`"
    return f"an object of class {type(value).__name__}"
