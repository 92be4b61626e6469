"""Declared discrete variables with an entry for their next value."""

from collections.abc import Callable
from typing import Any, TypeVar, final, overload

from stagecache.state.allocation import allocate_discrete
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AutoUpdateVariable, CacheEntry
from stagecache.state.stage import Stage, check_stage
from stagecache.system.declare.computations import AbstractComputation, decorator
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    Prerequisites,
    declared_attempt,
)
from stagecache.system.declare.families import repeated
from stagecache.system.declare.variables import NOT_GIVEN, AbstractVariable, Initial

T = TypeVar("T")


@final
class AutoUpdateDeclaration(AbstractVariable[AutoUpdateVariable[T]]):
    """A declared discrete variable with an entry for its next value."""

    def __init__(self, initial: Initial[T], invalidates: Stage, available_from: Stage) -> None:
        self.initial = initial
        self.invalidates = invalidates
        self.available_from = available_from

    @overload
    def update(self, compute: Callable[[Any, Any], T]) -> "UpdateDeclaration[T]": ...
    @overload
    def update(
        self, *, prerequisites: Prerequisites
    ) -> Callable[[Callable[[Any, Any], T]], "UpdateDeclaration[T]"]: ...
    def update(
        self,
        compute: Callable[[Any, Any], T] | None = None,
        *,
        prerequisites: Prerequisites | None = None,
    ) -> Any:
        """Decorate the function ``(self, state)`` that computes the next value.

        It is called when the stage on which the update depends is realized. Prerequisites are what
        makes the next value stale beside that stage, as for `cached`.
        """
        return decorator(
            f"@{self.name}.update",
            lambda f, p: UpdateDeclaration(self, f, p),
            prerequisites,
            compute,
        )

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate it with its first value; and its update entry, if no function computes that."""
        what = declared_attempt(contents, handle)
        is_computed = self._is_computed(handle._owner)
        allocate_discrete(what, handle, self.initial(handle._owner), with_update=not is_computed)

    def _bind_all(self, subsystem: Any) -> AutoUpdateVariable[T]:
        attribute = f"{self.name}.update"
        by = self.available_from if self._is_computed(subsystem) else Stage.INFINITY
        entry: CacheEntry[T] = CacheEntry(attribute, self.available_from, by)
        entry._declared(subsystem, attribute)
        variable = AutoUpdateVariable(self.name, self.invalidates, entry)
        variable._declared(subsystem, self.name)
        return variable

    def _is_computed(self, subsystem: Any) -> bool:
        return any(
            isinstance(declared, UpdateDeclaration) and declared.of.name == self.name
            for declared in type(subsystem).declarations.values()
        )


@final
class UpdateDeclaration(AbstractComputation[T]):
    """The declared computation of the next value of an auto-update variable."""

    role = "update"

    def __init__(
        self,
        of: AutoUpdateDeclaration[T],
        compute: Callable[[Any, Any], T],
        prerequisites: Prerequisites | None,
    ) -> None:
        super().__init__(compute, prerequisites, of.available_from)
        self.of: AutoUpdateDeclaration[T] = of
        self.available_from = of.available_from

    def fits(self, declared: AbstractDeclaration[Any]) -> bool:
        """Tell whether that is an auto-update variable."""
        return isinstance(declared, AutoUpdateDeclaration)

    def _bind_all(self, subsystem: Any) -> object:
        return getattr(subsystem, self.of.name).update


@overload
def auto_update(
    initial: T, *, invalidates: Stage, available_from: Stage, unit: str = ""
) -> AutoUpdateDeclaration[T]: ...
@overload
def auto_update(
    *,
    factory: Callable[[Any], T],
    invalidates: Stage,
    available_from: Stage,
    unit: str = "",
) -> AutoUpdateDeclaration[T]: ...
def auto_update(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[[Any], Any] | None = None,
    invalidates: Stage,
    available_from: Stage,
    unit: str = "",
) -> Any:
    """Declare a discrete variable together with a cache entry for its next value.

    `State.auto_update_discrete_variables` exchanges the two where the entry is valid. Its value
    is computed by the function that ``@name.update`` decorates, or else by a hook; what that
    function reads beside the stage, ``@name.update(prerequisites=...)`` names. A computation that
    is to use the next value already depends on, and reads, ``self.name.update``.

    Parameters
    ----------
    initial, factory, unit
        Same as for `parameter`.
    invalidates : Stage
        Position to Report: what a write, not an exchange, makes stale.
    available_from : Stage
        The first stage at which the next value can be computed.

    Raises
    ------
    DeclarationError, StageOutOfRangeError, InvalidNameError
    """
    what = "auto_update"
    stage = check_stage(invalidates, Stage.POSITION, Stage.REPORT, f"{what}(invalidates=...)")
    available_from = check_stage(
        available_from, Stage.TOPOLOGY, Stage.REPORT, f"{what}(available_from=...)"
    )
    item = AutoUpdateDeclaration(Initial(what, initial, factory), stage, available_from)
    return repeated(what, item, None, unit)
