"""The log of a trace: its records, and their sums.

Records come in as raw tuples, whose items are appended to one list: more objects would take the
time of the garbage collector. They are counted when somebody looks, and when there are more of them
than are kept: so counts are complete however long a trace is.
"""

from collections.abc import Callable, Iterable
from threading import Lock
from time import perf_counter_ns
from typing import Any, Final, final
from weakref import WeakKeyDictionary, WeakSet

from attrs import define, field

from stagecache.inspection.trace.events import (
    AbstractTraceEvent,
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    StageEvent,
    WriteEvent,
)
from stagecache.inspection.trace.names import Names
from stagecache.inspection.trace.tracer import (
    COMPUTED,
    HIT,
    INVALIDATED,
    NS,
    STAGED,
    WIDTHS,
    WRITTEN,
    Record,
    place_of,
)
from stagecache.state.stage import Stage

FEWEST: Final = 1 << 12  # records that are counted at once, once there are as many as are kept
SHOWN_EVERY: Final = 64  # records, if somebody waits for their number
FOUND: Final = ("what a shared value depends on",)  # in place of reads: it is not known

Changes = tuple[str, ...]


@define(eq=False)
class EntryTally:
    """Counts of an entry, in all States."""

    handle: Any
    is_compared: bool
    hits: int = 0
    found: int = 0
    computed: int = 0
    failed: int = 0
    unchanged: int = 0
    needless: int = 0
    nanoseconds: int = 0
    own_nanoseconds: int = 0
    last_nanoseconds: int = 0
    is_read: bool = False
    """True if another entry has let it compute."""
    read: dict[Any, str] = field(factory=dict)
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
    reached: dict[frozenset[str], int] = field(factory=dict)
    """Number of writes, by the entries that depend on what was written."""
    gone: tuple[Any, ...] = ()
    """Entries that the last write made stale; the same object where the next one does the same."""
    gone_paths: tuple[str, ...] = ()
    repeats: int = 0
    """Number of writes with these, which are not among the sums yet."""


@define(eq=False)
class Notified:
    """Counts of the writes that reach an entry.

    Attributes
    ----------
    writes : int
        Writes of something on which it depends.
    made_stale : int
        Those that found it valid. The others found it stale already: it was not read in between.
    """

    writes: int = 0
    made_stale: int = 0


@define(eq=False)
class StateTally:
    """Knowledge of one State, while records are counted."""

    number: int
    entries: dict[Any, EntryTally] = field(factory=dict)
    written: dict[str, tuple[int, frozenset[Any]]] = field(factory=dict)
    """Number of the last record that wrote a path, and the entries downstream, by path."""
    changed: dict[str, int] = field(factory=dict)
    """Number of the last record that gave a variable or entry a new value, by path."""
    computed: dict[Any, int] = field(factory=dict)
    """Number of the last record of a computation."""
    read: dict[Any, tuple[Any, ...]] = field(factory=dict)
    """Items that this computation has read."""
    reached: dict[str, tuple[Any, frozenset[str]]] = field(factory=dict)
    """The last reach of a written path, and the paths of the entries in it."""
    causes: dict[Any, dict[str, None]] = field(factory=dict)
    """Causes other than writes that have made an entry stale since."""


