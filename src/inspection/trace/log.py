"""The log of a trace: its records, and their sums.

Records come in as raw tuples. Now and then, and whenever somebody looks, they are counted: so
counts are complete however long a trace is, and only the records themselves are limited.
"""

from collections.abc import Iterable
from threading import Lock
from time import perf_counter_ns
from typing import Any, Final, final

from attrs import define, field

from stagecache.inspection.trace.events import (
    AbstractTraceEvent,
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    StageEvent,
    WriteEvent,
)
from stagecache.inspection.trace.tracer import (
    COMPUTED,
    HIT,
    INVALIDATED,
    WRITTEN,
    Record,
    Tracer,
)
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage

CHUNK: Final = 1 << 12  # records that are counted at once
NS: Final = 1e-9

Changes = tuple[str, ...]


@define(eq=False)
class EntryTally:
    """Counts of an entry, in all States."""

    handle: CacheEntry[Any]
    is_compared: bool
    hits: int = 0
    computed: int = 0
    failed: int = 0
    unchanged: int = 0
    needless: int = 0
    nanoseconds: int = 0
    own_nanoseconds: int = 0
    last_nanoseconds: int = 0
    read: dict[AbstractHandle | str, str] = field(factory=dict)
    """Items that its computations have read, with their paths."""
    recomputed: dict[Changes, int] = field(factory=dict)
    """Number of repeated computations, by the changes before."""
    unchanged_after: dict[Changes, int] = field(factory=dict)
    """Number of those that gave an equal value, by the changes before."""


@define(eq=False)
class WriteTally:
    """Counts of writes of a variable, or of something else that makes entries stale."""

    cause: object
    writes: int = 0
    invalidated: int = 0
    parts: frozenset[str] = frozenset()
    """The variables that are written by it, wholes and blocks that overlap, and their stage."""


@define(eq=False)
class StateTally:
    """Knowledge of one State, while records are counted."""

    number: int
    entries: dict[CacheEntry[Any], EntryTally] = field(factory=dict)
    written: dict[str, tuple[int, frozenset[Any]]] = field(factory=dict)
    """Number of the last record that wrote a path, and the entries downstream, by path."""
    changed: dict[str, int] = field(factory=dict)
    """Number of the last record that gave a variable or entry a new value, by path."""
    computed: dict[CacheEntry[Any], int] = field(factory=dict)
    """Number of the last record of a computation."""
    read: dict[CacheEntry[Any], tuple[AbstractHandle | str, ...]] = field(factory=dict)
    """Items that this computation has read."""
    causes: dict[CacheEntry[Any], dict[str, None]] = field(factory=dict)
    """Causes other than writes that have made an entry stale since."""


