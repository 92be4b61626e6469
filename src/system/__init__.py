"""Models: Systems made of Subsystems, which declare what every State has."""

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
from stagecache.system.event_triggers import TriggerDirection, event_trigger
from stagecache.system.families import (
    Family,
    cached_family,
    discrete_family,
    parameter_family,
    q_variable_family,
    u_variable_family,
    z_variable_family,
)
from stagecache.system.kinematic_operators import KinematicBlock, kinematic_blocks
from stagecache.system.kinematics import kinematics
from stagecache.system.normalization import normalization_error
from stagecache.system.profile import EntryProfile, Profile, WriteProfile, profile
from stagecache.system.project_options import ProjectOptions, ProjectResults, ProjectStatus
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

__all__ = [
    "AbstractConstrainedSystem",
    "AbstractDeclaration",
    "AbstractDecoration",
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
    "Family",
    "KinematicBlock",
    "Profile",
    "ProjectOptions",
    "ProjectResults",
    "ProjectStatus",
    "Subsystem",
    "System",
    "SystemStatistics",
    "TriggerDirection",
    "WriteProfile",
    "acceleration_error",
    "auto_update",
    "cached",
    "cached_family",
    "discrete",
    "discrete_family",
    "event_trigger",
    "kinematic_blocks",
    "kinematics",
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
    "u_variable",
    "u_variable_family",
    "velocity_error",
    "z_variable",
    "z_variable_family",
]
