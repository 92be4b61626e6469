"""Studies: what is found out about a System by means of its States."""

from stagecache.study.animation import animate
from stagecache.study.drawing import draw
from stagecache.study.integrator import Integrator
from stagecache.study.integrator_options import IntegratorOptions
from stagecache.study.integrator_statistics import IntegratorStatistics
from stagecache.study.localization import TriggeredEvent
from stagecache.study.simulate import simulate
from stagecache.study.step_status import StepStatus, TerminationReason
from stagecache.study.study import Study
from stagecache.study.time_stepper import TimeStepper
from stagecache.study.trajectory import Trajectory

__all__ = [
    "Integrator",
    "IntegratorOptions",
    "IntegratorStatistics",
    "StepStatus",
    "Study",
    "TerminationReason",
    "TimeStepper",
    "Trajectory",
    "TriggeredEvent",
    "animate",
    "draw",
    "simulate",
]
