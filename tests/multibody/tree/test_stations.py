"""Groups of stations: entries, and products without the Jacobian."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stagecache import State
from stagecache.multibody import Ball, Pin, StationGroup
from tests.multibody.trees import Tree, make_tree, trees
from tests.profiles import examples

few = examples(40)


def with_stations(tree: Tree, count: int) -> tuple[StationGroup, State]:
    """A group of random stations, and a State with the same q and u."""
    matter, old = tree.system.matter, tree.state
    bodies = [matter.bodies[i] for i in tree.rng.integers(0, len(matter.bodies), count)]
    group = matter.add_stations("markers", bodies, tree.rng.normal(size=(count, 3)))
    state = tree.system.new_state()
    matter.use_euler_angles.set(state, matter.use_euler_angles(old))
    tree.system.realize_model(state)
    state.q, state.u = old.q, old.u
    return group, state


@few
@given(trees(), st.integers(1, 6))
def test_a_group_has_what_its_bodies_have(tree: Tree, count: int) -> None:
    group, state = with_stations(tree, count)
    for k, (body, station) in enumerate(zip(group.bodies, group.stations, strict=True)):
        for found, expected in [
            (group.positions(state)[k], body.station_position(state, station)),
            (group.velocities(state)[k], body.station_velocity(state, station)),
            (group.jacobian(state)[k], body.station_jacobian(state, station)),
            (group.frame_jacobian(state)[k], body.frame_jacobian(state, station)),
            (
                group.acceleration_bias(state)[k],
                body.station_acceleration_bias(state, station),
            ),
        ]:
            np.testing.assert_allclose(found, expected, atol=1e-10)


@few
@given(trees(), st.integers(1, 6))
def test_products_without_the_jacobian_are_those_with_it(tree: Tree, count: int) -> None:
    group, state = with_stations(tree, count)
    jacobian = group.jacobian(state)
    u, forces = tree.rng.normal(size=state.nu), tree.rng.normal(size=(count, 3))
    np.testing.assert_allclose(group.multiply_by_jacobian(state, u), jacobian @ u, atol=1e-10)
    found = group.multiply_by_jacobian_transpose(state, forces)
    expected = np.tensordot(forces, jacobian, axes=2)
    np.testing.assert_allclose(found, expected, atol=1e-10 * (1 + np.abs(expected).sum()))
    jacobian = group.frame_jacobian(state)
    found = group.multiply_by_frame_jacobian(state, u)
    np.testing.assert_allclose(found, jacobian @ u, atol=1e-10)
    forces = tree.rng.normal(size=(count, 6))
    expected = np.tensordot(forces, jacobian, axes=2)
    found = group.multiply_by_frame_jacobian_transpose(state, forces)
    np.testing.assert_allclose(found, expected, atol=1e-10 * (1 + np.abs(expected).sum()))


def test_all_stations_may_be_of_one_body() -> None:
    tree = make_tree([Pin], [0], 0)
    matter = tree.system.matter
    group = matter.add_stations("corners", matter.bodies[1], np.eye(3))
    assert group.bodies == (matter.bodies[1],) * 3
    state = tree.system.new_state()
    expected = matter.bodies[1].station_position(state, np.eye(3))
    np.testing.assert_allclose(group.positions(state), expected, atol=1e-15)


def test_no_stations_have_empty_results() -> None:
    tree = make_tree([Pin, Ball], [0, 1], 0)
    none = np.zeros((0, 3))
    groups = [
        tree.system.matter.add_stations("of none", [], none),
        tree.system.matter.add_stations("of one", tree.bodies[1], none),
    ]
    state = tree.system.new_state()
    for group in groups:
        assert group.positions(state).shape == group.velocities(state).shape == (0, 3)
        assert group.jacobian(state).shape == (0, 3, 4)
        assert group.frame_jacobian(state).shape == (0, 6, 4)
        assert group.multiply_by_jacobian(state, np.ones(4)).shape == (0, 3)
        np.testing.assert_array_equal(
            group.multiply_by_jacobian_transpose(state, none), np.zeros(4)
        )
    assert tree.bodies[2].station_jacobian(state, none).shape == (0, 3, 4)
    assert tree.bodies[2].frame_jacobian(state, none).shape == (0, 6, 4)


def test_a_product_on_a_long_chain_is_that_with_the_jacobian() -> None:
    tree = make_tree([Pin] * 40, list(range(40)), 5)
    group, state = with_stations(tree, 30)
    jacobian = group.jacobian(state)
    np.testing.assert_allclose(
        group.multiply_by_jacobian(state, state.u), jacobian @ state.u, rtol=1e-9, atol=1e-9
    )
    forces = tree.rng.normal(size=(30, 3))
    expected = np.tensordot(forces, jacobian, axes=2)
    found = group.multiply_by_jacobian_transpose(state, forces)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
