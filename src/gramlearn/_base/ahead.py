"""Results in the order of what they are made of, where the next ones are made in the background."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from gramlearn._base.memory import available_memory

_MOST = 16  # threads
Item = TypeVar("Item")
Result = TypeVar("Result")


def made_ahead(
    make: Callable[[Item], Result], items: Iterable[Item], n_ahead: int
) -> Iterator[Result]:
    """Yield make(item) for each, while so many threads make those that come next.

    At most so many results wait, beside the one that was handed out last.
    """
    left = iter(items)
    with ThreadPoolExecutor(n_ahead) as background:
        waiting = deque(background.submit(make, item) for item in islice(left, n_ahead))
        while waiting:
            found = waiting.popleft().result()
            waiting.extend(background.submit(make, item) for item in islice(left, 1))
            yield found


def at_once(each: float, share: float) -> int:
    """How many threads may work, if each needs so many bytes, and all this share of the memory there is."""
    fitting = int(share * available_memory() / max(each, 1))
    return max(1, min(_MOST, os.cpu_count() or 1, fitting))
