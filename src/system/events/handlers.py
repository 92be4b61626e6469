"""Handlers and reporters: listeners to events that no subsystem declares.

::

                        AbstractEventListener      has a function, and a name in a System
                       /          |          \
    AbstractScheduled    AbstractTriggered    AbstractEventHandler, AbstractEventReporter
            |            AbstractAtCause
    AbstractPeriodic

A handler, or reporter, derives from one class on the left and one on the right. Its action is a
method of a subclass, or a function that is passed; one of the two.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from stagecache.checks import require_positive
from stagecache.errors import (
    ComputeSignatureError,
    DeclarationError,
    EventTimeError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.declaration import check_function, check_returns
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.events.events import EventAction, EventCause
from stagecache.system.events.times import next_periodic_time, rounding
from stagecache.system.events.triggers import (
    LOCALIZATION_WINDOW,
    TriggerDeclaration,
    TriggerDirection,
    TriggerOptions,
)

A = TypeVar("A")  # what the action of a listener returns
F = TypeVar("F", bound=Callable[..., Any])

Value = Callable[[State], float]
"""A function of the State whose change of sign is an event."""

NextTime = Callable[[State, bool], float]
"""A function of the State, and of whether the present time counts, to a time in seconds."""


class AbstractEventListener(Generic[A]):
    """A handler or reporter of an event that no subsystem declares.

    It can belong to one System. A System with it can be pickled if its attributes can: functions of
    a module can, lambda expressions cannot.
    """

    method: ClassVar[str]
    """The name of the method that is called when the event takes place."""

    is_report: ClassVar[bool]
    """True if that method only reads the State."""

    _name = ""
    _system: Any = None
    _function: Callable[[State], A] | None = None

    @property
    def name(self) -> str:
        """The name in the System to which it was added; "" before that."""
        return self._name

    @property
    def is_adopted(self) -> bool:
        """True if it belongs to a System."""
        return self._system is not None

    def _adopted(self, system: Any, name: str) -> None:
        self._system = system
        self._name = name

    def _act(self, function: Callable[[State], A] | None) -> None:
        self._function = self._given_or_overridden(self.method, function, "state")

    def _given_or_overridden(self, method: str, given: F | None, *names: str) -> F | None:
        """Return the function that was passed; None if a subclass has a method instead.

        Raises
        ------
        DeclarationError
            There is neither, or there are both.
        WrongTypeError, ComputeSignatureError
        """
        cls = type(self)
        what, arguments = cls.__name__, ", ".join(names)
        overridden = [c for c in cls.__mro__ if method in vars(c)]
        is_overridden = overridden[0].__module__ != __name__
        if is_overridden is (given is not None):
            raise DeclarationError(
                f"{what}: has {'two functions' if is_overridden else 'no function'} for {method}",
                f"a function ({arguments}) that is passed, or a method {method} of a subclass",
                "both" if is_overridden else "neither",
                f"leave one of them out: {short_repr(given)}, for instance"
                if is_overridden
                else f"pass a function, or derive a class that has def {method}(self, {arguments})",
            )
        if given is None:
            check_returns(getattr(cls, method), f"{what}.{method}")
            return None
        try:
            return check_function("", given, names)  # type: ignore[return-value]  # the same one
        except (ComputeSignatureError, WrongTypeError) as error:
            raise type(error)(
                f"{what}: {short_repr(getattr(given, '__name__', given))} cannot be called with "
                f"({arguments})",
                f"a plain function of {len(names)} argument{'s' if len(names) > 1 else ''}",
                error.got,
                f"write def name({arguments})",
            ) from None

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes but the System, which sets itself in its parts."""
        return {name: value for name, value in self.__dict__.items() if name != "_system"}

    def __repr__(self) -> str:
        where = f"{self._name!r} of {self._system.name!r}" if self._system else "of no System"
        return f"<{type(self).__name__} {where}>"


