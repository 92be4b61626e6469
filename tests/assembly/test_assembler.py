"""The Assembler: assembling and tracking, settings, what it counts and reports."""

import pickle
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Assembler,
    QValue,
    Stage,
    State,
    Study,
    Subsystem,
    System,
    modeling_option,
    q_variable,
    quaternion_kinematics,
    quaternion_normalization,
    u_variable,
)
from stagecache.assembly import (
    AssemblerStatistics,
)
from stagecache.errors import (
    ForeignStateError,
    InvalidNameError,
    NotANumberError,
    OutOfRangeError,
    ReadOnlyError,
    ShapeError,
    TopologyVersionError,
    UnknownItemError,
    UnknownSubsystemError,
    WrongTypeError,
)
from stagecache.multibody import Ball, MultibodySystem, Pin, RodConstraint, Transform
from tests.assembly.models import Bend, Reach, arm, four_bar

# ---------------------------------------------------------------------- assembling


def test_assembling_closes_a_linkage_and_changes_only_q() -> None:
    _, system, state = four_bar()
    state.time = 0.7
    state.u = [1.0, 2.0, 3.0]
    before = state.copy()
    assembler = Assembler(system)
    result = assembler.assemble(state)
    system.realize(state, Stage.POSITION)
    assert np.abs(state.qerr).max() == pytest.approx(result.error_norm, rel=1e-9)
    assert result.error_norm <= assembler.error_tolerance
    assert (result.method, result.has_converged, result.time) == ("Gauss-Newton", True, 0.7)
    assert result.num_iterations > 0
    assert state.time == 0.7
    np.testing.assert_array_equal(state.u, before.u)
    assert not np.array_equal(state.q, before.q)


def test_without_a_state_the_internal_state_is_moved_on() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    target = assembler.add_goal(QValue(linkage.crank, 0, 0.5))
    assembler.assemble()
    target.value = 0.6
    assembler.assemble()
    assert linkage.crank(assembler.internal_state) == pytest.approx(0.6, abs=1e-4)
    assert linkage.crank(state) == 0.4
    assembler.update_from_internal_state(state)
    np.testing.assert_array_equal(state.q, assembler.internal_state.q)


def test_a_start_that_is_satisfied_and_has_no_goal_is_not_left() -> None:
    _, system, state = four_bar()
    assembler = Assembler(system)
    assembler.assemble(state)
    before, version = state.q.copy(), state.variable("q").version(state)
    result = assembler.assemble(state)
    assert (result.method, result.has_converged) == ("unchanged", True)
    assert "unchanged" in str(result)
    np.testing.assert_array_equal(state.q, before)
    assert state.variable("q").version(state) == version, "what was computed from q is still valid"


def test_a_linkage_is_assembled_from_the_other_side() -> None:
    linkage, system, state = four_bar()
    state.q = [-2.5, 3.0, -3.0]
    assembler = Assembler(system)
    assembler.add_error(QValue(linkage.crank, 0, 1.0))
    result = assembler.assemble(state)
    assert result.error_norm <= assembler.error_tolerance
    assert linkage.crank(state) == pytest.approx(1.0, abs=1e-4)


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_a_state_that_is_satisfied_is_never_left_for_a_worse_goal(angles: list[float]) -> None:
    robot, system, state = arm()
    robot.angles.set(state, angles)
    tip = robot.tip(state)
    assembler = Assembler(system)
    assembler.add_error(Reach(robot, (float(tip[0]), float(tip[1]))))
    assembler.add_goal(Bend(robot))
    assembler.add_goal(QValue(robot.angles, 0, 0.5), 3.0)
    assembler.initialize(state)
    before = assembler.calc_current_goal()
    result = assembler.assemble(state)
    assert result.goal <= before
    assert result.error_norm <= assembler.error_tolerance
    assert np.abs(robot.tip(state) - tip).max() <= assembler.error_tolerance


