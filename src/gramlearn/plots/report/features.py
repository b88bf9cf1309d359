"""Shares and stretches of features, and the directions stretched and shrunk most, the largest first."""

from typing import Any

import numpy as np

_MOST = 12
_DIRECTIONS = 3
_LONGEST = 60
_BEYOND = 1e6  # a stretch larger than this is drawn as this
_LEAST = 0.05  # of a direction of length one: a smaller part is not named
_SIDE = 2000  # features beyond which the directions of a full matrix are left out


def features_of(learner: Any) -> dict[str, Any] | None:
    """The features with the largest shares, and those stretched or shrunk most; None where there are none."""
    shares, stretch = (
        getattr(learner, name, None) for name in ("feature_importances_", "feature_stretch_")
    )
    if shares is None or stretch is None:
        return None
    names = feature_names(learner, len(shares))
    order = np.argsort(-shares, kind="stable")[:_MOST]
    size = np.log(np.clip(stretch, 1 / _BEYOND, _BEYOND))
    chosen = np.argsort(-np.abs(size), kind="stable")[:_MOST]
    chosen = chosen[np.argsort(-size[chosen], kind="stable")]
    return {
        "n": len(shares),
        "shares": [[names[f], float(shares[f])] for f in order],
        "stretch": [[names[f], float(np.exp(size[f]))] for f in chosen],
        "rest": float(max(0.0, 1.0 - shares[order].sum())),
    }


def directions_of(learner: Any, X: Any) -> list[dict[str, Any]] | None:
    """Where the metric differs most from its prior."""
    ask = getattr(learner, "stretched_directions", None)
    if ask is None or (learner.n_features_in_ > _SIDE and not hasattr(learner, "basis_")):
        return None
    try:
        found = ask(X, _DIRECTIONS)
    except AttributeError:  # of a learner that was saved without what explains it
        return None
    names = feature_names(learner, learner.n_features_in_)
    directions = []
    for m in range(len(found)):
        loadings = found.loadings[m]
        order = np.argsort(-np.abs(loadings), kind="stable")[:4]
        directions.append(
            {
                "stretch": float(np.clip(found.stretch[m], 0.0, _BEYOND)),
                "share": float(found.share[m]),
                "features": [
                    [names[f], float(loadings[f])] for f in order if abs(loadings[f]) >= _LEAST
                ],
            }
        )
    return directions


def feature_names(learner: Any, count: int) -> list[str]:
    """As in the data frame learned from, or by their numbers."""
    names = getattr(learner, "feature_names_in_", None)
    words = [f"feature {f}" for f in range(count)] if names is None else [str(n) for n in names]
    return [word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…" for word in words]
