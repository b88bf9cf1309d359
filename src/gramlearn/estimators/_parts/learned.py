"""x -> L x, k(x, y): maps and kernels in a model file, a closed list by names and fields."""

from dataclasses import replace
from typing import Any

import numpy as np

from gramlearn._base.arrays import copied
from gramlearn.estimators._parts.arrays import Array
from gramlearn.estimators._parts.base import FilePart
from gramlearn.estimators._parts.nested import Maybe, OneOf, Struct
from gramlearn.estimators._parts.plain import Plain
from gramlearn.estimators._parts.words import Choice, Flag, Number, Whole
from gramlearn.kernels.families import (
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    OfScikitLearn,
    PolynomialKernel,
    SigmoidKernel,
    read_kernel,
)
from gramlearn.kernels.kernel import (
    Comparison,
    Features,
    FunctionKernel,
    LookUp,
    OneFeature,
    PrecomputedKernel,
)
from gramlearn.kernels.low_rank.factor import LowRankKernel
from gramlearn.kernels.manifold import ManifoldKernel
from gramlearn.kernels.matrix import KernelMatrix
from gramlearn.methods.metric.kernel_map import KernelMap
from gramlearn.methods.metric.maps import DiagonalMap, FullMap, LowRankMap

# -- maps ----------------------------------------------------------------------------------------------

METRIC_MAP = OneOf(
    {
        "full": (
            FullMap,
            Struct(
                FullMap, {"factor": Array("r", "d")}, worked_out={"components": Array("d", "d")}
            ),
        ),
        "low_rank": (
            LowRankMap,
            Struct(
                LowRankMap,
                {"basis": Array("d", "k"), "inner": Array("k", "k")},
                worked_out={"root": Array("k", "k")},
            ),
        ),
        "diagonal": (DiagonalMap, Struct(DiagonalMap, {"weights": Array("d", least=0.0)})),
    }
)

# -- kernels -------------------------------------------------------------------------------------------


def _refusal(kernel: Any) -> str:
    """What to do with a kernel that a file does not hold."""
    if isinstance(kernel, PrecomputedKernel | LookUp):
        return (
            'its kernel is "precomputed", and a file would not know of which points; learn with a kernel by '
            "its name, or pickle the estimator"
        )
    return (
        f"its kernel, {getattr(kernel, 'words', type(kernel).__name__)}, is a program, and a file holds none; "
        "learn with a kernel by its name or one of `gramlearn.kernels`, or pickle the estimator"
    )


def _take_named(kernel: FunctionKernel, field: str) -> Any:
    if not isinstance(kernel.function, OfScikitLearn):
        raise ValueError(f"the model cannot be saved: {_refusal(kernel)}.")
    return getattr(kernel.function, field)


def _make_named(name: str, gamma: float | None) -> Any:
    return read_kernel(name, {} if gamma is None else {"gamma": gamma})


_NAMES = Choice({name: name for name in ("additive_chi2", "chi2", "cosine")})
# Numbers as they were given: a power of 3 may round in another way than one of 3.0.
_FAMILIES = {
    kernel.name: (kernel, Struct(kernel, dict.fromkeys(names, Plain())))
    for kernel, names in (
        (GaussianKernel, ("gamma",)),
        (LaplacianKernel, ("gamma",)),
        (LinearKernel, ()),
        (PolynomialKernel, ("degree", "gamma", "coef0")),
        (SigmoidKernel, ("gamma", "coef0")),
    )
} | {
    "named": (
        FunctionKernel,
        Struct(_make_named, {"name": _NAMES, "gamma": Maybe(Number())}, take=_take_named),
    )
}
_SHAPE: dict[str, FilePart] = {
    "n_neighbors": Whole(1),
    "strength": Number(0.0),
    "degree": Whole(),
    "normalized": Flag(),
}


def _take_manifold(kernel: ManifoldKernel, field: str) -> Any:
    if field == "core":
        return kernel._core
    return getattr(kernel if field in _SHAPE else kernel._base, field)


def _make_manifold(
    kernel: Any, points: np.ndarray, eps: float, core: np.ndarray, **shape: Any
) -> ManifoldKernel:
    return ManifoldKernel.worked_out(KernelMatrix(kernel, points, eps), core, **shape)


