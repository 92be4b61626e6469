"""Inputs: values that come from elsewhere, from where the System says.

::

    controller.force   ->   cart.force         connected: a handle of any subsystem
    time               ->   wind.speed         connected: a function of the time
    cart.force.fixed   ->   cart.force         fixed: a variable of each State

An input is a cache entry with its source as the only prerequisite, planned with each topology. So
it has a name, a status and a version in every view, and whatever reads, explains or traces entries
knows it already. It has no comparison of its own: where the source is compared (``equal=``), what
depends on the input stays valid with it.

The alternative is an alias, replaced by the source when the topology is realized. It would save one
computation after each change: a call and a check of the type, some microseconds in plain Python.
But values could only be checked at each read, and a handle that does not find itself in a State
would cost each read of anything a second look.

There are no outputs to declare: each handle is one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Final, Generic, TypeVar, final, get_type_hints, overload

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from stagecache.checks import require_count, require_text, type_text
from stagecache.errors import (
    ComputeSignatureError,
    ForeignNodeError,
    InputError,
    NodeKindError,
    NotANumberError,
    ShapeError,
    StagecacheError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.declaration import check_function
from stagecache.state.allocation import allocate_discrete
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import (
    AbstractContinuousVariable,
    AbstractHandle,
    CacheEntry,
    ContinuousElement,
    DiscreteVariable,
    ScalarVariable,
    Vector,
)
from stagecache.state.stage import Stage, check_stage
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.declare.cached import CachedDeclaration
from stagecache.system.declare.computations import AbstractComputation
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    PlannedEntry,
    declared_attempt,
    item_of,
)
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.units import unit_of
from stagecache.system.declare.variables import NOT_GIVEN, AbstractVariable, Initial

T = TypeVar("T")
Function = Callable[[float], Any]
"""A function of the time."""

NUMBERS: Final[dict[type, Any]] = {float: Real, int: Integral, bool: (bool, np.bool_)}
"""Types whose values are converted, with those from which they are."""

ADMITTED: Final[dict[type, Any]] = NUMBERS | {float: (Real, np.number)}
"""Types that may be promised where one of these is needed."""

INPUT: Final = "input"
"""Kind of the nodes of inputs in views."""

SIMPLE: Final = (bool, int, float, complex, str, bytes)


@final
@frozen
class Form:
    """The form of the values of an input.

    Attributes
    ----------
    kind : type
    shape : tuple of int or None
        Shape of an array of floats; None for one value of that type.
    """

    kind: type
    shape: tuple[int, ...] | None

    def checked(self, value: Any, port: object, source: object) -> Any:
        """Return a value in this form.

        Raises
        ------
        WrongTypeError
            It has another type.
        ShapeError, NotANumberError
            It is not an array of floats of that shape.
        """
        kind = self.kind
        if self.shape is not None:
            try:
                return converted(value, FLOAT, self.shape, port)
            except (ShapeError, NotANumberError) as error:  # whose hint is for a write
                raise self._misfit(port, source, error.got, type(error)) from None
        if type(value) is kind:
            return value
        if kind in NUMBERS:
            is_one = isinstance(value, NUMBERS[kind])
            if is_one and (kind is bool or not isinstance(value, bool)):
                try:
                    return kind(value)
                except OverflowError:  # an int of more than 308 digits
                    pass
        elif isinstance(value, kind):
            return value
        raise self._misfit(port, source, f"{short_repr(value)}, of type {type(value).__name__}")

    def check_type(self, promised: Any, port: object, source: object) -> None:
        """Refuse the promised type of an entry, if no value of it fits."""
        if not isinstance(promised, type) or promised is Any:  # which is a class
            return
        if self.shape is not None:
            fits = self.shape == () or not issubclass(promised, SIMPLE)
        elif self.kind in (float, int) and issubclass(promised, bool):
            fits = False
        else:
            try:
                fits = issubclass(promised, ADMITTED.get(self.kind, self.kind)) or issubclass(
                    self.kind, promised
                )
            except TypeError:  # a protocol
                return
        if not fits:
            got = f"a computation that promises {promised.__name__}"
            raise self._misfit(port, source, got, ShapeError if self.shape else WrongTypeError)

    def _misfit(
        self,
        port: object,
        source: object,
        got: str,
        kind: type[StagecacheError] = WrongTypeError,
    ) -> StagecacheError:
        if isinstance(source, str):  # it is given with the input
            return kind(f"{port}: {source} does not fit", str(self), got, f"give {self}")
        hint = "connect another source; or let an entry of @cached convert this one"
        if isinstance(port, CacheEntry) and source is variable_of(port):
            hint = f"write {self}: {source}.set(state, value)"
        what = f"{port}: its source does not fit"
        return kind(what, str(self), f"{got}; the source is {shown(source)}", hint)

    def __str__(self) -> str:
        if self.shape is not None:
            return f"an array of floats of shape {self.shape}"
        name = self.kind.__name__
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


@final
@frozen(eq=False)
class Fixed:
    """The source of an input that is a variable of the State.

    Attributes
    ----------
    initial : Initial
        Its value in the default State.
    """

    initial: Initial[Any]

    @classmethod
    def of(cls, value: object) -> "Fixed":
        """Return a source with a first value."""
        return cls(Initial("an input", value, None))


@final
class Feed:
    """The function of an input: it reads the source, and checks the value.

    Parameters
    ----------
    port : CacheEntry
    source : handle
    form : Form
    function : callable, optional
        A function of the time, if the source is the time.
    """

    __slots__ = ("_form", "_function", "_port", "_source")

    def __init__(
        self, port: CacheEntry[Any], source: Any, form: Form, function: Function | None = None
    ) -> None:
        self._port = port
        self._source = source
        self._form = form
        self._function = function

    def __call__(self, state: Any) -> Any:
        """Return the value of the source."""
        value: Any = self._source(state)
        if self._function is not None:
            value = self._function(value)
        return self._form.checked(value, self._port, self._function or self._source)


@final
class Nowhere:
    """The function of an input without a source: it raises."""

    __slots__ = ("_port",)

    def __init__(self, port: CacheEntry[Any]) -> None:
        self._port = port

    def __call__(self, state: Any) -> Any:  # noqa: ARG002  # as of any entry
        """Raise `InputError`."""
        raise unconnected(self._port, "a read")


def unconnected(port: CacheEntry[Any], reader: object) -> InputError:
    """Return the error for an input that is needed and has no source."""
    return InputError(
        f"{port}: has no source",
        "an input that is connected or fixed, or has a default",
        f"one without, needed by {reader}",
        f"call system.connect(source, {port}), with the handle of another subsystem or a function "
        f"of the time; or system.fix({port}, value)",
    )


@final
class InputDeclaration(AbstractComputation[T]):
    """A declared input.

    Attributes
    ----------
    form : Form
    default : Fixed or None
        The source where the System says nothing.
    invalidates : Stage or None
        The first stage whose hooks read it.
    """

    def __init__(self, form: Form, default: Fixed | None, invalidates: Stage | None) -> None:
        super().__init__(_nothing, ())
        self.form = form
        self.default = default
        self.invalidates = invalidates

    instead = "call system.connect(source, {0}), or system.fix({0}, value)"

    @property
    def decorator(self) -> str:
        """The kind of the node in views."""
        return INPUT

    def source_in(self, subsystem: Any) -> Any:
        """Return its source in a subsystem: a handle, a function, `Fixed`, or None."""
        system = subsystem._system
        found = None if system is None else system._sources.get(self.bound(subsystem))
        return self.default if found is None else found

    def companions(
        self,
        found: Mapping[str, AbstractDeclaration[Any]],  # noqa: ARG002  # others need it
    ) -> Iterable[AbstractDeclaration[Any]]:
        """Return the variable that holds its value where it is fixed."""
        return (FixedDeclaration(self),)

    def plan(self, handle: Any) -> PlannedEntry:
        """Return the entry, whose only prerequisite is the source."""
        subsystem = handle._owner
        source = self.source_in(subsystem)
        if source is None:
            return PlannedEntry(
                handle, (), None, Nowhere(handle), _nothing, None, is_unconnected=True
            )
        function = None
        if isinstance(source, Fixed):
            source = variable_of(handle)
        elif not isinstance(source, AbstractHandle | ContinuousElement):
            source, function = subsystem.system.time, source
        above = source.variable if isinstance(source, ContinuousElement) else source
        return PlannedEntry(
            handle,
            (above,),
            None,
            Feed(handle, source, self.form, function),
            _nothing,
            None,
            needed_by=self.invalidates or Stage.INFINITY,
            check=None if function else lambda contents: self._check(contents, handle, source),
        )

    def _check(self, contents: Contents, port: CacheEntry[Any], source: Any) -> None:
        """Refuse a source whose values cannot fit, as far as that is known before they are read."""
        form, unit = self.form, unit_of(getattr(source, "variable", source))
        if unit and self.unit and unit != self.unit:
            raise InputError(
                f"{port}: has another unit than its source",
                self.unit,
                f"{unit}, of {source}",
                "declare both in one unit; or let an entry of @cached convert the source",
            )
        if isinstance(source, DiscreteVariable):
            value = contents.realization.store.values[source._node]
            if value is not None:
                form.checked(value, port, source)
        elif isinstance(source, CacheEntry):
            declared: Any = item_of(type(source._owner).declarations.get(source._declared_as))
            if isinstance(declared, InputDeclaration):
                given = declared.form
                if given.shape is None:
                    form.check_type(given.kind, port, source)
                else:
                    form.checked(np.zeros(given.shape), port, source)
            elif isinstance(declared, CachedDeclaration):
                form.check_type(_promised(declared.compute), port, source)
        elif isinstance(source, AbstractContinuousVariable) and source.slot >= 0:
            if isinstance(source, ScalarVariable):
                form.checked(0.0, port, source)
            elif source.size is not None:
                form.checked(np.zeros(source.size), port, source)
        elif not isinstance(source, AbstractContinuousVariable):  # the time, or a single number
            form.checked(0.0, port, source)


def shown(source: object) -> str:
    """Return the name of a source in messages."""
    if isinstance(source, AbstractHandle | ContinuousElement):
        return str(source)
    name = getattr(source, "__qualname__", "")
    return f"the function {name}" if name else short_repr(source)


def _nothing(*_: object) -> None:
    """Do nothing: `Feed` refuses None where it does not fit."""


def _promised(compute: Callable[..., Any]) -> Any:
    try:
        return get_type_hints(compute).get("return")
    except Exception:  # whatever the text of an annotation raises, which type checkers only know
        return None


@final
class FixedDeclaration(AbstractVariable[DiscreteVariable[Any]], Generic[T]):
    """The variable that holds the value of an input, where that is fixed."""

    role = "fixed"

    def __init__(self, of: InputDeclaration[T]) -> None:
        self.of: InputDeclaration[T] = of
        self.name = f"{of.name}.{self.role}"
        self.source = of.source
        self.unit = of.unit

    def items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """Return the handle, if the input is fixed there."""
        is_there = isinstance(self.of.source_in(subsystem), Fixed)
        return (self.bound(subsystem),) if is_there else ()

    def known_items(self, subsystem: Any) -> Sequence[AbstractHandle]:
        """Return the handle, also if the input was fixed in an older topology only."""
        known = subsystem.__dict__.get(self.name)
        return self.items(subsystem) if known is None else (known,)

    def _new_handle(self, name: str) -> DiscreteVariable[Any]:
        return DiscreteVariable(name, self.of.invalidates or Stage.TIME)

    def allocate(self, contents: Contents, handle: Any) -> None:
        """Allocate it with its first value."""
        fixed = self.of.source_in(handle._owner)
        port = self.of.bound(handle._owner)
        value = self.of.form.checked(fixed.initial(), port, "its first value")
        allocate_discrete(declared_attempt(contents, handle), handle, value)


# ---------------------------------------------------------------------- declaring


@overload
def input_port(
    kind: type[float],
    *,
    shape: int | tuple[int, ...],
    default: ArrayLike = ...,
    invalidates: Stage | None = None,
    unit: str = "",
) -> InputDeclaration[Vector]: ...
@overload
def input_port(
    kind: type[T], *, default: T = ..., invalidates: Stage | None = None, unit: str = ""
) -> InputDeclaration[T]: ...
def input_port(
    kind: type[Any] = float,
    *,
    shape: int | tuple[int, ...] | None = None,
    default: Any = NOT_GIVEN,
    invalidates: Stage | None = None,
    unit: str = "",
) -> Any:
    """Declare an input: a value that the System takes from elsewhere.

    The attribute of an instance is the handle of a cache entry. A computation that names it as a
    prerequisite depends on what is connected to it, and on nothing else of the other subsystem.
    `System.connect` connects it to a handle or to a function of the time; `System.fix` makes it a
    variable of each State. It can be read from the stage on at which its source can.

    An input without a source may stay unread. If a computation names it, realizing the topology
    raises an `InputError`; if a hook reads it, that read does.

    Parameters
    ----------
    kind : type
        The class of its values. A real number is converted to float, an integer to int, and numpy's
        bool to bool.
    shape : int or tuple of int, optional
        For an array of floats of this shape; an int n stands for (n,).
    default : object, optional
        Its first value in each State, where the System connects nothing; as of `System.fix`.
    invalidates : Stage, optional
        The first stage whose hooks read it, Time to Report. A write of a fixed value invalidates
        that stage, and a source is refused if a write upstream of it might leave that stage valid.
        By default, a fixed value invalidates Time, and any source is taken: that is right for
        computations, which name the input, and for hooks whose stages the source invalidates.
    unit : str, optional
        Same as for `parameter`; a source with another unit is refused.

    Raises
    ------
    WrongTypeError, ShapeError, NotANumberError, OutOfRangeError, StageOutOfRangeError
    InvalidNameError

    Examples
    --------
    >>> from stagecache import Subsystem, System, cached, input_port, parameter
    >>> class Motor(Subsystem):
    ...     torque = parameter(3.0)
    >>> class Wheel(Subsystem):
    ...     radius = parameter(0.5)
    ...     torque = input_port(float)
    ...
    ...     @cached(prerequisites=(radius, torque))
    ...     def push(self, state):
    ...         return self.torque(state) / self.radius(state)
    >>> motor, wheel = Motor(), Wheel()
    >>> system = System(motor, wheel)
    >>> system.connect(motor.torque, wheel.torque)
    >>> state = system.new_state()
    >>> wheel.push(state)
    6.0
    >>> motor.torque.set(state, 4.0)
    >>> wheel.push(state)
    8.0
    """
    what = "input_port"
    if not isinstance(kind, type):
        raise WrongTypeError(
            f"{what}({short_repr(kind)}): not a type",
            "the class of its values, as float",
            type_text(kind),
            "write input_port(float); a first value is default=...",
        )
    try:
        isinstance(None, kind)
    except TypeError:  # Any, or a protocol
        raise WrongTypeError(
            f"{what}({kind.__name__}): its values cannot be told from others",
            "a class of which isinstance() knows the objects",
            kind.__name__,
            f"write {what}(object) for any value; or @runtime_checkable above a protocol",
        ) from None
    sizes = None
    if shape is not None:
        given = shape if isinstance(shape, tuple) else (shape,)
        sizes = tuple([require_count(n, 0, f"{what}(shape=...)") for n in given])
        if kind is not float:
            raise WrongTypeError(
                f"{what}({kind.__name__}, shape=...): not an array of floats",
                "float",
                kind.__name__,
                f"write {what}(float, shape=...); or {what}(np.ndarray), for any array",
            )
    form = Form(kind, sizes)
    if invalidates is not None:
        invalidates = check_stage(invalidates, Stage.TIME, Stage.REPORT, f"{what}(invalidates=...)")
    first = None
    if default is not NOT_GIVEN:
        first = Fixed.of(form.checked(default, what, "its default"))
    declared: InputDeclaration[Any] = InputDeclaration(form, first, invalidates)
    declared.unit = require_text(unit, f"{what}(unit=...)", 'write it as one: unit="m/s"')
    return declared


# ---------------------------------------------------------------------- connecting


def variable_of(port: CacheEntry[Any]) -> DiscreteVariable[Any]:
    """Return the handle of the variable of an input, which is in a State if the input is fixed."""
    declarations: Any = type(port._owner).declarations
    found: DiscreteVariable[Any] = declarations[f"{port._declared_as}.fixed"].bound(port._owner)
    return found


def source_of(port: CacheEntry[Any], system: Any) -> Any:
    """Return the source of an input, or None: a handle, or a function of the time."""
    source = declaration_of(port, system).source_in(port._owner)
    return variable_of(port) if isinstance(source, Fixed) else source


def declaration_of(port: object, system: Any) -> InputDeclaration[Any]:
    """Return the declaration of an input of a System.

    Raises
    ------
    WrongTypeError, ForeignNodeError, NodeKindError
        It is something else.
    """
    if not isinstance(port, AbstractHandle):
        raise WrongTypeError(
            f"{short_repr(port)}: not an input",
            "the handle of an input, as cart.force",
            type_text(port),
            "take it of a subsystem, not of its class: cart.force, not Cart.force",
        )
    _require_declared(port, system)
    declared = getattr(type(port._owner), "declarations", {}).get(port._declared_as)
    if isinstance(declared, InputDeclaration):
        return declared
    raise NodeKindError(
        f"{port}: not an input",
        "an item that is declared by input_port",
        "a cache entry" if isinstance(port, CacheEntry) else "a variable",
        "the source comes first: system.connect(controller.force, cart.force)",
    )


def check_source(source: object, port: object, system: Any) -> None:
    """Refuse what cannot be the source of an input.

    Raises
    ------
    WrongTypeError, ForeignNodeError
    """
    if isinstance(source, AbstractHandle | ContinuousElement):
        handle = source.variable if isinstance(source, ContinuousElement) else source
        _require_declared(handle, system)
        return
    if isinstance(source, AbstractDeclaration | Subsystem | Sequence) or not callable(source):
        raise WrongTypeError(
            f"{port}: cannot be connected to {short_repr(source)}",
            "a handle, as controller.force, or a function of the time",
            type_text(source),
            "connect each input to one item"
            if isinstance(source, Sequence | Subsystem)
            else "take the handle of a subsystem, not of its class; for a constant, call "
            f"system.fix({port}, value)",
        )
    try:
        check_function("", source, ("time",))
    except (ComputeSignatureError, WrongTypeError) as error:
        raise type(error)(
            f"{port}: its source cannot be called with the time",
            "a function of the time [s]",
            error.got,
            "write def force(time): ..., which returns the value at that time",
        ) from None


def _require_declared(handle: AbstractHandle, system: Any) -> None:
    owner = handle._owner
    theirs = owner._system if isinstance(owner, Subsystem) else owner
    if theirs is not system:
        raise ForeignNodeError(
            f"{handle}: not in the System",
            f"a declared item of {system!r}, or of a subsystem of it",
            f"{handle}, of {owner!r}" if owner is not None else f"{handle}, which is allocated",
            "add its subsystem first",
        )


def inputs_of(subsystem: Subsystem) -> list[CacheEntry[Any]]:
    """Return the handles of the inputs of a subsystem."""
    declarations = subsystem.declarations.values()
    return [d.bound(subsystem) for d in declarations if isinstance(d, InputDeclaration)]


def nothing_connected(port: CacheEntry[Any]) -> InputError:
    """Return the error for an input that is to be disconnected and has no source."""
    return InputError(
        f"{port}: cannot be disconnected",
        "an input that is connected or fixed",
        "one without a source, apart from its default",
        "leave it out",
    )


def written_for(handle: AbstractHandle) -> AbstractHandle:
    """Return the variable of an input that is fixed; any other handle as it is."""
    declared = getattr(type(handle._owner), "declarations", {}).get(handle._declared_as)
    if not isinstance(declared, InputDeclaration) or not isinstance(handle, CacheEntry):
        return handle
    return variable_of(handle) if isinstance(declared.source_in(handle._owner), Fixed) else handle


def check_free(port: CacheEntry[Any], system: Any) -> None:
    """Refuse an input that has a source already, apart from its default.

    Raises
    ------
    InputError
    """
    if port in system._sources:
        raise InputError(
            f"{port}: has a source already",
            "an input without one",
            f"one that is fed by {shown(source_of(port, system))}",
            f"call system.disconnect({port}) first",
        )
