"""Simbody's tests of mobilizers: own ones, those by functions, reversed ones, and equal joints."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from stagecache import Stage, State, simulate
from stagecache.multibody import (
    AbstractMobilizer,
    Ball,
    Bushing,
    CantileverFreeBeam,
    Cylinder,
    DiscreteForces,
    Ellipsoid,
    Free,
    FunctionBased,
    Gimbal,
    Gravity,
    Linear,
    MassProperties,
    MobilityConstantForce,
    MobilitySpring,
    MobilizedBody,
    MultibodySystem,
    Pin,
    Planar,
    Slider,
    Transform,
    Translation,
    Universal,
    Weld,
    WeldConstraint,
)
from tests.originals.chains import Array, acceleration, chain, close

ORIGIN = (0.0, 0.0, 0.0)
X, Y, Z = np.eye(3).tolist()
ONE = Linear(1.0)
G = (0.3, -9.8, 0.2)


def turned(axis: Sequence[float], angle: float, place: Sequence[float] = ORIGIN) -> Transform:
    unit = np.asarray(axis) / np.linalg.norm(axis)
    return Transform(Rotation.from_rotvec(angle * unit).as_matrix(), place)


# ---------------------------------------------------------------------- mobilizers of one's own


class OwnTranslation(AbstractMobilizer):
    nq = nu = 3
    default_q = (0.0, 0.0, 0.0)

    def pose(self, q: Sequence[float]) -> Any:
        return np.column_stack([np.eye(3), q]).ravel()

    def axes(self, q: Sequence[float]) -> Any:
        return np.eye(6)[3:]


class OwnBall(AbstractMobilizer):
    """In a quaternion; its u is the angular velocity in F."""

    nq, nu = 4, 3
    default_q: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    quaternion_start = 0

    def pose(self, q: Sequence[float]) -> Any:
        turn = Rotation.from_quat([*q[1:4], q[0]]).as_matrix()
        return np.column_stack([turn, q[4:] or ORIGIN]).ravel()

    def axes(self, q: Sequence[float]) -> Any:
        return np.eye(6)[: self.nu]

    def n(self, q: Sequence[float]) -> Any:
        w, x, y, z = q[:4]
        block = np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]]) / 2
        return block_diag(block, np.eye(self.nu - 3)) if self.nu > 3 else block

    def n_pinv(self, q: Sequence[float]) -> Any:
        return np.linalg.pinv(self.n(q))

    def with_euler_angles(self) -> AbstractMobilizer:
        return OwnEulerBall()

    def euler_angles_of(self, q: Sequence[float]) -> Sequence[float]:
        return [*Rotation.from_quat([*q[1:4], q[0]]).as_euler("XYZ").tolist(), *q[4:]]

    def quaternions_of(self, q: Sequence[float]) -> Sequence[float]:
        x, y, z, w = Rotation.from_euler("XYZ", q[:3]).as_quat().tolist()
        return [w, x, y, z, *q[3:]]


class OwnEulerBall(AbstractMobilizer):
    nq = nu = 3
    default_q: tuple[float, ...] = (0.0, 0.0, 0.0)

    def pose(self, q: Sequence[float]) -> Any:
        turn = Rotation.from_euler("XYZ", q[:3]).as_matrix()
        return np.column_stack([turn, q[3:] or ORIGIN]).ravel()

    def axes(self, q: Sequence[float]) -> Any:
        return np.eye(6)[: self.nu]

    def n(self, q: Sequence[float]) -> Any:
        return np.linalg.inv(self.n_pinv(q))

    def n_pinv(self, q: Sequence[float]) -> Any:
        about_x = Rotation.from_euler("X", q[0])
        about_y = about_x * Rotation.from_euler("Y", q[1])
        block = np.column_stack([X, about_x.apply(Y), about_y.apply(Z)])
        return block_diag(block, np.eye(self.nu - 3)) if self.nu > 3 else block


class OwnFree(OwnBall):
    nq, nu = 7, 6
    default_q = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def with_euler_angles(self) -> AbstractMobilizer:
        return OwnEulerFree()


class OwnEulerFree(OwnEulerBall):
    nq = nu = 6
    default_q = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def seen(system: MultibodySystem, state: State) -> list[Array]:
    """Return all that two Systems with the same q and u have in common."""
    system.realize(state, Stage.ACCELERATION)
    found = [state.q, state.u, state.qdot, state.qdotdot, state.udot]
    for body in system.matter.bodies[1:]:
        found += [body.pose(state).matrix, body.velocity(state)]
        found.append(acceleration(body, state, ORIGIN))
    found.append(system.multiply_by_n(state, state.u))
    found.append(system.multiply_by_n_transpose(state, state.q))
    found.append(system.multiply_by_n_pinv(state, state.q))
    found.append(system.multiply_by_n_pinv_transpose(state, state.u))
    return found


def moving(system: MultibodySystem, *, angles: bool = False, seed: int = 3) -> State:
    rng = np.random.default_rng(seed)
    state = system.new_state()
    system.matter.use_euler_angles.set(state, angles)
    system.realize(state, Stage.MODEL)
    state.q = rng.normal(size=state.nq)
    state.u = rng.normal(size=state.nu)
    return state


def require_same(
    ready: MultibodySystem, own: MultibodySystem, *, angles: bool = False, method: str = "Verlet"
) -> None:
    """Two Systems are the same at a random State, after fits, and after a simulation."""
    ends = []
    for system in (ready, own):
        state = moving(system, angles=angles)
        values = seen(system, state)
        last = system.matter.bodies[-1]
        pose, velocity = last.pose(state), last.velocity(state).copy()
        end = simulate(system, state, 0.3, method=method, accuracy=1e-4)[-1]
        last.set_q_to_fit_transform(state, turned(Z, 0.4, (0.1, 0.2, 0.3)))
        last.set_u_to_fit_velocity(state, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        assert pose.matrix.shape == (4, 4)
        assert velocity.shape == (6,)
        fitted = [last.pose(state).matrix, last.u(state)]
        ends.append([*values, end.q, end.u, *fitted])
    for one, other in zip(*ends, strict=True):
        close(one, other, 1e-6)


@pytest.mark.parametrize("angles", [False, True])
@pytest.mark.parametrize(
    ("ready", "own"),
    [(Translation, OwnTranslation), (Ball, OwnBall), (Free, OwnFree)],
)
def test_a_mobilizer_of_ones_own_is_the_ready_one_in_all_respects(
    ready: type[AbstractMobilizer], own: type[AbstractMobilizer], angles: bool
) -> None:
    systems = [chain(kind, 2, inboard=(0.1, 0.2, 0.3), gravity=G) for kind in (ready, own)]
    require_same(*systems, angles=angles)


# ---------------------------------------------------------------------- by functions


TURNS = [(X, ONE, 0), (Y, ONE, 1), (Z, ONE, 2)]


@pytest.mark.parametrize(
    ("ready", "own"),
    [
        (Pin(), FunctionBased([(Z, ONE, 0)])),
        (Slider(), FunctionBased([], [(X, ONE, 0)])),
        (Cylinder(), FunctionBased([(Z, ONE, 0)], [(Z, ONE, 1)])),
        (Universal(), FunctionBased([(X, ONE, 0), (Y, ONE, 1)])),
        (Planar(), FunctionBased([(Z, ONE, 0)], [(X, ONE, 1), (Y, ONE, 2)])),
        (Gimbal(), FunctionBased(TURNS)),
        (Translation(), FunctionBased([], TURNS)),
    ],
    ids=lambda mobilizer: type(mobilizer).__name__,
)
def test_a_chain_of_joints_by_functions_moves_as_one_of_ready_joints(
    ready: AbstractMobilizer, own: FunctionBased
) -> None:
    require_same(
        *(chain(lambda m=m: m, 2, inboard=(0.1, 0.2, 0.3), gravity=G) for m in (ready, own)),  # type: ignore[misc]
        method="DOP853",
    )


SOLID = MassProperties.about_center(1.5, [0.1, -0.5, 0.2], np.diag([0.5, 0.6, 0.7]))


def add(
    system: MultibodySystem,
    name: str,
    parent: MobilizedBody | None,
    mobilizer: AbstractMobilizer,
    mass: MassProperties | None = SOLID,
    **frames: Any,
) -> MobilizedBody:
    parent = system.matter.ground if parent is None else parent
    return system.matter.add_body(name, parent, mobilizer, mass_properties=mass, **frames)


def axis_frame(axis: Sequence[float], place: Sequence[float] = ORIGIN) -> Transform:
    """A frame whose z is an axis."""
    turn, _ = Rotation.align_vectors([np.asarray(axis) / np.linalg.norm(axis)], [Z])
    return Transform(turn.as_matrix(), place)


@pytest.mark.parametrize(
    ("ready", "own"),
    [
        (Pin(), FunctionBased([([1.0, -2.0, 0.5], ONE, 0)])),
        (Slider(), FunctionBased([], [([1.0, -2.0, 0.5], Linear(1.0), 0)])),
    ],
    ids=["Pin", "Slider"],
)
def test_an_axis_of_a_function_is_a_turned_frame_of_a_ready_joint(
    ready: AbstractMobilizer, own: FunctionBased
) -> None:
    frame = axis_frame([1.0, -2.0, 0.5])
    if isinstance(ready, Slider):
        frame = frame @ turned(Y, -np.pi / 2)  # which slides along x
    systems = []
    turning: dict[str, Any] = {"inboard_frame": frame, "outboard_frame": frame}
    for mobilizer in (ready, own):
        frames = turning if mobilizer is ready else {}
        system = MultibodySystem()
        body = add(system, "one", None, mobilizer, **frames)
        add(system, "two", body, mobilizer, **frames)
        system.add(Gravity(system.matter, G))
        state = moving(system)
        seen_now = [*seen(system, state), simulate(system, state, 0.3, accuracy=1e-6)[-1].q]
        systems.append(seen_now)
    for one, other in zip(*systems, strict=True):
        close(one, other, 1e-6)


Joints = list[tuple[AbstractMobilizer, MassProperties | None, dict[str, Any]]]
AXES = ([0.3, 1.0, 0.0], [1.0, 0.0, -0.6], [0.0, 0.4, 1.0])
BY_AXES: Joints = [(FunctionBased([(a, ONE, k) for k, a in enumerate(AXES)]), SOLID, {})]
BY_PINS: Joints = [
    (
        Pin(),
        SOLID if k == 2 else None,
        {"inboard_frame": axis_frame(a), "outboard_frame": axis_frame(a)},
    )
    for k, a in enumerate(AXES)
]
ALL_SIX: Joints = [
    (FunctionBased(TURNS, [(a, ONE, k + 3) for k, a in enumerate((X, Y, Z))]), SOLID, {})
]
IN_TWO: Joints = [(Translation(), None, {}), (Gimbal(), SOLID, {})]
BY_FUNCTIONS_IN_TWO: Joints = [
    (FunctionBased([], TURNS), None, {}),
    (FunctionBased(TURNS), SOLID, {}),
]


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [
        (BY_AXES, BY_PINS, [0, 1, 2]),
        (ALL_SIX, IN_TWO, [3, 4, 5, 0, 1, 2]),
        (ALL_SIX, BY_FUNCTIONS_IN_TWO, [3, 4, 5, 0, 1, 2]),
    ],
    ids=["axes", "free", "free by functions"],
)
def test_a_joint_moves_as_simpler_joints_between_bodies_without_mass(
    one: Joints, other: Joints, order: list[int]
) -> None:
    """`order` has the places of the q of the second one in the first."""
    rng = np.random.default_rng(5)
    q, u = rng.uniform(-0.8, 0.8, (2, len(order)))
    found = []
    for joints, places in ((one, list(range(len(order)))), (other, order)):
        system = MultibodySystem()
        body: MobilizedBody | None = None
        for i, (mobilizer, mass, frames) in enumerate(joints):
            body = add(system, f"body {i}", body, mobilizer, mass, **frames)
        assert body is not None
        system.add(Gravity(system.matter, G))
        state = system.new_state()
        state.q, state.u = q[places], u[places]
        here = []
        for _ in range(2):
            system.realize(state, Stage.ACCELERATION)
            here += [body.pose(state).matrix, body.velocity(state)]
            here.append(acceleration(body, state, ORIGIN))
            state = simulate(system, state, 0.4, accuracy=1e-8)[-1]
        found.append(here)
    for a, b in zip(*found, strict=True):
        close(a, b, 1e-6)


def test_a_free_joint_by_functions_moves_a_body_as_a_ready_one() -> None:
    """Their u differ: the rates of angles here, the angular velocity there."""
    found = []
    for mobilizer in (Free(), ALL_SIX[0][0]):
        system = MultibodySystem()
        body = add(system, "body", None, mobilizer)
        system.add(Gravity(system.matter, G))
        state = system.new_state()
        turn = Rotation.from_euler("XYZ", [0.3, -0.4, 0.5]).as_matrix()
        body.set_q_to_fit_transform(state, Transform(turn, [1.0, 2.0, 3.0]))
        body.set_u_to_fit_velocity(state, [0.3, 0.2, -0.4, 1.0, 0.5, -0.6])
        here = []
        for _ in range(2):
            system.realize(state, Stage.ACCELERATION)
            here += [body.pose(state).matrix, body.velocity(state)]
            here.append(acceleration(body, state, ORIGIN))
            state = simulate(system, state, 0.4, accuracy=1e-8)[-1]
        found.append(here)
    for a, b in zip(*found, strict=True):
        close(a, b, 1e-5)


# ---------------------------------------------------------------------- equal mechanisms


def test_bodies_welded_by_a_joint_and_by_a_constraint_swing_alike() -> None:
    """Each carries another body on a spring."""
    inboard, outboard = Transform(None, [0.1, 0.5, -1.0]), Transform(None, [0.2, -0.2, 0.0])
    frames: dict[str, Any] = {"inboard_frame": inboard, "outboard_frame": outboard}
    system = MultibodySystem()
    ends = []
    for name in ("joint", "constraint"):
        swing = add(system, f"{name}: swing", None, Ball(), outboard_frame=Transform(None, Y))
        held = add(system, f"{name}: held", swing, Weld() if name == "joint" else Free(), **frames)
        child = add(system, f"{name}: child", held, Pin(), **frames)
        system.add(MobilitySpring(child, 0, 100.0))
        if name == "constraint":
            weld = {"first_frame": inboard, "second_frame": outboard}
            system.add_constraint(WeldConstraint(swing, held, **weld))
        ends.append((swing, held, child))
    system.add(Gravity(system.matter, G))
    state = system.new_state()
    for swing, _, _ in ends:
        swing.u.set(state, [1.0, 2.0, 3.0])
    system.realize(state, Stage.TIME)
    system.project(state, 1e-10)
    for row in (state, simulate(system, state, 0.6, accuracy=1e-6, constraint_tolerance=1e-8)[-1]):
        for one, other in zip(*ends, strict=True):
            close(one.pose(row).matrix, other.pose(row).matrix, 1e-5)
            close(one.velocity(row), other.velocity(row), 1e-4)


def test_a_gimbal_swings_as_three_pins_in_a_row() -> None:
    """Their q and u are the same numbers."""
    system = MultibodySystem()
    place, end = (0.1, 0.5, -1.0), (0.2, -0.2, 0.0)
    gimbal = add(
        *(system, "gimbal", None, Gimbal()),
        inboard_frame=Transform(None, place),
        outboard_frame=Transform(None, end),
    )
    body: MobilizedBody | None = None
    for k, axis in enumerate((X, Y, Z)):
        body = add(
            *(system, f"pin {k}", body, Pin(), SOLID if k == 2 else None),
            inboard_frame=axis_frame(axis, place if k == 0 else ORIGIN),
            outboard_frame=axis_frame(axis, end if k == 2 else ORIGIN),
        )
    assert body is not None
    system.add(Gravity(system.matter, G))
    state = system.new_state()
    state.q = [0.1, 0.2, 0.3] * 2
    state.u = [1.0, 2.0, 3.0] * 2
    for row in (state, simulate(system, state, 1.0, accuracy=1e-8)[-1]):
        close(row.q[:3], row.q[3:], 1e-6)
        close(gimbal.pose(row).matrix, body.pose(row).matrix, 1e-6)
        close(gimbal.velocity(row), body.velocity(row), 1e-6)


@pytest.mark.parametrize(
    "make",
    [
        *(Pin, Planar, lambda: Ellipsoid((0.3, 0.4, 0.5)), Free, Gimbal, Bushing),
        lambda: CantileverFreeBeam(1.1),
    ],
    ids=["Pin", "Planar", "Ellipsoid", "Free", "Gimbal", "Bushing", "CantileverFreeBeam"],
)
def test_a_reversed_joint_is_the_same_joint_from_the_other_side(
    make: Callable[[], AbstractMobilizer],
) -> None:
    """Ground, A and then B, or ground, B and then A: with the same q, u and forces on the joint."""
    on_a, on_b = turned([1.0, -3.0, 3.0], 1.0, [-0.4, -0.5, -0.1]), turned(X, -0.3, [0, 1.5, 0])
    rng = np.random.default_rng(2)
    found: list[list[Array]] = []
    joint_q: Any = None
    pose = velocity = None
    for is_reversed in (False, True):
        system = MultibodySystem()
        first = add(system, "first", None, Free(), outboard_frame=on_b if is_reversed else on_a)
        inboard, outboard = (on_b, on_a) if is_reversed else (on_a, on_b)
        second = add(
            *(system, "second", first, make()),
            inboard_frame=inboard,
            outboard_frame=outboard,
            reverse=is_reversed,
        )
        a, b = (second, first) if is_reversed else (first, second)
        system.add(Gravity(system.matter, G))
        for k in range(second.mobilizer.nu):
            system.add(MobilityConstantForce(second, k, 2.0 - k))
        state = system.new_state()
        if pose is None:
            first.q.set(state, [0.9, 0.1, -0.3, 0.2, 1.0, 2.0, 3.0])
            first.u.set(state, rng.normal(size=6))
            angles = np.array(second.q(state)) + rng.uniform(0.2, 0.6, second.mobilizer.nq)
            joint_q, joint_u = angles, rng.normal(size=second.mobilizer.nu)
        second.q.set(state, joint_q)
        second.u.set(state, joint_u)
        if pose is not None and velocity is not None:
            first.set_q_to_fit_transform(state, pose @ on_b)
            arm = np.cross(velocity[:3], pose.rotation @ on_b.translation)
            first.set_u_to_fit_velocity(state, [*velocity[:3], *(velocity[3:] + arm)])
        pose, velocity = b.pose(state), b.velocity(state).copy()
        system.realize(state, Stage.ACCELERATION)
        reaction = system.calc_reaction_forces(state)[second.index]
        at = second.pose(state).apply(outboard.translation)
        reaction[:3] += np.cross(at, reaction[3:])  # about the origin of ground
        found.append(
            [
                *(body.pose(state).matrix for body in (a, b)),
                *(body.velocity(state) for body in (a, b)),
                *(acceleration(body, state, ORIGIN) for body in (a, b)),
                -reaction if is_reversed else reaction,
            ]
        )
    for one, other in zip(*found, strict=True):
        close(one, other, 1e-6)


def test_a_free_joint_transmits_nothing_whatever_acts_on_its_body() -> None:
    system = MultibodySystem()
    frames: dict[str, Any] = {
        "inboard_frame": turned(X, 1.0, [-4, -5, -1]),
        "outboard_frame": turned(Y, 0.3, Y),
    }
    body = add(system, "body", None, Free(), **frames)
    system.add(Gravity(system.matter, G))
    forces = system.add(DiscreteForces(system.matter))
    state = moving(system)
    forces.set_body_force(state, body, [5.0, -1.0, 2.0, 1.0, 0.27, 4.0])
    system.realize(state, Stage.ACCELERATION)
    close(system.calc_reaction_forces(state), 0)
