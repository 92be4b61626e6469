"""Markers: where they are, and what they are as a goal and as an error."""

from typing import Any

import numpy as np
import pytest
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stagecache import Assembler, DecorativeLine, DecorativePoint, State
from stagecache.errors import OutOfRangeError, ShapeError, UnknownMarkerError
from stagecache.multibody import (
    FunctionBased,
    Gimbal,
    Markers,
    MultibodySystem,
    OrientationSensors,
    Pin,
    Polynomial,
    Transform,
)
from stagecache.multibody.geometry.spatial import Array
from tests.multibody.observed_trees import by_differences, with_markers
from tests.multibody.trees import Tree, make_tree, trees
from tests.profiles import examples

few = examples(40)


@few
@given(trees(), st.integers(1, 6))
def test_markers_are_where_their_stations_are(tree: Tree, count: int) -> None:
    markers = with_markers(tree, count)
    found = markers.current_positions(tree.state)
    for marker, position in zip(markers.markers, found, strict=True):
        expected = marker.body.station_position(tree.state, marker.station)
        np.testing.assert_allclose(position, expected, atol=1e-12)
    errors = np.linalg.norm(found - markers.observations, axis=1)
    np.testing.assert_allclose(markers.current_errors(tree.state), errors, atol=1e-12)


@few
@given(trees(most=5), st.integers(4, 8))
def test_observations_of_a_pose_are_met_from_near_it(tree: Tree, count: int) -> None:
    markers = Markers()
    for _ in range(count):
        for body in tree.bodies:
            markers.add_marker(body, tree.rng.normal(size=3))
    seen = markers.current_positions(tree.state)
    markers.move_all_observations(seen)
    state = tree.state.copy()
    state.q = state.q + 1e-3 * tree.rng.normal(size=state.nq)
    assembler = Assembler(tree.system, accuracy=1e-9)
    assembler.add_goal(markers)
    if not tree.state.nu:
        return
    assembler.assemble(state)
    np.testing.assert_allclose(markers.current_positions(state), seen, atol=1e-6)
    assert markers.rms(state) < 1e-6


def test_a_marker_is_named_by_itself_its_name_or_its_index() -> None:
    tree = make_tree([Pin], [0], 0)
    markers = Markers("body set")
    hip = markers.add_marker(tree.bodies[1], [1, 2, 3], 0.5, "hip")
    other = markers.add_marker(tree.bodies[1], [0, 0, 0], name="  ")
    assert (other.name, other.index) == ("marker 1", 1)
    for which in (hip, "hip", 0, np.int64(0)):
        assert markers.marker(which) is hip
        assert markers.weight(which) == 0.5
    assert markers.markers == (hip, other)
    assert hip.body is tree.bodies[1]
    assert hip.station.tolist() == [1, 2, 3]
    with pytest.raises(UnknownMarkerError, match="Markers 'body set'"):
        markers.marker("hop")
    with pytest.raises(UnknownMarkerError, match="add some first"):
        Markers().marker(0)
    with pytest.raises(FrozenInstanceError):
        hip.name = "knee"  # type: ignore[misc]  # is refused


@pytest.mark.parametrize(
    ("station", "error"),
    [([1, 2], ShapeError), ([1, 2, np.nan], OutOfRangeError), ([[1, 2, 3]], ShapeError)],
)
def test_a_station_that_is_none_is_refused(station: object, error: type[Exception]) -> None:
    tree = make_tree([Pin], [0], 0)
    markers = Markers()
    with pytest.raises(error, match="the station of marker 'hip' of Markers 'markers'"):
        markers.add_marker(tree.bodies[1], station, name="hip")  # type: ignore[arg-type]  # refused
    assert markers.markers == ()


def test_as_errors_they_have_rows_by_marker_and_axis() -> None:
    tree = make_tree([Pin], [0], 0)
    markers = Markers()
    for name, weight in (("hip", 1.0), ("knee", 9.0)):
        markers.add_marker(tree.bodies[1], [1, 0, 0], weight, name)
    markers.move_all_observations(np.array([[np.nan, 0, 0], [0, 0, 0]]))
    names = [f"markers['knee'].{axis}" for axis in "xyz"]
    assert markers.error_names(tree.state) == names
    expected = tree.bodies[1].station_position(tree.state, [1, 0, 0])
    np.testing.assert_allclose(markers.calc_errors(tree.state), expected, atol=1e-15)


