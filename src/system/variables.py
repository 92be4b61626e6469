"""Declared variables: parameters, modeling options, other discrete variables, and q, u and z."""

from collections.abc import Callable
from numbers import Real
from typing import Any, Final, Generic, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import DeclarationError, brief
from stagecache.state.allocation import allocate_block, allocate_discrete
from stagecache.state.contents import Contents
from stagecache.state.conversion import FLOAT, converted
from stagecache.state.handles import (
    ContinuousVariable,
    DiscreteVariable,
    ScalarVariable,
    Vector,
)
from stagecache.state.layout import resize
from stagecache.state.places import vector_of
from stagecache.state.stage import Stage, check_stage
from stagecache.state.values import duplicate
from stagecache.system.declaration import AbstractDeclaration, arguments, declared_attempt

H = TypeVar("H")
T = TypeVar("T")
NOT_GIVEN: Final[Any] = object()


@final
class Initial(Generic[T]):
    """A first value: the value itself, or a function that makes it.

    Raises
    ------
    DeclarationError
        Neither is given, or both are.
    """

    def __init__(self, what: str, value: T, factory: Callable[..., T] | None) -> None:
        if (value is NOT_GIVEN) == (factory is None):
            raise DeclarationError(
                f"{what}: needs one first value",
                "a value, or factory=",
                "neither" if factory is None else "both",
                f"write {what}(1.0), or {what}(factory=lambda self: self.something)",
            )
        if factory is not None and not callable(factory):
            raise DeclarationError(
                f"{what}: its factory cannot be called", "a function", brief(factory), "pass one"
            )
        self.value = value if value is NOT_GIVEN else duplicate(value)
        self.factory = factory

    def __call__(self, *args: Any) -> T:
        """Return the value; where it can be changed, one that nobody else has."""
        return duplicate(self.value) if self.factory is None else self.factory(*args)


class AbstractVariable(AbstractDeclaration[H]):
    """A declared variable."""

    @property
    def is_variable(self) -> bool:
        """Whether it is written, rather than computed."""
        return True


# ---------------------------------------------------------------------- discrete variables


@final
class DiscreteDeclaration(AbstractVariable[DiscreteVariable[T]]):
    """A declared discrete variable."""

    def __init__(self, initial: Initial[T], invalidates: Stage) -> None:
        self.initial = initial
        self.invalidates = invalidates

    def _new_handle(self, name: str) -> DiscreteVariable[T]:
        return DiscreteVariable(name, self.invalidates)

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate it with its first value."""
        what = declared_attempt(contents, handle)
        allocate_discrete(what, handle, self.initial(*arguments(handle)))


@overload
def parameter(initial: T) -> DiscreteDeclaration[T]: ...
@overload
def parameter(*, factory: Callable[[Any], T]) -> DiscreteDeclaration[T]: ...
def parameter(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any], Any] | None = None
) -> DiscreteDeclaration[Any]:
    """Declare a discrete variable that invalidates Instance: a mass, a length, a stiffness.

    Parameters
    ----------
    initial : object
        Its value in the default State. Of an array a read-only copy is kept.
    factory : callable
        Instead, a function ``(self)`` that returns it, called when the topology is realized.

    Raises
    ------
    DeclarationError
        Neither is given, or both are.
    """
    return DiscreteDeclaration(Initial("parameter", initial, factory), Stage.INSTANCE)


@overload
def modeling_option(initial: T) -> DiscreteDeclaration[T]: ...
@overload
def modeling_option(*, factory: Callable[[Any], T]) -> DiscreteDeclaration[T]: ...
def modeling_option(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any], Any] | None = None
) -> DiscreteDeclaration[Any]:
    """Declare a discrete variable that invalidates Model, and so may decide sizes.

    Parameters are those of `parameter`.
    """
    return DiscreteDeclaration(Initial("modeling_option", initial, factory), Stage.MODEL)


@overload
def discrete(initial: T, *, invalidates: Stage) -> DiscreteDeclaration[T]: ...
@overload
def discrete(*, factory: Callable[[Any], T], invalidates: Stage) -> DiscreteDeclaration[T]: ...
def discrete(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any], Any] | None = None, invalidates: Stage
) -> DiscreteDeclaration[Any]:
    """Declare a discrete variable.

    Parameters
    ----------
    initial, factory
        As those of `parameter`.
    invalidates : Stage
        Model to Report: a write makes this stage stale, and those after it.

    Raises
    ------
    DeclarationError, StageOutOfRangeError
    """
    stage = check_stage(invalidates, Stage.MODEL, Stage.REPORT, "discrete(invalidates=...)")
    return DiscreteDeclaration(Initial("discrete", initial, factory), stage)


# ---------------------------------------------------------------------- q, u and z


@final
class ScalarDeclaration(AbstractVariable[ScalarVariable]):
    """One declared number of q, u or z."""

    def __init__(self, kind: str, initial: float) -> None:
        self.kind = kind
        self.initial = initial

    def _new_handle(self, name: str) -> ScalarVariable:
        return ScalarVariable(self.kind, name)

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate it with its first value."""
        what = declared_attempt(contents, handle)
        allocate_block(what, handle, [self.initial])


