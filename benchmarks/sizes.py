"""Which instances a size holds, and how many seconds each contestant has for each of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from benchmarks.instance import Spec

__all__ = ["QUICK", "SIZES", "Size"]


@final
@dataclass(frozen=True)
class Size:
    """Instances, and the limit for a contestant on one of them."""

    specs: tuple[Spec, ...]
    limit: float  # seconds


QUICK = Size((Spec("synthetic", n=40, r=5, c=60),), 2.0)

SIZES: Mapping[str, Size] = {
    "small": Size(
        (
            Spec("synthetic", n=500, r=20, c=2_000),
            Spec("synthetic", n=500, r=20, c=10_000),
            Spec("isotropic", n=500, r=20, c=2_000),
            Spec("mnist", n=500, r=20, c=2_000),
        ),
        60.0,
    ),
    "medium": Size(
        (
            Spec("synthetic", n=6_000, r=100, c=100_000),
            Spec("isotropic", n=6_000, r=100, c=100_000),
            Spec("mnist", n=6_000, r=100, c=100_000),
        ),
        120.0,
    ),
    "large": Size(
        (
            Spec("synthetic", n=60_000, r=100, c=1_000_000),
            Spec("mnist", n=60_000, r=100, c=1_000_000),
            Spec("synthetic", n=60_000, r=100, c=10_000_000),
        ),
        600.0,
    ),
    "gpu": Size(
        (
            Spec("synthetic", n=60_000, r=100, c=10_000_000, library="torch:cuda"),
            Spec("synthetic", n=1_000_000, r=256, c=100_000_000, library="torch:cuda"),
        ),
        300.0,
    ),
}
