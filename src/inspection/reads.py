r"""Reads of hooks: items that each hook and each computation has read and written in a run.

A hook declares nothing, so a State is observed while it is realized::

    hook of cart at Acceleration  read    cart.force, cart.mass_matrix, q of wall
                                  wrote   udot of cart
    cart.mass_matrix              read    cart.position, cart.length

The calls of a schedule are wrapped, so a read outside of all computations belongs to the present
call. A read in a thread that a hook or a computation has begun belongs to everything that may wait
for it: the call, and the computations of all threads. A vector that is handed out for writing may
also be read, and counts as both.
"""

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Final, final

from attrs import Factory, frozen

from stagecache.graph.observing import Act
from stagecache.graph.sources import NOWHERE, Source
from stagecache.inspection.strict.watch import being_computed
from stagecache.inspection.subject import StateSubject
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.observer import Item, Observer
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import VECTORS, VectorKind

EVERYTHING: Final = Stage.REPORT
"""The stage that a write of any variable invalidates, or an earlier one."""

RATES: Final = ("qdot", "udot", "zdot")
"""Parts of ydot."""

BOTH: Final = {"ydot": RATES, "yerr": ("qerr", "uerr")}
"""Vectors that consist of others."""

KINDS: Final = {kind.name: kind for kind in VECTORS}


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
class Listener:
    """A handler or a reporter of events.

    Attributes
    ----------
    event : str
        Name of the event.
    """

    event: str


@final
@frozen
class VectorPart:
    """The part of a computed vector, or of weights, that belongs to a subsystem.

    Attributes
    ----------
    kind : str
        Name of the vector: "udot", "qerr", "u_weights".
    subsystem : int
    """

    kind: str
    subsystem: int


Key = AbstractHandle | Stage | Step | Listener | VectorPart
"""Something that is read or written, or that reads or writes."""

AT_ONCE: Final = Step(EVERYTHING, 0, is_hook=True)
"""The only step of a System with a `realize` of its own, which hides its steps."""


@final
class Reads:
    """Reads and writes of all runs so far.

    Attributes
    ----------
    sources : dict
        By step or entry: the items that it has read.
    writers : dict
        By variable, entry or part of a vector: the steps and entries that have written it by hand.
    step : Step, Listener or None
        The present step.
    thread : int
        The thread that calls the steps.
    """

    __slots__ = ("sources", "step", "thread", "writers")

    def __init__(self) -> None:
        self.sources: dict[Key, set[Key]] = {}
        self.writers: dict[Key, set[Key]] = {}
        self.step: Step | Listener | None = None
        self.thread = get_ident()

    @property
    def count(self) -> int:
        """Number of reads and writes, each counted once."""
        return sum(map(len, self.sources.values())) + sum(map(len, self.writers.values()))

    def noted(self, call: Callable[[Any], Any], step: Step | Listener) -> Callable[[Any], Any]:
        """Return a call that does the same, and is the present step meanwhile."""

        def noted(state: Any) -> Any:
            before, self.step = self.step, step
            try:
                return call(state)
            finally:
                self.step = before

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
        """Note a read of a computed vector or of weights."""
        self._note(self._parts(kind, subsystem))

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
        self._note([part for part in parts if part.kind in RATES])
        self._note_write(parts)

    def write(self, cause: object, nodes: Sequence[int], act: Act) -> Any:  # noqa: ARG002  # other observers need the cause
        """Note a write of variables."""
        keys = self._contents.realization.store.keys
        self._note_write([key for n in nodes if isinstance(key := keys[n], AbstractHandle)])
        return act()

    def _parts(self, kind: VectorKind, subsystem: int | None) -> list[VectorPart]:
        """Return the parts of a vector."""
        every = range(len(self._contents.realization.machine.stages))
        return [
            VectorPart(name, x)
            for name in BOTH.get(kind.name, (kind.name,))
            for x in (every if subsystem is None else (subsystem,))
        ]


@final
@frozen
class Hook:
    """Code of a model that a stage or an event runs.

    Attributes
    ----------
    key : Step or Listener
        Its key in `Reads`.
    subsystem : int or None
        None for code of the whole System.
    name : str
        Name of the method; for the whole System, "dynamics", "handler NAME", and the like.
    variant : str
        "realize", "handler", "reporter" or "dynamics".
    stage : Stage
        The stage that it helps to reach; Report for listeners.
    source : (str, int)
        File and line.
    trigger : str
        Path of the entry whose change of sign calls it; "" without one.
    writes : tuple of str
        Vectors that it computes, apart from what is recorded.
    """

    key: Step | Listener
    subsystem: int | None
    name: str
    variant: str
    stage: Stage
    source: Source = NOWHERE
    trigger: str = ""
    writes: tuple[str, ...] = ()


@final
@frozen
class RecordedHooks:
    """Hooks of a System, with what they have read and written in runs.

    Attributes
    ----------
    hooks : tuple of Hook
    reads : Reads
    """

    hooks: tuple[Hook, ...] = ()
    reads: Reads = Factory(Reads)
