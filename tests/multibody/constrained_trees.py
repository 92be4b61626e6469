"""Random trees with constraints of every kind, and the same in plain geometry."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve
from hypothesis import assume
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache import Stage, Subsystem
from stagecache.errors import KinematicsError
from stagecache.multibody import (
    AbstractPairConstraint,
    BallConstraint,
    ConstantAngleConstraint,
    ConstantOrientationConstraint,
    CoordinateCouplerConstraint,
    JointCoordinate,
    MobilizedBody,
    PointInPlaneConstraint,
    PointOnLineConstraint,
    RodConstraint,
    Transform,
    WeldConstraint,
)
from tests.multibody.trees import (
    Array,
    Tree,
    random_transform,
    trees,
)

STEP = 1e-5


Pair = tuple[MobilizedBody, MobilizedBody]
Geometry = Callable[[Array, Array], Array]
"""The errors, for the poses (4, 4) of both bodies in ground."""


def at(pose: Array, point: Array) -> Array:
    found: Array = pose[:3, :3] @ point + pose[:3, 3]
    return found


def rod(pair: Pair, rng: np.random.Generator) -> tuple[AbstractPairConstraint, Geometry]:
    a, b, length = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.5, 2)
    constraint = RodConstraint(pair[0], a, pair[1], b, length)
    return constraint, lambda x, y: np.array([np.linalg.norm(at(x, a) - at(y, b)) - length])


def ball(pair: Pair, rng: np.random.Generator) -> tuple[AbstractPairConstraint, Geometry]:
    a, b = rng.normal(size=(2, 3))
    constraint = BallConstraint(pair[0], a, pair[1], b)
    return constraint, lambda x, y: x[:3, :3].T @ (at(y, b) - at(x, a))


def plane(pair: Pair, rng: np.random.Generator) -> tuple[AbstractPairConstraint, Geometry]:
    normal, height, point = rng.normal(size=3), rng.normal(), rng.normal(size=3)
    constraint = PointInPlaneConstraint(pair[0], normal, height, pair[1], point)
    unit = normal / np.linalg.norm(normal)

    def error(x: Array, y: Array) -> Array:
        in_plane = at(x, unit * height)
        return np.array([(at(y, point) - in_plane) @ (x[:3, :3] @ unit)])

    return constraint, error


def line(pair: Pair, rng: np.random.Generator) -> tuple[AbstractPairConstraint, Geometry]:
    origin, direction, point = rng.normal(size=(3, 3))
    constraint = PointOnLineConstraint(pair[0], origin, direction, pair[1], point)
    frame = np.vstack([constraint.normals, direction / np.linalg.norm(direction)])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(frame) > 0
    return constraint, lambda x, y: (frame @ x[:3, :3].T @ (at(y, point) - at(x, origin)))[:2]


def angle(pair: Pair, rng: np.random.Generator) -> tuple[AbstractPairConstraint, Geometry]:
    a, b, wanted = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.2, 3)
    constraint = ConstantAngleConstraint(pair[0], a, pair[1], b, wanted)
    size = np.linalg.norm(a) * np.linalg.norm(b)

    def error(x: Array, y: Array) -> Array:
        return np.array([(x[:3, :3] @ a) @ (y[:3, :3] @ b) / size - np.cos(wanted)])

    return constraint, error


def turned(x: Array, y: Array, one: Transform, two: Transform) -> Array:
    first, second = x[:3, :3] @ one.rotation, y[:3, :3] @ two.rotation
    vector = Rotation.from_matrix(second @ first.T).as_rotvec()
    size = np.linalg.norm(vector)
    found: Array = x[:3, :3].T @ vector * (2 * np.sin(size / 2) / size)
    return found


def orientation(pair: Pair, rng: np.random.Generator) -> tuple[AbstractPairConstraint, Geometry]:
    one, two = random_transform(rng), random_transform(rng)
    constraint = ConstantOrientationConstraint(*pair, first_frame=one, second_frame=two)
    return constraint, lambda x, y: turned(x, y, one, two)


def weld(pair: Pair, rng: np.random.Generator) -> tuple[AbstractPairConstraint, Geometry]:
    one, two = random_transform(rng), random_transform(rng)
    constraint = WeldConstraint(*pair, first_frame=one, second_frame=two)

    def error(x: Array, y: Array) -> Array:
        offset = x[:3, :3].T @ (at(y, two.translation) - at(x, one.translation))
        return np.concatenate([turned(x, y, one, two), offset])

    return constraint, error


PAIRS = (rod, ball, plane, line, angle, orientation, weld)


def tied(tree: Tree, constraint: Subsystem, name: str | None = None) -> Tree:
    """The same tree with a constraint, or something else; its State is at Instance."""
    use_euler_angles = tree.system.matter.use_euler_angles(tree.state)
    q, u = tree.state.q.copy(), tree.state.u.copy()
    tree.system.add(constraint, name)
    state = tree.system.new_state()
    tree.system.matter.use_euler_angles.set(state, use_euler_angles)
    tree.system.realize(state, Stage.MODEL)
    state.q, state.u = q, u
    tree.system.realize(state, Stage.INSTANCE)
    return evolve(tree, state=state)


def coordinates_in(tree: Tree) -> list[JointCoordinate]:
    """The coordinates that have a q in the State of a tree."""

    def has_q(coordinate: JointCoordinate) -> bool:
        try:
            coordinate(tree.state)
        except KinematicsError:  # an angle, behind a quaternion
            return False
        return True

    return [c for body in tree.bodies for c in body.coordinates if has_q(c)]


def coupler(tree: Tree) -> CoordinateCouplerConstraint:
    """sin(x0) + sum(x^2) / 2 of some coordinates."""
    every = coordinates_in(tree)
    assume(every)
    picked = tree.rng.integers(len(every), size=3)
    return CoordinateCouplerConstraint(
        [every[k] for k in picked],
        function=lambda x: np.sin(x[0]) + x @ x / 2,
        gradient=lambda x: x + np.eye(3)[0] * np.cos(x[0]),
        hessian=lambda x: np.eye(3) - np.diag(np.eye(3)[0]) * np.sin(x[0]),
    )


@st.composite
def constrained(draw: Any) -> tuple[Tree, Any]:
    """A random tree with a random constraint, away from where that has no derivative."""
    tree = draw(trees(most=6))
    kind = draw(st.sampled_from([*PAIRS, coupler]))
    if kind is coupler:
        constraint: Any = coupler(tree)
        return tied(tree, constraint), constraint
    one, two = tree.rng.permutation(len(tree.bodies))[:2]
    constraint, _ = kind((tree.bodies[one], tree.bodies[two]), tree.rng)
    found = tied(tree, constraint)
    if isinstance(constraint, RodConstraint):
        assume(constraint.error(found.state) + constraint.length > 0.3)
    if isinstance(constraint, ConstantOrientationConstraint | WeldConstraint):
        assume(np.linalg.norm(constraint.error(found.state)[:3]) < 1.95)
    return found, constraint


def close(found: Array, wanted: Array, tolerance: float = 1e-6) -> None:
    scale = 1 + np.abs(wanted).max(initial=0.0)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * scale)


def closed(kind: Any, one: MobilizedBody, two: MobilizedBody, tree: Tree) -> AbstractPairConstraint:
    """A constraint that the State of the tree satisfies."""
    a, b = tree.length * tree.rng.normal(size=(2, 3))
    frame = random_transform(tree.rng, tree.length)
    pose = one.pose(tree.state).inverse() @ two.pose(tree.state)
    there = pose.apply(b)
    if kind is rod:
        return RodConstraint(one, a, two, b, float(np.linalg.norm(there - a)))
    if kind is ball:
        return BallConstraint(one, there, two, b)
    if kind is plane:
        return PointInPlaneConstraint(one, a, float(a @ there / np.linalg.norm(a)), two, b)
    if kind is line:
        return PointOnLineConstraint(one, there, a, two, b)
    if kind is angle:
        cosine = a @ pose.rotation @ b / np.linalg.norm(a) / np.linalg.norm(b)
        return ConstantAngleConstraint(one, a, two, b, float(np.arccos(cosine)))
    make = WeldConstraint if kind is weld else ConstantOrientationConstraint
    return make(one, two, first_frame=pose @ frame, second_frame=frame)
