"""Fixtures for all tests: array libraries, reproducible random numbers and hypothesis examples."""

import gc
from collections.abc import Iterator
from importlib.util import find_spec
from shutil import which
from typing import Any

import array_api_compat
import numpy as np
import pytest
from hypothesis import settings

# The same examples on every run and on every machine; no clock, for the machines are shared.
settings.register_profile(
    "deterministic", derandomize=True, deadline=None, database=None, max_examples=30
)
settings.load_profile("deterministic")


class Library:
    """One array library: makes arrays from NumPy's, and brings results back for comparison."""

    def __init__(self, name: str, device: str | None = None) -> None:
        self.name, self.device = name, device

    def __repr__(self) -> str:
        return self.name if self.device is None else f"{self.name} on {self.device}"

    @property
    def xp(self) -> Any:
        return array_api_compat.array_namespace(self.array([0.0]))

    def array(self, x: Any, dtype: str = "float64") -> Any:
        """Copy x, a number, list or NumPy array, into this library."""
        x = np.array(x, dtype=dtype)
        if self.name == "torch":
            import torch

            return torch.asarray(x, device=self.device or "cpu")
        if self.name == "array_api_strict":
            import array_api_strict

            device = None if self.device is None else array_api_strict.Device(self.device)
            return array_api_strict.asarray(x, device=device)
        return x

    def index(self, x: Any) -> Any:
        return self.array(x, "int64")

    def numpy(self, x: Any) -> np.ndarray:
        """Convert x to NumPy, after a check that it is an array of this library, on its device."""
        here = self.array(0.0)
        assert type(x) is type(here) or (self.name == "numpy" and np.isscalar(x)), type(x)
        if self.device is None:
            return np.asarray(x.detach().cpu() if self.name == "torch" else x)
        assert x.device == here.device, x.device
        return np.asarray(x.cpu()) if self.name == "torch" else np.from_dlpack(x, device="cpu")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "covering(*names): for array libraries other than NumPy, not all combinations of these parameters "
        "but one for every choice of all but one of them; the last named has the fewest values",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Other libraries run the same lines as NumPy, and slower: they need not meet every combination."""
    kept, left_out = [], []
    for item in items:
        (kept if _is_in_covering(item) else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_collection_finish() -> None:
    """What was collected and imported stays to the end: the garbage collector need not look there."""
    gc.collect()
    gc.freeze()


def _is_in_covering(item: Any) -> bool:
    """A Latin square: the places of the values add up to a multiple of how many the last has."""
    mark = item.get_closest_marker("covering")
    if mark is None or item.callspec.params["library"] == "numpy":
        return True
    values = {m.args[0]: list(m.args[1]) for m in item.iter_markers("parametrize")}
    places = [
        next(k for k, value in enumerate(values[name]) if value is item.callspec.params[name])
        for name in mark.args
    ]
    return sum(places) % len(values[mark.args[-1]]) == 0


@pytest.fixture(autouse=True)
def _own_numbers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test draws the same from its module's RNG, whichever tests ran before it."""
    if hasattr(request.module, "RNG"):
        monkeypatch.setattr(request.module, "RNG", np.random.default_rng(1))


LIBRARIES = ["numpy", "array_api_strict", "torch"]
INSTALLED = [name for name in LIBRARIES if find_spec(name) is not None]


def pytest_report_header() -> str:
    """Say which libraries the tests run in: 1,500 tests that are skipped would say no more, and take longer."""
    missing = [
        f"without {name}, which is not installed" for name in LIBRARIES if name not in INSTALLED
    ]
    return f"array libraries: {', '.join([*INSTALLED, *missing])}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say at the end what no browser has looked at, which one line among many would not."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)]
    without = [reason for reason in reasons if "no browser: " in reason]
    if without:
        why = without[0].split("no browser: ")[1]
        terminalreporter.section("not looked at in a browser")
        terminalreporter.write_line(
            f"{len(without)} tests were skipped, for {why}: on Debian, `apt-get install chromium "
            "chromium-driver`, and `pip install selenium`."
        )


# Of the session, not of the function: hypothesis runs one function many times.
@pytest.fixture(scope="session", params=INSTALLED)
def library(request: pytest.FixtureRequest) -> Library:
    return Library(request.param)


OTHERS = {
    # A device of which `np.asarray` refuses to copy, as those of GPUs do, and which mixes with no other.
    "array_api_strict": Library("array_api_strict", "device1"),
    "torch": Library("torch"),
}
if which("nvidia-smi") is not None:
    OTHERS["torch on a GPU"] = Library("torch", "cuda")


@pytest.fixture(scope="session", params=OTHERS)
def other(request: pytest.FixtureRequest) -> Library:
    """A library that is not NumPy, on another device where it has one."""
    found = OTHERS[request.param]
    pytest.importorskip(found.name, reason=f"{found.name} is not installed")
    return found


@pytest.fixture
def tensors_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors become NumPy arrays only where they were moved by `cpu()`, as those of a GPU would."""
    if "torch" not in INSTALLED:
        return
    import torch

    to_numpy, to_host = torch.Tensor.numpy, torch.Tensor.cpu

    class Moved(torch.Tensor):
        def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
            return np.asarray(to_numpy(self), *args)

    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, Moved):
            return to_numpy(self)
        raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")

    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    monkeypatch.setattr(torch.Tensor, "numpy", refuse)
    monkeypatch.setattr(torch.Tensor, "cpu", lambda self: to_host(self).as_subclass(Moved))


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The experiments by name: none, until the test adds some."""
    from experiments import reproductions

    found: dict[str, Any] = {}
    monkeypatch.setattr(reproductions, "names", lambda: list(found))
    monkeypatch.setattr(reproductions, "find", found.__getitem__)
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window, started once for all tests of pages that a process runs."""
    from tests.browsers import starting

    with starting() as browser:
        yield browser
