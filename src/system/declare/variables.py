"""Declared variables: parameters, modeling options, other discrete variables, and q, u and z."""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Final, Generic, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike

from stagecache.errors import DeclarationError, short_repr
from stagecache.graph.declaration import check_returns
from stagecache.state.allocation import allocate_block, allocate_discrete
from stagecache.state.contents.contents import Contents
from stagecache.state.continuous.continuous_state import vector_of
from stagecache.state.handles import (
    ContinuousVariable,
    DiscreteVariable,
    ScalarVariable,
    Vector,
)
from stagecache.state.items.layout import resize_all
from stagecache.state.stage import Stage, check_stage
from stagecache.state.values.values import duplicate, snapshot
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    Prerequisites,
    arguments,
    declared_attempt,
)
from stagecache.system.declare.enabling import Enabling
from stagecache.system.declare.families import Count, FamilyDeclaration, repeated
from stagecache.system.declare.fast_variables import EquilibriumDeclaration, equilibrium_decorator
from stagecache.system.declare.prescribed import Motion, PrescribedDeclaration, prescribed_decorator

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
    WrongTypeError
        The function is a coroutine or generator function.
    """

    def __init__(self, what: str, value: T, factory: Callable[..., T] | None) -> None:
        if (value is NOT_GIVEN) == (factory is None):
            raise DeclarationError(
                f"{what}: needs one first value",
                "a value, or factory=",
                "neither" if factory is None else "both",
                f"write {what}(1.0), or {what}(factory=lambda self: self.something)",
            )
        if factory is not None:
            if not callable(factory):
                raise DeclarationError(
                    f"{what}: its factory cannot be called",
                    "a function",
                    short_repr(factory),
                    "pass one",
                )
            check_returns(factory, f"{what}(factory=...)")
        self.value = value if value is NOT_GIVEN else duplicate(snapshot(value, what))
        self.factory = factory

    def __call__(self, *args: Any) -> T:
        """Return the value; where it can be changed, one that nobody else has."""
        return duplicate(self.value) if self.factory is None else self.factory(*args)


class AbstractVariable(AbstractDeclaration[H]):
    """A declared variable."""

    @property
    def is_variable(self) -> bool:
        """True: it is written, rather than computed."""
        return True


class AbstractFastVariable(AbstractVariable[H]):
    """A declared variable that may be fast: it is moved to an equilibrium, not integrated."""

    def equilibrium(
        self,
        without_parentheses: None = None,
        /,
        *,
        stage: Stage,
        prerequisites: Prerequisites | None = None,
    ) -> Callable[[Motion], EquilibriumDeclaration]:
        """Decorate the function ``(self, state)`` that is zero at equilibrium.

        It returns as many residuals as the variable has numbers. `System.relax` moves the variable
        so that they vanish.

        Parameters
        ----------
        stage : Stage
            For which the condition is solved: one that a write of the variable invalidates. All
            that can be read at that stage may be read.
        prerequisites : tuple or callable, optional
            Further prerequisites: those that change without invalidating that stage.

        Raises
        ------
        DeclarationError
            A write of the variable does not change what is computed at that stage.
        StageOutOfRangeError, WrongTypeError, ComputeSignatureError
        """
        return equilibrium_decorator(self, without_parentheses, stage, prerequisites)


# ---------------------------------------------------------------------- discrete variables


@final
class DiscreteDeclaration(AbstractFastVariable[DiscreteVariable[T]]):
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
def parameter(initial: T, *, unit: str = "") -> DiscreteDeclaration[T]: ...
@overload
def parameter(*, factory: Callable[[Any], T], unit: str = "") -> DiscreteDeclaration[T]: ...
@overload
def parameter(
    initial: T, *, count: Count, unit: str = ""
) -> FamilyDeclaration[DiscreteVariable[T]]: ...
@overload
def parameter(
    *, factory: Callable[[Any, int], T], count: Count, unit: str = ""
) -> FamilyDeclaration[DiscreteVariable[T]]: ...
def parameter(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[..., Any] | None = None,
    count: Count | None = None,
    unit: str = "",
) -> Any:
    """Declare a discrete variable that invalidates Instance: a mass, a length, a stiffness.

    Parameters
    ----------
    initial : object
        Its value in the default State. Of an array a read-only copy is kept.
    factory : callable
        Instead, a function ``(self)`` that returns it, called when the topology is realized; with
        a count, ``(self, i)``.
    count : int, sequence of str, or callable, optional
        Declare several under one name, a `Family`: their number; or their names, by which saved
        values find them again; or a function ``(self)`` that returns either, called when the
        topology is realized.
    unit : str, optional
        The unit of its numbers, such as "m/s", for plots, tables and files. `System.units` has it.
        Nothing is converted.

    Raises
    ------
    DeclarationError
        Neither first value is given, or both are.
    OutOfRangeError
    InvalidNameError
        The unit is not a string.
    """
    return _discrete("parameter", initial, factory, Stage.INSTANCE, count, unit)


@overload
def modeling_option(initial: T, *, unit: str = "") -> DiscreteDeclaration[T]: ...
@overload
def modeling_option(*, factory: Callable[[Any], T], unit: str = "") -> DiscreteDeclaration[T]: ...
def modeling_option(
    initial: Any = NOT_GIVEN, *, factory: Callable[[Any], Any] | None = None, unit: str = ""
) -> Any:
    """Declare a discrete variable that invalidates Model, and so may decide sizes.

    Parameters as for `parameter`, without the count.

    Raises
    ------
    DeclarationError
    """
    return _discrete("modeling_option", initial, factory, Stage.MODEL, None, unit)


@overload
def discrete(initial: T, *, invalidates: Stage, unit: str = "") -> DiscreteDeclaration[T]: ...
@overload
def discrete(
    *, factory: Callable[[Any], T], invalidates: Stage, unit: str = ""
) -> DiscreteDeclaration[T]: ...
@overload
def discrete(
    initial: T, *, invalidates: Stage, count: Count, unit: str = ""
) -> FamilyDeclaration[DiscreteVariable[T]]: ...
@overload
def discrete(
    *, factory: Callable[[Any, int], T], invalidates: Stage, count: Count, unit: str = ""
) -> FamilyDeclaration[DiscreteVariable[T]]: ...
def discrete(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[..., Any] | None = None,
    invalidates: Stage,
    count: Count | None = None,
    unit: str = "",
) -> Any:
    """Declare a discrete variable.

    Parameters
    ----------
    initial, factory, count, unit
        Same as for `parameter`.
    invalidates : Stage
        Model to Report: a write makes this stage stale, and those after it.

    Raises
    ------
    DeclarationError, StageOutOfRangeError, OutOfRangeError, InvalidNameError
    """
    stage = check_stage(invalidates, Stage.MODEL, Stage.REPORT, "discrete(invalidates=...)")
    return _discrete("discrete", initial, factory, stage, count, unit)


def _discrete(
    what: str, initial: Any, factory: Any, invalidates: Stage, count: Any, unit: str
) -> Any:
    item = DiscreteDeclaration(Initial(what, initial, factory), invalidates)
    return repeated(what, item, count, unit)


# ---------------------------------------------------------------------- q, u and z


class AbstractContinuousDeclaration(AbstractFastVariable[H]):
    """Declared numbers of q, u or z.

    Attributes
    ----------
    kind : str
        "q", "u" or "z".
    """

    kind: str

    @overload
    def prescribed(self, compute: Motion) -> PrescribedDeclaration: ...
    @overload
    def prescribed(
        self,
        *,
        prerequisites: Prerequisites | None = None,
        enabled: Enabling = None,
    ) -> Callable[[Motion], PrescribedDeclaration]: ...
    def prescribed(
        self,
        compute: Motion | None = None,
        *,
        prerequisites: Prerequisites | None = None,
        enabled: Enabling = None,
    ) -> Any:
        """Decorate the function ``(self, state)`` of the values to which q or u is set.

        Values of q are computed by stage Time, values of u by Position. `System.prescribe_q` and
        `prescribe_u` write the values; nothing else moves the variable.

        Parameters
        ----------
        prerequisites : tuple or callable, optional
            Same as for `cached`: of q, items that can be read at Time; of u, at Position.
            The default is all of that stage.
        enabled : declaration, optional
            A declared bool that invalidates Instance or Model, of the same class. Where it is False
            the variable is free.

        Raises
        ------
        DeclarationError
            The variable is not a q or u.
        WrongTypeError, ComputeSignatureError
        """
        return prescribed_decorator(self, compute, prerequisites, enabled)


@final
class ScalarDeclaration(AbstractContinuousDeclaration[ScalarVariable]):
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
class VectorDeclaration(AbstractContinuousDeclaration[ContinuousVariable]):
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
        return self.sizing_of_all([handle])

    def sizing_of_all(self, handles: Sequence[Any]) -> Callable[[Any], None] | None:
        """Return one function for consecutive variables, which finds their places once."""
        if self.initial.factory is None:
            return None
        first = handles[0]

        def size(state: Any) -> None:
            found = [self._first_values(handle, state) for handle in handles]
            layout = state._contents.realization.own_subsystem(first.subsystem)
            resize_all(layout.rows[self.kind], first.slot, [(len(v), v) for v in found])

        return size

    def _first_values(self, handle: Any, state: Any) -> Vector:
        """Call the factory, and return its values as a read-only vector."""
        factory: Any = self.initial.factory
        subsystem, *number = arguments(handle)
        what = f"the first values of {handle}"
        try:
            found = factory(subsystem, state, *number)
        except Exception as error:
            error.add_note(f"while {what} were asked for")
            raise
        vector = vector_of(found if isinstance(found, list) or np.ndim(found) else [found], what)
        initial: Vector = converted(vector, FLOAT, (len(vector),), what).copy()
        initial.flags.writeable = False
        return initial


def _continuous(
    kind: str,
    initial: Any,
    factory: Callable[..., ArrayLike] | None,
    count: Count | None,
    unit: str,
) -> Any:
    """Declare some q, u or z: a scalar if the first value is a number."""
    what = f"{kind}_variable"
    first = Initial(what, initial, factory)
    item: ScalarDeclaration | VectorDeclaration
    if factory is not None:
        item = VectorDeclaration(kind, first)
    elif isinstance(initial, Real) and not isinstance(initial, bool):
        item = ScalarDeclaration(kind, float(initial))
    else:
        vector = vector_of(initial, what)
        values: Vector = converted(vector, FLOAT, (len(vector),), what).copy()
        item = VectorDeclaration(kind, Initial(what, values, None))
    return repeated(what, item, count, unit)


@overload
def q_variable(initial: float, *, unit: str = "") -> ScalarDeclaration: ...
@overload
def q_variable(initial: ArrayLike, *, unit: str = "") -> VectorDeclaration: ...
@overload
def q_variable(
    *, factory: Callable[[Any, Any], ArrayLike], unit: str = ""
) -> VectorDeclaration: ...
@overload
def q_variable(
    initial: float, *, count: Count, unit: str = ""
) -> FamilyDeclaration[ScalarVariable]: ...
@overload
def q_variable(
    initial: ArrayLike, *, count: Count, unit: str = ""
) -> FamilyDeclaration[ContinuousVariable]: ...
@overload
def q_variable(
    *, factory: Callable[[Any, Any, int], ArrayLike], count: Count, unit: str = ""
) -> FamilyDeclaration[ContinuousVariable]: ...
def q_variable(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[..., ArrayLike] | None = None,
    count: Count | None = None,
    unit: str = "",
) -> Any:
    """Declare generalized coordinates. A write invalidates Position.

    Values can be given as a function of the time, with ``@angle.prescribed``, or moved to an
    equilibrium, with ``@angle.equilibrium(stage=...)``. Else they are free.

    Parameters
    ----------
    initial : float or array_like of shape (n,)
        First values. A number is read and set as a float, all else as a vector.
    factory : callable
        Instead, a function ``(self, state)`` that returns a vector; with a count,
        ``(self, state, i)``. It is called whenever Model is realized, with the State at Topology:
        its modeling options can be read, and so may decide how many numbers there are.
    count, unit
        Same as for `parameter`.

    Raises
    ------
    DeclarationError, ShapeError, NotANumberError, OutOfRangeError, InvalidNameError
    """
    return _continuous("q", initial, factory, count, unit)


@overload
def u_variable(initial: float, *, unit: str = "") -> ScalarDeclaration: ...
@overload
def u_variable(initial: ArrayLike, *, unit: str = "") -> VectorDeclaration: ...
@overload
def u_variable(
    *, factory: Callable[[Any, Any], ArrayLike], unit: str = ""
) -> VectorDeclaration: ...
@overload
def u_variable(
    initial: float, *, count: Count, unit: str = ""
) -> FamilyDeclaration[ScalarVariable]: ...
@overload
def u_variable(
    initial: ArrayLike, *, count: Count, unit: str = ""
) -> FamilyDeclaration[ContinuousVariable]: ...
@overload
def u_variable(
    *, factory: Callable[[Any, Any, int], ArrayLike], count: Count, unit: str = ""
) -> FamilyDeclaration[ContinuousVariable]: ...
def u_variable(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[..., ArrayLike] | None = None,
    count: Count | None = None,
    unit: str = "",
) -> Any:
    """Declare generalized speeds, as `q_variable` does. A write invalidates Velocity.

    The hook `Subsystem.realize_acceleration` fills their derivatives, udot; with a declared mass
    matrix, the System does.

    Raises
    ------
    DeclarationError, OutOfRangeError, NotANumberError, ShapeError
    """
    return _continuous("u", initial, factory, count, unit)


@overload
def z_variable(initial: float, *, unit: str = "") -> ScalarDeclaration: ...
@overload
def z_variable(initial: ArrayLike, *, unit: str = "") -> VectorDeclaration: ...
@overload
def z_variable(
    *, factory: Callable[[Any, Any], ArrayLike], unit: str = ""
) -> VectorDeclaration: ...
@overload
def z_variable(
    initial: float, *, count: Count, unit: str = ""
) -> FamilyDeclaration[ScalarVariable]: ...
@overload
def z_variable(
    initial: ArrayLike, *, count: Count, unit: str = ""
) -> FamilyDeclaration[ContinuousVariable]: ...
@overload
def z_variable(
    *, factory: Callable[[Any, Any, int], ArrayLike], count: Count, unit: str = ""
) -> FamilyDeclaration[ContinuousVariable]: ...
def z_variable(
    initial: Any = NOT_GIVEN,
    *,
    factory: Callable[..., ArrayLike] | None = None,
    count: Count | None = None,
    unit: str = "",
) -> Any:
    """Declare auxiliary variables, as `q_variable` does. A write invalidates Dynamics.

    They are for first-order differential equations: in heat, chemistry or control. The hook
    `Subsystem.realize_dynamics` fills their derivatives, zdot; `Subsystem.realize_acceleration`
    may, if zdot depends on accelerations.

    Raises
    ------
    DeclarationError, OutOfRangeError, NotANumberError, ShapeError

    Examples
    --------
    >>> from stagecache import Stage, Subsystem, System, z_variable
    >>> class Cup(Subsystem):
    ...     temperature = z_variable(90.0)
    ...
    ...     def realize_dynamics(self, state):
    ...         state[self].upd_zdot()[0] = 0.1 * (20.0 - self.temperature(state))
    >>> system = System(Cup())
    >>> state = system.new_state()
    >>> system.realize(state, Stage.DYNAMICS)
    >>> state.zdot
    array([-7.])
    """
    return _continuous("z", initial, factory, count, unit)