def test_a_goal_that_depends_on_no_free_q_is_named() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.lock_mobilizer(linkage.crank)
    assembler.add_goal(QValue(linkage.crank, 0, 1.0, name="locked"))
    assembler.add_goal(QValue(linkage.rocker, 0, 1.0, name="free"))
    result = assembler.assemble(state)
    assert result.independent_goals == ("locked",)
    assert "no free q changes locked" in str(result)
    assert assembler.track().independent_goals == ("locked",)
    assembler.unlock_mobilizer(linkage.crank)
    assert assembler.assemble(state).independent_goals == ()


def test_a_goal_at_its_least_value_is_not_taken_for_one_that_depends_on_nothing() -> None:
    robot, system, state = arm()
    robot.angles.set(state, (0.0, 0.0, 0.0))
    assembler = Assembler(system)
    assembler.add_goal(Bend(robot))
    assembler.add_goal(QValue(robot.angles, 1, 0.0))
    result = assembler.assemble(state)
    assert (result.independent_goals, result.goal) == ((), 0.0)


def test_if_all_q_are_locked_and_satisfied_nothing_happens() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.assemble(state)
    assembler.lock_mobilizer(linkage.q)
    assembler.add_goal(QValue(linkage.crank, 0, 1.0))
    result = assembler.assemble(state)
    assert (result.method, result.independent_goals) == ("unchanged", ("QValue",))


# ---------------------------------------------------------------------- tracking


def test_tracking_follows_a_goal_that_changes() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    target = assembler.add_goal(QValue(linkage.crank, 0, 0.4))
    assembler.assemble(state)
    for angle in np.arange(0.4, 0.4 + 2 * np.pi, np.pi / 90):
        target.value = angle
        result = assembler.track()
        assert result.error_norm <= assembler.error_tolerance
        assert linkage.crank(assembler.internal_state) == pytest.approx(angle, abs=1e-3)
    assert assembler.statistics.num_initializations == 1


def test_tracking_sets_the_time_and_what_it_prescribes() -> None:
    linkage, system, state = four_bar()
    linkage.is_driven.set(state, True)
    state.time = 0.4
    assembler = Assembler(system)
    assembler.assemble(state)
    result = assembler.track(0.45)
    assert (result.time, assembler.internal_state.time) == (0.45, 0.45)
    assert linkage.crank(assembler.internal_state) == 0.45
    assert assembler.track().time == 0.45
    assembler.update_from_internal_state(state)
    assert state.time == 0.4, "only q are written"
    assert linkage.crank(state) == 0.45


def test_the_time_may_go_backwards() -> None:
    linkage, system, state = four_bar()
    linkage.is_driven.set(state, True)
    state.time = 0.4
    assembler = Assembler(system)
    assembler.set_internal_state(state)
    for time in (0.5, 0.3, -0.2, 0.3):
        assert assembler.track(time).error_norm <= assembler.error_tolerance
        assert linkage.crank(assembler.internal_state) == time


def test_an_assembler_can_be_pickled_with_its_conditions() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.add_error(Reach(robot, (1.0, 1.0)))
    result = assembler.assemble()
    twin = pickle.loads(pickle.dumps(assembler))
    assert repr(twin) == repr(assembler) == "<Assembler 'assembler' of 'arm', 3 free q>"
    assert twin.conditions[0].assembler is twin
    assert (twin.track().method, twin.track().error_norm) == ("unchanged", result.error_norm)
    with pytest.raises(ReadOnlyError):
        twin.internal_state.q = [0.0, 0.0, 0.0]


def test_tracking_begins_anew_if_something_was_changed() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.assemble(state)
    assembler.lock_mobilizer(linkage.crank)
    assembler.track()
    assert assembler.is_initialized
    assert assembler.num_free_qs == 2


# ---------------------------------------------------------------------- the internal State


def test_the_internal_state_is_only_for_reading() -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    assert assembler.state is assembler.internal_state
    with pytest.raises(ReadOnlyError, match="internal State of an Assembler"):
        assembler.internal_state.q = [0.0, 0.0, 0.0]
    assembler.assemble()
    with pytest.raises(ReadOnlyError, match="internal State of an Assembler"):
        assembler.internal_state.upd_q()
    system.realize(assembler.internal_state, Stage.VELOCITY)
    free = assembler.internal_state.copy()
    free.q = [0.0, 0.0, 0.0]


