"""Reads of the computations of a State or a Graph, as strict mode notes them."""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, final

from attrs import frozen

from stagecache.display.words import counted
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle
from stagecache.state.items.layout import Layout
from stagecache.state.stage import Stage

NO_ITEMS: frozenset[Any] = frozenset()


@frozen
class UndeclaredRead:
    """A read of something whose change would leave the value of the entry as it is."""

    entry: Any
    """The entry that was being computed."""

    item: Any
    """The item that its computation has read."""

    file: str
    line: int

    hint: str
    """The declaration that is missing."""


@frozen
class OverDeclared:
    """A declared prerequisite that no computation of the entry has read."""

    entry: Any
    prerequisite: Any


@final
class ReadLog:
    """Reads of computations, from the beginning of a block to its end.

    Several threads may write into one log.
    """

    def __init__(
        self, *, is_raising: bool = True, is_verifying: bool = False, is_permanent: bool = False
    ) -> None:
        self._is_raising = is_raising
        self._is_verifying = is_verifying
        self._is_permanent = is_permanent
        self._reads: dict[Any, dict[Any, int]] = {}
        self._declared: dict[Any, tuple[Any, ...]] = {}
        self._undeclared: dict[UndeclaredRead, None] = {}
        self._writing = Lock()

    def of(self, entry: Any) -> frozenset[Any]:
        """Return the items that the computations of an entry have read so far.

        Variables and entries are handles; a vector of variables is the handle of the whole, and y
        is the handles of q, u and z; other vectors, and numbers of items, are the stage that
        guarantees them.
        """
        with self._writing:
            return frozenset(self._reads.get(entry, NO_ITEMS))

    @property
    def undeclared(self) -> tuple[UndeclaredRead, ...]:
        """Reads that are not covered by the declarations of their entries, each place once."""
        with self._writing:
            return tuple(self._undeclared)

    def over_declared(self) -> tuple[OverDeclared, ...]:
        """Return prerequisites that were not read, of the entries that were computed."""
        with self._writing:
            return tuple(
                OverDeclared(entry, prerequisite)
                for entry, declared in self._declared.items()
                for prerequisite in declared
                if not _is_read(prerequisite, self._reads.get(entry, NO_ITEMS))
            )

    def __repr__(self) -> str:
        with self._writing:
            return (
                f"ReadLog({counted(len(self._declared), 'entry')} computed, "
                f"{counted(len(self._undeclared), 'undeclared read')})"
            )

    # ------------------------------------------------------------------ notes of a watch

    def _add_read(self, entry: Any, item: Any, version: int | None) -> None:
        """Record a read; the version is None if the read verifies an earlier value."""
        with self._writing:
            reads = self._reads.setdefault(entry, {})
            if version is None:
                reads.setdefault(item, 0)
            else:
                reads[item] = version

    def _add_version(self, entry: Any, item: Any, version: int) -> None:
        """Record the version of an entry that was computed for a read, if that is recorded."""
        with self._writing:
            reads = self._reads.get(entry, {})
            if item in reads:
                reads[item] = version

    def _add_undeclared(self, read: UndeclaredRead) -> None:
        with self._writing:
            self._undeclared[read] = None

    def _keep(self, is_there: Callable[[Any], bool]) -> None:
        """Forget all items but those that are still there, and undeclared reads."""
        with self._writing:
            self._undeclared.clear()
            self._declared = {e: declared for e, declared in self._declared.items() if is_there(e)}
            self._reads = {
                entry: {i: v for i, v in reads.items() if isinstance(i, Stage) or is_there(i)}
                for entry, reads in self._reads.items()
                if is_there(entry)
            }

    def _add_computed(self, entry: Any, declared: tuple[Any, ...]) -> None:
        with self._writing:
            self._declared[entry] = declared

    def _version_read(self, entry: Any, item: Any) -> int:
        """Return the version of an item when an entry last read it; 0 if not known."""
        with self._writing:
            return self._reads.get(entry, {}).get(item, 0)


def _is_read(prerequisite: Any, reads: Iterable[Any]) -> bool:
    """Return True if a prerequisite was read, or a part of it, or a whole that has it."""
    if not isinstance(prerequisite, AbstractContinuousVariable):
        return prerequisite in reads
    return any(
        item is prerequisite
        or (isinstance(item, AbstractContinuousVariable) and overlap(item, prerequisite))
        for item in reads
    )


def path_of(layout: Layout, handle: AbstractHandle) -> str:
    """Return the name of an item, or of a subsystem's q, u or z, in messages."""
    if isinstance(handle, AbstractContinuousVariable) and handle.slot < 0:
        return handle.kind + (
            "" if handle.subsystem is None else f" of {layout.label(handle.subsystem)}"
        )
    return layout.path(handle)


def overlap(one: AbstractContinuousVariable, other: AbstractContinuousVariable) -> bool:
    """Return True if two different handles of q, u or z have items in common."""
    if one.kind != other.kind:
        return False
    if one.subsystem is None or other.subsystem is None:
        return True
    return one.subsystem == other.subsystem and (one.slot < 0 or other.slot < 0)