@final
class TraceLog:
    """Records of one trace, and their sums.

    Attributes
    ----------
    dropped : int
        Number of events that were counted only.
    untraced : list of str
        Computations that other processes have made, which are not in it.

    Parameters
    ----------
    most : int
        Number of events to keep.
    num_states : int
        Number of States that are traced without being copies.
    show : callable, optional
        Called with the number of records now and then.
    """

    def __init__(
        self, most: int, num_states: int, show: Callable[[int], object] | None = None
    ) -> None:
        self.start = perf_counter_ns()
        self.dropped = 0
        self.untraced: list[str] = []
        self._entries: dict[str, EntryTally] = {}
        self._writes: dict[str, WriteTally] = {}
        self._most = most
        self._records: list[Any] = []  # one after the other
        self._num_counted = 0  # items of this list that are counted and kept
        self._show = show
        self._longest = WIDTHS[HIT] * self._num_awaited(most)
        self._changes: dict[int, Changes] = {}  # before computations, by place of the record
        self._needless: set[int] = set()  # places of computations that were needless
        self._num_kept = 0  # events
        self._counting = Lock()
        self._states: WeakKeyDictionary[Names, StateTally] = WeakKeyDictionary()
        self._num_states = num_states
        self._copies: WeakSet[Any] = WeakSet()
        self._following = Lock()
        self._is_on = False
        self._threads: dict[int, int] = {}
        self._number = 0  # of the last record that was counted
        self._made_stale: dict[str, int] = {}  # by writes
        self._sets: dict[frozenset[str], frozenset[str]] = {}  # one object for equal ones

    @property
    def entries(self) -> dict[str, EntryTally]:
        """Tallies of entries, by path."""
        self.count()
        return self._entries

    @property
    def writes(self) -> dict[str, WriteTally]:
        """Tallies of writes, by path of the variable."""
        self.count()
        return self._writes

    @property
    def notified(self) -> dict[str, Notified]:
        """Counts of the writes that reach entries, by path. Cost O(entries of each variable)."""
        self.count()
        found: dict[str, Notified] = {}
        with self._counting:
            for write in self._writes.values():
                self._settle(write)
                for paths, number in write.reached.items():
                    for path in paths:
                        found.setdefault(path, Notified()).writes += number
            for path, number in self._made_stale.items():
                found.setdefault(path, Notified()).made_stale += number
        return found

    def add_state(self, names: Names, number: int) -> None:
        """Give a State a number."""
        self._state(names).number = number

    def begin(self) -> None:
        """Follow copies from now on."""
        with self._following:
            self._is_on = True

    def follow(self, state: Any, names: Names) -> bool:
        """Take records of a copy from now on; return False if the trace has ended."""
        with self._following:
            if self._is_on:
                self._copies.add(state)
                self.add_state(names, self._num_states)
                self._num_states += 1
            return self._is_on

    def end(self) -> list[Any]:
        """Follow no more copies, and return those that exist."""
        with self._following:
            self._is_on = False
            return list(self._copies)

    def halt(self) -> None:
        """Go on at once."""

    def add(self, record: Record) -> None:
        """Take a record; any thread may."""
        records = self._records
        records.extend(record)
        if len(records) > self._longest:
            self.count()
            if self._show is not None:
                self._show(self._number)

    def _num_awaited(self, most: int) -> int:
        """Return the number of records to wait for until they are counted."""
        return max(most, FEWEST) if self._show is None else SHOWN_EVERY

    # ------------------------------------------------------------------ counting

    def count(self) -> None:
        """Count the records that have come in."""
        with self._counting:
            records = self._records
            kept = at = self._num_counted
            end = len(records)
            try:
                while at < end:
                    record = records[at : at + WIDTHS[records[at]]]
                    at += len(record)
                    self._number += 1
                    if self._count(record, kept):
                        kept = at
            finally:  # Control-C leaves the others
                del records[kept:at]
                self._num_counted = kept
                self._longest = kept + WIDTHS[HIT] * self._num_awaited(self._most - self._num_kept)

    def _count(self, record: list[Any], place: int) -> bool:
        """Count a record; return True if it is kept, at a place in the list."""
        kind, _, thread, names, item = record[:5]
        if thread not in self._threads:
            self._threads[thread] = len(self._threads)
        state = self._state(names)
        is_kept = self._num_kept < self._most
        num_events = 1
        if kind == HIT:
            tally = state.entries.get(item) or self._entry(names, state, item)
            tally.hits += 1
        elif kind == COMPUTED:
            changed, is_needless = self._count_computed(state, record)
            if is_kept and changed is not None:
                self._changes[place] = changed
            if is_kept and is_needless:
                self._needless.add(place)
        elif kind == WRITTEN:
            num_events += len(record[-1])
            self._count_written(state, record)
        elif kind == INVALIDATED:
            num_events = len(record[-1])
            self._count_invalidated(state, record)
        if is_kept:
            self._num_kept += num_events
        else:
            self.dropped += num_events
        return is_kept

    def _count_written(self, state: StateTally, record: list[Any]) -> None:
        _, _, _, names, cause, _, _, _, _, reach, gone = record
        parts = reach.parts
        at = self._number
        path = names.path(cause)
        written = self._writes.get(path) or self._write(path, cause)
        written.writes += 1
        written.invalidated += len(gone)
        if path not in state.reached or state.reached[path][0] is not reach:
            paths = frozenset(map(names.path, reach.downstream))
            state.reached[path] = reach, self._sets.setdefault(paths, paths)
        paths = state.reached[path][1]
        written.reached[paths] = written.reached.get(paths, 0) + 1
        if gone is not written.gone:
            self._settle(written)
            written.gone, written.gone_paths = gone, tuple(map(names.path, gone))
        written.repeats += 1
        if parts is not written.parts:
            written.parts = parts if parts >= written.parts else parts | written.parts
        state.written[path] = at, reach.downstream
        state.changed[path] = at
        for part in parts:
            state.changed[part] = at

    def _settle(self, written: WriteTally) -> None:
        """Add the entries that the last writes made stale to the sums."""
        made_stale = self._made_stale
        for path in written.gone_paths if written.repeats else ():
            made_stale[path] = made_stale.get(path, 0) + written.repeats
        written.repeats = 0

    def _count_invalidated(self, state: StateTally, record: list[Any]) -> None:
        _, _, _, names, cause, gone = record
        path = names.path(cause)
        written = self._writes.get(path) or self._write(path, cause)
        written.invalidated += len(gone)
        if path not in state.written:
            for entry in gone:
                state.causes.setdefault(entry, {})[path] = None

    def _count_computed(self, state: StateTally, record: list[Any]) -> tuple[Changes | None, bool]:
        """Count a computation; return the known changes before it, and True if it was needless."""
        _, start, _, names, entry, end, own, reads, is_unchanged, is_found, error, reader = record
        tally = state.entries.get(entry) or self._entry(names, state, entry)
        if is_found:
            tally.found += 1
        else:
            tally.computed += 1
        tally.is_read = tally.is_read or reader is not None
        tally.nanoseconds += end - start
        tally.own_nanoseconds += own
        tally.last_nanoseconds = end - start
        if error:
            tally.failed += 1
        if reads is not state.read.get(entry):
            for item in reads:
                tally.read.setdefault(item, names.path(item))
        since = state.computed.get(entry, 0)
        is_needless = (
            since > 0
            and not is_found
            and _are_as_at(since, state.read[entry], state.changed, names)
        )
        tally.needless += is_needless
        state.computed[entry] = self._number
        state.read[entry] = FOUND if is_found else reads
        if not is_unchanged:
            state.changed[names.path(entry)] = self._number
        changed: Changes = ()
        for path, (number, downstream) in state.written.items():
            if number > since and entry in downstream:
                changed = (*changed, path)
        if state.causes:
            changed = (*changed, *state.causes.pop(entry, ()))
        if is_unchanged is None or is_found:
            return None, is_needless
        tally.recomputed[changed] = tally.recomputed.get(changed, 0) + 1
        if is_unchanged:
            tally.unchanged += 1
            tally.unchanged_after[changed] = tally.unchanged_after.get(changed, 0) + 1
        return changed, is_needless

    def _state(self, names: Names) -> StateTally:
        found = self._states.get(names)
        if found is None:
            found = self._states[names] = StateTally(0)
        return found

    def _entry(self, names: Names, state: StateTally, entry: Any) -> EntryTally:
        path = names.path(entry)
        if path not in self._entries:
            self._entries[path] = EntryTally(entry, entry in names.compared)
        found = state.entries[entry] = self._entries[path]
        found.handle = entry  # if one of that path was forgotten, and this has taken its place
        return found

    def _write(self, path: str, cause: object) -> WriteTally:
        found = self._writes[path] = WriteTally(cause)
        return found

    # ------------------------------------------------------------------ events

    def events(self) -> tuple[AbstractTraceEvent, ...]:
        """Return the events, in the order in which they ended."""
        self.count()
        with self._counting:
            kept = self._records[: self._num_counted]
        found: list[AbstractTraceEvent] = []
        at = 0
        while at < len(kept):
            record = kept[at : at + WIDTHS[kept[at]]]
            found += self._events(record, at)
            at += len(record)
        return tuple(found)

    def _events(self, record: list[Any], place: int) -> list[AbstractTraceEvent]:
        kind, start, thread, names, item = record[:5]
        path = names.path
        common: dict[str, Any] = {
            "time": (start - self.start) * NS,
            "thread": self._threads[thread],
            "state": self._state(names).number,
        }
        if kind == HIT:
            return [HitEvent(entry=path(item), reader=_path(names, record[5]), **common)]
        if kind == COMPUTED:
            end, own, reads, is_unchanged, is_found, error, reader = record[5:]
            computation = ComputationEvent(
                entry=path(item),
                seconds=(end - start) * NS,
                own_seconds=own * NS,
                reads=tuple([path(read) for read in reads]),
                reader=_path(names, reader),
                changed=self._changes.get(place),
                is_unchanged=is_unchanged,
                is_needless=place in self._needless,
                is_found=is_found,
                error=error,
                **common,
            )
            return [computation]
        cause = path(item)
        if kind == STAGED:
            before, after, end, subsystem = record[5:]
            staged = StageEvent(
                before=Stage(before),
                after=Stage(after),
                seconds=(end - start) * NS,
                cause=cause,
                subsystem=subsystem,
                **common,
            )
            return [staged]
        found: list[AbstractTraceEvent] = []
        if kind == WRITTEN:
            before, after, code, instruction = record[5:9]
            file, line = place_of(code, instruction)
            found.append(
                WriteEvent(
                    variable=cause, before=before, after=after, file=file, line=line, **common
                )
            )
        gone = sorted(record[-1], key=_node)
        found += [InvalidationEvent(entry=path(entry), cause=cause, **common) for entry in gone]
        return found


def _are_as_at(since: int, read: Iterable[Any], changed: dict[str, int], names: Names) -> bool:
    """Return True if all items read are known to have the values of that time."""
    for item in read:
        if isinstance(item, str) or changed.get(names.path(item), 0) > since:
            return False
    return True


def _node(entry: Any) -> int:
    return entry._node  # type: ignore[no-any-return]  # a handle's


def _path(names: Names, reader: object) -> str:
    return "" if reader is None else names.path(reader)
