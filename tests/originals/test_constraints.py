"""Simbody's TestConstraints: what each constraint holds, by geometry, at all three levels."""

from math import cos

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stagecache import Stage, State, simulate
from stagecache.multibody import (
    BallConstraint,
    ConstantAngleConstraint,
    ConstantOrientationConstraint,
    ConstantSpeedConstraint,
    Gimbal,
    MobilizedBody,
    MultibodySystem,
    NoSlip1DConstraint,
    PointInPlaneConstraint,
    PointOnLineConstraint,
    RodConstraint,
    Transform,
    WeldConstraint,
)
from stagecache.system.events.handlers import ScheduledEventHandler
from tests.originals.chains import Array, acceleration, chain, close, settled

ORIGIN = (0.0, 0.0, 0.0)


def ends(system: MultibodySystem) -> tuple[MobilizedBody, MobilizedBody]:
    return system.matter.bodies[1], system.matter.bodies[-1]


def relative(
    first: MobilizedBody, last: MobilizedBody, state: State, station: Array
) -> tuple[Array, Array, Array]:
    """Return place, velocity and acceleration of a point of the last body, as the first sees it."""
    pose, spin = first.pose(state), first.velocity(state)[:3]
    turning = acceleration(first, state, ORIGIN)
    arm = last.station_position(state, station) - pose.translation
    speed = last.station_velocity(state, station) - first.station_velocity(state, ORIGIN)
    change = acceleration(last, state, station)[3:] - turning[3:]
    velocity = speed - np.cross(spin, arm)
    change -= np.cross(turning[:3], arm) + np.cross(spin, np.cross(spin, arm))
    change -= 2 * np.cross(spin, velocity)
    found: tuple[Array, Array, Array] = (
        pose.rotation.T @ arm,
        pose.rotation.T @ velocity,
        pose.rotation.T @ change,
    )
    return found


def test_a_ball_holds_two_points_together() -> None:
    system = chain(Gimbal)
    first, last = ends(system)
    ball = system.add_constraint(BallConstraint(first, ORIGIN, last, ORIGIN))
    state = settled(system)
    close(last.pose(state).translation, first.pose(state).translation)
    close(ball.error(state), 0)
    close(last.velocity(state)[3:], first.velocity(state)[3:])
    close(ball.error_rate(state), 0)
    close(acceleration(last, state, ORIGIN)[3:], acceleration(first, state, ORIGIN)[3:])
    close(state.udoterr, 0)


def test_a_constant_angle_holds_the_angle_between_two_directions() -> None:
    system = chain(Gimbal)
    first, last = ends(system)
    angle = system.add_constraint(ConstantAngleConstraint(first, [1, 0, 0], last, [0, 1, 0], 1.1))
    state = settled(system)
    one, other = first.pose(state).rotation[:, 0], last.pose(state).rotation[:, 1]
    close(one @ other, cos(1.1))
    close(angle.error(state), 0)
    spin = first.velocity(state)[:3] - last.velocity(state)[:3]
    close(spin @ np.cross(one, other), 0)
    close(angle.error_rate(state), 0)
    close(state.udoterr, 0)


def test_a_constant_orientation_holds_two_frames_parallel() -> None:
    system = chain(Gimbal)
    first, last = ends(system)
    frames = [Rotation.from_euler("x", 0.2), Rotation.from_euler("y", np.pi / 2)]
    one, other = (Transform(turn.as_matrix()) for turn in frames)
    system.add_constraint(
        ConstantOrientationConstraint(first, last, first_frame=one, second_frame=other)
    )
    state = settled(system)
    close(
        first.pose(state).rotation @ one.rotation,
        last.pose(state).rotation @ other.rotation,
    )
    close(first.velocity(state)[:3], last.velocity(state)[:3])
    close(acceleration(first, state, ORIGIN)[:3], acceleration(last, state, ORIGIN)[:3])


def test_a_constant_speed_holds_one_u() -> None:
    system = chain(Gimbal)
    first, _ = ends(system)
    speed = system.add_constraint(ConstantSpeedConstraint(first, 0.8, index=1))
    state = settled(system)
    close(first.u(state)[1], 0.8)
    close(speed.error(state), 0)
    close(state.udot[first.u.place(state).start - state.nq + 1], 0)
    close(state.udoterr, 0)


