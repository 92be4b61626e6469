"""Studies: what is done with a System by means of its States."""

from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.localization import TriggeredEvent
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.study.linear.linearization import Linearization
from stagecache.study.linear.linearize import linearize
from stagecache.study.resume import resume
from stagecache.study.simulate import simulate
from stagecache.study.study import Study
from stagecache.study.time_stepper import TimeStepper
from stagecache.study.trajectory.loading import load_trajectory
from stagecache.study.trajectory.trajectory import Trajectory

__all__ = [
    "Integrator",
    "IntegratorOptions",
    "IntegratorStatistics",
    "Linearization",
    "StepStatus",
    "Study",
    "TerminationReason",
    "TimeStepper",
    "Trajectory",
    "TriggeredEvent",
    "linearize",
    "load_trajectory",
    "resume",
    "simulate",
]
