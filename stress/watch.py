"""One call under watch: its result or its error, the warnings it gave, and its seconds of processor time.

Processor time, not the clock on the wall: the machine may be shared. A call that runs past its limit is ended
by a signal, as from outside.
"""

import signal
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import gramlearn
from stress.outcome import Finding

__all__ = ["LIMIT", "OutOfTime", "Watched", "describe_exception", "is_sentence", "watch_call"]

LIMIT = 8.0  # seconds of processor time for one solve or one fit
_HOME = Path(gramlearn.__file__).resolve().parent
# scikit-learn's own checks of X and y speak to its users, and many tools expect their words.
_CHECKS = tuple(
    f"sklearn/{name}.py"
    for name in (
        "utils/validation",
        "utils/multiclass",
        "utils/_param_validation",
        "metrics/pairwise",
    )
)


class OutOfTime(BaseException):
    """The limit was reached. No `except Exception` on the way shall swallow it."""


@final
@dataclass(frozen=True, eq=False)
class Watched:
    """What a call did."""

    result: Any
    error: BaseException | None
    warnings: list[warnings.WarningMessage]
    seconds: float

    def leaks(self, allowed: tuple[type[Warning], ...]) -> list[Finding]:
        """Warnings of other kinds than these: NumPy's, SciPy's, Python's."""
        return [_describe_leak(w) for w in self.warnings if not issubclass(w.category, allowed)]


def watch_call(call: Callable[[], Any], limit: float = LIMIT) -> Watched:
    """Call the function; give what it returned or raised."""

    def end(*_: object) -> None:
        raise OutOfTime

    result, error = None, None
    before = signal.signal(signal.SIGPROF, end)
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            signal.setitimer(signal.ITIMER_PROF, limit)
            result = call()
        except (Exception, OutOfTime) as raised:
            error = raised
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
    return Watched(result, error, caught, time.process_time() - began)


def is_sentence(error: BaseException) -> bool:
    """Whether an error is a sentence for the user: a kind of ValueError or TypeError, raised on purpose."""
    if not isinstance(error, ValueError | TypeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    raised_on_purpose = str(last.line).lstrip().startswith("raise")
    place = Path(last.filename).resolve()
    ours = _HOME in place.parents
    return (ours and raised_on_purpose) or place.as_posix().endswith(_CHECKS)


def describe_exception(error: BaseException) -> Finding:
    """Name an error by its type and the innermost line of the library on the way to it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if _HOME in Path(f.filename).resolve().parents]
    place = "?"
    if own:
        file = Path(own[-1].filename).resolve().relative_to(_HOME).as_posix()
        place = f"{file}:{own[-1].name}"
    words = f"{type(error).__name__}: {str(error)[:300]}"
    return Finding("exception", f"{type(error).__name__} {place}", f"{words} (in {place})")


def _describe_leak(warning: warnings.WarningMessage) -> Finding:
    words = f"{warning.category.__name__}: {str(warning.message)[:200]}"
    place = Path(warning.filename).name
    return Finding("warning", f"{words} {place}", f"{words} ({place}:{warning.lineno})")
