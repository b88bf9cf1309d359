"""Workers that stand in this process, by crew and number: made, asked one question at a time, and let go.

Who asks from another process may have gone meanwhile, or asked anew. So a worker that is made when nobody wants
it any more is let go at once, and a question waits for the one before it.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from gramlearn._base.workers.crew import Worker

Name = tuple[str, int]


class Post(NamedTuple):
    """Where a worker stands; none while it is being made."""

    worker: Worker | None
    asked: Any  # a lock


class VacantError(Exception):
    """No worker stands there."""


POSTS: dict[Name, Post] = {}


def settle(name: Name, make: Callable[[], Worker]) -> None:
    """Make a worker, in the place of the one before."""
    forget(name)
    making = Post(None, threading.Lock())
    POSTS[name] = making
    try:
        worker = make()
    except BaseException:
        if POSTS.get(name) is making:
            del POSTS[name]
        raise
    if POSTS.get(name) is making:
        POSTS[name] = making._replace(worker=worker)
    else:
        worker.close()


def ask(name: Name, question: str, args: tuple[Any, ...]) -> Any:
    """The answer of a worker; VacantError where there is none."""
    post = POSTS.get(name)
    if post is None or post.worker is None:
        raise VacantError(name)
    with post.asked:
        return getattr(post.worker, question)(*args)


def forget(name: Name) -> None:
    """Let a worker go, also one that is being made."""
    post = POSTS.pop(name, None)
    if post is not None and post.worker is not None:
        post.worker.close()
