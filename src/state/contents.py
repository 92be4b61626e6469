"""All that is in a State: `State` is a view of the whole of it, `SubsystemState` of a part.

A write of a variable goes in this order: what is refused is refused; then all that depends on the
variable is made stale; then the value changes. So nothing stale passes for valid, even if
Control-C strikes in between.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import (
    ForeignNodeError,
    NotANumberError,
    PrerequisiteStageError,
    ShapeError,
    StagecacheError,
    StageOrderError,
    UnknownItemError,
    brief,
)
from stagecache.graph.evaluation import Arguments, no_function
from stagecache.graph.store import SHUT
from stagecache.state.explanation import why_unrealized
from stagecache.state.handles import (
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    Vector,
)
from stagecache.state.pools import Pools
from stagecache.state.realization import Realization
from stagecache.state.refusals import too_low
from stagecache.state.stage import Stage, check_stage
from stagecache.state.values import duplicates, kept, seal
from stagecache.state.vectors import CONTINUOUS, VectorKind

EMPTY, TOPOLOGY, MODEL, INSTANCE, TIME = list(Stage)[:5]
NAN = float("nan")


class Contents:
    """Realization, vectors and values of one State.

    Attributes
    ----------
    realization : Realization
    pools : Pools
    time : float
        NaN before Topology is realized.
    update_times : dict of int to float
        By node of a discrete variable: when it was last written; not there if it never was.
    """

    __slots__ = ("pools", "realization", "time", "update_times")

    def __init__(self, realization: Realization) -> None:
        self.realization = realization
        self.pools = Pools()
        self.time = NAN
        self.update_times: dict[int, float] = {}

    # ------------------------------------------------------------------ copies

    def copy(self, bind: Callable[[int], Arguments]) -> "Contents":
        """Return those of a copy of the State; `State.copy` says what comes along."""
        self._refuse_dangling()
        twin = Contents(self.realization.copy(bind))
        store = twin.realization.store
        store.values = duplicates(store.values)
        twin.pools = self.pools.copy()
        twin.time = self.time
        twin.update_times = self.update_times.copy()
        return twin

    def assign(self, other: "Contents") -> None:
        """Become `other`, which nobody else has; version numbers exceed those of both before."""
        other.realization.exceed(self.realization)
        self.pools.assign(other.pools)
        self.realization = other.realization
        self.time = other.time
        self.update_times = other.update_times

    def _refuse_dangling(self) -> None:
        """Refuse a copy in which something would depend on what is left out of it."""
        realization = self.realization
        structure = realization.store.structure
        left_out = realization.left_out()
        for x, subsystem in enumerate(realization.layout.subsystems):
            for handle in subsystem.items() if left_out[x] < INSTANCE else ():
                if handle.allocated_at < left_out[x]:
                    continue
                for node in structure.dependents[handle._node]:
                    entry = structure.keys[node]
                    assert isinstance(entry, CacheEntry)
                    if entry.allocated_at < left_out[entry.subsystem or 0]:
                        path = realization.layout.path(handle)
                        raise PrerequisiteStageError(
                            f"{path}: would not be in the copy, but what depends on it would",
                            "a subsystem that has advanced over what others depend on",
                            f"{realization.layout.path(entry)} depends on it; it was allocated "
                            f"at {handle.allocated_at}, where its subsystem still is",
                            "advance that subsystem one stage, then copy",
                        )

    # ------------------------------------------------------------------ stages

    def stage_of(self, subsystem: int | None) -> int:
        """The stage of a subsystem, or of the system."""
        realization = self.realization
        return realization.stage if subsystem is None else realization.stages[subsystem]

    def who(self, subsystem: int | None) -> str:
        """What messages call it."""
        return self.realization.layout.label(subsystem)

    def require_stage(self, needed: int, subsystem: int | None, what: str) -> None:
        """Raise `StageTooLowError` unless the system, or a subsystem, has reached that stage."""
        if self.stage_of(subsystem) < needed:
            raise too_low(what, needed, self.who(subsystem), self.stage_of(subsystem))

    def advance(self, stage: Stage, subsystem: int | None) -> None:
        """Let a subsystem, or the system, reach the stage after its present one."""
        realization = self.realization
        at = self.stage_of(subsystem)
        if stage != at + 1:
            raise StageOrderError(
                f"{self.who(subsystem)}: cannot advance to {stage}",
                f"one stage at a time: {Stage(min(at + 1, Stage.INFINITY))}",
                f"{stage}, at {Stage(at)}",
                "realize the stages in between first"
                if stage > at
                else "call invalidate_all() to go back",
            )
        if subsystem is None:
            for x, reached in enumerate(realization.stages):
                if reached < stage:
                    raise StageOrderError(
                        f"the system: cannot advance to {stage}",
                        "all subsystems there",
                        f"{self.who(x)} at {Stage(reached)}",
                        "advance the subsystems first",
                    )
        if subsystem is not None:
            self.pools.seal_reached(stage, subsystem)
            realization.advance_subsystem(subsystem, stage)
            return
        if stage == TOPOLOGY:
            realization.store.write(realization.layout.variables["time"]._node)
            self.time = 0.0
        if stage in (MODEL, INSTANCE):
            self.pools.allocate(stage, realization.layout)
        self.pools.seal_reached(stage, None)
        if stage == MODEL:
            realization.store.touch_all(realization.layout.write_set("y", None))
        realization.advance_system(stage)

    def invalidate(self, stage: Stage, cause: object, written: Sequence[int] = ()) -> None:
        """Count a change of a stage, and of the sources written; back up before the stage.

        Parameters
        ----------
        cause : object
            The handle of what was written, or text that says what happened.
        written : sequence of int
            Nodes; each has a new version.
        """
        realization = self.realization
        realization.touch(stage, cause, written)
        if realization.is_beyond(stage - 1):
            if stage <= INSTANCE:
                self._drop(stage)
            realization.back_up(stage - 1)

    def invalidate_explicitly(self, stage: Stage) -> None:
        """The same without a write; does nothing if nobody is at that stage."""
        if self.realization.is_beyond(stage - 1):
            self.invalidate(stage, f"invalidate_all({stage})")

    def _drop(self, stage: Stage) -> None:
        """Drop the values that are there only once `stage`, Instance or before, is realized."""
        realization = self.realization
        if realization.stage < stage:
            return
        if stage <= MODEL <= realization.stage:
            realization.store.write_all(realization.layout.write_set("y", None))
        self.pools.drop(stage)
        if stage <= TOPOLOGY:
            realization.store.write(realization.layout.variables["time"]._node)
            self.time = NAN

    # ------------------------------------------------------------------ vectors

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """A read-only view of a vector."""
        realization = self.realization
        at = realization.stage
        if subsystem is not None:
            if at < kind.exists:
                raise self._not_there(kind, subsystem)
            at = realization.stages[subsystem]
        if at < kind.read:
            raise too_low(self._title(kind, subsystem), kind.read, self.who(subsystem), at)
        return self.pools.view(kind, subsystem)

    def upd(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Write access to a vector."""
        if self.realization.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        if kind.invalidates is not None:
            self._count_write(kind, subsystem)
        return self.pools.writable_view(kind, subsystem)

    def assign_vector(self, kind: VectorKind, subsystem: int | None, values: ArrayLike) -> None:
        """Write all values of a variable."""
        if self.realization.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        title = self._title(kind, subsystem)
        array = numbers(values, self.pools.view(kind, subsystem).shape, title)
        self._count_write(kind, subsystem)
        self.pools.write(kind, subsystem, array)

    def _not_there(self, kind: VectorKind, subsystem: int | None) -> StagecacheError:
        at = self.realization.stage
        return too_low(self._title(kind, subsystem), kind.exists, "the system", at)

    def _count_write(self, kind: VectorKind, subsystem: int | None) -> None:
        layout = self.realization.layout
        assert kind.invalidates is not None
        written = layout.write_set(kind.name, subsystem)
        if subsystem is None:
            cause = layout.variables.get(kind.name, kind.name)
        else:
            cause = layout.subsystems[subsystem].whole.get(kind.name, self._title(kind, subsystem))
        self.invalidate(kind.invalidates, cause, written)

    def _title(self, kind: VectorKind, subsystem: int | None) -> str:
        return kind.name if subsystem is None else f"{kind.name} of {self.who(subsystem)}"

    def size(self, part: str, subsystem: int | None) -> int:
        """The number of items of a part of the vectors: "q", "qerr", ..."""
        self._require_part(part, f"the number of {part}", subsystem)
        return self.pools.size(part, subsystem)

    def start(self, part: str, subsystem: int | None) -> int:
        """Where it starts."""
        self._require_part(part, f"the start of {part}", subsystem)
        return self.pools.start(part, subsystem)

    def _require_part(self, part: str, what: str, subsystem: int | None) -> None:
        exists = MODEL if part in CONTINUOUS else INSTANCE
        if self.realization.stage < exists:
            if subsystem is not None:
                what = f"{what} of {self.who(subsystem)}"
            raise too_low(what, exists, "the system", self.realization.stage)

    # ------------------------------------------------------------------ event triggers

    def triggers(self, stage: Stage, subsystem: int | None) -> Vector:
        """A read-only view of the event triggers of a stage."""
        what = f"event triggers of stage {stage}"
        stage = check_stage(stage, EMPTY, Stage.INFINITY, what)
        self.require_stage(INSTANCE, None, what)
        self.require_stage(stage, subsystem, what)
        return self.pools.whole["event_triggers"][self.pools.trigger_slice(stage, subsystem)]

    def upd_triggers(self, stage: Stage, subsystem: int | None) -> Vector:
        """A writable view of them."""
        what = f"event triggers of stage {stage}"
        stage = check_stage(stage, EMPTY, Stage.INFINITY, what)
        self.require_stage(INSTANCE, None, what)
        return self.pools.writable_triggers(stage, subsystem)

    def num_triggers(self, stage: Stage, subsystem: int | None) -> int:
        """How many there are."""
        part = self._trigger_slice(stage, subsystem)
        return part.stop - part.start  # type: ignore[no-any-return]  # two integers

    def trigger_start(self, stage: Stage, subsystem: int | None) -> int:
        """Where they start: the system's among all, a subsystem's among those of that stage."""
        part = self._trigger_slice(stage, subsystem)
        if subsystem is None:
            return part.start  # type: ignore[no-any-return]  # an integer
        return self.pools.trigger_starts[stage][subsystem]

    def _trigger_slice(self, stage: Stage, subsystem: int | None) -> slice:
        what = f"the number of event triggers of stage {stage}"
        stage = check_stage(stage, EMPTY, Stage.INFINITY, what)
        self.require_stage(INSTANCE, None, what)
        return self.pools.trigger_slice(stage, subsystem)

    # ------------------------------------------------------------------ blocks of q, u and z

    def get_block(self, variable: ContinuousVariable) -> Vector:
        """A read-only view of a block, or of a whole q, u or z."""
        self.require(variable)
        view = self.view(CONTINUOUS[variable.kind], variable.subsystem)
        if variable.size is None:
            return view
        return view[variable.index : variable.index + variable.size]

    def upd_block(self, variable: ContinuousVariable) -> Vector:
        """Write access to it."""
        self.require(variable)
        kind = CONTINUOUS[variable.kind]
        if variable.size is None or variable.subsystem is None:
            return self.upd(kind, variable.subsystem)
        if self.realization.stage < kind.exists:
            raise self._not_there(kind, variable.subsystem)
        self._count_write_of_block(kind, variable)
        start = variable.index
        return self.pools.writable_block(kind, variable.subsystem, start, start + variable.size)

    def set_block(self, variable: ContinuousVariable, values: ArrayLike) -> None:
        """Write all its values."""
        self.require(variable)
        kind = CONTINUOUS[variable.kind]
        if variable.size is None or variable.subsystem is None:
            self.assign_vector(kind, variable.subsystem, values)
            return
        if self.realization.stage < kind.exists:
            raise self._not_there(kind, variable.subsystem)
        array = numbers(values, (variable.size,), self.realization.layout.path(variable))
        self._count_write_of_block(kind, variable)
        self.pools.write(kind, variable.subsystem, array, variable.index)

    def _count_write_of_block(self, kind: VectorKind, block: ContinuousVariable) -> None:
        assert kind.invalidates is not None
        written = self.realization.layout.write_set_of_block(block)
        self.invalidate(kind.invalidates, block, written)

    # ------------------------------------------------------------------ time

    def set_time(self, time: object) -> None:
        """Write the time."""
        realization = self.realization
        self.require_stage(TOPOLOGY, None, "time")
        value = float(numbers(time, (), "time"))  # type: ignore[arg-type]  # is refused
        variable = realization.layout.variables["time"]
        self.invalidate(TIME, variable, (variable._node,))
        self.time = value

    def get_time(self, variable: AbstractHandle) -> float:
        """The time, at any stage."""
        self.require(variable)
        return self.time

    # ------------------------------------------------------------------ discrete variables

    def get_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value."""
        self.require(variable)
        return self.realization.store.values[variable._node]

    def update_time(self, variable: DiscreteVariable[Any]) -> float:
        """When it was last written; NaN if it never was."""
        return self.update_times.get(variable._node, NAN)

    def set_discrete(self, variable: DiscreteVariable[Any], value: object) -> None:
        """Replace the value."""
        self.require(variable)
        value = kept(value)
        self._count_write_of_discrete(variable)
        self.realization.store.values[variable._node] = value

    def upd_discrete(self, variable: DiscreteVariable[Any]) -> Any:
        """Return the value to be changed in place."""
        self.require(variable)
        self._count_write_of_discrete(variable)
        value = self._changeable(variable)
        if isinstance(value, np.ndarray):
            self.pools.writable[variable,] = value
        return value

    def _count_write_of_discrete(self, variable: DiscreteVariable[Any]) -> None:
        if variable.update is not None:
            self.realization.store.invalidate(variable.update._node)
        self.invalidate(variable.invalidates, variable, (variable._node,))
        self.update_times[variable._node] = self.time

    def auto_update(self) -> None:
        """Exchange each discrete variable with its update value, if that is realized."""
        store = self.realization.store
        due = [
            variable
            for subsystem in self.realization.layout.subsystems
            for variable in subsystem.discrete
            if variable.update is not None and store.is_valid(variable.update._node)
        ]
        self.pools.seal()
        for variable in due:
            assert variable.update is not None
            node, update = variable._node, variable.update._node
            seal(store.values[update])
            store.invalidate(update)
            store.write(node)
            store.values[node], store.values[update] = store.values[update], store.values[node]
            self.update_times[node] = self.time

    # ------------------------------------------------------------------ cache entries

    def read_unrealized(self, entry: CacheEntry[Any]) -> Any:
        """Compute an entry that is not valid, or raise what says why it cannot be read."""
        self.require(entry)
        realization = self.realization
        function = realization.layout.functions[entry._node]
        if function is no_function or realization.store.gates[entry._group] > SHUT:
            raise why_unrealized(realization, entry)
        if self.pools.writable:
            self.pools.seal()
        return realization.evaluator.evaluate(entry._node)

    def get_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value; never compute it."""
        self.require(entry)
        store = self.realization.store
        if not store.is_valid(entry._node):
            raise why_unrealized(self.realization, entry)
        return store.values[entry._node]

    def set_entry(self, entry: CacheEntry[Any], value: object) -> None:
        """Store a value, without saying that it is realized."""
        self.require(entry)
        self.realization.store.values[entry._node] = kept(value)

    def upd_entry(self, entry: CacheEntry[Any]) -> Any:
        """Return the value to be changed in place, realized or not."""
        self.require(entry)
        return self._changeable(entry)

    def is_realized(self, entry: CacheEntry[Any]) -> bool:
        """Whether the value is up to date."""
        self.require(entry)
        return self.realization.store.is_valid(entry._node)

    def mark(self, entry: CacheEntry[Any]) -> None:
        """Count the value as computed now."""
        self.require(entry)
        if self.realization.stages[entry.subsystem or 0] < entry.depends_on - 1:
            what = f"{self.realization.layout.path(entry)} to be marked as realized"
            self.require_stage(entry.depends_on - 1, entry.subsystem, what)
        if self.pools.writable:
            self.pools.seal()
        store = self.realization.store
        seal(store.values[entry._node])
        store.mark_valid(entry._node)

    def unmark(self, entry: CacheEntry[Any]) -> None:
        """Make it, and all that depends on it, unrealized."""
        self.require(entry)
        self.realization.store.invalidate(entry._node)

    def _changeable(self, item: AbstractHandle) -> Any:
        values = self.realization.store.values
        value = values[item._node]
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            value = values[item._node] = value.copy()  # copies of the State share the other
        return value

    # ------------------------------------------------------------------ handles

    def variable(self, name: str, subsystem: int | None) -> AbstractHandle:
        """The handle of the time, or of a whole q, u or z."""
        layout = self.realization.layout
        handles = layout.variables if subsystem is None else layout.subsystems[subsystem].whole
        if name not in handles:
            raise UnknownItemError(
                f"variable {brief(name)} of {self.who(subsystem)}: does not exist",
                "one of " + ", ".join(map(repr, handles)),
                brief(name),
                "use the handle that the allocating call returned for any other",
            )
        return handles[name]

    def require_of(self, handle: AbstractHandle, subsystem: int) -> None:
        """The same as `require`, for the handle of an item of that subsystem."""
        self.require(handle)
        if handle.subsystem != subsystem:
            raise UnknownItemError(
                f"{self.realization.layout.path(handle)}: belongs to another subsystem",
                f"an item of {self.who(subsystem)}",
                f"one of {self.who(handle.subsystem)}",
                f"use state[{handle.subsystem}]",
            )

    def require(self, handle: AbstractHandle) -> None:
        """Raise `ForeignNodeError` unless it is a handle of this State."""
        keys = self.realization.store.keys
        if handle._node < len(keys) and keys[handle._node] is handle:
            return
        raise ForeignNodeError(
            f"{handle!r}: is not in this State",
            "the handle of an item that was allocated in it, or in the State of which it is a copy",
            "one of another State, or of an item that was forgotten when the State backed up to "
            f"{handle.allocated_at} or below",
            "use the State in which it was allocated, or allocate the item here and use its handle",
        )

    def version(self, handle: AbstractHandle) -> int:
        """The number of the present value."""
        self.require(handle)
        return self.realization.store.versions[handle._node]

    def dependents(self, handle: AbstractHandle) -> tuple[CacheEntry[Any], ...]:
        """The entries that name it as a prerequisite, in order of subsystem and index."""
        self.require(handle)
        structure = self.realization.store.structure
        found = [structure.keys[node] for node in structure.dependents[handle._node]]
        entries = [entry for entry in found if isinstance(entry, CacheEntry)]
        return tuple(sorted(entries, key=lambda entry: (entry.subsystem, entry.index)))

    def prerequisites(self, entry: CacheEntry[Any]) -> tuple[AbstractHandle, ...]:
        """The variables and entries that it names."""
        self.require(entry)
        structure = self.realization.store.structure
        found = [structure.keys[node] for node in structure.prerequisites[entry._node]]
        return tuple([handle for handle in found if isinstance(handle, AbstractHandle)])


def numbers(values: ArrayLike, shape: tuple[int, ...], what: str) -> Vector:
    """Return real numbers of that shape as an array of floats.

    Raises
    ------
    NotANumberError, ShapeError
    """
    try:
        array = np.asarray(values)
    except ValueError:  # of lists of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "fiu" and array.size:
        raise NotANumberError(
            f"{what}: cannot be assigned",
            "real numbers",
            f"{brief(values)}, of type {type(values).__name__}",
            "convert it to an array of floats",
        )
    if array.shape != shape:
        raise ShapeError(
            f"{what}: cannot be assigned",
            f"an array of shape {shape}" if shape else "one number",
            f"one of shape {array.shape}",
            "assign all values at once; to write some of them, change what upd_...() returns",
        )
    return array.astype(np.float64)
