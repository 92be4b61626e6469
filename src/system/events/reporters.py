"""Reporters: what looks at the State when an event takes place that no subsystem declares."""

from collections.abc import Callable

from stagecache.state.stage import Stage
from stagecache.state.state import State
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

Report = Callable[[State], object]
"""A function that only looks at the State; what it returns is not looked at."""


class AbstractEventReporter(AbstractEventObserver):
    """One that only looks at the State."""

    method = "report"
    is_report = True
    _report: Report | None = None

    def report(self, state: State) -> object:
        """Look at the State at the time of the event.

        Parameters
        ----------
        state : State
            It cannot be written now. It can be realized, and entries can be computed.
        """
        assert self._report is not None  # it was checked
        return self._report(state)

    def _do(self, report: Report | None) -> None:
        self._report = given_or_overridden(
            self, AbstractEventReporter, "report", report, ("state",)
        )


class ScheduledEventReporter(AbstractEventReporter, AbstractScheduled):
    """Looks at the State at times that are known before. As `ScheduledEventHandler`.

    Parameters
    ----------
    report : callable, optional
        The function ``(state)``; or a subclass has the method `report`.
    next_time : callable or float, optional
    """

    def __init__(
        self, report: Report | None = None, next_time: NextTime | float | None = None
    ) -> None:
        self._do(report)
        self._schedule(next_time)


class PeriodicEventReporter(AbstractEventReporter, AbstractPeriodic):
    """Looks at the State at the times start + k * interval. As `PeriodicEventHandler`.

    Parameters
    ----------
    interval : float
        [s]
    report : callable, optional
        The function ``(state)``; or a subclass has the method `report`.
    start : float
        [s]
    """

    def __init__(self, interval: float, report: Report | None = None, start: float = 0.0) -> None:
        self._do(report)
        self._repeat(interval, start)


class TriggeredEventReporter(AbstractEventReporter, AbstractTriggered):
    """Looks at the State where a number changes its sign. As `TriggeredEventHandler`.

    Parameters
    ----------
    stage : Stage
    value : callable, optional
    report : callable, optional
        The function ``(state)``; or a subclass has the method `report`.
    direction : TriggerDirection or str
    localization_window : float
    initially : bool
    look_every : float, optional
    """

    def __init__(
        self,
        stage: Stage,
        value: Value | None = None,
        report: Report | None = None,
        direction: TriggerDirection | str = TriggerDirection.ANY,
        localization_window: float = LOCALIZATION_WINDOW,
        *,
        initially: bool = False,
        look_every: float | None = None,
    ) -> None:
        self._do(report)
        self._watch(
            stage, value, direction, localization_window, initially=initially, look_every=look_every
        )
