"""Events, their causes, and the triggers by which an integrator finds their times.

::

    Event  "ball.bounce"     id, name, handler
      |
    EventTriggerInfo         one for each row of State.event_triggers: its stage and direction

The causes are those of Simbody's `Event`, but for signals, which no part of it uses.
"""

from enum import Enum
from math import inf
from typing import Any

from attrs import field, frozen

from stagecache.state.stage import Stage
from stagecache.system.events.triggers import TriggerDirection


class EventCause(Enum):
    """The cause of events that are handled.

    Several causes in one step are handled in this order.
    """

    INITIALIZATION = "a study begins"
    TRIGGERED = "a trigger changes its sign"
    SCHEDULED = "a time is reached that was known in advance"
    TIME_ADVANCED = "a step is done, and time has advanced for good"
    TERMINATION = "a study ends"

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class EventAction(Enum):
    """The result of a handler; None, which most return, stands for CONTINUE."""

    CONTINUE = "the simulation goes on"
    TERMINATE = "the simulation ends"

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def _identity(value: object) -> int:
    return id(value)


@frozen
class Event:
    """Something that can happen in a System, as often as it likes.

    Attributes
    ----------
    id : int
        Unique among the events of one topology.
    name : str
        "ball.bounce" if a subsystem declares it, else the name of the handler or reporter.
    handled_by : object
        The subsystem, the handler or the reporter; None without a handler.
    method : str
        The method that is called; "" without a handler.
    is_report : bool
        True if the method only reads the State.
    rows : tuple of int
        The rows of a declared trigger that have changed their sign, counted from 0.
    takes_rows : bool
        True if the method is called with these rows, too.
    times : object
        What knows its times, if they are known in advance: a listener, or `DeclaredTimes`.
    """

    id: int
    name: str
    handled_by: Any = field(default=None, repr=False, eq=_identity)
    method: str = field(default="", repr=False)
    is_report: bool = False
    rows: tuple[int, ...] = field(default=(), eq=False)
    takes_rows: bool = field(default=False, eq=False, repr=False)
    times: Any = field(default=None, eq=False, repr=False)

    def __str__(self) -> str:
        return self.name


@frozen
class EventTriggerInfo:
    """The conditions under which one row of `State.event_triggers` is an event.

    Attributes
    ----------
    event : Event
        Rows of one declaration have equal events; `Event.rows` has the number of the row.
    name : str
        Name of the row: "ball.bounce", or "ball.bounce[1]" where there are several.
    index : int
        Index among all event triggers.
    stage : Stage
        The first stage at which the value is known.
    direction : TriggerDirection
        The change of sign that counts. Leaving zero never does.
    localization_window : float
        The precision of the time, in units of accuracy times `default_time_scale`.
    initially : bool
        True if the event takes place at the beginning, too, if the value is on the side to which
        the direction leads.
    look_every : float
        The longest time between two evaluations in a step [s]; infinite by default.
    """

    event: Event
    name: str
    index: int
    stage: Stage
    direction: TriggerDirection
    localization_window: float
    initially: bool = False
    look_every: float = inf
