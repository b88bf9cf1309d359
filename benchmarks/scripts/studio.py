"""Milliseconds from an answer to the next question, while refits run, over HTTP; and what refits take.

    OMP_NUM_THREADS=1 python -m benchmarks.scripts.studio [--kind triplet] [--points 100000] [--answers 20000]

A store is filled with answers of a hidden metric to questions at random, and served by `gramlearn studio` in a
process of its own. A client answers as fast as it can. Seconds of a fit and of choosing questions are measured
in this process afterwards, alone.
"""

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from gramlearn.app.studio.asked import WIDTH
from gramlearn.app.studio.beside.points import Directions, sample_of
from gramlearn.app.studio.beside.told import Told
from gramlearn.app.studio.beside.work import Work
from gramlearn.app.studio.store import Store
from gramlearn.files.points import Points

_ANSWERS = {"pair": ("alike", "unlike"), "triplet": ("second", "third")}
_ODD = ("third", "second", "first")
_COMMAND = "from gramlearn.app.command import main; raise SystemExit(main())"


def main() -> None:
    """Fill, serve and answer, then fit and choose."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=("pair", "triplet", "odd"), default="pair")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="of answering (default: 60)")
    parser.add_argument("--pause", type=float, default=0.0, help="before each answer (default: 0)")
    parser.add_argument("--folder", type=Path, help="where the store is made; else a temporary one")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((given.points, given.features), dtype=np.float32)
    judge = Judge(given.kind, X)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path, points = Path(folder) / "judgments.db", Path(folder) / "points.npy"
        np.save(points, X)
        with Store.open(path, Points(X, source="points.npy")) as store:
            fill(store, judge, given.answers, rng)
        serve(points, path, judge, given)
        with Store.open(path, Points(X, source="points.npy")) as store:
            learn(given.kind, X, Told.of(given.kind, store.answers(), X))


class Judge:
    """Answers by the distance of a quarter of the features."""

    def __init__(self, kind: str, X: np.ndarray) -> None:
        self.kind = kind
        self._looked_at = X[:, : X.shape[1] // 4]
        some = np.random.default_rng(1).integers(len(X), size=(10_000, 2))
        self._alike = np.quantile([self._apart(*row) for row in some], 0.3)

    def answer(self, items: Any) -> str:
        """In the words of the page."""
        if self.kind == "pair":
            return _ANSWERS["pair"][int(self._apart(*items) > self._alike)]
        i, j, k = items
        if self.kind == "triplet":
            return _ANSWERS["triplet"][int(self._apart(i, j) > self._apart(i, k))]
        return _ODD[int(np.argmin([self._apart(*pair) for pair in ((i, j), (i, k), (j, k))]))]

    def _apart(self, i: int, j: int) -> float:
        apart = self._looked_at[i] - self._looked_at[j]
        return float(apart @ apart)


def fill(store: Store, judge: Judge, n: int, rng: np.random.Generator) -> None:
    """Answers to questions at random, of which every seventh is not learned from."""
    for k in range(n):
        items = rng.choice(len(judge._looked_at), WIDTH[judge.kind], replace=False).tolist()
        store.answer(
            f"event {k}", f"question {k}", "Ada", judge.kind, items, judge.answer(items), k % 7 == 0
        )


def serve(points: Path, store: Path, judge: Judge, given: argparse.Namespace) -> None:
    """Answer while refits run."""
    options = ["--points", str(points), "--store", str(store), "--kind", given.kind]
    server = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, "studio", *options], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        line = next(line for line in server.stdout if line.startswith("The page is at "))
        address = urlsplit(line.split()[-1])
        client = Client(address.port or 0, parse_qs(address.query)["token"][0])
        begun = time.perf_counter()
        question, milliseconds, fits, chosen_from = client.post("/api/next", {}), [], 0, None
        while client.get("/api/state")["learned"] is None:
            time.sleep(0.1)
        print(f"the first fit was there after {time.perf_counter() - begun:.0f} s")
        begun = looked = time.perf_counter()
        while (now := time.perf_counter()) - begun < given.seconds:
            items = [item["number"] for item in question["items"]]
            body = {
                "event": f"e{now}",
                "question": question["question"],
                "answer": judge.answer(items),
            }
            time.sleep(given.pause)
            sent = time.perf_counter()
            question = client.post("/api/answer", body)["next"]
            milliseconds.append(1e3 * (time.perf_counter() - sent))
            if now - looked > 1:  # as often as a page does
                looked, state = now, client.get("/api/state")
                fits += state["learned"]["map_version"] != chosen_from
                chosen_from = state["learned"]["map_version"]
        found = np.quantile(milliseconds, (0.5, 0.95, 0.99, 1))
        print(
            f"{len(milliseconds):,} answers while {fits} fits ended; to the next question: median "
            "{:.1f} ms, 95 % {:.1f} ms, 99 % {:.1f} ms, longest {:.1f} ms".format(*found)
        )
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        print(f"server: {peak_of(server.pid)}")
        pids = [
            int(pid)
            for task in Path(f"/proc/{server.pid}/task").iterdir()
            for pid in (task / children.name).read_text().split()
        ]
        for pid in pids:
            print(f"beside: {peak_of(pid)}")
        print(client.get("/api/state")["learned"]["verdict"])
    finally:
        server.terminate()
        server.wait()


class Client:
    """A connection that is kept."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = {"X-Token": token, "Content-Type": "application/json"}

    def get(self, path: str) -> Any:
        """What the server says."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Any) -> Any:
        """The same, where something changes."""
        return self._ask("POST", path, json.dumps(body))

    def _ask(self, method: str, path: str, body: Any) -> Any:
        self._connection.request(method, path, body, self._headers)
        return json.loads(self._connection.getresponse().read())


def peak_of(pid: int) -> str:
    """The memory of a process, now and at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = dict(line.split(":", 1) for line in lines)
    now, most = (int(sizes[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    return f"{now:.0f} MiB of memory, {most:.0f} at most"


def learn(kind: str, X: np.ndarray, told: Told) -> None:
    """The steps of the process beside, one by one."""
    P = Directions.of(sample_of(X)).place(X)
    work = Work(kind, P, np.arange(len(P)))
    nothing = np.empty(0, dtype=np.int64)
    for what, part in (("the first", told[:-20]), ("the next", told[-20:])):
        work.take(part, nothing)
        wall, cpu = time.perf_counter(), time.process_time()
        for message, found in work.step() or ():
            seconds = time.perf_counter() - wall, time.process_time() - cpu
            of = f"{len(found)} questions are chosen" if message == "queue" else "scores and map"
            print(
                f"{what} step, {of} after {seconds[0]:.1f} s, of them {seconds[1]:.1f} s of the CPU"
            )


if __name__ == "__main__":
    main()
