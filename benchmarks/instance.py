"""One instance: points, pairs of them, bounds on their squared distances, and gamma.

    minimise over PSD X   D(X, I) + sum_k loss((p_i - p_j)' X (p_i - p_j)),   pair k = (i, j)

The first `alike` pairs shall have a squared distance of at most `upper`, the others of at least
`lower`. A `Spec` names an instance by numbers alone, so that every process can make the same one.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

__all__ = ["Instance", "Spec", "load", "save"]

_CHUNK_NUMBERS = {"numpy": 1 << 19, "torch": 1 << 27}  # 4 MB stays in a cache; 1 GB fills a GPU


@final
@dataclass(frozen=True)
class Spec:
    """Which instance: `data` is the name of a file in benchmarks/data."""

    data: str
    n: int  # points
    r: int  # columns
    c: int  # pairs
    seed: int = 0
    gamma: float = 1.0
    library: str = "numpy"  # or "torch:cpu", "torch:cuda"

    @property
    def name(self) -> str:
        """Such as "synthetic-r20-n500-c2000"."""
        device = "" if self.library == "numpy" else "-" + self.library.replace(":", "-")
        seed = f"-seed{self.seed}" if self.seed else ""
        return f"{self.data}-r{self.r}-n{self.n}-c{self.c}{seed}{device}"


@final
@dataclass(frozen=True, eq=False)
class Instance:
    """Points n x r, the pairs i, j, and the bounds; arrays of NumPy or of PyTorch."""

    spec: Spec
    points: Any
    i: Any
    j: Any
    alike: int
    upper: float
    lower: float

    @property
    def gamma(self) -> float:
        """The weight of a violation."""
        return self.spec.gamma

    @property
    def xp(self) -> Any:
        """The module of the arrays: numpy or torch."""
        if isinstance(self.points, np.ndarray):
            return np
        import torch

        return torch

    def halves(self) -> list[tuple[slice, int, float]]:
        """Give the two kinds of pairs: their rows, the side (1 upper, -1 lower), the bound."""
        c = int(self.i.shape[0])
        return [(slice(0, self.alike), 1, self.upper), (slice(self.alike, c), -1, self.lower)]

    def chunks(self, rows: slice) -> Iterator[slice]:
        """Cut rows so finely that their differences p_i - p_j need little memory."""
        step = max(1, _CHUNK_NUMBERS[self.xp.__name__] // self.spec.r)
        for start in range(rows.start, rows.stop, step):
            yield slice(start, min(start + step, rows.stop))

    def differences(self, rows: Any, points: Any = None) -> Any:
        """p_i - p_j for these rows."""
        points = self.points if points is None else points
        return points[self.i[rows]] - points[self.j[rows]]


def save(instance: Instance, folder: Path) -> None:
    """Write an instance for another process; one of PyTorch is made anew there from its spec."""
    facts = {"spec": asdict(instance.spec)}
    if instance.spec.library == "numpy":
        for name in ("points", "i", "j"):
            np.save(folder / f"{name}.npy", getattr(instance, name))
        facts |= {name: getattr(instance, name) for name in ("alike", "upper", "lower")}
    (folder / "instance.json").write_text(json.dumps(facts), encoding="utf-8")


def load(folder: Path) -> Instance:
    """Read what `save` wrote. No more memory is touched than the instance needs."""
    facts = json.loads((folder / "instance.json").read_text(encoding="utf-8"))
    spec = Spec(**facts.pop("spec"))
    if spec.library != "numpy":
        from benchmarks.data import make

        return make(spec)
    arrays = {name: np.load(folder / f"{name}.npy") for name in ("points", "i", "j")}
    return Instance(spec=spec, **arrays, **facts)
