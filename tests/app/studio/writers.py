"""Processes that write to a store, and are killed, or write at once; what came out is printed as JSON.

A file to be run, so that what writes is forked from a process that has no threads:

    python writers.py kill FOLDER
    python writers.py together FOLDER
"""

import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

import numpy as np

from gramlearn.app.studio.store import Store
from gramlearn.files.points import Points

POINTS = Points(np.arange(12.0).reshape(6, 2), ids=list("abcdef"), source="points.csv")
N_STORES, N_KILLS, N_TOGETHER = 5, 10, 60
LONGEST = 0.08  # seconds that a writer has


def do_event(store: Store, k: int) -> int | None:
    """The k-th event, of which every fifth is an undo; the number of the answer."""
    if k % 5 == 4:
        undone = store.undo(f"event {k}", "Ada")
        return None if undone is None else undone.seq
    return store.answer(f"event {k}", f"question {k}", "Ada", "pair", (k % 5, 5), "alike", False)


def write_until_killed(path: Path, first: int, pipe: int) -> None:
    """Event after event; each is told through the pipe once it is confirmed."""
    store = Store.open(path, POINTS)
    for k in range(first, 10**9):
        os.write(pipe, f"{k} {do_event(store, k)}\n".encode())


def kill_writers(folder: Path) -> dict[str, object]:
    """What was confirmed to writers that each go on with the first event that was not confirmed."""
    moment = random.Random(0)
    confirmed: list[list[list[int | None]]] = []
    for number in range(N_STORES):
        path, events = folder / f"{number}.db", []
        for _ in range(N_KILLS):
            ours, theirs = os.pipe()
            writer = os.fork()
            if not writer:
                write_until_killed(path, len(events), theirs)
            os.close(theirs)
            time.sleep(moment.random() * LONGEST)  # the first of them while the store is made
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
            with os.fdopen(ours) as told:
                lines = [line.split() for line in told if line.endswith("\n")]
            for k, seq in lines:
                assert int(k) == len(events)
                events.append(None if seq == "None" else int(seq))
        confirmed.append(events)
    return {
        "confirmed": confirmed,
        "stood": [standing(folder / f"{k}.db") for k in range(N_STORES)],
    }


def standing(path: Path) -> list[list[object]]:
    """(number, question) of the answers that stand."""
    with Store.open(path, POINTS) as store:
        return [[answer.seq, answer.question] for answer in store.answers()]


def write_together(folder: Path) -> dict[str, object]:
    """The numbers that two processes are told, which make one store and write to it at once."""
    begin, go = os.pipe()
    pipes, writers = [], []
    for judge in ("Ada", "Bo"):
        ours, theirs = os.pipe()
        writer = os.fork()
        if not writer:
            select.select([begin], [], [])
            told = write_share(folder / "store.db", judge)
            with os.fdopen(theirs, "w") as pipe:
                json.dump(told, pipe)
            os._exit(0)
        os.close(theirs)
        pipes.append(ours)
        writers.append(writer)
    os.write(go, b"!")
    told = [json.load(os.fdopen(pipe)) for pipe in pipes]
    for writer in writers:
        os.waitpid(writer, 0)
    return {"told": told, "stood": standing(folder / "store.db")}


def write_share(path: Path, judge: str) -> dict[str, list[int]]:
    """The numbers of events of one's own, and of events that both processes send."""
    told: dict[str, list[int]] = {"own": [], "shared": []}
    with Store.open(path, POINTS) as store:
        for k in range(N_TOGETHER):
            for whose, name in (("own", f"{judge} {k}"), ("shared", f"both {k}")):
                seq = store.answer(name, name, judge, "pair", (0, 1 + k % 5), "alike", False)
                told[whose].append(seq)
    return told


if __name__ == "__main__":
    do = {"kill": kill_writers, "together": write_together}[sys.argv[1]]
    print(json.dumps(do(Path(sys.argv[2]))))
