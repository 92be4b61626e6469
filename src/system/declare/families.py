"""Families: many items of one kind under one name, as of N equal springs."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, final, overload

from numpy.typing import ArrayLike

from stagecache.errors import UnknownItemError, short_repr
from stagecache.graph.declaration import Equality
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    NO_NUMBER,
    AbstractHandle,
    CacheEntry,
    ContinuousVariable,
    DiscreteVariable,
    ScalarVariable,
    Vector,
    copied_item,
    declared_item,
)
from stagecache.state.refusals import check_count, whole_number
from stagecache.state.stage import Stage, check_stage
from stagecache.system.declare.computations import CachedDeclaration, CachedSettings, check_compute
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    FamilyPrerequisites,
    PlannedEntry,
)
from stagecache.system.declare.enabling import Enabling, check_number_of_switches
from stagecache.system.declare.fast_variables import equilibrium_decorator
from stagecache.system.declare.prescribed import (
    Motion,
    PrescribedAccelerationDeclaration,
    PrescribedDeclaration,
    check_acceleration,
    check_motion,
)
from stagecache.system.declare.variables import (
    NOT_GIVEN,
    DiscreteDeclaration,
    Initial,
    VectorDeclaration,
    continuous,
)

H = TypeVar("H", bound=AbstractHandle)
T = TypeVar("T")
Count = int | Callable[[Any], int]


@final
class Family(Sequence[H]):
    """The handles of the items of a family, in one subsystem: ``springs.force[3](state)``."""

    def __init__(self, declaration: "FamilyDeclaration[H]", subsystem: Any) -> None:
        self._declaration = declaration
        self._subsystem = subsystem
        self._members: dict[int, H] = {}
        self._count = -1  # not asked for yet

    def __len__(self) -> int:
        return self._count if self._count >= 0 else self._declaration.count_in(self._subsystem)

    def _fix_count(self) -> None:
        """Ask how many there are, for the topology that is being realized."""
        self._count = self._declaration.count_in(self._subsystem)

    @overload
    def __getitem__(self, index: int) -> H: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[H]: ...
    def __getitem__(self, index: int | slice) -> H | Sequence[H]:
        if isinstance(index, slice):
            return [self.member(i) for i in range(*index.indices(len(self)))]
        number, count = whole_number(index), len(self)
        if number is None or not -count <= number < count:
            raise UnknownItemError(
                f"{self!r}: has no item {short_repr(index)}",
                f"an index from 0 to {count - 1}" if count else "a family that is not empty",
                short_repr(index),
                "count from 0",
            )
        return self.member(number % count)

    def member(self, number: int) -> H:
        """The handle of an item, whether there are as many or not."""
        if number not in self._members:
            self._members[number] = self._declaration.member_of(self._subsystem, number)
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
        What each of them is.
    count : int or callable
        How many there are, or a function ``(self)`` that tells.
    """

    def __init__(self, item: AbstractDeclaration[H], count: Count) -> None:
        self.item = item
        self.count = count
        self.of = item.of
        self.role = item.role
        self.enabled = item.enabled

    @property
    def is_variable(self) -> bool:
        """Whether they are written, rather than computed."""
        return self.item.is_variable

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Whether they can belong to the items of that one."""
        return self.item.fits(declared)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.item.__set_name__(owner, name)

    def count_in(self, subsystem: Any) -> int:
        """How many there are in a subsystem."""
        count = self.count(subsystem) if callable(self.count) else self.count
        return check_count(count, 0, f"the number of {subsystem.name}.{self.name}")

    def member_of(self, subsystem: Any, number: int) -> H:
        """A new handle of an item."""
        handle: Any = self.item.bind(subsystem, number)
        return handle  # type: ignore[no-any-return]  # an H, of which there are several

    def items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """The handles in a subsystem, whose number is asked for now."""
        family = self.bound(subsystem)
        family._fix_count()
        check_number_of_switches(self, subsystem, len(family))
        return family

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate one of them."""
        self.item.allocate(contents, handle)

    def plan(self, handle: Any) -> PlannedEntry | None:
        """The cache entry of one of them, if they are such."""
        return self.item.plan(handle)

    def sizing(self, handle: Any) -> Callable[[Any], None] | None:
        """What gives them the sizes that modeling options decide; all together, by the first."""
        if not isinstance(self.item, VectorDeclaration):
            return self.item.sizing(handle)
        if handle._number:
            return None
        return self.item.sizing_of_all(tuple(self.bound(handle._owner)))

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

        As that of a single variable; see `q_variable`.

        Parameters
        ----------
        prerequisites : tuple or callable, optional
            As for a single variable; the function is ``(self, i)``.
        enabled : declaration, optional
            One switch for all items; or a family of as many, a switch for each item.

        Raises
        ------
        DeclarationError
            The variables are none of q or u, or that is no switch. Another number of switches is
            refused when the topology is realized.
        PrerequisitesError, NotCallableError, ComputeSignatureError
        """
        named, switch = check_motion(self, prerequisites, enabled)

        def declare(function: Motion) -> FamilyDeclaration[CacheEntry[Vector]]:
            checked = check_compute(function, "prescribed", in_family=True)
            return FamilyDeclaration(
                PrescribedDeclaration(self, checked, named, switch), self.count
            )

        return declare if compute is None else declare(compute)

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
        named = check_acceleration(self, prerequisites)

        def declare(function: Motion) -> FamilyDeclaration[CacheEntry[Vector]]:
            checked = check_compute(function, "prescribed.acceleration", in_family=True)
            return FamilyDeclaration(
                PrescribedAccelerationDeclaration(self, checked, named), self.count
            )

        return declare if compute is None else declare(compute)

    def equilibrium(
        self,
        without_parentheses: None = None,
        /,
        *,
        stage: Stage,
        prerequisites: FamilyPrerequisites | None = None,
    ) -> Callable[[Motion], "FamilyDeclaration[CacheEntry[Vector]]"]:
        """Decorate the function ``(self, state, i)`` that is zero at equilibrium of one."""
        decorate = equilibrium_decorator(self, without_parentheses, stage, prerequisites)
        return lambda compute: FamilyDeclaration(decorate(compute), self.count)


def _family(what: str, item: AbstractDeclaration[H], count: Count) -> FamilyDeclaration[H]:
    if not callable(count):
        count = check_count(count, 0, f"{what}(count=...)")
    return FamilyDeclaration(item, count)


def cached_family(
    *,
    count: Count,
    prerequisites: FamilyPrerequisites | None = None,
    available_from: Stage | None = None,
    computed_by: Stage = Stage.INFINITY,
    equal: Equality = None,
) -> Callable[[Callable[[Any, Any, int], T]], FamilyDeclaration[CacheEntry[T]]]:
    """Declare many cache entries, by the function ``(self, state, i)`` that computes one of them.

    Parameters
    ----------
    count : int or callable
        How many; or a function ``(self)`` that tells, called when the topology is realized.
    prerequisites : tuple or callable
        As for `cached`; the function is ``(self, i)``. A family that is named in a tuple stands for
        all its items.
    available_from, computed_by, equal : optional
        As for `cached`.

    Raises
    ------
    DeclarationError, PrerequisitesError, StageOutOfRangeError, InvalidCountError
    """
    what = "cached_family"
    settings = CachedSettings.checked(what, prerequisites, available_from, computed_by, equal)

    def declare(compute: Callable[[Any, Any, int], T]) -> FamilyDeclaration[CacheEntry[T]]:
        function = check_compute(compute, what, in_family=True)
        return _family(what, CachedDeclaration(function, settings), count)

    return declare


@overload
def parameter_family(initial: T, *, count: Count) -> FamilyDeclaration[DiscreteVariable[T]]: ...
@overload
def parameter_family(
    *, factory: Callable[[Any, int], T], count: Count
) -> FamilyDeclaration[DiscreteVariable[T]]: ...
def parameter_family(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any, int], Any] | None = None, count: Count
) -> FamilyDeclaration[DiscreteVariable[Any]]:
    """Declare many parameters; `factory` is ``(self, i)``. See `parameter` and `cached_family`."""
    return _discrete_family("parameter_family", initial, factory, Stage.INSTANCE, count)


@overload
def discrete_family(
    initial: T, *, invalidates: Stage, count: Count
) -> FamilyDeclaration[DiscreteVariable[T]]: ...
@overload
def discrete_family(
    *, factory: Callable[[Any, int], T], invalidates: Stage, count: Count
) -> FamilyDeclaration[DiscreteVariable[T]]: ...
def discrete_family(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[[Any, int], Any] | None = None,
    invalidates: Stage,
    count: Count,
) -> FamilyDeclaration[DiscreteVariable[Any]]:
    """Declare many discrete variables; `factory` is ``(self, i)``. See `discrete`."""
    what = "discrete_family"
    stage = check_stage(invalidates, Stage.MODEL, Stage.REPORT, f"{what}(invalidates=...)")
    return _discrete_family(what, initial, factory, stage, count)


def _discrete_family(
    what: str, initial: Any, factory: Any, invalidates: Stage, count: Count
) -> FamilyDeclaration[DiscreteVariable[Any]]:
    item = DiscreteDeclaration(Initial(what, initial, factory), invalidates)
    return _family(what, item, count)


@overload
def q_variable_family(initial: float, *, count: Count) -> FamilyDeclaration[ScalarVariable]: ...
@overload
def q_variable_family(
    initial: ArrayLike, *, count: Count
) -> FamilyDeclaration[ContinuousVariable]: ...
@overload
def q_variable_family(
    *, factory: Callable[[Any, Any, int], ArrayLike], count: Count
) -> FamilyDeclaration[ContinuousVariable]: ...
def q_variable_family(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[[Any, Any, int], ArrayLike] | None = None,
    count: Count,
) -> Any:
    """Declare many blocks of q; `factory` is ``(self, state, i)``. See `q_variable`."""
    return _family("q_variable_family", continuous("q", initial, factory), count)


@overload
def u_variable_family(initial: float, *, count: Count) -> FamilyDeclaration[ScalarVariable]: ...
@overload
def u_variable_family(
    initial: ArrayLike, *, count: Count
) -> FamilyDeclaration[ContinuousVariable]: ...
@overload
def u_variable_family(
    *, factory: Callable[[Any, Any, int], ArrayLike], count: Count
) -> FamilyDeclaration[ContinuousVariable]: ...
def u_variable_family(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[[Any, Any, int], ArrayLike] | None = None,
    count: Count,
) -> Any:
    """Declare many blocks of u; `factory` is ``(self, state, i)``. See `u_variable`."""
    return _family("u_variable_family", continuous("u", initial, factory), count)


@overload
def z_variable_family(initial: float, *, count: Count) -> FamilyDeclaration[ScalarVariable]: ...
@overload
def z_variable_family(
    initial: ArrayLike, *, count: Count
) -> FamilyDeclaration[ContinuousVariable]: ...
@overload
def z_variable_family(
    *, factory: Callable[[Any, Any, int], ArrayLike], count: Count
) -> FamilyDeclaration[ContinuousVariable]: ...
def z_variable_family(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[[Any, Any, int], ArrayLike] | None = None,
    count: Count,
) -> Any:
    """Declare many blocks of z; `factory` is ``(self, state, i)``. See `z_variable`."""
    return _family("z_variable_family", continuous("z", initial, factory), count)
