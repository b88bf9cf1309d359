"""Strangers stay out: every request that is not of the studio's own page is refused, whatever it tries."""

import json
import socket
import time

import pytest
from tests.app.studio.serving import Client, raw, serving, some_points

from gramlearn.app.studio import server as serving_module
from gramlearn.app.studio.guard import POLICY, Guard, is_loopback
from gramlearn.app.studio.items import Items
from gramlearn.files.points import Points


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("studio") / "a.db") as server:
        yield server


@pytest.fixture
def client(studio):
    client = Client.of(studio)
    yield client
    client.close()


def lines(studio, method="GET", path="/api/state", body=b"", **headers):
    """A request as bytes; a header None is left out, and underscores are hyphens."""
    given = {
        "Host": f"127.0.0.1:{studio.server_port}",
        "X-Token": studio.guard.token,
        "Content-Length": str(len(body)) if method == "POST" else None,
        "Content-Type": "application/json" if method == "POST" else None,
        "Connection": "close",
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    text = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode() + body


def code_of(found):
    return int(found.split(b" ", 2)[1])


def asked(studio, *given, **more):
    return code_of(raw(studio.server_port, lines(studio, *given, **more)))


def test_the_owner_of_the_token_comes_in(studio):
    assert asked(studio) == 200
    assert asked(studio, "POST", "/api/next", b"{}") == 200


# -- the token ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "", "wrong", "ä", "x" * 43])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/state",
        "/api/map",
        "/api/answers",
        "/api/item?number=0",
        "/api/export",
        "/items/0",
        "/page/index.html",
        "/no",
    ],
)
def test_nothing_is_told_without_the_token(studio, token, path):
    found = raw(studio.server_port, lines(studio, path=path, X_Token=token))
    assert code_of(found) == 403
    assert studio.guard.token.encode() not in found


@pytest.mark.parametrize(
    "path", ["/api/next", "/api/answer", "/api/undo", "/api/change", "/api/import"]
)
def test_nothing_is_done_without_the_token(studio, path):
    assert asked(studio, "POST", path, b"{}", X_Token="wrong") == 403


def test_a_token_in_the_address_is_good_for_the_page_alone(studio):
    token = studio.guard.token
    assert asked(studio, path=f"/api/state?token={token}", X_Token=None) == 403
    assert asked(studio, path="/?token=wrong", X_Token=None) == 403
    found = raw(studio.server_port, lines(studio, path=f"/?token={token}", X_Token=None))
    assert code_of(found) == 303
    cookie = f"gramlearn-studio-{studio.server_port}={token}; Path=/; HttpOnly; SameSite=Strict"
    assert f"Set-Cookie: {cookie}\r\n".encode() in found
    assert b"Location: /\r\n" in found


def test_the_cookie_lets_the_page_in_and_no_other_site(studio):
    cookie = f"gramlearn-studio-{studio.server_port}={studio.guard.token}"
    own = f"http://127.0.0.1:{studio.server_port}"

    def post(**more):
        return asked(studio, "POST", "/api/next", b"{}", X_Token=None, Cookie=cookie, **more)

    assert asked(studio, X_Token=None, Cookie=cookie) == 200
    assert asked(studio, path="/", X_Token=None, Cookie=f"other=1; {cookie}") == 200
    assert post(Origin=own) == 200
    assert post(Sec_Fetch_Site="same-origin") == 200
    assert post() == 403  # it does not say where it comes from
    assert post(Origin=own, Sec_Fetch_Site="cross-site") == 403
    assert asked(studio, X_Token=None, Cookie=f"{cookie}x") == 403
    assert asked(studio, X_Token=None, Cookie='x="') == 403


# -- other names and other pages ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "evil@127.0.0.1",
        "127.0.0.1:port",
        "127.0.0.1/",
        "[::1",
        "",
        None,
    ],
)
def test_a_name_that_was_bound_anew_leads_nowhere(studio, host):
    assert asked(studio, Host=host) == 421


