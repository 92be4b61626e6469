"""Declared computations of rows of a vector of the State.

They are cache entries. When the stage to which they belong is realized, they are computed, and
their values are put into the vector.
"""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from stagecache.errors import ShapeError, brief
from stagecache.state.allocation import Attempt
from stagecache.state.contents import Contents
from stagecache.state.conversion import FLOAT, converted
from stagecache.state.handles import AbstractHandle, Vector
from stagecache.state.layout import Rows, SubsystemLayout, resize
from stagecache.state.refusals import check_count
from stagecache.system.computations import AbstractComputation, refused_none
from stagecache.system.declaration import declared_attempt

Compute = Callable[[Any, Any], ArrayLike]
Size = int | Callable[[Any, Any], int]


class AbstractRows(AbstractComputation[Vector]):
    """A declared computation of rows of a vector of the State."""

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """The rows of a subsystem's part of the vector to which the values go."""
        raise NotImplementedError

    def slot(self, subsystem: Any) -> int:
        """Which of them are these."""
        raise NotImplementedError

    def _write(self, contents: Contents, subsystem: int, start: int, values: Vector) -> None:
        raise NotImplementedError

    def _function(self, handle: AbstractHandle) -> Callable[[Any], Vector]:
        subsystem = handle._owner
        compute, slot, x = self.compute, self.slot(subsystem), subsystem.index

        def computed(state: Any) -> Any:
            values: Any = compute(subsystem, state)
            if values is None:
                raise refused_none(str(handle))
            count = self.stack(state._contents.realization.layout.subsystems[x])[slot].count
            vector = converted(values, FLOAT, None, f"the values of {handle}")
            if vector.size != count or vector.ndim > 1:
                raise ShapeError(
                    f"{handle}: its computation returned values of another shape",
                    f"{count} of them, as size= says",
                    f"{brief(values)}, of shape {vector.shape}",
                    "return as many, or declare another size",
                )
            return vector.reshape(count)

        return computed

    def _fill(self, handle: Any) -> Callable[[Any], None]:
        x, slot = handle._owner.index, self.slot(handle._owner)

        def fill(state: Any) -> None:
            contents = state._contents
            rows = self.stack(contents.realization.layout.subsystems[x])[slot]
            self._write(contents, x, rows.start, handle(state))

        return fill


class AbstractAllocatedRows(AbstractRows):
    """One that allocates its rows.

    Attributes
    ----------
    size : int or callable
        How many rows there are, or a function ``(self, state)`` of modeling options that tells.
    """

    size: Size

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate the rows; none yet, if a State has to be asked how many."""
        what = declared_attempt(contents, handle)
        self._allocate_rows(what, None if callable(self.size) else self.size)

    def sizing(self, handle: Any) -> Callable[[Any], None] | None:
        """Let the function say how many rows there are."""
        function, subsystem = self.size, handle._owner
        if not callable(function):
            return None

        def size(state: Any) -> None:
            what = f"the size of {handle}"
            try:
                found = function(subsystem, state)
            except Exception as error:
                error.add_note(f"while {what} was asked for")
                raise
            count = check_count(found, 0, what)
            self._resize(
                state._contents.realization.own_subsystem(subsystem.index), subsystem, count
            )

        return size

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        raise NotImplementedError

    def _resize(self, layout: SubsystemLayout, subsystem: Any, count: int) -> None:
        resize(self.stack(layout), self.slot(subsystem), count)

    def _slot_among(self, subsystem: Any, same: Callable[[Any], bool]) -> int:
        """How many declarations come before it, of those that allocate rows in the same stack."""
        declarations = type(subsystem).declarations
        names = list(declarations)
        return sum(same(declarations[name]) for name in names[: names.index(self.name)])
