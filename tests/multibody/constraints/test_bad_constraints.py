"""Constraints: what is refused, and that nothing has changed after it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stagecache import Stage
from stagecache.errors import (
    ConstModelError,
    ConstraintError,
    KinematicsError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    UnknownBodyError,
    WrongTypeError,
)
from stagecache.multibody import (
    AbstractPairConstraint,
    Ball,
    BallConstraint,
    ConstantAngleConstraint,
    ConstantCoordinateConstraint,
    ConstantOrientationConstraint,
    CoordinateCouplerConstraint,
    Free,
    Linear,
    MatterSubsystem,
    MultibodySystem,
    Pin,
    PointInPlaneConstraint,
    PointOnLineConstraint,
    PrescribedMotionConstraint,
    RodConstraint,
    SpeedCouplerConstraint,
    Transform,
    Translation,
    WeldConstraint,
)
from tests.multibody.constrained_trees import tied
from tests.multibody.trees import (
    make_tree,
)

ORIGIN = (0, 0, 0)


def anything(value: Any) -> Any:
    """The value, of whatever type: it is wrong where it is given."""
    return value


@pytest.mark.parametrize(
    ("error", "pattern", "make"),
    [
        (
            UnknownBodyError,
            "BallConstraint: ties something",
            lambda a, b: BallConstraint(a, ORIGIN, anything(ORIGIN), ORIGIN),
        ),
        (ConstraintError, "a body to itself", lambda a, b: BallConstraint(a, ORIGIN, a, ORIGIN)),
        (
            ShapeError,
            "second station of .*'body 1' and body 'body 2'",
            lambda a, b: BallConstraint(a, ORIGIN, b, [0, 1]),
        ),
        (
            OutOfRangeError,
            "length of .*'body 1'",
            lambda a, b: RodConstraint(a, ORIGIN, b, ORIGIN, 0),
        ),
        (OutOfRangeError, "length of", lambda a, b: RodConstraint(a, ORIGIN, b, ORIGIN, np.nan)),
        (
            OutOfRangeError,
            "normal of .* no direction",
            lambda a, b: PointInPlaneConstraint(a, ORIGIN, 1, b, ORIGIN),
        ),
        (
            OutOfRangeError,
            "direction of",
            lambda a, b: PointOnLineConstraint(a, ORIGIN, ORIGIN, b, ORIGIN),
        ),
        (
            OutOfRangeError,
            "angle of",
            lambda a, b: ConstantAngleConstraint(a, [1, 0, 0], b, [1, 0, 0], np.pi),
        ),
        (
            WrongTypeError,
            "first frame of",
            lambda a, b: WeldConstraint(a, b, first_frame=anything(np.eye(4))),
        ),
        (
            WrongTypeError,
            "second frame of",
            lambda a, b: ConstantOrientationConstraint(a, b, second_frame=anything(1)),
        ),
        (
            ConstraintError,
            "'body 1' of matter does not have",
            lambda a, b: ConstantCoordinateConstraint(a, 0, index=1),
        ),
        (
            ConstraintError,
            "does not have",
            lambda a, b: ConstantCoordinateConstraint(a, 0, index=True),
        ),
        (ShapeError, "value of", lambda a, b: ConstantCoordinateConstraint(a, anything([1, 2]))),
        (
            ShapeError,
            "coordinates of",
            lambda a, b: CoordinateCouplerConstraint(
                [a, b], function=anything(abs), gradient=abs, hessian=abs
            ),
        ),
        (
            WrongTypeError,
            "gradient of",
            lambda a, b: CoordinateCouplerConstraint(
                [(a, 0)], function=anything(abs), gradient=anything(1), hessian=abs
            ),
        ),
    ],
)
def test_what_cannot_be_tied_is_refused(
    error: type[StagecacheError], pattern: str, make: Callable[[Any, Any], Any]
) -> None:
    tree = make_tree([Pin, Ball], [0, 1], 0)
    with pytest.raises(error, match=pattern) as caught:
        make(*tree.bodies[1:])
    assert caught.value.hint
    assert tree.system.topology_has_been_realized


def test_bodies_of_another_tree_are_refused() -> None:
    tree, other = (make_tree([Pin], [0], 0) for _ in range(2))
    with pytest.raises(ConstraintError, match="of different matters"):
        BallConstraint(tree.bodies[1], ORIGIN, other.bodies[1], ORIGIN)
    foreign = BallConstraint(other.bodies[0], ORIGIN, other.bodies[1], ORIGIN)
    for add in (tree.system.add, tree.system.add_constraint):
        with pytest.raises(ConstraintError, match="ties bodies of another System"):
            add(foreign)
    tree.system.new_state()  # it is as it was
    other.system.add(foreign)


def test_a_matter_may_be_given_after_what_ties_its_bodies() -> None:
    def made() -> tuple[MatterSubsystem, RodConstraint]:
        matter = MatterSubsystem()
        body = matter.add_body("body", matter.ground, Translation())
        return matter, RodConstraint(matter.ground, ORIGIN, body, ORIGIN, 1.0)

    matter, rod = made()
    system = MultibodySystem(rod=rod, m=matter)
    state = system.new_state()
    system.realize(state, Stage.POSITION)
    np.testing.assert_array_equal(rod.error(state), [-1.0])
    _, rod = made()
    with pytest.raises(ConstraintError, match="ties bodies of another System"):
        system.add(rod)
    with pytest.raises(ConstraintError, match="ties bodies of another System"):
        MultibodySystem(rod=rod)


def test_a_constraint_is_const() -> None:
    tree = make_tree([Pin], [0], 0)
    constraint = RodConstraint(tree.bodies[0], ORIGIN, tree.bodies[1], ORIGIN, 1.0)
    with pytest.raises(ConstModelError, match="rod_constraint of body 'ground' and body 'body 1'"):
        constraint.length = -1.0
    with pytest.raises(ValueError, match="read-only"):
        constraint.first_station[0] = 1.0
    assert constraint.length == 1.0


class Forgetful(AbstractPairConstraint):
    """A constraint of one's own that does not say what it has to say."""

    def calc_error(self, pose: Transform) -> Any:
        return pose.translation[:1]

    def calc_jacobian(self, pose: Transform) -> Any:
        return [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]

    def calc_bias(self, pose: Transform, velocity: Any) -> Any:
        return [0.0]


