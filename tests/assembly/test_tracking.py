"""Many frames: `track_all`."""

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from stagecache import Assembler, QValue, Subsystem, System, Trajectory, q_variable
from stagecache.errors import (
    AssembleFailed,
    ConditionError,
    ForeignStateError,
    NotANumberError,
    ObservationError,
    OutOfRangeError,
    TrackFailed,
    UnknownChoiceError,
    WrongTypeError,
)
from stagecache.multibody import Ball, MultibodySystem
from tests.assembly.models import Bend, FourBar, arm, four_bar

ANGLES = np.linspace(0.4, 1.4, 11)
TIMES = np.arange(11) * 0.1


def followed() -> tuple[FourBar, Assembler, QValue]:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    return linkage, assembler, assembler.add_goal(QValue(linkage.crank, 0, 0.0))


def test_all_frames_become_rows_of_a_trajectory() -> None:
    _, assembler, target = followed()
    trajectory = assembler.track_all(TIMES, {target: ANGLES})
    assert isinstance(trajectory, Trajectory)
    np.testing.assert_array_equal(trajectory.times, TIMES)
    np.testing.assert_allclose(trajectory["four_bar.crank"], ANGLES, atol=1e-3)
    assert assembler.statistics.num_assembly_steps == 11
    assert assembler.failed_frames == ()


def test_the_observations_alone_are_enough_where_one_condition_observes() -> None:
    linkage, assembler, target = followed()
    one = assembler.track_all(TIMES, {target: ANGLES})
    other = Assembler(assembler.system)
    other.add_goal(QValue(linkage.crank, 0, 0.0))
    np.testing.assert_array_equal(other.track_all(TIMES, ANGLES).q, one.q)
    np.testing.assert_array_equal(other.track_all(TIMES, ANGLES[:, None]).q.shape, one.q.shape)


def test_rows_have_q_in_the_form_of_the_start() -> None:
    system = MultibodySystem()
    head = system.matter.add_body("head", system.matter.ground, Ball())
    state = system.new_state()
    assembler = Assembler(system)
    target = assembler.add_goal(QValue(head, 0, 0.0))
    before = state.q.copy()
    trajectory = assembler.track_all(TIMES, {target: ANGLES}, state=state)
    assert trajectory.q.shape == (11, 4)
    np.testing.assert_array_equal(state.q, before)
    assert assembler.track_all(TIMES, {target: ANGLES}).q.shape == (11, 3)
    np.testing.assert_allclose(
        trajectory.q[:, 0], np.cos(trajectory.q[:, 0] * 0 + ANGLES / 2), atol=1e-3
    )


def test_no_frames_are_no_rows() -> None:
    _, assembler, target = followed()
    assert len(assembler.track_all([], {target: []})) == 0


# ---------------------------------------------------------------------- frames that fail


def failing() -> tuple[Assembler, QValue, list[float]]:
    """An Assembler whose frames 3 and 4 ask for an angle beyond a bound."""
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    assembler.restrict_q(linkage.crank, 0, 0.0, 2.0)
    target = assembler.add_error(QValue(linkage.crank, 0, 0.0))
    return assembler, target, [0.4, 0.5, 0.6, 2.5, 2.6, 0.7, 0.8]


def test_a_frame_that_fails_raises_and_is_named() -> None:
    assembler, target, angles = failing()
    with pytest.raises(TrackFailed) as caught:
        assembler.track_all(range(7), {target: angles})
    assert "in frame 3 of 7, at t = 3" in caught.value.__notes__
    with pytest.raises(AssembleFailed) as failed:
        assembler.track_all(range(3), {target: angles[3:6]})
    assert "in frame 0 of 3, at t = 0" in failed.value.__notes__


def test_frames_that_fail_are_left_out_if_that_is_wanted_and_are_never_lost() -> None:
    assembler, target, angles = failing()
    with pytest.warns(RuntimeWarning, match="2 of 7 frames failed and have no row: 3, 4;"):
        trajectory = assembler.track_all(range(7), {target: angles}, on_failure="skip")
    np.testing.assert_array_equal(trajectory.times, [0, 1, 2, 5, 6])
    np.testing.assert_allclose(trajectory["four_bar.crank"], [0.4, 0.5, 0.6, 0.7, 0.8], atol=1e-3)
    assert list(assembler.failed_frames) == [3, 4]
    assembler.track_all(range(2), {target: angles[:2]})
    assert list(assembler.failed_frames) == []


