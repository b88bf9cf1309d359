"""Random numbers of NumPy or PyTorch, so that data can be made on the device that uses them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from tools.environments import UnavailableError

__all__ = ["Draw", "make_generator"]


class Draw(ABC):
    """A seeded generator; `xp` is the array-API namespace of what it draws."""

    xp: Any

    @abstractmethod
    def normal(self, *shape: int) -> Any:
        """Standard normal numbers, float64."""

    @abstractmethod
    def uniform(self, size: int) -> Any:
        """Numbers from [0, 1), float64."""

    @abstractmethod
    def array(self, x: Any) -> Any:
        """Bring a NumPy array or a list here."""

    @final
    def below(self, limits: Any, size: int) -> Any:
        """Draw whole numbers, the k-th from 0, ..., limits_k - 1; limits is one number or many."""
        # Rounding can carry the product up to its limit when that is large; hence the minimum.
        drawn = self.xp.astype(self.uniform(size) * limits, self.xp.int64)
        return self.xp.minimum(drawn, self.xp.zeros_like(drawn) + (limits - 1))


@final
@dataclass
class NumPyDraw(Draw):
    """On the host."""

    seed: int

    def __post_init__(self) -> None:
        import array_api_compat.numpy as xp

        self.xp = xp
        self._rng = np.random.default_rng(self.seed)

    def normal(self, *shape: int) -> Any:
        return self._rng.standard_normal(shape)

    def uniform(self, size: int) -> Any:
        return self._rng.random(size)

    def array(self, x: Any) -> Any:
        return np.asarray(x)


@final
@dataclass
class TorchDraw(Draw):
    """On a device of PyTorch."""

    seed: int
    device: str

    def __post_init__(self) -> None:
        try:
            import array_api_compat.torch as xp
        except ImportError:
            reason = "PyTorch is not installed; `pip install torch` brings it"
            raise UnavailableError(reason) from None
        if self.device == "cuda" and not xp.cuda.is_available():
            raise UnavailableError("PyTorch sees no CUDA device; take a machine that has one")
        self.xp = xp
        self._rng = xp.Generator(self.device)
        self._rng.manual_seed(self.seed)

    def normal(self, *shape: int) -> Any:
        like = {"dtype": self.xp.float64, "device": self.device}
        return self.xp.randn(shape, generator=self._rng, **like)

    def uniform(self, size: int) -> Any:
        like = {"dtype": self.xp.float64, "device": self.device}
        return self.xp.rand(size, generator=self._rng, **like)

    def array(self, x: Any) -> Any:
        return self.xp.asarray(x, device=self.device)


def make_generator(library: str, seed: int) -> Draw:
    """Give the generator of "numpy", "torch:cpu" or "torch:cuda"."""
    if library == "numpy":
        return NumPyDraw(seed)
    name, _, device = library.partition(":")
    if name != "torch" or device not in ("cpu", "cuda"):
        raise ValueError(f"there is no library {library!r}; choose numpy, torch:cpu or torch:cuda.")
    return TorchDraw(seed, device)