@final
class VectorDeclaration(AbstractVariable[ContinuousVariable]):
    """Some declared numbers of q, u or z."""

    def __init__(self, kind: str, initial: Initial[ArrayLike]) -> None:
        self.kind = kind
        self.initial = initial

    def _new_handle(self, name: str) -> ContinuousVariable:
        return ContinuousVariable(self.kind, name)

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate it with its first values, or without any if a State has to be asked for them."""
        what = declared_attempt(contents, handle)
        allocate_block(what, handle, None if self.initial.factory else self.initial.value)

    def sizing(self, handle: Any) -> Callable[[Any], None] | None:
        """Let the factory say how many there are, and what they start with."""
        factory = self.initial.factory
        if factory is None:
            return None
        subsystem, *number = arguments(handle)

        def size(state: Any) -> None:
            what = f"the first values of {handle}"
            try:
                found = factory(subsystem, state, *number)
            except Exception as error:
                error.add_note(f"while {what} were asked for")
                raise
            vector = vector_of(np.atleast_1d(np.asarray(found)), what)
            initial = converted(vector, FLOAT, (len(vector),), what).copy()
            initial.flags.writeable = False
            layout = state._contents.realization.own_subsystem(handle.subsystem)
            resize(layout.rows[self.kind], handle.slot, len(initial), initial)

        return size


def continuous(
    kind: str, initial: Any, factory: Callable[..., ArrayLike] | None
) -> ScalarDeclaration | VectorDeclaration:
    """A declaration of some q, u or z: a scalar if the first value is a number."""
    what = f"{kind}_variable"
    first = Initial(what, initial, factory)
    if factory is not None:
        return VectorDeclaration(kind, first)
    if isinstance(initial, Real) and not isinstance(initial, bool):
        return ScalarDeclaration(kind, float(initial))
    vector = vector_of(initial, what)
    values: Vector = converted(vector, FLOAT, (len(vector),), what).copy()
    return VectorDeclaration(kind, Initial(what, values, None))


@overload
def q_variable(initial: float) -> ScalarDeclaration: ...
@overload
def q_variable(initial: ArrayLike) -> VectorDeclaration: ...
@overload
def q_variable(*, factory: Callable[[Any, Any], ArrayLike]) -> VectorDeclaration: ...
def q_variable(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any, Any], ArrayLike] | None = None
) -> Any:
    """Declare generalized coordinates. A write invalidates Position.

    Parameters
    ----------
    initial : float or array_like of shape (n,)
        What they start with. A number is read and set as a float, all else as a vector.
    factory : callable
        Instead, a function ``(self, state)`` that returns a vector. It is called whenever Model is
        realized, with the State at Topology: its modeling options can be read, and so may decide
        how many there are.

    Raises
    ------
    DeclarationError, ShapeError, NotANumberError
    """
    return continuous("q", initial, factory)


@overload
def u_variable(initial: float) -> ScalarDeclaration: ...
@overload
def u_variable(initial: ArrayLike) -> VectorDeclaration: ...
@overload
def u_variable(*, factory: Callable[[Any, Any], ArrayLike]) -> VectorDeclaration: ...
def u_variable(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any, Any], ArrayLike] | None = None
) -> Any:
    """Declare generalized speeds, as `q_variable` does. A write invalidates Velocity."""
    return continuous("u", initial, factory)


@overload
def z_variable(initial: float) -> ScalarDeclaration: ...
@overload
def z_variable(initial: ArrayLike) -> VectorDeclaration: ...
@overload
def z_variable(*, factory: Callable[[Any, Any], ArrayLike]) -> VectorDeclaration: ...
def z_variable(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any, Any], ArrayLike] | None = None
) -> Any:
    """Declare auxiliary variables, as `q_variable` does. A write invalidates Dynamics."""
    return continuous("z", initial, factory)
