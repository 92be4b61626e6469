"""Options and results of the handling of events.

::

    HandleEventsOptions  ->  handle_events  ->  HandleEventsResults, with a HandleEventsStatus
"""

from attrs import Factory, frozen

from stagecache.checks import as_float
from stagecache.state.stage import Stage
from stagecache.system.options import Explained, flag, number


def _tenth_of_accuracy(options: "HandleEventsOptions") -> float:
    return (as_float(options.accuracy) or 1.0) / 10  # an invalid accuracy is refused afterwards


@frozen
class HandleEventsOptions:
    """Options of `System.handle_events`: tolerances, and what is done about failures.

    Parameters
    ----------
    accuracy : float
        Accuracy of the simulation.
    constraint_tolerance : float
        If the norm of weighted constraint errors is larger after the handlers, the State is
        projected. A tenth of the accuracy, by default.
    use_infinity_norm : bool
        The norm is the largest absolute error, not the root of their mean square.
    dont_raise : bool
        Return results with the status FAILED instead of raising the error.

    Raises
    ------
    OutOfRangeError, NotANumberError, ShapeError

    Examples
    --------
    >>> from stagecache.system.events.options import HandleEventsOptions
    >>> HandleEventsOptions(1e-6).constraint_tolerance
    1e-07
    """

    accuracy: float = number(default=1e-4, above=0.0, kw_only=False)
    constraint_tolerance: float = number(
        default=Factory(_tenth_of_accuracy, takes_self=True), above=0.0
    )
    use_infinity_norm: bool = flag()
    dont_raise: bool = flag()


class HandleEventsStatus(Explained):
    """Status after the handling of events, with a `message` and a `hint`."""

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
    """Results of the handling of events.

    Attributes
    ----------
    exit_status : HandleEventsStatus
    any_change_made : bool
        True if a variable was written, even with the value that it had.
    lowest_modified_stage : Stage
        The lowest stage that was invalidated, by handlers or the projection after them, whether it
        was realized again or not; Infinity if none was. Realize anew from there on.
    message : str
        The handler that ends the simulation, or the error; else empty.
    """

    exit_status: HandleEventsStatus
    any_change_made: bool = False
    lowest_modified_stage: Stage = Stage.INFINITY
    message: str = ""

    @property
    def has_succeeded(self) -> bool:
        """True if nothing failed; the simulation may have to end, though."""
        return self.exit_status is not HandleEventsStatus.FAILED

    @property
    def should_terminate(self) -> bool:
        """True if a handler ends the simulation."""
        return self.exit_status is HandleEventsStatus.SHOULD_TERMINATE

    def __str__(self) -> str:
        change = "no change"
        if self.any_change_made:
            change = f"changed from {self.lowest_modified_stage} on"
        return f"{self.exit_status}, {change}" + (f": {self.message}" if self.message else "")
