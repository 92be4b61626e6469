"""Coordinates of joints: names, defaults, ranges, and where they are used."""

from math import inf
from pickle import dumps, loads
from typing import Any

import numpy as np
import pytest

from stagecache import Assembler, QValue, Stage, State, Trajectory, load_trajectory
from stagecache.errors import (
    DuplicateNameError,
    InvalidNameError,
    KinematicsError,
    MotionError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    UnknownItemError,
    UnknownMobilizerError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.multibody import (
    Ball,
    Coordinate,
    CoordinateCouplerConstraint,
    Free,
    Gimbal,
    MobilitySpring,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Steady,
    with_euler_angles,
)

KNEE = Coordinate("knee", default=-0.5, range=(-2.0, 0.2), clamped=True)


def leg() -> tuple[MultibodySystem, MobilizedBody, MobilizedBody]:
    system = MultibodySystem()
    mass: Any = {"mass": 1.0, "inertia": 0.1 * np.eye(3)}
    thigh = system.matter.add_body(
        "thigh",
        system.matter.ground,
        Gimbal(),
        mass_properties=mass,
        coordinates=["flexion", Coordinate("adduction", 0.3, locked=True), "rotation"],
    )
    shank = system.matter.add_body("shank", thigh, Pin(), mass_properties=mass, coordinates=[KNEE])
    return system, thigh, shank


def test_a_coordinate_is_found_by_its_name_and_reads_and_writes_its_q() -> None:
    system, thigh, shank = leg()
    knee = system.matter.coordinate("knee")
    assert (knee.name, knee.body, knee.index) == ("knee", shank, 0)
    assert (knee.default, knee.range, knee.is_clamped) == (-0.5, (-2.0, 0.2), True)
    assert [c.name for c in system.matter.coordinates] == [
        *("flexion", "adduction", "rotation", "knee")
    ]
    assert thigh.coordinate("adduction") == thigh.coordinate(1) == thigh.coordinates[1]
    state = system.new_state()
    assert state.q.tolist() == [0.0, 0.3, 0.0, -0.5]
    knee.set(state, -1.0)
    thigh.q[2].set(state, 0.25)
    assert state.q.tolist() == [0.0, 0.3, 0.25, -1.0]
    assert knee(state) == -1.0
    assert thigh.q[2](state) == thigh.coordinate("rotation")(state) == 0.25
    knee.u.set(state, 3.0)
    assert state.u.tolist() == [0.0, 0.0, 0.0, 3.0]


def test_a_body_without_names_has_coordinates_by_index() -> None:
    system = MultibodySystem()
    arm = system.matter.add_body("arm", system.matter.ground, Gimbal())
    assert system.matter.coordinates == ()
    assert [c.name for c in arm.coordinates] == ["arm[0]", "arm[1]", "arm[2]"]
    assert arm.coordinate(1).range == (-inf, inf)
    state = system.new_state()
    arm.coordinate(1).set(state, 0.5)
    assert state.q.tolist() == [0.0, 0.5, 0.0]


def test_a_write_of_one_coordinate_leaves_what_it_does_not_reach() -> None:
    system, thigh, shank = leg()
    state = system.new_state()
    thigh.pose(state)
    before = thigh.pose.version(state)
    system.matter.coordinate("knee").set(state, 0.1)
    thigh.pose(state)
    assert thigh.pose.version(state) == before
    assert shank.pose(state) != thigh.pose(state)


def test_a_coordinate_that_is_clamped_refuses_values_outside_of_its_range() -> None:
    system, thigh, _ = leg()
    state = system.new_state()
    with pytest.raises(OutOfRangeError, match=r"'knee'(.|\n)*-2 to 0.2"):
        system.matter.coordinate("knee").set(state, 0.3)
    assert state.q[3] == -0.5
    for wrong in (np.nan, inf):
        with pytest.raises(OutOfRangeError):
            thigh.coordinate(0).set(state, wrong)
    with pytest.raises(NotANumberError):
        thigh.q[0].set(state, "far")  # type: ignore[arg-type]
    assert thigh.q(state).tolist() == [0.0, 0.3, 0.0]


def test_locks_of_the_default_state() -> None:
    system, thigh, _ = leg()
    state = system.new_state()
    adduction = system.matter.coordinate("adduction")
    assert adduction.is_locked(state)
    assert not system.matter.coordinate("flexion").is_locked(state)
    thigh.u.set(state, [1.0, 2.0, 3.0])
    system.realize(state, Stage.TIME)
    system.prescribe(state)
    assert state.u.tolist() == [1.0, 0.0, 3.0, 0.0]
    adduction.unlock(state)
    assert not thigh.is_locked(state)
    thigh.lock(state, 0.1, coordinate="rotation")
    assert thigh.is_locked(state, coordinate=2)
    with pytest.raises(UnknownItemError, match="mean"):
        thigh.lock(state, coordinate="rotatoin")


def test_a_joint_of_which_all_coordinates_are_locked_is_locked_as_a_whole() -> None:
    system = MultibodySystem()
    names = [Coordinate(name, 0.1, locked=True) for name in "abc"]
    head = system.matter.add_body("head", system.matter.ground, Ball(), coordinates=names)
    state = system.new_state()
    assert head.is_locked(state)
    system.realize(state, Stage.TIME)
    before = state.q.copy()
    system.prescribe(state)
    np.testing.assert_allclose(state.q, before, atol=1e-15)
    twin = with_euler_angles(system.matter, state)
    np.testing.assert_allclose(twin.q, [0.1] * 3, atol=1e-15)


def test_coordinates_of_a_quaternion_are_those_of_euler_angles() -> None:
    system = MultibodySystem()
    names: list[Coordinate | str] = [
        Coordinate("roll", 0.2),
        "pitch",
        "yaw",
        "x",
        Coordinate("y", 2.0),
        "z",
    ]
    ship = system.matter.add_body("ship", system.matter.ground, Free(), coordinates=names)
    state = system.new_state()
    roll, y = ship.coordinate("roll"), ship.coordinate("y")
    with pytest.raises(KinematicsError, match="quaternions"):
        roll(state)
    assert y(state) == 2.0
    with pytest.raises(KinematicsError, match="no handle"):
        _ = y.q
    y.set(state, 3.0)
    angles = with_euler_angles(system.matter, state)
    assert roll(angles) == pytest.approx(0.2)
    assert y(angles) == 3.0
    system.matter.use_euler_angles.set(state, True)
    system.realize(state, Stage.MODEL)
    assert state.q.tolist() == [0.2, 0.0, 0.0, 0.0, 2.0, 0.0]


def test_tables_have_the_names(tmp_path: Any) -> None:
    system, thigh, _ = leg()
    state = system.new_state()
    trajectory = Trajectory(state)
    trajectory.append(state)
    system.matter.coordinate("knee").set(state, -1.0)
    trajectory.append(state)
    names = [f"matter.{name}" for name in ("flexion", "adduction", "rotation", "knee")]
    path = tmp_path / "walk.arrow"
    trajectory.save(path)
    for found in (trajectory, load_trajectory(path), load_trajectory(path, system)):
        found.to_csv(tmp_path / "walk.csv")
        head = (tmp_path / "walk.csv").read_text().splitlines()[0]
        assert head.split(",")[1:] == [*names, *(f"{name}.u" for name in names)]
        assert found["matter.knee"].tolist() == [-0.5, -1.0]
        assert found["matter.joint_q[thigh][1]"].tolist() == [0.3, 0.3]
        with pytest.raises(UnknownPathError):
            found["matter.kneee"]
    assert trajectory[thigh.q[1]].tolist() == [0.3, 0.3]


def test_continuous_states_have_the_names() -> None:
    pytest.importorskip("xarray")
    system, _, _ = leg()
    state = system.new_state()
    names = [f"matter.{coordinate.name}" for coordinate in system.matter.coordinates]
    labels = state.continuous_state.to_labeled().coords["x"].values.tolist()
    assert labels == [*names, *(f"{name}.u" for name in names)]


def test_forces_and_constraints_take_them() -> None:
    system, thigh, shank = leg()
    spring = system.add(MobilitySpring(shank, "knee", 2.0), "spring")
    assert spring.coordinate == 0
    knee, flexion = shank.coordinate("knee"), thigh.coordinate("flexion")
    coupler = CoordinateCouplerConstraint([flexion, knee], function=lambda x: x[0] + x[1])
    system.add_constraint(coupler, "coupler")
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    assert coupler.error(state).tolist() == [-0.5]
    with pytest.raises(UnknownItemError):
        MobilitySpring(shank, "hip", 2.0)


def assembled(system: MultibodySystem, knee: float) -> tuple[Assembler, State]:
    assembler = Assembler(system)
    assembler.add_goal(QValue("knee", 0, knee))
    assembler.assemble()
    return assembler, assembler.internal_state


def test_an_assembler_keeps_clamped_coordinates_in_their_ranges() -> None:
    system, _, shank = leg()
    assembler, state = assembled(system, 1.0)
    assert shank.coordinate("knee")(state) == pytest.approx(0.2)
    assembler.restrict_q("knee", 0, -1.0, 0.5)
    assembler.assemble()
    assert shank.coordinate("knee")(state) == pytest.approx(0.5)
    assembler.unrestrict_q("knee")
    assembler.assemble()
    assert shank.coordinate("knee")(state) == pytest.approx(1.0)


def test_an_assembler_takes_names_handles_and_coordinates() -> None:
    system, thigh, shank = leg()
    knee = shank.coordinate("knee")
    for given in ("knee", knee, knee.q):
        assembler, state = assembled(system, -1.0)
        assert knee(state) == pytest.approx(-1.0)
        assembler.lock_q(given)
        assembler.add_goal(QValue(given, 0, -0.7, "other"), weight=100.0)
        assembler.assemble()
        assert knee(state) == pytest.approx(-1.0)
        assembler.unlock_q(given)
        assembler.lock_mobilizer(given)
        assembler.unlock_mobilizer(given)
        assembler.assemble()
        assert knee(state) == pytest.approx(-0.7, abs=0.01)
        with pytest.raises(UnknownItemError):
            assembler.lock_q(given, 1)
    assembler = Assembler(system)
    assembler.add_goal(QValue(thigh.coordinate("rotation"), 0, 0.4))
    assembler.assemble()
    np.testing.assert_allclose(thigh.q(assembler.internal_state), [0.0, 0.3, 0.4], atol=1e-6)
    with pytest.raises(UnknownMobilizerError, match=r"knee(.|\n)*mean"):
        assembler.lock_q("kne")


def test_coordinates_are_const_and_can_be_pickled() -> None:
    system, _, shank = leg()
    knee = shank.coordinate("knee")
    again = loads(dumps((system, knee, knee.q)))
    assert again[1].name == "knee"
    assert again[1].body is again[0].matter.body("shank")
    assert again[2](again[0].new_state()) == -0.5
    with pytest.raises(AttributeError):
        knee.index = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("coordinates", "error"),
    [
        (["a", "b"], ShapeError),
        (["a", "b", "a"], DuplicateNameError),
        (["a", "b", "pose"], DuplicateNameError),
        (["a", "b", "knee"], DuplicateNameError),
        (["a", "b", 3], WrongTypeError),
        ("abc", WrongTypeError),
        (5, WrongTypeError),
        (["a", "b", "c.d"], InvalidNameError),
        (["a", "b", ""], InvalidNameError),
    ],
)
def test_wrong_coordinates_of_a_body(coordinates: Any, error: type[Exception]) -> None:
    system, _, shank = leg()
    with pytest.raises(error):
        system.matter.add_body("foot", shank, Gimbal(), coordinates=coordinates)
    assert len(system.matter.bodies) == 3


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"default": np.nan}, OutOfRangeError),
        ({"default": "zero"}, NotANumberError),
        ({"range": (1.0, 0.0)}, OutOfRangeError),
        ({"range": (inf, inf)}, OutOfRangeError),
        ({"range": (1.0,)}, ShapeError),
        ({"range": 3.0}, ShapeError),
        ({"range": (np.nan, 1.0)}, OutOfRangeError),
        ({"range": (0.0, 1.0), "default": 2.0, "clamped": True}, OutOfRangeError),
        ({"clamped": 1}, NotANumberError),
        ({"locked": "yes"}, NotANumberError),
    ],
)
def test_wrong_descriptions(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Coordinate("a", **arguments)


def test_one_coordinate_cannot_be_locked_where_its_joint_moves_as_one() -> None:
    system = MultibodySystem()
    locked: list[Coordinate | str] = [Coordinate("a", locked=True), "b", "c"]
    with pytest.raises(MotionError, match="'a'"):
        system.matter.add_body("head", system.matter.ground, Ball(), coordinates=locked)
    motion: Any = Steady([1.0, 0.0, 0.0])
    with pytest.raises(MotionError, match="motion"):
        system.matter.add_body(
            "head", system.matter.ground, Gimbal(), motion=motion, coordinates=locked
        )


def test_a_name_that_is_not_there() -> None:
    system, thigh, _ = leg()
    with pytest.raises(UnknownItemError, match=r"'kne'(.|\n)*mean"):
        system.matter.coordinate("kne")
    with pytest.raises(OutOfRangeError):
        thigh.coordinate(3)


def test_a_name_of_a_coordinate_and_of_another_body_has_to_be_said_otherwise() -> None:
    system = MultibodySystem()
    thigh = system.matter.add_body("thigh", system.matter.ground, Pin(), coordinates=["knee"])
    knee = system.matter.add_body("knee", thigh, Pin(), coordinates=["ankle"])
    system.matter.add_body("toes", knee, Pin(), coordinates=["toes"])
    assembler = Assembler(system)
    with pytest.raises(UnknownMobilizerError, match="a body and a coordinate"):
        assembler.lock_q("knee")
    assembler.lock_q("toes")  # the only q of that body
    assembler.add_goal(QValue(system.matter.coordinate("knee"), 0, 0.5))
    assembler.assemble()
    found = assembler.internal_state
    assert thigh.q(found).tolist() == pytest.approx([0.5])
    assert knee.q(found).tolist() == [0.0]


def test_a_clamped_coordinate_begins_and_is_held_in_its_range() -> None:
    system = MultibodySystem()
    with pytest.raises(OutOfRangeError, match="default of 'c'"):
        system.matter.add_body(
            "a",
            system.matter.ground,
            Pin(),
            coordinates=[Coordinate("c", range=(0.2, 0.5), clamped=True)],
        )
    described = Coordinate("c", 0.3, range=(0.2, 0.5), clamped=True)
    body = system.matter.add_body("a", system.matter.ground, Pin(), coordinates=[described])
    state = system.new_state()
    with pytest.raises(OutOfRangeError):
        body.coordinate("c").lock(state, 9.0)
    assert not body.is_locked(state)
    body.coordinate("c").lock(state, 0.4)
    assert body.is_locked(state)


def test_an_assembler_takes_coordinates_of_a_joint_with_a_quaternion() -> None:
    system = MultibodySystem()
    names = ["roll", "pitch", "yaw", "x", "y", "z"]
    ship = system.matter.add_body("ship", system.matter.ground, Free(), coordinates=names)
    state = system.new_state()
    for given in (ship.coordinate("y"), "y"):
        assembler = Assembler(system)
        assembler.add_goal(QValue(given, 0, 0.5))
        assembler.assemble(state)
        assert ship.coordinate("y")(state) == pytest.approx(0.5)
        assert ship.coordinate("x")(state) == pytest.approx(0.0)
