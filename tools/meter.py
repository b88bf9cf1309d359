"""Measurements besides seconds: peak memory, and the time of one pass over the data.

A pass is one matrix product of size c x r by r x r: a look at all pairs, if their differences were
kept. Times divided by it can be compared between machines.
"""

import contextlib
import os
import platform
import subprocess
import time
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any, final

import numpy as np

__all__ = [
    "THREADS",
    "PeakMemory",
    "describe_commit",
    "describe_machine",
    "limit_threads",
    "list_versions",
    "measure_pass_seconds",
]

THREADS = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")]
_CHUNK_ROWS = 1_000_000


def measure_pass_seconds(c: int, r: int, library: str) -> float:
    """The median time of a product of c x r by r x r, in chunks with a preallocated result."""
    rows = min(c, _CHUNK_ROWS)
    if library == "numpy":
        rng = np.random.default_rng(0)
        A, B, out = rng.random((rows, r)), rng.random((r, r)), np.empty((rows, r))
        multiply, wait = np.matmul, lambda: None
    else:
        import torch

        like = {"dtype": torch.float64, "device": library.partition(":")[2]}
        A, B, out = (
            torch.rand(rows, r, **like),
            torch.rand(r, r, **like),
            torch.empty(rows, r, **like),
        )
        multiply, wait = torch.mm, torch.cuda.synchronize if A.is_cuda else lambda: None
    sizes = [rows] * (c // rows) + [c % rows] * (c % rows > 0)
    multiply(A, B, out=out)
    times: list[float] = []
    while len(times) < 3 or (len(times) < 100 and sum(times) < 0.3):
        wait()
        began = time.perf_counter()
        for size in sizes:
            multiply(A[:size], B, out=out[:size])
        wait()
        times.append(time.perf_counter() - began)
    return median(times)


@final
class PeakMemory:
    """The most memory that a block of code held above what was held before it, in bytes.

    On Linux the high-water mark of the resident set is set back first; elsewhere the mark of the
    whole process is used, which is right as long as nothing before the block held more. On a GPU
    the allocator counts.
    """

    above: int | None = None
    level: int | None = None

    def __init__(self, library: str) -> None:
        self._cuda = library == "torch:cuda"

    def __enter__(self) -> "PeakMemory":
        if self._cuda:
            import torch

            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            self.level = torch.cuda.memory_allocated()
        else:
            _reset_high_water()
            self.level = _resident("VmRSS") or _high_water()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._cuda:
            import torch

            peak: int | None = torch.cuda.max_memory_allocated()
        else:
            peak = _resident("VmHWM") or _high_water()
        if peak is not None and self.level is not None:
            self.above = max(peak - self.level, 0)


def _reset_high_water() -> None:
    # Not Linux, or not allowed: then the mark of the whole process has to do.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _resident(field: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None


def _high_water() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    mark = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return mark if platform.system() == "Darwin" else mark * 1024


def describe_machine(library: str = "numpy") -> dict[str, Any]:
    """The machine a result belongs to."""
    facts: dict[str, Any] = {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "threads": {k: v for k, v in os.environ.items() if k.endswith("_NUM_THREADS")},
    }
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        facts["memory_bytes"] = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if library == "torch:cuda":
        import torch

        facts["gpu"] = torch.cuda.get_device_name()
    return facts


def limit_threads(count: int) -> None:
    """Keep this process, and those it starts, to so many threads."""
    from threadpoolctl import threadpool_limits

    os.environ.update(dict.fromkeys(THREADS, str(count)))
    threadpool_limits(count)


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def describe_commit() -> str | None:
    """The commit of this repository, with "-dirty" where files differ from it; None without Git."""
    # Without locks: a run that is killed at this moment would leave one in the user's repository.
    git = ["git", "--no-optional-locks", "-C", str(Path(__file__).parent)]
    try:
        name, changed = (
            subprocess.run(
                [*git, *words], capture_output=True, text=True, check=True
            ).stdout.strip()
            for words in (["describe", "--always"], ["status", "--porcelain", "-uno"])
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{name}-dirty" if changed else name


def list_versions(packages: tuple[str, ...]) -> dict[str, str]:
    """The versions of Python and of the packages that are installed here."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
