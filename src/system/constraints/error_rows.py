"""Rows of qerr, uerr and udoterr: what all declarations of constraints have in common.

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
        """That of its level."""
        return LEVELS[self.kind.name]

    def stack(self, layout: SubsystemLayout) -> list[Rows]:
        """The rows of a subsystem's errors of that level."""
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
        """Which rows are these, of each of its levels' that of the first."""
        return self.slot_in(self.kind, subsystem)

    def slot_in(self, kind: VectorKind, subsystem: Any) -> int:
        """Which rows of a level's are these."""
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
    """What is computed for each row of errors that another declaration allocates.

    Attributes
    ----------
    group : str
        Those of one group, of all subsystems, are computed together; "" if it is computed alone.
    below : str
        The declaration that those of a group are computed from; "" without a group.
    """

    group = ""
    below = ""

    def allocated(self, subsystem: Any) -> AbstractErrorRows:
        """The errors to which it belongs, in the concrete class."""
        assert self.of is not None
        errors = type(subsystem).declarations[self.of.name]
        assert isinstance(errors, AbstractErrorRows)
        return errors

    def slot(self, subsystem: Any) -> int:
        """Which rows of the level are those of the errors."""
        return self.allocated(subsystem).slot_in(self.kind, subsystem)

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Whether that one has rows of this level, above its first."""
        return isinstance(declared, AbstractErrorRows) and self.kind in declared.kinds[1:]


def entry_of(subsystem: Any, name: str) -> CacheEntry[Any]:
    """The handle of what a class declares under a name, be it that of an attribute or not."""
    handle: AbstractHandle = type(subsystem).declarations[name].bound(subsystem)
    assert isinstance(handle, CacheEntry)
    return handle


def roles_of(
    errors: AbstractErrorRows, found: Mapping[str, AbstractDeclaration[Any]]
) -> dict[str, AbstractDeclaration[Any]]:
    """What belongs to errors, among all that their class declares, by its role."""
    return {
        declared.role: declared
        for declared in found.values()
        if declared.of is not None and declared.of.name == errors.name
    }
