"""Models: Systems made of Subsystems, which declare what every State has."""

from typing import TYPE_CHECKING

from stagecache.system.abstract_system import AbstractSystem
from stagecache.system.auto_update import auto_update
from stagecache.system.computations import cached
from stagecache.system.constrained import AbstractConstrainedSystem
from stagecache.system.constraint_errors import (
    acceleration_error,
    position_error,
    velocity_error,
)
from stagecache.system.coordinate_direction import CoordinateDirection
from stagecache.system.declaration import AbstractDeclaration
from stagecache.system.decorations import (
    AbstractDecoration,
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    DecorativeMesh,
    DecorativePoint,
    DecorativeSphere,
    DecorativeText,
)
from stagecache.system.dynamics import generalized_force, inverse_mass_matrix, mass_matrix
from stagecache.system.event_handlers import (
    AbstractEventHandler,
    PeriodicEventHandler,
    ScheduledEventHandler,
    TriggeredEventHandler,
)
from stagecache.system.event_reporters import (
    AbstractEventReporter,
    PeriodicEventReporter,
    ScheduledEventReporter,
    TriggeredEventReporter,
)
from stagecache.system.event_triggers import TriggerDirection, event_trigger
from stagecache.system.eventful import AbstractEventfulSystem
from stagecache.system.events import Event, EventAction, EventCause, EventTriggerInfo
from stagecache.system.families import (
    Family,
    cached_family,
    discrete_family,
    parameter_family,
    q_variable_family,
    u_variable_family,
    z_variable_family,
)
from stagecache.system.handle_events_options import (
    HandleEventsOptions,
    HandleEventsResults,
    HandleEventsStatus,
)
from stagecache.system.kinematic_operators import KinematicBlock, kinematic_blocks
from stagecache.system.kinematics import kinematics
from stagecache.system.normalization import normalization_error
from stagecache.system.profile import EntryProfile, Profile, WriteProfile, profile
from stagecache.system.project_options import (
    ProjectOptions,
    ProjectResults,
    ProjectStatus,
    WorstError,
)
from stagecache.system.quaternions import quaternion_kinematics, quaternion_normalization
from stagecache.system.statistics import SystemStatistics
from stagecache.system.subsystem import DefaultSystemSubsystem, Subsystem
from stagecache.system.system import System
from stagecache.system.variables import (
    discrete,
    modeling_option,
    parameter,
    q_variable,
    u_variable,
    z_variable,
)

if TYPE_CHECKING:
    from stagecache.system.constrained_dynamics import solve_constrained
else:

    def __getattr__(name: str) -> object:
        """Look up what needs SciPy when it is first asked for."""
        if name == "solve_constrained":
            from stagecache.system.constrained_dynamics import solve_constrained  # noqa: PLC0415

            return globals().setdefault(name, solve_constrained)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AbstractConstrainedSystem",
    "AbstractDeclaration",
    "AbstractDecoration",
    "AbstractEventHandler",
    "AbstractEventReporter",
    "AbstractEventfulSystem",
    "AbstractSystem",
    "CoordinateDirection",
    "DecorativeBrick",
    "DecorativeCylinder",
    "DecorativeFrame",
    "DecorativeLine",
    "DecorativeMesh",
    "DecorativePoint",
    "DecorativeSphere",
    "DecorativeText",
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
    "TriggerDirection",
    "TriggeredEventHandler",
    "TriggeredEventReporter",
    "WorstError",
    "WriteProfile",
    "acceleration_error",
    "auto_update",
    "cached",
    "cached_family",
    "discrete",
    "discrete_family",
    "event_trigger",
    "generalized_force",
    "inverse_mass_matrix",
    "kinematic_blocks",
    "kinematics",
    "mass_matrix",
    "modeling_option",
    "normalization_error",
    "parameter",
    "parameter_family",
    "position_error",
    "profile",
    "q_variable",
    "q_variable_family",
    "quaternion_kinematics",
    "quaternion_normalization",
    "solve_constrained",
    "u_variable",
    "u_variable_family",
    "velocity_error",
    "z_variable",
    "z_variable_family",
]
