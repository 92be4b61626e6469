"""The follower of a State: sums of all that happens to it and its copies, and what is new of it.

::

    threads of the model  --records-->  list  --glance()-->  sums, statuses  -->  update
      nothing more is done there                in the thread of the feed, at most 20 times a second

A follower is a log of tracers, so counts and times are those of a trace. Statuses, versions and
values are not added up: each glance looks at all nodes, and tells those that are not as they were
told last. So whatever is missed while a State changes under its eyes, the next glance finds; once
nothing happens any more, the last one has told all.

Of several States, one is shown: the last one in which something happened, until nothing happens in
it between two glances, while something happens in another.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from math import isfinite, nan
from threading import RLock, get_ident
from time import monotonic, perf_counter_ns
from typing import Any, Final, final

from attrs import define, frozen

from stagecache.inspection.graph_view import graph_view
from stagecache.inspection.node_paths import NodePaths
from stagecache.inspection.node_states import NodeStates
from stagecache.inspection.trace.tracer import COMPUTED, HIT, WRITTEN, Record
from stagecache.live.gate import Gate
from stagecache.state.contents.contents import Contents
from stagecache.views.view import GraphView

MOST_RECORDS: Final = 1 << 17
"""Records that wait to be counted; the thread that adds more counts them."""

MOST_WAITS: Final = 1 << 10
"""Waits of a thread that are remembered: those inside computations that have not ended."""

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
    """Place of a node: its number in the view, its node in the State, and its kind."""

    number: int
    node: int
    kind: str


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
    follow : callable
        Called with each copy of a State that is followed, to follow it, too.
    contents : Contents, optional
        Contents of the State that is shown first; without it, the first one in which something
        happens.

    Attributes
    ----------
    is_over : bool
        True if nothing more is noted.
    num_computed, num_written : int
        Numbers of computations and writes so far, in all States.
    """

    def __init__(
        self,
        title: str,
        gate: Gate,
        follow: Callable[[Any], object],
        contents: Contents | None = None,
    ) -> None:
        self._title = title
        self._gate = gate
        self._follow = follow
        self.is_over = False
        self.num_computed = 0
        self.num_written = 0
        self._records: list[Record] = []
        self._waits: dict[int, deque[tuple[int, int]]] = {}  # starts and lengths, by thread
        self._looking = RLock()  # what is below
        self._shown = contents
        self._system = None if contents is None else contents.system
        self._keys: list[Any] = []  # of the nodes that the State had when its view was made
        self._view = GraphView((), ())
        self._places: dict[str, Place] = {}
        self._tallies: dict[str, Tally] = {}
        self._computed: set[str] = set()
        self._written: set[str] = set()
        self._view_told: GraphView | None = None
        self._nodes_told: dict[int, dict[str, Any]] = {}
        self._state_told: Update = {}
        self._next_look = 0.0
        self._looks = ENOUGH  # that are due

    # ------------------------------------------------------------------ a log

    def halt(self) -> None:
        """Wait at the gate."""
        if self._gate.is_shut:
            start = perf_counter_ns()
            waited = self._gate.pass_through()
            if waited:
                waits = self._waits.setdefault(get_ident(), deque(maxlen=MOST_WAITS))
                waits.append((start, waited))

    def copied(self, twin: Any) -> None:
        """Follow a copy."""
        if not self.is_over:
            self._follow(twin)

    def add(self, record: Record) -> None:
        """Take a record; any thread may."""
        kind = record[0]
        if kind == HIT or self.is_over:
            return
        if kind == COMPUTED:
            if self._gate.is_shut:
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
            if all(record[3].contents is not self._shown for record in records):
                self._show(records[-1][3].contents)
        self._look()
        for record in records:
            kind, _, _, tracer, item = record[:5]
            self.num_computed += kind == COMPUTED
            self.num_written += kind == WRITTEN
            if tracer.contents.system is not self._system:
                continue
            if kind == COMPUTED:
                path = tracer.path(item)
                self._tally(path).nanoseconds += record[5] - record[1]
                self._computed.add(path)
            elif kind == WRITTEN:
                for path in record[9].parts:
                    if path in self._places and self._places[path].kind == "variable":
                        self._tally(path)
                        self._written.add(path)

    def _tally(self, path: str) -> Tally:
        """Count one more, and return the sums."""
        found = self._tallies.setdefault(path, Tally())
        found.count += 1
        return found

    def _show(self, contents: Contents) -> None:
        """Show another State from now on, with the sums of its System."""
        if contents.system is not self._system:
            self._system = contents.system
            self._tallies.clear()
            self._computed.clear()
            self._written.clear()
        self._shown = contents

    def _look(self) -> None:
        """Make the view anew if the nodes of the State are others."""
        contents = self._shown
        if contents is None or self._keys == contents.realization.store.keys:
            return
        keys = contents.realization.store.keys
        found = list(keys)
        view = graph_view(contents, self._title)
        node_of = NodePaths(contents).node
        self._places = {
            info.path: Place(number, node_of[info.path], info.kind)
            for number, info in enumerate(view.nodes)
            if info.path in node_of
        }
        self._view = view
        self._keys = found

    # ------------------------------------------------------------------ news

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
            time : float or None
                Time of the State.
            state : str
                "running", "paused" or "ended".
        """
        with self._looking:
            self._count()
            state = self._state()
            is_told = state["state"] == self._state_told.get("state")
            if is_told and not self._looks and monotonic() < self._next_look:
                return None
            is_other = self._view is not self._view_told
            nodes = dict(self._changed({} if is_other else self._nodes_told))
            computed, written = self._numbers(self._computed), self._numbers(self._written)
            # The State may have failed to be looked at until here; then all is told the next time.
            self._looks = max(self._looks - 1, 0)
            self._next_look = monotonic() + SELDOM
            self._computed.clear()
            self._written.clear()
            if not (nodes or computed or written or is_other) and state == self._state_told:
                return None
            self._nodes_told = nodes if is_other else self._nodes_told | nodes
            self._state_told = state
            self._view_told = self._view
            return News(self._view if is_other else None, _update(nodes, computed, written, state))

    def everything(self) -> News:
        """Return all that was told so far, as if it was new."""
        with self._looking:
            if self._view_told is None:
                self.glance()
            return News(self._view, _update(self._nodes_told, [], [], self._state_told))

    def _changed(self, told: Mapping[int, dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield what is to be told of nodes that are not as they were told last."""
        if self._shown is None:
            return
        states = NodeStates(self._shown)
        for path, place in self._places.items():
            status, version = states.status(place.node), states.version(place.node)
            tally = self._tallies.get(path, NOTHING)
            last = told.get(place.number)
            is_same = last is not None and last["status"] == status and last["version"] == version
            if last is None or not is_same or last["count"] != tally.count:
                yield (
                    place.number,
                    {
                        "status": str(status),
                        "version": version,
                        "value": last["value"] if last and is_same else states.value(place.node),
                        "count": tally.count,
                        "seconds": tally.nanoseconds * NS if tally.nanoseconds else None,
                    },
                )

    def _numbers(self, paths: set[str]) -> list[int]:
        return sorted([self._places[path].number for path in paths if path in self._places])

    @property
    def state(self) -> str:
        """One of "running", "paused" and "ended"."""
        return "ended" if self.is_over else "paused" if self._gate.is_shut else "running"

    def _state(self) -> Update:
        time = nan if self._shown is None else self._shown.time
        return {"time": time if isfinite(time) else None, "state": self.state}


def _update(
    nodes: Mapping[int, dict[str, Any]], computed: list[int], written: list[int], state: Update
) -> Update:
    named = {str(number): told for number, told in nodes.items()}
    return {"nodes": named, "computed": computed, "written": written, **state}
