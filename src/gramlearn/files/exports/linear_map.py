"""x -> L x + c, of x / |x| where the map was learned from points of length one: all that an export holds.

A learned metric is plain distance after a linear map, so that whatever multiplies a vector with a matrix can
apply it. c is zero, but for queries alone by Euclidean distances; see `queries_only`.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Self, final

import numpy as np

from gramlearn._base.mixture import words_of_mixture
from gramlearn.files.exports.vectors import as_vectors, finite_block, of_length_one

_PROBES = 4
_ROUNDING = 1e-6  # by which two ways to compute the same differ, at most


@final
@dataclass(frozen=True, eq=False)
class LinearMap:
    """x -> L x + c, of x scaled to length one first where `normalize`.

    Parameters
    ----------
    matrix : array m x d
        L.
    normalize : bool
        Whether points are scaled to length one first.
    feature_names : sequence of str, optional
        The names of the d columns of points.
    words : mapping of str to str
        What is known of the map, such as its certificate and verdict: it goes along where a format has a place.
    offset : vector of m, optional
        c.
    """

    matrix: np.ndarray
    normalize: bool = False
    feature_names: Sequence[str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    offset: np.ndarray | None = None

    def __post_init__(self) -> None:
        matrix = np.array(as_vectors(self.matrix, "matrix"), dtype=np.float64)
        object.__setattr__(self, "matrix", finite_block(matrix, "matrix"))
        if self.feature_names is not None:
            names = tuple(str(name) for name in self.feature_names)
            object.__setattr__(self, "feature_names", names)
            if len(names) != self.n_features:
                raise ValueError(
                    f"`feature_names` has {len(names)} names, but `matrix` has {self.n_features} columns; pass "
                    "one for each."
                )
        if self.offset is not None:
            offset = np.array(self.offset, dtype=np.float64)
            object.__setattr__(self, "offset", offset)
            if offset.shape != (len(self.matrix),):
                raise ValueError(
                    f"`offset` has shape {offset.shape}, but `matrix` has {len(self.matrix)} rows; pass one "
                    "number for each."
                )

    @classmethod
    def of(cls, learner: Any) -> Self:
        """The map of a fitted learner whose `transform` is X L', such as MetricLearner."""
        kind = type(learner).__name__
        if hasattr(learner, "fit"):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(learner)
        if getattr(learner, "_home", None) is not None:
            learner = learner.to_numpy()  # what it learned from tensors lies where these are
        try:
            matrix = learner.components_
        except AttributeError:
            why = "no `components_`, a matrix L with X L' the transformed points"
            raise TypeError(_not_linear(kind, why)) from None
        except ValueError as error:
            raise ValueError(
                f"the map of this {kind} cannot be exported: {error} Or fit with n_components=, such as 256, "
                "and export so many columns."
            ) from None
        found = cls(
            matrix,
            bool(getattr(learner, "normalize", False)),
            getattr(learner, "feature_names_in_", None),
            _words_about(learner, kind),
        )
        if not found._is_transform_of(learner):
            raise TypeError(_not_linear(kind, "`transform` is not X @ components_.T"))
        return found

    @property
    def n_features(self) -> int:
        """d, the columns of points."""
        return int(self.matrix.shape[1])

    @property
    def n_columns(self) -> int:
        """m, the columns of what they are mapped to."""
        return len(self.matrix)

    def transform(self, X: Any) -> np.ndarray:
        """X L' + c; float32 stays float32."""
        return self.of_block(
            finite_block(as_vectors(X, "X", self.n_features, self.feature_names), "X")
        )

    def of_block(self, X: np.ndarray, name: str = "X", first: int = 0) -> np.ndarray:
        """The same of floating numbers that were looked at, rows `first` onwards of `name`."""
        if self.normalize:
            X = of_length_one(X, name, first)
        if self.offset is None:
            return np.asarray(X @ self.matrix.T.astype(X.dtype), dtype=X.dtype)
        # In double precision, for the offset may cancel most of the product.
        return np.asarray(X @ self.matrix.T + self.offset, dtype=X.dtype)

    def single(self) -> tuple[np.ndarray, np.ndarray | None]:
        """L and c in float32, which indexes and networks compute in."""
        L = _in_float32(self.matrix, "L")
        return L, None if self.offset is None else _in_float32(self.offset[:, None], "c")[:, 0]

    def _is_transform_of(self, learner: Any) -> bool:
        probes = np.random.default_rng(0).standard_normal((_PROBES, self.n_features))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of probes without names of columns
            theirs = np.asarray(learner.transform(probes))
        ours = self.transform(probes)
        if theirs.shape != ours.shape:
            return False
        return bool(np.abs(theirs - ours).max() <= _ROUNDING * np.abs(ours).max())


def _not_linear(kind: str, why: str) -> str:
    return (
        f"a {kind} is not a linear map of points ({why}), so that no matrix stands for it; transform the "
        "vectors instead, by `gramlearn transform` or its `transform`, and store what comes out."
    )


def _words_about(learner: Any, kind: str) -> dict[str, str]:
    """Who learned the map, what it is worth, and how far from the optimum it is."""
    words = {"made_by": f"gramlearn {version('gramlearn')}", "learned_by": kind}
    if getattr(learner, "verdict_", None):
        words["verdict"] = str(learner.verdict_)
    if getattr(learner, "solution_", None) is not None:
        words["certificate"] = repr(learner.solution_)
        mixture = words_of_mixture(learner)
        if mixture is not None:
            words["mixture"] = mixture
    return words


def _in_float32(A: np.ndarray, name: str) -> np.ndarray:
    """A in float32, if each column keeps its digits: those of features in extreme units do not."""
    with np.errstate(over="ignore", under="ignore"):
        single = A.astype(np.float32)
    lost = np.abs(single - A).max(axis=0) > _ROUNDING * np.abs(A).max(axis=0)
    if lost.any():
        column = int(np.argmax(lost))
        raise ValueError(
            f"column {column} of {name} has entries of up to {np.abs(A[:, column]).max():.1e}, which float32 "
            "cannot hold; learn from points in other units, or export to='numpy', which keeps double precision."
        )
    return np.ascontiguousarray(single)
