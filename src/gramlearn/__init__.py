"""gramlearn learns a similarity from examples, with a certificate of how close to optimal it is.

Here are the estimators, the problem they solve, and what users know of pairs. The rest is in namespaces that
say what they hold: `losses`, `constraints`, `solvers`, `side_information`, `kernels`, `graphs`, `methods`,
`evaluation`, `plots`, `datasets` and `files`. Each is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

from gramlearn._base.front_door import load_when_asked

if TYPE_CHECKING:
    from gramlearn import (
        datasets,
        evaluation,
        files,
        graphs,
        kernels,
        methods,
        plots,
        side_information,
        solvers,
    )
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
    from gramlearn.estimators.saving import load
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
    "files",
    "graphs",
    "kernels",
    "load",
    "losses",
    "methods",
    "nearest_correlation",
    "plots",
    "side_information",
    "solve",
    "solve_path",
    "solvers",
]

_NAMES = {
    "gramlearn.estimators.saving": ("load",),
    "gramlearn.estimators": (
        "POLA",
        "ColoredMVU",
        "ConstrainedKMeans",
        "KernelDesigner",
        "KernelKMeans",
        "KernelLearner",
        "MaximumVarianceUnfolding",
        "MetricLearner",
        "MinimumVolumeEmbedding",
        "NonparametricKernel",
        "OnlineMetricLearner",
        "OnlinePCA",
        "SemiSupervisedEmbedding",
        "StructurePreservingEmbedding",
    ),
    "gramlearn.methods.balanced_cut": ("balanced_cut",),
    "gramlearn.methods.correlation": ("nearest_correlation",),
    "gramlearn.problem.prior": ("Factor", "Zeros"),
    "gramlearn.problem.problem": ("Problem", "Term"),
    "gramlearn.problem.regularizers": ("Frobenius", "LogDet", "Schatten", "VonNeumann"),
    "gramlearn.problem.solution": ("Solution",),
    "gramlearn.problem.status": ("InfeasibleError", "SolveInterrupted", "Status"),
    "gramlearn.side_information": ("Bounds", "ContradictionError", "Pairs", "Triplets"),
    "gramlearn.solvers.path": ("solve_path",),
    "gramlearn.solvers.solve": ("solve",),
}
_SPACES = (
    "datasets",
    "estimators",
    "evaluation",
    "files",
    "graphs",
    "kernels",
    "methods",
    "plots",
    "problem",
    "side_information",
    "solvers",
)
_find = load_when_asked(
    __name__,
    {name: home for home, names in _NAMES.items() for name in names}
    | {name: f"{__name__}.{name}" for name in _SPACES},
    {name: f"gramlearn.problem.{name}" for name in ("constraints", "losses")},
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gramlearn")
    return _find(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
