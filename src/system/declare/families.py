"""Families: many items of one kind under one name, such as N equal springs."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, final, overload

from stagecache.checks import repeated as repeated_items
from stagecache.checks import require_count, require_name, require_text, whole_number
from stagecache.errors import DuplicateNameError, UnknownItemError, short_repr
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    NO_NUMBER,
    AbstractHandle,
    CacheEntry,
    DiscreteVariable,
    Vector,
    copied_item,
    declared_item,
)
from stagecache.state.stage import Stage
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    FamilyPrerequisites,
    PlannedEntry,
)
from stagecache.system.declare.enabling import Enabling, check_number_of_switches
from stagecache.system.declare.fast_variables import equilibrium_decorator
from stagecache.system.declare.prescribed import (
    Motion,
    acceleration_decorator,
    prescribed_decorator,
)

H = TypeVar("H", bound=AbstractHandle)
Labels = Sequence[str] | range
Count = int | Sequence[str] | Callable[[Any], int | Sequence[str]]
"""The number of items, or their names; or a function ``(self)`` that returns either."""


@final
class Family(Sequence[H]):
    """The handles of the items of a family, in one subsystem: ``springs.force[3](state)``.

    Items that have names are also found by these: ``house.heat["kitchen"](state)``.
    """

    def __init__(self, declaration: "FamilyDeclaration[H]", subsystem: Any) -> None:
        self._declaration = declaration
        self._subsystem = subsystem
        self._members: dict[int, H] = {}
        self._labels: Labels | None = None  # not asked for yet

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def labels(self) -> Labels:
        """Names of the items, or their numbers."""
        known = self._labels
        return self._declaration.labels_in(self._subsystem) if known is None else known

    def _fix_count(self) -> None:
        """Ask for the items, for the topology that is being realized."""
        self._labels = self._declaration.checked_labels_in(self._subsystem)

    @overload
    def __getitem__(self, index: int | str) -> H: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[H]: ...
    def __getitem__(self, index: int | str | slice) -> H | Sequence[H]:
        """Return the handle of an item by its index or name, or the handles of a slice.

        Raises
        ------
        UnknownItemError
        """
        if isinstance(index, slice):
            return [self.member(i) for i in range(*index.indices(len(self)))]
        labels = self.labels
        count = len(labels)
        if isinstance(index, str):
            number = labels.index(index) if index in labels else None  # type: ignore[arg-type]  # a range has no names
        else:
            number = whole_number(index)
        if number is None or not -count <= number < count:
            raise UnknownItemError(
                f"{self!r}: has no item {short_repr(index)}",
                f"an index from 0 to {count - 1}" if count else "a family that is not empty",
                short_repr(index),
                "count from 0",
            )
        return self.member(number % count)

    def member(self, number: int) -> H:
        """Return the handle of an item, also beyond the number of items.

        Raises
        ------
        OutOfRangeError
        """
        if type(number) is not int or number < 0:
            number = require_count(number, 0, f"{self!r}: the number of an item")
        if number not in self._members:
            labels = self.labels
            label = labels[number] if number < len(labels) else number
            self._members[number] = self._declaration.member_of(self._subsystem, number, label)
        return self._members[number]

    def __iter__(self) -> Iterator[H]:
        return (self.member(i) for i in range(len(self)))

    def __reduce__(self) -> Any:
        return declared_item, (self._subsystem, self._declaration.name, NO_NUMBER)

    def __copy__(self) -> "Family[H]":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copied_item(self, self._subsystem, self._declaration.name, NO_NUMBER, memo)

    def __repr__(self) -> str:
        return f"Family({self._subsystem.name}.{self._declaration.name})"


@final
class FamilyDeclaration(AbstractDeclaration[Family[H]]):
    """Many declared items of one kind.

    Attributes
    ----------
    item : AbstractDeclaration
        The declaration of each item.
    count : int, sequence of str, or callable
        Their number or their names, or a function ``(self)`` that returns either.
    """

    def __init__(self, item: AbstractDeclaration[H], count: Count) -> None:
        self.item = item
        self.count = count
        self.of = item.of
        self.role = item.role
        self.enabled = item.enabled
        self.unit = item.unit

    @property
    def is_variable(self) -> bool:
        """True if the items are written, rather than computed."""
        return self.item.is_variable

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether the items can belong to the items of another declaration."""
        return self.item.fits(declared)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.item.__set_name__(owner, name)

    def labels_in(self, subsystem: Any) -> Labels:
        """Return the names of the items in a subsystem, or their numbers."""
        count = self.count(subsystem) if callable(self.count) else self.count
        if isinstance(count, Sequence) and not isinstance(count, str):
            return count
        return range(require_count(count, 0, f"the number of {subsystem.name}.{self.name}"))

    def checked_labels_in(self, subsystem: Any) -> Labels:
        """Return the names or numbers of the items; refuse names that are not texts, or equal."""
        labels = self.labels_in(subsystem)
        return labels if isinstance(labels, range) else checked_names(labels, subsystem, self.name)

    def member_of(self, subsystem: Any, number: int, label: int | str) -> H:
        """Return a new handle of an item."""
        handle: Any = self.item.bind(subsystem, number, label)
        return handle  # type: ignore[no-any-return]  # an H

    def items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """Return the handles in a subsystem, and ask for their number."""
        family = self.bound(subsystem)
        family._fix_count()
        check_number_of_switches(self, subsystem, len(family))
        return family

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate one of them."""
        self.item.allocate(contents, handle)

    def plan(self, handle: Any) -> PlannedEntry | None:
        """Return the cache entry of one of them, if they are cache entries."""
        return self.item.plan(handle)

    def sizing(self, handle: Any) -> Callable[[Any], None] | None:
        """Return the function that sizes all items at once, for the first; None for the others."""
        if not self.is_variable:
            return self.item.sizing(handle)
        return None if handle._number else self.item.sizing_of_all(tuple(self.bound(handle._owner)))

    def like(self, item: AbstractDeclaration[Any]) -> "FamilyDeclaration[Any]":
        """Return a family of as many items."""
        return FamilyDeclaration(item, self.count)

    def _bind_all(self, subsystem: Any) -> Family[H]:
        return Family(self, subsystem)

    # ------------------------------------------------------------------ what belongs to variables

    @overload
    def prescribed(self, compute: Motion) -> "FamilyDeclaration[CacheEntry[Vector]]": ...
    @overload
    def prescribed(
        self,
        *,
        prerequisites: FamilyPrerequisites | None = None,
        enabled: "Enabling | FamilyDeclaration[DiscreteVariable[bool]]" = None,
    ) -> Callable[[Motion], "FamilyDeclaration[CacheEntry[Vector]]"]: ...
    def prescribed(
        self,
        compute: Motion | None = None,
        *,
        prerequisites: FamilyPrerequisites | None = None,
        enabled: "Enabling | FamilyDeclaration[DiscreteVariable[bool]]" = None,
    ) -> Any:
        """Decorate the function ``(self, state, i)`` of the values to which one q or u is set.

        Same as for a single variable; see `q_variable`.

        Parameters
        ----------
        prerequisites : tuple or callable, optional
            Same as for a single variable; the function is ``(self, i)``.
        enabled : declaration, optional
            One switch for all items; or a family of as many, a switch for each item.

        Raises
        ------
        DeclarationError
            The variables are not q or u, or `enabled` is not a switch. Another number of switches
            is refused when the topology is realized.
        WrongTypeError, ComputeSignatureError
        """
        return prescribed_decorator(self, compute, prerequisites, enabled)

    @overload
    def acceleration(self, compute: Motion) -> "FamilyDeclaration[CacheEntry[Vector]]": ...
    @overload
    def acceleration(
        self, *, prerequisites: FamilyPrerequisites
    ) -> Callable[[Motion], "FamilyDeclaration[CacheEntry[Vector]]"]: ...
    def acceleration(
        self, compute: Motion | None = None, *, prerequisites: FamilyPrerequisites | None = None
    ) -> Any:
        """Decorate the function ``(self, state, i)`` of the udot of a prescribed u."""
        return acceleration_decorator(self, compute, prerequisites)

    def equilibrium(
        self,
        without_parentheses: None = None,
        /,
        *,
        stage: Stage,
        prerequisites: FamilyPrerequisites | None = None,
    ) -> Callable[[Motion], "FamilyDeclaration[CacheEntry[Vector]]"]:
        """Decorate the function ``(self, state, i)`` that is zero at equilibrium of one."""
        return equilibrium_decorator(self, without_parentheses, stage, prerequisites)


def repeated(what: str, item: AbstractDeclaration[Any], count: Count | None, unit: str) -> Any:
    """Return the declaration of an item, or of as many as a count says, with the unit of each."""
    item.unit = require_text(unit, f"{what}(unit=...)", 'write it as one: unit="m/s"')
    if count is None:
        return item
    if isinstance(count, Sequence) and not isinstance(count, str):
        count = tuple(count)
    elif not callable(count):
        count = require_count(count, 0, f"{what}(count=...)")
    return FamilyDeclaration(item, count)


def checked_names(labels: Sequence[object], subsystem: Any, family: str) -> tuple[str, ...]:
    """Return the names of the items of a family.

    Raises
    ------
    InvalidNameError, DuplicateNameError
    """
    what = f"the name of an item of {subsystem.name}.{family}"
    names = tuple([require_name(label, what) for label in labels])
    for name in repeated_items(names)[:1]:
        raise DuplicateNameError(
            f"{subsystem.name}.{family}: has two items of one name",
            "a name of its own for each",
            repr(name),
            "rename one, or give a number of items",
        )
    return names
