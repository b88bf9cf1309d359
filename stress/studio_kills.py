"""SIGKILL at random moments of `gramlearn studio`, under two clients that answer as fast as they can.

What a client was told is kept must stand in the end, once, as it was said; what it was told is taken back
must not. A message without a reply is sent again to the next server with the same event, as the page does, and
counts once or is refused. No question may be asked twice.
"""

import http.client
import json
import os
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import numpy as np

__all__ = ["kill_studio"]

_POINTS = 300
_LONGEST = 0.5  # seconds from the address to the kill
_UNDO = 7  # every so many messages
_PATIENCE = 60.0  # seconds until a reply
_CHOICES = ("alike", "unlike", "unsure")


def kill_studio(moments: int, seed: int, folder: Path) -> dict[str, Any]:
    """Kill the server at this many moments; what was confirmed, and what is wrong with the store."""
    import gramlearn.app.studio.serving  # noqa: F401 - so that forks need not load it

    rng, folder = np.random.default_rng(seed), Path(folder)
    points, store = folder / "points.npy", folder / "answers.db"
    np.save(points, rng.normal(size=(_POINTS, 5)).astype(np.float32))
    people = [_Person(judge) for judge in ("Ada", "Bo")]
    killed = 0
    for _ in range(moments):
        server = _Server(points, store)
        answering = [Thread(target=one.answer_until_it_ends, args=(server,)) for one in people]
        for thread in answering:
            thread.start()
        time.sleep(rng.random() * _LONGEST)
        killed += server.end(signal.SIGKILL) == -signal.SIGKILL
        for thread in answering:
            thread.join()
    server = _Server(points, store)
    for one in people:
        one.send_again(server)
    code = server.end(signal.SIGINT)
    troubles = [] if code == 0 else [f"after Ctrl-C the server ended with {code}"]
    troubles += _compare(people, points, store)
    return {
        "command": "gramlearn studio",
        "moments": moments,
        "killed": killed,
        "confirmed": sum(len(one.confirmed) for one in people),
        "taken_back": sum(one.taken_back for one in people),
        "sent_again": sum(one.sent_again for one in people),
        "refused": sum(one.refused for one in people),
        "troubles": troubles,
    }


class _Server:
    """The command, in a fork."""

    def __init__(self, points: Path, store: Path) -> None:
        ours, theirs = os.pipe()
        line = ["studio", "--points", str(points), "--store", str(store)]
        self._process = os.fork()
        if not self._process:
            _serve(line, theirs)
        os.close(theirs)
        self._told = os.fdopen(ours)
        lines: list[str] = []
        while not (lines and "token=" in lines[-1]):
            lines.append(self._told.readline())
            if not lines[-1]:
                raise RuntimeError(f"the studio did not start: {' '.join(lines)}")
        address = lines[-1].split()[-1]
        parts = urlsplit(address)
        self.host = parts.netloc
        self.token = parse_qs(parts.query)["token"][0]

    def end(self, by: int) -> int:
        """The status."""
        os.kill(self._process, by)
        code = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        self._told.close()
        return code


def _serve(line: list[str], pipe: int) -> None:
    """What the command does, and no more: a fork that lives on would do what its parent does."""
    from gramlearn.app.command import main

    code = 99
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(pipe, 1)
        os.dup2(pipe, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        code = main(line)
    finally:
        os._exit(code)


@dataclass
class _Person:
    """Who answers, what was confirmed, and the message that has no reply yet."""

    judge: str
    confirmed: dict[int, tuple[str, str]] = field(default_factory=dict)
    taken_back: int = 0
    sent_again: int = 0
    refused: int = 0
    _unsent: tuple[str, dict[str, Any]] | None = None
    _count: int = 0

    def answer_until_it_ends(self, server: _Server) -> None:
        """Whatever is asked, at once."""
        connection = http.client.HTTPConnection(server.host, timeout=_PATIENCE)
        try:
            if self._unsent is not None:
                self.sent_again += 1
                self._deliver(connection, server, self._unsent)
            _, asked = self._post(connection, server, "/api/next", {})
            while "question" in asked:
                asked = self._deliver(connection, server, self._say(asked))
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()

    def send_again(self, server: _Server) -> None:
        """The last message without a reply."""
        if self._unsent is not None:
            self.sent_again += 1
            connection = http.client.HTTPConnection(server.host, timeout=_PATIENCE)
            self._deliver(connection, server, self._unsent)
            connection.close()

    def _say(self, asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self._count += 1
        event = {"event": str(uuid4())}
        if self._count % _UNDO == 0:
            return "/api/undo", event
        items = [item["number"] for item in asked["items"]]
        said = {"answer": _CHOICES[self._count % len(_CHOICES)], "kind": "pair", "items": items}
        return "/api/answer", event | said | {"question": asked["question"]}

    def _deliver(
        self, connection: Any, server: _Server, message: tuple[str, dict[str, Any]]
    ) -> dict[str, Any]:
        self._unsent = message
        path, said = message
        code, reply = self._post(connection, server, path, said)
        self._unsent = None
        if code != 200:
            self.refused += 1
        elif path == "/api/answer":
            self.confirmed[reply["seq"]] = (said["question"], said["answer"])
        elif reply["undone"] is not None:
            self.taken_back += 1
            self.confirmed.pop(reply["undone"]["seq"], None)
        return dict(reply["next"])

    def _post(
        self, connection: Any, server: _Server, path: str, said: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        head = {"X-Token": server.token, "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(said | {"judge": self.judge}), head)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())


def _compare(people: list[_Person], points: Path, store: Path) -> list[str]:
    """In sentences: what was confirmed and is not there, is there and was not confirmed, or is there twice."""
    from gramlearn.app.studio.store import Store
    from gramlearn.files.points import read_points

    with Store.open(store, read_points(points)) as opened:
        standing = {answer.seq: answer for answer in opened.answers()}
    confirmed = {seq: (one.judge, *said) for one in people for seq, said in one.confirmed.items()}
    found = {seq: (one.judge, one.question, one.answer) for seq, one in standing.items()}
    troubles = [f"{seq} was confirmed and is not there" for seq in confirmed.keys() - found.keys()]
    troubles += [f"{seq} stands and was not confirmed" for seq in found.keys() - confirmed.keys()]
    both = found.keys() & confirmed.keys()
    troubles += [f"{seq} says something else" for seq in both if found[seq] != confirmed[seq]]
    asked = Counter(tuple(sorted(answer.items)) for answer in standing.values())
    troubles += [f"{items} was asked {n} times" for items, n in asked.items() if n > 1]
    return sorted(troubles)
