"""Events: what happens at a point of time, why, and how who integrates looks out for it.

::

    Event  "ball.bounce"     id, name, who handles it
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
    """Why events are handled.

    Several causes in one step are handled in this order.
    """

    INITIALIZATION = "a study begins"
    TRIGGERED = "a trigger changes its sign"
    SCHEDULED = "a time is reached that was known before"
    TIME_ADVANCED = "a step is done, and time has advanced for good"
    TERMINATION = "a study ends"

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class EventAction(Enum):
    """What a handler wants to be done after it; None, which most return, stands for CONTINUE."""

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
        A number of its own among the events of one topology.
    name : str
        "ball.bounce" if a subsystem declares it, else the name of the handler or reporter.
    handled_by : object
        The subsystem, the handler or the reporter; None if nobody handles it.
    method : str
        Its method that is called; "" if nobody handles it.
    is_report : bool
        Whether that one only looks at the State.
    """

    id: int
    name: str
    handled_by: Any = field(default=None, repr=False, eq=_identity)
    method: str = field(default="", repr=False)
    is_report: bool = False

    def __str__(self) -> str:
        return self.name


@frozen
class EventTriggerInfo:
    """How to look out for a change of sign of one row of `State.event_triggers`.

    Attributes
    ----------
    event : Event
        What takes place then. Rows of one declaration have the same event.
    name : str
        Of the row: "ball.bounce", or "ball.bounce[1]" where there are several.
    index : int
        Its place among all event triggers.
    stage : Stage
        From which on its value is known.
    direction : TriggerDirection
        Which change of sign counts. Leaving zero never does.
    localization_window : float
        How exactly the time must be found, in units of accuracy times `default_time_scale`.
    initially : bool
        Whether it takes place where nothing is known of a change yet, if the value is on the side
        that the direction leads to.
    look_every : float
        The longest time between two looks in a step [s]; infinite, if none is asked for.
    """

    event: Event
    name: str
    index: int
    stage: Stage
    direction: TriggerDirection
    localization_window: float
    initially: bool = False
    look_every: float = inf
