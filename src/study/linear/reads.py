r"""Reads of realizations: items that each hook and each computation has read and written.

A hook declares nothing, so a State is observed while it is realized::

    hook of cart at Acceleration  read    cart.force, cart.mass_matrix, q of wall
                                  wrote   udot of cart
    cart.mass_matrix              read    cart.position, cart.length

The calls of a schedule are wrapped, so a read outside of all computations belongs to the present
call. A read in a thread that a hook or a computation has begun belongs to everything that may wait
for it: the call, and the computations of all threads. A vector that is handed out for writing may
also be read, and counts as both.
"""

from collections.abc import Sequence
from threading import get_ident
from typing import Any, Final, final

from attrs import frozen

from stagecache.graph.observing import Act
from stagecache.inspection.strict.watch import being_computed
from stagecache.inspection.subject import StateSubject
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Item, Observer
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QDOT, UDOT, WEIGHTS, YDOT, ZDOT, VectorKind
from stagecache.system.core.realizing import NOTHING, Call, Schedule, Task

EVERYTHING: Final = Stage.REPORT
"""The stage that a write of any variable invalidates, or an earlier one."""

RATES: Final = ("qdot", "udot", "zdot")


@final
@frozen
class Step:
    """A step of a realization: a hook, or the entries that are due after it.

    Attributes
    ----------
    stage, subsystem : int
    is_hook : bool
    """

    stage: int
    subsystem: int
    is_hook: bool


@final
@frozen
class Rates:
    """The part of qdot, udot or zdot that belongs to a subsystem.

    Attributes
    ----------
    kind : str
    subsystem : int
    """

    kind: str
    subsystem: int


Key = AbstractHandle | Stage | Step | Rates
"""Something that is read or written, or that reads or writes."""

AT_ONCE: Final = Step(EVERYTHING, 0, is_hook=True)
"""The only step of a System with a `realize` of its own, which hides its steps."""


@final
class Reads:
    """Reads and writes of all realizations so far.

    Attributes
    ----------
    sources : dict
        By step or entry: the items that it has read.
    writers : dict
        By entry or part of ydot: the steps and entries that have written it by hand.
    step : Step or None
        The present step.
    thread : int
        The thread that calls the steps.
    """

    __slots__ = ("sources", "step", "thread", "writers")

    def __init__(self) -> None:
        self.sources: dict[Key, set[Key]] = {}
        self.writers: dict[Key, set[Key]] = {}
        self.step: Step | None = None
        self.thread = get_ident()

    @property
    def count(self) -> int:
        """Number of reads and writes, each counted once."""
        return sum(map(len, self.sources.values())) + sum(map(len, self.writers.values()))

    def noted(self, schedule: Schedule) -> Schedule:
        """Return a schedule with the same calls; each call reports when it begins and ends."""
        tasks: list[list[Task]] = [
            [
                (
                    x,
                    self._noted(reach, Step(stage, x, is_hook=True)),
                    None if after is None else self._noted(after, Step(stage, x, is_hook=False)),
                    opens,
                )
                for x, reach, after, opens in each
            ]
            for stage, each in enumerate(schedule.tasks)
        ]
        return Schedule(tasks, schedule.num_subsystems)

    def _noted(self, call: Call, step: Step) -> Call:
        if call is NOTHING:
            return call

        def noted(state: Any) -> None:
            self.step = step
            try:
                call(state)
            finally:
                self.step = None

        return noted


@final
class Reader(Observer):
    """An observer that notes the reads and writes of one State.

    Parameters
    ----------
    contents : Contents
        Contents of the State.
    reads : Reads
        The place for notes.
    """

    __slots__ = ("_contents", "_reads")

    def __init__(self, contents: Contents, reads: Reads) -> None:
        self._contents = contents
        self._reads = reads

    @property
    def _who(self) -> Sequence[Key]:
        """The entry or the step that reads now; in a thread that computes nothing, all of them."""
        entry = being_computed(StateSubject(self._contents))
        if entry is not None:
            return (entry,)
        step = self._reads.step
        own: list[Key] = [] if step is None else [step]
        if get_ident() != self._reads.thread:
            realization = self._contents.realization
            running = [realization.store.keys[x] for x in list(realization.evaluator.running)]
            own += [entry for entry in running if isinstance(entry, CacheEntry)]
        return own

    def _note(self, items: Sequence[Key]) -> None:
        for who in self._who:
            self._reads.sources.setdefault(who, set()).update(items)

    def _note_write(self, items: Sequence[Key]) -> None:
        for who in self._who:
            for item in items:
                self._reads.writers.setdefault(item, set()).add(who)

    def read(self, items: Sequence[Item], title: str) -> None:  # noqa: ARG002  # observers with messages need the title
        """Note a read of items; without items, a copy of the State, which reads everything."""
        self._note(items or (EVERYTHING,))

    def read_vector(self, kind: VectorKind, subsystem: int | None, title: str) -> None:  # noqa: ARG002  # observers with messages need the title
        """Note a read of a computed vector; weights do not depend on what is linearized."""
        if kind not in WEIGHTS:
            parts = self._parts(kind, subsystem)
            self._note(parts or (kind.read,))

    def read_valid(self, entry: CacheEntry[Any]) -> None:
        """Note a read of an entry."""
        self._note((entry,))

    def read_entry(self, entry: CacheEntry[Any], act: Act) -> Any:
        """Note a read of an entry, which may compute it."""
        self._note((entry,))
        return act()

    def handed_out(self, handle: AbstractHandle) -> None:
        """Note that a value may be changed in place."""
        self._note_write((handle,))

    def handed_out_vector(self, kind: VectorKind, subsystem: int | None) -> None:
        """Note that a vector may be read, and changed in place."""
        parts = self._parts(kind, subsystem)
        self._note(parts)
        self._note_write(parts)

    def _parts(self, kind: VectorKind, subsystem: int | None) -> tuple[Rates, ...]:
        """Return the parts of ydot in a vector; none if it is another one."""
        names = RATES if kind is YDOT else (kind.name,) if kind in (QDOT, UDOT, ZDOT) else ()
        every = range(len(self._contents.realization.machine.stages))
        return tuple(
            Rates(name, x) for name in names for x in (every if subsystem is None else (subsystem,))
        )
