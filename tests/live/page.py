"""A page that is told news, as the program in the browser is."""

from collections.abc import Iterator
from typing import Any

from stagecache.live.follower import News
from stagecache.views import GraphView


class Page:
    """Nodes with what was told of them last, and sums of all flashes."""

    def __init__(self) -> None:
        self.view = GraphView((), ())
        self.nodes: dict[str, dict[str, Any]] = {}
        self.computed: list[str] = []
        self.written: list[str] = []
        self.reasons: dict[str, str] = {}
        self.places: dict[str, tuple[str, int]] = {}  # of the writes that are the reasons
        self.state = ""
        self.time: float | None = None
        self.num_updates = 0

    def tell(self, news: News | None) -> None:
        """Take news as they come."""
        if news is None:
            return
        self.num_updates += 1
        if news.view is not None:
            self.view = news.view
            self.nodes = {}
        paths = [node.path for node in self.view]
        for number, told in news.update["nodes"].items():
            self.nodes[paths[int(number)]] = told
        self.computed += [paths[number] for number in news.update["computed"]]
        self.written += [paths[number] for number in news.update["written"]]
        found = [*reasons_of(news.update["reasons"], paths)]
        self.reasons = {path: text for path, text, _ in found}
        self.places = {path: place for path, _, place in found}
        self.state, self.time = news.update["state"], news.update["time"]

    @property
    def statuses(self) -> dict[str, tuple[str, int, str]]:
        """Statuses, versions and values, by path."""
        return {p: (n["status"], n["version"], n["value"]) for p, n in self.nodes.items()}

    def counts(self, kind: str) -> dict[str, int]:
        """Computations of entries, or writes of variables, where there were some."""
        kinds = {node.path: node.kind for node in self.view}
        counts = {path: told["count"] for path, told in self.nodes.items() if kinds[path] == kind}
        return {path: count for path, count in counts.items() if count}


def reasons_of(
    reasons: dict[str, Any], paths: list[str]
) -> Iterator[tuple[str, str, tuple[str, int]]]:
    """Paths, texts and places of reasons, which come as words and numbers; see `page_data`."""
    for number, (parts, _, file, line, _) in reasons.get("of", {}).items():
        words = reasons["words"]
        text = "".join(paths[-1 - n] if n < 0 else words[n] for n in parts)
        yield paths[int(number)], text, (words[file], line)


def statuses_of(view: GraphView) -> dict[str, tuple[str, int | None, str]]:
    """The same of a fresh view."""
    nodes = [node for node in view if node.kind != "hook"]
    return {node.path: (str(node.status), node.version, node.value) for node in nodes}
