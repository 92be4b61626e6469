"""The follower of a State: sums of all that happens to it and its copies, and what is new of it.

::

    threads of the model  --records-->  list  --glance()-->  sums, statuses  -->  update
      nothing more is done there                in the thread of the feed, at most 20 times a second

A follower is a log of tracers, so counts and times are those of a trace. Statuses, versions and
values are not added up: each glance looks at all nodes, and tells those that are not as they were
told last. So whatever is missed while a State changes under its eyes, the next glance finds; once
nothing happens any more, the last one has told all.

Of several States, one is shown: the last one in which something happened. One that takes turns with
others stays, as the State that an integrator advances, and that in which it interpolates.

Reasons why entries are not valid take longer to find than statuses. While something runs, they are
told of the entries that pages ask for; at the end, of all.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from math import isfinite, nan
from threading import Lock, RLock, get_ident
from time import monotonic, perf_counter_ns
from typing import Any, Final, final
from weakref import WeakKeyDictionary, WeakSet, ref

from attrs import define, frozen

from stagecache.inspection.explain.reasons import StateReasons
from stagecache.inspection.graph_view import graph_view
from stagecache.inspection.hook_graph import HookGraph
from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.node_states import NodeStates
from stagecache.inspection.reads import RecordedHooks
from stagecache.inspection.trace.names import Names
from stagecache.inspection.trace.trace import begin_tracing, end_tracing
from stagecache.inspection.trace.tracer import COMPUTED, HIT, WRITTEN, Record
from stagecache.live.gate import Gate
from stagecache.state.contents.contents import Contents
from stagecache.views.formats.page_data import reasons_data
from stagecache.views.view import GraphView

MOST_RECORDS: Final = 1 << 17
"""Records that wait to be counted; the thread that adds more counts them."""

MOST_WAITS: Final = 1 << 10
"""Waits of a thread that are remembered: those inside computations that have not ended."""

MOST_ASKED: Final = 8
"""Nodes whose reasons are told while something runs: the last ones that pages asked for."""

SELDOM: Final = 0.5
"""Seconds between two looks at nodes while nothing is noted."""

ENOUGH: Final = 2
"""Looks at nodes after a record: it may come before the operation of which it tells has ended."""

NS: Final = 1e-9

Update = dict[str, Any]
"""News for the page, as JSON: see `Follower.glance`."""


@define
class Tally:
    """Sums of one entry or variable."""

    count: int = 0
    nanoseconds: int = 0


NOTHING: Final = Tally()


@frozen
class Place:
    """Place of a node of the view.

    Attributes
    ----------
    number : int
        Number in the view.
    kind : str
    node : int or None
        Node in the State; None for a computed vector.
    vector : (VectorKind, int or None) or None
        The vector, and the subsystem whose part it is.
    """

    number: int
    kind: str
    node: int | None
    vector: Any


@frozen
class Known:
    """A State that is followed, and its System."""

    state: ref[Any]
    system: object


@frozen
class News:
    """News since the last glance.

    Attributes
    ----------
    view : GraphView or None
        The graph, if its nodes are others now; `update` is about these.
    update : dict
    """

    view: GraphView | None
    update: Update


@final
class Follower:
    """A log that is told what happens to a State and to its copies, and sums it up.

    Parameters
    ----------
    title : str
        Title of the page.
    gate : Gate
        Where threads wait while the State is paused.

    Attributes
    ----------
    num_computed, num_written : int
        Numbers of computations and writes so far, in all States.
    """

    def __init__(self, title: str, gate: Gate) -> None:
        self.start = perf_counter_ns()
        self._title = title
        self._gate = gate
        self.num_computed = 0
        self.num_written = 0
        self._following = Lock()  # the next three
        self._is_over = False
        self._followed: WeakSet[Any] = WeakSet()  # States
        self._known: WeakKeyDictionary[Names, Known] = WeakKeyDictionary()
        self._records: list[Record] = []
        self._waits: dict[int, deque[tuple[int, int]]] = {}  # starts and lengths, by thread
        self._latest: tuple[Names | None, Any] = (None, None)  # where something happened last
        self._looking = RLock()  # what is below
        self._shown: tuple[Names | None, Any] = (None, None)
        self._system: object = None
        self._hooks: tuple[object, RecordedHooks] = (None, RecordedHooks())  # of a System
        self._keys: list[Any] = []  # of the nodes that the State had when its view was made
        self._view = GraphView((), ())
        self._places: dict[str, Place] = {}
        self._tallies: dict[str, Tally] = {}
        self._computed: set[str] = set()
        self._written: set[str] = set()
        self._asked: deque[str] = deque(maxlen=MOST_ASKED)  # paths
        self._view_told: GraphView | None = None
        self._nodes_told: dict[int, dict[str, Any]] = {}
        self._reasons_told: Update = {}
        self._state_told: Update = {}
        self._next_look = 0.0
        self._is_other_state = False  # since the last look at nodes
        self._looks = ENOUGH  # that are due

    # ------------------------------------------------------------------ States

    def learn_hooks(self, state: Any) -> None:
        """Show the hooks of a System, which run on a copy of a State the first time."""
        with self._looking:
            self._hooks = state.system, state._recorded_hooks()

    def begin(self, state: Any) -> None:
        """Follow a State, unless it is followed already; the first one is shown."""
        if state in self._followed:
            return
        names = begin_tracing(state, self).names
        self.follow(state, names)
        with self._looking:
            if self._shown[1] is None:
                self._show(names, state)

    def follow(self, state: Any, names: Names) -> bool:
        """Take records of a copy from now on; return False if following has ended."""
        with self._following:
            if not self._is_over:
                self._followed.add(state)
                self._known[names] = Known(ref(state), state.system)
            return not self._is_over

    def end(self) -> None:
        """Take no records any more. A last glance is due, and then `release`."""
        with self._following:
            self._is_over = True

    def release(self) -> None:
        """Follow and hold no State any more; what was told stays. It may be done twice."""
        for state in list(self._followed):
            end_tracing(state, self)
        with self._looking:
            self._latest = self._shown = (None, None)

    # ------------------------------------------------------------------ a log

    def halt(self) -> None:
        """Wait at the gate."""
        if self._gate.is_shut:
            start = perf_counter_ns()
            waited = self._gate.pass_through()
            if waited:
                waits = self._waits.setdefault(get_ident(), deque(maxlen=MOST_WAITS))
                waits.append((start, waited))

    def add(self, record: Record) -> None:
        """Take a record; any thread may."""
        kind = record[0]
        if kind == HIT or self._is_over:
            return
        if record[3] is not self._latest[0]:
            known = self._known.get(record[3])
            self._latest = record[3], None if known is None else known.state()
        if kind == COMPUTED:
            if self._gate.is_shut:
                self.halt()  # the step may have ended with a computation inside of this one
                self._gate.count_computation()
            if self._waits:
                record = self._without_waits(record)
        self._records.append(record)
        if len(self._records) > MOST_RECORDS:
            self.count()

    def _without_waits(self, record: Record) -> Record:
        """Return the record of a computation as if its thread had not waited at the gate in it."""
        start, thread, end = record[1], record[2], record[5]
        for begin, waited in reversed(self._waits.get(thread, ())):
            if begin < start:
                break
            end -= waited
        return (*record[:5], end, *record[6:])

    # ------------------------------------------------------------------ sums

    def count(self) -> None:
        """Count the records that have come in."""
        with self._looking:
            self._count()

    def _count(self) -> None:
        records = self._records[:]
        del self._records[: len(records)]
        if records:
            self._looks = ENOUGH
            all_names = [record[3] for record in records]
            latest, state = self._latest
            if latest in all_names and self._shown[0] not in all_names[all_names.index(latest) :]:
                self._show(latest, state)
        self._look()
        for record in records:
            kind, _, _, names, item = record[:5]
            is_computed = kind == COMPUTED and not record[9]  # a shared value is found elsewhere
            self.num_computed += is_computed
            self.num_written += kind == WRITTEN
            known = self._known.get(names)
            if known is None or known.system is not self._system:
                continue
            if kind == COMPUTED:
                path = names.path(item)
                tally = self._tallies.setdefault(path, Tally())
                tally.count += is_computed
                tally.nanoseconds += record[5] - record[1]
                self._computed.add(path)
            elif kind == WRITTEN:
                for path in record[9].parts:
                    if path in self._places and self._places[path].kind == "variable":
                        self._tallies.setdefault(path, Tally()).count += 1
                        self._written.add(path)

    def _show(self, names: Names | None, state: Any) -> None:
        """Show another State from now on, with the sums of its System."""
        if state is None:
            return
        if state.system is not self._system:
            self._system = state.system
            self._tallies.clear()
            self._computed.clear()
            self._written.clear()
        self._shown = names, state
        self._is_other_state = True

    @property
    def _contents(self) -> Contents | None:
        state = self._shown[1]
        return None if state is None else state._contents

    def _look(self) -> None:
        """Make the view anew if the nodes of the State are others."""
        contents = self._contents
        if contents is None or self._keys == contents.realization.store.keys:
            return
        keys = contents.realization.store.keys
        found = list(keys)
        system, hooks = self._hooks
        recorded = hooks if system is self._system else RecordedHooks()
        view = graph_view(contents, self._title, recorded)
        paths = NodePaths(contents)
        vectors = HookGraph(contents, paths, recorded).vectors
        self._places = {
            info.path: Place(number, info.kind, paths.node.get(info.path), vectors.get(info.path))
            for number, info in enumerate(view.nodes)
            if info.kind != "hook"
        }
        self._view = view
        self._keys = found

    # ------------------------------------------------------------------ news

    def explain(self, number: int) -> None:
        """Tell why a node that was told of is not valid, from the next glance on."""
        with self._looking:
            told = () if self._view_told is None else self._view_told.nodes
            if number < len(told):
                path = told[number].path
                if path in self._asked:
                    self._asked.remove(path)
                self._asked.append(path)
                self._looks = max(self._looks, 1)

    def glance(self) -> News | None:
        """Return what is new since the last glance, or None.

        Returns
        -------
        News
            With an update, which has

            nodes : dict of str to dict
                The status, version, value, count and seconds of each node that has changed, by
                its number in the view. The count is the number of computations of an entry, and
                of writes of a variable; seconds are the sum of all its computations.
            computed, written : list of int
                Numbers of the nodes that were.
            reasons : dict
                Why entries are not valid now, as a page has it: of those that were asked for, and
                of all at the end.
            time : float or None
                Time of the State.
            state : str
                "running", "paused" or "ended".
        """
        with self._looking:
            name = self.state  # first: where it is the end, all is counted
            self._count()
            state = {"time": self._time(), "state": name}
            is_told = state["state"] == self._state_told.get("state")
            if is_told and not self._looks and monotonic() < self._next_look:
                return None
            is_other = self._view is not self._view_told
            nodes = dict(self._changed({} if is_other else self._nodes_told))
            found = self._reasons()
            computed, written = self._numbers(self._computed), self._numbers(self._written)
            # The State may have failed to be looked at until here; then all is told the next time.
            self._is_other_state = False
            self._looks = max(self._looks - 1, 0)
            self._next_look = monotonic() + SELDOM
            self._computed.clear()
            self._written.clear()
            is_same = found == self._reasons_told and state == self._state_told
            if is_same and not (nodes or computed or written or is_other):
                return None
            self._nodes_told = nodes if is_other else self._nodes_told | nodes
            self._reasons_told = found
            self._state_told = state
            self._view_told = self._view
            update = _update(nodes, computed, written, found, state)
            return News(self._view if is_other else None, update)

    def everything(self) -> News:
        """Return all that was told so far, as if it was new."""
        with self._looking:
            if self._view_told is None:
                self.glance()
            update = _update(self._nodes_told, [], [], self._reasons_told, self._state_told)
            return News(self._view_told, update)

    def _changed(self, told: Mapping[int, dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield what is to be told of nodes that are not as they were told last."""
        contents = self._contents
        if contents is None:
            return
        states = NodeStates(contents)
        for path, place in self._places.items():
            if place.node is None:
                status, version = states.status_of_vector(*place.vector), None
            else:
                status, version = states.status(place.node), states.version(place.node)
            tally = self._tallies.get(path, NOTHING)
            last = told.get(place.number)
            is_same = last is not None and last["status"] == status and last["version"] == version
            if is_same and last and place.kind != "variable" and not self._is_other_state:
                value = last["value"]
            else:  # values of variables may be written in place, later than the version
                value = "" if place.node is None else states.value(place.node)
            seconds = tally.nanoseconds * NS if tally.nanoseconds else None
            now = {"status": str(status), "version": version, "value": value}
            now |= {"count": tally.count, "seconds": seconds}
            if now != last:
                yield place.number, now

    def _reasons(self) -> Update:
        contents = self._contents
        if contents is None:
            return self._reasons_told
        nodes = None if self._is_over else self._asked_and_not_valid(contents)
        if nodes == []:
            return {}
        return reasons_data(self._view, StateReasons(contents, NodePaths(contents)).found(nodes))

    def _asked_and_not_valid(self, contents: Contents) -> list[int]:
        store = contents.realization.store
        places = [self._places[path] for path in self._asked if path in self._places]
        nodes = [place.node for place in places if place.kind == "entry"]
        return [node for node in nodes if node is not None and not store.is_valid(node)]

    def _numbers(self, paths: set[str]) -> list[int]:
        return sorted([self._places[path].number for path in paths if path in self._places])

    @property
    def state(self) -> str:
        """One of "running", "paused" and "ended"."""
        return "ended" if self._is_over else "paused" if self._gate.is_shut else "running"

    def _time(self) -> float | None:
        contents = self._contents
        time = nan if contents is None else contents.time
        return time if isfinite(time) else None


def _update(
    nodes: Mapping[int, dict[str, Any]],
    computed: list[int],
    written: list[int],
    reasons: Update,
    state: Update,
) -> Update:
    named = {str(number): told for number, told in nodes.items()}
    flashes = {"computed": computed, "written": written}
    return {"nodes": named, **flashes, "reasons": reasons, **state}
