"""How the Assembler fails: what it says, and that all is as it was."""

import math
import re

import numpy as np
import pytest

from stagecache import (
    Assembler,
    AssemblyCondition,
    QValue,
    State,
    Subsystem,
    System,
    position_error,
    q_variable,
    quaternion_kinematics,
    quaternion_normalization,
    u_variable,
)
from stagecache.errors import (
    AssembleFailed,
    AssemblyError,
    ConditionError,
    ReadOnlyError,
    TrackFailed,
)
from stagecache.multibody import MultibodySystem, Pin, RodConstraint, Transform
from tests.assembly.models import Array, Reach, ReachWithJacobian, arm, four_bar


def test_an_infeasible_closure_names_the_row_and_what_to_try() -> None:
    linkage, system, state = four_bar()
    linkage.ground.set(state, 9.0)
    before = state.q.copy()
    assembler = Assembler(system)
    with pytest.raises(AssembleFailed) as caught:
        assembler.assemble(state)
    error = caught.value
    assert re.match(
        r"assemble\(\): condition 'system constraints' is not satisfied: four_bar\.closure\[0\] is "
        r"-5",
        error.what,
    )
    assert error.expected == "errors whose largest is at most 0.0001"
    assert error.got.endswith("at best, with 3 free q")
    assert "check that a solution exists" in error.hint
    assert (error.condition, error.tolerance) == ("system constraints", 1e-4)
    assert error.error_norm == pytest.approx(5.0, rel=0.01), "the best that there is"
    np.testing.assert_array_equal(state.q, before)
    np.testing.assert_array_equal(assembler.internal_state.q, before)


def test_the_condition_that_is_violated_the_most_is_named() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.add_error(QValue(linkage.crank, 0, 0.3, name="target"))
    assembler.add_error(QValue(linkage.crank, 0, 0.9, name="other"))
    assembler.system_constraints_weight = 0.0
    with pytest.raises(AssembleFailed, match=r"'(target|other)' is not satisfied") as caught:
        assembler.assemble(state)
    assert caught.value.error_norm == pytest.approx(0.3, rel=0.02)


def test_if_all_q_are_locked_that_is_said() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.lock_mobilizer(linkage.q)
    with pytest.raises(AssembleFailed, match="with 0 free q") as caught:
        assembler.assemble(state)
    assert caught.value.hint == "no q is free: unlock one, or disable what prescribes it"


def test_locks_that_hinder_are_counted() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.lock_mobilizer(linkage.coupler)
    assembler.lock_mobilizer(linkage.rocker)
    with pytest.raises(AssembleFailed, match="unlock some of the 2 q"):
        assembler.assemble(state)


def test_an_error_that_no_free_q_changes_is_told_apart() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.assemble(state)
    assembler.add_error(QValue(linkage.crank, 0, 2.0))
    assembler.lock_mobilizer(linkage.crank)
    with pytest.raises(AssembleFailed, match="no free q changes it there"):
        assembler.assemble(state)


@pytest.mark.parametrize("factor", [-1.0, 0.0])
def test_a_jacobian_that_is_not_the_derivative_is_named_as_the_cause(factor: float) -> None:
    class Wrong(ReachWithJacobian):
        def calc_error_jacobian(self, state: State) -> Array:
            return factor * super().calc_error_jacobian(state)

    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.add_error(Wrong(robot, (0.5, 1.5)))
    before = state.q.copy()
    with pytest.raises(AssembleFailed, match="correct calc_error_jacobian of Wrong") as caught:
        assembler.assemble(state)
    assert "force_numerical_jacobian" in caught.value.hint
    np.testing.assert_array_equal(state.q, before)
    np.testing.assert_array_equal(assembler.internal_state.q, before)
    assembler.force_numerical_jacobian = True
    assert assembler.assemble(state).error_norm <= assembler.error_tolerance


class Belt(Subsystem):
    """Two wheels and a belt between them, of which the Jacobian has a wrong sign."""

    angles = q_variable((0.0, 0.5))  # rad
    rates = u_variable((0.0, 0.0))

    @position_error()
    def slip(self, state: State) -> float:
        """How far the second wheel is behind."""
        first, second = self.angles(state)
        return float(first - 2.0 * second)

    @slip.jacobian
    def slip_by_u(self, state: State) -> dict[object, Array]:
        """The second number should be -2."""
        return {self.rates: np.array([[1.0, 2.0]])}


def test_of_a_constraint_the_row_whose_jacobian_is_wrong_is_named() -> None:
    belt = Belt()
    system = System(belt)
    assembler = Assembler(system)
    assembler.lock_q(belt.angles, 0)
    with pytest.raises(AssembleFailed, match="correct the Jacobian of the constraint") as caught:
        assembler.assemble(system.new_state())
    assert "its row of belt.slip differs from" in caught.value.hint