def test_two_hosts_are_none(studio):
    data = lines(studio).replace(b"X-Token", b"Host: localhost\r\nX-Token")
    assert code_of(raw(studio.server_port, data)) == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_this_machine_has_several_names(studio, host):
    assert asked(studio, Host=f"{host}:{studio.server_port}") == 200


def test_on_all_networks_numbers_are_names_and_words_are_not():
    guard = Guard("0.0.0.0", 80)
    assert guard._is_here("192.0.2.7")
    assert guard._is_here("localhost")
    assert not guard._is_here("evil.example")
    assert not Guard("192.0.2.7", 80)._is_here("192.0.2.8")
    assert [is_loopback(a) for a in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.7")] == [
        *(True, True, True),
        *(False, False),
    ]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        "http://127.0.0.1",
        "http://localhost",
        "",
    ],
)
def test_another_page_is_refused_even_with_the_token(studio, origin):
    assert asked(studio, "POST", "/api/next", b"{}", Origin=origin) == 403
    assert asked(studio, Origin=origin) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_is_refused_by_what_the_browser_says_of_it(studio, site):
    assert asked(studio, Sec_Fetch_Site=site) == 403


# -- paths --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/items/../../../../etc/passwd",
        "/items/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/items//etc/passwd",
        "/items/-1",
        "/items/1e1",
        "/items/٣",
        "/items/999999999999999999999",
        "/items/99",
        "/items/",
        "/page/../server.py",
        "/page/..%2fserver.py",
        "/page/%2e%2e/server.py",
        "/page//etc/passwd",
        "/page/",
        "/page/__init__.py",
        "/../server.py",
        "/api/next",
        "//evil.example/",
        "/no",
    ],
)
def test_no_path_leads_to_a_file_of_this_machine(studio, path):
    data = lines(studio, path="PATH").replace(b"PATH", path.encode())
    assert code_of(raw(studio.server_port, data)) in (400, 404)


def test_only_pictures_are_served_whatever_a_table_calls_one(tmp_path):
    (tmp_path / "secret.png").write_text("root:x:0:0")
    (tmp_path / "real.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    (tmp_path / "items.csv").write_text("image\nsecret.png\nreal.png\nmissing.png\n")
    points = some_points(3)
    items = Items.read(points, str(tmp_path / "items.csv"))
    with serving(tmp_path / "a.db", points, items) as server:
        client = Client.of(server)
        assert client.next()["items"][0].keys() == {"number", "id", "image"}
        code, headers, data = client.ask("GET", "/items/1")
        assert (code, headers["Content-Type"], data[-4:]) == (200, "image/png", b"rest")
        assert client.ask("GET", "/items/0")[0] == 404
        client.close()
        client = Client.of(server)
        assert client.ask("GET", "/items/2")[0] == 404
        client.close()


# -- bodies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "code"),
    [
        (str(2**16 + 1), 413),
        (str(2**62), 411),
        ("-1", 411),
        ("+2", 411),
        ("2, 2", 411),
        ("0x2", 411),
        ("²", 411),
        ("", 411),
        (None, 411),
    ],
)
def test_a_body_says_its_length_and_it_is_not_large(studio, length, code):
    head = lines(studio, "POST", "/api/next", b"", Content_Length=length)
    assert code_of(raw(studio.server_port, head + b"{}")) == code


def test_a_file_may_be_larger_and_not_endless(studio):
    head = lines(studio, "POST", "/api/import?name=a.csv", b"", Content_Length=str(2**26 + 1))
    assert code_of(raw(studio.server_port, head)) == 413


def test_a_body_in_chunks_is_refused(studio):
    head = lines(studio, "POST", "/api/next", b"", Transfer_Encoding="chunked", Content_Length=None)
    assert code_of(raw(studio.server_port, head + b"2\r\n{}\r\n0\r\n\r\n")) == 411


