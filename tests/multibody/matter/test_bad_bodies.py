"""Bad input: what is refused, by which error, and that nothing has changed after it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, System
from stagecache.errors import (
    AdoptionError,
    DuplicateNameError,
    ForeignNodeError,
    ForeignStateError,
    InvalidNameError,
    KinematicsError,
    MassPropertiesError,
    MobilizerError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    TopologyVersionError,
    UnknownBodyError,
    WrongTypeError,
)
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    Free,
    MassProperties,
    MatterSubsystem,
    MultibodySystem,
    Pin,
    Slider,
    Transform,
    Universal,
    with_euler_angles,
)
from stagecache.multibody.geometry.orientation import Pose, Rows
from tests.multibody.trees import Tree, make_tree


class Bad(AbstractMobilizer):
    """A Pin in which one method is replaced."""

    nq = nu = 1
    default_q = (0.0,)

    def __init__(self, name: str, value: Any) -> None:
        self.replaced = name
        self.value = value
        if name in ("nq", "nu", "default_q"):
            setattr(self, name, value)
        else:
            setattr(self, name, lambda *_: value)

    def pose(self, q: Sequence[float]) -> Pose:
        return Pin().pose(q)

    def axes(self, q: Sequence[float]) -> Rows:
        return Pin().axes(q)


def add(name: Any = "new", parent: Any = None, mobilizer: Any = None, **frames: Any) -> Any:
    def attempt(tree: Tree) -> None:
        matter = tree.system.matter
        matter.add_body(name, parent or matter.ground, mobilizer or Pin(), **frames)

    return attempt


def stations(name: Any = "new", bodies: Any = 1, points: Any = ((0, 0, 0),)) -> Any:
    def attempt(tree: Tree) -> None:
        tree.system.matter.add_stations(name, [tree.bodies[1]] * bodies, points)

    return attempt


def bodies_of(bodies: Any) -> Any:
    return lambda tree: tree.system.matter.add_stations("new", bodies, [[0, 0, 0]])


def of_body(method: str, *arguments: Any) -> Any:
    return lambda tree: getattr(tree.bodies[1], method)(tree.state, *arguments)


ELSEWHERE = MatterSubsystem()
NO_STATE: Any = 3

CASES: list[tuple[type[StagecacheError], str, Callable[[Tree], Any]]] = [
    (UnknownBodyError, "the parent of body 'new': not in the tree", add(parent="body 1")),
    (UnknownBodyError, "got: +body 'ground' of matter_subsystem", add(parent=ELSEWHERE.ground)),
    (UnknownBodyError, "body 'leg'", lambda tree: tree.system.matter.body("leg")),
    (UnknownBodyError, "body 9: .*\n.*from 0 to 2", lambda tree: tree.system.matter.body(9)),
    (UnknownBodyError, "body -1", lambda tree: tree.system.matter.body(-1)),
    (InvalidNameError, "the name of a body", add(name="")),
    (InvalidNameError, "the name of a body", add(name=3)),
    (DuplicateNameError, "body 'body 1'", add(name="body 1")),
    (MobilizerError, "the class Pin; an instance", add(mobilizer=Pin)),
    (MobilizerError, "body 'new': not a mobilizer", add(mobilizer="pin")),
    (
        MobilizerError,
        r"wrong pose\(q\) of Bad",
        add(mobilizer=Bad("pose", (1.0,) * 11)),
    ),
    (MobilizerError, "a rotation", add(mobilizer=Bad("pose", (1.0,) * 12))),
    (MobilizerError, "12 finite numbers", add(mobilizer=Bad("pose", None))),
    (MobilizerError, "1 rows of 6 finite numbers", add(mobilizer=Bad("axes", [[1.0] * 5]))),
    (MobilizerError, "1 rows of 6 finite numbers", add(mobilizer=Bad("axes", []))),
    (MobilizerError, "axes_rate", add(mobilizer=Bad("axes_rate", (0.0,) * 5))),
    (MobilizerError, r"n_pinv\(q\)", add(mobilizer=Bad("n", [[1.0]]))),
    (MobilizerError, "default_q", add(mobilizer=Bad("default_q", (0.0, 0.0)))),
    (MobilizerError, "with_euler_angles", add(mobilizer=Bad("with_euler_angles", None))),
    (MobilizerError, "nq of .*\n.*0 or more", add(mobilizer=Bad("nq", None))),
    (MobilizerError, "nu of .*\n.*0 or more", add(mobilizer=Bad("nu", -1))),
    (MobilizerError, "default_q of .*\n.*1 finite numbers", add(mobilizer=Bad("default_q", 3))),
    (MobilizerError, "1 finite numbers", add(mobilizer=Bad("default_q", (np.nan,)))),
    (MobilizerError, "quaternion_start", add(mobilizer=Bad("quaternion_start", 0))),
    (
        MobilizerError,
        r"axes\(q\) of .*\n.*the motions of pose\(q\) by u",
        add(mobilizer=Bad("axes", [[0, 0, -1, 0, 0, 0]])),
    ),
    (MobilizerError, "1 rows of 6 finite", add(mobilizer=Bad("axes", [[np.nan] * 6]))),
    (MobilizerError, r"axes_rate\(q, u\) of", add(mobilizer=Bad("axes_rate", [1.0] * 6))),
    (MobilizerError, "with as many u, 1", add(mobilizer=Bad("with_euler_angles", Ball()))),
    (
        WrongTypeError,
        r"inboard_frame of body .new.(.|\n)*both optional",
        add(inboard_frame=np.eye(4)),
    ),
    (WrongTypeError, "mass_properties of body 'new'", add(mass_properties=3.0)),
    (
        MassPropertiesError,
        "body 'new': the mass of a body: is negative",
        add(mass_properties={"mass": -1.0}),
    ),
    (
        MassPropertiesError,
        "body 'new': the inertia of a body: violates",
        add(mass_properties={"mass": 1.0, "inertia": [1.0, 1.0, 3.0]}),
    ),
    (MassPropertiesError, "body 'new': not arguments", add(mass_properties={"weight": 1.0})),
    (InvalidNameError, "group of stations", stations(name="")),
    (ShapeError, "not as many as their bodies", stations(bodies=2)),
    (UnknownBodyError, "a body of the stations 'new'", bodies_of(3)),
    (UnknownBodyError, "a body of the stations 'new'", bodies_of("tip")),
    (UnknownBodyError, "a body of the stations 'new'", bodies_of(ELSEWHERE.ground)),
    (ShapeError, "stations 'new': wrong shape", stations(points=[1.0, 2.0, 3.0])),
    (ShapeError, "a station of body 'body 1'", of_body("station_position", [1.0, 2.0])),
    (ShapeError, "a station of body 'body 1'", of_body("station_jacobian", [[1.0, 2.0]])),
    (ShapeError, "a station of body 'body 1'", of_body("station_velocity", [[[1.0]]])),
    (NotANumberError, "a station of body", of_body("station_position", ["a", "b", "c"])),
    (OutOfRangeError, "a station of body", of_body("station_velocity", [0, 0, np.nan])),
    (WrongTypeError, "3: ", lambda tree: tree.bodies[1].pose(NO_STATE)),
    (WrongTypeError, "3: ", lambda t: t.bodies[1].station_jacobian(NO_STATE, [0, 0, 0])),
    (WrongTypeError, "3: ", lambda tree: with_euler_angles(tree.system.matter, NO_STATE)),
    (
        ForeignStateError,
        "not a State of MultibodySystem",
        lambda tree: with_euler_angles(tree.system.matter, MultibodySystem().new_state()),
    ),
    (
        AdoptionError,
        "has no System",
        lambda tree: with_euler_angles(MatterSubsystem(), tree.state),
    ),
    (
        WrongTypeError,
        "3: has no bodies",
        lambda tree: with_euler_angles(3, tree.state),  # type: ignore[arg-type]
    ),
    (MassPropertiesError, "mass of a body: is negative", lambda _: MassProperties(-1.0)),
    (
        MassPropertiesError,
        "not symmetric",
        lambda _: MassProperties(1, inertia=[[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ),
    (MassPropertiesError, "triangle", lambda _: MassProperties(1, inertia=[1, 1, 2.1])),
    (MassPropertiesError, "negative central", lambda _: MassProperties(1, inertia=[1, 1, -1])),
    (
        MassPropertiesError,
        "negative central",
        lambda _: MassProperties(2, center=[0, 0, 1], inertia=[1, 1, 1]),
    ),
    (
        MassPropertiesError,
        "not zero, as the mass is",
        lambda _: MassProperties(0, inertia=[1, 1, 1]),
    ),
    (ShapeError, "center of mass", lambda _: MassProperties(1, center=[1, 2])),
    (ShapeError, "mass of a body", lambda _: MassProperties([1, 2])),  # type: ignore[arg-type]
    (NotANumberError, "mass of a body", lambda _: MassProperties("x")),  # type: ignore[arg-type]
    (OutOfRangeError, "inertia", lambda _: MassProperties(1, inertia=[1, 1, np.inf])),
    (ShapeError, "inertia", lambda _: MassProperties(1, inertia=[[1, 0, 0], [0, 1, 0], [0, 0]])),
    (OutOfRangeError, "out of range", lambda _: MassProperties(1, inertia=[1e308] * 3)),
    (OutOfRangeError, "inertia", lambda _: MassProperties(1, center=[1e200, 0, 0])),
    (
        OutOfRangeError,
        "out of range",
        lambda _: MassProperties(1, center=[1e200, 0, 0], inertia=[1, 1, 1]),
    ),
    (OutOfRangeError, "not a rotation", lambda _: Transform(np.diag([1, 1, -1]))),
    (OutOfRangeError, "not a rotation", lambda _: Transform(2 * np.eye(3))),
    (ShapeError, r"rotation of a Transform(.|\n)*X\[:3, :3\]", lambda _: Transform(np.eye(4))),
    (ShapeError, r"of a Transform(.|\n)*Transform\(None, ", lambda _: Transform([1, 2, 3])),
    (ShapeError, "rotation of a Transform", lambda _: Transform([[1, 2], [3]])),
    (ShapeError, "translation of a Transform", lambda _: Transform(None, [1, 2])),
    (ShapeError, "points that a Transform", lambda _: Transform().apply([1, 2])),
    (ShapeError, "points that a Transform", lambda _: Transform().apply([[1, 2, 3], [4, 5]])),
    (ShapeError, "only for two Transforms", lambda _: Transform() @ np.eye(4)),
]


@pytest.mark.parametrize(("error", "pattern", "attempt"), CASES)
def test_bad_input_is_refused_and_changes_nothing(
    error: type[StagecacheError], pattern: str, attempt: Callable[[Tree], Any]
) -> None:
    tree = make_tree([Ball, Pin], [0, 1], 0)
    system, y = tree.system, tree.state.y.copy()
    bodies, version = system.matter.bodies, system.topology_cache_version
    with pytest.raises(error, match=pattern) as caught:
        attempt(tree)
    assert caught.value.hint
    assert system.matter.bodies == bodies
    assert system.topology_cache_version == version
    assert system.topology_has_been_realized
    np.testing.assert_array_equal(tree.state.y, y)


@pytest.mark.parametrize(
    "use",
    [lambda tree, body: body.pose(tree.state), lambda tree, _: tree.system.realize(tree.state)],
)
def test_a_quaternion_of_zeros_is_refused_with_the_name_of_its_body(
    use: Callable[[Tree, Any], Any],
) -> None:
    tree = make_tree([Pin, Ball], [0, 1], 0)
    body = tree.bodies[2]
    body.pose(tree.state)
    body.q.set(tree.state, np.zeros(4))
    with pytest.raises(KinematicsError, match=r"body 'body 2' of matter: .* quaternion is zero"):
        use(tree, body)
    body.q.set(tree.state, [1.0, 0.0, 0.0, 0.0])
    use(tree, body)


@pytest.mark.parametrize("kind", [Pin, Slider, Universal, Ball, Free])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_q_that_are_not_finite_are_refused_with_the_name_of_their_body(
    kind: type[AbstractMobilizer], value: float
) -> None:
    tree = make_tree([Pin, kind], [0, 1], 0)
    body = tree.bodies[2]
    before = body.pose(tree.state)
    q = body.q(tree.state).copy()
    body.q.set(tree.state, [*q[:-1], value])
    for other in tree.bodies[1:]:
        with pytest.raises(KinematicsError, match=r"body 'body 2' of matter: .* has no pose"):
            other.pose(tree.state)
    body.q.set(tree.state, q)
    assert body.pose(tree.state) == before


def test_huge_q_are_no_error_where_they_have_a_pose() -> None:
    tree = make_tree([Slider, Slider], [0, 0], 0, plain=True)
    tree.state.q = [1.7e308, 1.7e308]
    for body in tree.bodies[1:]:
        direction = body.inboard_frame.rotation[:, 0]
        np.testing.assert_allclose(body.pose(tree.state).translation / 1.7e308, direction)


@pytest.mark.parametrize("kind", [Ball, Free])
@pytest.mark.parametrize("length", [1e-160, 1e-101, 1e101, 1e160, 1e308])
def test_a_quaternion_whose_square_is_out_of_range_is_refused(
    kind: type[AbstractMobilizer], length: float
) -> None:
    tree = make_tree([Pin, kind], [0, 1], 0)
    body = tree.bodies[2]
    body.q.set(tree.state, [length, length, *body.q(tree.state)[2:] * 0.0])
    with pytest.raises(KinematicsError, match=r"body 'body 2' of matter: .* has no pose"):
        body.pose(tree.state)
    with pytest.raises(KinematicsError, match=r"body 'body 2' of matter: .* has no pose"):
        tree.system.realize(tree.state, Stage.POSITION)


def test_products_refuse_vectors_of_other_sizes() -> None:
    tree = make_tree([Pin], [0], 0)
    matter = tree.system.matter
    group = matter.add_stations("markers", [matter.bodies[1]] * 2, np.eye(3)[:2])
    state = tree.system.new_state()
    with pytest.raises(ShapeError, match=r"the u by which a Jacobian of stations 'markers'"):
        group.multiply_by_jacobian(state, [1.0, 2.0])
    with pytest.raises(ShapeError, match=r"multiply_by_jacobian_transpose.forces. of stations"):
        group.multiply_by_jacobian_transpose(state, [1.0, 2.0, 3.0])
    with pytest.raises(DuplicateNameError, match="group of stations 'markers'"):
        matter.add_stations("markers", [matter.ground], [[0, 0, 0]])


def test_a_body_that_is_added_later_is_a_change_of_topology() -> None:
    tree = make_tree([Pin], [0], 0)
    matter = tree.system.matter
    matter.add_body("second", matter.bodies[1], Pin())
    assert not tree.system.topology_has_been_realized
    state: State = tree.system.realize_topology()
    assert state.nq == 2


@pytest.mark.parametrize(
    "use",
    [
        lambda state, body, _: body.q(state),
        lambda state, body, _: body.u.set(state, [1.0]),
        lambda state, body, _: body.lock(state),
        lambda state, body, _: body.velocity(state),
        lambda state, body, _: body.frame_jacobian(state),
        lambda state, _, group: group.positions(state),
        lambda state, _, group: group.multiply_by_jacobian(state, [1.0, 0.0]),
    ],
)
def test_what_is_added_later_cannot_be_read_in_states_of_before(
    use: Callable[[State, Any, Any], Any],
) -> None:
    tree = make_tree([Pin], [0], 0)
    matter = tree.system.matter
    body = matter.add_body("second", matter.bodies[1], Pin())
    group = matter.add_stations("markers", [body], [[0, 0, 0]])
    with pytest.raises(
        (ForeignNodeError, TopologyVersionError), match=r"hint: +make a (new )?State"
    ):
        use(tree.state, body, group)
    use(tree.system.new_state(), body, group)


def test_a_matter_works_in_a_plain_system() -> None:
    matter = MatterSubsystem()
    body = matter.add_body("hinge", matter.ground, Pin())
    state = System(matter).new_state()
    body.q.set(state, [np.pi / 2])
    np.testing.assert_allclose(body.station_position(state, [1, 0, 0]), [0, 1, 0], atol=1e-15)


def test_names_that_an_error_offers_are_whole_ones() -> None:
    matter = MultibodySystem().matter
    for i in range(20):
        matter.add_body(f"segment {i}", matter.ground, Pin())
    with pytest.raises(UnknownBodyError) as caught:
        matter.body("segmnt")
    names = ", ".join(["ground", *(f"segment {i}" for i in range(7))])
    assert caught.value.hint == f"use one of {names} and 13 more"
