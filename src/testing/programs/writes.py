"""Operations that write: single variables, vectors, and the time."""

from typing import Any, Final

import numpy as np
from attrs import frozen

from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.values.values import IMMUTABLE
from stagecache.state.vectors.vectors import CONTINUOUS, VECTORS
from stagecache.testing.items import TIME, Item, blocks_of, has_item
from stagecache.testing.oracle.comparison import copied, written
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.run import Run

KINDS: Final = {kind.name: kind for kind in VECTORS if kind.is_variable}
STEP: Final = 0.01


@frozen
class Related:
    """Placeholder of a value that is related to the present value of a variable."""

    name: str

    def to(self, present: Any) -> Any:
        """Return the related value; the present one, if its type has no such value."""
        if self is OTHER and isinstance(present, bool):
            return not present
        if self is NEAR and isinstance(present, float):
            return round(present + STEP, 6)
        if self is NEAR and isinstance(present, np.ndarray) and present.dtype.kind == "f":
            return np.round(present + STEP, 6)
        return copied(present)

    def __repr__(self) -> str:
        return self.name


PRESENT: Final = Related("PRESENT")
OTHER: Final = Related("OTHER")
NEAR: Final = Related("NEAR")


@frozen
class SetVariable(AbstractOperation):
    """Write of a discrete variable, or of a block of q, u or z.

    Attributes
    ----------
    value : object
        For a block, numbers that are repeated to its size.
    in_place : bool
        True to write through ``upd``, if the value can be changed.
    """

    item: Item
    value: Any
    in_place: bool = False

    def is_possible(self, run: Run) -> bool:
        """Return True if the State has the variable, and programs can name it."""
        state = run.state(self.where)
        if not has_item(state, self.item):
            return False
        if self.item.kind == "discrete":
            return True
        handle = self.item.handle(state)
        has_values = state.stage >= Stage.MODEL and state._contents.place(handle)
        return bool(has_values) and run.names.item(handle) is not None

    def code(self, run: Run) -> str:
        """``pendulum.angle.set(state, 0.5)``."""
        state, name = run.state(self.where), run.name(self.where)
        handle = self.item.handle(state)
        item, value = run.names.get(handle, name), self._value(state)
        if self._is_in_place(state, value):
            if isinstance(value, np.ndarray):
                return f"{item}.upd({name})[...] = {_shown(value)}"
            return f"{item}.upd({name})[:] = {_shown(value)}"
        shown = f"{item}({name})" if self.value is PRESENT else _shown(value)
        return f"{item}.set({name}, {shown})"

    def apply(self, run: Run) -> None:
        """Perform the write."""
        state = run.state(self.where)
        handle, value = self.item.handle(state), self._value(state)
        if self._is_in_place(state, value):
            handle.upd(state)[... if isinstance(value, np.ndarray) else slice(None)] = value
        else:
            handle.set(state, value)

    def written(self, run: Run) -> list[Item | str]:  # noqa: ARG002  # others need it
        """Return the variable."""
        return [self.item]

    def _value(self, state: State) -> Any:
        handle = self.item.handle(state)
        present = handle(state)
        if isinstance(self.value, Related):
            return self.value.to(present)
        if self.item.kind == "discrete":
            return copied(self.value)
        if isinstance(present, float):
            return float(self.value[0])
        return np.resize(self.value, present.shape)

    def _is_in_place(self, state: State, value: Any) -> bool:
        if not self.in_place or type(value) in IMMUTABLE:
            return False
        if isinstance(value, np.ndarray):
            present = self.item.handle(state)(state)
            return value.shape == present.shape and value.dtype == present.dtype and value.ndim > 0
        return type(value) is list


@frozen
class SetVector(AbstractOperation):
    """Write of all y, q, u or z, or of weights, or of the part of a subsystem.

    Attributes
    ----------
    name : str
    subsystem : int or None
    blocks : tuple of (Item, tuple of float)
        Numbers for some blocks of q, u and z; the others keep theirs.
    values : tuple of float
        For weights, numbers that are repeated to their count.
    """

    name: str
    subsystem: int | None = None
    blocks: tuple[tuple[Item, tuple[float, ...]], ...] = ()
    values: tuple[float, ...] = ()
    in_place: bool = False

    def is_possible(self, run: Run) -> bool:
        """Return True if the vector exists, and is not empty."""
        state, kind = run.state(self.where), KINDS[self.name]
        if state.stage < kind.exists:
            return False
        if self.subsystem is not None and state[self.subsystem].stage < kind.exists:
            return False
        return len(self._present(state)) > 0

    def code(self, run: Run) -> str:
        """``state.q = [0.5]``."""
        state, name = run.state(self.where), run.name(self.where)
        if self.subsystem is not None:
            name = f"{name}[{run.names.subsystems[self.subsystem]}]"
        target = f"{name}.upd_{self.name}()[:]" if self.in_place else f"{name}.{self.name}"
        return f"{target} = {_shown(self._value(state).tolist())}"

    def apply(self, run: Run) -> None:
        """Perform the write."""
        state = run.state(self.where)
        values = self._value(state)
        owner: Any = state if self.subsystem is None else state[self.subsystem]
        if self.in_place:
            getattr(owner, f"upd_{self.name}")()[:] = values
        else:
            setattr(owner, self.name, values)

    def written(self, run: Run) -> list[Item | str]:
        """Return the blocks, or the weights."""
        if self.name in CONTINUOUS or self.name == "y":
            return [item for item, _ in self._blocks(run.state(self.where))]
        return [self.name]

    def _blocks(self, state: State) -> list[tuple[Item, Any]]:
        kinds = CONTINUOUS if self.name == "y" else (self.name,)
        return [pair for kind in kinds for pair in blocks_of(state, kind, self.subsystem)]

    def _present(self, state: State) -> Vector:
        return state._contents.pools.view(KINDS[self.name], self.subsystem)

    def _value(self, state: State) -> Vector:
        values = self._present(state).copy()
        if self.name not in CONTINUOUS and self.name != "y":
            return np.resize(self.values, values.shape)
        given, start = dict(self.blocks), 0
        for item, block in self._blocks(state):
            place = state._contents.place(block)
            stop = start + place.stop - place.start
            if item in given and stop > start:
                values[start:stop] = np.resize(given[item], stop - start)
            start = stop
        return values


@frozen
class SetTime(AbstractOperation):
    """Write of the time."""

    time: float
    by_handle: bool = False

    def code(self, run: Run) -> str:
        """``state.time = 0.5``."""
        name = run.name(self.where)
        if self.by_handle:
            return f"system.time.set({name}, {self.time!r})"
        return f"{name}.time = {self.time!r}"

    def apply(self, run: Run) -> None:
        """Perform the write."""
        state = run.state(self.where)
        if self.by_handle:
            run.system.time.set(state, self.time)
        else:
            state.time = self.time

    def written(self, run: Run) -> list[Item | str]:  # noqa: ARG002  # others need it
        """Return the time."""
        return [TIME]


def _shown(value: Any) -> str:
    return written(value) or repr(value)
