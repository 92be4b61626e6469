"""What the handling of events is asked for, and what it tells.

::

    HandleEventsOptions  ->  handle_events  ->  HandleEventsResults, with a HandleEventsStatus
"""

import math
from typing import Any

from attrs import Attribute, Factory, field, frozen

from stagecache.errors import OutOfRangeError, short_repr
from stagecache.state.stage import Stage
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.explained import Explained
from stagecache.system.option_fields import flag


def _accuracy(value: Any) -> float:
    return float(converted(value, FLOAT, (), "HandleEventsOptions(accuracy=...)"))


def _tolerance(value: Any) -> float:
    return float(converted(value, FLOAT, (), "HandleEventsOptions(constraint_tolerance=...)"))


def _check_positive(_: object, attribute: "Attribute[float]", value: float) -> None:
    if not 0 < value < math.inf:
        raise OutOfRangeError(
            f"HandleEventsOptions({attribute.name}=...): is out of range",
            "a positive number",
            short_repr(value),
            "leave it out for the default",
        )


@frozen
class HandleEventsOptions:
    """How `System.handle_events` sees to the constraints, and tells of failures.

    Parameters
    ----------
    accuracy : float
        That of the simulation.
    constraint_tolerance : float
        If the norm of weighted constraint errors is larger after the handlers, the State is
        projected. A tenth of the accuracy, by default.
    use_infinity_norm : bool
        The norm is the largest absolute error, not the root of their mean square.
    dont_raise : bool
        Return results that say FAILED, instead of raising what has failed.

    Raises
    ------
    OutOfRangeError, NotANumberError, ShapeError

    Examples
    --------
    >>> from stagecache.system.events.options import HandleEventsOptions
    >>> HandleEventsOptions(1e-6).constraint_tolerance
    1e-07
    """

    accuracy: float = field(default=1e-4, converter=_accuracy, validator=_check_positive)
    constraint_tolerance: float = field(
        default=Factory(lambda self: self.accuracy / 10, takes_self=True),
        converter=_tolerance,
        validator=_check_positive,
        kw_only=True,
    )
    use_infinity_norm: bool = flag()
    dont_raise: bool = flag()


class HandleEventsStatus(Explained):
    """How the handling of events ended.

    Attributes
    ----------
    message : str
        What it means.
    hint : str
        What to do about it.
    """

    SUCCEEDED = ("the simulation can go on", "nothing")
    SHOULD_TERMINATE = (
        "a handler wants the simulation to end",
        "take the State as the last one; to go on nevertheless, begin another simulation with it",
    )
    FAILED = (
        "a handler failed, or left a State that cannot be projected onto the constraints",
        "see the message of the results; the State is as it was before the event",
    )


@frozen
class HandleEventsResults:
    """What the handling of events did.

    Attributes
    ----------
    exit_status : HandleEventsStatus
    any_change_made : bool
        Whether a variable was written, be it with the value that it had.
    lowest_modified_stage : Stage
        The lowest stage that was invalidated, by handlers or the projection after them, whether it
        was realized again or not; Infinity if none was. From there on all must be done anew.
    message : str
        Which handler wants to end the simulation, or what failed and what to do; else empty.
    """

    exit_status: HandleEventsStatus
    any_change_made: bool = False
    lowest_modified_stage: Stage = Stage.INFINITY
    message: str = ""

    @property
    def has_succeeded(self) -> bool:
        """Whether nothing failed; the simulation may have to end, though."""
        return self.exit_status is not HandleEventsStatus.FAILED

    @property
    def should_terminate(self) -> bool:
        """Whether a handler wants the simulation to end."""
        return self.exit_status is HandleEventsStatus.SHOULD_TERMINATE

    def __str__(self) -> str:
        change = "no change"
        if self.any_change_made:
            change = f"changed from {self.lowest_modified_stage} on"
        return f"{self.exit_status}, {change}" + (f": {self.message}" if self.message else "")
