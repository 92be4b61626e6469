"""The widget of a notebook. It needs anywidget, of the extra `notebook`."""

from collections.abc import Callable
from importlib import resources
from typing import Any, Final

import anywidget
import traitlets

from stagecache.live.feed import Feed
from stagecache.live.follower import News, Update
from stagecache.views.formats.html import program_text, style_text
from stagecache.views.formats.page_data import graph_data
from stagecache.views.view import GraphView

OWN: Final = resources.files("stagecache.live").joinpath("notebook.js")

UNDO: Final = ".explorer.explorer.explorer dl > * { clear: none; float: none; width: auto; }"
"""Style that undoes JupyterLab's style of lists in cells."""


class LiveWidget(anywidget.AnyWidget):  # type: ignore[misc]  # its types are not seen: it is of an extra
    """A page in a notebook.

    News go to it as messages, which a kernel sends also while a cell runs. Its traits are for pages
    that begin later, perhaps without a kernel: they have what was told when it was made, and at the
    end.

    Parameters
    ----------
    feed : Feed
    obey : callable
        Takes commands.
    commands : str
        Address of the server that takes commands while a cell runs.
    """

    _esm = f"{program_text()}\n{OWN.read_text(encoding='utf-8')}"
    _css = f"{style_text()}\n{UNDO}"
    graph = traitlets.Dict().tag(sync=True)
    told = traitlets.Dict().tag(sync=True)
    commands = traitlets.Unicode().tag(sync=True)

    def __init__(self, feed: Feed, obey: Callable[[str], bool], commands: str) -> None:
        super().__init__(commands=commands, **_traits(feed.everything()))
        self._feed = feed
        self._obey = obey
        self.on_msg(self._answer)
        feed.add(self._tell)

    def _tell(self, news: News) -> None:
        content: dict[str, Any] = {"update": news.update}
        if news.view is not None:
            content["view"] = _view(news.view)
        self.send(content)
        if news.update["state"] == "ended":
            for name, value in _traits(self._feed.everything()).items():
                setattr(self, name, value)

    def _answer(self, _: object, content: dict[str, Any], __: object) -> None:
        """Do what a page says: a command, or that it has begun."""
        if "hello" in content:
            self._tell(self._feed.everything())
        else:
            self._obey(str(content.get("command")))


def _view(view: GraphView) -> dict[str, Any]:
    return {"graph": graph_data(view)}


def _traits(news: News) -> dict[str, Update]:
    return {"graph": _view(news.view or GraphView((), ())), "told": news.update}
