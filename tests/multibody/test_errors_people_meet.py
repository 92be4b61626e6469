"""Errors and warnings that people met when they read models: what they say."""

import pickle
import warnings

import numpy as np
import pytest

from stagecache import Assembler, QValue, simulate
from stagecache.errors import NotPicklableError, UnknownMarkerError, UnknownMobilizerError
from stagecache.multibody import (
    Coordinate,
    CoordinateCouplerConstraint,
    Gravity,
    Markers,
    MultibodySystem,
    Pin,
    Steady,
)


def arms() -> MultibodySystem:
    system = MultibodySystem()
    for name in ("left", "right"):
        system.matter.add_body(
            name,
            system.matter.ground,
            Pin(),
            coordinates=[Coordinate(f"{name}_angle")],
            mass_properties={"mass": 1.0, "center": [1.0, 0.0, 0.0], "inertia": [1.0, 2.0, 2.0]},
        )
    return system


def test_targets_of_coordinates_do_not_hide_which_condition_observes() -> None:
    system = arms()
    assembler = Assembler(system, accuracy=1e-8)
    markers = assembler.add_goal(Markers())
    markers.add_marker(system.matter.body("left"), [1.0, 0.0, 0.0], name="tip")
    for name in ("left", "right"):
        assembler.add_goal(QValue(f"{name}_angle", 0, 0.25, name), weight=1e-9)
    trajectory = assembler.track_all([0.0, 1.0], [[[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]]])
    np.testing.assert_allclose(trajectory.q[:, 0], [np.pi / 2, 0.0], atol=1e-6)
    np.testing.assert_allclose(trajectory.q[:, 1], 0.25, atol=1e-6)
    assert [frame.worst for frame in trajectory.frames] == ["tip", "tip"]


def test_frames_without_markers_have_no_worst_one() -> None:
    system = arms()
    assembler = Assembler(system)
    target = assembler.add_error(QValue("left_angle", 0, 0.25))
    trajectory = assembler.track_all([0.0, 1.0], {target: [0.1, 0.2]})
    frame = trajectory.frames[1]
    assert (frame.worst, frame.time, frame.goal, str(frame)) == ("", 1.0, 0.0, "t = 1: goal 0")
    assert np.isnan(frame.rms)
    assert len(trajectory.frames) == 2


def test_unknown_markers_name_the_option_that_ignores_them() -> None:
    markers = Markers()
    markers.add_marker(arms().matter.body("left"), [1.0, 0.0, 0.0], name="tip")
    with pytest.raises(UnknownMarkerError, match="ignore_unknown=True for all"):
        markers.define_observation_order(["tip", "hat"])


def test_an_unknown_coordinate_is_refused_with_the_names_of_coordinates() -> None:
    with pytest.raises(UnknownMobilizerError, match="one of left_angle, right_angle, left, right"):
        Assembler(arms()).add_goal(QValue("left_angel", 0, 0.25))


def difference(x: np.ndarray) -> float:
    return float(x[0] - x[1])


def test_a_coupler_that_cannot_be_pickled_names_its_function() -> None:
    system, factor = arms(), 2.0
    tied = [(body, 0) for body in system.matter.bodies[1:]]
    system.add(CoordinateCouplerConstraint(tied, function=difference), "good")
    pickle.loads(pickle.dumps(system.new_state()))
    coupler = CoordinateCouplerConstraint(
        tied, function=difference, gradient=lambda x: [factor, -2]
    )
    with pytest.raises(NotPicklableError) as caught:
        pickle.dumps(coupler.gradient)
    assert caught.value.what == (
        "the gradient of the coupler of (left, 0), (right, 0): cannot be pickled"
    )


def test_a_system_with_a_closure_says_so_when_it_is_pickled() -> None:
    system, factor = arms(), 2.0
    tied = [(body, 0) for body in system.matter.bodies[1:]]
    system.add(CoordinateCouplerConstraint(tied, function=lambda x: x[0] - factor * x[1]), "gears")
    with pytest.raises(NotPicklableError, match=r"the function of the coupler of \(left, 0\)"):
        pickle.dumps(system.new_state())
    system.new_state().copy()


def test_a_simulation_in_which_nothing_can_move_says_so() -> None:
    system = arms()
    with pytest.warns(
        RuntimeWarning, match="nothing moves left, right: there is no force"
    ) as caught:
        simulate(system, system.new_state(), 0.01)
    assert caught[0].filename == __file__


def test_a_simulation_in_which_something_moves_says_nothing() -> None:
    system = arms()
    state = system.new_state()
    system.matter.body("left").u.set(state, [1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(system, state, 0.01)
        system.add(Gravity(system.matter), "gravity")
        simulate(system, system.new_state(), 0.01)
        moved = MultibodySystem()
        moved.matter.add_body("arm", moved.matter.ground, Pin(), motion=Steady(1.0))
        simulate(moved, moved.new_state(), 0.01)
        empty = MultibodySystem()
        simulate(empty, empty.new_state(), 0.01)