class Upright(Subsystem):
    """A quaternion, whose scalar part should be more than it can be."""

    orientation = q_variable((0.6, 0.8, 0.0, 0.0))
    spin = u_variable((0.0, 0.0, 0.0))
    turning = quaternion_kinematics(orientation, spin)
    unit = quaternion_normalization(orientation)

    @position_error()
    def scalar(self, state: State) -> float:
        """From 2."""
        return float(self.orientation(state)[0] - 2.0)

    @scalar.jacobian
    def scalar_by_u(self, state: State) -> dict[object, Array]:
        """As long as the quaternion is of constant length."""
        return {self.spin: -0.5 * self.orientation(state)[None, 1:]}


def test_a_jacobian_that_keeps_the_length_of_a_quaternion_is_not_blamed() -> None:
    system = System(Upright())
    with pytest.raises(AssembleFailed, match=r"upright\.scalar") as caught:
        Assembler(system).assemble(system.new_state())
    assert "mend" not in caught.value.hint


def test_a_jacobian_that_is_right_or_not_used_is_not_blamed() -> None:
    for forced in (False, True):
        robot, system, state = arm()
        assembler = Assembler(system)
        assembler.force_numerical_jacobian = forced
        assembler.add_error(ReachWithJacobian(robot, (50.0, 1.5)))
        with pytest.raises(AssembleFailed, match="begin closer") as caught:
            assembler.assemble(state)
        assert "calc_error_jacobian" not in caught.value.hint


def test_bounds_that_hold_it_are_named() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.restrict_q(linkage.crank, 0, 0.0, 1.0)
    assembler.add_error(QValue(linkage.crank, 0, 2.0))
    with pytest.raises(AssembleFailed, match="loosen the bounds of q 0") as caught:
        assembler.assemble(state)
    assert caught.value.error_norm == pytest.approx(1.0, abs=0.01)


def test_the_root_of_the_mean_square_is_called_so() -> None:
    linkage, system, state = four_bar()
    linkage.ground.set(state, 9.0)
    assembler = Assembler(system)
    assembler.use_rms_error_norm = True
    with pytest.raises(AssembleFailed, match="whose root of the mean square is at most"):
        assembler.assemble(state)


def test_tracking_that_fails_leaves_the_internal_state_where_it_was_also_in_time() -> None:
    linkage, system, state = four_bar()
    linkage.is_driven.set(state, True)
    state.time = 0.4
    assembler = Assembler(system)
    assembler.lock_mobilizer(linkage.coupler)
    with pytest.raises(AssembleFailed):
        assembler.assemble(state)
    assembler.unlock_mobilizer(linkage.coupler)
    assembler.assemble(state)
    assembler.lock_mobilizer(linkage.coupler)
    assembler.assemble(state)
    before = assembler.internal_state.q.copy()
    with pytest.raises(TrackFailed, match=r"track\(\): condition 'system constraints'") as caught:
        assembler.track(1.5)
    assert isinstance(caught.value, AssemblyError)
    np.testing.assert_array_equal(assembler.internal_state.q, before)
    assert assembler.internal_state.time == 0.4
    assert assembler.calc_current_error_norm() <= assembler.error_tolerance
    assert assembler.track(0.4).error_norm <= assembler.error_tolerance


def test_a_goal_that_is_not_finite_later_is_told() -> None:
    class Blind(Reach):
        is_blind = False

        def calc_errors(self, state: State) -> Array:
            return super().calc_errors(state) * (np.nan if self.is_blind else 1.0)

    robot, system, _ = arm()
    assembler = Assembler(system)
    reach = assembler.add_goal(Blind(robot, (1.0, 1.0)))
    assembler.assemble()
    before = assembler.internal_state.q.copy()
    reach.is_blind = True
    with pytest.raises(TrackFailed, match="the goal is not finite"):
        assembler.track()
    np.testing.assert_array_equal(assembler.internal_state.q, before)


def test_a_start_from_which_gauss_newton_does_not_get_on_is_assembled_by_another_method() -> None:
    robot, system, state = arm()
    robot.angles.set(state, (0.0, 0.0, 0.0))  # where no angle changes how far the tip is
    assembler = Assembler(system)
    assembler.add_error(Reach(robot, (-1.0, 0.0)))
    result = assembler.assemble(state)
    assert result.error_norm <= assembler.error_tolerance
    assert result.method in ("SciPy", "restarts")


def test_restarts_keep_bounds() -> None:
    robot, system, state = arm()
    robot.angles.set(state, (0.0, 0.0, 0.0))
    assembler = Assembler(system)
    assembler.restrict_q(robot.angles, 0, -0.5, 3.0)
    assembler.restrict_q(robot.angles, 1, -0.1, 2.8)
    assembler.add_error(Reach(robot, (-1.0, 0.0)))
    result = assembler.assemble(state)
    assert result.error_norm <= assembler.error_tolerance
    assert -0.5 <= robot.angles(state)[0] <= 3.0
    assert -0.1 <= robot.angles(state)[1] <= 2.8


