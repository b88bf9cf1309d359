"""One instance: a problem and its data.

    minimize over PSD X   D(X, I) + sum_k loss(t_k)

    pairs      t = d(i, j)              at most `upper` for the first `alike`, at least `lower` for the rest
    triplets   t = d(i, j) - d(i, k)    at most `upper`, which is minus the margin

with d(i, j) = (p_i - p_j)' X (p_i - p_j). A `Spec` names an instance by words and numbers alone, so that every
process can make the same one.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

__all__ = ["LIBRARIES", "Instance", "Spec", "load", "save"]

LIBRARIES = ("numpy", "torch:cpu", "torch:cuda")
_CHUNK_NUMBERS = {"numpy": 1 << 19, "torch": 1 << 27}  # 4 MB stays in a cache; 1 GB fills a GPU
_COLUMNS = ("i", "j", "k")


@final
@dataclass(frozen=True)
class Spec:
    """Which instance: `data` is a file in benchmarks/data; `regularizer` and `loss` are names of the judge."""

    data: str
    n: int  # points
    r: int  # columns
    c: int  # pairs or triplets
    seed: int = 0
    regularizer: str = "LogDet"
    loss: str = "LogDetSlack"
    price: float = 1.0  # of a violation: the library's C
    kind: str = "pairs"  # or "triplets"
    is_real: bool = (
        False  # scaled to a mean squared norm of 1, and drawn on the host for every library
    )
    library: str = "numpy"  # one of LIBRARIES

    @property
    def name(self) -> str:
        """Such as "synthetic-r20-n500-c2000", or "usps-real-r100-n7291-c10000-LogDet-Hinge-C0.001"."""
        parts = [self.data, *(["real"] if self.is_real else [])]
        parts += [f"r{self.r}", f"n{self.n}", f"c{self.c}"]
        if self.kind != "pairs":
            parts.append(self.kind)
        # Those of LogDet with its slack at C = 1 are older than the others, and keep their names.
        if self.is_real or self.problem != ("LogDet", "LogDetSlack", 1.0):
            parts += [self.regularizer, self.loss, f"C{self.price:g}"]
        if self.seed:
            parts.append(f"seed{self.seed}")
        if self.library != "numpy":
            parts.append(self.library.replace(":", "-"))
        return "-".join(parts)

    @property
    def problem(self) -> tuple[str, str, float]:
        """Regularizer, loss and price."""
        return self.regularizer, self.loss, self.price

    @property
    def is_on_gpu(self) -> bool:
        """Whether its arrays are in the memory of a GPU."""
        return self.library == "torch:cuda"

    @property
    def is_made_on_device(self) -> bool:
        """Whether its numbers are drawn on a device of PyTorch, and stay there."""
        return self.library != "numpy" and not self.is_real


@final
@dataclass(frozen=True, eq=False)
class Instance:
    """Points n x r, the pairs i, j or triplets i, j, k, and the bounds; arrays of NumPy or of PyTorch."""

    spec: Spec
    points: Any
    i: Any
    j: Any
    alike: int
    upper: float
    lower: float | None = None  # None for triplets
    k: Any = None  # None for pairs

    @property
    def xp(self) -> Any:
        """The module of the arrays: numpy or torch."""
        if isinstance(self.points, np.ndarray):
            return np
        import torch

        return torch

    @property
    def columns(self) -> dict[str, Any]:
        """The row numbers: i and j, and k for triplets."""
        return {name: getattr(self, name) for name in _COLUMNS if getattr(self, name) is not None}

    def halves(self) -> list[tuple[slice, int, float]]:
        """Give the kinds of constraints: their rows, the side (1 upper, -1 lower), the bound."""
        c = int(self.i.shape[0])
        kinds = [(slice(0, self.alike), 1, self.upper)]
        if self.lower is not None:
            kinds.append((slice(self.alike, c), -1, self.lower))
        return kinds

    def chunks(self, rows: slice) -> Iterator[slice]:
        """Cut rows so finely that their differences p_i - p_j need little memory."""
        step = max(1, _CHUNK_NUMBERS[self.xp.__name__] // self.spec.r)
        for start in range(rows.start, rows.stop, step):
            yield slice(start, min(start + step, rows.stop))

    def differences(self, rows: Any, points: Any = None) -> list[tuple[int, Any]]:
        """(1, p_i - p_j) for these rows, and (-1, p_i - p_k) for triplets."""
        points = self.points if points is None else points
        others = [(1, self.j)] + ([] if self.k is None else [(-1, self.k)])
        return [(sign, points[self.i[rows]] - points[other[rows]]) for sign, other in others]

    def some_of_each_half(self, count: int) -> "Instance":
        """The same with the first `count` constraints of each kind, where there are as many."""
        rows = [slice(h.start, min(h.start + count, h.stop)) for h, _, _ in self.halves()]
        columns = {
            name: self.xp.concat([x[part] for part in rows]) for name, x in self.columns.items()
        }
        return replace(self, alike=rows[0].stop, **columns)

    def on(self, array: Any) -> "Instance":
        """The same with every array brought elsewhere by the function `array`."""
        columns = {name: array(x) for name, x in self.columns.items()}
        return replace(self, points=array(self.points), **columns)


def save(instance: Instance, folder: Path) -> None:
    """Write an instance for another process; one made on a device is made anew there from its spec."""
    facts: dict[str, Any] = {"spec": asdict(instance.spec)}
    if not instance.spec.is_made_on_device:
        arrays = {"points": instance.points, **instance.columns}
        for name, array in arrays.items():
            on_host = array if isinstance(array, np.ndarray) else array.cpu().numpy()
            np.save(folder / f"{name}.npy", on_host)
        facts |= {name: getattr(instance, name) for name in ("alike", "upper", "lower")}
        facts["arrays"] = list(arrays)
    (folder / "instance.json").write_text(json.dumps(facts), encoding="utf-8")


def load(folder: Path) -> Instance:
    """Read what `save` wrote. No more memory is touched than the instance needs."""
    facts = json.loads((folder / "instance.json").read_text(encoding="utf-8"))
    spec = Spec(**facts.pop("spec"))
    if spec.is_made_on_device:
        from benchmarks.data import make

        return make(spec)
    arrays = {name: np.load(folder / f"{name}.npy") for name in facts.pop("arrays")}
    instance = Instance(spec=spec, **arrays, **facts)
    if spec.library == "numpy":
        return instance
    from benchmarks.data import make_generator

    return instance.on(make_generator(spec.library, spec.seed).array)
