"""Rigid bodies in a tree of mobilizers, with forces, constraints and observers."""

from stagecache.multibody.constraints.constraint import AbstractConstraint
from stagecache.multibody.constraints.coordinates import (
    AbstractCoordinateConstraint,
    ConstantCoordinateConstraint,
    CoordinateCouplerConstraint,
    PrescribedMotionConstraint,
)
from stagecache.multibody.constraints.line_on_line import LineOnLineContact
from stagecache.multibody.constraints.orientations import (
    ConstantAngleConstraint,
    ConstantOrientationConstraint,
    WeldConstraint,
)
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.points import (
    BallConstraint,
    PointInPlaneConstraint,
    PointOnLineConstraint,
    RodConstraint,
)
from stagecache.multibody.constraints.slip import NoSlip1DConstraint
from stagecache.multibody.constraints.speeds import (
    AbstractSpeedConstraint,
    ConstantAccelerationConstraint,
    ConstantSpeedConstraint,
    SpeedCouplerConstraint,
)
from stagecache.multibody.constraints.sphere_on_plane import SphereOnPlaneContact
from stagecache.multibody.constraints.sphere_on_sphere import SphereOnSphereContact
from stagecache.multibody.forces.bushing import LinearBushing
from stagecache.multibody.forces.force import (
    AbstractForce,
    ForceSum,
    applied_from,
    energy_from,
)
from stagecache.multibody.forces.gravity import Gravity
from stagecache.multibody.forces.mobilities import (
    MobilityConstantForce,
    MobilityDamper,
    MobilitySpring,
    MobilityStop,
)
from stagecache.multibody.forces.outside import CustomForce, DiscreteForces
from stagecache.multibody.forces.two_points import TwoPointDamper, TwoPointSpring
from stagecache.multibody.geometry.transform import Transform
from stagecache.multibody.matter.coordinates import Coordinate, JointCoordinate
from stagecache.multibody.matter.matter import MatterSubsystem
from stagecache.multibody.matter.mobilized_body import MobilizedBody
from stagecache.multibody.matter.station_group import StationGroup
from stagecache.multibody.mobilizers.coupled import (
    BendStretch,
    CantileverFreeBeam,
    Ellipsoid,
    Screw,
)
from stagecache.multibody.mobilizers.function_based import FunctionBased
from stagecache.multibody.mobilizers.functions import (
    AbstractFunction,
    Linear,
    NaturalCubicSpline,
    Polynomial,
)
from stagecache.multibody.mobilizers.lines import FreeLine, LineOrientation
from stagecache.multibody.mobilizers.mobilizer import AbstractMobilizer
from stagecache.multibody.mobilizers.orientations import Ball, Free
from stagecache.multibody.mobilizers.reversed import Reversed
from stagecache.multibody.mobilizers.sequences import (
    Bushing,
    Cylinder,
    Gimbal,
    Pin,
    Planar,
    Slider,
    Translation,
    Universal,
    Weld,
)
from stagecache.multibody.motions.library import (
    Sinusoid,
    SinusoidalAcceleration,
    SinusoidalSpeed,
    Steady,
    SteadySpeed,
)
from stagecache.multibody.motions.motion import (
    AbstractAccelerationMotion,
    AbstractMotion,
    AbstractSpeedMotion,
)
from stagecache.multibody.multibody_system import (
    MultibodySystem,
    with_euler_angles,
    with_quaternions,
)
from stagecache.multibody.observers.markers import Marker, Markers
from stagecache.multibody.observers.orientation_sensors import OrientationSensor, OrientationSensors
from stagecache.multibody.tree.mass_properties import MassProperties

__all__ = [
    "AbstractAccelerationMotion",
    "AbstractConstraint",
    "AbstractCoordinateConstraint",
    "AbstractForce",
    "AbstractFunction",
    "AbstractMobilizer",
    "AbstractMotion",
    "AbstractPairConstraint",
    "AbstractSpeedConstraint",
    "AbstractSpeedMotion",
    "Ball",
    "BallConstraint",
    "BendStretch",
    "Bushing",
    "CantileverFreeBeam",
    "ConstantAccelerationConstraint",
    "ConstantAngleConstraint",
    "ConstantCoordinateConstraint",
    "ConstantOrientationConstraint",
    "ConstantSpeedConstraint",
    "Coordinate",
    "CoordinateCouplerConstraint",
    "CustomForce",
    "Cylinder",
    "DiscreteForces",
    "Ellipsoid",
    "ForceSum",
    "Free",
    "FreeLine",
    "FunctionBased",
    "Gimbal",
    "Gravity",
    "JointCoordinate",
    "LineOnLineContact",
    "LineOrientation",
    "Linear",
    "LinearBushing",
    "Marker",
    "Markers",
    "MassProperties",
    "MatterSubsystem",
    "MobilityConstantForce",
    "MobilityDamper",
    "MobilitySpring",
    "MobilityStop",
    "MobilizedBody",
    "MultibodySystem",
    "NaturalCubicSpline",
    "NoSlip1DConstraint",
    "OrientationSensor",
    "OrientationSensors",
    "Pin",
    "Planar",
    "PointInPlaneConstraint",
    "PointOnLineConstraint",
    "Polynomial",
    "PrescribedMotionConstraint",
    "Reversed",
    "RodConstraint",
    "Screw",
    "Sinusoid",
    "SinusoidalAcceleration",
    "SinusoidalSpeed",
    "Slider",
    "SpeedCouplerConstraint",
    "SphereOnPlaneContact",
    "SphereOnSphereContact",
    "StationGroup",
    "Steady",
    "SteadySpeed",
    "Transform",
    "Translation",
    "TwoPointDamper",
    "TwoPointSpring",
    "Universal",
    "Weld",
    "WeldConstraint",
    "applied_from",
    "energy_from",
    "with_euler_angles",
    "with_quaternions",
]
