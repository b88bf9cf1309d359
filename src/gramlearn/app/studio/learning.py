"""The process beside that learns: started, told of answers, heard, and started again where it died.

A thread of its own does this, so that no question waits for it. Answers are told at most some times a second,
and only those that have come or gone since.
"""

import signal
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import wait
from threading import Event, Lock, Thread
from typing import Any, Self, final

import numpy as np

from gramlearn.app.studio.beside.learned import Learned
from gramlearn.app.studio.beside.points import blocks_of, sample_of
from gramlearn.app.studio.beside.process import work_beside
from gramlearn.app.studio.beside.told import Told
from gramlearn.app.studio.desk import Desk

_SECONDS_BETWEEN = 0.1  # two messages about answers
_MOST_DEATHS = 3  # in a row
_RUNS_WELL = 600.0  # seconds: a process that ends later did not end of what it was given at first
_SECONDS_TO_END = 5.0


@final
class Learning:
    """What is learned from the answers at a desk; `with` it, the process runs.

    Parameters
    ----------
    desk : Desk
        Gets the questions to ask next.
    X : array n x d
        The points.
    rows : vector of int
        Those that can be asked about.
    make_work : function, optional
        See `work_beside`.
    """

    def __init__(
        self,
        desk: Desk,
        X: Any,
        rows: np.ndarray,
        make_work: Callable[..., Any] | None = None,
    ) -> None:
        self.learned: Learned | None = None
        self.problem: str | None = None
        self._desk, self._X, self._rows = desk, X, np.asarray(rows)
        self._make_work = make_work
        self._context = get_context("spawn")
        self._hears, self._wake = self._context.Pipe(duplex=False)
        self._lock = Lock()
        self._is_woken, self._closed = False, Event()
        self._process: Any = None
        self._version = self._n_deaths = 0
        self._thread = Thread(target=self._run, name="learning", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def notice(self) -> None:
        """There are other answers; told at once, and whoever waits for a question does not wait here."""
        with self._lock:
            if not self._is_woken and not self._closed.is_set():
                self._is_woken = True
                self._wake.send_bytes(b"!")

    def close(self) -> None:
        """End the process; it holds nothing that is not in the store."""
        self.notice()
        with self._lock:
            self._closed.set()
            if self._process is not None:
                self._process.kill()
        self._thread.join()

    # -- inside, in the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        if hasattr(signal, "pthread_sigmask"):
            # Ctrl-C goes to all processes of a terminal; the one beside inherits that it is not meant.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while not self._closed.is_set() and self._n_deaths < _MOST_DEATHS:
            began = time.monotonic()
            self._work_once()
            if self._closed.is_set():
                return
            if time.monotonic() - began > _RUNS_WELL:
                self._n_deaths = 0
            self._n_deaths += 1
            self.problem = (
                "The process that learns has ended by itself and is started again; all answers are kept."
                if self._n_deaths < _MOST_DEATHS
                else f"The process that learns has ended by itself {_MOST_DEATHS} times and is not started "
                "again, perhaps for lack of memory; all answers are kept, and questions are drawn at random. "
                "Start the studio again, with fewer points if need be."
            )

    def _work_once(self) -> None:
        """One process, from its start to its end."""
        ours, theirs = self._context.Pipe()
        with self._lock:
            if self._closed.is_set():
                return
            process = self._context.Process(
                target=work_beside, args=(theirs, self._make_work), daemon=True
            )
            try:
                process.start()
            except (
                OSError
            ):  # such as no memory, or too many processes: it counts as one that has ended
                ours.close()
                return
            finally:
                theirs.close()
            self._process = process
        try:
            ours.send((self._desk.kind, self._rows, len(self._X), sample_of(self._X)))
            for block in blocks_of(self._X):
                ours.send(block)
            self._talk(ours)
        except (EOFError, OSError):
            pass
        finally:
            ours.close()
            self._process.join(_SECONDS_TO_END)
            self._process.kill()
            self._process.join()

    def _talk(self, connection: Any) -> None:
        """Tell of answers, and hear what was learned, until the process has ended."""
        told: set[int] = set()
        is_news, next_time = True, 0.0
        while True:
            now = time.monotonic()
            if is_news and now >= next_time:
                self._tell(connection, told)
                is_news, next_time = False, time.monotonic() + _SECONDS_BETWEEN
            for ready in wait([connection, self._hears], next_time - now if is_news else None):
                if ready is not self._hears:
                    self._hear(*connection.recv())
                    continue
                with self._lock:
                    self._hears.recv_bytes()
                    self._is_woken = False
                if self._closed.is_set():
                    return
                is_news = True

    def _tell(self, connection: Any, told: set[int]) -> None:
        with self._desk.looking():
            answers = list(self._desk.asked.answers.values())
        come = [answer for answer in answers if answer.seq not in told]
        gone = set()
        if len(answers) - len(come) < len(told):
            gone = told.difference(answer.seq for answer in answers)
        if not come and not gone:
            return
        told.update(answer.seq for answer in come)
        told.difference_update(gone)
        connection.send(
            (Told.of(self._desk.kind, come, self._X), np.array(sorted(gone), dtype=np.int64))
        )

    def _hear(self, what: str, found: Any) -> None:
        if what == "queue":
            self._desk.put(found.tolist())
        elif what == "learned":
            self._version += 1
            self.learned = replace(found, version=self._version)
        else:
            self.problem = found
