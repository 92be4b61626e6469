"""The mailbox of a page: news that it has not fetched yet, merged into one update.

A page that is slow gets fewer updates, and all that is in them; nothing piles up.
"""

from threading import Condition
from typing import final

from stagecache.live.follower import News
from stagecache.views.view import GraphView


@final
class Mailbox:
    """News for one page. Any thread may put, and another one take.

    Attributes
    ----------
    is_closed : bool
        True if nothing will be put any more.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._news: News | None = None
        self.is_closed = False

    def close(self) -> None:
        """Let `take` wait no more: nothing else will come."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def put(self, news: News) -> None:
        """Add news to those that are there."""
        with self._changed:
            self._news = news if self._news is None else merged(self._news, news)
            self._changed.notify_all()

    def take(self, patience: float) -> News | None:
        """Return all news; wait for them, but not longer than some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._news is not None or self.is_closed, patience)
            news, self._news = self._news, None
            return news


def merged(first: News, then: News) -> News:
    """Return news as if they had come at once."""
    if then.view is not None:
        return then
    one, other = first.update, then.update
    view: GraphView | None = first.view
    flashes = {name: sorted({*one[name], *other[name]}) for name in ("computed", "written")}
    return News(view, {**other, "nodes": {**one["nodes"], **other["nodes"]}, **flashes})
