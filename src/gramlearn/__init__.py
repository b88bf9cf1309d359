"""gramlearn learns a similarity from examples, with a certificate of how close to optimal it is.

Here are the estimators, the problem they solve, and what users know of pairs. The rest is in namespaces that
say what they hold: `losses`, `constraints`, `solvers`, `side_information`, `kernels`, `graphs`, `methods`,
`evaluation`, `plots` and `datasets`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gramlearn.estimators import (
    POLA,
    ColoredMVU,
    ConstrainedKMeans,
    KernelDesigner,
    KernelKMeans,
    KernelLearner,
    MaximumVarianceUnfolding,
    MetricLearner,
    MinimumVolumeEmbedding,
    NonparametricKernel,
    OnlineMetricLearner,
    OnlinePCA,
    SemiSupervisedEmbedding,
    StructurePreservingEmbedding,
)
from gramlearn.methods.balanced_cut import balanced_cut
from gramlearn.methods.correlation import nearest_correlation
from gramlearn.problem import constraints, losses
from gramlearn.problem.prior import Factor, Zeros
from gramlearn.problem.problem import Problem, Term
from gramlearn.problem.regularizers import Frobenius, LogDet, Schatten, VonNeumann
from gramlearn.problem.solution import Solution
from gramlearn.problem.status import InfeasibleError, SolveInterrupted, Status
from gramlearn.side_information import Bounds, ContradictionError, Pairs, Triplets
from gramlearn.solvers.path import solve_path
from gramlearn.solvers.solve import solve

if TYPE_CHECKING:
    from gramlearn import (
        datasets,
        evaluation,
        graphs,
        kernels,
        methods,
        plots,
        side_information,
        solvers,
    )

    __version__: str

__all__ = [
    "POLA",
    "Bounds",
    "ColoredMVU",
    "ConstrainedKMeans",
    "ContradictionError",
    "Factor",
    "Frobenius",
    "InfeasibleError",
    "KernelDesigner",
    "KernelKMeans",
    "KernelLearner",
    "LogDet",
    "MaximumVarianceUnfolding",
    "MetricLearner",
    "MinimumVolumeEmbedding",
    "NonparametricKernel",
    "OnlineMetricLearner",
    "OnlinePCA",
    "Pairs",
    "Problem",
    "Schatten",
    "SemiSupervisedEmbedding",
    "Solution",
    "SolveInterrupted",
    "Status",
    "StructurePreservingEmbedding",
    "Term",
    "Triplets",
    "VonNeumann",
    "Zeros",
    "balanced_cut",
    "constraints",
    "datasets",
    "evaluation",
    "graphs",
    "kernels",
    "losses",
    "methods",
    "nearest_correlation",
    "plots",
    "side_information",
    "solve",
    "solve_path",
    "solvers",
]

# So that `from gramlearn.losses import Hinge` works as `gramlearn.losses.Hinge` does.
for _part in (constraints, losses):
    sys.modules[_part.__name__.replace(".problem", "")] = _part


def __getattr__(name: str) -> Any:
    """Namespaces are loaded, and the version is looked up, when they are first asked for."""
    if name == "__version__":
        from importlib.metadata import version

        return version("gramlearn")
    if name in __all__:
        return import_module(f"gramlearn.{name}")
    raise AttributeError(f"module 'gramlearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
