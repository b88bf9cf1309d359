"""What runs in the processes of a Dask cluster: workers are made, asked, and their answers joined.

An error is an answer, too: one that a task raises is also written to the log of every process.
"""

import pickle
from collections.abc import Callable, Sequence
from functools import reduce
from traceback import format_exc
from typing import Any, NamedTuple

import numpy as np

from gramlearn._base.arrays import on_gpu
from gramlearn._base.threads import at_most_in_scans
from gramlearn._base.workers import posts
from gramlearn._base.workers.crew import Maker


class GoneError(Exception):
    """The process of these workers is gone, or has been started anew since; of none that is known."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(*numbers)
        self.numbers = numbers


class Failed(NamedTuple):
    """An error as an answer."""

    error: Exception

    @classmethod
    def with_(cls, error: Exception) -> "Failed":
        """As it is where it can travel, else in words; with its place, if it is none meant for users."""
        if not isinstance(error, ValueError | MemoryError | OSError):
            error.add_note(f"On a worker of the cluster: {format_exc()}")
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return cls(RuntimeError(f"{type(error).__name__}: {error}"))
        return cls(error)


def make_at_worker(
    name: str, number: int, make: Maker, parts: Sequence[int], shared: Any, memory: float
) -> Failed | None:
    from distributed import get_worker

    # What `dask worker --resources "GPU=1"` says of a process.
    has_gpu = get_worker().state.total_resources.get("GPU", 0) > 0
    bring = on_gpu if has_gpu else aligned
    try:
        posts.settle((name, number), lambda: make(parts, bring(shared), memory))
    except Exception as error:
        return Failed.with_(error)
    return None


def aligned(shared: Any) -> Any:
    """The same array where its numbers begin at full words.

    What came over a wire may begin at any byte, and NumPy copies all of such an array to take a few rows of it.
    """
    return np.require(shared, requirements="A") if isinstance(shared, np.ndarray) else shared


def answer_at_worker(name: str, number: int, question: str, args: tuple[Any, ...]) -> Any:
    from distributed import get_worker

    # Other processes of the cluster on this machine have the other cores.
    with at_most_in_scans(get_worker().state.nthreads):
        try:
            return posts.ask((name, number), question, args)
        except posts.VacantError:
            return Failed(GoneError(number))
        except Exception as error:
            return Failed.with_(error)


def joined_at_worker(join: Callable[[Any, Any], Any], *answers: Any) -> Any:
    failed = [answer for answer in answers if isinstance(answer, Failed)]
    return failed[0] if failed else reduce(join, answers)
