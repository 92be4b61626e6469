"""Studies: what is done with a System by means of its States."""

from stagecache.study.ensemble.design import full_factorial, latin_hypercube, sobol
from stagecache.study.ensemble.member import Member
from stagecache.study.ensemble.members import Members
from stagecache.study.ensemble.results import MemberResult, StudyResults, StudyStatistics
from stagecache.study.ensemble.run_study import load_study, run_study
from stagecache.study.ensemble.simulation import Simulation
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.localization import TriggeredEvent
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.study.linear.equilibrium import find_equilibrium
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
    "Member",
    "MemberResult",
    "Members",
    "Simulation",
    "StepStatus",
    "Study",
    "StudyResults",
    "StudyStatistics",
    "TerminationReason",
    "TimeStepper",
    "Trajectory",
    "TriggeredEvent",
    "find_equilibrium",
    "full_factorial",
    "latin_hypercube",
    "linearize",
    "load_study",
    "load_trajectory",
    "resume",
    "run_study",
    "simulate",
    "sobol",
]
