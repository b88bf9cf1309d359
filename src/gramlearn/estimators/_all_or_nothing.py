"""A fit that fails changes nothing; one that Ctrl-C ends has the answer so far (see `SolveInterrupted`).

A fit works on a draft, which has the parameters and what was fitted before. When it is done, the draft becomes
the estimator in one assignment, which nothing can interrupt.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from gramlearn.problem.status import SolveInterrupted

_STOP, _DRAFT = "_stopped_by", "_is_draft"

Estimator = TypeVar("Estimator")
Found = TypeVar("Found")
P = ParamSpec("P")


def all_or_nothing(
    fit: Callable[Concatenate[Estimator, P], Estimator],
) -> Callable[Concatenate[Estimator, P], Estimator]:
    """Decorate a method that fits, so that it changes all of the estimator, or nothing."""

    @wraps(fit)
    def fit_all(self: Estimator, *args: P.args, **kwargs: P.kwargs) -> Estimator:
        if _DRAFT in self.__dict__:
            # A fit that calls another: what both do is done, or is not, together.
            return fit(self, *args, **kwargs)
        draft = object.__new__(type(self))
        draft.__dict__.update(self.__dict__, **{_DRAFT: True})
        try:
            fit(draft, *args, **kwargs)
        except MemoryError as error:
            raise MemoryError(
                f"{type(self).__name__}.fit needs more memory than there is ({_words(error)}), and changed "
                "nothing; pass fewer points or statements, or a smaller rank where there is one."
            ) from error
        except Exception as error:
            if _is_of_ctrl_c(error):
                raise KeyboardInterrupt from error
            if is_interrupted(draft):  # an answer so far with which no fit can end
                raise draft.__dict__[_STOP] from error
            raise
        del draft.__dict__[_DRAFT]
        stop = draft.__dict__.pop(_STOP, None)
        self.__dict__ = draft.__dict__
        if stop is not None:
            name = type(self).__name__
            raise SolveInterrupted(stop.solution, stop.where, name, stop.advice) from None
        return self

    return fit_all


def _is_of_ctrl_c(error: BaseException | None) -> bool:
    """Whether Ctrl-C came while compiled code handed its results over, which makes a SystemError of it."""
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def _words(error: MemoryError) -> str:
    return str(error).rstrip(".") or "no more could be had"


def run_search(draft: Any, search: Callable[P, Found], *args: P.args, **kwargs: P.kwargs) -> Found:
    """What the search finds, or on Ctrl-C what it has found by then; `fit` goes on with it, and raises then."""
    try:
        return search(*args, **kwargs)
    except SolveInterrupted as stop:
        # A second Ctrl-C ends a fit that goes on with the answer of the first.
        if is_interrupted(draft) or not np.isfinite(getattr(stop.solution, "relative_gap", 0.0)):
            raise
        end_early(draft, stop)
        return cast(Found, stop.solution)


def end_early(draft: Any, stop: SolveInterrupted) -> None:
    """Let `fit` raise this once it is done."""
    draft.__dict__[_STOP] = stop


def is_interrupted(draft: Any) -> bool:
    """Whether what is being fitted is an answer so far."""
    return _STOP in draft.__dict__
