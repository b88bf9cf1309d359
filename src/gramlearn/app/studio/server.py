"""The routes of the studio: the page, its questions and answers, what was learned, and the answers as files.

Every request is looked at by the guard before anything else, and one that is refused ends its connection. A
connection that is slow, or one too many, is closed. No path comes from a request: the files of the page are
known by name when the studio starts, and pictures go by the number of their point.
"""

import io
import json
import socket
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from gramlearn.app.studio.guard import (
    HEADERS,
    MOST_OF_A_FILE,
    MOST_OF_A_QUESTION,
    Guard,
    RefusedError,
    length_of_body,
)
from gramlearn.app.studio.page import page_files
from gramlearn.app.studio.studio import Studio, WrongRequestError
from gramlearn.files.formats.judgment_store import StoreError

MOST_CONNECTIONS = 64
SECONDS_IDLE = 60.0  # a page that was let in may keep its connection so long
SECONDS_OF_STRANGERS = 5.0  # until the first request is there
SECONDS_OF_A_REQUEST = 10.0
SECONDS_OF_A_FILE = 120.0
Given = dict[str, str]


@final
class StudioServer(ThreadingHTTPServer):
    """Listens; every connection has a thread of its own, and there are only so many."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 32

    def __init__(self, address: str, port: int, studio: Studio) -> None:
        if ":" in address:
            self.address_family = socket.AF_INET6
        self.studio = studio
        self.page = page_files()
        self._free = BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((address, port), _Handler)
        self.guard = Guard(address, self.server_port)

    @property
    def address_to_open(self) -> str:
        """Where the page is, with the token."""
        host = self.guard.address
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.server_port}/?token={self.guard.token}"

    def server_bind(self) -> None:
        """Without asking the network for a name of this machine, as the class above does."""
        # On Windows the option would let two servers have one port.
        self.allow_reuse_address = sys.platform != "win32"
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for the connection, if there is one left."""
        if not self._free.acquire(blocking=False):
            _refuse_at_once(request)
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """See the class above."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is no event; anything else is said."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            sys.stderr.write(
                f"gramlearn studio: a request failed: {type(error).__name__}: {error}\n"
            )


@final
class _Clock(io.RawIOBase):
    """A socket that is read until a moment, however slowly it comes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._until = 0.0

    def allow(self, seconds: float) -> None:
        """From now on."""
        self._until = time.monotonic() + seconds
        self._connection.settimeout(seconds)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


