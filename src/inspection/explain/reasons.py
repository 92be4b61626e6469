"""Reasons why entries are not valid, of all entries in one pass: what `explain` tells of each.

::

    AbstractReasons <-- StateReasons
                    <-- GraphReasons
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import final

from attrs import evolve

from stagecache.graph.sources import shown_file
from stagecache.graph.status import status_of
from stagecache.graph.store import COMPUTING, Store
from stagecache.graph.structure import CACHE_ENTRY
from stagecache.inspection.explain.answer import Diagnosis
from stagecache.inspection.explain.explain import cause_of, change_of, path_of
from stagecache.inspection.explain.explanation import Cause
from stagecache.inspection.explain.first_changes import LONGEST, NONE, FirstChanges, Rank
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.causes import (
    Change,
    cause_of_variable,
    computed_at,
    known_causes,
)
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import CacheEntry
from stagecache.views.nodes import Reason


class AbstractReasons(ABC):
    """Reasons of all entries of a store, which does not change meanwhile.

    Parameters
    ----------
    store : Store
    paths : dict of int to str
        By node.
    """

    def __init__(self, store: Store, paths: Mapping[int, str]) -> None:
        self._store = store
        self._paths = paths

    @abstractmethod
    def _first_change(self, node: int) -> Change | None:
        """Return the first change upstream of an entry; None to search the entry by itself."""

    @abstractmethod
    def _cause(self, change: Change) -> Cause:
        """Return the cause that a change is."""

    @abstractmethod
    def _path(self, change: Change) -> tuple[str, ...]:
        """Return the path from a change down to the entry in question."""

    @abstractmethod
    def _search(self, node: int) -> Diagnosis:
        """Return why an entry is not valid. Cost O(nodes)."""

    def found(self, nodes: Iterable[int] | None = None) -> dict[str, Reason]:
        """Return the reason of each entry that is not valid, by path; of all, or only of some.

        Cost O(nodes + edges), of these and upstream of them.
        """
        store = self._store
        kinds = store.structure.kinds
        told: dict[tuple[int, int, int], tuple[Cause, str, str]] = {}  # once for each change
        found: dict[str, Reason] = {}
        for node in self._paths if nodes is None else nodes:
            path = self._paths[node]
            if kinds[node] is not CACHE_ENTRY or store.is_valid(node):
                continue
            change = self._first_change(node)
            if change is None:
                diagnosis = self._search(node)
                cause, text, file = _told(diagnosis.cause)
                way = diagnosis.path
            else:
                key = change.clock, change.node, change.stage
                if key not in told:
                    told[key] = _told(self._cause(change))
                cause, text, file = told[key]
                way = self._path(change)
            if len(way) > LONGEST:
                way = (way[0], *way[1 - LONGEST :])
            line = f"{path} is {status_of(store, node)}: {text}."
            found[path] = Reason(line, way, cause.variable, file, cause.line, cause.seconds)
        return found


def _told(cause: Cause) -> tuple[Cause, str, str]:
    """Return a cause with its text, and the file of its write.

    A reason has what a trace knows in items of their own, so the text does not repeat it.
    """
    return cause, str(cause.without_trace()), shown_file(cause.file) if cause.file else ""


@final
class StateReasons(AbstractReasons):
    """Reasons of the entries of a State.

    Parameters
    ----------
    contents : Contents
    paths : NodePaths
    """

    def __init__(self, contents: Contents, paths: NodePaths) -> None:
        super().__init__(contents.realization.store, paths.of)
        self._contents = contents
        self._node_paths = paths
        self._causes = known_causes(contents.realization)
        self._changes = FirstChanges(self._store, self._rank_of_stages)

    def _first_change(self, node: int) -> Change | None:
        store = self._store
        is_plain = not self._contents.outdated_by and store.marks[node] > COMPUTING
        if not is_plain or store.is_closed(node):
            return None
        since = computed_at(self._contents.realization, self._entry(node))
        change = self._changes.of(node, since)
        if change is None:
            return None
        if change.stage:
            return evolve(change, written=self._causes[change.stage][1])
        written = cause_of_variable(self._causes, store.keys[change.node], change.clock)
        return evolve(change, written=written)

    def _rank_of_stages(self, node: int, since: int) -> Rank:
        """Return the rank of the first change of a stage on which an entry depends itself."""
        available_from = self._entry(node).available_from
        return min(
            [
                (clock, 1, stage, available_from - stage + 1, 1)
                for stage, (clock, _) in enumerate(self._causes[: available_from + 1])
                if clock > since
            ],
            default=NONE,
        )

    def _cause(self, change: Change) -> Cause:
        return change_of(self._contents, self._node_paths, change)

    def _path(self, change: Change) -> tuple[str, ...]:
        return path_of(self._contents, self._node_paths, change)

    def _search(self, node: int) -> Diagnosis:
        return cause_of(self._contents, self._node_paths, self._entry(node))

    def _entry(self, node: int) -> CacheEntry[object]:
        entry = self._store.keys[node]
        assert isinstance(entry, CacheEntry)
        return entry
