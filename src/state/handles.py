"""Handles: what stands for an item of a State in every State that has it.

A handle is const. It carries where an item is, never what it holds: ``tip(state)`` reads it in any
State in which it is. That is the State in which it was allocated, and its copies, until they back
up below the stage at which that was. Each State knows the handles of its items, so a handle that
does not belong to it is found out by one look into a list.
"""

from typing import Any, Final, Generic, NoReturn, Protocol, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.errors import HandleTruthError, NotAStateError, NotPicklableError, brief
from stagecache.graph.store import Store
from stagecache.state.stage import Stage

T = TypeVar("T")
Vector = NDArray[np.float64]

NOWHERE: Final = 1 << 60  # the node of a handle that is not allocated: no list is so long


class HoldsItems(Protocol):
    """What handles ask of the contents of a State."""

    def read_unrealized(self, entry: "CacheEntry[Any]") -> Any: ...
    def is_realized(self, entry: "CacheEntry[Any]") -> bool: ...
    def mark(self, entry: "CacheEntry[Any]") -> None: ...
    def unmark(self, entry: "CacheEntry[Any]") -> None: ...
    def get_discrete(self, variable: "DiscreteVariable[Any]") -> Any: ...
    def set_discrete(self, variable: "DiscreteVariable[Any]", value: object) -> None: ...
    def upd_discrete(self, variable: "DiscreteVariable[Any]") -> Any: ...
    def get_block(self, variable: "ContinuousVariable") -> Vector: ...
    def set_block(self, variable: "ContinuousVariable", values: ArrayLike) -> None: ...
    def upd_block(self, variable: "ContinuousVariable") -> Vector: ...
    def get_time(self, variable: "TimeVariable") -> float: ...
    def set_time(self, time: object, variable: "TimeVariable") -> None: ...
    def version(self, handle: "AbstractHandle") -> int: ...
    def dependents(self, handle: "AbstractHandle") -> "tuple[CacheEntry[Any], ...]": ...
    def prerequisites(self, entry: "CacheEntry[Any]") -> "tuple[AbstractHandle, ...]": ...


class AnyState(Protocol):
    """What handles need of a State."""

    @property
    def _store(self) -> Store: ...
    @property
    def _contents(self) -> HoldsItems: ...