def test_what_is_observed_is_drawn_with_a_line_to_its_marker() -> None:
    tree = make_tree([Pin], [0], 0)
    markers = Markers()
    assert markers.calc_decorations(tree.state) == []
    hip = markers.add_marker(tree.bodies[1], [1, 0, 0], name="hip")
    markers.add_marker(tree.bodies[1], [0, 1, 0])
    markers.define_observation_order([None, hip, 1])
    markers.move_all_observations(np.array([[1, 1, 1], [2, 2, 2], [np.nan, 3, 3]]))
    shown = markers.calc_decorations(tree.state)
    points = [d for d in shown if isinstance(d, DecorativePoint)]
    lines = [d for d in shown if isinstance(d, DecorativeLine)]
    assert [p.label for p in points] == ["hip", "marker 1", "", ""]
    assert [p.point.tolist() for p in points[2:]] == [[1, 1, 1], [2, 2, 2]]
    (line,) = lines
    np.testing.assert_allclose(line.point1, markers.current_positions(tree.state)[0])
    assert line.point2.tolist() == [2, 2, 2]


@examples(30)
@given(st.integers(0, 2**16), st.booleans())
def test_second_derivatives_hold_beyond_joints_that_bend(seed: int, has_lock: bool) -> None:
    """The axes of a FunctionBased change in other ways than by turning with each other."""
    rng = np.random.default_rng(seed)

    def motion(q: int) -> tuple[Any, Polynomial, int]:
        return rng.normal(size=3), Polynomial(rng.normal(size=4)), q

    system, markers = MultibodySystem(), Markers()
    body = system.matter.ground
    for i in range(3):
        frame = Transform(Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3))
        joint = FunctionBased([motion(0), motion(1), motion(0)], [motion(1), motion(0)])
        mobilizer = Gimbal() if i == 1 else joint
        body = system.matter.add_body(
            f"{i}", body, mobilizer, inboard_frame=frame, outboard_frame=frame.inverse()
        )
        markers.add_marker(body, rng.normal(size=3), weight=1.0 + i)
    assembler = Assembler(system)
    assembler.add_goal(markers)
    if has_lock:
        assembler.lock_q("0", 1)
    markers.move_all_observations(rng.normal(size=(3, 3)))
    state = system.new_state()
    state.q = rng.uniform(-0.5, 0.5, state.nq)
    assembler.initialize(state)
    n, factors = assembler.num_free_qs, rng.normal(size=9)
    for calc, bend in (
        (markers.calc_errors, markers.calc_error_curvature),
        (markers.calc_goal_residuals, markers.calc_goal_residual_curvature),
    ):

        def slope(at: State, calc: Any = calc) -> Array:
            return by_differences(lambda s: factors @ calc(s), at, assembler, step=1e-3)

        expected = by_differences(slope, assembler.internal_state, assembler, step=1e-3)
        found = bend(assembler.internal_state, factors)
        assert found is not None
        scale = 1 + np.abs(expected).max()
        np.testing.assert_allclose(found, expected.reshape(n, n), atol=1e-4 * scale)


def test_sensors_on_joints_that_bend_use_differences() -> None:
    system = MultibodySystem()
    joint = FunctionBased([([0, 0, 1], Polynomial([0.0, 1.0, 0.1]), 0)])
    body = system.matter.add_body("arm", system.matter.ground, joint)
    assembler = Assembler(system, accuracy=1e-9)
    sensors = assembler.add_goal(OrientationSensors())
    sensors.add_sensor(body)
    sensors.move_all_observations([[[0, -1, 0], [1, 0, 0], [0, 0, 1]]])
    assembler.initialize()
    assert sensors.calc_error_curvature(assembler.internal_state, np.ones(3)) is None
    assert assembler.assemble().has_converged
