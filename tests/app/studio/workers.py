"""What works in the process beside in place of Work, of few imports, so that it starts soon.

A file to be run, too: a server that says which process is beside it, and waits to be killed.

    python workers.py STORE
"""

import os
import signal
import sys
import time

import numpy as np

from gramlearn.app.studio.beside.learned import Learned, Map

FAILS_AT = 5
LONG = 600.0


def die(kind, P, rows):
    """As a process that the system ends for lack of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


class Counting:
    """Tells how many answers there are, and fails at five."""

    def __init__(self, kind, P, rows):
        self.seqs, self.is_news = set(), True
        self.rows = rows

    def take(self, come, gone):
        self.seqs = (self.seqs - set(gone.tolist())) | set(come.seq.tolist())
        self.is_news = True

    def step(self):
        if not self.is_news:
            return None
        self.is_news = False
        return self.tell()

    def tell(self):
        if len(self.seqs) == FAILS_AT:
            raise ArithmeticError(f"{FAILS_AT} is\ntoo many")
        nothing = Map(*(np.zeros((0, 2)) for _ in range(4)))
        yield "queue", np.array([self.rows[:2]])
        if self.seqs:
            yield (
                "learned",
                Learned(str(len(self.seqs)), None, [], len(self.seqs), 0.0, nothing, []),
            )


class DyingLater(Counting):
    """Dies once it has learned."""

    def tell(self):
        yield from super().tell()
        if self.seqs:
            die(None, None, None)


class Sleeping(Counting):
    """Learns for as long as the test lasts."""

    def tell(self):
        yield "queue", np.array([self.rows[:2]])
        time.sleep(LONG)


if __name__ == "__main__":
    from gramlearn.app.studio.desk import Desk
    from gramlearn.app.studio.learning import Learning
    from gramlearn.app.studio.store import Store
    from gramlearn.files.points import Points

    points = Points(np.arange(12.0).reshape(6, 2), source="points")
    with Store.open(sys.argv[1], points) as store:
        desk = Desk(store, "pair", np.arange(6))
        with Learning(desk, points.X, np.arange(6), Sleeping) as learning:
            while not desk.n_queued:  # it sleeps by now
                time.sleep(0.01)
            print(learning._process.pid, flush=True)
            time.sleep(LONG)