def test_errors_that_are_not_numbers_later_are_told() -> None:
    class Blind(Reach):
        is_blind = False

        def calc_errors(self, state: State) -> Array:
            return super().calc_errors(state) * (np.nan if self.is_blind else 1.0)

    robot, system, _ = arm()
    assembler = Assembler(system)
    reach = assembler.add_error(Blind(robot, (1.0, 1.0)))
    assembler.assemble()
    reach.is_blind = True
    with pytest.raises(TrackFailed, match=r"reach\[0\] is nan") as caught:
        assembler.track()
    assert caught.value.hint == "look at Blind.calc_errors, and at its observations"


def test_a_goal_that_is_finite_at_the_start_only_is_no_result() -> None:
    class Here(AssemblyCondition):
        def calc_goal(self, state: State) -> float:
            return 1.0 if abs(state.q[0] - 0.3) < 1e-9 else np.nan

    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.add_goal(Here("here"))
    result = assembler.assemble(state)
    assert (result.goal, result.method) == (1.0, "unchanged")
    assembler.add_error(Reach(robot, (1.0, 1.0)))
    with pytest.raises(AssembleFailed):
        assembler.assemble(state)
    np.testing.assert_array_equal(state.q, [0.3, 0.4, 0.5])


def test_of_conditions_with_one_name_the_row_tells_which_it_is() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    assembler.add_error(QValue(robot.angles, 0, 1.0))
    assembler.add_error(QValue(robot.angles, 1, 2.0))
    assembler.lock_q(robot.angles, 1)
    with pytest.raises(
        AssembleFailed, match=r"'QValue' is not satisfied: q 1 of arm\.angles - 2 is -1\.6"
    ) as caught:
        assembler.assemble()
    assert caught.value.hint.startswith("no free q changes it there")


def test_a_tolerance_below_rounding_is_told() -> None:
    class Rough(Reach):
        def calc_errors(self, state: State) -> Array:
            return super().calc_errors(state) + 1e-13

    robot, system, _ = arm()
    assembler = Assembler(system, error_tolerance=1e-300)
    assembler.add_error(Rough(robot, (math.sqrt(2), 1.0)))
    with pytest.raises(AssembleFailed) as caught:
        assembler.assemble()
    assert caught.value.hint.startswith("raise error_tolerance: 1e-300")


@pytest.mark.parametrize("at", [1, 2, 5, 9])
def test_an_interruption_leaves_all_as_it_was(at: int) -> None:
    class Interrupted(Reach):
        calls = 0

        def calc_errors(self, state: State) -> Array:
            self.calls += 1
            if self.calls == at:
                raise KeyboardInterrupt
            return super().calc_errors(state)

    robot, system, state = arm()
    before = state.q.copy()
    assembler = Assembler(system)
    assembler.add_error(Interrupted(robot, (1.0, 1.0)))
    with pytest.raises(KeyboardInterrupt):
        assembler.assemble(state)
    np.testing.assert_array_equal(state.q, before)
    np.testing.assert_array_equal(assembler.internal_state.q, before)
    with pytest.raises(ReadOnlyError):
        assembler.internal_state.q = before
    assert assembler.assemble(state).error_norm <= assembler.error_tolerance


def test_a_start_that_is_no_place_is_told_by_the_row_that_it_makes_nan() -> None:
    _, system, state = four_bar()
    state.q = [np.nan, 0.5, 1.4]
    with pytest.raises(ConditionError, match=r"calc_errors\(\) returns") as caught:
        Assembler(system).assemble(state)
    assert caught.value.got == "four_bar.closure[0] is nan"


def test_a_lock_that_hinders_and_a_drive_are_counted_together() -> None:
    linkage, system, state = four_bar()
    linkage.is_driven.set(state, True)
    linkage.rocker.set(state, -1.5)
    state.time = 0.3
    assembler = Assembler(system)
    assembler.lock_q(linkage.rocker)
    with pytest.raises(AssembleFailed, match="with 1 free q") as caught:
        assembler.assemble(state)
    assert "some of the 2 q that are locked or prescribed" in caught.value.hint


def test_a_loop_that_is_too_short_is_said_to_be_so_also_where_it_is_stretched_out() -> None:
    """There no q changes its error, and none is locked: to unlock one would be no hint."""
    system = MultibodySystem()
    crank = system.matter.add_body("crank", system.matter.ground, Pin())
    bar = system.matter.add_body("bar", crank, Pin(), inboard_frame=Transform(None, [0.5, 0, 0]))
    rod = RodConstraint(bar, [1.2, 0, 0], system.matter.ground, [4, 0, 0], 1.0)
    system.add(rod, "rod")
    with pytest.raises(AssembleFailed) as caught:
        Assembler(system).assemble(system.new_state())
    assert "no free q changes it there" in caught.value.hint
    assert "unlock" not in caught.value.hint
    assert "check that a solution exists" in caught.value.hint
