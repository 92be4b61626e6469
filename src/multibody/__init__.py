"""A real System: rigid bodies, joined by mobilizers."""

from stagecache.multibody.body import MobilizedBody
from stagecache.multibody.constraints import (
    AbstractConstraint,
    AbstractCoordinateConstraint,
    AbstractPairConstraint,
    BallConstraint,
    ConstantAngleConstraint,
    ConstantCoordinateConstraint,
    ConstantOrientationConstraint,
    CoordinateCouplerConstraint,
    PointInPlaneConstraint,
    PointOnLineConstraint,
    RodConstraint,
    WeldConstraint,
)
from stagecache.multibody.markers import Marker, Markers
from stagecache.multibody.mass_properties import MassProperties
from stagecache.multibody.matter import MatterSubsystem
from stagecache.multibody.mobilizer import AbstractMobilizer
from stagecache.multibody.mobilizers import (
    Ball,
    Cylinder,
    Free,
    Gimbal,
    Pin,
    Planar,
    Slider,
    Translation,
    Universal,
    Weld,
)
from stagecache.multibody.motion import AbstractMotion
from stagecache.multibody.motions import Sinusoid, Steady
from stagecache.multibody.multibody_system import MultibodySystem
from stagecache.multibody.orientation_option import with_euler_angles, with_quaternions
from stagecache.multibody.orientation_sensors import OrientationSensor, OrientationSensors
from stagecache.multibody.station_group import StationGroup
from stagecache.multibody.transform import Transform

__all__ = [
    "AbstractConstraint",
    "AbstractCoordinateConstraint",
    "AbstractMobilizer",
    "AbstractMotion",
    "AbstractPairConstraint",
    "Ball",
    "BallConstraint",
    "ConstantAngleConstraint",
    "ConstantCoordinateConstraint",
    "ConstantOrientationConstraint",
    "CoordinateCouplerConstraint",
    "Cylinder",
    "Free",
    "Gimbal",
    "Marker",
    "Markers",
    "MassProperties",
    "MatterSubsystem",
    "MobilizedBody",
    "MultibodySystem",
    "OrientationSensor",
    "OrientationSensors",
    "Pin",
    "Planar",
    "PointInPlaneConstraint",
    "PointOnLineConstraint",
    "RodConstraint",
    "Sinusoid",
    "Slider",
    "StationGroup",
    "Steady",
    "Transform",
    "Translation",
    "Universal",
    "Weld",
    "WeldConstraint",
    "with_euler_angles",
    "with_quaternions",
]
