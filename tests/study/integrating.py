"""What tests of integrators do often."""

from collections.abc import Iterator
from typing import Any

from stagecache import State, Subsystem
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import StepStatus
from tests.study.models import state_of

METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "Euler", "Verlet")
CONSTRAINED = tuple(method for method in METHODS if method != "LSODA")
"""Those that take constraints."""

FOR_COMPARISONS = ("ExplicitEuler", "Merson", "Fehlberg")
"""Tables in the loop of the others, which are tested by their orders and errors."""

ONE_STEP = ("RK23", "RK45", "DOP853", "Euler", "Verlet")
"""Those that take fixed steps."""

POWERS = {"Euler": 1 / 2, "ExplicitEuler": 1 / 2, "Verlet": 2 / 3, "Merson": 4 / 5}
"""The error at the end is of the order accuracy to that power; 1 where it is not named."""

START, REPORT = StepStatus.START_OF_CONTINUOUS_INTERVAL, StepStatus.REACHED_REPORT_TIME
STEP, LIMIT = StepStatus.TIME_HAS_ADVANCED, StepStatus.REACHED_STEP_LIMIT
TRIGGER, SCHEDULED = StepStatus.REACHED_EVENT_TRIGGER, StepStatus.REACHED_SCHEDULED_EVENT
END = StepStatus.END_OF_SIMULATION


def integrating(
    model: Subsystem, method: str = "DOP853", state: State | None = None, **options: Any
) -> Integrator:
    """An integrator of a new System of that subsystem, or of that State, initialized."""
    if state is None:
        _, state = state_of(model)
    integrator = Integrator(state.system, method, **options)
    integrator.initialize(state)
    return integrator


def run(integrator: Integrator, time: float) -> Iterator[StepStatus]:
    """Step to a time, and yield what happens on the way; the last one is REACHED_REPORT_TIME."""
    while True:
        status = integrator.step_to(time)
        yield status
        if status in (REPORT, END):
            return


def run_to(integrator: Integrator, time: float) -> State:
    """Step to a time, whatever happens on the way, and return the State."""
    for _ in run(integrator, time):
        pass
    assert integrator.time == time
    return integrator.state