def test_only_some_of_many_failures_are_listed() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.lock_q(robot.angles, 0)
    assembler.lock_q(robot.angles, 1)
    assembler.restrict_q(robot.angles, 2, 0.0, 2.0)
    target = assembler.add_error(QValue(robot.angles, 2, 0.0))
    with pytest.warns(RuntimeWarning, match=r"22 of 23 .*: 1, 2, .*, 20 and 2 more"):
        assembler.track_all(range(23), {target: [0.4] + [3.0] * 22}, on_failure="skip")


def test_what_is_no_failure_of_a_frame_is_raised_in_any_case() -> None:
    _, assembler, target = followed()
    with pytest.raises(OutOfRangeError, match="value of condition 'QValue'") as caught:
        assembler.track_all([0.0, 1.0], {target: [0.4, np.nan]}, on_failure="skip")
    assert caught.value.__notes__ == ["in frame 1 of 2, at t = 1"], "skipping is no hint of it"


# ---------------------------------------------------------------------- progress


def test_a_bar_is_shown_if_it_is_asked_for() -> None:
    stream = io.StringIO()
    _, assembler, target = followed()
    console = Console(file=stream, force_terminal=True, width=80)
    linkage_times = TIMES * 10
    assembler.track_all(linkage_times, {target: ANGLES}, progress=console)
    silent = stream.getvalue()
    assert silent == "", "it takes less than a second"
    with pytest.raises(NotANumberError, match="progress"):
        assembler.track_all(TIMES, {target: ANGLES}, progress=3)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("times", [[0.0, np.nan], [1.0, 0.0], [[0.0], [1.0]], 1.0])
def test_what_are_no_times_of_frames_is_refused(times: Any) -> None:
    _, assembler, target = followed()
    with pytest.raises(OutOfRangeError, match="times of frames"):
        assembler.track_all(times, {target: [0.0, 0.0]})


@pytest.mark.parametrize("angles", [ANGLES[:-1], [], np.zeros((12, 1))])
def test_observations_of_another_number_of_frames_are_refused(angles: Any) -> None:
    _, assembler, target = followed()
    with pytest.raises(ObservationError, match="'QValue' has another number of frames"):
        assembler.track_all(TIMES, {target: angles})


def test_observations_of_no_frames_are_refused() -> None:
    _, assembler, target = followed()
    with pytest.raises(ObservationError, match="not observations of frames"):
        assembler.track_all(TIMES, {target: 3.0})


def test_it_has_to_be_clear_what_observes() -> None:
    linkage, assembler, _ = followed()
    assembler.add_goal(QValue(linkage.rocker, 0, 0.0, name="other"))
    with pytest.raises(ObservationError, match=r"2 conditions that observe: 'QValue', 'other'"):
        assembler.track_all(TIMES, ANGLES)
    robot, system, _ = arm()
    blind = Assembler(system)
    bend = blind.add_goal(Bend(robot))
    with pytest.raises(ObservationError, match="0 conditions that observe: none"):
        blind.track_all(TIMES, ANGLES)
    with pytest.raises(ConditionError, match="'bend': observes nothing"):
        blind.track_all(TIMES, {bend: ANGLES})


def test_conditions_that_were_not_added_are_refused() -> None:
    linkage, assembler, _ = followed()
    with pytest.raises(WrongTypeError, match="one that is not in an Assembler"):
        assembler.track_all(TIMES, {QValue(linkage.crank, 0, 0.0): ANGLES})
    with pytest.raises(WrongTypeError, match="'crank': not a condition"):
        assembler.track_all(TIMES, {"crank": ANGLES})  # type: ignore[dict-item]  # is refused


def test_other_words_for_what_to_do_are_refused() -> None:
    _, assembler, target = followed()
    with pytest.raises(UnknownChoiceError, match="'raise', 'skip'"):
        assembler.track_all(TIMES, {target: ANGLES}, on_failure="ignore")  # type: ignore[arg-type]  # is refused


def test_a_start_of_another_system_is_refused() -> None:
    class Other(Subsystem):
        place = q_variable(0.0)

    _, assembler, target = followed()
    other = System(Other()).realize_topology()
    with pytest.raises(ForeignStateError):
        assembler.track_all(TIMES, {target: ANGLES}, state=other)
