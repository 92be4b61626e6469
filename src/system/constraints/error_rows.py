"""Rows of qerr, uerr and udoterr: the common part of all declarations of constraints.

A constraint has a slot in the stack of each of its levels, in the order of declaration::

    slots of qerr      rod, stop
    slots of uerr      slip, rod, stop
    slots of udoterr   slip, rod, stop, push
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from stagecache.state.allocation import Attempt, allocate_errors
from stagecache.state.handles import AbstractHandle, CacheEntry
from stagecache.state.items.layout import Rows, SubsystemLayout, resize
from stagecache.state.vectors.vectors import VectorKind
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.declare.rows import AbstractAllocatedRows, AbstractRows

LEVELS: Final = {
    "qerr": "position_error",
    "uerr": "velocity_error",
    "udoterr": "acceleration_error",
}


class AbstractErrors(AbstractRows):
    """Declared errors of one level."""

    kind: VectorKind

    @property
    def decorator(self) -> str:
        """Name of the decorator of its level."""
        return LEVELS[self.kind.name]

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """Return the rows of a subsystem's errors of that level."""
        return layout.rows[self.kind.name]

    def _fill(self, handle: Any) -> Callable[[Any], None] | None:
        x, slot, kind = handle._owner.index, self.slot(handle._owner), self.kind
        name = kind.name

        def fill(state: Any) -> None:
            contents = state._contents
            rows = contents.realization.layout.subsystems[x].rows[name][slot]
            contents.pools.write_rows(kind, x, rows.start, handle(state))

        return fill


class AbstractErrorRows(AbstractErrors, AbstractAllocatedRows):
    """Declared errors of a constraint, from its first level on, which allocate their rows.

    Attributes
    ----------
    kinds : tuple of VectorKind
        The levels: qerr, uerr and udoterr for a position error, ...
    """

    kinds: tuple[VectorKind, ...]

    def slot(self, subsystem: Any) -> int:
        """Return the slot of these rows at the first of its levels."""
        return self.slot_in(self.kind, subsystem)

    def slot_in(self, kind: VectorKind, subsystem: Any) -> int:
        """Return the slot of these rows at a level."""
        return self._slot_among(
            subsystem, lambda d: isinstance(d, AbstractErrorRows) and kind in d.kinds
        )

    def _allocate_rows(self, what: Attempt, count: int | None) -> None:
        for kind in self.kinds:
            allocate_errors(what, kind.name, count)

    def _resize(self, layout: SubsystemLayout, subsystem: Any, count: int) -> None:
        for kind in self.kinds:
            resize(layout.rows[kind.name], self.slot_in(kind, subsystem), count)


class AbstractCompanion(AbstractErrors):
    """A declared computation for each row of errors that another declaration allocates.

    Attributes
    ----------
    group : str
        Those of one group, of all subsystems, are computed together; "" if it is computed alone.
    below : str
        The name of the declaration from which it is computed, in a group; else "".
    """

    group = ""
    below = ""

    def allocated(self, subsystem: Any) -> AbstractErrorRows:
        """Return the errors to which it belongs, in the concrete class."""
        assert self.of is not None
        errors = type(subsystem).declarations[self.of.name]
        assert isinstance(errors, AbstractErrorRows)
        return errors

    def slot(self, subsystem: Any) -> int:
        """Return the slot of the errors at the level."""
        return self.allocated(subsystem).slot_in(self.kind, subsystem)

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether that declaration has rows of this level, above its first."""
        return isinstance(declared, AbstractErrorRows) and self.kind in declared.kinds[1:]


def entry_of(subsystem: Any, name: str) -> CacheEntry[Any]:
    """Return the handle of the entry that a class declares under a name, with or without a dot."""
    handle: AbstractHandle = type(subsystem).declarations[name].bound(subsystem)
    assert isinstance(handle, CacheEntry)
    return handle


def roles_of(
    errors: AbstractErrorRows, found: Mapping[str, AbstractDeclaration[Any]]
) -> dict[str, AbstractDeclaration[Any]]:
    """Return the declarations that belong to errors, by role, among those of their class."""
    return {
        declared.role: declared
        for declared in found.values()
        if declared.of is not None and declared.of.name == errors.name
    }
