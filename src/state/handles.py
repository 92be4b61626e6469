"""Handles of the items of States.

A handle is const. It has the place of an item, never its value: ``tip(state)`` reads the item in
any State that has it. That is the State in which it was allocated, and its copies, until they back
up below the stage of the allocation. Each State knows the handles of its items, so the check of a
handle is one look into a list.

A handle of a *declared* item exists before any State does. It is allocated in the default State of
its System, again whenever that is made anew, and so all States of the System have it.
"""

from copy import deepcopy
from operator import attrgetter
from threading import RLock
from types import GenericAlias
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    NoReturn,
    Protocol,
    SupportsFloat,
    SupportsIndex,
    TypeVar,
    final,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stagecache.checks import require_number, whole_number
from stagecache.errors import (
    NotPicklableError,
    UnknownItemError,
    WrongTypeError,
    short_repr,
)
from stagecache.state.stage import Stage

if TYPE_CHECKING:
    from stagecache.state.contents.contents import Contents
    from stagecache.state.partition import AbstractPartition

T = TypeVar("T")
Vector = NDArray[np.float64]

NOWHERE: Final = 1 << 60  # the node of a handle that is not allocated: no list is so long
EMPTY: Final = Stage.EMPTY  # compiled code looks up members of an Enum, and not this
NO_NUMBER: Final = -1  # of an item that does not belong to a family


class AnyState(Protocol):
    """A State, which a partition is not."""

    @property
    def _contents(self) -> "Contents": ...
    @property
    def lock(self) -> RLock: ...


