"""Handlers: what changes the State when an event takes place that no subsystem declares."""

from collections.abc import Callable

from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.events.events import EventAction
from stagecache.system.events.functions import given_or_overridden
from stagecache.system.events.observers import (
    AbstractEventObserver,
    AbstractPeriodic,
    AbstractScheduled,
    AbstractTriggered,
    NextTime,
    Value,
)
from stagecache.system.events.triggers import LOCALIZATION_WINDOW, TriggerDirection

Handle = Callable[[State], EventAction | None]
"""A function that may write the State, but not its time."""


class AbstractEventHandler(AbstractEventObserver):
    """One that may change the State."""

    method = "handle_event"
    is_report = False
    _handle: Handle | None = None

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
            TERMINATE, if the simulation is to end.
        """
        assert self._handle is not None  # it was checked
        return self._handle(state)

    def _do(self, handle: Handle | None) -> None:
        self._handle = given_or_overridden(
            self, AbstractEventHandler, "handle_event", handle, ("state",)
        )


class ScheduledEventHandler(AbstractEventHandler, AbstractScheduled):
    """Changes the State at times that are known before.

    Parameters
    ----------
    handle : callable, optional
        The function ``(state)``; or a subclass has the method `handle_event`.
    next_time : callable or float, optional
        The function ``(state, include_current_time)`` of the next time, or the time of what takes
        place once [s]; or a subclass has the method `next_event_time`.

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError, EventTimeError
    """

    def __init__(
        self, handle: Handle | None = None, next_time: NextTime | float | None = None
    ) -> None:
        self._do(handle)
        self._schedule(next_time)


class PeriodicEventHandler(AbstractEventHandler, AbstractPeriodic):
    """Changes the State at the times start + k * interval, k = 0, 1, ...

    Parameters
    ----------
    interval : float
        [s]
    handle : callable, optional
        The function ``(state)``; or a subclass has the method `handle_event`.
    start : float
        [s]

    Raises
    ------
    DeclarationError, WrongTypeError, ComputeSignatureError
    ShapeError, NotANumberError, OutOfRangeError, EventTimeError

    Examples
    --------
    >>> from stagecache import Subsystem, System, u_variable
    >>> from stagecache.system.events.handlers import PeriodicEventHandler
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

    def __init__(self, interval: float, handle: Handle | None = None, start: float = 0.0) -> None:
        self._do(handle)
        self._repeat(interval, start)


class TriggeredEventHandler(AbstractEventHandler, AbstractTriggered):
    """Changes the State where a number changes its sign.

    The number has a row in `State.event_triggers`, which is computed when the stage is realized, as
    the last of that stage: so it can depend on all that invalidates this stage or an earlier one,
    and on all that these compute.

    Parameters
    ----------
    stage : Stage
        Time to Acceleration: from which on the number can be computed.
    value : callable, optional
        The function ``(state)`` of it; or a subclass has the method `value`.
    handle : callable, optional
        The function ``(state)``; or a subclass has the method `handle_event`.
    direction : TriggerDirection or str
        Which change of sign counts: rising, falling, or any.
    localization_window : float
        How exactly the time is found, in units of accuracy times `System.default_time_scale`.
    initially : bool
        It takes place at the beginning, too, if the value is on the side that the direction leads
        to: zero or more, if it is rising; zero or less, if it is falling.
    look_every : float, optional
        The longest time between two looks [s], for what changes and changes back within a step.

    Raises
    ------
    StageOutOfRangeError, DeclarationError, WrongTypeError, ComputeSignatureError
    ShapeError, NotANumberError, OutOfRangeError
    """

    def __init__(
        self,
        stage: Stage,
        value: Value | None = None,
        handle: Handle | None = None,
        direction: TriggerDirection | str = TriggerDirection.ANY,
        localization_window: float = LOCALIZATION_WINDOW,
        *,
        initially: bool = False,
        look_every: float | None = None,
    ) -> None:
        self._do(handle)
        self._watch(
            stage, value, direction, localization_window, initially=initially, look_every=look_every
        )
