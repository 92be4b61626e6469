"""Accelerations of bodies and stations as entries: values, validity, explanations and records."""

import numpy as np
import pytest
from hypothesis import given

from stagecache import Stage, simulate
from stagecache.errors import StageTooLowError
from stagecache.inspection import strict, verify
from stagecache.multibody import (
    MultibodySystem,
    Pin,
    RodConstraint,
    SteadySpeed,
    Transform,
)
from tests.multibody.trees import Tree, along, make_tree, trees
from tests.profiles import examples

few = examples(40)
STEP = 1e-5
DOWN = Transform(None, [0.0, 1.0, 0.0])


def arm_and_hand() -> MultibodySystem:
    system = MultibodySystem()
    arm = system.matter.add_body(
        "arm", system.matter.ground, Pin(), outboard_frame=DOWN, mass_properties={"mass": 1.0}
    )
    system.matter.add_body("hand", arm, Pin(), outboard_frame=DOWN, mass_properties={"mass": 2.0})
    return system


@few
@given(trees(has_mass=True))
def test_accelerations_are_derivatives_of_velocities_along_udot(tree: Tree) -> None:
    state = tree.state
    tree.system.realize(state, Stage.ACCELERATION)
    udot = state.udot.copy()
    station = tree.rng.normal(size=3)
    states = [along(tree, step, udot) for step in (STEP, -STEP)]
    tree.system.realize(state, Stage.ACCELERATION)
    for body in tree.bodies:
        own = body.u.place(state)
        own = slice(own.start - state.nq, own.stop - state.nq)
        np.testing.assert_array_equal(body.udot(state), udot[own])
        expected = body.frame_jacobian(state) @ udot + body.acceleration_bias(state)
        scale = 1 + np.abs(expected).max()
        np.testing.assert_allclose(body.acceleration(state), expected, atol=1e-11 * scale)
        after, before = (body.station_velocity(other, station) for other in states)
        found = body.station_acceleration(state, station)
        np.testing.assert_allclose(found, (after - before) / (2 * STEP), atol=1e-5 * scale)


def test_stations_of_a_group_accelerate_as_those_of_their_bodies() -> None:
    tree = make_tree([Pin, Pin], [0, 1], 3, has_mass=True)
    matter = tree.system.matter
    group = matter.add_stations("tips", matter.bodies[1:], tree.rng.normal(size=(2, 3)))
    state = tree.system.new_state()
    state.u = [1.0, -2.0]
    tree.system.realize(state, Stage.ACCELERATION)
    expected = [
        body.station_acceleration(state, station)
        for body, station in zip(group.bodies, group.stations, strict=True)
    ]
    np.testing.assert_allclose(group.accelerations(state), expected, atol=1e-12)


def test_a_tip_on_a_circle_accelerates_to_its_center() -> None:
    system = MultibodySystem()
    wheel = system.matter.add_body("wheel", system.matter.ground, Pin(), motion=SteadySpeed(3.0))
    state = system.new_state()
    wheel.u.set(state, [3.0])
    system.realize(state, Stage.ACCELERATION)
    assert wheel.udot(state).tolist() == [0.0]
    np.testing.assert_allclose(wheel.station_acceleration(state, [2, 0, 0]), [-18, 0, 0])


def test_multipliers_are_part_of_accelerations() -> None:
    system = arm_and_hand()
    hand = system.matter.body("hand")
    center = [1.5, -0.5, 0.0]
    system.add(RodConstraint(system.matter.ground, center, hand, [0, 0, 0], 2.0), "rod")
    state = system.new_state()
    state.q, state.u = [0.4, 0.7], [1.0, 0.0]
    system.project(state, 1e-9)
    system.realize(state, Stage.ACCELERATION)
    assert np.abs(state.multipliers).max() > 0.01
    np.testing.assert_allclose(state.udoterr, 0.0, atol=1e-9)
    from_center = hand.pose(state).translation - center
    velocity, acceleration = hand.velocity(state)[3:], hand.acceleration(state)[3:]
    np.testing.assert_allclose(acceleration @ from_center, -velocity @ velocity, atol=1e-9)


def test_they_need_stage_acceleration_and_are_stale_with_it() -> None:
    system = arm_and_hand()
    arm, hand = system.matter.bodies[1:]
    state = system.new_state()
    for entry in (arm.udot, hand.acceleration):
        with pytest.raises(StageTooLowError, match="Acceleration"):
            entry(state)
    system.realize(state, Stage.ACCELERATION)
    for entry in (arm.udot, hand.acceleration):
        entry(state)
        assert entry.is_valid(state)
    arm.u.set(state, [1.0])
    for entry in (arm.udot, hand.acceleration):
        assert not entry.is_valid(state)
    assert "Acceleration" in f"{state.explain(hand.acceleration)}"
    assert "matter.acceleration[hand]" in f"{state.explain(hand.acceleration)}"


def test_inspection_names_the_bodies_that_a_write_would_change() -> None:
    system = arm_and_hand()
    arm, hand = system.matter.bodies[1:]
    state = system.new_state()
    system.realize(state, Stage.ACCELERATION)
    hand.acceleration(state)
    hand.udot(state)
    found = f"{state.impact(arm.q)}"
    assert "matter.acceleration[hand]" in found
    assert "matter.joint_udot[hand]" in found


def test_strict_mode_finds_nothing_undeclared() -> None:
    system = arm_and_hand()
    matter = system.matter
    group = matter.add_stations("tips", matter.bodies[1:], np.ones((2, 3)))
    state = system.new_state()
    with strict() as log, verify(state):
        for u in ([1.0, 2.0], [2.0, 2.0]):
            state.u = u
            system.realize(state, Stage.ACCELERATION)
            for family in (matter.joint_udot, matter.acceleration):
                for entry in family:
                    entry(state)
            group.accelerations(state)
    assert log.undeclared == ()


def test_simulate_records_them() -> None:
    system = arm_and_hand()
    arm, hand = system.matter.bodies[1:]
    state = system.new_state()
    state.u = [1.0, 2.0]
    record = [arm.udot, hand.acceleration]
    rows = simulate(system, state, 0.5, every=0.25, record=record)
    for i, row in enumerate(rows.states(Stage.ACCELERATION)):
        np.testing.assert_allclose(rows[arm.udot][i], row.udot[:1], rtol=1e-12)
        np.testing.assert_allclose(rows[hand.acceleration][i], hand.acceleration(row))
