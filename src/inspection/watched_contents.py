"""The contents of a strict State: they note each read, and then do the same as any others."""

from typing import Any, final

from stagecache.inspection.strict.reads import Item
from stagecache.inspection.strict.watch import Watch
from stagecache.state.contents.contents import Contents
from stagecache.state.contents.staged import INSTANCE, MODEL
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    Vector,
)
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import CONTINUOUS, VectorKind


@final
class WatchedContents(Contents):
    """The same contents, all reads of which are watched.

    It says neither super() nor the name of a method of its own: another thread may put the class
    back while this one is in a method of it.
    """

    __slots__ = ()

    # ------------------------------------------------------------------ variables

    def get_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value."""
        value = Contents.get_discrete(self, variable)
        _read(self, variable)
        return value

    def update_time(self, variable: DiscreteVariable[Any]) -> float:
        """When it was last written; NaN if it never was."""
        _read(self, variable)
        return Contents.update_time(self, variable)

    def auto_update(self) -> None:
        """Exchange each discrete variable with its update value, if that is realized."""
        watch: Watch | None = self.watch
        if watch is None:
            Contents.auto_update(self)
        else:
            watch.compute(self, Contents.auto_update)

    def upd_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value to be changed in place."""
        value = Contents.upd_discrete(self, variable)
        _handed_out(self, variable)
        return value

    def get_block(self, variable: AbstractContinuousVariable) -> Vector:
        """A read-only view of a block, or of a whole q, u or z."""
        place = Contents.place(self, variable)
        _read(self, variable)
        return self.pools.y[place]

    def place(self, variable: AbstractContinuousVariable) -> slice:
        """Where it lies in y."""
        place = Contents.place(self, variable)
        _read(self, MODEL, title=f"the place of {variable}")
        return place

    def get_time(self, variable: AbstractHandle) -> float:
        """The time, at any stage."""
        time = Contents.get_time(self, variable)
        _read(self, variable)
        return time

    def read_time(self) -> float:
        """The time, from Topology on."""
        time = Contents.read_time(self)
        _read(self, self.realization.layout.variables["time"])
        return time

    def version(self, handle: AbstractHandle) -> int:
        """The number of the present value."""
        version = Contents.version(self, handle)
        _read(self, handle)
        return version

    # ------------------------------------------------------------------ vectors

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """A read-only view of a vector."""
        values = Contents.view(self, kind, subsystem)
        layout = self.realization.layout
        if kind.name in CONTINUOUS:
            whose = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
            _read(self, whose[kind.name])
        elif kind.name == "y":
            _read(self, *[layout.variables[part] for part in CONTINUOUS])
        else:
            stage = kind.read if kind.invalidates is None else kind.invalidates
            _read(self, stage, title=self._title(kind, subsystem))
        return values

    def size(self, part: str, subsystem: int | None) -> int:
        """The number of items of a part of the vectors: "q", "qerr", ..."""
        size = Contents.size(self, part, subsystem)
        _read(self, MODEL if part in CONTINUOUS else INSTANCE, title=f"the number of {part}")
        return size

    def start(self, part: str, subsystem: int | None) -> int:
        """Where it starts."""
        start = Contents.start(self, part, subsystem)
        _read(self, MODEL if part in CONTINUOUS else INSTANCE, title=f"the start of {part}")
        return start

    def triggers(self, stage: Stage, subsystem: int | None) -> Vector:
        """A read-only view of the event triggers of a stage."""
        values = Contents.triggers(self, stage, subsystem)
        _read(self, max(Stage(stage), INSTANCE), title=f"event triggers of stage {stage}")
        return values

    def num_triggers(self, stage: Stage, subsystem: int | None) -> int:
        """How many there are."""
        number = Contents.num_triggers(self, stage, subsystem)
        _read(self, INSTANCE, title="the number of event triggers")
        return number

    def num_all_triggers(self) -> int:
        """How many there are of all stages."""
        number = Contents.num_all_triggers(self)
        _read(self, INSTANCE, title="the number of event triggers")
        return number

    def trigger_start(self, stage: Stage, subsystem: int | None) -> int:
        """Where they start: the system's among all, a subsystem's among those of that stage."""
        start = Contents.trigger_start(self, stage, subsystem)
        _read(self, INSTANCE, title="the start of event triggers")
        return start

    # ------------------------------------------------------------------ cache entries

    def read_stale(self, entry: CacheEntry[Any]) -> Any:
        """Return the value of an entry, computing it if it is not valid."""
        self.require(entry)
        watch: Watch | None = self.watch
        if watch is None:  # another thread has just left
            return Contents.read_stale(self, entry)
        watch.read(self, (entry,))
        if not self.realization.store.is_valid(entry._node):
            value = watch.compute(self, Contents.read_stale, entry)
            watch.observe(self, entry)
            return value
        watch.verify(self, entry)
        return self.realization.store.values[entry._node]

    def get_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value; never compute it."""
        value = Contents.get_entry(self, entry)
        _read(self, entry)
        watch: Watch | None = self.watch
        if watch is not None:
            watch.verify(self, entry)
        return value

    def set_entry(self, entry: CacheEntry[Any], value: object) -> None:
        """Store a value, without saying that it is realized."""
        Contents.set_entry(self, entry, value)
        _handed_out(self, entry)

    def upd_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value to be changed in place, realized or not."""
        value = Contents.upd_entry(self, entry)
        _handed_out(self, entry)
        return value


# ---------------------------------------------------------------------- noting


def _read(contents: Contents, *items: Item, title: str = "") -> None:
    watch: Watch | None = contents.watch
    if watch is not None:
        watch.read(contents, items, title)


def _handed_out(contents: Contents, handle: AbstractHandle) -> None:
    watch: Watch | None = contents.watch
    if watch is not None:
        watch.handed_out(handle)
