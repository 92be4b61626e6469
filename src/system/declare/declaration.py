"""Declarations of a Subsystem class: items that every State of its System has.

A declaration is an attribute of the class. As an attribute of an instance it is a handle, made
when it is first asked for, and then found in the instance itself::

    class Pendulum(Subsystem):
        angle = q_variable(0.1)         Pendulum.angle   a declaration
                                        pendulum.angle   the handle, of this pendulum

Declarations are found by name: a prerequisite `angle` is the `angle` of the concrete class, which
may replace the one of the base class.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar, overload

from attrs import frozen

from stagecache.errors import DeclarationError, WrongTypeError, short_repr
from stagecache.graph.sources import NOWHERE, Source, class_body
from stagecache.state.allocation import Attempt
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import NO_NUMBER, AbstractHandle, CacheEntry, ContinuousElement
from stagecache.state.stage import Stage
from stagecache.system.declare.groups import Group
from stagecache.system.declare.trigger_rows import TriggerRow

H = TypeVar("H")
P = TypeVar("P")


@frozen(eq=False)
class PlannedEntry:
    """A cache entry to be allocated, after its prerequisites."""

    handle: CacheEntry[Any]
    prerequisites: tuple[AbstractHandle, ...]
    available_from: Stage | None
    """None: the lowest stage at which the prerequisites can be read."""

    compute: Callable[[Any], Any]
    refuse_none: Callable[[], None]
    equal: Callable[[Any, Any], Any] | None
    fill: Callable[[Any], Any] | None = None
    """Puts its value into a vector of the State, when the stage is realized that computes it."""

    lowest: Stage = Stage.TOPOLOGY
    """The stage before which it cannot be computed, whatever its prerequisites."""

    is_last: bool = False
    """True if the item is due once all subsystems have reached the stage, not only its own."""

    trigger: TriggerRow | None = None
    """The row of an event trigger, without which a State may be realized."""

    is_shared: bool = False
    """True if its values are found by those of its prerequisites."""

    needed_by: Stage = Stage.INFINITY
    """The stage that uses its value in any case, also where that does not compute it."""

    check: Callable[[Contents], None] | None = None
    """Refuses its prerequisites, once all variables are allocated."""

    is_unconnected: bool = False
    """True for an input without a source, on which nothing may depend."""


class AbstractDeclaration(Generic[H]):
    """An item, or a family of items, of a Subsystem class.

    ``H`` is the type of the attribute of an instance: a handle, or a family of handles.

    Attributes
    ----------
    name : str
        The name of the attribute.
    owner : type or None
        The class that declares it.
    source : (str, int)
        The file and line of the declaration; ("", 0) if it is not in the body of a class.
    """

    name = ""
    owner: type | None = None
    of: "AbstractDeclaration[Any] | None" = None
    """The declaration to which it belongs, as its update, its velocity, ..."""

    role = ""
    """Role in that declaration: "update", "velocity", ..."""

    unit = ""
    """The unit of its numbers, such as "m/s"; "" if none is declared."""

    enabled: "AbstractDeclaration[Any] | None" = None
    """The declared variable that switches it on and off in a State; see `enabling`."""

    sized_at = Stage.MODEL
    """The stage whose realization decides how many numbers it has."""

    instead = ""
    """A hint for an assignment that is refused, with {0} for the handle; "" for the usual one."""

    source: Source

    def __new__(cls, *_: object, **__: object) -> Self:
        """Remember where it is made."""
        new = super().__new__(cls)
        new.source = class_body()
        return new

    @property
    def is_variable(self) -> bool:
        """True if it is written, not computed."""
        return False

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.name:
            self.owner, self.name = owner, name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> H: ...
    def __get__(self, instance: object | None, owner: type) -> Self | H:
        return self if instance is None else self.bound(instance)

    def fits(self, declared: "AbstractDeclaration[Any]") -> bool:  # noqa: ARG002  # others need it
        """Return whether it can belong to another declaration."""
        return False

    def bind(
        self, subsystem: Any, number: int = NO_NUMBER, label: int | str = ""
    ) -> AbstractHandle:
        """Return the handle for one subsystem, not allocated yet; a label names it in a family."""
        handle = self._new_handle(self.name if number < 0 else f"{self.name}[{label}]")
        handle._declared(subsystem, self.name, number)
        return handle

    def bound(self, subsystem: Any) -> H:
        """Return its handle in a subsystem, or the family of its handles."""
        found = subsystem.__dict__.get(self.name)
        if found is None:
            found = subsystem.__dict__[self.name] = self._bind_all(subsystem)
        return found  # type: ignore[no-any-return]  # it was bound as such

    def items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """Return the handles in a subsystem."""
        handle = self.bound(subsystem)
        assert isinstance(handle, AbstractHandle)
        return (handle,)

    def known_items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """Return the handles in a subsystem, and those of items that older topologies had."""
        return self.items(subsystem)

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate the part that must exist before cache entries are allocated."""

    def plan(self, handle: Any) -> PlannedEntry | None:  # noqa: ARG002  # others need it
        """Return the cache entry to allocate for it, if any."""
        return None

    def sizing(self, handle: Any) -> Callable[[Any], None] | None:  # noqa: ARG002  # likewise
        """Return the function that sets its size when `sized_at` is realized, if any."""
        return None

    def sizing_of_all(
        self,
        handles: Sequence[Any],  # noqa: ARG002  # likewise
    ) -> Callable[[Any], None] | None:
        """Return the function that sets the sizes of all items of a family at once, if any."""
        return None

    def like(self, item: "AbstractDeclaration[Any]") -> Any:
        """Return a declaration for each item of this one: of a single item, the same."""
        return item

    def companions(
        self,
        found: "Mapping[str, AbstractDeclaration[Any]]",  # noqa: ARG002  # likewise
    ) -> "Iterable[AbstractDeclaration[Any]]":
        """Return its companions, given all declarations of the class by name.

        Each has a name with a dot in it, which no attribute has: "rod.velocity".
        """
        return ()

    def _bind_all(self, subsystem: Any) -> object:
        return self.bind(subsystem)

    def _new_handle(self, name: str) -> AbstractHandle:
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{self.owner.__name__}.{self.name}" if self.owner else "a declaration without name"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


