"""The tracer of a State or a Graph: it notes raw records, tuples, which a log interprets later.

A record has what is gone later: times, versions, and the instruction that wrote. Paths, lines and
counts are found when somebody looks at the log. The entries that a write makes stale are an
intersection of two sets: those downstream of the variable, which are found once, and those that are
valid.
"""

import sys
from collections.abc import Iterable, Sequence
from threading import get_ident
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Any, Final, Protocol, final

import numpy as np

from stagecache.graph.evaluation import Function, no_function
from stagecache.graph.observing import Act, TracedWrite
from stagecache.graph.store import COMPUTING
from stagecache.graph.structure import CACHE_ENTRY, VARIABLE
from stagecache.inspection.place_of_read import LIBRARY, Place
from stagecache.inspection.subject import StateSubject, Subject
from stagecache.inspection.trace.names import Names
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Observer
from stagecache.state.handles import AbstractHandle
from stagecache.state.stage import Stage
from stagecache.state.values.sameness import same
from stagecache.state.values.values import IMMUTABLE

HIT: Final = 0
"""(HIT, time, thread, names, entry, reader)"""
COMPUTED: Final = 1
"""(COMPUTED, time, thread, names, entry, end, own, reads, unchanged?, found?, error, reader)"""
WRITTEN: Final = 2
"""(WRITTEN, time, thread, names, cause, version before, after, code, instruction, reach, gone)"""
INVALIDATED: Final = 3
"""(INVALIDATED, time, thread, names, cause, gone)"""
STAGED: Final = 4
"""(STAGED, time, thread, names, cause, stage before, stage after, end, subsystem)"""
WIDTHS: Final = (6, 12, 11, 6, 9)
"""Lengths of records, by their kind, which is their first item."""

NS: Final = 1e-9

Record = tuple[Any, ...]


class TakesRecords(Protocol):
    """A log.

    Attributes
    ----------
    start : int
        Time when it began, in nanoseconds.
    """

    start: int

    def halt(self) -> None:
        """Wait here, before a computation or the write of a variable, if the log wants it."""

    def add(self, record: Record) -> None:
        """Take a record."""

    def follow(self, state: Any, names: Names) -> bool:
        """Take records of a copy from now on; return False if the trace has ended."""


SMALL: Final = 1 << 14  # bytes of an array that are compared at once
CONTAINERS: Final = (np.ndarray, list, tuple, dict)  # whose items are compared one by one


@final
class Reach:
    """The variables and stages that a write changes, and the entries that depend on them.

    It is not a tuple, since compiled code would make a new one at each use.

    Attributes
    ----------
    nodes : tuple of int
        Nodes of the variables and stages that it changes.
    parts : frozenset of str
        Paths of these nodes.
    downstream : frozenset of handle
        Entries that depend on them.
    """

    __slots__ = ("downstream", "nodes", "parts")

    def __init__(
        self, nodes: tuple[int, ...], parts: frozenset[str], downstream: frozenset[Any]
    ) -> None:
        self.nodes = nodes
        self.parts = parts
        self.downstream = downstream


@final
class Running:
    """A computation that is going on.

    Attributes
    ----------
    tracer : Tracer
        Tracer of the State in which it goes on.
    entry : handle
    reads : dict of (handle or str) to None
        Items read so far, in order.
    inside : int
        The nanoseconds that computations inside of it took, in this State and in copies.
    """

    __slots__ = ("entry", "inside", "reads", "tracer")

    def __init__(self, tracer: "Tracer", entry: Any) -> None:
        self.tracer = tracer
        self.entry = entry
        self.reads: dict[Any, None] = {}
        self.inside = 0