# ---------------------------------------------------------------------- what is done


class AbstractEventHandler(AbstractEventListener[EventAction | None]):
    """A listener that may change the State."""

    method = "handle_event"
    is_report = False

    def handle_event(self, state: State) -> EventAction | None:
        """Handle the event.

        Parameters
        ----------
        state : State
            At the time of the event. All of it may be written but the time. If q or u are moved off
            the constraints by more than the tolerance, they are projected afterwards.

        Returns
        -------
        EventAction or None
            TERMINATE, to end the simulation.
        """
        assert self._function is not None  # it was checked
        return self._function(state)


class AbstractEventReporter(AbstractEventListener[object]):
    """A listener that only reads the State."""

    method = "report"
    is_report = True

    def report(self, state: State) -> object:
        """Read the State at the time of the event; the result is ignored.

        Parameters
        ----------
        state : State
            It cannot be written now. It can be realized, and entries can be computed.
        """
        assert self._function is not None  # it was checked
        return self._function(state)


# ---------------------------------------------------------------------- when it is done


class Once:
    """A time, as a function that always returns it."""

    def __init__(self, time: float) -> None:
        self._time = time

    def __call__(self, state: State, include_current_time: bool) -> float:  # noqa: ARG002  # NextTime
        """Return the time."""
        return self._time


class AbstractScheduled(AbstractEventListener[A]):
    """A listener to an event whose time is known in advance."""

    is_periodic: ClassVar[bool] = False
    _next_time: NextTime | None = None

    def __init__(
        self,
        function: Callable[[State], A] | None = None,
        next_time: NextTime | float | None = None,
    ) -> None:
        self._act(function)
        if next_time is not None and not callable(next_time):
            next_time = Once(check_time(next_time, f"{type(self).__name__}(next_time=...)"))
        self._next_time = self._given_or_overridden(
            "next_event_time", next_time, "state", "include_current_time"
        )

    def next_event_time(self, state: State, include_current_time: bool) -> float:  # as the original
        """Return the next time of the event; infinite without one.

        Times in the past are ignored: an event that takes place once may always return the same
        time.

        Parameters
        ----------
        state : State
            It cannot be written now.
        include_current_time : bool
            True if the present time may be returned; else only later ones count.

        Returns
        -------
        float
            [s]
        """
        assert self._next_time is not None  # it was checked
        return self._next_time(state, include_current_time)

    def rounding(self, time: float, origin: float) -> float:
        """Return the difference up to which a time of the event is equal to `time` [s].

        See `times.rounding`; `time` may be a sum that starts at the origin.
        """
        return rounding(time, origin)


class AbstractPeriodic(AbstractScheduled[A]):
    """A listener to an event that takes place at the times start + k * interval, k = 0, 1, ...

    A simulation that begins at the start and takes the time T has floor(T / interval) + 1 of these
    events. Times that differ by rounding only are equal: see `times`.
    """

    is_periodic = True

    def __init__(
        self,
        interval: float,
        function: Callable[[State], A] | None = None,
        start: float = 0.0,
    ) -> None:
        self._act(function)
        what = type(self).__name__
        self._start = check_time(start, f"{what}(start=...)")
        self._interval = require_positive(
            check_time(interval, f"{what}(interval=...)"),
            f"{what}(interval=...)",
            "for an event that takes place once, use next_time= of a scheduled one",
            expected="a positive number of seconds",
        )

    @property
    def interval(self) -> float:
        """The time between two events [s]."""
        return self._interval

    @property
    def start(self) -> float:
        """The time of the first event [s]."""
        return self._start

    def next_event_time(self, state: State, include_current_time: bool) -> float:  # as the original
        """Return the next time of the event."""
        return next_periodic_time(
            state.time, self._start, self._interval, include_current_time=include_current_time
        )

    def rounding(self, time: float, origin: float) -> float:
        """Return the difference up to which a time of the event is equal to `time` [s]."""
        interval = self._interval
        return max(rounding(time, origin, interval), rounding(time, self._start, interval))