class AbstractHandle:  # no ABC: a compiled class must not have a metaclass
    """An item of a State.

    Attributes
    ----------
    subsystem : int or None
        Index of its subsystem; None for an item of the whole State, or before the allocation.
    index : int
        Its place among the items of its kind in the subsystem.
    allocated_at : Stage
        Stage of the subsystem at the allocation: Empty, Topology or Model.
    """

    __slots__ = (
        "_declared_as",
        "_name",
        "_node",
        "_number",
        "_owner",
        "_serial",
        "allocated_at",
        "index",
        "subsystem",
    )

    def __init__(self, name: str) -> None:
        self.subsystem: int | None = None
        self.index = 0
        self.allocated_at = EMPTY
        self._name = name
        self._node = NOWHERE
        self._serial = 0  # handles of one State are allocated in the order of these
        self._owner: Any = None  # the Subsystem or System that declares it
        self._declared_as = ""
        self._number = NO_NUMBER

    def _declared(self, owner: Any, attribute: str, number: int = NO_NUMBER) -> None:
        """Set the owner that declares it, the attribute, and the number of an item of a family."""
        self._owner = owner
        self._declared_as = attribute
        self._number = number

    def _allocated(self, subsystem: int | None, index: int, allocated_at: Stage) -> None:
        """Set its place."""
        self.subsystem = subsystem
        self.index = index
        self.allocated_at = allocated_at

    @property
    def name(self) -> str:
        """Name given at the allocation; by default its kind and index, or "q" for all q."""
        return self._name or self._unnamed()

    def __call__(self, state: AnyState) -> Any:
        """Return the value."""
        raise NotImplementedError

    def version(self, state: AnyState) -> int:
        """Return the number of the present value: it rises with each, and none is given twice.

        The version of a variable rises with each write; of an entry, with each mark or computation.
        """
        return contents_of(state).version(self)

    def dependents(self, state: AnyState) -> "tuple[CacheEntry[Any], ...]":
        """Return the entries that name it as a prerequisite, in order of subsystem and index."""
        return contents_of(state).dependents(self)

    def _kind(self) -> str:
        raise NotImplementedError

    def _unnamed(self) -> str:
        return f"{self._kind()} {self.index}"

    def __str__(self) -> str:
        if self._owner is not None:
            return f"{self._owner.name}.{self._name or self._declared_as}"
        return self.name if self.subsystem is None else f"{self.name} of subsystem {self.subsystem}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> Any:
        if self._owner is not None:
            return declared_item, (self._owner, self._declared_as, self._number)
        raise NotPicklableError(
            f"{self!r}: cannot be pickled",
            "something that means the same in another process",
            "a handle, which stands for an item of the States that have it here",
            "pickle its subsystem and its index; or declare the item in a Subsystem",
        )

    def __copy__(self) -> "AbstractHandle":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "AbstractHandle":
        twin: AbstractHandle = copied_item(self, self._owner, self._declared_as, self._number, memo)
        return twin

    def __bool__(self) -> bool:
        raise WrongTypeError(
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
    available_from : Stage
        The earliest stage at which it can be computed. For a declared entry that names
        prerequisites only, it is Empty until the topology of its System is realized.
    computed_by : Stage
        The stage from which on it is presumed computed; Infinity if it is lazy.
    """

    __slots__ = ("available_from", "computed_by")

    def __class_getitem__(cls, value_type: Any) -> GenericAlias:
        """Return `CacheEntry[float]` and the like, for annotations."""
        return GenericAlias(cls, value_type)

    def __init__(self, name: str, available_from: Stage, computed_by: Stage) -> None:
        super().__init__(name)
        self.available_from = available_from
        self.computed_by = computed_by

    def __call__(self, state: AnyState) -> T:
        """Return the value, computing it first if it has a compute function. Cost of a hit O(1).

        Raises
        ------
        CacheEntryOutOfDateError
            It is not valid and has no compute function.
        StageTooLowError
            Its subsystem, or the subsystem of an entry upstream, has not reached the stage that the
            entry depends on.
        ForeignNodeError
            The State does not have it.
        """
        try:
            whole: AbstractPartition = state  # type: ignore[assignment]  # compiled, it is checked
            store = whole._contents.visible
            node = self._node
            if (
                whole._index is None
                and store.keys[node] is self
                and store.marks[node] >= store.gates[store.group_of[node]]
            ):
                return store.values[node]  # type: ignore[no-any-return]  # what T was stored
        except (AttributeError, IndexError, TypeError):
            pass  # the slow path finds the cause
        return contents_of(state).read_stale(self)  # type: ignore[no-any-return]  # what computes T

    def is_valid(self, state: AnyState) -> bool:
        """Return True if a read would find a value, without computing."""
        return contents_of(state).is_valid(self)

    def mark_valid(self, state: AnyState) -> None:
        """Count its value as computed now."""
        contents_of(state).mark(self)

    def invalidate(self, state: AnyState) -> None:
        """Make it stale, and all that depends on it. Cost O(transitive dependents)."""
        contents_of(state).unmark(self)

    def set(self, state: AnyState, value: T) -> None:
        """Store a value; `mark_valid` marks it as valid."""
        contents_of(state).set_entry(self, value)

    def upd(self, state: AnyState) -> T:
        """Return the value to be changed in place, valid or not; `mark_valid` it afterwards.

        An array is sealed when the entry is marked, or a subsystem or the system advances.
        """
        return contents_of(state).upd_entry(self)  # type: ignore[no-any-return]  # what T was stored

    def prerequisites(self, state: AnyState) -> tuple[AbstractHandle, ...]:
        """Return the variables and entries on which it directly depends, as declared."""
        return contents_of(state).prerequisites(self)

    def _kind(self) -> str:
        return "cache entry"


class DiscreteVariable(AbstractHandle, Generic[T]):
    """A variable of a subsystem that may hold any value. Call it with a State to read it.

    Attributes
    ----------
    invalidates : Stage
        A write makes this stage stale, and those after it.
    """

    __slots__ = ("_update", "invalidates")

    def __class_getitem__(cls, value_type: Any) -> GenericAlias:
        """Return `DiscreteVariable[float]` and the like, for annotations."""
        return GenericAlias(cls, value_type)

    def __init__(self, name: str, invalidates: Stage) -> None:
        super().__init__(name)
        self.invalidates = invalidates
        self._update: CacheEntry[T] | None = None

    @property
    def update(self) -> CacheEntry[T] | None:
        """The entry whose value an automatic update exchanges for the variable's, or None."""
        return self._update

    def __call__(self, state: AnyState) -> T:
        """Return the value.

        Raises
        ------
        ForeignNodeError
            The State does not have it.
        """
        try:
            whole: AbstractPartition = state  # type: ignore[assignment]  # as in CacheEntry
            store = whole._contents.visible
            if whole._index is None and store.keys[self._node] is self:
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

    def last_update_time(self, state: AnyState) -> float:
        """Return the time of the last write or automatic update; NaN before the first."""
        return contents_of(state).update_time(self)

    def _kind(self) -> str:
        return "discrete variable"


@final
class AutoUpdateVariable(DiscreteVariable[T]):
    """A discrete variable with an entry for its next value, `update`.

    `State.auto_update_discrete_variables` exchanges the two where the entry is valid. That
    invalidates no stage: entries that depend on the variable name it as a prerequisite.
    """

    __slots__ = ()

    def __init__(self, name: str, invalidates: Stage, update: CacheEntry[T]) -> None:
        super().__init__(name, invalidates)
        self._update = update

    @property
    def update(self) -> CacheEntry[T]:
        """The entry whose value an automatic update exchanges for the variable's."""
        assert self._update is not None
        return self._update


class AbstractContinuousVariable(AbstractHandle):
    """Some of q, u or z: a block, which is allocated at once, or all of a subsystem or of a State.

    Attributes
    ----------
    kind : str
        "q", "u" or "z".
    slot : int
        Its place among the subsystem's blocks of that kind; -1 for all. Its index is where it
        starts in the subsystem's.
    size : int or None
        The number of items in a block; None where modeling options decide, and for all.
    """

    __slots__ = ("kind", "size", "slot")

    def __init__(self, kind: str, name: str = "") -> None:
        super().__init__(name)
        self.kind = kind
        self.slot = -1
        self.size: int | None = None

    def __call__(self, state: AnyState) -> Any:
        """Return the value."""
        raise NotImplementedError

    def upd(self, state: AnyState) -> Vector:
        """Return a writable view of the values; a write, as `set` is."""
        return contents_of(state).upd_block(self)

    def place(self, state: AnyState) -> slice:
        """Return where it lies in the y of the State."""
        return contents_of(state).place(self)

    def _names_of(self, count: int) -> tuple[str, ...]:
        """Return the names that its subsystem has for its `count` numbers; () without any."""
        find = getattr(self._owner, "_number_names", None)  # a System has none
        declared: tuple[str, ...] = () if find is None else find(self)
        return declared if len(declared) == count else ()

    def _kind(self) -> str:
        return f"{self.kind} block"

    def _unnamed(self) -> str:
        return self.kind if self.slot < 0 else f"{self.kind} block {self.index}"


@final
class ContinuousVariable(AbstractContinuousVariable):
    """Some of q, u or z, as a vector. Call it with a State for a read-only view."""

    __slots__ = ()

    def __call__(self, state: AnyState) -> Vector:
        """Return a read-only view of the values. Shape (size,).

        Raises
        ------
        StageTooLowError
            The system has not reached Model.
        ForeignNodeError
            The State does not have it.
        """
        try:
            whole: AbstractPartition = state  # type: ignore[assignment]  # as in CacheEntry
            contents = whole._contents
            if whole._index is None and contents.visible.keys[self._node] is self:
                pools = contents.pools
                return pools.y[pools.places[self._node]]
        except (AttributeError, IndexError, KeyError, TypeError):
            pass  # as in CacheEntry
        return contents_of(state).get_block(self)

    def set(self, state: AnyState, values: ArrayLike) -> None:
        """Replace the values; invalidates as a write of q, u or z does, but of this block only."""
        contents_of(state).set_block(self, values)

    def __getitem__(self, index: SupportsIndex) -> "ContinuousElement":
        """Return the handle of one of the numbers, counted from 0.

        Raises
        ------
        UnknownItemError
            It is not an index from 0 up. (How many there are is known in a State.)
        """
        return ContinuousElement(self, index)

    def __iter__(self) -> NoReturn:
        raise WrongTypeError(
            f"{self!r}: cannot be iterated",
            "the number of its values, which is known in a State",
            "the handle",
            "name one number, as arm.q[1]; or call the handle with a State for the values there",
        )


@final
class ContinuousElement:
    """One number of a continuous variable: ``body.q[1]``. Call it with a State to read it.

    As a prerequisite it stands for the variable.

    Attributes
    ----------
    variable : ContinuousVariable
    index : int
        Counted from 0.
    """

    __slots__ = ("index", "variable")

    def __init__(self, variable: ContinuousVariable, index: SupportsIndex) -> None:
        number = whole_number(index)
        if number is None or number < 0:
            raise UnknownItemError(
                f"{variable!r}[{short_repr(index)}]: does not exist",
                "an index from 0 up",
                short_repr(index),
                "count the numbers from 0",
            )
        self.variable = variable
        self.index = number

    def __call__(self, state: AnyState) -> float:
        """Return the value.

        Raises
        ------
        UnknownItemError
            The variable has fewer numbers in this State.
        StageTooLowError, ForeignNodeError
        """
        return self.variable(state).item(self._checked(state))

    def set(self, state: AnyState, value: SupportsFloat) -> None:
        """Replace the value, and no other of the variable. Invalidates as `variable.set` does.

        Raises
        ------
        UnknownItemError, NotANumberError, WrongTypeError, StageTooLowError, ForeignNodeError
        """
        index = self._checked(state)
        values = self.variable(state).copy()
        values[index] = require_number(value, str(self))
        self.variable.set(state, values)

    def place(self, state: AnyState) -> slice:
        """Return where it lies in the y of the State."""
        start = self.variable.place(state).start + self._checked(state)
        return slice(start, start + 1)

    def _checked(self, state: AnyState) -> int:
        place = self.variable.place(state)
        count = place.stop - place.start
        if self.index < count:
            return self.index
        raise UnknownItemError(
            f"{self}: does not exist in this State",
            f"an index from 0 to {count - 1}" if count else "a variable with numbers",
            str(self.index),
            "the number of values can depend on modeling options: count them in this State",
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ContinuousElement)
            and self.variable is other.variable
            and self.index == other.index
        )

    def __hash__(self) -> int:
        return hash((self.variable, self.index))

    def __str__(self) -> str:
        return f"{self.variable}[{self.index}]"

    def __repr__(self) -> str:
        return f"ContinuousElement({str(self)!r})"

    def __reduce__(self) -> Any:
        return ContinuousElement, (self.variable, self.index)


