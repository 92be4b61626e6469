"""The server of a page: whom it answers, what it refuses, and what it sends."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from stagecache import State
from stagecache.examples import pendulum
from stagecache.live import LiveView, watch
from stagecache.live.follower import News
from stagecache.views import GraphView, NodeInfo
from tests.live.page import Page, statuses_of
from tests.threads import comes_true

SOON = 60.0


@pytest.fixture
def state() -> State:
    return pendulum.system().new_state()


@pytest.fixture
def view(state: State) -> Iterator[LiveView]:
    with watch(state, every=0.01) as found:
        found.serve()
        yield found


def ask(
    url: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: str | None = None,
    path: str = "",
) -> tuple[int, dict[str, str], bytes]:
    """Send a request with exactly these headers, and Host unless they have it."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SOON)
    try:
        connection.request(method, path or parts.path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


class Stream:
    """Server-Sent Events of a page, as they come."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SOON)
        self.connection.request("GET", f"{parts.path}events")
        self.answer = self.connection.getresponse()
        self.page = Page()
        self.views: list[dict[str, Any]] = []

    def read(self) -> tuple[str, Any] | None:
        """Return the next event and its data; None at the end."""
        event = ""
        while line := self.answer.readline().decode():
            name, _, text = line.strip().partition(": ")
            if name == "event":
                event = text
            elif name == "data":
                return event, json.loads(text)
        return None

    def follow(self, *, until: str) -> None:
        """Take updates until the State is running, paused or ended, and nothing more is new."""
        while self.page.state != until:
            found = self.read()
            assert found is not None
            event, content = found
            if event == "view":
                self.views.append(content)
                paths = content["graph"]["nodes"]["path"]
                view = GraphView([NodeInfo(path, "entry") for path in paths], ())
            else:
                self.page.tell(News(view if not self.page.num_updates else None, content))


@contextmanager
def stream(view: LiveView) -> Iterator[Stream]:
    found = Stream(view.serve())
    try:
        yield found
    finally:
        found.answer.close()
        found.connection.close()


# ---------------------------------------------------------------------- who is answered


def test_only_the_loopback_interface_is_listened_to(view: LiveView) -> None:
    assert view._server is not None
    assert view._server._http.server_address[0] == "127.0.0.1"
    assert urlsplit(view.serve()).hostname == "127.0.0.1"


def test_another_address_of_the_host_is_not_answered(view: LiveView) -> None:
    port = urlsplit(view.serve()).port
    with socket.socket() as other, pytest.raises(OSError, match="refused"):
        other.connect(("127.0.0.2", port))


def test_the_page_has_a_strict_policy_and_connects_to_its_server_only(view: LiveView) -> None:
    status, headers, body = ask(view.serve())
    assert status == 200
    policy = body.decode().partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src 'self'; " in policy
    assert "unsafe" not in policy
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
    assert headers["server"].strip() == "stagecache"


@pytest.mark.parametrize(
    "path", ["/", "//", "/favicon.ico", "/wrong/", "/wrong/events", "x", "/%C3%A9/"]
)
def test_without_the_token_nothing_is_found(view: LiveView, path: str) -> None:
    status, _, body = ask(view.serve(), path=path)
    assert (status, body) == (404, b"")


def test_each_server_has_a_token_of_its_own_that_nobody_guesses(state: State) -> None:
    with watch(state) as one, watch(state) as other:
        tokens = {urlsplit(each.serve()).path.strip("/") for each in (one, other)}
    assert len(tokens) == 2
    assert all(len(token) >= 43 for token in tokens)  # 256 bits


def hosts(port: object) -> list[str]:
    return [
        *("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost"),
        *(
            f"127.0.0.1.evil.example:{port}",
            f"localhost.evil.example:{port}",
            f"0.0.0.0:{port}",
            "",
        ),
    ]


def test_a_name_that_is_not_of_this_host_is_refused(view: LiveView) -> None:
    url = view.serve()
    port = urlsplit(url).port
    for host in hosts(port):
        for method, path in (("GET", ""), ("GET", "events"), ("POST", "command")):
            status, _, body = ask(f"{url}{path}", method, {"Host": host}, "pause")
            assert (status, body) == (421, b""), host
    assert ask(url, headers={"Host": f"localhost:{port}"})[0] == 200
    assert not view.is_paused


def test_two_names_are_refused(view: LiveView) -> None:
    parts = urlsplit(view.serve())
    with socket.create_connection((parts.hostname or "", parts.port or 0), SOON) as connection:
        host = f"Host: 127.0.0.1:{parts.port}\r\n"
        connection.sendall(
            f"GET {parts.path} HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n".encode()
        )
        assert b" 421 " in connection.recv(100)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", "file://"]
)
def test_another_site_is_refused(view: LiveView, origin: str) -> None:
    url = view.serve()
    for method, path in (("GET", ""), ("GET", "events"), ("POST", "command")):
        assert ask(f"{url}{path}", method, {"Origin": origin}, "pause")[0] == 403
    assert not view.is_paused


def test_a_notebook_of_this_host_may_command_but_see_nothing(view: LiveView) -> None:
    url = view.serve()
    assert view._server is not None
    view._server.is_embedded = True
    for origin in ("http://evil.example", "null", "http://localhost.evil.example:8888"):
        assert ask(f"{url}command", "POST", {"Origin": origin}, "pause 1")[0] == 403
    notebook = {"Origin": "http://localhost:8888"}
    assert ask(f"{url}command", "POST", notebook, "pause 1")[0] == 204
    assert view.is_paused
    assert ask(url, headers=notebook)[0] == 403
    assert ask(f"{url}events", headers=notebook)[0] == 403


def test_a_ticket_leads_to_the_page_once(view: LiveView) -> None:
    ticket = view._ticket()
    assert ticket != view.serve()
    status, headers, _ = ask(ticket)
    assert status == 303
    assert headers["location"] == urlsplit(view.serve()).path
    assert ask(ticket)[0] == 404
    assert ask(f"{view._ticket()}command", "POST", {}, "pause")[0] == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"])
def test_other_methods_do_not_exist(view: LiveView, method: str) -> None:
    assert ask(view.serve(), method)[0] == 501


# ---------------------------------------------------------------------- commands


def test_a_page_pauses_and_resumes(view: LiveView) -> None:
    url = f"{view.serve()}command"
    assert ask(url, "POST", {}, "pause")[0] == 204
    assert view.is_paused
    assert ask(url, "POST", {}, "resume")[0] == 204
    assert not view.is_paused


@pytest.mark.parametrize("command", ["", "close", "_end", "pause;resume", "x" * 1000])
def test_other_commands_are_refused(view: LiveView, command: str) -> None:
    assert ask(f"{view.serve()}command", "POST", {}, command)[0] == 400
    assert not view.is_paused


def test_a_command_without_a_length_is_refused(view: LiveView) -> None:
    parts = urlsplit(f"{view.serve()}command")
    with socket.create_connection((parts.hostname or "", parts.port or 0), SOON) as connection:
        host = f"Host: 127.0.0.1:{parts.port}"
        connection.sendall(f"POST {parts.path} HTTP/1.1\r\n{host}\r\n\r\n".encode())
        assert b" 400 " in connection.recv(100)


# ---------------------------------------------------------------------- news


def test_a_page_is_told_all_that_happens(view: LiveView, state: State) -> None:
    with stream(view) as page:
        page.follow(until="running")
        tip = state.system.subsystem("pendulum").tip  # type: ignore[union-attr]
        for _ in range(50):
            state.q = [0.2]
            tip(state)
        view.close()
        page.follow(until="ended")
        assert page.read() is None
    assert page.page.statuses == statuses_of(state.graph)
    assert page.page.nodes["pendulum.tip"]["count"] == 50
    assert page.page.nodes["q"]["count"] == 50
    assert {"pendulum.tip"} == set(page.page.computed)


def test_many_events_are_few_updates(state: State) -> None:
    with watch(state, every=0.05) as view, stream(view) as page:
        page.follow(until="running")
        start = time.monotonic()
        while time.monotonic() < start + 0.5 or state.time < 500.0:
            state.time += 1.0
        view.close()
        page.follow(until="ended")
        took = time.monotonic() - start
    assert page.page.nodes["time"]["count"] == state.time
    assert page.page.num_updates <= took / 0.05 + 3


def test_several_pages_are_told_the_same(view: LiveView, state: State) -> None:
    with stream(view) as one, stream(view) as other:
        for page in (one, other):
            page.follow(until="running")
        state.time = 1.0
        view.close()
        for page in (one, other):
            page.follow(until="ended")
    assert one.page.nodes == other.page.nodes
    assert one.views == other.views


def test_a_state_goes_on_when_its_last_page_is_closed(view: LiveView) -> None:
    with stream(view) as one:
        one.follow(until="running")
        with stream(view) as other:
            other.follow(until="running")
            view.pause()
        time.sleep(3.0)  # until the server has noticed
        assert view.is_paused, "there is still a page"
    assert comes_true(lambda: view._follower.state == "running")


def test_a_closed_server_answers_nobody(state: State) -> None:
    view = watch(state)
    url = view.serve()
    view.close()
    view.close()
    with pytest.raises(OSError, match="refused"):
        ask(url)
