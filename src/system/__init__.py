"""Models: Systems made of Subsystems, which declare what every State has."""

from stagecache.system.constraints.errors import (
    acceleration_error,
    normalization_error,
    position_error,
    velocity_error,
)
from stagecache.system.constraints.quaternions import (
    quaternion_kinematics,
    quaternion_normalization,
)
from stagecache.system.core.state_file import load_state
from stagecache.system.core.system import System
from stagecache.system.declare.auto_update import auto_update
from stagecache.system.declare.cached import cached
from stagecache.system.declare.declaration import AbstractDeclaration
from stagecache.system.declare.families import Family
from stagecache.system.declare.groups import ALL
from stagecache.system.declare.ports import input_port
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.declare.variables import (
    discrete,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)
from stagecache.system.dynamics.dynamics import generalized_force, inverse_mass_matrix, mass_matrix
from stagecache.system.events.declared import (
    at_initialization,
    at_termination,
    periodic,
    scheduled,
)
from stagecache.system.events.default_subsystem import DefaultSystemSubsystem
from stagecache.system.events.events import Event, EventAction, EventCause, EventTriggerInfo
from stagecache.system.events.handlers import (
    AbstractEventHandler,
    AbstractEventReporter,
    InitializationEventHandler,
    InitializationEventReporter,
    PeriodicEventHandler,
    PeriodicEventReporter,
    ScheduledEventHandler,
    ScheduledEventReporter,
    TerminationEventHandler,
    TerminationEventReporter,
    TriggeredEventHandler,
    TriggeredEventReporter,
)
from stagecache.system.events.options import (
    HandleEventsOptions,
    HandleEventsResults,
    HandleEventsStatus,
)
from stagecache.system.events.triggers import TriggerDirection, event_trigger
from stagecache.system.motion.kinematics import kinematics
from stagecache.system.motion.operators import KinematicBlock, kinematic_blocks
from stagecache.system.profile import EntryProfile, Profile, WriteProfile, profile
from stagecache.system.projection.options import (
    ProjectOptions,
    ProjectResults,
    ProjectStatus,
    WorstError,
)
from stagecache.system.statistics import SystemStatistics

__all__ = [
    "ALL",
    "AbstractDeclaration",
    "AbstractEventHandler",
    "AbstractEventReporter",
    "DefaultSystemSubsystem",
    "EntryProfile",
    "Event",
    "EventAction",
    "EventCause",
    "EventTriggerInfo",
    "Family",
    "HandleEventsOptions",
    "HandleEventsResults",
    "HandleEventsStatus",
    "InitializationEventHandler",
    "InitializationEventReporter",
    "KinematicBlock",
    "PeriodicEventHandler",
    "PeriodicEventReporter",
    "Profile",
    "ProjectOptions",
    "ProjectResults",
    "ProjectStatus",
    "ScheduledEventHandler",
    "ScheduledEventReporter",
    "Subsystem",
    "System",
    "SystemStatistics",
    "TerminationEventHandler",
    "TerminationEventReporter",
    "TriggerDirection",
    "TriggeredEventHandler",
    "TriggeredEventReporter",
    "WorstError",
    "WriteProfile",
    "acceleration_error",
    "at_initialization",
    "at_termination",
    "auto_update",
    "cached",
    "discrete",
    "event_trigger",
    "generalized_force",
    "input_port",
    "inverse_mass_matrix",
    "kinematic_blocks",
    "kinematics",
    "load_state",
    "mass_matrix",
    "modeling_option",
    "normalization_error",
    "parameter",
    "periodic",
    "position_error",
    "profile",
    "q_variable",
    "quaternion_kinematics",
    "quaternion_normalization",
    "scheduled",
    "u_variable",
    "velocity_error",
    "z_variable",
]
