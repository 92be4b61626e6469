"""Events that a subsystem declares at times, and at the beginning and the end of a study.

::

    class Controller(Subsystem):
        interval = parameter(0.01)

        @periodic(interval)                       start + k interval, of this State
        def sample(self, state): ...

        @scheduled(3.0)                           once; or when a function says
        def push(self, state): ...

        @at_initialization                        also @at_termination
        def calibrate(self, state): ...

A decorated method stays a method. A subclass overrides it by its name, with or without a decorator;
None in its place removes the event. With ``report=True`` the method only reads the State. Events
where a number changes its sign are declared by `event_trigger`.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol, TypeVar, final, overload

from attrs import frozen

from stagecache.checks import require_bool, require_positive
from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    EventTimeError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.declaration import check_function
from stagecache.state.state import State
from stagecache.system.declare.computations import check_compute
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.events.events import EventCause
from stagecache.system.events.handlers import Once, check_time
from stagecache.system.events.times import next_periodic_time, rounding

F = TypeVar("F", bound=Callable[..., Any])

MARK: Final = "_stagecache_event"
"""The attribute of a decorated method that has its `DeclaredEvent`."""


class Timed(Protocol):
    """A listener to an event whose time is known in advance."""

    @property
    def name(self) -> str:
        """The name in messages."""

    @property
    def is_periodic(self) -> bool:
        """True if it has an interval."""

    def next_event_time(self, state: State, include_current_time: bool) -> float:
        """Return the next time of the event; infinite without one."""

    def rounding(self, time: float, origin: float) -> float:
        """Return the difference up to which a time of the event is equal to `time` [s]."""


@final
@frozen
class DeclaredEvent:
    """The decoration of a method: when it is called.

    Attributes
    ----------
    cause : EventCause
        SCHEDULED, INITIALIZATION or TERMINATION.
    is_report : bool
    interval : float, declaration, callable or None
        The time between two periodic events [s].
    start : float
        The time of the first periodic event [s].
    next_time : callable or declaration, or None
        Of an event that is not periodic.
    """

    cause: EventCause
    is_report: bool
    interval: Any = None
    start: float = 0.0
    next_time: Any = None


def periodic(interval: Any, *, start: float = 0.0, report: bool = False) -> Callable[[F], F]:
    """Decorate a method ``(self, state)`` that is called at the times start + k * interval.

    Parameters
    ----------
    interval : float, callable or object
        [s]: a number, a parameter or other discrete variable of the same class, or a function
        ``(self, state)``. It counts as it is in the State when the next time is asked for.
    start : float
        The time of the first event [s].
    report : bool
        True if the method only reads the State.

    Raises
    ------
    NotANumberError, ShapeError, OutOfRangeError, EventTimeError
    WrongTypeError, ComputeSignatureError, DeclarationError

    Examples
    --------
    >>> from stagecache import Subsystem, System, parameter, periodic, simulate
    >>> class Clock(Subsystem):
    ...     interval = parameter(0.5)
    ...
    ...     @periodic(interval, report=True)
    ...     def tick(self, state):
    ...         print(state.time)
    >>> system = System(Clock())
    >>> _ = simulate(system, system.new_state(), 1.0)
    0.0
    0.5
    1.0
    """
    what = "periodic"
    if not isinstance(interval, AbstractDeclaration):
        if callable(interval):
            check_compute(interval, f"{what}(interval=...)")
        else:
            interval = check_time(interval, f"{what}(interval=...)")
            hint = "for an event that takes place once, use @scheduled"
            require_positive(interval, f"{what}(interval=...)", hint)
    is_report = require_bool(report, f"{what}(report=...)")
    first = check_time(start, f"{what}(start=...)")
    return _marked(
        what, DeclaredEvent(EventCause.SCHEDULED, is_report, interval=interval, start=first)
    )


def scheduled(next_time: Any, *, report: bool = False) -> Callable[[F], F]:
    """Decorate a method ``(self, state)`` that is called at times that are known in advance.

    Parameters
    ----------
    next_time : float, callable or object
        The time of an event that takes place once [s], as a number, or a discrete variable of the
        same class; or a function ``(self, state, include_current_time)`` of the next time, which
        is infinite if there is none. Times in the past are ignored.
    report : bool
        True if the method only reads the State.

    Raises
    ------
    NotANumberError, ShapeError, EventTimeError, WrongTypeError, ComputeSignatureError
    DeclarationError
    """
    what = "scheduled"
    if not isinstance(next_time, AbstractDeclaration):
        if callable(next_time):
            _check_next_time(next_time, f"{what}(next_time=...)")
        else:
            next_time = Once(check_time(next_time, f"{what}(next_time=...)"))
    is_report = require_bool(report, f"{what}(report=...)")
    return _marked(what, DeclaredEvent(EventCause.SCHEDULED, is_report, next_time=next_time))


@overload
def at_initialization(method: F, /) -> F: ...
@overload
def at_initialization(*, report: bool = False) -> Callable[[F], F]: ...
def at_initialization(method: Any = None, /, *, report: bool = False) -> Any:
    """Decorate a method ``(self, state)`` that is called when a study begins.

    Written ``@at_initialization``, or with ``(report=True)`` if it only reads the State.

    Raises
    ------
    NotANumberError, WrongTypeError, ComputeSignatureError, DeclarationError
    """
    return _at("at_initialization", EventCause.INITIALIZATION, method, report)


@overload
def at_termination(method: F, /) -> F: ...
@overload
def at_termination(*, report: bool = False) -> Callable[[F], F]: ...
def at_termination(method: Any = None, /, *, report: bool = False) -> Any:
    """Decorate a method ``(self, state)`` that is called when a study ends.

    Raises
    ------
    NotANumberError, WrongTypeError, ComputeSignatureError, DeclarationError
    """
    return _at("at_termination", EventCause.TERMINATION, method, report)


def _at(what: str, cause: EventCause, method: Any, report: bool) -> Any:
    decorate = _marked(what, DeclaredEvent(cause, require_bool(report, f"{what}(report=...)")))
    return decorate if method is None else decorate(method)


def _marked(what: str, event: DeclaredEvent) -> Callable[[F], F]:
    def decorate(method: F) -> F:
        check_compute(method, f"@{what}")
        if MARK in vars(method):
            raise DeclarationError(
                f"@{what}: {method.__name__} is an event already",
                "a method without such a decorator",
                "one that was decorated before, here or in another class",
                f"write another method that calls it: def again(self, state): "
                f"self.{method.__name__}(state)",
            )
        setattr(method, MARK, event)
        return method

    return decorate


def _check_next_time(function: Any, what: str) -> None:
    names = ("self", "state", "include_current_time")
    try:
        check_function("", function, names)
    except (ComputeSignatureError, WrongTypeError) as error:
        raise type(error)(
            f"{what}: cannot be called with ({', '.join(names)})",
            "a number of seconds, a declared variable, or such a function",
            error.got,
            f"write def next_time({', '.join(names)}), and return the time",
        ) from None


def declared_events(cls: type) -> Iterator[tuple[str, DeclaredEvent]]:
    """Yield the names of decorated methods of a class, those of its bases first."""
    found: dict[str, DeclaredEvent] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            event = getattr(value, MARK, None)
            if isinstance(event, DeclaredEvent):
                found[name] = event
            elif value is None:
                found.pop(name, None)
    yield from found.items()


@final
class DeclaredTimes:
    """The times of a declared event of one subsystem.

    Parameters
    ----------
    subsystem : Subsystem
    name : str
        The name of the event: "controller.sample".
    event : DeclaredEvent
    """

    def __init__(self, subsystem: Any, name: str, event: DeclaredEvent) -> None:
        self.name = name
        self.is_periodic = event.interval is not None
        self._subsystem, self._event = subsystem, event
        for given in (event.interval, event.next_time):
            if isinstance(given, AbstractDeclaration):
                _require_declared(given, subsystem, name)

    def next_event_time(self, state: State, include_current_time: bool) -> float:  # as the original
        """Return the next time of the event."""
        event = self._event
        if self.is_periodic:
            return next_periodic_time(
                state.time,
                event.start,
                self._interval(state),
                include_current_time=include_current_time,
            )
        if isinstance(event.next_time, AbstractDeclaration):
            return float(getattr(self._subsystem, event.next_time.name)(state))
        if isinstance(event.next_time, Once):
            return event.next_time(state, include_current_time)
        time: float = event.next_time(self._subsystem, state, include_current_time)
        return time

    def rounding(self, time: float, origin: float) -> float:
        """Return the difference up to which a time of the event is equal to `time` [s]."""
        interval = self._event.interval
        if not isinstance(interval, float):  # it differs from State to State
            return rounding(time, origin)
        return max(rounding(time, origin, interval), rounding(time, self._event.start, interval))

    def _interval(self, state: State) -> float:
        given = self._event.interval
        if isinstance(given, float):
            return given
        if isinstance(given, AbstractDeclaration):
            found = getattr(self._subsystem, given.name)(state)
        else:
            found = given(self._subsystem, state)
        interval = check_time(found, f"the interval of {self.name}")
        if interval > 0.0:
            return interval
        raise EventTimeError(
            f"the interval of {self.name}: not positive",
            "a positive number of seconds",
            short_repr(found),
            "for no more events, end them by @scheduled and a time that is infinite",
        )


def _require_declared(variable: AbstractDeclaration[Any], subsystem: Any, event: str) -> None:
    """Refuse a variable of another class.

    Raises
    ------
    DeclarationError
    """
    if variable.name not in type(subsystem).declarations:
        raise DeclarationError(
            f"{event}: takes its time from a variable of another class",
            f"one that {type(subsystem).__name__} declares or inherits",
            f"{variable}",
            "write a function (self, state) that reads it",
        )