def test_bodies_do_not_slip_along_a_direction_at_a_point() -> None:
    system = chain(Gimbal)
    first, last = ends(system)
    point, up = np.array([1.0, 0.5, -2.0]), np.array([0.0, 1.0, 0.0])
    slip = system.add_constraint(NoSlip1DConstraint(system.matter.ground, point, up, first, last))
    state = settled(system)
    places = [body.pose(state).inverse().apply(point) for body in (first, last)]
    one, other = (b.station_velocity(state, p) for b, p in zip((first, last), places, strict=True))
    close((one - other) @ up, 0)
    close(slip.error(state), 0)
    # The point stays in ground while the material there goes on.
    rates = [
        acceleration(body, state, place)[3:] - np.cross(body.velocity(state)[:3], speed)
        for body, place, speed in zip((first, last), places, (one, other), strict=True)
    ]
    close((rates[0] - rates[1]) @ up, 0)
    close(state.udoterr, 0)


def test_a_point_stays_in_a_plane() -> None:
    system = chain(Gimbal)
    first, last = ends(system)
    normal, station = np.array([2.0, 1.0, 0.0]) / np.sqrt(5.0), np.array([0.5, 1.0, -1.2])
    plane = system.add_constraint(PointInPlaneConstraint(first, normal, 0.9, last, station))
    state = settled(system)
    place, velocity, change = relative(first, last, state, station)
    close(place @ normal, 0.9)
    close(plane.error(state), 0)
    close(velocity @ normal, 0)
    close(plane.error_rate(state), 0)
    close(change @ normal, 0)


def test_a_point_stays_on_a_line() -> None:
    system = chain(Gimbal)
    first, last = ends(system)
    direction, base = np.array([2.0, 1.0, 0.0]) / np.sqrt(5.0), np.array([0.3, -0.3, 0.8])
    station = np.array([0.5, 1.0, -1.2])
    system.add_constraint(PointOnLineConstraint(first, base, direction, last, station))
    state = settled(system)
    place, velocity, change = relative(first, last, state, station)
    close(np.cross(place - base, direction), 0)
    close(np.cross(velocity, direction), 0)
    close(np.cross(change, direction), 0)


def test_a_rod_holds_the_distance_of_two_points() -> None:
    system = chain(Gimbal)
    first, last = ends(system)
    rod = system.add_constraint(RodConstraint(first, ORIGIN, last, ORIGIN, 1.2))
    state = settled(system)
    apart = last.pose(state).translation - first.pose(state).translation
    speed = (last.velocity(state) - first.velocity(state))[3:]
    change = (acceleration(last, state, ORIGIN) - acceleration(first, state, ORIGIN))[3:]
    close(np.linalg.norm(apart), 1.2)
    close(rod.error(state), 0)
    close(apart @ speed, 0)
    close(rod.error_rate(state), 0)
    close(apart @ change, -speed @ speed)
    close(state.udoterr, 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_weld_holds_two_frames_together_from_a_start_far_away(seed: int) -> None:
    """Its frames coincide: nothing has to bring their axes near each other first."""
    system = chain(Gimbal)
    first, last = ends(system)
    system.add_constraint(WeldConstraint(first, last))
    state = settled(system, seed)
    close(first.pose(state).matrix, last.pose(state).matrix)
    close(first.velocity(state), last.velocity(state))
    close(acceleration(first, state, ORIGIN), acceleration(last, state, ORIGIN))


def test_a_handler_disables_a_constraint_in_the_middle_of_a_simulation() -> None:
    system = chain(Gimbal, 3)
    first, last = ends(system)
    rod = system.add_constraint(RodConstraint(first, ORIGIN, last, ORIGIN, 0.6))
    system.add_event_handler(
        ScheduledEventHandler(lambda state: rod.is_enabled.set(state, False), 0.49)
    )
    start = settled(system)
    for state in simulate(system, start, 1.0, every=[0.2, 0.4, 0.6, 0.8, 1.0], accuracy=1e-5):
        system.realize(state, Stage.ACCELERATION)
        apart = last.pose(state).translation - first.pose(state).translation
        is_held = state.time < 0.49
        assert (state.nqerr, state.nuerr, state.nudoterr) == ((1,) * 3 if is_held else (0,) * 3)
        assert (abs(np.linalg.norm(apart) - 0.6) < 1e-5) == is_held
