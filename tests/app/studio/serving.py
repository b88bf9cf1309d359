"""A studio that serves in this process, and clients that speak to it as browsers and strangers do."""

import http.client
import json
import socket
from contextlib import contextmanager
from threading import Thread
from uuid import uuid4

import numpy as np

from gramlearn.app.studio.desk import Desk
from gramlearn.app.studio.exchange import Exchange
from gramlearn.app.studio.items import Items
from gramlearn.app.studio.server import StudioServer
from gramlearn.app.studio.store import Store
from gramlearn.app.studio.studio import Studio
from gramlearn.files.points import Points


class NoLearning:
    """Nothing is learned; what a test wants learned is set."""

    learned = None
    problem = None

    def notice(self):
        pass


def some_points(n=12, d=3):
    return Points(np.random.default_rng(0).normal(size=(n, d)), source="points")


@contextmanager
def serving(path, points=None, items=None, kind="pair", repeats=1, learning=None, **desk):
    """A server on a free port of the loopback address."""
    points = some_points() if points is None else points
    items = Items.read(points, None) if items is None else items
    with Store.open(path, points) as store:
        desk = Desk(store, kind, items.rows, repeats, **desk)
        exchange = Exchange(store, points, kind)
        studio = Studio(desk, items, learning or NoLearning(), exchange, "me")
        server = StudioServer("127.0.0.1", 0, studio)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


class Client:
    """Requests of one connection that is kept, with the token in a header unless it is told otherwise."""

    def __init__(self, port, token, judge="me"):
        self.port, self.token, self.judge = port, token, judge
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    @classmethod
    def of(cls, server, judge="me"):
        return cls(server.server_port, server.guard.token, judge)

    def ask(self, method, path, body=None, headers=None):
        """(code, headers, bytes)"""
        sent = {"X-Token": self.token} if headers is None else headers
        if body is not None and not isinstance(body, bytes):
            sent = {"Content-Type": "application/json", **sent}
            body = json.dumps(body).encode()
        self.connection.request(method, path, body, sent)
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def get(self, path):
        code, _, data = self.ask("GET", path)
        assert code == 200, data
        return json.loads(data)

    def post(self, path, code=200, **body):
        found, _, data = self.ask("POST", path, {"judge": self.judge, **body})
        assert found == code, data
        return json.loads(data)

    def next(self):
        return self.post("/api/next")

    def answer(self, question, answer, event=None, code=200):
        return self.post(
            "/api/answer",
            code,
            event=event or str(uuid4()),
            question=question["question"],
            answer=answer,
        )

    def close(self):
        self.connection.close()


def raw(port, data, seconds=10.0):
    """What comes back for these bytes, until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        connection.sendall(data)
        found = b""
        try:
            while part := connection.recv(65536):
                found += part
        except ConnectionResetError:
            pass
        return found
