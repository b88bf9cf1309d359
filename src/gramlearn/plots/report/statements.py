"""The statements that the metric breaks, and those that are probably wrong, with the points they are about."""

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone

from gramlearn._base.arrays import to_numpy
from gramlearn.plots.report.reading import Given
from gramlearn.side_information import Bounds, Pairs, SideInformation
from gramlearn.side_information.ranking import RankedStatements

_MOST = 10
_STATEMENTS, _FEATURES = 2000, 100  # beyond which suspects are looked for on request alone
_PRICE, _GAP = 1.0, 1e-2  # of the fits that look for suspects, where the price was chosen


@final
@dataclass(frozen=True, eq=False)
class Listed:
    """The first violated and the first suspect statements; None for what was not looked for."""

    side: SideInformation | None
    violated: RankedStatements | None
    suspects: RankedStatements | None
    why_not: str

    @property
    def rows(self) -> np.ndarray:
        """The points that they are about, ascending."""
        if self.side is None:
            return np.zeros(0, dtype=np.int64)
        table = to_numpy(self.side.statement_points())
        numbers = [r.number[:_MOST] for r in (self.violated, self.suspects) if r is not None]
        every = [np.zeros(0, dtype=np.int64), *(table[some].reshape(-1) for some in numbers)]
        return np.unique(np.concatenate(every)).astype(np.int64)

    def in_terms_of(self, rows: np.ndarray) -> dict[str, Any] | None:
        """For the page, with points as places among the rows shown."""
        if self.side is None:
            return None
        return {
            "violated": self._described(self.violated, rows),
            "suspects": self._described(self.suspects, rows),
            "why_not": self.why_not,
            "n": self.side.size,
        }

    def _described(self, ranked: RankedStatements | None, rows: np.ndarray) -> Any:
        if ranked is None:
            return None
        assert self.side is not None
        table = to_numpy(self.side.statement_points())
        shown = ranked[:_MOST]
        return {
            "n": len(ranked),
            "meaning": ranked.meaning,
            "first": [
                {
                    "says": _says(self.side, int(k)),
                    "points": [int(place) for place in np.searchsorted(rows, table[k])],
                    "size": float(size),
                }
                for k, size in zip(shown.number, shown.size, strict=True)
            ],
        }


def list_statements(given: Given, suspects: RankedStatements | bool | None) -> Listed:
    """What is broken, and, where asked for or soon found, what is probably wrong."""
    side = given.side
    if side is None:
        return Listed(None, None, None, "")
    if isinstance(suspects, RankedStatements):
        if suspects.n_statements != side.size:
            raise ValueError(
                f"`suspects` ranks {suspects.n_statements:,} statements, but `side` has {side.size:,}; pass "
                "what `learner.suspects(X, side)` gives."
            )
        return Listed(side, given.violated, suspects, "")
    if suspects is not None and not isinstance(suspects, bool | np.bool_):
        raise TypeError(
            f"`suspects` must be what `learner.suspects(X, side)` gives, or True, False or None; got "
            f"{type(suspects).__name__}."
        )
    if suspects is None:
        is_metric = hasattr(given.learner, "get_mahalanobis_matrix")
        suspects = is_metric and side.size <= _STATEMENTS and given.X.shape[1] <= _FEATURES
        why_not = (
            "They were not looked for among so many statements or features, which would take long."
            if is_metric
            else "They were not looked for: with such a learner that would take long."
        )
    else:
        why_not = "They were not looked for."
    if not suspects:
        return Listed(side, given.violated, None, why_not)
    try:
        found = _suspects(given, side)
    except (TypeError, ValueError) as error:
        # Such as too few statements to cut them into parts, or a kind that the learner does not learn from.
        return Listed(side, given.violated, None, f"They were not looked for: {error}")
    return Listed(side, given.violated, found, "")


def _suspects(given: Given, side: SideInformation) -> RankedStatements:
    """By learners like the one given, quick ones: at a price, where it chose its own."""
    from gramlearn.evaluation.suspects import suspects

    learner = clone(given.learner)
    wanted = {"tol": _GAP, "callback": None, "verbose": 0, "warm_start": False}
    if getattr(given.learner, "cv_results_", None) is not None:
        wanted["C"] = _PRICE
        if getattr(learner, "prior", "") is None:
            wanted["prior"] = given.learner.prior_
    known = learner.get_params(deep=False)
    learner.set_params(**{name: value for name, value in wanted.items() if name in known})
    with warnings.catch_warnings():
        # What a fit to a part says of itself is not about the user's.
        warnings.simplefilter("ignore", UserWarning)
        return suspects(learner, given.X, side, random_state=given.seed)


def _says(side: SideInformation, k: int) -> dict[str, Any]:
    """What a statement says of its points."""
    if isinstance(side, Pairs):
        return {"kind": "alike" if k < int(side.similar.shape[0]) else "unlike"}
    if isinstance(side, Bounds):
        upper, lower = (float(to_numpy(limit)[k]) for limit in side.limits)
        return {
            "kind": "bounds",
            "upper": upper if np.isfinite(upper) else None,
            "lower": lower if lower > 0 else None,
        }
    return {"kind": "nearer"}