def is_family(declared: AbstractDeclaration[Any]) -> bool:
    """Tell whether a declaration is of many items."""
    return hasattr(declared, "item")


def item_of(declared: Any) -> Any:
    """Return the declaration of each item of a family; other declarations as they are."""
    return getattr(declared, "item", declared)


def source_of(handle: AbstractHandle) -> Source:
    """Return the file and line where the item of a handle is declared; ("", 0) without one."""
    declarations = getattr(handle._owner, "declarations", {})  # a System has none
    declared = declarations.get(handle._declared_as)
    return NOWHERE if declared is None else declared.source


def arguments(handle: AbstractHandle) -> tuple[Any, ...]:
    """Return the arguments of the functions of an item: (self,), or (self, i) in a family."""
    owner, number = handle._owner, handle._number
    return (owner,) if number == NO_NUMBER else (owner, number)


def declared_attempt(contents: Contents, handle: AbstractHandle) -> Attempt:
    """Return the item that is being allocated, for errors."""
    return Attempt(contents, handle._owner.index, handle, is_declared=True)


Prerequisite = AbstractDeclaration[Any] | AbstractHandle | Group | Iterable[AbstractHandle]
Prerequisites = Group | Sequence[Prerequisite] | Callable[[Any], Iterable[Prerequisite]]
FamilyPrerequisites = Group | Sequence[Prerequisite] | Callable[[Any, int], Iterable[Prerequisite]]
AnyPrerequisites = Prerequisites | FamilyPrerequisites


def check_prerequisites(prerequisites: P, what: str) -> P:
    """Return prerequisites as they were given, a list or a single group as a tuple."""
    if isinstance(prerequisites, Group):
        return (prerequisites,)  # type: ignore[return-value]  # of the same kind
    if prerequisites is None or (
        callable(prerequisites)
        and not isinstance(prerequisites, AbstractDeclaration | AbstractHandle)
    ):
        return prerequisites
    if isinstance(prerequisites, tuple | list):
        return tuple(prerequisites)  # type: ignore[return-value]  # of the same kind
    raise WrongTypeError(
        f"{what}: its prerequisites cannot be {short_repr(prerequisites)}",
        "a tuple of declared items, or a function of self that returns handles",
        f"an object of type {type(prerequisites).__name__}",
        "write prerequisites=(angle,), or prerequisites=lambda self: (self.pendulum.tip,)",
    )


def resolve(prerequisites: AnyPrerequisites, handle: AbstractHandle) -> tuple[AbstractHandle, ...]:
    """Return the handles of the prerequisites of an item."""
    if isinstance(prerequisites, tuple):
        named: Iterable[Any] = prerequisites
    else:
        function: Any = prerequisites
        named = function(*arguments(handle))
        if isinstance(named, Group):
            named = (named,)
        if not isinstance(named, Iterable):
            raise WrongTypeError(
                f"{handle}: the function of its prerequisites does not return a tuple of them",
                "a tuple of handles",
                short_repr(named),
                "write a comma after a single one: lambda self: (self.pendulum.tip,)",
            )
    found: list[AbstractHandle] = []
    groups: list[AbstractHandle] = []
    for item in named:
        if isinstance(item, AbstractDeclaration):
            found += _on_concrete_class(item, handle)
        elif isinstance(item, ContinuousElement):
            found += [item.variable] if item.variable not in found else []
        elif isinstance(item, Group):
            groups += item.handles(handle._owner)
        elif isinstance(item, AbstractHandle | str) or not isinstance(item, Iterable):
            found.append(item)  # type: ignore[arg-type]  # wrong types are refused later
        else:
            found += item
    if groups:  # which may have variables in common, and some that are named as well
        known = set(found)
        found += [member for member in dict.fromkeys(groups) if member not in known]
    return tuple(found)


def _on_concrete_class(
    item: AbstractDeclaration[Any], handle: AbstractHandle
) -> Sequence[AbstractHandle]:
    cls = type(handle._owner)
    declared: AbstractDeclaration[Any] | None = cls.declarations.get(item.name)
    if declared is None or item.owner not in cls.__mro__:
        raise DeclarationError(
            f"{handle}: names a prerequisite of another class",
            f"an item that {cls.__name__} declares or inherits",
            f"{item}",
            "say which subsystem's: prerequisites=lambda self: (self.other.item,)",
        )
    return declared.items(handle._owner)
