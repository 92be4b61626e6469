"""Velocities, accelerations and Jacobians, against differences and against each other."""

import numpy as np
from hypothesis import given

from stagecache import Stage
from tests.multibody.trees import Tree, along, poses, spin, trees
from tests.profiles import examples

few = examples(40)
STEP = 1e-5


@few
@given(trees())
def test_velocities_are_the_derivatives_of_poses_along_n_u(tree: Tree) -> None:
    after, before = (poses(tree, along(tree, step)) for step in (STEP, -STEP))
    rates = (after - before) / (2 * STEP)
    for body, rate in zip(tree.bodies, rates, strict=True):
        velocity = body.velocity(tree.state)
        turning = spin(body.pose(tree.state).rotation, rate[:3, :3])
        np.testing.assert_allclose(velocity[:3], turning, atol=1e-6, rtol=1e-6)
        np.testing.assert_allclose(velocity[3:], rate[:3, 3], atol=1e-6, rtol=1e-6)


@few
@given(trees())
def test_columns_of_a_frame_jacobian_are_velocities_for_unit_u(tree: Tree) -> None:
    state = tree.state
    station = tree.rng.normal(size=3)
    found = [body.frame_jacobian(state, station) for body in tree.bodies]
    for j, unit in enumerate(np.eye(state.nu)):
        state.u = unit
        for body, jacobian in zip(tree.bodies, found, strict=True):
            velocity = body.velocity(state)
            linear = body.station_velocity(state, station)
            np.testing.assert_allclose(jacobian[:3, j], velocity[:3], atol=1e-12)
            np.testing.assert_allclose(jacobian[3:, j], linear, atol=1e-11)
    for body, jacobian in zip(tree.bodies, found, strict=True):
        np.testing.assert_array_equal(jacobian[3:], body.station_jacobian(state, station))


@few
@given(trees())
def test_accelerations_without_udot_are_derivatives_of_velocities(tree: Tree) -> None:
    stations = tree.rng.normal(size=(2, 3))
    states = [along(tree, step) for step in (STEP, -STEP)]
    for state in states:
        state.u = tree.state.u
    for body in tree.bodies:
        after, before = (body.velocity(state) for state in states)
        bias = body.acceleration_bias(tree.state)
        scale = 1 + np.abs(bias).max()
        np.testing.assert_allclose(bias, (after - before) / (2 * STEP), atol=1e-6 * scale)
        after, before = (body.station_velocity(state, stations) for state in states)
        found = body.station_acceleration_bias(tree.state, stations)
        scale = 1 + np.abs(found).max()
        np.testing.assert_allclose(found, (after - before) / (2 * STEP), atol=1e-6 * scale)


@few
@given(trees())
def test_accelerations_are_jacobian_times_udot_plus_bias(tree: Tree) -> None:
    udot = tree.rng.normal(size=tree.state.nu)
    states = [along(tree, step, udot) for step in (STEP, -STEP)]
    for body in tree.bodies:
        after, before = (body.velocity(state) for state in states)
        found = body.frame_jacobian(tree.state) @ udot + body.acceleration_bias(tree.state)
        scale = 1 + np.abs(found).max()
        np.testing.assert_allclose(found, (after - before) / (2 * STEP), atol=1e-6 * scale)


@few
@given(trees())
def test_qdot_is_that_of_the_operators(tree: Tree) -> None:
    system, state = tree.system, tree.state
    system.realize(state, Stage.VELOCITY)
    np.testing.assert_allclose(state.qdot, system.multiply_by_n(state, state.u), atol=1e-14)
    n = system.multiply_by_n(state, np.eye(state.nu))
    n_pinv = system.multiply_by_n_pinv(state, np.eye(state.nq))
    np.testing.assert_allclose(n_pinv @ n, np.eye(state.nu), atol=1e-9)
    np.testing.assert_allclose(n_pinv, np.linalg.pinv(n), atol=1e-9 * (1 + np.abs(n_pinv).sum()))