@final
class TraceLog:
    """Records of one trace, and their sums.

    Attributes
    ----------
    entries : dict of str to EntryTally
        Tallies of entries, by path.
    writes : dict of str to WriteTally
        Tallies of writes, by path of the variable.
    dropped : int
        Number of events that were counted only.
    copies : list of State
        Copies that studies have made of the States of the trace, and that are in it, too.
    """

    def __init__(self, most: int) -> None:
        self.start = perf_counter_ns()
        self.entries: dict[str, EntryTally] = {}
        self.writes: dict[str, WriteTally] = {}
        self.dropped = 0
        self.copies: list[Any] = []
        self._most = most
        self._pending: list[Record] = []
        self._kept: list[tuple[Record, Changes | None]] = []
        self._num_kept = 0
        self._counting = Lock()
        self._states: dict[Tracer, StateTally] = {}
        self._threads: dict[int, int] = {}
        self._number = 0

    @property
    def num_states(self) -> int:
        """Number of States, with copies."""
        return len(self._states)

    def add_state(self, tracer: Tracer, number: int) -> None:
        """Give the State of a tracer a number."""
        (self._states.get(tracer) or self._state(tracer)).number = number

    def add(self, record: Record) -> None:
        """Take a record; any thread may."""
        pending = self._pending
        pending.append(record)
        if len(pending) > CHUNK:
            self.count()

    # ------------------------------------------------------------------ counting

    def count(self) -> None:
        """Count the records that have come in."""
        with self._counting:
            chunk = self._pending.copy()
            del self._pending[: len(chunk)]  # more may have come in
            threads = self._threads
            tracer = None
            for number, record in enumerate(chunk, self._number + 1):
                kind = record[0]
                item = record[4]
                if record[2] not in threads:
                    threads[record[2]] = len(threads)
                if record[3] is not tracer:
                    tracer = record[3]
                    state = self._states.get(tracer) or self._state(tracer)
                changed = None
                if kind == HIT:
                    tally = state.entries.get(item) or self._entry(tracer, state, item)
                    tally.hits += 1
                elif kind == COMPUTED:
                    changed = self._count_computed(state, record, number)
                elif kind == WRITTEN:
                    self._count_written(state, record, number)
                elif kind == INVALIDATED:
                    self._count_invalidated(state, record)
                if self._num_kept < self._most:
                    self._kept.append((record, changed))
                    self._num_kept += len(item) if kind == INVALIDATED else 1
                else:
                    self.dropped += len(item) if kind == INVALIDATED else 1
            self._number += len(chunk)

    def _count_written(self, state: StateTally, record: Record, at: int) -> None:
        _, _, _, tracer, cause, _, _, _, downstream, parts = record
        path = tracer.paths.get(cause) or tracer.path(cause)
        written = self.writes.get(path) or self._write(path, cause)
        written.writes += 1
        written.parts = parts if parts >= written.parts else parts | written.parts
        state.written[path] = at, downstream
        state.changed.update(dict.fromkeys((path, *parts), at))

    def _count_invalidated(self, state: StateTally, record: Record) -> None:
        _, _, _, tracer, entries, cause = record
        path = tracer.paths.get(cause) or tracer.path(cause)
        written = self.writes.get(path) or self._write(path, cause)
        written.invalidated += len(entries)
        if path not in state.written:
            for entry in entries:
                state.causes.setdefault(entry, {})[path] = None

    def _count_computed(self, state: StateTally, record: Record, at: int) -> Changes | None:
        _, start, _, tracer, entry, end, own, reads, is_unchanged, error, _ = record
        tally = state.entries.get(entry) or self._entry(tracer, state, entry)
        tally.computed += 1
        tally.nanoseconds += end - start
        tally.own_nanoseconds += own
        tally.last_nanoseconds = end - start
        if error:
            tally.failed += 1
        read = tally.read
        for item in reads:
            if item not in read:
                read[item] = tracer.path(item)
        since = state.computed.get(entry, 0)
        if since and _are_as_at(since, state.read[entry], state.changed, tracer):
            tally.needless += 1
        state.computed[entry] = at
        state.read[entry] = tuple(reads)
        if not is_unchanged:
            state.changed[tracer.path(entry)] = at
        changed: Changes = ()
        for path, (number, downstream) in state.written.items():
            if number > since and entry in downstream:
                changed = (*changed, path)
        if state.causes:
            changed = (*changed, *state.causes.pop(entry, ()))
        if is_unchanged is None:
            return None
        tally.recomputed[changed] = tally.recomputed.get(changed, 0) + 1
        if is_unchanged:
            tally.unchanged += 1
            tally.unchanged_after[changed] = tally.unchanged_after.get(changed, 0) + 1
        return changed

    def _state(self, tracer: Tracer) -> StateTally:
        return self._states.setdefault(tracer, StateTally(0))

    def _entry(self, tracer: Tracer, state: StateTally, entry: CacheEntry[Any]) -> EntryTally:
        path = tracer.path(entry)
        if path not in self.entries:
            self.entries[path] = EntryTally(entry, tracer.is_compared(entry))
        found = state.entries[entry] = self.entries[path]
        found.handle = entry  # if one of that path was forgotten, and this has taken its place
        return found

    def _write(self, path: str, cause: object) -> WriteTally:
        found = self.writes[path] = WriteTally(cause)
        return found

    # ------------------------------------------------------------------ events

    def events(self) -> tuple[AbstractTraceEvent, ...]:
        """Return the events, in the order in which they ended."""
        self.count()
        with self._counting:
            kept = self._kept.copy()
        return tuple([event for record, changed in kept for event in self._events(record, changed)])

    def _events(self, record: Record, changed: Changes | None) -> Iterable[AbstractTraceEvent]:
        if record[0] != INVALIDATED:
            return (self._event(record, changed),)
        kind, time, thread, tracer, entries, cause = record
        return [self._event((kind, time, thread, tracer, e, cause), None) for e in entries]

    def _event(self, record: Record, changed: Changes | None) -> AbstractTraceEvent:
        kind, start, thread, tracer = record[:4]
        path = tracer.path
        common: dict[str, Any] = {
            "time": (start - self.start) * NS,
            "thread": self._threads[thread],
            "state": self._states[tracer].number,
        }
        if kind == HIT:
            return HitEvent(entry=path(record[4]), reader=_path(tracer, record[5]), **common)
        if kind == COMPUTED:
            _, _, _, _, entry, end, own, reads, is_unchanged, error, reader = record
            return ComputationEvent(
                entry=path(entry),
                seconds=(end - start) * NS,
                own_seconds=own * NS,
                reads=tuple([path(item) for item in reads]),
                reader=_path(tracer, reader),
                changed=changed,
                is_unchanged=is_unchanged,
                error=error,
                **common,
            )
        if kind == WRITTEN:
            _, _, _, _, cause, before, after, (file, line), _, _ = record
            variable = path(cause)
            return WriteEvent(
                variable=variable, before=before, after=after, file=file, line=line, **common
            )
        if kind == INVALIDATED:
            return InvalidationEvent(entry=path(record[4]), cause=path(record[5]), **common)
        _, _, _, _, stage_before, stage_after, end, cause, subsystem = record
        return StageEvent(
            before=Stage(stage_before),
            after=Stage(stage_after),
            seconds=(end - start) * NS,
            cause=path(cause),
            subsystem=subsystem,
            **common,
        )


def _are_as_at(
    since: int, read: Iterable[AbstractHandle | str], changed: dict[str, int], tracer: Tracer
) -> bool:
    """Return True if all items read are known to have the values of that time."""
    return all(
        isinstance(item, AbstractHandle) and changed.get(tracer.path(item), 0) <= since
        for item in read
    )


def _path(tracer: Tracer, reader: object) -> str:
    return "" if reader is None else tracer.path(reader)
