"""How many bytes of memory are there to be used, on this machine and in this container."""

import os
from pathlib import Path

_SYSTEM, _CONTAINER = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def available_memory() -> float:
    """What can be had without swapping; where no system tells, half of all there is."""
    found = [_of_system()]
    limit, used = (_number(_CONTAINER / name) for name in ("memory.max", "memory.current"))
    if limit is not None:
        found.append(max(limit - (used or 0.0), 0.0))
    return min(found)


def _of_system() -> float:
    try:
        lines = _SYSTEM.read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("MemAvailable:"))
        return float(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _number(path: Path) -> float | None:
    """The number in a file of the system; None where it has none."""
    try:
        return float(path.read_text())
    except (OSError, ValueError):  # "max" is no number: there is no limit
        return None
