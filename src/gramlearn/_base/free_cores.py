"""free = cores - (busy - own): how many cores of this process others leave to it.

Linux counts the time that each core was busy (/proc/stat), and the time that this process had. The difference
between two readings, over the cores that the process may use, is what others had. One reading says only how
many threads of the whole system want to run at the moment (/proc/loadavg). Elsewhere nothing is known, and all
cores count as free.
"""

import os
import time
from typing import NamedTuple

_IDLE = (3, 4)  # the columns of /proc/stat for idle cores, and for those that wait for a disk
_COLUMNS = 8  # the next ones, of guests, are among the user's


class Reading(NamedTuple):
    """Seconds by the clock, and those that all cores of this process, and the process itself, were busy."""

    clock: float
    busy: float
    own: float


def cores() -> frozenset[int]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def read() -> Reading | None:
    """What the system says now, if it does."""
    names = {f"cpu{core}" for core in cores()}
    try:
        with open("/proc/stat", encoding="ascii") as lines:
            rows = [line.split() for line in lines if line.startswith("cpu")]
        ticks = [
            sum(int(n) for k, n in enumerate(row[1 : 1 + _COLUMNS]) if k not in _IDLE)
            for row in rows
            if row[0] in names
        ]
    except (OSError, ValueError):
        return None
    if len(ticks) != len(names):
        return None
    return Reading(time.perf_counter(), sum(ticks) / os.sysconf("SC_CLK_TCK"), time.process_time())


def free_between(first: Reading, second: Reading) -> float:
    """The cores that others left to this process, between two readings."""
    others = (second.busy - first.busy) - (second.own - first.own)
    return len(cores()) - max(others, 0.0) / (second.clock - first.clock)


def free_now() -> float:
    """The cores that no thread but this one wants at the moment."""
    count = len(cores())
    if count != os.cpu_count():  # others may want other cores
        return float(count)
    try:
        with open("/proc/loadavg", encoding="ascii") as line:
            wanted = int(line.read().split()[3].split("/")[0])
    except (OSError, ValueError, IndexError):
        return float(count)
    return float(count - max(wanted - 1, 0))
