"""What a traced State notes: raw records, each a tuple, which a log makes sense of later.

A record costs one or two microseconds. Which entries a write makes stale is not looked for by going
through all of them: what is downstream of a variable is found once, and those that are valid are
known, so that it is an intersection of two sets.
"""

import sys
from collections.abc import Sequence
from threading import get_ident
from time import perf_counter_ns
from typing import Any, Protocol, final

from stagecache.graph.evaluation import Function, no_function
from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.place_of_read import LIBRARY, Place
from stagecache.inspection.trace.records import HIT, INVALIDATED, STAGED, WRITTEN, Record
from stagecache.inspection.trace.traced_function import Running, TracedFunction
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage

Reach = tuple[frozenset[CacheEntry[Any]], frozenset[str]]
"""The entries that a write makes stale, and the paths of the variables and stages it changes."""


class TakesRecords(Protocol):
    """A log."""

    def add(self, record: Record) -> None:
        """Take a record."""


@final
class Tracer:
    """Notes what happens to one State.

    Attributes
    ----------
    logs : tuple of TakesRecords
        One for each trace of it.
    valid : set of CacheEntry
        All entries that are valid; among them may be some that have just been made invalid.
    known : set of CacheEntry
        Those that were ever valid since, so that there is a value to compare a new one with.
    unread : set of CacheEntry
        Those that were computed, by the first read or ahead of it, and not read since.
    stacks : dict of int to list of Running
        By thread: the computations that are going on, each inside of the one before it.
    paths : dict
        What views call an item; also one that there is no more.
    """

    __slots__ = (
        "_contents",
        "_functions",
        "_is_library",
        "_presumed",
        "_reached",
        "_realizing",
        "_seen",
        "_serial",
        "_writes",
        "known",
        "logs",
        "paths",
        "stacks",
        "unread",
        "valid",
    )

    def __init__(self, contents: Any) -> None:
        self.logs: tuple[TakesRecords, ...] = ()
        self.valid: set[CacheEntry[Any]] = set()
        self.unread: set[CacheEntry[Any]] = set()
        self._contents = contents
        self.stacks: dict[int, list[Running]] = {}
        self._realizing: tuple[int, int] | None = None  # since when, and from which stage on
        self._functions: list[Function] = []
        self._seen: object = None  # the functions of the layout of which the next are
        self._serial = -1
        self._reached: dict[tuple[int, ...], Reach] = {}
        self._presumed: list[CacheEntry[Any]] = []
        self._writes: dict[object, tuple[int, Sequence[int], Place]] = {}
        self.paths: dict[object, str] = {}
        self._is_library: dict[str, bool] = {}  # by file
        self._look_at(self.layout)
        self._look_for_valid()
        self.known = set(self.valid)

    @property
    def layout(self) -> Any:
        """That of the State now."""
        return self._contents.realization.layout

    def path(self, item: object) -> str:
        """What views call an item; of what is no handle, its text."""
        return self.paths.get(item) or str(item)

    def is_compared(self, entry: CacheEntry[Any]) -> bool:
        """Whether the values of an entry are compared, as `equal=` says."""
        return entry._node in self.layout.equals

    def _note(self, record: Record) -> None:
        for log in self.logs:
            log.add(record)

    # ------------------------------------------------------------------ reads

    def read(self, items: Sequence[AbstractHandle | str]) -> None:
        """Note a read of what is no entry, if a computation reads it."""
        stack = self.stacks.get(get_ident())
        if stack:
            reads = stack[-1].reads
            for item in items:
                reads[item] = None

    def hit(self, entry: CacheEntry[Any]) -> None:
        """Note a read that has found a value, unless the value was computed for it."""
        self.valid.add(entry)
        me = get_ident()
        stack = self.stacks.get(me)
        reader = None
        if stack:
            running = stack[-1]
            reader = running.entry
            running.reads[entry] = None
        if entry in self.unread:
            try:
                self.unread.remove(entry)
            except KeyError:  # another thread has just read it
                pass
            else:
                return
        record = (HIT, perf_counter_ns(), me, self, entry, reader)
        for log in self.logs:
            log.add(record)

    def missing(self, entry: CacheEntry[Any]) -> None:
        """Note that a read begins that may have to compute."""
        realization = self._contents.realization
        functions = realization.layout.functions
        if (
            realization.evaluator.functions is not self._functions
            or self._seen is not functions
            or self._serial != realization.layout.serial
        ):
            self.wrap()
        stack = self.stacks.get(get_ident())
        if stack:
            stack[-1].reads[entry] = None

    # ------------------------------------------------------------------ computations

    def wrap(self) -> None:
        """Let the functions of the evaluator be noted, also those that were added since."""
        realization = self._contents.realization
        self._look_at(realization.layout)
        realization.evaluator.functions = self._functions

    def unwrap(self) -> None:
        """Undo that."""
        realization = self._contents.realization
        realization.evaluator.functions = realization.layout.functions

    def _look_at(self, layout: Any) -> None:
        """Look what there is now, unless that was done. Cost O(nodes)."""
        if self._seen is layout.functions and self._serial == layout.serial:
            return
        self._seen = layout.functions
        self._serial = layout.serial
        self._reached.clear()
        keys = self._contents.realization.store.keys
        for node, path in NodePaths(self._contents).of.items():
            self.paths.setdefault(keys[node], path)
        self._presumed = [
            entry
            for subsystem in layout.subsystems
            for entry in subsystem.entries
            if entry.computed_by < Stage.INFINITY and layout.functions[entry._node] is no_function
        ]
        self._functions = [
            function if function is no_function else TracedFunction(self, node, function)
            for node, function in enumerate(layout.functions)
        ]

    # ------------------------------------------------------------------ writes

    def wrote(
        self, cause: object, nodes: Sequence[int], reach: Reach, version: int, stage: int
    ) -> None:
        """Note a write; with a single node, that of a stage, it is none.

        Parameters
        ----------
        cause : object
            The handle of what was written, or text that says what happened.
        nodes : sequence of int
            Of all that changed.
        reach : Reach
            That of these, before.
        version, stage : int
            That of what was written, and that of the system, before.
        """
        downstream, parts = reach
        if len(nodes) > 1:
            after = self._contents.realization.store.versions[node_of(cause, nodes)]
            place = self._place()
            now = perf_counter_ns()
            self._writes[cause] = now, nodes, place
            me = get_ident()
            record = (WRITTEN, now, me, self, cause, version, after, place, downstream, parts)
            for log in self.logs:
                log.add(record)
        going = self.valid & downstream
        if going:
            self._gone(going, cause)
        if self._contents.realization.machine.stage != stage:
            self._staged(0, stage, cause)

    def _place(self) -> Place:
        """Where in the code of a model something is written; as `place_of_read`, but quicker."""
        is_library = self._is_library
        frame = sys._getframe(3)
        while frame.f_back is not None:
            file = frame.f_code.co_filename
            if file not in is_library:
                is_library[file] = frame.f_globals.get("__name__", "").startswith(LIBRARY)
            if not is_library[file]:
                break
            frame = frame.f_back
        return frame.f_code.co_filename, frame.f_lineno

    def invalidated(self, cause: object, nodes: Sequence[int]) -> None:
        """Note which entries downstream of some nodes were valid until now."""
        going = self.valid & self.reach(nodes)[0]
        if going:
            self._gone(going, cause)

    def replaced(self, cause: str, stage: int) -> None:
        """Note that all of the State may be another. Cost O(entries)."""
        self._gone(self.valid, cause)
        self._look_for_valid()
        self._staged(0, stage, cause)

    def _gone(self, entries: set[CacheEntry[Any]], cause: object) -> None:
        store = self._contents.realization.store
        keys, marks, gates, group_of = store.keys, store.marks, store.gates, store.group_of
        gone = []
        for entry in entries:
            node = entry._node
            if node >= len(keys) or keys[node] is not entry or marks[node] < gates[group_of[node]]:
                gone.append(entry)
        if gone:
            if len(gone) > 1:
                gone.sort(key=_node)
            self.valid.difference_update(gone)
            self._note((INVALIDATED, perf_counter_ns(), get_ident(), self, gone, cause))

    def reach(self, nodes: Sequence[int]) -> Reach:
        """The entries downstream of some nodes, and the paths of these.

        Cost O(what is downstream) the first time.
        """
        layout = self._contents.realization.layout
        if self._seen is not layout.functions or self._serial != layout.serial:
            self._look_at(layout)
        key = tuple(nodes)
        found = self._reached.get(key)
        if found is None:
            structure = self._contents.realization.store.structure
            reached = dict.fromkeys(key)
            queue = list(key)
            for node in queue:
                new = [below for below in structure.dependents[node] if below not in reached]
                reached.update(dict.fromkeys(new))
                queue += new
            below = [structure.keys[node] for node in reached]
            entries = frozenset([item for item in below if isinstance(item, CacheEntry)])
            written = [structure.keys[node] for node in key]
            parts = [self.path(item) for item in written]
            found = self._reached[key] = entries, frozenset(parts)
        return found

    def _look_for_valid(self) -> None:
        store = self._contents.realization.store
        entries = [e for s in self.layout.subsystems for e in s.entries]
        self.valid.update([e for e in entries if store.is_valid(e._node)])

    def last_write(self, node: int) -> tuple[int, str, int] | None:
        """The version before the last write of a variable, and where it was; None if unknown."""
        found = [w for w in self._writes.values() if node in w[1]]
        if not found:
            return None
        file, line = max(found, key=_time)[2]
        return self._contents.realization.store.versions[node] - 1, file, line

    # ------------------------------------------------------------------ stages

    def realizing(self, *, is_on: bool) -> None:
        """Note that realizing begins, or has ended."""
        if self._realizing is None:
            if is_on:
                self._realizing = perf_counter_ns(), self._contents.realization.machine.stage
        elif not is_on:
            start, stage = self._realizing
            self._realizing = None
            self._staged(start, stage, "realize()")
            self._presume()

    def advanced(self, stage: int, subsystem: int | None) -> None:
        """Note a stage that is reached by hand."""
        name = "" if subsystem is None else self._contents.who(subsystem)
        self._staged(0, stage - 1, "advance_to_stage()", name, stage)
        self._presume()

    def _presume(self) -> None:
        store = self._contents.realization.store
        self._look_at(self._contents.realization.layout)
        for entry in self._presumed:
            if store.is_valid(entry._node):
                self.valid.add(entry)

    def _staged(
        self, start: int, before: int, cause: object, subsystem: str = "", after: int = -1
    ) -> None:
        after = self._contents.realization.machine.stage if after < 0 else after
        if after != before:
            end = perf_counter_ns()
            start = start or end  # it takes no time
            self._note((STAGED, start, get_ident(), self, before, after, end, cause, subsystem))


def node_of(cause: object, nodes: Sequence[int]) -> int:
    """That of what is written, among all that change; if it has no handle, of one of them."""
    return cause._node if isinstance(cause, AbstractHandle) else nodes[-1]


def _node(entry: CacheEntry[Any]) -> int:
    return entry._node


def _time(write: tuple[int, Sequence[int], Place]) -> int:
    return write[0]
