"""The server of a live page: on the loopback interface, for one browser of the same user.

::

    GET  /TICKET/        leads to the page, once
    GET  /TOKEN/         the page, with its program in it
    GET  /TOKEN/events   news, as Server-Sent Events, until the page is closed
    POST /TOKEN/command  pause, resume, step, or explain and the number of a node

Requests are few: one stream of text from here, and now and then a word back. That is what
Server-Sent Events are made for, which browsers know and `http.server` can serve; a library for
WebSockets would be one more dependency, and would check neither token nor origin.
"""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from threading import Condition, Thread
from typing import Any, Final, final
from urllib.parse import urlsplit

from stagecache.live.feed import Feed
from stagecache.live.mailbox import Mailbox
from stagecache.views.formats.html import page_of
from stagecache.views.formats.page_data import graph_data
from stagecache.views.formats.svg import escaped

HOST: Final = "127.0.0.1"
NAMES: Final = (HOST, "localhost")
"""Names of this host in addresses; any other may come from a name server of a stranger."""

PATIENCE: Final = 30.0
"""Seconds for which a connection may do nothing."""

HEARTBEAT: Final = 1.0
"""Seconds between two signs of life, which find out that a page was closed."""

LOOK: Final = 0.1
"""Seconds between two looks if the server is to end."""

LONGEST: Final = 64
"""Bytes of a command."""


@final
class Server:
    """A server of one page, in threads of its own.

    Parameters
    ----------
    title : str
        Title of the page.
    feed : Feed
        News for it.
    obey : callable
        Takes the command that a page gives; it returns False for one that does not exist.
    port : int
        Port of 127.0.0.1; 0 for a free one.

    Attributes
    ----------
    is_embedded : bool
        True to take commands also from pages of other servers of this host: from notebooks.

    Raises
    ------
    OSError
        The port is taken.
    """

    def __init__(self, title: str, feed: Feed, obey: Callable[[str], bool], port: int = 0) -> None:
        own = resources.files("stagecache.live").joinpath("served.js")
        data = dict.fromkeys(("graph", "impacts", "reasons"), "")
        start = own.read_text(encoding="utf-8")
        self.page = page_of(escaped(title), data, start, connects="'self'").encode()
        self.obey = obey
        self.is_embedded = False
        self.token = secrets.token_urlsafe(32)
        self._feed = feed
        self._tickets: set[str] = set()
        self._mailboxes: list[Mailbox] = []
        self._changed = Condition()
        self._http = _HTTPServer((HOST, port), Handler)
        self._http.owner = self
        self.port: int = self._http.server_address[1]
        serve = partial(self._http.serve_forever, poll_interval=LOOK)
        Thread(target=serve, name="stagecache server", daemon=True).start()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    @contextmanager
    def mailbox(self) -> Iterator[Mailbox]:
        """Put news into a mailbox while a page is there to take them."""
        mailbox = Mailbox()
        with self._changed:
            self._mailboxes.append(mailbox)
        put = mailbox.put
        self._feed.add(put)
        try:
            yield mailbox
        finally:
            self._feed.remove(put)
            with self._changed:
                self._mailboxes.remove(mailbox)
                self._changed.notify_all()

    def ticket(self) -> str:
        """Return an address that leads to the page once, and then nowhere.

        It is for a command that starts a browser: other users of the host may see it.
        """
        ticket = secrets.token_urlsafe(32)
        self._tickets.add(ticket)
        return f"http://{HOST}:{self.port}/{ticket}/"

    def takes_ticket(self, ticket: str) -> bool:
        """Return True the first time that a ticket is shown."""
        if ticket in self._tickets:
            self._tickets.remove(ticket)
            return True
        return False

    def close(self) -> None:
        """Serve nothing more. Pages get the news that they have not taken yet."""
        with self._changed:
            for mailbox in self._mailboxes:
                mailbox.close()
            self._changed.wait_for(lambda: not self._mailboxes, HEARTBEAT)
        self._http.shutdown()
        self._http.server_close()


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: Server

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a page was closed in the middle of something."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: _HTTPServer
    server_version = "stagecache"
    sys_version = ""
    timeout = PATIENCE
    reader = "same-origin"
    """Pages that may have the answer: an empty one to a command may go to a notebook, too."""

    def do_GET(self) -> None:
        """Serve the page, or its news."""
        resource = self._checked(is_command=False)
        if resource == "":
            self._answer(self.server.owner.page, "text/html; charset=utf-8")
        elif resource == "events":
            self._stream()
        elif resource is not None:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Take a command."""
        resource = self._checked(is_command=True)
        if resource is None:
            return
        length = self.headers.get("Content-Length", "")
        if resource != "command":
            self._refuse(HTTPStatus.NOT_FOUND)
        elif not length.isdecimal() or int(length) > LONGEST:
            self._refuse(HTTPStatus.BAD_REQUEST)
        elif self.server.owner.obey(self.rfile.read(int(length)).decode("ascii", "replace")):
            self.reader = "cross-origin" if self.server.owner.is_embedded else self.reader
            self.send_response(HTTPStatus.NO_CONTENT)
            self.end_headers()
        else:
            self._refuse(HTTPStatus.BAD_REQUEST)

    # ------------------------------------------------------------------ checks

    def _checked(self, *, is_command: bool) -> str | None:
        """Return the path after the token; refuse the request and return None if it must not be."""
        owner = self.server.owner
        hosts = {f"{name}:{owner.port}" for name in NAMES}
        if self.headers.get_all("Host", []) not in [[host] for host in hosts]:
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        origin = self.headers.get("Origin")
        is_own = origin is None or origin in {f"http://{host}" for host in hosts}
        if not is_own and not (is_command and owner.is_embedded and is_of_this_host(origin or "")):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        _, token, resource = [*self.path.split("/", 2), "", ""][:3]
        if secrets.compare_digest(token.encode(), owner.token.encode()):
            return resource
        if not is_command and owner.takes_ticket(token):
            self.send_response(HTTPStatus.SEE_OTHER)
            self.send_header("Location", f"/{owner.token}/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._refuse(HTTPStatus.NOT_FOUND)
        return None

    # ------------------------------------------------------------------ answers

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer with an error that says nothing of the page."""
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def end_headers(self) -> None:
        """Forbid all that no answer of this server needs."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("Cross-Origin-Resource-Policy", self.reader)
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def _stream(self) -> None:
        """Send news until the page is closed, or the server."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()
        with self.server.owner.mailbox() as mailbox:
            while (news := mailbox.take(HEARTBEAT)) or not mailbox.is_closed:
                if news is None:
                    self.wfile.write(b":\n\n")
                    continue
                if news.view is not None:
                    self._send("view", {"graph": graph_data(news.view)})
                self._send("update", news.update)

    def _send(self, event: str, content: Any) -> None:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        self.wfile.write(f"event: {event}\ndata: {text}\n\n".encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write no log: requests have the token."""


def is_of_this_host(origin: str) -> bool:
    """Return True for a page of a server of this host, or of an editor with notebooks."""
    parts = urlsplit(origin)
    return parts.scheme == "vscode-webview" or parts.hostname in (*NAMES, "::1")