def test_it_becomes_a_copy_of_a_state_with_all_of_its_variables() -> None:
    linkage, system, state = four_bar()
    linkage.rocker_length.set(state, 1.75)
    state.time, state.u = 2.0, [1.0, 0.0, 0.0]
    assembler = Assembler(system)
    assembler.set_internal_state(state)
    assert not assembler.is_initialized
    assembler.initialize()
    internal = assembler.internal_state
    assert (linkage.rocker_length(internal), internal.time) == (1.75, 2.0)
    np.testing.assert_array_equal(internal.y, state.y)
    state.q = [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(internal.q, [0.4, 0.5, 1.4])


def test_quaternions_become_angles_inside_and_quaternions_again() -> None:
    system = MultibodySystem()
    head = system.matter.add_body("head", system.matter.ground, Ball())
    state = system.new_state()
    head.q.set(state, np.array([0.9, 0.1, 0.3, -0.2]) / np.linalg.norm([0.9, 0.1, 0.3, -0.2]))
    assembler = Assembler(system)
    assembler.add_error(QValue(head, 0, 0.3))
    assembler.assemble(state)
    assert assembler.internal_state.nq == 3
    assert assembler.matter is system.matter
    assert np.linalg.norm(head.q(state)) == pytest.approx(1.0)
    np.testing.assert_allclose(
        head.pose(state).matrix, head.pose(assembler.internal_state).matrix, atol=1e-12
    )
    assert head.q(assembler.internal_state)[0] == pytest.approx(0.3, abs=1e-4)


def test_quaternions_of_any_other_system_stay_of_length_1() -> None:
    class Body(Subsystem):
        orientation = q_variable((2.0, 0.0, 0.0, 0.0))
        spin = u_variable((0.0, 0.0, 0.0))
        turning = quaternion_kinematics(orientation, spin)
        unit = quaternion_normalization(orientation)

    body = Body()
    system = System(body)
    state = system.new_state()
    assembler = Assembler(system)
    assembler.add_goal(QValue(body.orientation, 1, 0.6))
    assembler.system_constraints_weight = 0.0
    result = assembler.assemble(state)
    assert result.error_norm <= assembler.error_tolerance
    assert np.linalg.norm(body.orientation(state)) == pytest.approx(1.0, abs=1e-4)
    assert body.orientation(state)[1] == pytest.approx(0.6, abs=1e-3)


def test_a_multibody_linkage_is_assembled_with_a_rod() -> None:
    system = MultibodySystem()
    bodies = [system.matter.ground]
    for i in range(3):
        place = Transform(None, [0.0, 1.0, 0.0])
        bodies.append(system.matter.add_body(f"arm {i}", bodies[-1], Pin(), outboard_frame=place))
    rod = RodConstraint(bodies[1], (0.5, 0.0, 0.0), bodies[3], (0.3, 0.0, 0.0), 1.2)
    system.add(rod, "rod")
    state = system.new_state()
    state.q = [0.1, 0.2, 0.3]
    result = Assembler(system).assemble(state)
    system.realize(state, Stage.POSITION)
    assert np.abs(state.qerr).max() <= 1e-4
    assert result.method == "Gauss-Newton"


# ---------------------------------------------------------------------- settings


def test_the_tolerance_is_a_tenth_of_the_accuracy_unless_it_is_set() -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    assert (assembler.accuracy, assembler.error_tolerance) == (1e-3, 1e-4)
    assembler.accuracy = 1e-5
    assert assembler.error_tolerance == pytest.approx(1e-6)
    assembler.error_tolerance = 0.2
    assert (assembler.accuracy, assembler.error_tolerance) == (1e-5, 0.2)
    assembler.accuracy = 0
    assert (assembler.accuracy, assembler.error_tolerance) == (1e-3, 0.2)
    assembler.error_tolerance = 0
    assert assembler.error_tolerance == pytest.approx(1e-4)


def test_settings_can_be_given_at_once() -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system, "closing", "2", accuracy=1e-6, error_tolerance=1e-9)
    assert (assembler.name, assembler.version, assembler.system) == ("closing", "2", system)
    assert (assembler.accuracy, assembler.error_tolerance) == (1e-6, 1e-9)
    assert isinstance(assembler, Study)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_errors_are_within_the_tolerance(tolerance: float) -> None:
    _, system, state = four_bar()
    assembler = Assembler(system, error_tolerance=tolerance)
    assert assembler.assemble(state).error_norm <= tolerance