@final
class Tracer(Observer):
    """An observer of all that happens to one State or Graph.

    Copies of a State get tracers of their own.

    Parameters
    ----------
    subject : Subject
    original : Tracer, optional
        Tracer of the State of which this is a copy.

    Attributes
    ----------
    subject : Subject
        The State or the Graph.
    names : Names
        Names of its items in records.
    logs : tuple of TakesRecords
        One for each trace of it.
    valid : set of handle
        All entries that are valid; among them may be some that have just been made invalid.
    known : set of handle
        Those that were ever valid since, so that there is a value to compare a new one with.
    unread : set of handle
        Those that were computed, by the first read or ahead of it, and not read since.
    stacks : dict of int to list of Running
        Computations in progress, by thread, each inside the one before it, of the State and of
        all that are copies of the same one.
    """

    __slots__ = (
        "_functions",
        "_is_library",
        "_is_torn",
        "_last",
        "_named",
        "_presumed",
        "_reached",
        "_realizing",
        "_seen",
        "_serial",
        "_writes",
        "known",
        "logs",
        "names",
        "stacks",
        "subject",
        "unread",
        "valid",
    )

    def __init__(self, subject: Subject, original: "Tracer | None" = None) -> None:
        self.logs: tuple[TakesRecords, ...] = () if original is None else original.logs
        self.valid: set[Any] = set()
        self.unread: set[Any] = set()
        self.subject = subject
        self.names: Names = Names(None if original is None else original.names)
        self.stacks: dict[int, list[Running]] = {} if original is None else original.stacks
        self._realizing: tuple[int, int] | None = None  # since when, and from which stage on
        self._functions: list[Function] = []
        self._seen: object = None  # the functions of the layout of which the next are
        self._serial = -1
        self._named = (None, -1) if original is None else (original._seen, original._serial)
        self._reached: dict[tuple[int, ...], Reach] = {}
        self._is_torn = False  # an error has struck between an operation and what notes it
        self._presumed: list[Any] = []
        self._writes: dict[object, Record] = {}
        self._is_library: dict[str, bool] = {}  # by file
        self._last: dict[object, Record] = {}
        self._look_at()
        self._look_for_valid()
        self.known = set(self.valid)

    # ------------------------------------------------------------------ copies

    def inherited(self, contents: Contents) -> "Tracer | None":
        """Return a tracer of a copy, which has these contents, in all traces of this State."""
        return Tracer(StateSubject(contents), self) if self.logs else None

    def made(self, state: Any) -> None:
        """Let the traces know a copy, unless they have ended meanwhile."""
        with state.lock:
            self.logs = tuple([log for log in self.logs if log.follow(state, self.names)])
            if not self.logs:
                self.subject.observe(tuple([o for o in self.subject.observers if o is not self]))

    def running(self, thread: int) -> Running | None:
        """Return the computation of this State that goes on in a thread."""
        stack = self.stacks.get(thread)
        while stack:
            running = stack[-1]
            at = running.entry._node
            if running.tracer.subject.evaluator.running.get(at) == thread:
                return running if running.tracer is self else None  # else one that reads a copy
            stack.pop()  # an error has struck before that was done
        return None

    def _note(self, record: Record) -> None:
        for log in self.logs:
            log.add(record)

    # ------------------------------------------------------------------ reads

    def read(self, items: Sequence[Any], title: str) -> None:
        """Note a read of something else than an entry, if a computation reads it."""
        running = self.running(get_ident())
        if running is not None:
            reads = running.reads
            if title:
                reads[title] = None
                return
            for item in items:
                assert not isinstance(item, Stage), "a stage has a title"
                reads[item] = None

    def read_valid(self, entry: Any) -> None:
        """Note a read that finds a value, unless the value was computed for it."""
        self.valid.add(entry)
        me = get_ident()
        running = self.running(me)
        reader = None
        if running is not None:
            reader = running.entry
            running.reads[entry] = None
        if entry in self.unread:
            try:
                self.unread.remove(entry)
            except KeyError:  # another thread has just read it
                pass
            else:
                return
        self._note((HIT, perf_counter_ns(), me, self.names, entry, reader))

    def read_entry(self, entry: Any, act: Act) -> Any:
        """Note a read that may have to compute."""
        running = self._begun()
        if running is not None:
            running.reads[entry] = None
        try:
            value = act()
            self.read_valid(entry)  # it was computed, or another thread has computed it
        except BaseException:
            self._is_torn = True
            raise
        return value

    # ------------------------------------------------------------------ computations

    def compute(self, act: Act) -> Any:
        """Note what computes entries without a read of them."""
        self._begun()
        return act()

    def marked(self, entry: Any) -> None:
        """Note that a value counts as computed now."""
        self.valid.add(entry)

    def _begun(self) -> Running | None:
        """Trace the functions of the evaluator, also those that were added since.

        Return the computation that goes on.
        """
        self._look_at()
        self.subject.evaluator.functions = self._functions
        if self not in self.subject.observers:  # another thread has ended the trace meanwhile
            self.unwrap()
        return self.running(get_ident())

    def unwrap(self) -> None:
        """Undo that."""
        self.subject.evaluator.functions = self.subject.functions

    def _look_at(self) -> None:
        """Find the present items, unless they are known. Cost O(nodes)."""
        subject = self.subject
        functions = subject.functions
        if self._is_torn:
            self._look_for_valid()
        if self._seen is functions and self._serial == subject.serial:
            return
        self._seen = None  # until all is found
        self._reached.clear()
        if self._named[0] is not functions or self._named[1] != subject.serial:
            for node, path in subject.paths().items():
                self.names.paths.setdefault(subject.handle(node), path)
            self.names.compared.update([subject.handle(node) for node in subject.equals])
        self._presumed = subject.presumed()
        self._functions = [
            function if function is no_function else TracedFunction(self, node, function)
            for node, function in enumerate(functions)
        ]
        self._serial = subject.serial
        self._seen = functions

    # ------------------------------------------------------------------ writes

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:
        """Note an operation that makes stale what depends on some nodes.

        A single node that is a stage or an entry is invalidated, not written.

        Parameters
        ----------
        cause : object
            Handle of the variable that was written, or text that says what happened.
        nodes : sequence of int
            Nodes of all that changes.
        """
        subject = self.subject
        stage = subject.stage
        node = cause._node if isinstance(cause, AbstractHandle) else nodes[-1]
        store = subject.store
        before = store.versions[node]
        is_write = len(nodes) > 1 or store.structure.kinds[nodes[0]] is VARIABLE
        if is_write:
            for log in self.logs:
                log.halt()
        reach = self._reach(nodes)  # of which some may be forgotten
        try:
            found = act()
            after = subject.store.versions[node]
            going = self.valid & reach.downstream
            gone = self._gone(going, cause) if going else ()
        except BaseException:
            self._is_torn = True
            raise
        now = perf_counter_ns()
        me = get_ident()
        if is_write:
            frame = self._frame()
            code, at = frame.f_code, frame.f_lasti
            record = (WRITTEN, now, me, self.names, cause, before, after, code, at, reach, gone)
            self._writes[cause] = record
            self._note(record)
        elif gone:
            self._note((INVALIDATED, now, me, self.names, cause, gone))
        if subject.stage != stage:
            self._staged(0, stage, cause)
        return found

    def _frame(self) -> FrameType:
        """Return the frame of a write in the code of a model."""
        is_library = self._is_library
        frame = sys._getframe()
        above = frame.f_back
        while above is not None:
            file = frame.f_code.co_filename
            if file not in is_library:
                is_library[file] = frame.f_globals.get("__name__", "").startswith(LIBRARY)
            if not is_library[file]:
                break
            frame = above
            above = frame.f_back
        return frame

    def replace(self, cause: str, act: Act) -> Any:
        """Note an operation after which all of the State may be another. Cost O(entries)."""
        stage = self.subject.stage
        self.unwrap()  # checkpoints may keep what is there until now
        try:
            self.valid = {entry for entry in self.valid if self.subject.is_there(entry)}
            found = act()
            gone = self._gone(self.valid, cause)
            if gone:
                self._note((INVALIDATED, perf_counter_ns(), get_ident(), self.names, cause, gone))
            self._look_for_valid()
        except BaseException:
            self._is_torn = True
            raise
        self._staged(0, stage, cause)
        return found

    def _gone(self, entries: set[Any], cause: object) -> Record:
        """Return the given entries that are stale or forgotten; they are not valid any more."""
        subject = self.subject
        store = subject.store
        marks, gates, group_of = store.marks, store.gates, store.group_of
        gone = [
            entry
            for entry in entries
            if not subject.is_there(entry) or marks[entry._node] < gates[group_of[entry._node]]
        ]
        self.valid.difference_update(gone)
        return self._kept_once(cause, gone)

    def _kept_once(self, of: object, items: Iterable[object]) -> Record:
        """Return a tuple of items: the last one of a cause or an entry, if that is equal."""
        found = tuple(items)
        last = self._last.get(of)
        if last == found:
            return last
        self._last[of] = found
        return found

    def _reach(self, nodes: Sequence[int]) -> Reach:
        """Return what a write of some nodes reaches.

        Cost O(what is downstream) the first time.
        """
        self._look_at()
        key = tuple(nodes)
        found = self._reached.get(key)
        if found is None:
            subject = self.subject
            structure = subject.store.structure
            reached = dict.fromkeys(key)
            queue = list(key)
            for node in queue:
                new = [below for below in structure.dependents[node] if below not in reached]
                reached.update(dict.fromkeys(new))
                queue += new
            kinds = structure.kinds
            below = [node for node in reached if kinds[node] is CACHE_ENTRY]
            entries = frozenset([subject.handle(node) for node in below])
            parts = [self.names.path(subject.handle(node)) for node in key]
            found = self._reached[key] = Reach(key, frozenset(parts), entries)
        return found

    def _look_for_valid(self) -> None:
        store = self.subject.store
        self.valid = {e for e in self.subject.entries() if store.is_valid(e._node)}
        self._is_torn = False

    def last_write(self, node: int) -> TracedWrite | None:
        """Return the last write of a variable, if a trace that is on has seen it."""
        found = [record for record in self._writes.values() if node in record[9].nodes]
        starts = [log.start for log in self.logs]
        if not found or not starts:
            return None
        record = max(found, key=_time)
        elapsed = record[1] - min(starts)
        if elapsed < 0:
            return None
        file, line = place_of(*record[7:9])
        return TracedWrite(self.subject.store.versions[node] - 1, file, line, elapsed * NS)

    # ------------------------------------------------------------------ stages

    def realizing(self, *, is_on: bool) -> None:
        """Note that realizing begins, or has ended."""
        if self._realizing is None:
            if is_on:
                self._realizing = perf_counter_ns(), self.subject.stage
        elif not is_on:
            start, stage = self._realizing
            self._realizing = None
            self._staged(start, stage, "realize()")
            self._presume()

    def advanced(self, stage: Stage, subsystem: int | None) -> None:
        """Note a stage that is reached by hand."""
        name = "" if subsystem is None else self.subject.who(subsystem)
        self._staged(0, stage - 1, "advance_to_stage()", name, stage)
        self._presume()

    def _presume(self) -> None:
        store = self.subject.store
        self._look_at()
        for entry in self._presumed:
            if store.is_valid(entry._node):
                self.valid.add(entry)

    def _staged(
        self, start: int, before: int, cause: object, subsystem: str = "", after: int = -1
    ) -> None:
        after = self.subject.stage if after < 0 else after
        if after != before:
            end = perf_counter_ns()
            start = start or end  # it takes no time
            self._note(
                (STAGED, start, get_ident(), self.names, cause, before, after, end, subsystem)
            )


