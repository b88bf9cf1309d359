"""Data, one file each. A file has one function, points(spec, draw) -> (points n x r, classes n)."""

import importlib
import pkgutil
from pathlib import Path

from benchmarks.data._draw import Draw, make_generator
from benchmarks.data._pairs import draw_pairs, find_bounds
from benchmarks.data._real import scale_points
from benchmarks.data._triplets import find_margin, neighbor_triplets
from benchmarks.instance import Instance, Spec

__all__ = ["make", "make_generator", "names"]


def names() -> list[str]:
    """The names of all data."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in found if not module.name.startswith("_"))


def make(spec: Spec) -> Instance:
    """Make the instance of a spec: the same numbers in every process.

    Raises `UnavailableError`, with the reason, where the data or the device is not there.
    """
    if spec.data not in names():
        raise ValueError(f"there is no data {spec.data!r}; choose one of {', '.join(names())}.")
    device = make_generator(spec.library, spec.seed)
    if spec.library == "numpy" or spec.is_made_on_device:
        return _draw_instance(spec, device)
    return _draw_instance(spec, make_generator("numpy", spec.seed)).on(device.array)


def _draw_instance(spec: Spec, draw: Draw) -> Instance:
    points, y = importlib.import_module(f"benchmarks.data.{spec.data}").points(spec, draw)
    if spec.is_real:
        points = scale_points(points)
    if spec.kind == "triplets":
        i, j, k = neighbor_triplets(points, y, spec.c)
        return Instance(spec, points, i, j, spec.c, -find_margin(points), k=k)
    alike = spec.c // 2
    i, j = draw_pairs(y, alike, spec.c, draw)
    upper, lower = find_bounds(points, draw)
    return Instance(spec, points, i, j, alike, upper, lower)