def test_the_norm_of_errors_is_the_largest_or_the_root_of_the_mean_square() -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    norm = assembler.calc_current_error_norm()
    qerr = assembler.internal_state.qerr
    assert norm == np.abs(qerr).max()
    assembler.use_rms_error_norm = True
    assert assembler.calc_current_error_norm() == pytest.approx(np.sqrt(np.mean(qerr**2)))
    assert assembler.assemble().error_norm <= assembler.error_tolerance


@pytest.mark.parametrize("value", [-1e-3, 1.0, 2.0, nan, inf])
def test_an_accuracy_is_a_number_from_0_up_and_below_1(value: float) -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    with pytest.raises(OutOfRangeError, match=r"Assembler\.accuracy"):
        assembler.accuracy = value
    assert assembler.accuracy == 1e-3


@pytest.mark.parametrize("value", [-1e-3, nan, inf])
def test_a_tolerance_is_a_finite_number_from_0_up(value: float) -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    with pytest.raises(OutOfRangeError, match=r"Assembler\.error_tolerance"):
        assembler.error_tolerance = value
    assert assembler.error_tolerance == pytest.approx(1e-4)


@pytest.mark.parametrize(
    "name", ["use_rms_error_norm", "force_numerical_gradient", "force_numerical_jacobian"]
)
def test_a_switch_is_a_bool(name: str) -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    setattr(assembler, name, True)
    assert getattr(assembler, name) is True
    with pytest.raises(NotANumberError, match=f"Assembler\\({name}"):
        setattr(assembler, name, 1)
    assert getattr(assembler, name) is True


# ---------------------------------------------------------------------- counting, reporting


def test_what_is_done_is_counted() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    target = assembler.add_goal(QValue(linkage.crank, 0, 0.5))
    assert assembler.statistics == AssemblerStatistics()
    assert str(assembler.statistics) == "nothing was done yet"
    assembler.assemble()
    target.value = 0.6
    assembler.track()
    counts = assembler.statistics
    assert (counts.num_initializations, counts.num_assembly_steps) == (1, 2)
    assert counts.num_error_evals == counts.num_goal_evals > 2
    assert counts.num_error_jacobian_evals == counts.num_goal_gradient_evals > 1
    assert "assembly steps" in repr(counts)
    assembler.lock_mobilizer(linkage.crank)
    assembler.initialize()
    assert counts.num_initializations == 2
    assert counts.num_assembly_steps == counts.num_error_evals == 0
    counts.reset()
    assert counts == AssemblerStatistics()


def test_differences_are_counted_as_evaluations() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.add_goal(Bend(robot))
    assembler.assemble()
    counts = assembler.statistics
    assert counts.num_goal_evals >= 6 * counts.num_goal_gradient_evals > 0
    assert counts.num_error_evals == 0


def test_reporters_see_each_step_and_the_end() -> None:
    seen: list[tuple[float, ...]] = []

    def report(state: State) -> None:
        assert state.stage >= Stage.POSITION
        seen.append(tuple(state.q))

    _, system, state = four_bar()
    assembler = Assembler(system)
    assembler.add_reporter(report)
    result = assembler.assemble(state)
    assert len(seen) >= 2
    assert seen[-1] == tuple(state.q)
    assert len(set(seen)) <= result.num_iterations + 1
    assembler.track()
    assert seen[-1] == tuple(state.q)


