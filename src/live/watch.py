"""Live views of a State: in a notebook, or as a page that a server on this host serves.

::

    threads of the model --> tracers --> Follower --glances--> Feed --news--> pages of the Server
           ^                                                        --news--> the Widget
           '--- Gate  <--------------- commands -----------------------------------'
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, final

from stagecache.checks import (
    require_bool,
    require_count,
    require_extra,
    require_positive,
    require_type,
)
from stagecache.graph.observing import OBSERVERS_OF_NEW
from stagecache.live.feed import Feed
from stagecache.live.follower import Follower
from stagecache.live.gate import Gate
from stagecache.state.state import State

if TYPE_CHECKING:
    from stagecache.live.server import Server

EVERY: Final = 0.05
"""Seconds between two updates of a page, at least."""

COMMANDS: Final = ("pause", "resume", "step")

MOST_SERIALS: Final = 100
"""Commands that are remembered: a page in a notebook sends each in two ways."""


@final
class LiveView:
    """A page that follows a State and its copies, from when it is made until `close`.

    Made by `watch`.
    """

    def __init__(self, title: str, state: State | None, *, every: float, is_paused: bool) -> None:
        self._title = title
        self._gate = Gate(is_shut=is_paused)
        self._follower = Follower(title, self._gate)
        if state is not None:
            self._follower.learn_hooks(state)
            self._follower.begin(state)
        self._feed = Feed(self._follower, self._gate, every)
        self._server: Server | None = None
        self._widget: Any = None
        self._serials: deque[str] = deque(maxlen=MOST_SERIALS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ pages

    def serve(self, port: int = 0) -> str:
        """Serve the page to a browser on this host, and return its address.

        Only 127.0.0.1 is listened to, and only whoever has the address is answered.

        Parameters
        ----------
        port : int
            Port to listen to; 0 for any that is free.

        Raises
        ------
        OutOfRangeError
        OSError
            The port is taken.
        """
        port = require_count(port, 0, "serve(port)")
        return self._served(port).url

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Show the page in a notebook.

        Raises
        ------
        MissingExtraError
            anywidget is not installed.
        """
        if self._widget is None:
            instead = "use serve(), and open its address"
            require_extra("anywidget", "notebook", "watch() in a notebook", instead)
            from stagecache.live.widget import LiveWidget  # noqa: PLC0415  # needs the extra

            server = self._served(0)
            server.is_embedded = True
            self._widget = LiveWidget(self._feed, self._obey, f"{server.url}command")
        return self._widget._repr_mimebundle_(**options)

    def _ticket(self) -> str:
        """Return an address that leads to the page once; see `Server.ticket`."""
        return self._served(0).ticket()

    def _served(self, port: int) -> "Server":
        if self._server is None:
            from stagecache.live.server import Server  # noqa: PLC0415  # takes a while

            self._server = Server(self._title, self._feed, self._obey, port)
        return self._server

    # ------------------------------------------------------------------ commands

    @property
    def is_paused(self) -> bool:
        """True while threads wait before computations and writes."""
        return self._gate.is_shut

    def pause(self) -> None:
        """Let each thread that uses the State wait before its next computation or write."""
        self._gate.shut()

    def resume(self) -> None:
        """Let them go on."""
        self._gate.open()

    def step(self) -> None:
        """Let one of them go on to the end of its next computation, with the writes before it."""
        self._gate.grant_step()

    def close(self) -> None:
        """Follow the State no more, let it go on, and end the server; it may be done twice."""
        self._end()
        if self._server is not None:
            self._server.close()

    # ------------------------------------------------------------------ following

    @contextmanager
    def _following_all(self) -> Iterator[None]:
        """Follow each State that is made in a block, by the same thread."""

        def follow(made: object) -> None:  # a Graph is not followed
            if isinstance(made, State):
                self._follower.begin(made)

        token = OBSERVERS_OF_NEW.set((*OBSERVERS_OF_NEW.get(), follow))
        try:
            yield
        finally:
            OBSERVERS_OF_NEW.reset(token)

    def _end(self) -> None:
        """Follow no State any more, and let all go on. The page stays, as it was at the end."""
        self._gate.open()
        self._follower.end()
        try:
            self._feed.end()
        finally:
            self._follower.release()

    # ------------------------------------------------------------------ the rest

    def _obey(self, text: str) -> bool:
        """Do what a page commands: "pause", "resume", "step", or "explain" and a node's number.

        A serial number may follow; with the same one, a command is done once. Return False for
        anything else.
        """
        command, _, serial = text.partition(" ")
        if command == "explain":
            number = serial.partition(" ")[0]
            if number.isdecimal():
                self._follower.explain(int(number))
            return number.isdecimal()
        if command not in COMMANDS:
            return False
        if not serial or serial not in self._serials:
            self._serials.append(serial)
            getattr(self, command)()
        return True

    def __repr__(self) -> str:
        return f"LiveView({self._follower.state}: {self._counts})"

    @property
    def _counts(self) -> str:
        self._follower.count()
        return f"{self._follower.num_computed:,} computed, {self._follower.num_written:,} written"


def watch(state: State, *, every: float = EVERY, paused: bool = False) -> LiveView:
    """Follow a State and its copies on a page, while a simulation or a cell of a notebook runs.

    The page of `GraphView.to_html`: entries that are computed flash, counts and times rise,
    and it can be paused and stepped. A notebook shows it where the result is displayed; anywhere
    else, `LiveView.serve` has its address.

    Parameters
    ----------
    state : State
    every : float
        Seconds between two updates of the page, at least.
    paused : bool
        True to wait before the first computation or write.

    Returns
    -------
    LiveView
        Also a context manager, which follows the State until the end of the block.

    Raises
    ------
    WrongTypeError, NotANumberError, OutOfRangeError

    Examples
    --------
    >>> from stagecache import watch
    >>> from stagecache.examples.pendulum import system
    >>> state = system().new_state()
    >>> with watch(state) as view:
    ...     state.q = [0.3]
    ...     tip = state.system.subsystem("pendulum").tip(state)
    >>> view
    LiveView(ended: 1 computed, 1 written)
    """
    hint = "pass a State; simulations copy it, and copies are followed"
    require_type(state, State, "watch(state): not a State", "a State", hint)
    every = require_positive(every, "watch(every)")
    require_bool(paused, "watch(paused)")
    return LiveView(_title(state), state, every=every, is_paused=paused)


def _title(state: State) -> str:
    return "State" if state.system is None else str(state.system.name)
