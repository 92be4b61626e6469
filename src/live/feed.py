"""The feed: a thread that glances at a State while there are listeners, and tells them the news."""

from collections.abc import Callable
from threading import Condition, Event, RLock, Thread
from time import perf_counter
from typing import Final, final

from stagecache.live.follower import Follower, News
from stagecache.live.gate import Gate

SHARE: Final = 0.1
"""Largest part of the time for glances, which take it from the model."""

MOST_FAILURES: Final = 20
"""Glances in a row that may fail, since the State changes under their eyes."""

Listener = Callable[[News], object]


@final
class Feed:
    """News of a State for any number of listeners.

    Parameters
    ----------
    follower : Follower
    gate : Gate
        It is opened when the last listener leaves.
    every : float
        Seconds between two glances, at least.
    """

    def __init__(self, follower: Follower, gate: Gate, every: float) -> None:
        self._follower = follower
        self._gate = gate
        self._every = every
        self._listeners: list[Listener] = []
        self._telling = Condition(RLock())
        self._ended = Event()
        self._thread = Thread(target=self._run, name="stagecache watch", daemon=True)
        self._thread.start()

    def add(self, listener: Listener) -> None:
        """Tell a listener all that was told before, and all news from now on."""
        with self._telling:
            listener(self._follower.everything())
            self._listeners.append(listener)
            self._telling.notify_all()

    def everything(self) -> News:
        """Return all that was told before, as if it was new."""
        with self._telling:
            return self._follower.everything()

    def remove(self, listener: Listener) -> None:
        """Tell a listener nothing more; the last one to leave lets the State go on."""
        with self._telling:
            self._listeners = [other for other in self._listeners if other is not listener]
            if not self._listeners:
                self._gate.open()

    def wait_for_listener(self, patience: float) -> bool:
        """Wait until somebody listens; return False if nobody does after some seconds."""
        with self._telling:
            return self._telling.wait_for(lambda: bool(self._listeners), patience)

    def end(self) -> None:
        """Tell the last news, also to listeners that come later, and nothing more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
            with self._telling:
                self._tell_all()

    def _run(self) -> None:
        failures = 0
        spent = 0.0
        while not self._ended.wait(max(self._every, spent / SHARE)):
            start = perf_counter()
            try:
                self._tell()
                failures = 0
            except Exception:
                failures += 1
                if failures > MOST_FAILURES:
                    raise
            spent = perf_counter() - start

    def _tell(self) -> None:
        with self._telling:
            if not self._listeners:
                self._follower.count()
            else:
                self._tell_all()

    def _tell_all(self) -> None:
        news = self._follower.glance()
        if news is not None:
            for listener in self._listeners:
                listener(news)