def test_a_reporter_may_not_write_and_what_it_raises_ends_the_call() -> None:
    def meddle(state: State) -> None:
        state.q = [0.0, 0.0, 0.0]

    _, system, state = four_bar()
    before = state.q.copy()
    assembler = Assembler(system)
    assembler.add_reporter(meddle)
    with pytest.raises(ReadOnlyError, match="internal State"):
        assembler.assemble(state)
    np.testing.assert_array_equal(state.q, before)
    np.testing.assert_array_equal(assembler.internal_state.q, before)


# ---------------------------------------------------------------------- bad input


def test_what_is_no_system_is_refused() -> None:
    with pytest.raises(WrongTypeError, match="assembler"):
        Assembler(System)  # type: ignore[arg-type]  # is refused
    _, system, _ = arm()
    with pytest.raises(InvalidNameError):
        Assembler(system, 3)  # type: ignore[arg-type]  # is refused


def test_states_of_other_systems_are_refused() -> None:
    _, system, _ = four_bar()
    _, _, other = four_bar()
    assembler = Assembler(system)
    calls: list[Any] = [
        *(assembler.assemble, assembler.initialize, assembler.set_internal_state),
        assembler.update_from_internal_state,
    ]
    for call in calls:
        with pytest.raises(ForeignStateError):
            call(other)
        with pytest.raises(WrongTypeError):
            call(3)


def test_a_state_that_must_not_be_written_is_refused_at_once() -> None:
    _, system, state = four_bar()
    assembler = Assembler(system)
    for fixed in (system.default_state, state.frozen()):
        with pytest.raises(ReadOnlyError):
            assembler.assemble(fixed)
        with pytest.raises(ReadOnlyError):
            assembler.update_from_internal_state(fixed)
    assert assembler.statistics.num_assembly_steps == 0


def test_a_change_of_the_system_is_told() -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    assembler.assemble()
    other, _, _ = arm()
    system.add(type(other)())
    with pytest.raises(TopologyVersionError):
        assembler.assemble()
    with pytest.raises(TopologyVersionError):
        assembler.track()
    state = system.new_state()
    assert assembler.assemble(state).error_norm <= 1e-4


@pytest.mark.parametrize("time", [nan, inf])
def test_a_time_is_a_finite_number(time: float) -> None:
    _, system, _ = four_bar()
    assembler = Assembler(system)
    with pytest.raises(OutOfRangeError, match="track"):
        assembler.track(time)
    with pytest.raises(ShapeError):
        assembler.track([1.0, 2.0])  # type: ignore[arg-type]  # is refused
    assert assembler.internal_state.time == 0.0


def test_a_state_with_another_number_of_q_is_refused() -> None:
    class Chain(Subsystem):
        is_long = modeling_option(False)
        links = q_variable(factory=lambda self, state: [0.1] * (3 if self.is_long(state) else 2))

    chain = Chain()
    system = System(chain)
    state = system.new_state()
    assembler = Assembler(system)
    assembler.restrict_q(chain.links, 1, 0.5, 1.0)
    chain.is_long.set(state, True)
    with pytest.raises(ShapeError):
        assembler.update_from_internal_state(state)
    assembler.assemble(state)
    np.testing.assert_array_equal(state.q, [0.1, 0.5, 0.1])
    assembler.lock_q(chain.links, 2)
    with pytest.raises(UnknownItemError, match=r"q 2 of chain\.links"):
        assembler.initialize(system.default_state)
    assert not assembler.is_initialized


def test_a_system_without_bodies_has_no_matter() -> None:
    _, system, _ = arm()
    with pytest.raises(UnknownSubsystemError, match="has no matter"):
        _ = Assembler(system).matter


@pytest.mark.parametrize("reporter", [None, 3])
def test_what_cannot_be_called_is_no_reporter(reporter: Any) -> None:
    _, system, _ = arm()
    with pytest.raises(WrongTypeError):
        Assembler(system).add_reporter(reporter)
