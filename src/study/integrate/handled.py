"""Events that were handled on the way of an integrator."""

from typing import final

from attrs import field, frozen

from stagecache.study.integrate.localization import TriggeredEvent


@final
@frozen
class Handled:
    """Record of the events that were handled, and are not to be handled again.

    A new record is written when handlers have succeeded, in one assignment: an error that strikes
    then leaves what they have changed and the record of it, or neither.

    Attributes
    ----------
    triggered : tuple of TriggeredEvent
        Those that the integrator has reported last, unless they still have to be handled.
    scheduled : dict of int to float
        Time at which an event took place last, by its id.
    num_steps : int
        Steps whose time-advanced events were handled.
    num_changes : int
        How often handlers may have changed what is scheduled next.
    has_ended : bool
        True once the end of the simulation was handled.
    """

    triggered: tuple[TriggeredEvent, ...] = ()
    scheduled: dict[int, float] = field(factory=dict)
    num_steps: int = 0
    num_changes: int = 0
    has_ended: bool = False