def test_a_body_that_is_shorter_than_it_says_is_refused(studio):
    data = lines(studio, "POST", "/api/next", b"{}", Content_Length="50")
    with socket.create_connection(("127.0.0.1", studio.server_port), timeout=10) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        assert code_of(connection.recv(65536)) == 400


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"1", b"{", b"\xff\xfe", b"[" * 5000, b'{"judge": {}}', b'{"judge": 7}']
    + [json.dumps({"judge": name}).encode() for name in ("x" * 81, "a\nb", " ", "\u202e")],
)
def test_a_body_is_an_object_of_short_texts(studio, body):
    assert asked(studio, "POST", "/api/next", body) == 400


def test_a_form_of_another_page_is_no_json(studio):
    assert asked(studio, "POST", "/api/next", b"{}", Content_Type="text/plain") == 415


@pytest.mark.parametrize("body", [{}, {"seq": "1"}, {"seq": True}, {"seq": 10**30}, {"seq": -1}])
def test_what_does_not_stand_cannot_be_changed(client, body):
    assert client.ask("POST", "/api/change", {"event": "e", "answer": "alike", **body})[0] == 400


# -- slow ones, and too many --------------------------------------------------------------------------


def seconds_until_closed(port, parts, pause):
    """How long a connection lives that is fed so slowly."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        started = time.monotonic()
        try:
            for part in parts:
                connection.sendall(part)
                connection.settimeout(pause)
                try:
                    if not connection.recv(4096):
                        break
                except TimeoutError:
                    continue
        except OSError:
            pass
        return time.monotonic() - started


def test_slow_clients_are_shown_the_door(studio, monkeypatch):
    monkeypatch.setattr(serving_module, "SECONDS_OF_STRANGERS", 0.2)
    monkeypatch.setattr(serving_module, "SECONDS_OF_A_REQUEST", 0.3)
    port, head = studio.server_port, lines(studio, "POST", "/api/next", b"", Content_Length="60")
    silent = seconds_until_closed(port, [b""] * 100, 0.05)
    by_letters = seconds_until_closed(port, [bytes([b]) for b in head], 0.05)
    body_by_letters = seconds_until_closed(port, [head, *[b" "] * 100], 0.05)
    assert max(silent, by_letters, body_by_letters) < 2
    assert asked(studio) == 200


def test_there_are_only_so_many_connections(tmp_path, monkeypatch):
    monkeypatch.setattr(serving_module, "MOST_CONNECTIONS", 3)
    with serving(tmp_path / "a.db") as server:
        held = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(3)]
        time.sleep(0.1)
        assert raw(server.server_port, b"").startswith(b"HTTP/1.1 503")
        for connection in held:
            connection.close()
        until = time.monotonic() + 5
        while asked(server) != 200:
            assert time.monotonic() < until


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
        b"POST /?" + b"a=b&" * 30 + b" HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"GET //[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\r\n\r\n",
    ],
    ids=[
        "tls",
        "version",
        "0.9",
        "path",
        "headers",
        "header",
        "fields",
        "address",
        "method",
        "head",
        "nothing",
    ],
)
def test_what_is_no_request_is_refused_and_the_studio_goes_on(studio, data):
    found = raw(studio.server_port, data)
    assert b" 200 " not in found[:20]
    assert asked(studio) == 200


# -- what is shown ------------------------------------------------------------------------------------

SCRIPT = "<script>alert(1)</script>"


def test_script_in_items_is_text_in_json(tmp_path):
    points = Points(some_points(4).X, [f"{SCRIPT}{k}" for k in range(4)], items=[SCRIPT] * 4)
    with serving(tmp_path / "a.db", points) as server:
        client = Client.of(server)
        code, headers, data = client.ask("POST", "/api/next", {})
        assert (code, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
        assert {item["text"] for item in json.loads(data)["items"]} == {SCRIPT}
        client.close()


@pytest.mark.parametrize(
    "path", ["/", "/page/index.html", "/api/state", "/api/export", "/items/0", "/no"]
)
def test_every_answer_forbids_what_a_page_could_do(client, path):
    _, headers, _ = client.ask("GET", path)
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Access-Control-Allow-Origin"] is None
    assert "Python" not in headers["Server"]
    for name in ("script-src", "style-src"):
        assert f"{name} 'self';" in POLICY
    assert "unsafe" not in POLICY
