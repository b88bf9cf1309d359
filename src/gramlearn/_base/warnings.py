"""Warnings that point at the line that called the library, however deep in it they arise."""

import sys
import warnings

# scikit-learn's as well: fit_transform and pipelines call `fit` from lines of its own.
_INSIDE = frozenset({"gramlearn", "sklearn"})


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, pointing at the nearest caller outside of the library and of scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
