"""What handlers and reporters of events have in common, and the ways in which events come about.

::

                       AbstractEventObserver      has a name in a System
                      /          |          \
    AbstractScheduled   AbstractTriggered    AbstractEventHandler, AbstractEventReporter
            |                                 (event_handlers, event_reporters)
    AbstractPeriodic

A handler, or reporter, is one of those on the left and one of those on the right. What it does is a
method of a subclass, or a function that is given; one of the two.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from stagecache.errors import (
    OutOfRangeError,
    short_repr,
)
from stagecache.state.stage import Stage, check_stage
from stagecache.state.state import State
from stagecache.system.events.functions import check_time, given_or_overridden
from stagecache.system.events.times import next_periodic_time, rounding
from stagecache.system.events.triggers import (
    TriggerDeclaration,
    TriggerDirection,
    check_direction,
    check_initially,
    check_look_every,
    check_window,
)

NextTime = Callable[[State, bool], float]
"""A function of the State, and of whether the present time counts, to a time in seconds."""

Value = Callable[[State], float]
"""A function of the State whose change of sign is an event."""


class AbstractEventObserver:
    """Who handles or reports an event that no subsystem declares.

    It can belong to one System. A System with it can be pickled if its attributes can: functions of
    a module can, lambda expressions cannot.
    """

    method: ClassVar[str]
    """The name of the method that is called when the event takes place."""

    is_report: ClassVar[bool]
    """Whether that only looks at the State."""

    _name = ""
    _system: Any = None

    @property
    def name(self) -> str:
        """Its name in the System to which it was added; "" before that."""
        return self._name

    @property
    def is_adopted(self) -> bool:
        """Whether a System has it."""
        return self._system is not None

    def _adopted(self, system: Any, name: str) -> None:
        self._system = system
        self._name = name

    def __getstate__(self) -> dict[str, Any]:
        """Return its attributes but the System, which says so to what it contains."""
        return {name: value for name, value in self.__dict__.items() if name != "_system"}

    def __repr__(self) -> str:
        where = f"{self._name!r} of {self._system.name!r}" if self._system else "of no System"
        return f"<{type(self).__name__} {where}>"


class AbstractScheduled(AbstractEventObserver):
    """One of an event whose time is known before."""

    _next_time: NextTime | None = None

    def next_event_time(self, state: State, include_current_time: bool) -> float:  # as the original
        """Return when it takes place next; infinite, if it does not.

        What is in the past is not looked at: so an event that takes place once may always return
        the same time.

        Parameters
        ----------
        state : State
            To be looked at only.
        include_current_time : bool
            Whether the present time may be returned; or else only later ones count.

        Returns
        -------
        float
            [s]
        """
        assert self._next_time is not None  # it was checked
        return self._next_time(state, include_current_time)

    def rounding(self, time: float, origin: float) -> float:
        """Return by how much its times may differ from a time, and be equal to it [s].

        As `event_times.rounding`; the origin is where the time may be a sum from.
        """
        return rounding(time, origin)

    def _schedule(self, next_time: NextTime | float | None) -> None:
        """Take a function of the next time, or the time of what takes place once."""
        what = f"{type(self).__name__}(next_time=...)"
        if next_time is not None and not callable(next_time):
            next_time = Once(check_time(next_time, what))
        self._next_time = given_or_overridden(
            self, AbstractScheduled, "next_event_time", next_time, ("state", "include_current_time")
        )


class Once:
    """A time, as a function that always returns it."""

    def __init__(self, time: float) -> None:
        self._time = time

    def __call__(self, state: State, include_current_time: bool) -> float:  # noqa: ARG002  # asked so
        """Return it."""
        return self._time


class AbstractPeriodic(AbstractScheduled):
    """One of an event that takes place at the times start + k * interval, k = 0, 1, ...

    In a simulation that begins at the start and takes the time T, these are floor(T / interval) + 1
    events. A time that differs from one of these by rounding is equal to it: see `event_times`.
    """

    _interval: float
    _start: float

    @property
    def interval(self) -> float:
        """The time between two events [s]."""
        return self._interval

    @property
    def start(self) -> float:
        """The time of the first event [s]."""
        return self._start

    def next_event_time(self, state: State, include_current_time: bool) -> float:  # as the original
        """Return when it takes place next."""
        return next_periodic_time(
            state.time, self._start, self._interval, include_current_time=include_current_time
        )

    def rounding(self, time: float, origin: float) -> float:
        """Return by how much its times may differ from a time, and be equal to it [s]."""
        interval = self._interval
        return max(rounding(time, origin, interval), rounding(time, self._start, interval))

    def _repeat(self, interval: float, start: float) -> None:
        what = type(self).__name__
        self._start = check_time(start, f"{what}(start=...)")
        self._interval = check_time(interval, f"{what}(interval=...)")
        if self._interval <= 0:
            raise OutOfRangeError(
                f"{what}(interval=...): is no interval",
                "a positive number of seconds",
                short_repr(interval),
                "for an event that takes place once, use next_time= of a scheduled one",
            )


class AbstractTriggered(AbstractEventObserver):
    """One of an event that takes place where a number changes its sign."""

    _stage: Stage
    _direction: TriggerDirection
    _localization_window: float
    _initially: bool
    _look_every: float
    _value: Value | None = None

    @property
    def stage(self) -> Stage:
        """The stage whose realization computes the number."""
        return self._stage

    @property
    def direction(self) -> TriggerDirection:
        """Which change of sign counts."""
        return self._direction

    @property
    def localization_window(self) -> float:
        """How exactly the time is found, in units of accuracy times `default_time_scale`."""
        return self._localization_window

    @property
    def initially(self) -> bool:
        """Whether it takes place at the beginning, if the value is on that side then."""
        return self._initially

    @property
    def look_every(self) -> float:
        """The longest time between two looks in a step [s]; infinite, if none is asked for."""
        return self._look_every

    def value(self, state: State) -> float:
        """Return the number whose change of sign is the event, given a State at the stage."""
        assert self._value is not None  # it was checked
        return self._value(state)

    def trigger(self) -> TriggerDeclaration:
        """What the default subsystem declares for it: the row of its values."""

        def compute(_: Any, state: State) -> float:
            try:
                return self.value(state)
            except Exception as error:
                error.add_note(f"in the value of the trigger {self._name}, at time {state.time:g}")
                raise

        made = TriggerDeclaration(
            compute,
            self._stage,
            self._direction,
            1,
            None,
            self._localization_window,
            initially=self._initially,
            look_every=self._look_every,
        )
        made.name = self._name
        made.is_last = True
        return made

    def _watch(
        self,
        stage: Stage,
        value: Value | None,
        direction: TriggerDirection | str,
        window: float,
        *,
        initially: bool,
        look_every: float | None,
    ) -> None:
        what = type(self).__name__
        self._stage = check_stage(stage, Stage.TIME, Stage.ACCELERATION, f"{what}(stage=...)")
        self._direction = check_direction(direction, what)
        self._localization_window = check_window(window, what)
        self._initially = check_initially(initially, self._direction, what)
        self._look_every = check_look_every(look_every, what)
        self._value = given_or_overridden(self, AbstractTriggered, "value", value, ("state",))