@final
class ScalarVariable(AbstractContinuousVariable):
    """One number of q, u or z. Call it with a State to read it."""

    __slots__ = ()

    def __call__(self, state: AnyState) -> float:
        """Return the value.

        Raises
        ------
        StageTooLowError
            The system has not reached Model.
        ForeignNodeError
            The State does not have it.
        """
        try:
            whole: AbstractPartition = state  # type: ignore[assignment]  # as in CacheEntry
            contents = whole._contents
            if whole._index is None and contents.visible.keys[self._node] is self:
                pools = contents.pools
                return pools.y.item(pools.places[self._node].start)
        except (AttributeError, IndexError, KeyError, TypeError):
            pass  # as in CacheEntry
        return float(contents_of(state).get_block(self)[0])

    def set(self, state: AnyState, value: SupportsFloat) -> None:
        """Replace the value; invalidates as a write of q, u or z does, but of this number only."""
        contents_of(state).set_scalar(self, value)


@final
class TimeVariable(AbstractHandle):
    """The time. Call it with a State to read it."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("")

    @property
    def name(self) -> str:
        """``"time"``."""
        return "time"

    def __call__(self, state: AnyState) -> float:
        """Return the time; NaN before Topology is realized."""
        return contents_of(state).get_time(self)

    def set(self, state: AnyState, time: SupportsFloat) -> None:
        """Replace the time, which invalidates Time."""
        contents_of(state).set_time(time, self)

    def _kind(self) -> str:
        return "time"

    def __str__(self) -> str:
        return "time"


def declared_item(owner: object, attribute: str, number: int) -> object:
    """Return the handle that a subsystem, or a system, declares under that name.

    Raises
    ------
    UnknownItemError
        Its class has changed since the handle was pickled.
    """
    declared = getattr(owner, "declarations", {}).get(attribute)
    try:
        item = attrgetter(attribute)(owner) if declared is None else declared.bound(owner)
        return item if number == NO_NUMBER else item.member(number)
    except AttributeError:
        name = attribute if number == NO_NUMBER else f"{attribute}[{number}]"
        raise UnknownItemError(
            f"{type(owner).__name__}.{name}: does not exist",
            "an item that the class declares",
            "the handle of one that it declared when this was pickled",
            "unpickle it with the version of the model that pickled it",
        ) from None


def copied_item(item: Any, owner: Any, attribute: str, number: int, memo: dict[int, Any]) -> Any:
    """Return the item itself, or the item of a copy of its owner if the owner can be copied."""
    if owner is None or getattr(owner, "_system", owner) is not None:
        return item
    return declared_item(deepcopy(owner, memo), attribute, number)


def contents_of(state: AnyState) -> "Contents":
    """Return the contents of a State.

    Raises
    ------
    WrongTypeError
        It is something else.
    """
    is_partition = False
    try:
        whole: AbstractPartition = state  # type: ignore[assignment]  # as in CacheEntry
        contents = whole._contents
        if whole._index is None:
            return contents
        is_partition = not isinstance(state, type)
    except (AttributeError, TypeError):
        pass
    raise WrongTypeError(
        f"{short_repr(state)}: is not a State",
        "a State",
        f"an object of type {type(state).__name__}",
        "pass the whole State, not a subsystem's part of it"
        if is_partition
        else "pass the State in which to read or write, as in tip(state)",
    )
