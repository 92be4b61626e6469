"""Runs: a State is advanced according to a plan, and rows are taken on the way.

::

    begin or go_on  ->  a new stepper  ->  rows  ->  the sink
                            ^                          | is full
                            +---  a restart, as bytes  <  a pause between two steps

Where the rows go into a file, a run is a chain of segments. Each goes on by a new integrator, from
the restart alone that was written after the segment before it. A run that was interrupted does the
same, so both have the same rows, bit for bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

from stagecache.inspection.trace.trace import trace_as_copy
from stagecache.state.state import State
from stagecache.study.ending import Ending
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import StepStatus
from stagecache.study.plan import Plan
from stagecache.study.restart import Restart
from stagecache.study.time_stepper import TimeStepper
from stagecache.system.core.system import System

END, PAUSED = StepStatus.END_OF_SIMULATION, StepStatus.REACHED_STEP_LIMIT


class AbstractSink(ABC):
    """A place for the rows of a run."""

    @abstractmethod
    def append(self, state: State, integrator: Integrator, *, has_changed: bool) -> None:
        """Take a row; `has_changed` after events that have changed the State."""

    @property
    @abstractmethod
    def is_full(self) -> bool:
        """True if it wants a restart after the rows that it has."""

    @abstractmethod
    def restart(self, restart: bytes) -> None:
        """Take a restart after these rows."""


@final
class Run:
    """A simulation that takes rows.

    Parameters
    ----------
    system : System
    plan : Plan
    sink : AbstractSink
    show : callable
        Called with the time after each step.
    """

    def __init__(
        self, system: System, plan: Plan, sink: AbstractSink, show: Callable[[float], object]
    ) -> None:
        self._system = system
        self._plan = plan
        self._sink = sink
        self._show = show
        self._stepper = self._new_stepper()

    def _new_stepper(self) -> TimeStepper:
        """Return a stepper that shows its States if each step makes a row."""
        stepper = TimeStepper(self._system, self._plan.integrator(self._system), progress=False)
        if self._plan.every is None:
            stepper._see = self._see
        return stepper

    def begin(self, state: State) -> Ending:
        """Advance a copy of a State to the end."""
        self._stepper.initialize(state)
        return self._finish(0)

    def go_on(self, restart: Restart, count: int) -> Ending:
        """Go on to the end from a restart, after that number of rows."""
        self._stepper._go_on(restart)
        return self._finish(count)

    def _finish(self, count: int) -> Ending:
        for time in self._plan.times(count):
            status = self._step_to(time)
            self._see(self._stepper.state)
            if status is END:
                break
        if self._plan.every is not None:  # there is no row that could follow a restart
            self._stepper._pause(is_wanted=False)
        while self._step_to(self._plan.until) is not END:
            pass
        integrator = self._stepper.integrator
        assert integrator.termination_reason is not None
        return Ending(integrator.termination_reason, integrator.statistics)

    def _step_to(self, time: float) -> StepStatus:
        while True:
            status = self._stepper._step_to(time, self._show)
            if status is not PAUSED:
                return status
            self._renew()

    def _renew(self) -> None:
        """Go on from a restart, with new objects, as one would that was interrupted here."""
        restart = self._stepper._restart().to_bytes()
        self._sink.restart(restart)
        before = self._stepper.state
        self._stepper = self._new_stepper()
        self._stepper._go_on(Restart.of_bytes(restart, "a restart"))
        trace_as_copy(before, self._stepper.state)

    def _see(self, state: State, has_changed: bool = False) -> None:
        """Take a row."""
        self._sink.append(state, self._stepper.integrator, has_changed=has_changed)
        self._stepper._pause(is_wanted=self._sink.is_full)
