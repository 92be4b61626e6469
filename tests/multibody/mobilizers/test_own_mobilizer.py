"""Mobilizers of one's own: a screw joint, with qdot that is not u, and some with mistakes."""

from collections.abc import Sequence
from math import cos, sin
from typing import Any, ClassVar

import numpy as np
import pytest

from stagecache import Stage
from stagecache.errors import MobilizerError
from stagecache.multibody import AbstractMobilizer, MultibodySystem, Pin, Slider
from stagecache.multibody.geometry.orientation import Pose, Rows
from stagecache.multibody.mobilizers.checks import check_mobilizer
from tests.multibody.trees import Tree, along, make_tree, poses, spin


class Screw(AbstractMobilizer):
    """q is an angle about z in degrees; u an angular velocity [rad/s]; 0.1 m/rad along z."""

    nq = nu = 1
    default_q = (0.0,)

    def pose(self, q: Sequence[float]) -> Pose:
        angle = q[0] * np.pi / 180
        c, s = cos(angle), sin(angle)
        return (c, -s, 0.0, 0.0, s, c, 0.0, 0.0, 0.0, 0.0, 1.0, 0.1 * angle)

    def axes(self, q: Sequence[float]) -> Rows:
        return [[0.0, 0.0, 1.0, 0.0, 0.0, 0.1]]

    def n(self, q: Sequence[float]) -> Rows:
        return [[180 / np.pi]]

    def n_pinv(self, q: Sequence[float]) -> Rows:
        return [[np.pi / 180]]


def test_a_mobilizer_of_ones_own_has_kinematics() -> None:
    tree: Tree = make_tree([Screw, Screw], [0, 1], 8)
    tree.system.realize(tree.state, Stage.VELOCITY)
    np.testing.assert_allclose(tree.state.qdot, tree.state.u * 180 / np.pi)
    after, before = (poses(tree, along(tree, step)) for step in (1e-5, -1e-5))
    rate = (after - before)[2] / 2e-5
    body = tree.bodies[2]
    velocity = body.velocity(tree.state)
    turning = spin(body.pose(tree.state).rotation, rate[:3, :3])
    np.testing.assert_allclose(velocity[:3], turning, atol=1e-7)
    np.testing.assert_allclose(velocity[3:], rate[:3, 3], atol=1e-7)


class Crank(AbstractMobilizer):
    """A point on a circle about z, which does not turn: its axes depend on q."""

    nq = nu = 1
    default_q = (0.0,)
    has_constant_axes = False

    def pose(self, q: Sequence[float]) -> Pose:
        return (1.0, 0.0, 0.0, cos(q[0]), 0.0, 1.0, 0.0, sin(q[0]), 0.0, 0.0, 1.0, 0.0)

    def axes(self, q: Sequence[float]) -> Rows:
        return [[0.0, 0.0, 0.0, -sin(q[0]), cos(q[0]), 0.0]]

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        rate = u[0] * u[0]
        return (0.0, 0.0, 0.0, -cos(q[0]) * rate, -sin(q[0]) * rate, 0.0)


class Arrays(Screw):
    """The same with numpy arrays, which take longer."""

    def pose(self, q: Sequence[float]) -> Any:
        return np.array(super().pose(q))

    def axes(self, q: Sequence[float]) -> Any:
        return np.array(super().axes(q))

    def n(self, q: Sequence[float]) -> Any:
        return np.array(super().n(q))

    def n_pinv(self, q: Sequence[float]) -> Any:
        return np.array(super().n_pinv(q))


def test_methods_may_return_arrays() -> None:
    lists, arrays = (make_tree([kind, kind], [0, 1], 8) for kind in (Screw, Arrays))
    for tree in (lists, arrays):
        tree.system.realize(tree.state, Stage.VELOCITY)
    np.testing.assert_array_equal(poses(arrays, arrays.state), poses(lists, lists.state))
    np.testing.assert_array_equal(arrays.state.qdot, lists.state.qdot)
    np.testing.assert_array_equal(
        arrays.system.multiply_by_n_pinv(arrays.state, arrays.state.qdot),
        lists.system.multiply_by_n_pinv(lists.state, lists.state.qdot),
    )


class Forgetful(Crank):
    """It does not say that its axes depend on q."""

    has_constant_axes = True


class Rateless(Crank):
    """It does not say how its axes change."""

    def axes_rate(self, q: Sequence[float], u: Sequence[float]) -> Sequence[float]:
        return (0.0,) * 6


class Stretched(Screw):
    """Its pseudoinverse is that of another N."""

    def n_pinv(self, q: Sequence[float]) -> Rows:
        return [[180 / np.pi]]


class Slowing(Screw):
    """It says that N changes, which it does not."""

    def n_rate(self, q: Sequence[float], qdot: Sequence[float]) -> Rows:
        return [[1.0]]


class Raising(Crank):
    """It has no pose where it starts."""

    def pose(self, q: Sequence[float]) -> Pose:
        raise OverflowError("too far")


class EulerScrew(Screw):
    """As of one that has Euler angles, with a conversion that forgets the factor."""

    def with_euler_angles(self) -> AbstractMobilizer:
        return Pin()


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        (Forgetful, r"has_constant_axes of Forgetful\(\)(.|\n)*False"),
        (Rateless, r"axes_rate\(q, u\) of Rateless\(\)(.|\n)*-0.999999"),
        (Stretched, r"n_pinv\(q\) of Stretched\(\)(.|\n)*0.017453"),
        (Slowing, r"n_rate\(q, qdot\) of Slowing\(\)(.|\n)*0.0"),
        (Raising, r"pose of Raising\(\)(.|\n)*OverflowError: too far"),
        (EulerScrew, r"euler_angles_of\(q\) of EulerScrew\(\)"),
    ],
)
def test_methods_that_do_not_agree_are_refused_when_a_body_is_added(
    kind: type[AbstractMobilizer], pattern: str
) -> None:
    system = MultibodySystem()
    with pytest.raises(MobilizerError, match=pattern):
        system.matter.add_body("new", system.matter.ground, kind())
    system.matter.add_body("new", system.matter.ground, Crank())


class Slope(AbstractMobilizer):
    """A Slider along x, of which one attribute says how it moves."""

    nq = nu = 1
    default_q = (0.0,)

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def pose(self, q: Sequence[float]) -> Pose:
        return Slider().pose(q)

    def axes(self, q: Sequence[float]) -> Rows:
        return [[0.0, 0.0, 0.0, self.rate, 0.0, 0.0]]


def test_each_mobilizer_with_attributes_is_checked() -> None:
    system = MultibodySystem()
    first = system.matter.add_body("first", system.matter.ground, Slope(1.0))
    with pytest.raises(MobilizerError, match=r"axes\(q\) of Slope\(\)"):
        system.matter.add_body("second", first, Slope(2.0))
    with pytest.raises(MobilizerError, match=r"axes\(q\) of Slope\(\)"):
        check_mobilizer(Slope(2.0), "second", [Slope(1.0)])


class Counting(Crank):
    """How often its pose is asked for is counted, by its class."""

    asked: ClassVar[list[float]] = []

    def pose(self, q: Sequence[float]) -> Pose:
        self.asked.append(q[0])
        return super().pose(q)


def test_a_mobilizer_without_attributes_is_checked_once() -> None:
    Counting.asked.clear()
    check_mobilizer(Counting(), "first")
    count = len(Counting.asked)
    assert count > 0
    check_mobilizer(Counting(), "second", [Crank(), Counting()])
    assert len(Counting.asked) == count
    check_mobilizer(Counting(), "third", [Crank()])
    assert len(Counting.asked) == 2 * count