@final
class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "gramlearn"
    sys_version = ""
    wbufsize = -1  # headers and body leave together
    disable_nagle_algorithm = True
    server: StudioServer

    def setup(self) -> None:
        super().setup()
        self._clock = _Clock(self.connection)
        self.rfile.close()
        self._lines = self.rfile = io.BufferedReader(self._clock)
        self._is_known = False

    def handle_one_request(self) -> None:
        """Wait for a request, and give its lines only so long from their first byte on."""
        self._clock.allow(SECONDS_IDLE if self._is_known else SECONDS_OF_STRANGERS)
        try:
            if not self._lines.peek(1):
                self.close_connection = True
                return
        except (TimeoutError, ConnectionError):
            self.close_connection = True
            return
        self._clock.allow(SECONDS_OF_A_REQUEST)
        super().handle_one_request()

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: addresses have tokens in them."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the class above refuses, such as lines that are too long, in the form of all other answers."""
        self.close_connection = True
        self._send_json({"error": f"{message or 'The request cannot be read'}."}, code)

    def _answer(self, method: str) -> None:
        try:
            parts, given = self._read_address()
            in_address = given.get("token") if (method, parts.path) == ("GET", "/") else None
            self.server.guard.check(self.headers, method == "POST", in_address)
            self._is_known = True
            self._dispatch(method, parts.path, given)
        except RefusedError as refused:
            self.close_connection = True
            self._send_json({"error": str(refused)}, refused.code)
        except WrongRequestError as wrong:
            self._send_json(wrong.content, wrong.code)
        except (TimeoutError, ConnectionError):
            self.close_connection = True
        except (StoreError, OSError) as error:
            # Such as a full disk: what was sent is not kept, and the page sends it again until it is.
            self._send_json({"error": " ".join(str(error).split())}, 507)
        except ValueError as error:
            self._send_json({"error": " ".join(str(error).split())}, 400)

    def _read_address(self) -> tuple[SplitResult, Given]:
        try:
            parts = urlsplit(self.path)
            return parts, dict(parse_qsl(parts.query, max_num_fields=20))
        except ValueError:
            raise RefusedError(400, "The address cannot be read.") from None

    def _dispatch(self, method: str, path: str, given: Given) -> None:
        studio = self.server.studio
        if method == "POST":
            if path == "/api/import":
                data = self._body(MOST_OF_A_FILE, SECONDS_OF_A_FILE)
                self._send_json(studio.import_file(given.get("name", ""), data))
                return
            act = _POSTS.get(path)
            if act is None:
                raise RefusedError(404, "There is nothing here.")
            self._send_json(act(studio, self._object()))
            return
        if path == "/":
            self._send_page(given)
        elif path.startswith("/page/"):
            self._send_file(path[len("/page/") :])
        elif path.startswith("/items/"):
            self._send_picture(path[len("/items/") :])
        elif path == "/api/export":
            kind, name, data = studio.export(given.get("format", "csv"))
            self._send(data, kind, {"Content-Disposition": f'attachment; filename="{name}"'})
        elif path in _GETS:
            self._send_json(_GETS[path](studio, given))
        else:
            raise RefusedError(404, "There is nothing here.")

    def _body(self, most: int, seconds: float) -> bytes:
        length = length_of_body(self.headers, most)
        self._clock.allow(seconds)
        data = self.rfile.read(length)
        if len(data) < length:
            raise RefusedError(
                400, f"The body has {len(data):,} bytes, and {length:,} were announced."
            )
        return data

    def _object(self) -> dict[str, Any]:
        kind = self.headers.get_content_type()
        if kind != "application/json":
            raise RefusedError(415, f"The body is {kind}; application/json is expected.")
        try:
            found = json.loads(self._body(MOST_OF_A_QUESTION, SECONDS_OF_A_REQUEST))
        except (ValueError, RecursionError):
            raise RefusedError(400, "The body is no JSON.") from None
        if not isinstance(found, dict):
            raise RefusedError(400, "The body is no JSON object.")
        return found

    def _send_page(self, given: Given) -> None:
        if "token" in given:
            # The token leaves the address, where people would copy it from.
            self._send(
                b"",
                "text/plain",
                {"Location": "/", "Set-Cookie": self.server.guard.set_cookie},
                303,
            )
            return
        self._send_file("index.html")

    def _send_file(self, name: str) -> None:
        found = self.server.page.get(name)
        if found is None:
            raise RefusedError(404, "There is nothing here.")
        self._send(found[1], found[0])

    def _send_picture(self, number: str) -> None:
        is_number = number.isascii() and number.isdigit() and len(number) < 12
        picture = self.server.studio.items.picture(int(number)) if is_number else None
        if picture is None:
            raise RefusedError(404, "There is no picture.")
        self._send(picture.data, picture.kind)

    def _send_json(self, content: Any, code: int = 200) -> None:
        data = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._send(data.encode("utf-8", "replace"), "application/json; charset=utf-8", {}, code)

    def _send(self, data: bytes, kind: str, more: Given | None = None, code: int = 200) -> None:
        self._clock.allow(SECONDS_OF_A_REQUEST)
        self.send_response(code)
        for name, value in {**HEADERS, **(more or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()


_POSTS: dict[str, Callable[[Studio, dict[str, Any]], dict[str, Any]]] = {
    "/api/next": Studio.next,
    "/api/answer": Studio.answer,
    "/api/undo": Studio.undo,
    "/api/change": Studio.change,
}
_GETS: dict[str, Callable[[Studio, Given], dict[str, Any]]] = {
    "/api/state": Studio.state,
    "/api/map": Studio.map,
    "/api/answers": Studio.answers,
    "/api/item": Studio.item,
}


def _refuse_at_once(connection: socket.socket) -> None:
    data = b'{"error":"Too many connections; close some pages of the studio."}'
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    )
    try:
        connection.settimeout(1.0)
        connection.sendall(head.encode() + data)
    except OSError:
        pass
