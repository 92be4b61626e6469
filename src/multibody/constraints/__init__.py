"""Constraints between bodies and coordinates."""

from stagecache.multibody.constraints.ball import BallConstraint
from stagecache.multibody.constraints.constant_angle import ConstantAngleConstraint
from stagecache.multibody.constraints.constant_coordinate import ConstantCoordinateConstraint
from stagecache.multibody.constraints.constant_orientation import ConstantOrientationConstraint
from stagecache.multibody.constraints.constraint import AbstractConstraint
from stagecache.multibody.constraints.coordinate_constraint import AbstractCoordinateConstraint
from stagecache.multibody.constraints.coordinate_coupler import CoordinateCouplerConstraint
from stagecache.multibody.constraints.pair_constraint import AbstractPairConstraint
from stagecache.multibody.constraints.point_in_plane import PointInPlaneConstraint
from stagecache.multibody.constraints.point_on_line import PointOnLineConstraint
from stagecache.multibody.constraints.rod import RodConstraint
from stagecache.multibody.constraints.weld import WeldConstraint

__all__ = [
    "AbstractConstraint",
    "AbstractCoordinateConstraint",
    "AbstractPairConstraint",
    "BallConstraint",
    "ConstantAngleConstraint",
    "ConstantCoordinateConstraint",
    "ConstantOrientationConstraint",
    "CoordinateCouplerConstraint",
    "PointInPlaneConstraint",
    "PointOnLineConstraint",
    "RodConstraint",
    "WeldConstraint",
]
