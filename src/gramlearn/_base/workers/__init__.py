"""Who does the work: this process, or the workers of a cluster. Parts stay where they are; answers travel."""

import math
from typing import Any

from gramlearn._base.arrays import is_array, is_numpy
from gramlearn._base.memory import available_memory
from gramlearn._base.workers.crew import Crew, Maker, PartsLostError, Worker
from gramlearn._base.workers.here import Here
from gramlearn._base.workers.lazy import is_lazy

__all__ = ["Crew", "Here", "Maker", "PartsLostError", "Worker", "crew_for"]


def crew_for(shared: Any, client: Any, memory: float | None) -> Crew:
    """Workers on the cluster of a client, or on the current one for an array of Dask; else one here.

    Each may use so many bytes beside what is shared: half of those that there are, if None.
    """
    from gramlearn._base.workers.on_dask import OnDask, current_client

    if client is None and is_lazy(shared):
        client = current_client()
    if client is None:
        return Here(0.5 * available_memory() if memory is None else memory)
    if is_array(shared) and not (is_numpy(shared) or is_lazy(shared)):
        raise TypeError(
            f"`X` is a {type(shared).__module__}.{type(shared).__name__}, and tensors do not travel to the "
            "workers of `client`; pass an array of NumPy or Dask, or leave out the client."
        )
    return OnDask(client, math.inf if memory is None else memory)
