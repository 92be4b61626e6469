"""What bodies and rods look like: their own decorations, or else a skeleton of the tree."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stagecache import (
    DecorativeBrick,
    DecorativeFrame,
    DecorativeLine,
    DecorativePoint,
    DecorativeSphere,
    Stage,
    State,
    System,
)
from stagecache.decorations import (
    AbstractDecoration,
)
from stagecache.errors import (
    TopologyVersionError,
    UnknownBodyError,
    WrongTypeError,
)
from stagecache.multibody import (
    AbstractMobilizer,
    AbstractPairConstraint,
    BallConstraint,
    MobilizedBody,
    MultibodySystem,
    Pin,
    PointInPlaneConstraint,
    PointOnLineConstraint,
    RodConstraint,
    Slider,
    Transform,
    Translation,
    WeldConstraint,
)
from tests.multibody.trees import MOBILIZERS, Tree, make_tree, random_transform

seeds = st.integers(0, 2**32 - 1)


def geometry_of(system: System, state: State) -> list[AbstractDecoration]:
    """All that there is to be drawn up to Position."""
    system.realize(state, Stage.POSITION)
    geometry: list[AbstractDecoration] = []
    for stage in range(Stage.TOPOLOGY, Stage.POSITION + 1):
        system.calc_decorative_geometry_and_append(state, Stage(stage), geometry)
    return geometry


def random_tree(seed: int) -> Tree:
    rng = np.random.default_rng(seed)
    kinds: list[type[AbstractMobilizer]] = [
        MOBILIZERS[k] for k in rng.integers(0, len(MOBILIZERS), 6)
    ]
    return make_tree(kinds, [int(rng.integers(0, i + 1)) for i in range(6)], seed)


def in_ground(decoration: AbstractDecoration, point: Any) -> NDArray[np.float64]:
    found: NDArray[np.float64] = decoration.rotation @ point + decoration.translation
    return found


def as_rows(points: list[Any]) -> NDArray[np.float64]:
    """Arrays of points, in an order of their own."""
    rows = np.reshape(points, (len(points), -1))
    ordered: NDArray[np.float64] = rows[np.lexsort(rows.T.round(6))]
    return ordered


# ---------------------------------------------------------------------- without decorations


@given(seeds)
def test_any_tree_shows_the_origins_of_its_bodies_and_lines_to_their_joints(seed: int) -> None:
    tree = random_tree(seed)
    geometry = geometry_of(tree.system, tree.state)
    poses = [body.pose(tree.state) for body in tree.bodies]
    expected = []
    for body, pose in zip(tree.bodies[1:], poses[1:], strict=True):
        parent = poses[body.parent.index]
        of_child = pose.apply(body.outboard_frame.translation)
        of_parent = parent.apply(body.inboard_frame.translation)
        expected += [[pose.translation, of_child], [parent.translation, of_parent]]
    lines = [g for g in geometry if isinstance(g, DecorativeLine)]
    np.testing.assert_allclose(
        as_rows([[in_ground(g, g.point1), in_ground(g, g.point2)] for g in lines]),
        as_rows(expected),
        atol=1e-9,
    )
    points = [in_ground(g, g.point) for g in geometry if isinstance(g, DecorativePoint)]
    np.testing.assert_allclose(
        as_rows(points), as_rows([pose.translation for pose in poses[1:]]), atol=1e-9
    )
    (ground,) = [g for g in geometry if isinstance(g, DecorativeFrame)]
    assert not ground.translation.any()
    longest = max(np.linalg.norm(one - other) for one, other in expected)
    assert ground.axis_length == pytest.approx(longest / 4)


def test_bodies_without_lengths_are_points_beside_a_frame_of_a_metre() -> None:
    system = MultibodySystem()
    system.matter.add_body("ball", system.matter.ground, Translation())
    ground, ball = geometry_of(system, system.new_state())
    assert ground == DecorativeFrame(1.0, line_width=2)
    assert isinstance(ball, DecorativePoint)


# ---------------------------------------------------------------------- with decorations


@given(seeds)
def test_decorations_move_with_their_bodies(seed: int) -> None:
    tree = random_tree(seed)
    matter = tree.system.matter
    frames = [random_transform(tree.rng) for _ in tree.bodies]
    for body, frame in zip(tree.bodies, frames, strict=True):
        brick = DecorativeBrick(
            [1 + body.index, 2, 3], rotation=frame.rotation, translation=frame.translation
        )
        matter.add_decoration(body, brick)
    state = tree.system.new_state()
    state.q = tree.state.q
    geometry = geometry_of(tree.system, state)
    assert len(geometry) == len(frames)
    for body, frame, shape in zip(tree.bodies, frames, geometry, strict=True):
        assert isinstance(shape, DecorativeBrick)
        assert shape.half_lengths.tolist() == [1 + body.index, 2, 3]
        where = body.pose(state) @ frame
        np.testing.assert_allclose(shape.rotation, where.rotation, atol=1e-9)
        np.testing.assert_allclose(shape.translation, where.translation, atol=1e-9)


def test_decorations_can_be_given_with_the_body_and_the_look_stays() -> None:
    system = MultibodySystem()
    ball = DecorativeSphere(0.1, color=(1, 0, 0), opacity=0.5, label="ball")
    body = system.matter.add_body("arm", system.matter.ground, Pin(), decorations=iter([ball]))
    stick = DecorativeLine([0, 0, 0], [1, 0, 0])
    system.matter.add_decoration(body, stick)
    state = system.new_state()
    assert geometry_of(system, state)[1:] == [ball, stick]
    body.q.set(state, [np.pi / 2])
    _, turned, _ = geometry_of(system, state)
    assert isinstance(turned, DecorativeSphere)
    assert (turned.radius, turned.color, turned.opacity, turned.label) == (
        *(0.1, (1, 0, 0), 0.5),
        "ball",
    )
    np.testing.assert_allclose(turned.rotation[:, 0], [0, 1, 0], atol=1e-15)


def test_a_body_without_any_in_its_list_is_not_seen() -> None:
    system = MultibodySystem()
    system.matter.add_body("arm", system.matter.ground, Pin(), decorations=())
    state = system.new_state()
    assert [type(shape) for shape in geometry_of(system, state)] == [DecorativeFrame]


def test_the_skeleton_of_the_others_stays_when_one_body_is_decorated() -> None:
    system = MultibodySystem()
    matter = system.matter
    arm = matter.add_body("arm", matter.ground, Pin())
    matter.add_body("hand", arm, Slider(), inboard_frame=Transform(None, [2, 0, 0]))
    matter.add_decoration(matter.ground, DecorativeSphere(1.0))
    shapes = geometry_of(system, system.new_state())
    assert [type(shape) for shape in shapes] == [
        *(DecorativeSphere, DecorativeLine, DecorativePoint, DecorativePoint)
    ]


def test_a_decoration_is_a_change_of_topology() -> None:
    system = MultibodySystem()
    state = system.new_state()
    system.matter.add_decoration(system.matter.ground, DecorativeSphere(1.0))
    with pytest.raises(TopologyVersionError):
        system.realize(state, Stage.POSITION)


def test_decorations_are_pickled_with_their_system() -> None:
    system = MultibodySystem()
    system.matter.add_body("arm", system.matter.ground, Pin(), decorations=[DecorativeSphere(0.1)])
    twin = pickle.loads(pickle.dumps(system))
    one, other = (geometry_of(s, s.new_state()) for s in (system, twin))
    assert one == other


# ---------------------------------------------------------------------- constraints


@pytest.mark.parametrize(
    ("tie", "count"),
    [
        (lambda one, two: BallConstraint(one, [1, 0, 0], two, [0, 2, 0]), 2),
        (lambda one, two: RodConstraint(one, [1, 0, 0], two, [0, 2, 0], 1.0), 2),
        (lambda one, two: PointOnLineConstraint(one, [1, 0, 0], [1, 0, 0], two, [0, 2, 0]), 1),
        (lambda one, two: PointInPlaneConstraint(one, [1, 0, 0], 1.0, two, [0, 2, 0]), 1),
        (
            lambda one, two: WeldConstraint(
                *(one, two),
                first_frame=Transform(None, [1, 0, 0]),
                second_frame=Transform(None, [0, 2, 0]),
            ),
            2,
        ),
    ],
)
def test_a_body_without_decorations_shows_lines_to_the_points_that_constraints_hold(
    tie: Callable[[MobilizedBody, MobilizedBody], AbstractPairConstraint], count: int
) -> None:
    system = MultibodySystem()
    one, two = (system.matter.add_body(n, system.matter.ground, Pin()) for n in ("one", "two"))
    constraint = tie(one, two)
    system.add(constraint, "tie")
    state = system.new_state()
    one.q.set(state, [np.pi / 2])
    bones = [g for g in geometry_of(system, state) if getattr(g, "line_width", None) == 2.0]
    ends = [in_ground(g, g.point2) for g in bones if isinstance(g, DecorativeLine)]
    np.testing.assert_allclose(ends, [[0, 1, 0], [0, 2, 0]][-count:], atol=1e-12)
    constraint.is_enabled.set(state, False)
    assert not [g for g in geometry_of(system, state) if isinstance(g, DecorativeLine)]


def test_no_such_line_is_shown_in_a_body_that_has_decorations() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    body = system.matter.add_body("body", ground, Pin(), decorations=[DecorativeSphere(1.0)])
    system.add(BallConstraint(body, [1, 0, 0], ground, [0, 0, 0]), "tie")
    shapes = geometry_of(system, system.new_state())
    assert [type(shape) for shape in shapes] == [DecorativeFrame, DecorativeSphere]


def test_a_rod_is_a_line_between_its_points_while_it_is_enabled() -> None:
    system = MultibodySystem()
    ground = system.matter.ground
    system.matter.add_decoration(ground, DecorativeFrame(1.0))
    bob = system.matter.add_body("bob", ground, Translation(), decorations=[])
    rod = RodConstraint(ground, [0, 1, 0], bob, [0, 0, 1], 2.0)
    system.add(rod, "rod")
    state = system.new_state()
    bob.q.set(state, [1, 2, 3])
    _, line = geometry_of(system, state)
    assert isinstance(line, DecorativeLine)
    assert (line.point1.tolist(), line.point2.tolist()) == ([0, 1, 0], [1, 2, 4])
    rod.is_enabled.set(state, False)
    assert [type(shape) for shape in geometry_of(system, state)] == [DecorativeFrame]


# ---------------------------------------------------------------------- what is refused


BAD = [
    (DecorativeSphere(1.0), "not a list of decorations"),
    (3, "not a list of decorations"),
    ([DecorativeSphere(1.0), "ball"], "item 1 is not a decoration"),
    (DecorativeSphere, "not a list of decorations"),
    ([DecorativeSphere], "item 0 is not a decoration"),
]


@pytest.mark.parametrize(("decorations", "what"), BAD)
def test_a_body_with_what_is_no_decoration_is_not_added(decorations: Any, what: str) -> None:
    system = MultibodySystem()
    state = system.new_state()
    with pytest.raises(WrongTypeError, match=f"decorations of body 'arm': {what}"):
        system.matter.add_body("arm", system.matter.ground, Pin(), decorations=decorations)
    assert len(system.matter.bodies) == 1
    assert [type(shape) for shape in geometry_of(system, state)] == [DecorativeFrame]


def test_what_is_no_decoration_is_not_added_to_a_body() -> None:
    system = MultibodySystem()
    state = system.new_state()
    for given_one in ("ball", None, [DecorativeSphere(1.0)]):
        with pytest.raises(WrongTypeError, match="body 'ground' of matter"):
            system.matter.add_decoration(system.matter.ground, given_one)  # type: ignore[arg-type]
    assert [type(shape) for shape in geometry_of(system, state)] == [DecorativeFrame]


@pytest.mark.parametrize("which", ["another", "name", "index"])
def test_a_body_of_another_matter_is_not_decorated(which: str) -> None:
    system, other = MultibodySystem(), MultibodySystem()
    stranger: Any = {"another": other.matter.ground, "name": "ground", "index": 0}[which]
    state, of_other = (s.new_state() for s in (system, other))
    with pytest.raises(UnknownBodyError, match="not in the tree of matter"):
        system.matter.add_decoration(stranger, DecorativeSphere(1.0))
    for one, its in ((system, state), (other, of_other)):
        assert [type(shape) for shape in geometry_of(one, its)] == [DecorativeFrame]