MANIFOLD = Struct(
    _make_manifold,
    {
        "kernel": OneOf(_FAMILIES, _refusal),
        "points": Array(".n", "d", points=True),
        "eps": Number(0.0, 1.0),
        "core": Array(".n", ".n"),
        **_SHAPE,
    },
    take=_take_manifold,
)
_ONE_FEATURE = Struct(OneFeature, {"kernel": OneOf(_FAMILIES, _refusal), "feature": Whole()})
_KERNELS = {**_FAMILIES, "manifold": (ManifoldKernel, MANIFOLD)}
KERNEL = OneOf({**_KERNELS, "one_feature": (OneFeature, _ONE_FEATURE)}, _refusal)
LIBRARY_KERNELS = (
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    OneFeature,
    PolynomialKernel,
    SigmoidKernel,
)

_COMPARE = OneOf(
    {
        "points": (
            Comparison,
            Struct(Comparison, {"kernel": KERNEL, "points": Array("l", "d", points=True)}),
        ),
        "features": (Features, Struct(Features, {"d": Whole(1, "d")})),
    },
    _refusal,
)


def without_rows(coordinates: LowRankKernel) -> LowRankKernel:
    """Coordinates of new points, without those of the points learned from."""
    return replace(coordinates, factor=_none_of(coordinates.factor))


def _none_of(points: Any) -> Any:
    """No rows, in memory of their own: a slice of a tensor would be kept with all of it."""
    return copied(points[:0, :])


def _take_coordinates(coordinates: LowRankKernel, field: str) -> Any:
    value = getattr(coordinates, field)
    return None if field == "factor" and not value.shape[0] else value


def _make_coordinates(**fields: Any) -> LowRankKernel:
    if fields["factor"] is None:
        fields["factor"] = np.zeros((0, fields["weights"].shape[1]))
    if n_compared(fields["compare"]) != len(fields["weights"]):
        raise ValueError("weights for other points than it has")
    return LowRankKernel(**fields)


def n_compared(compare: Any) -> int:
    """How many numbers new points are compared by."""
    return compare.d if isinstance(compare, Features) else len(compare.points)


COORDINATES = Struct(
    _make_coordinates,
    {
        "factor": Maybe(Array("n", "k")),
        "error": Number(0.0),
        "trace": Number(0.0),
        "landmarks": Array("l?", kind="i"),
        "compare": _COMPARE,
        "weights": Array("w", "k"),
    },
    take=_take_coordinates,
)


def without_points(found: KernelMap) -> KernelMap:
    """The same map without the points learned from, where none are needed and the kernel is a function."""
    if found.needs_points or found.base.stored is not None:
        return found
    base = replace(found.base, points=_none_of(found.base.points))
    light = replace(found, base=base, coordinates=without_rows(found.coordinates))
    light.__dict__["root"] = found.root
    return light


def _take_kernel_map(found: KernelMap, field: str) -> Any:
    if field in ("kernel", "eps"):
        return getattr(found.base, field)
    if field == "points":
        return found.base.points if found.needs_points else None
    if field == "spread":
        return found.whole_factor.weights if found.needs_points else None
    if field == "coordinates" and not found.needs_points:
        return without_rows(found.coordinates)
    return getattr(found, field)


def _make_kernel_map(
    kernel: Any,
    eps: float,
    points: np.ndarray | None,
    coordinates: LowRankKernel,
    inner: np.ndarray,
    alpha: float,
    root: np.ndarray,
    spread: np.ndarray | None,
) -> KernelMap:
    compare = coordinates.compare
    d = compare.d if isinstance(compare, Features) else compare.points.shape[1]  # type: ignore[attr-defined]
    base = KernelMatrix(kernel, np.zeros((0, d)) if points is None else points, eps)
    found = KernelMap(base, coordinates, inner, alpha)
    n = base.n_points
    if found.needs_points != (spread is not None) or (spread is not None) != (n > 0):
        raise ValueError("points that it does not need, or none where it needs them")
    if n != len(coordinates.factor):
        raise ValueError("coordinates of other points than it has")
    found.__dict__["root"] = root
    if spread is not None:
        rows = np.arange(n)
        none = np.zeros((0, spread.shape[1]))
        whole = LowRankKernel(none, 0.0, 1.0, rows, LookUp(rows, n), spread)
        found.__dict__["whole_factor"] = whole
    return found


KERNEL_MAP = Struct(
    _make_kernel_map,
    {
        "kernel": KERNEL,
        "eps": Number(0.0, 1.0),
        "points": Maybe(Array("n", "d", points=True)),
        "coordinates": COORDINATES,
        "inner": Array("k", "k"),
        "alpha": Number(0.0),
        "root": Array("k", "k"),
        "spread": Maybe(Array("n", "p")),
    },
    take=_take_kernel_map,
)
