"""The process: points first, then answers as they come; out goes what is learned, until the other side closes.

It ends with the server whatever it is doing, also where that was killed: a thread waits for nothing else, from
before the libraries are loaded on. It has one thread for its sums, and gives way to others that want the
processor.
"""

import os
from collections.abc import Callable
from multiprocessing import parent_process
from threading import Condition, Thread
from typing import Any, final

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_NICE = 10


def work_beside(connection: Any, make_work: Callable[..., Any] | None = None) -> None:
    """Run until the connection ends.

    Parameters
    ----------
    connection : Connection
    make_work : function of kind, points and rows, optional
        Makes what works, instead of Work.
    """
    Thread(target=_end_with_server, daemon=True).start()
    # Before NumPy is there, which reads them once.
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    if hasattr(os, "nice"):
        os.nice(_NICE)
    try:
        kind, rows, P = _read_points(connection)
    except (EOFError, OSError):
        return
    if make_work is None:
        from gramlearn.app.studio.beside.work import Work

        make_work = Work
    inbox = _Inbox(connection)
    work = make_work(kind, P, rows)
    while True:
        for come, gone in inbox.take():
            work.take(come, gone)
        problem = None
        try:
            step = work.step()
            if step is None:
                inbox.wait()
                continue
            for message in step:
                connection.send(message)
        except OSError:  # nobody reads any more
            return
        except Exception as error:
            problem = (
                f"Learning failed ({type(error).__name__}: {' '.join(str(error).split())}); what was learned "
                "before stays, questions go on, and it is tried again with the next answer."
            )
        connection.send(("problem", problem))


def _end_with_server() -> None:
    server = parent_process()
    assert server is not None
    server.join()
    os._exit(0)  # in whatever the other threads are


def _read_points(connection: Any) -> tuple[str, Any, Any]:
    """The kind, the rows that may be asked about, and all points by their leading directions."""
    import numpy as np

    from gramlearn.app.studio.beside.points import Directions

    kind, rows, n, sample = connection.recv()
    directions = Directions.of(sample)
    P, done = np.empty((n, directions.R.shape[1])), 0
    while done < n:
        block = connection.recv()
        P[done : done + len(block)] = directions.place(block)
        done += len(block)
    return kind, rows, P


@final
class _Inbox:
    """What has come and was not taken yet, read by a thread; the process ends with the connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._found: list[Any] = []
        self._is_there = Condition()
        Thread(target=self._read, daemon=True).start()

    def take(self) -> list[Any]:
        with self._is_there:
            found, self._found = self._found, []
        return found

    def wait(self) -> None:
        with self._is_there:
            while not self._found:
                self._is_there.wait()

    def _read(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                os._exit(0)
            with self._is_there:
                self._found.append(message)
                self._is_there.notify()