def _time(record: Record) -> int:
    return record[1]  # type: ignore[no-any-return]  # a time


def place_of(code: CodeType, instruction: int) -> Place:
    """Return the file and line of an instruction."""
    lines = [line for start, end, line in code.co_lines() if start <= instruction < end]
    return code.co_filename, lines[0] or code.co_firstlineno


@final
class TracedFunction:
    """A function of an evaluator that is noted when it is called."""

    __slots__ = ("_function", "_node", "_tracer")

    def __init__(self, tracer: Tracer, node: int, function: Function) -> None:
        self._tracer = tracer
        self._node = node
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        """Call it, and note that."""
        tracer = self._tracer
        store = tracer.subject.store
        node = self._node
        if not tracer.logs or store.marks[node] > COMPUTING:
            return self._function(*arguments)  # it has ended; or the value is only verified
        for log in tracer.logs:
            log.halt()
        entry = tracer.subject.handle(node)
        is_known = entry in tracer.known
        before = store.values[node] if is_known else None
        me = get_ident()
        stack = tracer.stacks.get(me)
        if stack is None:
            stack = tracer.stacks[me] = []
        depth = len(stack)
        running = Running(tracer, entry)
        origin = store.origins.get(node)
        is_found = False
        stack.append(running)
        is_equal = None
        error = ""
        start = end = perf_counter_ns()
        try:
            value = self._function(*arguments)
        except BaseException as raised:
            end = perf_counter_ns()
            error = type(raised).__name__
            raise
        else:
            end = perf_counter_ns()
            fresh = store.origins.get(node)
            is_found = fresh is not None and fresh is not origin and fresh[2]
            tracer.valid.add(entry)
            tracer.unread.add(entry)
            if is_known:
                is_equal = is_same(before, value)
            else:
                tracer.known.add(entry)
            return value
        finally:
            del stack[depth:]
            own = end - start - running.inside
            above = tracer.running(me)
            reader = None if above is None else above.entry
            reads = tracer._kept_once(entry, running.reads)
            how = (is_equal, is_found, error, reader)
            tracer._note((COMPUTED, start, me, tracer.names, entry, end, own, reads, *how))
            if depth:  # with what it took to note this, which is not the reader's own time either
                stack[-1].inside += perf_counter_ns() - start


def is_same(one: Any, other: Any) -> bool | None:
    """Return whether two values are the same; None if it is not known.

    Quick for numbers and small arrays. The same object may have been changed in place, unless it is
    immutable.
    """
    kind = type(one)
    if kind is float and type(other) is float:
        return bool(one == other or (one != one and other != other))  # noqa: PLR0124  # NaN
    if one is other:
        is_fixed = kind in IMMUTABLE or (kind is np.ndarray and not one.flags.writeable)
        return True if is_fixed else None
    if kind is not type(other):
        return False
    if kind is int or kind is str:
        return bool(one == other)
    if kind is np.ndarray and one.nbytes <= SMALL and not one.dtype.hasobject:
        same_form = one.shape == other.shape and one.dtype == other.dtype
        return bool(same_form and one.tobytes() == other.tobytes())
    try:
        return same(one, other) if kind in CONTAINERS or _is_told_apart(one) else None
    except Exception:  # whatever its own comparison raises
        return None


def _is_told_apart(value: object) -> bool:
    """Return True if `same` looks into a value; one that cannot be pickled equals anything."""
    try:
        value.__reduce_ex__(4)
    except Exception:
        return False
    return True
