"""Declared computations of rows of a vector of the State.

They are cache entries. When the stage to which they belong is realized, they are computed, and
their values are put into the vector.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stagecache.checks import require_count
from stagecache.numerics.matrices import vector_of
from stagecache.state.allocation import Attempt
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractHandle, Vector
from stagecache.state.items.layout import Rows, SubsystemLayout, resize
from stagecache.state.stage import Stage
from stagecache.system.declare.computations import AbstractComputation
from stagecache.system.declare.declaration import declared_attempt
from stagecache.system.declare.enabling import is_enabled

Compute = Callable[[Any, Any], ArrayLike]
Size = int | Callable[[Any, Any], int]


class AbstractRows(AbstractComputation[Vector]):
    """A declared computation of rows of a vector of the State."""

    def allocated(self, subsystem: Any) -> "AbstractAllocatedRows":
        """Return the declaration that allocates the rows, in the concrete class."""
        raise NotImplementedError

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """Return the rows of a subsystem's part of the vector to which the values go."""
        raise NotImplementedError

    def slot(self, subsystem: Any) -> int:
        """Return the index of these rows among them."""
        raise NotImplementedError

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Vector]:
        subsystem = handle._owner
        compute, slot, x = self.compute, self.slot(subsystem), subsystem.index

        def computed(state: Any) -> Any:
            count = self.stack(state._contents.realization.layout.subsystems[x])[slot].count
            if not count:  # they are switched off, or size= says so
                return np.empty(0)
            values: Any = compute(subsystem, state)
            if type(values) is float and count == 1:  # as most of them
                return np.array((values,))
            hint = "return as many, or declare another size"
            return vector_of(values, count, handle, "size= says", hint)

        return computed

    def _lowest(self, subsystem: Any) -> Stage:
        """Return Instance, if that stage decides on the number of rows."""
        return self.allocated(subsystem).known_from


class AbstractAllocatedRows(AbstractRows):
    """A declared computation that allocates its rows.

    Attributes
    ----------
    size : int or callable
        The number of rows, or a function ``(self, state)`` of parameters that returns it.
    """

    size: Size
    sized_at = Stage.INSTANCE

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate the rows; none yet, if each State decides on their number."""
        what = declared_attempt(contents, handle)
        self._allocate_rows(what, self._fixed_size())

    def allocated(self, subsystem: Any) -> "AbstractAllocatedRows":  # noqa: ARG002  # others need it
        """Return this declaration."""
        return self

    @property
    def known_from(self) -> Stage:
        """First stage at which a State has a known number of rows."""
        return Stage.INSTANCE if self._fixed_size() is None else Stage.TOPOLOGY

    def _fixed_size(self) -> int | None:
        """Return the number of rows that every State has; None if they differ."""
        return None if callable(self.size) or self.enabled is not None else self.size

    def sizing(self, handle: Any) -> Callable[[Any], None] | None:
        """Let a State say how many rows there are. Cost O(rows after them) where that changed."""
        subsystem = handle._owner
        if self._fixed_size() is not None:
            return None
        slot, x = self.slot(subsystem), subsystem.index

        def size(state: Any) -> None:
            count = 0
            if is_enabled(self.enabled, subsystem, state):
                count = self._count(subsystem, state, f"the size of {handle}")
            realization = state._contents.realization
            rows = self.stack(realization.layout.subsystems[x])[slot]
            if rows.count != count:  # else the layout stays shared with other States
                self._resize(realization.own_subsystem(x), subsystem, count)

        return size

    def _count(self, subsystem: Any, state: Any, what: str) -> int:
        if not callable(self.size):
            return self.size
        try:
            found = self.size(subsystem, state)
        except Exception as error:
            error.add_note(f"while {what} was asked for")
            raise
        return require_count(found, 0, what)

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        raise NotImplementedError

    def _resize(self, layout: SubsystemLayout, subsystem: Any, count: int) -> None:
        resize(self.stack(layout), self.slot(subsystem), count)

    def _slot_among(self, subsystem: Any, same: Callable[[Any], bool]) -> int:
        """Count the declarations before it that allocate rows in the same stack."""
        declarations = subsystem.declarations
        names = list(declarations)
        return sum(same(declarations[name]) for name in names[: names.index(self.name)])
