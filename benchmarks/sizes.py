"""Which instances a size holds, and how long each contestant has for each of them.

Synthetic data come with two problems, LogDet with LogDetSlack and VonNeumann with KLSlack; real data (`REAL`)
with every regularizer, loss and price, and with triplets of neighbors.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import final

from benchmarks.instance import Spec
from benchmarks.judge import LOSSES, REGULARIZERS
from benchmarks.runner import Limit

__all__ = ["QUICK", "REAL", "SIZES", "Size"]

_PRICES = (1e-3, 1.0, 1e3)
_NEIGHBOR_PRICES = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3)
_PASSES = 2_000  # that one solve of a real instance may take
_MNIST = Spec("mnist", n=60_000, r=100, c=10_000, is_real=True)
_OTHERS = (
    Spec("usps", n=7_291, r=100, c=10_000, is_real=True),
    Spec("spambase", n=4_601, r=57, c=10_000, is_real=True),
    Spec("newsgroups", n=18_846, r=100, c=10_000, is_real=True),
)
_TABLE = (
    ("LogDet", "LogDetSlack", (0.01, 1.0, 100.0)),
    ("VonNeumann", "KLSlack", (0.01, 1.0)),
    ("LogDet", "SquaredHinge", (0.001, 0.1)),
    ("LogDet", "Hinge", (0.001, 0.1)),
    ("VonNeumann", "Hinge", (0.001,)),
    ("Frobenius", "SquaredHinge", (0.001, 0.1)),
    ("Frobenius", "Hinge", (0.001,)),
)


@final
@dataclass(frozen=True)
class Size:
    """Instances, and the limit for a contestant on one of them."""

    specs: tuple[Spec, ...]
    limit: Limit


def _both_entropies(*specs: Spec) -> tuple[Spec, ...]:
    """Synthetic instances with VonNeumann, too."""
    synthetic = [spec for spec in specs if spec.data == "synthetic"]
    others = (replace(spec, regularizer="VonNeumann", loss="KLSlack") for spec in synthetic)
    return (*specs, *others)


def _every_problem(spec: Spec, counts: Iterable[int]) -> tuple[Spec, ...]:
    problems = product(counts, REGULARIZERS, LOSSES, _PRICES)
    return tuple(
        replace(spec, c=c, regularizer=regularizer, loss=loss, price=price)
        for c, regularizer, loss, price in problems
    )


def _neighbors(spec: Spec) -> tuple[Spec, ...]:
    # Few columns: 36 of the digits' components.
    r = spec.r if spec.data == "spambase" else 36
    few = replace(spec, n=1_000, r=r, c=30_000, kind="triplets", loss="SquaredHinge")
    return tuple(replace(few, price=price) for price in _NEIGHBOR_PRICES)


QUICK = Size((Spec("synthetic", n=40, r=5, c=60),), Limit(2.0))

SIZES: Mapping[str, Size] = {
    "small": Size(
        _both_entropies(
            Spec("synthetic", n=500, r=20, c=2_000),
            Spec("synthetic", n=500, r=20, c=10_000),
            Spec("isotropic", n=500, r=20, c=2_000),
            Spec("mnist", n=500, r=20, c=2_000),
        ),
        Limit(60.0),
    ),
    "medium": Size(
        _both_entropies(
            Spec("synthetic", n=6_000, r=100, c=100_000),
            Spec("isotropic", n=6_000, r=100, c=100_000),
            Spec("mnist", n=6_000, r=100, c=100_000),
        ),
        Limit(120.0),
    ),
    "large": Size(
        _both_entropies(
            Spec("synthetic", n=60_000, r=100, c=1_000_000),
            Spec("mnist", n=60_000, r=100, c=1_000_000),
            Spec("synthetic", n=60_000, r=100, c=10_000_000),
        ),
        Limit(600.0),
    ),
    "gpu": Size(
        _both_entropies(
            Spec("synthetic", n=60_000, r=100, c=10_000_000, library="torch:cuda"),
            Spec("synthetic", n=1_000_000, r=256, c=100_000_000, library="torch:cuda"),
        ),
        Limit(300.0),
    ),
    "real": Size(
        tuple(
            problem
            for spec in (_MNIST, *_OTHERS)
            for problem in _every_problem(spec, (10_000, 100_000))
        ),
        Limit(600.0, _PASSES),
    ),
    "real-large": Size(_every_problem(_MNIST, (1_000_000,)), Limit(3600.0, _PASSES)),
    "table": Size(
        tuple(
            replace(_MNIST, c=100_000, regularizer=regularizer, loss=loss, price=price)
            for regularizer, loss, prices in _TABLE
            for price in prices
        ),
        Limit(600.0, _PASSES),
    ),
    "neighbors": Size(
        tuple(
            problem
            for spec in (_MNIST, *_OTHERS)
            if spec.data != "newsgroups"
            for problem in _neighbors(spec)
        ),
        Limit(600.0, _PASSES),
    ),
}
REAL = ("table", "neighbors", "real", "real-large")  # the sizes of real data, the quickest first