class AbstractHandle:  # no ABC: a compiled class must not have a metaclass
    """An item of a State.

    Attributes
    ----------
    subsystem : int or None
        The index of the subsystem that has it; None for what the whole State has.
    index : int
        Its place among the items of its kind in the subsystem.
    allocated_at : Stage
        What stage the subsystem then had: Empty, Topology or Model.
    """

    __slots__ = ("_name", "_node", "_serial", "allocated_at", "index", "subsystem")

    def __init__(self, subsystem: int | None, index: int, allocated_at: Stage, name: str) -> None:
        self.subsystem = subsystem
        self.index = index
        self.allocated_at = allocated_at
        self._name = name
        self._node = NOWHERE
        self._serial = 0  # handles of one State are allocated in the order of these

    @property
    def name(self) -> str:
        """What it was called when it was allocated; if nothing, its kind and index."""
        return self._name or f"{self._kind()} {self.index}"

    def __call__(self, state: AnyState) -> Any:
        """Return the value."""
        raise NotImplementedError

    def version(self, state: AnyState) -> int:
        """The number of the present value: it rises with each, and none is given twice.

        A variable's rises with each write, that of an entry with each mark or computation.
        """
        return contents_of(state).version(self)

    def dependents(self, state: AnyState) -> "tuple[CacheEntry[Any], ...]":
        """The entries that name it as a prerequisite, in order of subsystem and index."""
        return contents_of(state).dependents(self)

    def _kind(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.name if self.subsystem is None else f"{self.name} of subsystem {self.subsystem}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> NoReturn:
        raise NotPicklableError(
            f"{self!r}: cannot be pickled",
            "something that means the same in another process",
            "a handle, which stands for an item of the States that have it here",
            "pickle its subsystem and its index",
        )

    def __copy__(self) -> "AbstractHandle":
        return self

    def __deepcopy__(self, memo: object) -> "AbstractHandle":
        return self

    def __bool__(self) -> bool:
        raise HandleTruthError(
            f"{self!r}: is a handle, which is neither true nor false",
            "a value",
            "the handle of an item",
            "call it with a State for its value there",
        )


@final
class CacheEntry(AbstractHandle, Generic[T]):
    """A cached value of a subsystem. Call it with a State to read it.

    Attributes
    ----------
    depends_on : Stage
        The earliest stage at which it can be realized.
    computed_by : Stage
        The stage from which on it is presumed computed; Infinity if it is lazy.
    """

    __slots__ = ("_group", "computed_by", "depends_on")

    def __init__(
        self,
        subsystem: int,
        index: int,
        allocated_at: Stage,
        name: str,
        depends_on: Stage,
        computed_by: Stage,
    ) -> None:
        super().__init__(subsystem, index, allocated_at, name)
        self.depends_on = depends_on
        self.computed_by = computed_by
        self._group = NOWHERE

    def __call__(self, state: AnyState) -> T:
        """Return the value, computing it first if it has a compute function. Cost of a hit O(1).

        Raises
        ------
        CacheEntryOutOfDateError
            It is not realized and has no compute function.
        StageTooLowError
            Its subsystem, or that of an entry upstream, has not reached the stage it depends on.
        ForeignNodeError
            The State does not have it.
        """
        try:
            store = state._store
            if (
                store.keys[self._node] is self
                and store.marks[self._node] >= store.gates[self._group]
            ):
                return store.values[self._node]  # type: ignore[no-any-return]  # what T was stored
        except (AttributeError, IndexError, TypeError):
            pass  # what is wrong is found out where there is time for it
        return contents_of(state).read_unrealized(self)  # type: ignore[no-any-return]  # what computes T

    def is_realized(self, state: AnyState) -> bool:
        """Whether a read would find a value, without computing."""
        return contents_of(state).is_realized(self)

    def mark_realized(self, state: AnyState) -> None:
        """Count its value as computed now."""
        contents_of(state).mark(self)

    def invalidate(self, state: AnyState) -> None:
        """Make it unrealized, and all that depends on it. Cost O(transitive dependents)."""
        contents_of(state).unmark(self)

    def prerequisites(self, state: AnyState) -> tuple[AbstractHandle, ...]:
        """The variables and entries on which it directly depends, as declared."""
        return contents_of(state).prerequisites(self)

    def _kind(self) -> str:
        return "cache entry"


@final
class DiscreteVariable(AbstractHandle, Generic[T]):
    """A variable of a subsystem that may hold any value. Call it with a State to read it.

    Attributes
    ----------
    invalidates : Stage
        A write makes this stage stale, and those after it.
    update : CacheEntry or None
        The entry whose value an automatic update exchanges for the variable's.
    """

    __slots__ = ("invalidates", "update")

    def __init__(
        self,
        subsystem: int,
        index: int,
        allocated_at: Stage,
        name: str,
        invalidates: Stage,
        update: CacheEntry[T] | None,
    ) -> None:
        super().__init__(subsystem, index, allocated_at, name)
        self.invalidates = invalidates
        self.update = update

    def __call__(self, state: AnyState) -> T:
        """Return the value.

        Raises
        ------
        ForeignNodeError
            The State does not have it.
        """
        try:
            store = state._store
            if store.keys[self._node] is self:
                return store.values[self._node]  # type: ignore[no-any-return]  # what T was stored
        except (AttributeError, IndexError, TypeError):
            pass  # as in CacheEntry
        return contents_of(state).get_discrete(self)  # type: ignore[no-any-return]  # raises

    def set(self, state: AnyState, value: T) -> None:
        """Replace the value, which invalidates its stage and what depends on it."""
        contents_of(state).set_discrete(self, value)

    def upd(self, state: AnyState) -> T:
        """Return the value to be changed in place; a write, as `set` is."""
        return contents_of(state).upd_discrete(self)  # type: ignore[no-any-return]  # what T was stored

    def _kind(self) -> str:
        return "discrete variable"


@final
class ContinuousVariable(AbstractHandle):
    """Some of q, u or z: a block, which one call allocated, or all of a subsystem or of the State.

    Call it with a State for a read-only view. Its index is where it starts in the partition of
    its subsystem.

    Attributes
    ----------
    kind : str
        "q", "u" or "z".
    size : int or None
        The number of items in a block; None for all, whose number modeling options may change.
    """

    __slots__ = ("initial", "kind", "size")

    def __init__(
        self,
        kind: str,
        subsystem: int | None = None,
        index: int = 0,
        allocated_at: Stage = Stage.EMPTY,
        name: str = "",
        initial: Vector | None = None,
    ) -> None:
        super().__init__(subsystem, index, allocated_at, name)
        self.kind = kind
        self.initial = initial
        self.size = None if initial is None else len(initial)

    def __call__(self, state: AnyState) -> Vector:
        """Return a read-only view of the values. Shape (size,)."""
        return contents_of(state).get_block(self)

    def set(self, state: AnyState, values: ArrayLike) -> None:
        """Replace the values; invalidates as a write of q, u or z does, but of this block only."""
        contents_of(state).set_block(self, values)

    def upd(self, state: AnyState) -> Vector:
        """Return a writable view of the values; a write, as `set` is."""
        return contents_of(state).upd_block(self)

    def _kind(self) -> str:
        return self.kind if self.size is None else f"{self.kind} block"

    def __str__(self) -> str:
        if self.size is None and not self._name:
            return (
                self.kind
                if self.subsystem is None
                else f"{self.kind} of subsystem {self.subsystem}"
            )
        return super().__str__()


@final
class TimeVariable(AbstractHandle):
    """The time. Call it with a State to read it."""

    __slots__ = ()

    def __call__(self, state: AnyState) -> float:
        """Return the time; NaN before Topology is realized."""
        return contents_of(state).get_time(self)

    def set(self, state: AnyState, time: float) -> None:
        """Replace the time, which invalidates Time."""
        contents_of(state).set_time(time, self)

    def _kind(self) -> str:
        return "time"

    def __str__(self) -> str:
        return "time"


def contents_of(state: AnyState) -> HoldsItems:
    """The contents of a State.

    Raises
    ------
    NotAStateError
        It is none.
    """
    if not isinstance(state, type) and hasattr(state, "_store"):
        return state._contents
    is_partition = hasattr(state, "_contents") and not isinstance(state, type)
    raise NotAStateError(
        f"{brief(state)}: is not a State",
        "a State",
        f"an object of type {type(state).__name__}",
        "pass the whole State, not a subsystem's part of it"
        if is_partition
        else "pass the State in which to read or write, as in tip(state)",
    )
