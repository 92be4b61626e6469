"""Reading and writing the vectors of a State, and the time.

A write goes in this order: what is refused is refused; then all that depends on the variable is
made stale; then the value changes. So nothing stale passes for valid, even if Control-C strikes in
between.
"""

from numpy.typing import ArrayLike

from stagecache.errors import StagecacheError
from stagecache.state.conversion import FLOAT, converted
from stagecache.state.handles import AbstractHandle, ContinuousVariable, Vector
from stagecache.state.refusals import too_low
from stagecache.state.stage import Stage, check_stage
from stagecache.state.staged import EMPTY, INSTANCE, MODEL, TIME, TOPOLOGY, AbstractStaged
from stagecache.state.vectors import CONTINUOUS, VectorKind


class AbstractVectorAccess(AbstractStaged):
    """What is in a State, as far as vectors go, the system's or a subsystem's."""

    __slots__ = ()

    def view(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """A read-only view of a vector."""
        if self.stage_of(subsystem) < kind.read:
            at = self.stage_of(subsystem)
            raise too_low(self._title(kind, subsystem), kind.read, self.who(subsystem), at)
        if self.realization.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        return self.pools.view(kind, subsystem)

    def upd(self, kind: VectorKind, subsystem: int | None) -> Vector:
        """Write access to a vector."""
        if self.realization.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        if kind.invalidates is not None:
            self._count_write(kind, subsystem)
        return self.pools.writable_view(kind, subsystem, self.stage_of(subsystem))

    def assign_vector(self, kind: VectorKind, subsystem: int | None, values: ArrayLike) -> None:
        """Write all values of a variable."""
        if self.realization.stage < kind.exists:
            raise self._not_there(kind, subsystem)
        title = self._title(kind, subsystem)
        array = converted(values, FLOAT, self.pools.view(kind, subsystem).shape, title)
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
        return self.pools.writable_triggers(stage, subsystem, self.stage_of(subsystem))

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
        array = converted(values, FLOAT, (variable.size,), self.realization.layout.path(variable))
        self._count_write_of_block(kind, variable)
        self.pools.write(kind, variable.subsystem, array, variable.index)

    def _count_write_of_block(self, kind: VectorKind, block: ContinuousVariable) -> None:
        assert kind.invalidates is not None
        written = self.realization.layout.write_set_of_block(block)
        self.invalidate(kind.invalidates, block, written)

    # ------------------------------------------------------------------ time

    def set_time(self, time: object, variable: AbstractHandle) -> None:
        """Write the time."""
        self.require(variable)
        self.require_stage(TOPOLOGY, None, "time")
        value = float(converted(time, FLOAT, (), "time"))
        self.invalidate(TIME, variable, (variable._node,))
        self.time = value

    def get_time(self, variable: AbstractHandle) -> float:
        """The time, at any stage."""
        self.require(variable)
        return self.time