class Baseless(Forgetful):
    """It does not tell its base which bodies it ties."""

    num_errors = 1

    def __init__(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        (Forgetful, r"Forgetful has no num_errors(.|\n)*num_errors = 1"),
        (Baseless, r"Baseless has no bodies(.|\n)*super\(\).__init__"),
    ],
)
def test_a_constraint_of_ones_own_that_forgets_a_duty_is_refused(
    kind: type[AbstractPairConstraint], pattern: str
) -> None:
    tree = make_tree([Pin], [0], 0)
    constraint = kind(*tree.bodies[:2])

    def use() -> None:
        tree.system.add(constraint, "own")
        tree.system.realize(tree.system.new_state(), Stage.POSITION)

    with pytest.raises(ConstraintError, match=pattern):
        use()


def test_an_attribute_that_a_constraint_does_not_have_is_an_attribute_error() -> None:
    tree = make_tree([Pin], [0], 0)
    constraint = RodConstraint(tree.bodies[0], ORIGIN, tree.bodies[1], ORIGIN, 1.0)
    with pytest.raises(AttributeError, match=r"'RodConstraint' object has no attribute 'lenght'"):
        _ = constraint.lenght  # type: ignore[attr-defined]


@pytest.mark.parametrize("gradient", ["a", [[1.0], [1.0, 2.0]], [1j]])
def test_a_gradient_that_is_no_numbers_is_refused_with_the_name_of_the_constraint(
    gradient: Any,
) -> None:
    tree = make_tree([Pin], [0], 0)
    constraint = CoordinateCouplerConstraint(
        [(tree.bodies[1], 0)],
        function=lambda x: x[0],
        gradient=lambda _: anything(gradient),
        hessian=lambda _: [[0.0]],
    )
    tree = tied(tree, constraint)
    with pytest.raises(NotANumberError, match=r"gradient of .* of body 'body 1'"):
        constraint.jacobian(tree.state)


def test_a_rod_whose_points_coincide_has_no_direction() -> None:
    tree = make_tree([Translation], [0], 0, plain=True)
    place = tree.bodies[1].inboard_frame.translation
    constraint = RodConstraint(tree.bodies[0], place, tree.bodies[1], ORIGIN, 1.0)
    tree = tied(tree, constraint)
    tree.state.q = np.zeros(3)
    np.testing.assert_array_equal(constraint.error(tree.state), [-1.0])
    with pytest.raises(
        KinematicsError, match="body 'ground' and body 'body 1': its points coincide"
    ):
        constraint.jacobian(tree.state)


def test_a_number_that_means_another_q_in_the_other_form_is_refused() -> None:
    """Of a Ball, and of a Free, any number does: 5 is its ty with a quaternion, and else its tz."""
    tree = make_tree([Ball, Free, Pin], [0, 0, 0], 0)
    ball, free, pin = tree.bodies[1:]

    def function(x: Any) -> float:
        return float(x[0])

    makers: tuple[Callable[[Any], Any], ...] = (
        lambda pair: ConstantCoordinateConstraint(pair[0], 0.7, index=pair[1]),
        lambda pair: PrescribedMotionConstraint(pair[0], Linear(1.0), index=pair[1]),
        lambda pair: CoordinateCouplerConstraint([pair], function=function),
        lambda pair: CoordinateCouplerConstraint([(pin, 0)], function=function, dependent=pair),
        lambda pair: SpeedCouplerConstraint([(pin, 0)], [pair], function=function),
    )
    for body, index in ((ball, 0), (ball, 3), (free, 2), (free, 5), (free, 6)):
        for make in makers:
            with pytest.raises(ConstraintError, match=rf"ties q\[{index}\] of {body}") as caught:
                make((body, index))
            assert "body.coordinate(" in caught.value.hint
    with pytest.raises(ConstraintError, match="that has its index, with another one"):
        ConstantCoordinateConstraint(free.coordinate(3), 0.7, index=1)
    with pytest.raises(ConstraintError, match="does not have"):
        ConstantCoordinateConstraint(free, 0.7, index=7)
