"""Random trees of every mobilizer, and their poses by a plain recursion with 4x4 matrices."""

from functools import reduce
from typing import Any

import numpy as np
from attrs import frozen
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from stagecache import Stage, State
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    Cylinder,
    Free,
    Gimbal,
    Gravity,
    MassProperties,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Planar,
    Slider,
    Transform,
    Translation,
    Universal,
    Weld,
)

Array = NDArray[np.float64]
MOBILIZERS = (Weld, Pin, Slider, Universal, Cylinder, Planar, Gimbal, Translation, Ball, Free)


LENGTHS = {Slider: 1, Cylinder: 1, Planar: 2, Translation: 3, Free: 3}
"""Last coordinates of a mobilizer that are lengths; all of its others are angles or quaternions."""


@frozen
class Tree:
    """A System, and a State of it with random q and u; all of its lengths have the same scale."""

    system: MultibodySystem
    state: State
    rng: np.random.Generator
    length: float = 1.0

    @property
    def bodies(self) -> tuple[MobilizedBody, ...]:
        return self.system.matter.bodies


def random_transform(rng: np.random.Generator, length: float = 1.0) -> Transform:
    return Transform(Rotation.random(random_state=rng).as_matrix(), length * rng.normal(size=3))


def random_mass(rng: np.random.Generator, length: float = 1.0) -> MassProperties:
    """The mass properties of some random points."""
    masses, points = np.exp(rng.normal(size=6)), length * rng.normal(size=(6, 3))
    squares = (points * points).sum(axis=1)
    inertia = masses @ squares * np.eye(3) - (masses[:, None] * points).T @ points
    return MassProperties(masses.sum(), masses @ points / masses.sum(), inertia)


def units(tree: Tree, state: State, kind: str = "q") -> Array:
    """The length of the tree for each q, or u, of a State that is a length, and 1 for others."""
    found, start = np.ones(len(getattr(state, kind))), state.u_start if kind == "u" else 0
    for body in tree.bodies[1:]:
        count = LENGTHS.get(type(body.mobilizer), 0)
        if count:
            stop = getattr(body, kind).place(state).stop - start
            found[stop - count : stop] = tree.length
    return found


def make_tree(
    kinds: list[type[AbstractMobilizer]],
    parents: list[int],
    seed: int,
    *,
    use_euler_angles: bool = False,
    plain: bool = False,
    length: float = 1.0,
    has_mass: bool = False,
) -> Tree:
    """Body i is joined to body parents[i - 1] by kinds[i - 1]; plain: bodies are where M is."""
    rng = np.random.default_rng(seed)
    system = MultibodySystem()
    matter = system.matter
    for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True), 1):
        outboard = None if plain else random_transform(rng, length)
        matter.add_body(
            f"body {i}",
            matter.bodies[parent],
            kind(),
            inboard_frame=random_transform(rng, length),
            outboard_frame=outboard,
            mass_properties=random_mass(rng, length) if has_mass else None,
        )
    if has_mass:
        system.add(Gravity(matter), "gravity")
    state = system.new_state()
    if use_euler_angles:
        matter.use_euler_angles.set(state, True)
        system.realize(state, Stage.MODEL)
    tree = Tree(system, state, rng, length)
    state.q = units(tree, state) * rng.normal(size=state.nq)
    state.u = units(tree, state, "u") * rng.normal(size=state.nu)
    return tree


@st.composite
def trees(
    draw: Any, euler: bool | None = None, most: int = 9, has_mass: bool | None = False
) -> Tree:
    kinds = draw(st.lists(st.sampled_from(MOBILIZERS), min_size=1, max_size=most))
    parents = [draw(st.integers(0, i)) for i in range(len(kinds))]
    uses = draw(st.booleans()) if euler is None else euler
    seed = draw(st.integers(0, 2**16))
    plain = draw(st.booleans())
    mass = draw(st.booleans()) if has_mass is None else has_mass
    return make_tree(kinds, parents, seed, use_euler_angles=uses, plain=plain, has_mass=mass)


# ---------------------------------------------------------------------- the plain recursion


def turned(axis: str, angle: float) -> Array:
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
    return found


def moved(*place: float) -> Array:
    found = np.eye(4)
    found[:3, 3] = place
    return found


def across(kind: type, q: Array, *, use_euler_angles: bool) -> Array:
    """X_FM, by products of elementary matrices."""
    products: dict[type, Any] = {
        Weld: list,
        Pin: lambda: [turned("z", q[0])],
        Slider: lambda: [moved(q[0], 0, 0)],
        Universal: lambda: [turned("x", q[0]), turned("y", q[1])],
        Cylinder: lambda: [turned("z", q[0]), moved(0, 0, q[1])],
        Planar: lambda: [moved(q[1], q[2], 0), turned("z", q[0])],
        Gimbal: lambda: [turned("x", q[0]), turned("y", q[1]), turned("z", q[2])],
        Translation: lambda: [moved(*q)],
        Ball: lambda: [oriented(q, use_euler_angles=use_euler_angles)],
        Free: lambda: [moved(*q[-3:]), oriented(q[:-3], use_euler_angles=use_euler_angles)],
    }
    return reduce(np.matmul, products[kind](), np.eye(4))


def oriented(q: Array, *, use_euler_angles: bool) -> Array:
    if use_euler_angles:
        return turned("x", q[0]) @ turned("y", q[1]) @ turned("z", q[2])
    found = np.eye(4)
    found[:3, :3] = Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix()
    return found


def plain_poses(tree: Tree, state: State | None = None) -> list[Array]:
    """X_GB of all bodies, one after the other."""
    state = tree.state if state is None else state
    euler = bool(tree.system.matter.use_euler_angles(state))
    found = [np.eye(4)]
    for body in tree.bodies[1:]:
        found.append(
            found[body.parent.index]
            @ body.inboard_frame.matrix
            @ across(type(body.mobilizer), body.q(state), use_euler_angles=euler)
            @ np.linalg.inv(body.outboard_frame.matrix)
        )
    return found


def poses(tree: Tree, state: State) -> Array:
    return np.array([body.pose(state).matrix for body in tree.bodies])


def along(tree: Tree, step: float, udot: Array | None = None) -> State:
    """A copy of the State a step later, along qdot = N u, with u changing by udot."""
    state = tree.state.copy()
    tree.system.realize(tree.state, Stage.VELOCITY)
    u = tree.state.u.copy()
    qdot = tree.state.qdot.copy()
    state.q = tree.state.q + step * qdot
    if udot is not None:
        state.u = u + step * udot
    return state


def spin(rotation: Array, change: Array) -> Array:
    """The angular velocity of a rotation that changes so."""
    skew = change @ rotation.T
    return np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
