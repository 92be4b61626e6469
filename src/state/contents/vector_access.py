"""Reading and writing the vectors of a State, and the time.

A write goes in this order: what is refused is refused; then all that depends on the variable is
made stale; then the value changes. So nothing stale passes for valid, even if Control-C strikes in
between.
"""

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import StagecacheError
from stagecache.state.contents.staged import (
    EMPTY,
    FROZEN,
    INSTANCE,
    MODEL,
    TIME,
    TOPOLOGY,
    AbstractStaged,
)
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, Vector
from stagecache.state.refusals import too_low
from stagecache.state.stage import Stage, check_stage
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.state.vectors.vectors import CONTINUOUS, VectorKind


class AbstractVectorAccess(AbstractStaged):
    """What is in a State, as far as vectors go, the system's or a subsystem's."""

    __slots__ = ()

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """A read-only view of a vector."""
        if self.stage_of(subsystem) < kind.read:
            at = self.stage_of(subsystem)
            raise too_low(self._title(kind, subsystem), kind.read, self.who(subsystem), at)
        if self.realization.machine.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        return self.pools.view(kind, subsystem)

    def upd(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Write access to a vector."""
        if self.realization.is_torn:
            self.mend()
        realization = self.realization
        if realization.machine.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        if kind.invalidates is not None:
            self._count_write(kind, subsystem)
        elif self.guard is FROZEN:
            self.require_unguarded(f"write access to {kind.name}")
        at = (
            realization.machine.stage
            if subsystem is None
            else realization.machine.stages[subsystem]
        )
        return self.pools.writable_view(kind, subsystem, at)

    def assign_vector(self, kind: VectorKind, subsystem: int | None, values: ArrayLike) -> None:
        """Write all values of a variable."""
        if self.realization.is_torn:
            self.mend()
        if self.realization.machine.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        shape = self.pools.view(kind, subsystem).shape
        if type(values) is np.ndarray and values.dtype is FLOAT and values.shape == shape:
            array = values
        else:
            array = converted(values, FLOAT, shape, self._title(kind, subsystem))
        self._count_write(kind, subsystem)
        self.pools.write(kind, subsystem, array)

    def _not_there(self, kind: VectorKind, subsystem: int | None) -> StagecacheError:
        at = self.realization.machine.stage
        return too_low(self._title(kind, subsystem), kind.exists, "the system", at)

    def _count_write(self, kind: VectorKind, subsystem: int | None) -> None:
        assert kind.invalidates is not None
        nodes, cause = self.realization.layout.write_set(kind, subsystem)
        self.invalidate(kind.invalidates, cause, nodes)

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
        if self.realization.is_torn:
            self.mend()
        if self.realization.machine.stage < exists:
            if subsystem is not None:
                what = f"{what} of {self.who(subsystem)}"
            raise too_low(what, exists, "the system", self.realization.machine.stage)

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
        self.require_not_frozen(f"write access to {what}")
        return self.pools.writable_triggers(stage, subsystem, self.stage_of(subsystem))

    def num_triggers(self, stage: Stage, subsystem: int | None) -> int:
        """How many there are."""
        part = self._trigger_slice(stage, subsystem)
        return part.stop - part.start  # type: ignore[no-any-return]  # two integers

    def num_all_triggers(self) -> int:
        """How many there are of all stages."""
        self.require_stage(INSTANCE, None, "the number of event triggers")
        return len(self.pools.whole["event_triggers"])

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

    def get_block(self, variable: AbstractContinuousVariable) -> Vector:
        """A read-only view of a block, or of a whole q, u or z."""
        return self.pools.y[self.place(variable)]

    def upd_block(self, variable: AbstractContinuousVariable) -> Vector:
        """Write access to it."""
        place = self.place(variable)
        kind = CONTINUOUS[variable.kind]
        if variable.slot < 0 or variable.subsystem is None:
            return self.upd(kind, variable.subsystem)
        self._count_write_of_block(kind, variable)
        return self.pools.writable_block(kind, variable.subsystem, place)

    def set_block(self, variable: AbstractContinuousVariable, values: ArrayLike) -> None:
        """Write all its values."""
        place = self.place(variable)
        shape = (place.stop - place.start,)
        self._write_block(variable, place, converted(values, FLOAT, shape, self._path(variable)))

    def set_scalar(self, variable: AbstractContinuousVariable, value: object) -> None:
        """Write its only value."""
        place = self.place(variable)
        if type(value) is not float:
            value = float(converted(value, FLOAT, (), self._path(variable)))
        self._write_block(variable, place, value)

    def place(self, variable: AbstractContinuousVariable) -> slice:
        """Where it lies in y."""
        self.require(variable)
        if self.realization.machine.stage < MODEL:
            raise self._not_there(CONTINUOUS[variable.kind], variable.subsystem)
        return self.pools.places[variable._node]

    def _write_block(
        self, variable: AbstractContinuousVariable, place: slice, values: Vector | float
    ) -> None:
        kind = CONTINUOUS[variable.kind]
        if variable.slot < 0 or variable.subsystem is None:
            self._count_write(kind, variable.subsystem)
        else:
            self._count_write_of_block(kind, variable)
        self.pools.write_y(place, values)

    def _count_write_of_block(self, kind: VectorKind, block: AbstractContinuousVariable) -> None:
        assert kind.invalidates is not None
        stage = kind.invalidates
        nodes = self.realization.layout.write_set_of_block(block, stage)
        self.invalidate(stage, block, nodes)

    def _path(self, variable: AbstractHandle) -> str:
        return self.realization.layout.path(variable)

    # ------------------------------------------------------------------ time

    def set_time(self, time: object, variable: AbstractHandle) -> None:
        """Write the time."""
        self.require(variable)
        self.require_stage(TOPOLOGY, None, "time")
        value = time if type(time) is float else float(converted(time, FLOAT, (), "time"))
        self.invalidate(TIME, variable, (self.realization.layout.stages[TIME], variable._node))
        self.time = value

    def get_time(self, variable: AbstractHandle) -> float:
        """The time, at any stage."""
        self.require(variable)
        return self.time

    def read_time(self) -> float:
        """The time, from Topology on."""
        self.require_stage(TOPOLOGY, None, "time")
        return self.time
