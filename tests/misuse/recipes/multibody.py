"""Valid calls of trees of bodies, of their constraints, motions and observers."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from stagecache import Assembler
from stagecache.multibody import (
    Ball,
    BallConstraint,
    BendStretch,
    Bushing,
    CantileverFreeBeam,
    ConstantAccelerationConstraint,
    ConstantAngleConstraint,
    ConstantCoordinateConstraint,
    ConstantOrientationConstraint,
    ConstantSpeedConstraint,
    Coordinate,
    CoordinateCouplerConstraint,
    CustomForce,
    Cylinder,
    DiscreteForces,
    Ellipsoid,
    ForceSum,
    Free,
    FreeLine,
    FunctionBased,
    Gimbal,
    Gravity,
    Linear,
    LinearBushing,
    LineOnLineContact,
    LineOrientation,
    Markers,
    MassProperties,
    MatterSubsystem,
    MobilityConstantForce,
    MobilityDamper,
    MobilitySpring,
    MobilityStop,
    MultibodySystem,
    NaturalCubicSpline,
    NoSlip1DConstraint,
    OrientationSensors,
    Pin,
    Planar,
    PointInPlaneConstraint,
    PointOnLineConstraint,
    Polynomial,
    PrescribedMotionConstraint,
    Reversed,
    RodConstraint,
    Screw,
    Sinusoid,
    SinusoidalAcceleration,
    SinusoidalSpeed,
    Slider,
    SpeedCouplerConstraint,
    SphereOnPlaneContact,
    SphereOnSphereContact,
    Steady,
    SteadySpeed,
    Transform,
    Translation,
    TwoPointDamper,
    TwoPointSpring,
    Universal,
    Weld,
    WeldConstraint,
    applied_from,
    energy_from,
    with_euler_angles,
    with_quaternions,
)
from tests.misuse.recipe import Call, Recipe, Recipes, call
from tests.misuse.world import World

X: Final = (1.0, 0.0, 0.0)
JOINTS: Final = (
    BendStretch, Bushing, Weld, Pin, Slider, Universal, Cylinder, Planar, Gimbal, Translation, Ball,
    Free, FreeLine, LineOrientation,
)  # fmt: skip


def of_station(name: str) -> Recipe:
    """Return a recipe of a method of a body that takes a State and a station."""
    return lambda w: call(getattr(w.body, name), w.pose, X)


def of_group(name: str, size: Callable[[World], tuple[int, ...]]) -> Recipe:
    """Return a recipe of a product with the Jacobian of a group of stations."""

    def recipe(w: World) -> Call:
        group = w.keep("group", lambda: w.matter.add_stations("points", w.body, [X, X]))
        return call(getattr(group, name), w.pose, np.ones(size(w)))

    return recipe


def of_pose(name: str) -> Recipe:
    """Return a recipe of a method of the System that takes a State."""
    return lambda w: call(getattr(w.multibody, name), w.pose)


def of_udot(name: str) -> Recipe:
    """Return a recipe of a product with the mass matrix, or its like."""
    return lambda w: call(getattr(w.matter, name), w.pose, (1.0, 1.0))


def joint(kind: type) -> Recipe:
    """Return a recipe of a joint, which takes nothing."""
    return lambda _: call(kind)


def pair(kind: type, *more: object) -> Recipe:
    """Return a recipe of a constraint between two bodies, with what is on each of them."""

    def recipe(w: World) -> Call:
        ground, arguments = w.matter.ground, list(more)
        at = {"first": ground, "second": w.body}
        return call(kind, *(at.get(m, m) if isinstance(m, str) else m for m in arguments))

    return recipe


def _markers(w: World) -> Any:
    def make() -> Markers:
        markers = Markers()
        markers.add_marker(w.body, X, name="tip")
        assembler = Assembler(w.multibody)
        assembler.add_goal(markers)
        assembler.initialize(w.pose)
        markers.move_all_observations([X])
        return markers

    return w.keep("markers", make)


def _sensors(w: World) -> Any:
    def make() -> OrientationSensors:
        sensors = OrientationSensors()
        sensors.add_sensor(w.body, name="imu")
        assembler = Assembler(w.multibody)
        assembler.add_goal(sensors)
        assembler.initialize(w.pose)
        return sensors

    return w.keep("sensors", make)


def _push(w: World) -> DiscreteForces:
    return w.multibody.get(DiscreteForces)


def _sum(w: World) -> ForceSum:
    return ForceSum(w.matter, w.pose)


def _slide(state: Any, forces: ForceSum) -> None:
    """A force that is none."""


FIVE: Final = [(1.0,) * 5, (-1.0,) * 6]
NO_BODY: Final = [3, None, "lower"]

MARKS: Final = ["nonsense", 1, -1, None, 1.5]

RECIPES: Final[Recipes] = {
    "MultibodySystem": lambda _: call(MultibodySystem),
    "MultibodySystem.in_assembly_coordinates": lambda w: call(
        w.multibody.in_assembly_coordinates, w.pose
    ),
    "MultibodySystem.set_q_from_assembly": lambda w: call(
        w.multibody.set_q_from_assembly, w.multibody.in_assembly_coordinates(w.pose), w.pose
    ),
    "MultibodySystem.axes_by_subsystem": lambda w: call(w.multibody.axes_by_subsystem, w.pose),
    **{
        f"MultibodySystem.{name}": of_pose(name)
        for name in (
            "calc_kinetic_energy",
            "calc_potential_energy",
            "calc_energy",
            "calc_reaction_forces",
            "calc_motion_forces",
            "calc_motion_power",
        )
    },
    "MultibodySystem.add": lambda w: call(w.multibody.add, MobilityDamper(w.body, 0, 1.0)).but(
        subsystem=[3, MobilityDamper]
    ),
    "MultibodySystem.add_constraint": lambda w: call(
        w.multibody.add_constraint, RodConstraint(w.matter.ground, X, w.body, X, 0.5), "rod"
    ).but(
        constraint=[
            3,
            Gravity(w.matter),
            RodConstraint(w.foreign.multibody.matter.ground, X, w.foreign.body, X, 0.5),
        ]
    ),
    **{
        f"MatterSubsystem.{name}": of_udot(name)
        for name in ("multiply_by_m", "multiply_by_m_inv", "calc_inverse_dynamics")
    },
    "MatterSubsystem.calc_mass": lambda w: call(w.matter.calc_mass),
    "MatterSubsystem.calc_center_of_mass": lambda w: call(w.matter.calc_center_of_mass, w.pose),
    "MatterSubsystem.calc_momentum": lambda w: call(w.matter.calc_momentum, w.pose),
    "MatterSubsystem": lambda _: call(MatterSubsystem),
    "MatterSubsystem.body": lambda w: call(w.matter.body, "upper").but(which=[3, -4]),
    "MatterSubsystem.add_body": lambda w: call(
        w.matter.add_body, "third", w.body, Pin(), mass_properties={"mass": 1.0}
    ).but(
        name="upper",
        mobilizer=[Pin, "pin"],
        mass_properties=[{"mass": -1.0}, {"mass": np.nan}, {"weight": 1.0}],
        motion=[3, Steady((1.0, 2.0))],
        coordinates=[[], ["a", "b"], [3], "a", ["pose"]],
        decorations=[[3], 3],
    ),
    "MatterSubsystem.add_stations": lambda w: call(w.matter.add_stations, "tips", w.body, [X]).but(
        bodies=[[w.foreign.body], [3], [w.body] * 3]
    ),
    "MatterSubsystem.add_decoration": lambda w: call(
        w.matter.add_decoration, w.body, _sphere()
    ).but(decoration=[3, None, "sphere"]),
    "MatterSubsystem.coordinate": lambda w: call(w.matter.coordinate, "elbow").but(
        name=[0, "upper", None]
    ),
    "MobilizedBody.coordinate": lambda w: call(w.body.coordinate, 0).but(which=[1, -1, "x", 0.5]),
    "Coordinate": lambda _: call(Coordinate, "wrist", 0.1, (-1.0, 1.0)).but(
        name=["", "a.b", 3], default=[np.nan, "x"], range=[1.0, (1.0,), (2.0, 1.0)]
    ),
    "JointCoordinate(...)": lambda w: call(w.body.coordinate(0), w.pose),
    "JointCoordinate.set": lambda w: call(w.body.coordinate(0).set, w.pose, 0.1),
    "JointCoordinate.lock": lambda w: call(w.body.coordinate(0).lock, w.pose, 0.1),
    "JointCoordinate.unlock": lambda w: call(w.body.coordinate(0).unlock, w.pose),
    "JointCoordinate.is_locked": lambda w: call(w.body.coordinate(0).is_locked, w.pose),
    "MobilizedBody.set_q_to_fit_transform": lambda w: call(
        w.body.set_q_to_fit_transform, w.pose, Transform()
    ),
    "MobilizedBody.set_q_to_fit_rotation": lambda w: call(
        w.body.set_q_to_fit_rotation, w.pose, np.eye(3)
    ),
    "MobilizedBody.set_q_to_fit_translation": lambda w: call(
        w.body.set_q_to_fit_translation, w.pose, X
    ),
    "MobilizedBody.set_u_to_fit_velocity": lambda w: call(
        w.body.set_u_to_fit_velocity, w.pose, X + X
    ),
    "MobilizedBody.set_u_to_fit_angular_velocity": lambda w: call(
        w.body.set_u_to_fit_angular_velocity, w.pose, X
    ),
    "MobilizedBody.set_u_to_fit_linear_velocity": lambda w: call(
        w.body.set_u_to_fit_linear_velocity, w.pose, X
    ),
    "MobilizedBody.lock": lambda w: call(w.body.lock, w.pose).but(
        values=[[1.0, 2.0], "x"], coordinate=[1, -1, "x", 0.5]
    ),
    "MobilizedBody.unlock": lambda w: call(w.body.unlock, w.pose).but(coordinate=[1, -1, "x", 0.5]),
    "MobilizedBody.is_locked": lambda w: Call(w.body.is_locked, (w.pose,), {"coordinate": 0}).but(
        coordinate=[1, -1, 0.5]
    ),
    **{
        f"MobilizedBody.{name}": of_station(name)
        for name in (
            "station_position",
            "station_velocity",
            "station_acceleration",
            "station_acceleration_bias",
            "station_jacobian",
            "frame_jacobian",
        )
    },
    "StationGroup.multiply_by_jacobian": of_group("multiply_by_jacobian", lambda w: (2,)),
    "StationGroup.multiply_by_jacobian_transpose": of_group(
        "multiply_by_jacobian_transpose", lambda w: (2, 3)
    ),
    "StationGroup.multiply_by_frame_jacobian": of_group(
        "multiply_by_frame_jacobian", lambda w: (2,)
    ),
    "StationGroup.multiply_by_frame_jacobian_transpose": of_group(
        "multiply_by_frame_jacobian_transpose", lambda w: (2, 6)
    ),
    "Transform": lambda _: call(Transform, np.eye(3), X).but(
        rotation=[2 * np.eye(3), -np.eye(3), np.zeros((3, 3))]
    ),
    "Transform.apply": lambda _: call(Transform(None, X).apply, [X]),
    "Transform.inverse": lambda _: call(Transform(None, X).inverse),
    "MassProperties": lambda _: call(MassProperties, 1.0, (0.0, 0.0, 0.0), np.eye(3)).but(
        mass=[-1.0], inertia=[-np.eye(3), np.diag([1.0, 1.0, 9.0])]
    ),
    "MassProperties.about_center": lambda _: call(
        MassProperties.about_center, 1.0, (0.0, 0.0, 0.0), np.eye(3)
    ).but(mass=[-1.0], inertia=[-np.eye(3), np.diag([1.0, 1.0, 9.0])]),
    # ------------------------------------------------------------------ forces
    "Gravity": lambda w: call(Gravity, w.matter, zero_height=1.0, excluded=[w.body]).but(
        matter=[3, None, w.multibody], excluded=[3, None, w.body, [3], [w.foreign.body]]
    ),
    "MobilitySpring": lambda w: call(MobilitySpring, w.body, 0, 1.0).but(
        body=NO_BODY, coordinate=[1, -1], stiffness=-1.0
    ),
    "MobilityDamper": lambda w: call(MobilityDamper, w.body, 0, 1.0).but(
        body=NO_BODY, coordinate=[1, -1], damping=-1.0
    ),
    "MobilityConstantForce": lambda w: call(MobilityConstantForce, w.body, 0, 1.0).but(
        body=NO_BODY, coordinate=[1, -1]
    ),
    "MobilityStop": lambda w: call(MobilityStop, w.body, 0, 1.0, -1.0, 1.0).but(
        body=NO_BODY, coordinate=[1, -1], stiffness=-1.0, high=-2.0, dissipation=-1.0
    ),
    "TwoPointSpring": pair(TwoPointSpring, "first", X, "second", X, 1.0),
    "AbstractForce.calc_power": lambda w: call(_spring(w).calc_power, w.pose),
    "TwoPointDamper": pair(TwoPointDamper, "first", X, "second", X, 1.0),
    "LinearBushing": lambda w: call(
        LinearBushing, w.matter.ground, w.body, (1.0,) * 6, (1.0,) * 6
    ).but(first=NO_BODY, second=NO_BODY, stiffness=FIVE, damping=FIVE),
    "DiscreteForces": lambda w: call(DiscreteForces, w.matter).but(matter=[3, None, w.multibody]),
    "DiscreteForces.set_mobility_force": lambda w: call(
        _push(w).set_mobility_force, w.pose, w.body, 0, 1.0
    ).but(body=[*NO_BODY, w.foreign.body], u=[1, -1]),
    "DiscreteForces.set_body_force": lambda w: call(
        _push(w).set_body_force, w.pose, w.body, (1.0,) * 6
    ).but(body=[*NO_BODY, w.foreign.body]),
    "DiscreteForces.clear": lambda w: call(_push(w).clear, w.pose),
    "CustomForce": lambda w: call(CustomForce, w.matter, _slide).but(matter=[3, None]),
    "applied_from": lambda _: call(applied_from, ()),
    "energy_from": lambda _: call(energy_from, ()),
    "ForceSum.add_force": lambda w: call(_sum(w).add_force, w.body, X, X).but(
        body=[*NO_BODY, w.foreign.body]
    ),
    "ForceSum.add_moment": lambda w: call(_sum(w).add_moment, w.body, X).but(
        body=[*NO_BODY, w.foreign.body]
    ),
    "ForceSum.add_mobility_force": lambda w: call(_sum(w).add_mobility_force, w.body, 0, 1.0).but(
        body=[*NO_BODY, w.foreign.body], u=[1, -1]
    ),
    **{kind.__name__: joint(kind) for kind in JOINTS},
    "Screw": lambda _: call(Screw, 0.1),
    "CantileverFreeBeam": lambda _: call(CantileverFreeBeam, 0.5).but(length=[-1.0]),
    "Ellipsoid": lambda _: call(Ellipsoid, (0.1, 0.2, 0.3)).but(radii=[(1.0, -1.0, 1.0)]),
    "Reversed": lambda _: call(Reversed, Pin()),
    "FunctionBased": lambda _: call(FunctionBased, [(X, Linear(1.0), 0)]).but(
        rotations=[[], [(X, Linear(1.0), 1)], [(X, sum, 0)], [((0, 0, 0), Linear(1.0), 0)]],
        translations=[[(X, Linear(1.0), -1)], [X]],
        default_q=[[1.0, 2.0]],
        checked_at=[[[1.0, 2.0]]],
    ),
    "Linear": lambda _: call(Linear, 1.0),
    "Polynomial": lambda _: call(Polynomial, [1.0, 2.0]).but(coefficients=[[], [[1.0]]]),
    "NaturalCubicSpline": lambda _: call(NaturalCubicSpline, [0.0, 1.0], [2.0, 3.0]).but(
        x=[[0.0, 0.0], [1.0]], y=[[1.0]]
    ),
    "RodConstraint": pair(RodConstraint, "first", X, "second", X, 0.5),
    "BallConstraint": pair(BallConstraint, "first", X, "second", X),
    "WeldConstraint": pair(WeldConstraint, "first", "second"),
    "PointInPlaneConstraint": pair(PointInPlaneConstraint, "first", X, 0.5, "second", X),
    "PointOnLineConstraint": pair(PointOnLineConstraint, "first", X, X, "second", X),
    "ConstantAngleConstraint": pair(ConstantAngleConstraint, "first", X, "second", X, 0.5),
    "ConstantOrientationConstraint": pair(ConstantOrientationConstraint, "first", "second"),
    "CoordinateCouplerConstraint": lambda w: (
        Call(
            CoordinateCouplerConstraint,
            ([(w.matter.body("upper"), 0), (w.body, 0)],),
            {
                "function": lambda x: x[0] - x[1],
                "gradient": lambda x: [1.0, -1.0],
                "hessian": lambda x: np.zeros((2, 2)),
            },
        )
        .but(coordinates=[[], [(w.body, 5)], [(w.body, -1)], [(w.foreign.body, 0)], [w.body]])
        .but(
            dependent=[
                *((w.body, 5), (w.body, 0), (w.body, -1), (w.body, np.nan), (w.foreign.body, 0)),
                *(w.foreign.body.coordinate(0), w.body, 3, np.nan),
            ]
        )
    ),
    "ConstantCoordinateConstraint": lambda w: call(ConstantCoordinateConstraint, w.body, 0.5).but(
        index=[1, -1]
    ),
    "SteadySpeed": lambda _: call(SteadySpeed, 1.0),
    "SinusoidalSpeed": lambda _: call(SinusoidalSpeed, 1.0, 2.0),
    "SinusoidalAcceleration": lambda _: call(SinusoidalAcceleration, 1.0, 2.0),
    "PrescribedMotionConstraint": lambda w: call(
        PrescribedMotionConstraint, w.body, Linear(2.0)
    ).but(index=[1, -1]),
    "ConstantSpeedConstraint": lambda w: call(ConstantSpeedConstraint, w.body, 0.5).but(
        index=[1, -1]
    ),
    "ConstantAccelerationConstraint": lambda w: call(
        ConstantAccelerationConstraint, w.body, 0.5
    ).but(index=[1, -1]),
    "SpeedCouplerConstraint": lambda w: (
        Call(
            SpeedCouplerConstraint,
            ([(w.matter.body("upper"), 0)], [(w.body, 0)]),
            {"function": lambda x: x[0] - x[1], "gradient": lambda x: [1.0, -1.0]},
        )
        .but(speeds=[[], [(w.body, 5)], [(w.body, -1)], [(w.foreign.body, 0)], [w.body]])
        .but(coordinates=[[(w.body, 5)], [(w.body, -1)], [(w.foreign.body, 0)], [w.body], 3])
    ),
    "NoSlip1DConstraint": lambda w: call(
        NoSlip1DConstraint, w.matter.ground, [1, 0, 0], [0, 1, 0], w.body, w.matter.body("upper")
    ),
    "SphereOnPlaneContact": pair(SphereOnPlaneContact, "first", Transform(), "second", X, 0.5),
    "SphereOnPlaneContact.slip_multipliers": lambda w: call(_contact(w).slip_multipliers, w.pose),
    "SphereOnPlaneContact.calc_force": lambda w: call(_contact(w).calc_force, w.pose),
    "SphereOnSphereContact": pair(SphereOnSphereContact, "first", X, 0.5, "second", X, 0.5),
    "LineOnLineContact": pair(
        LineOnLineContact, "first", Transform(), 0.5, "second", Transform(), 0.5
    ),
    "AbstractConstraint.multipliers": lambda w: call(_contact(w).multipliers, w.pose),
    "AbstractConstraint.calc_body_forces": lambda w: call(_contact(w).calc_body_forces, w.pose),
    "AbstractConstraint.calc_mobility_forces": lambda w: call(
        _contact(w).calc_mobility_forces, w.pose
    ),
    "Sinusoid": lambda _: call(Sinusoid, 1.0, 2.0),
    "Steady": lambda _: call(Steady, 1.0),
    "with_euler_angles": lambda w: call(with_euler_angles, w.matter, w.pose).but(
        matter=[3, None, w.multibody, w.foreign.multibody.matter]
    ),
    "with_quaternions": lambda w: call(with_quaternions, w.matter, w.pose).but(
        matter=[3, None, w.multibody, w.foreign.multibody.matter]
    ),
    # ------------------------------------------------------------------ observers
    "Markers": lambda _: call(Markers, "markers"),
    "Markers.add_marker": lambda w: call(Markers().add_marker, w.body, X).but(weight=-1.0),
    "Markers.marker": lambda w: call(_markers(w).marker, "tip").but(which=MARKS),
    "Markers.weight": lambda w: call(_markers(w).weight, "tip").but(which=MARKS),
    "Markers.change_weight": lambda w: call(_markers(w).change_weight, "tip", 2.0).but(
        which=MARKS, weight=-1.0
    ),
    "Markers.observation": lambda w: call(_markers(w).observation, 0).but(index=MARKS),
    "Markers.observation_for": lambda w: call(_markers(w).observation_for, "tip").but(which=MARKS),
    "Markers.move_all_observations": lambda w: call(_markers(w).move_all_observations, [X]),
    "Markers.move_one_observation": lambda w: call(_markers(w).move_one_observation, 0, X).but(
        index=MARKS
    ),
    "Markers.define_observation_order": lambda w: call(
        _markers(w).define_observation_order, ["tip"]
    ).but(order=[["nonsense"], ["tip", "tip"], "tip", 3]),
    "Markers.current_errors": lambda w: call(_markers(w).current_errors),
    "Markers.current_positions": lambda w: call(_markers(w).current_positions),
    "Markers.rms": lambda w: call(_markers(w).rms),
    "Markers.calc_decorations": lambda w: call(_markers(w).calc_decorations),
    "OrientationSensors": lambda _: call(OrientationSensors, "sensors"),
    "OrientationSensors.add_sensor": lambda w: call(OrientationSensors().add_sensor, w.body).but(
        weight=-1.0, rotation=[2 * np.eye(3), -np.eye(3)]
    ),
    "OrientationSensors.sensor": lambda w: call(_sensors(w).sensor, "imu").but(which=MARKS),
    "OrientationSensors.current_orientations": lambda w: call(_sensors(w).current_orientations),
    "OrientationSensors.calc_decorations": lambda w: call(_sensors(w).calc_decorations),
}


def _contact(w: World) -> Any:
    """A ball at the outer bar, above a plane whose normal is x."""
    frame = Transform([[0, 0, 1], [1, 0, 0], [0, 1, 0]], (-5.0, 0.0, 0.0))

    def make() -> SphereOnPlaneContact:
        contact = SphereOnPlaneContact(w.matter.ground, frame, w.body, X, 0.5)
        return w.multibody.add(contact, "contact")

    return w.keep("contact", make)


def _spring(w: World) -> TwoPointSpring:
    return w.multibody.get(TwoPointSpring)


def _sphere() -> Any:
    from stagecache import DecorativeSphere  # noqa: PLC0415

    return DecorativeSphere(0.1)
