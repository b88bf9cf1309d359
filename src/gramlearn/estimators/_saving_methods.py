"""estimator -> model file: what each class declares of itself, in `_saved`, and nothing else.

A class says once which of its fitted attributes a file keeps, and as which parts. Declarations add up along the
bases of a class. What is not declared is left behind: the points learned from, statements, prices.
"""

import inspect
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, cast

from sklearn.utils.validation import check_is_fitted

from gramlearn._base.warnings import warn
from gramlearn.estimators._parts.base import FilePart, Outgoing
from gramlearn.estimators._parts.learned import LIBRARY_KERNELS, MANIFOLD
from gramlearn.estimators._parts.plain import NotPlainError, Plain
from gramlearn.files.model_file import write_model_file
from gramlearn.kernels import ManifoldKernel
from gramlearn.problem.losses import Hard, Hinge, KLSlack, LogDetSlack, Square, SquaredHinge
from gramlearn.problem.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from gramlearn.solvers import InteriorPoint, PrimalNewton, Projections, QuasiNewton, WorkingSet

FORMAT = 1
_LOSSES = (Hard, Hinge, KLSlack, LogDetSlack, Square, SquaredHinge)
_REGULARIZERS = (Frobenius, LogDet, Schatten, VonNeumann)
_SOLVERS = (InteriorPoint, PrimalNewton, Projections, QuasiNewton, WorkingSet)
PARAMETER = Plain(
    (*_LOSSES, *_REGULARIZERS, *_SOLVERS, *LIBRARY_KERNELS), {ManifoldKernel: MANIFOLD}
)
_PASSING = ("callback", "random_state")  # nobody expects them to be kept


class SavesModel:
    """An estimator that a model file holds."""

    _saved: ClassVar[Mapping[str, FilePart]] = {}
    """The parts of its fitted attributes, of those that this class has beside its bases."""

    _kind: ClassVar[str] = ""
    """The name that a file has for the class; a subclass of it has none."""

    _needs_points: ClassVar[str] = ""
    """Why a file holds points that were learned from, where it does."""

    def save(self, path: str | Path) -> None:
        """Write a model file, which `gramlearn.load` reads, and programs in other languages do.

        It holds what `transform`, `pair_distance`, `predict` and `score` need, and what was found out: the
        certificate, what was tried, the verdict. It holds no points, but those that the method compares new
        ones with, and no statements: to learn from more of them, pickle the estimator.

        Parameters
        ----------
        path : str or Path
            Where to; a file that is there is replaced once the new one is complete.
        """
        check_is_fitted(self)
        if getattr(self, "_home", None) is not None:
            # A file is read where there may be no such device.
            self.to_numpy().save(path)  # type: ignore[attr-defined]
            return
        cls = type(self)
        if cls.__dict__.get("_kind", "") != cls.__name__:
            raise ValueError(
                f"{cls.__name__} is a class of yours, which a file cannot bring back; pickle the estimator, or "
                "learn with the class of gramlearn itself."
            )
        to = Outgoing()
        kept = self._to_keep()
        fitted = {
            file_name(name): part.write(kept[name], file_name(name), to)
            for name, part in saved_parts(cls).items()
            if part.is_needed or name in kept
        }
        parameters, not_kept = self._parameters(to)
        model = {
            "format": FORMAT,
            "gramlearn": version("gramlearn"),
            "numpy": version("numpy"),
            "kind": cls.__name__,
            "parameters": parameters,
            "not_kept": not_kept,
            "points_kept": {
                "count": to.n_points,
                "why": self._needs_points if to.n_points else "",
            },
            "fitted": fitted,
        }
        write_model_file(path, model, to.arrays)
        lost = [name for name in not_kept if name not in _PASSING]
        if lost:
            words = ", ".join(f"`{name}` ({not_kept[name]})" for name in lost)
            warn(
                f"{path} does not hold {words}, and the loaded estimator has the default there; what was "
                "learned is complete, and a further fit needs set_params."
            )

    def _parameters(self, to: Outgoing) -> tuple[dict[str, Any], dict[str, str]]:
        """The parameters as JSON, and what those are that are not kept."""
        found, not_kept = {}, {}
        for name in constructor_parameters(type(self)):
            try:
                found[name] = PARAMETER.write(getattr(self, name), f"parameters.{name}", to)
            except NotPlainError as error:
                found[name], not_kept[name] = None, str(error)
        return found, not_kept

    def _to_keep(self) -> dict[str, Any]:
        """The values of the declared attributes, and of others that stand for what is left behind."""
        return dict(vars(self))

    def _take_back(self, kept: dict[str, Any]) -> None:
        """Become fitted with what `_to_keep` gave."""
        self.__dict__.update(kept)


def saved_parts(cls: type) -> dict[str, FilePart]:
    """All that a class and its bases declare."""
    found: dict[str, FilePart] = {}
    for base in reversed(cls.__mro__):
        found |= base.__dict__.get("_saved", {})
    return found


def file_name(attribute: str) -> str:
    """The name in a file: without underscores around it."""
    return attribute.strip("_")


def constructor_parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    """The parameters, by their names."""
    return inspect.signature(cast(Any, cls)).parameters