class AbstractAtCause(AbstractEventListener[A]):
    """A listener to the beginning, or to the end, of each study.

    Attributes
    ----------
    cause : EventCause
    """

    cause: ClassVar[EventCause]

    def __init__(self, function: Callable[[State], A] | None = None) -> None:
        self._act(function)


class AbstractTriggered(AbstractEventListener[A]):
    """A listener to an event that takes place where a number changes its sign."""

    _value: Value | None = None

    def __init__(
        self,
        stage: Stage,
        value: Value | None = None,
        function: Callable[[State], A] | None = None,
        direction: TriggerDirection | str = TriggerDirection.ANY,
        localization_window: float = LOCALIZATION_WINDOW,
        *,
        initially: bool = False,
        look_every: float | None = None,
    ) -> None:
        self._act(function)
        self._options = TriggerOptions.checked(
            type(self).__name__, stage, direction, localization_window, initially, look_every
        )
        self._value = self._given_or_overridden("value", value, "state")

    @property
    def stage(self) -> Stage:
        """The stage whose realization computes the number."""
        return self._options.stage

    @property
    def direction(self) -> TriggerDirection:
        """The change of sign that counts."""
        return self._options.direction

    @property
    def localization_window(self) -> float:
        """The precision of the time, in units of accuracy times `default_time_scale`."""
        return self._options.localization_window

    @property
    def initially(self) -> bool:
        """True if the event takes place at the beginning, if the value is on that side then."""
        return self._options.initially

    @property
    def look_every(self) -> float:
        """The longest time between two evaluations in a step [s]; infinite by default."""
        return self._options.look_every

    def value(self, state: State) -> float:
        """Return the number whose change of sign is the event, given a State at the stage."""
        assert self._value is not None  # it was checked
        return self._value(state)

    def trigger(self) -> TriggerDeclaration:
        """Return the declaration of the trigger, which the default subsystem has."""

        def compute(_: Any, state: State) -> float:
            try:
                return self.value(state)
            except Exception as error:
                error.add_note(f"in the value of the trigger {self._name}, at time {state.time:g}")
                raise

        made = TriggerDeclaration(compute, self._options)
        made.name = self._name
        made.is_last = True
        return made


def check_time(time: float, what: str) -> float:
    """Return a finite time as a float.

    Raises
    ------
    ShapeError, NotANumberError, EventTimeError
    """
    found = float(converted(time, FLOAT, (), what))
    if not abs(found) < float("inf"):
        raise EventTimeError(
            f"{what}: not a time", "a finite number of seconds", short_repr(time), "pass another"
        )
    return found


# ---------------------------------------------------------------------- handlers


class ScheduledEventHandler(AbstractScheduled[EventAction | None], AbstractEventHandler):
    """Handler that changes the State at times that are known in advance.

    Parameters
    ----------
    function : callable, optional
        The function ``(state)`` that handles the event; or a subclass has the method
        `handle_event`.
    next_time : callable or float, optional
        The function ``(state, include_current_time)`` of the next time, or the time of an event
        that takes place once [s]; or a subclass has the method `next_event_time`.

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError, EventTimeError
    """


class PeriodicEventHandler(AbstractPeriodic[EventAction | None], AbstractEventHandler):
    """Handler that changes the State at the times start + k * interval, k = 0, 1, ...

    Parameters
    ----------
    interval : float
        [s]
    function : callable, optional
        The function ``(state)`` that handles the event; or a subclass has the method
        `handle_event`.
    start : float
        [s]

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError
    ShapeError, NotANumberError, OutOfRangeError, EventTimeError

    Examples
    --------
    >>> from stagecache import PeriodicEventHandler, Subsystem, System, u_variable
    >>> class Cart(Subsystem):
    ...     speed = u_variable(0.0)
    >>> cart = Cart()
    >>> system = System(cart)
    >>> kick = PeriodicEventHandler(0.1, lambda state: cart.speed.set(state, 1.0))
    >>> system.add_event_handler(kick, "kick").name
    'kick'
    >>> state = system.new_state()
    >>> time, events = system.calc_time_of_next_scheduled_event(state, include_current_time=False)
    >>> time, *map(str, events)
    (0.1, 'kick')
    """


