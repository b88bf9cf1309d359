"""(a, b), {"x": a}, one of a few kinds: parts made of parts."""

from collections.abc import Callable, Mapping
from typing import Any, final

from gramlearn.estimators._parts.base import FilePart, Incoming, Outgoing


@final
class IfThere(FilePart):
    """A part that may be absent."""

    is_needed = False

    def __init__(self, part: FilePart) -> None:
        self._part = part

    @property
    def is_plain(self) -> bool:  # type: ignore[override]  # as the part is
        return self._part.is_plain

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return self._part.write(value, name, to)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        return self._part.read(given, name, of)


@final
class Maybe(FilePart):
    """None, or a part."""

    def __init__(self, part: FilePart) -> None:
        self._part = part

    @property
    def is_plain(self) -> bool:  # type: ignore[override]  # as the part is
        return self._part.is_plain

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return None if value is None else self._part.write(value, name, to)

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        return None if given is None else self._part.read(given, name, of)


@final
class Together(FilePart):
    """A tuple of so many parts."""

    def __init__(self, *parts: FilePart) -> None:
        self._parts = parts

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        pairs = zip(self._parts, value, strict=True)
        return [part.write(one, f"{name}.{k}", to) for k, (part, one) in enumerate(pairs)]

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if not isinstance(given, list) or len(given) != len(self._parts):
            of.fail(name, f"is no list of {len(self._parts)}")
        pairs = zip(self._parts, given, strict=True)
        return tuple(part.read(one, f"{name}.{k}", of) for k, (part, one) in enumerate(pairs))


@final
class Many(FilePart):
    """A tuple of equal parts, one for each of what the symbol stands for."""

    is_plain = False

    def __init__(self, part: FilePart, symbol: str) -> None:
        self._part, self._symbol = part, symbol

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        return [self._part.write(one, f"{name}.{k}", to) for k, one in enumerate(value)]

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        if not isinstance(given, list):
            of.fail(name, "is no list")
        of.agree(self._symbol, len(given), name)
        return tuple(self._part.read(one, f"{name}.{k}", of) for k, one in enumerate(given))


@final
class Struct(FilePart):
    """An object by its fields, and by numbers it has worked out, which need not come out the same elsewhere."""

    def __init__(
        self,
        make: Callable[..., Any],
        parts: Mapping[str, FilePart],
        *,
        take: Callable[[Any, str], Any] = getattr,
        worked_out: Mapping[str, FilePart] | None = None,
    ) -> None:
        self._make, self._parts, self._take = make, dict(parts), take
        self._worked_out = dict(worked_out or {})

    @property
    def is_plain(self) -> bool:  # type: ignore[override]  # as its parts are
        return all(part.is_plain for part in (*self._parts.values(), *self._worked_out.values()))

    def write(self, value: Any, name: str, to: Outgoing) -> dict[str, Any]:
        every = {**self._parts, **self._worked_out}
        return {
            field.strip("_"): part.write(self._take(value, field), f"{name}.{field.strip('_')}", to)
            for field, part in every.items()
        }

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        every = {**self._parts, **self._worked_out}
        if not isinstance(given, dict) or set(given) != {field.strip("_") for field in every}:
            names = ", ".join(field.strip("_") for field in every) or "nothing"
            of.fail(name, f"should have {names}, and no more")
        found = {
            field: part.read(given[field.strip("_")], f"{name}.{field.strip('_')}", of)
            for field, part in every.items()
        }
        try:
            made = self._make(**{field: found[field] for field in self._parts})
        except (TypeError, ValueError) as error:
            of.fail(name, f"cannot be ({' '.join(str(error).split())[:160]})")
        for field in self._worked_out:
            made.__dict__[field] = found[field]
        return made


@final
class OneOf(FilePart):
    """An object of one of these classes and no other; "kind" says of which."""

    is_plain = False

    def __init__(
        self,
        kinds: Mapping[str, tuple[type, Struct]],
        refusal: Callable[[Any], str] = "{!r:.40} is of no kind that a file holds".format,
    ) -> None:
        self._kinds, self._refusal = dict(kinds), refusal

    def write(self, value: Any, name: str, to: Outgoing) -> Any:
        for kind, (cls, struct) in self._kinds.items():
            if type(value) is cls:
                return {"kind": kind, **struct.write(value, name, to)}
        raise ValueError(f"the model cannot be saved: {self._refusal(value)}.")

    def read(self, given: Any, name: str, of: Incoming) -> Any:
        kind = given.get("kind") if isinstance(given, dict) else None
        if not isinstance(kind, str) or kind not in self._kinds:
            of.fail(name, f"is of the kind {kind!r:.40}, not of {', '.join(self._kinds)}")
        rest = {field: value for field, value in given.items() if field != "kind"}
        return self._kinds[kind][1].read(rest, name, of)
