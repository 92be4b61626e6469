"""Reasons for which an integrator returns control, and a simulation ends.

::

    initialize  ->  START_OF_CONTINUOUS_INTERVAL
                    |  steps:  TIME_HAS_ADVANCED, REACHED_REPORT_TIME, REACHED_STEP_LIMIT
                    |  events: REACHED_EVENT_TRIGGER, REACHED_SCHEDULED_EVENT
                    |          handlers, reinitialize  ->  START_OF_CONTINUOUS_INTERVAL
                    v
                    END_OF_SIMULATION, with a TerminationReason

Source: the documentation of SimTK::Integrator, SuccessfulStepStatus and TerminationReason.
"""

from stagecache.system.options import Explained


class StepStatus(Explained):
    """Reason for which `Integrator.step_to` has returned.

    Attributes
    ----------
    message : str
        Reason, in words.
    hint : str
        Next call to make.
    """

    REACHED_REPORT_TIME = (
        "the time of the report is reached; the State may be an interpolated one",
        "report it, and step to the next time",
    )
    REACHED_EVENT_TRIGGER = (
        "an event trigger has changed its sign; the State is the one just before",
        "handle the triggered events in advanced_state, which is just after; call reinitialize() "
        "if that changed it",
    )
    REACHED_SCHEDULED_EVENT = (
        "the time of the scheduled event is reached",
        "handle it in advanced_state; call reinitialize() if that changed it; then give the time "
        "of the next one",
    )
    TIME_HAS_ADVANCED = (
        "a step was taken, and the options ask for each",
        "step on to the same time",
    )
    REACHED_STEP_LIMIT = (
        "the step limit was reached before the time of the report",
        "step on to the same time; or allow more steps by step_limit, or less accuracy",
    )
    END_OF_SIMULATION = (
        "the simulation has ended; termination_reason says why",
        "do not step on; initialize() begins another one",
    )
    START_OF_CONTINUOUS_INTERVAL = (
        "a continuous part of the motion begins: the first one, or one after an event",
        "step on to the same time",
    )


class TerminationReason(Explained):
    """Reason for the end of a simulation.

    Attributes
    ----------
    message : str
    hint : str
    """

    REACHED_FINAL_TIME = ("the final time is reached", "for a longer one, give a later final_time")
    EVENT_HANDLER_REQUESTED_TERMINATION = (
        "an event handler has ended it",
        "look at the handler of the last event if that is not meant",
    )
    AN_UNRECOVERABLE_ERROR_OCCURRED = (
        "a step could not be taken, for the reason that was raised",
        "follow the hint of the error that was raised; the State is the last good one",
    )