class TriggeredEventHandler(AbstractTriggered[EventAction | None], AbstractEventHandler):
    """Handler that changes the State where a number changes its sign.

    The number has a row in `State.event_triggers`, which is computed when the stage is realized, as
    the last of that stage: it can depend on all variables that invalidate this stage or an earlier
    one, and on all entries that these stages compute.

    Parameters
    ----------
    stage : Stage
        Time to Acceleration: the first stage at which the number can be computed.
    value : callable, optional
        The function ``(state)`` that computes the number; or a subclass has the method `value`.
    function : callable, optional
        The function ``(state)`` that handles the event; or a subclass has the method
        `handle_event`.
    direction : TriggerDirection or str
        The change of sign that counts: rising, falling, or any.
    localization_window : float
        The precision of the time, in units of accuracy times `System.default_time_scale`.
    initially : bool
        The event takes place at the beginning, too, if the value is on the side to which the
        direction leads: zero or more, if it is rising; zero or less, if it is falling.
    look_every : float, optional
        The longest time between two evaluations [s], for a value that changes and changes back
        within a step.

    Raises
    ------
    StageOutOfRangeError, DeclarationError, WrongTypeError, ComputeSignatureError
    ShapeError, NotANumberError, OutOfRangeError
    """


class InitializationEventHandler(AbstractAtCause[EventAction | None], AbstractEventHandler):
    """Handler that may change the State when a study begins.

    Parameters
    ----------
    function : callable, optional
        The function ``(state)`` that handles the event; or a subclass has the method
        `handle_event`.

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError
    """

    cause = EventCause.INITIALIZATION


class TerminationEventHandler(AbstractAtCause[EventAction | None], AbstractEventHandler):
    """Handler that may change the State when a study ends. Parameters as above.

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError
    """

    cause = EventCause.TERMINATION


# ---------------------------------------------------------------------- reporters


class InitializationEventReporter(AbstractAtCause[object], AbstractEventReporter):
    """Reporter that reads the State when a study begins.

    Parameters as for `InitializationEventHandler`; the method of a subclass is `report`.

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError
    """

    cause = EventCause.INITIALIZATION


class TerminationEventReporter(AbstractAtCause[object], AbstractEventReporter):
    """Reporter that reads the State when a study ends.

    Parameters as for `InitializationEventHandler`; the method of a subclass is `report`.

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError
    """

    cause = EventCause.TERMINATION


class ScheduledEventReporter(AbstractScheduled[object], AbstractEventReporter):
    """Reporter that reads the State at times that are known in advance.

    Parameters as for `ScheduledEventHandler`; the method of a subclass is `report`.

    Raises
    ------
    ComputeSignatureError, DeclarationError, EventTimeError, WrongTypeError
    """


class PeriodicEventReporter(AbstractPeriodic[object], AbstractEventReporter):
    """Reporter that reads the State at the times start + k * interval, k = 0, 1, ...

    Parameters as for `PeriodicEventHandler`; the method of a subclass is `report`.

    Raises
    ------
    ComputeSignatureError, DeclarationError, EventTimeError, OutOfRangeError
    """


class TriggeredEventReporter(AbstractTriggered[object], AbstractEventReporter):
    """Reporter that reads the State where a number changes its sign.

    Parameters as for `TriggeredEventHandler`; the method of a subclass is `report`.

    Raises
    ------
    ComputeSignatureError, DeclarationError, StageOutOfRangeError, OutOfRangeError
    """
