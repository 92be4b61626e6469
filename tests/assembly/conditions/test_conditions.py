"""Conditions: errors, goals and ignored ones; derivatives; what is refused."""

import copy
import math
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Assembler, AssemblyCondition, QValue, State, System
from stagecache.errors import (
    ConditionError,
    ForeignNodeError,
    InvalidNameError,
    NotANumberError,
    OutOfRangeError,
    ReadOnlyError,
    ShapeError,
    StudyError,
    UnknownItemError,
    UnknownMobilizerError,
    WrongTypeError,
)
from tests.assembly.models import (
    Arm,
    Array,
    Bend,
    BendWithGradient,
    Reach,
    ReachWithJacobian,
    arm,
    four_bar,
)

ANGLES = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3)


def test_a_condition_with_weight_infinity_is_satisfied_to_the_tolerance() -> None:
    robot, system, state = arm()
    assembler = Assembler(system)
    reach = assembler.add_error(Reach(robot, (1.0, 1.0)))
    result = assembler.assemble(state)
    assert assembler.condition_weight(reach) == inf
    assert np.abs(reach.calc_errors(state)).max() <= assembler.error_tolerance
    assert (result.goal, float(result)) == (0.0, 0.0)


def test_a_condition_with_a_finite_weight_is_only_approached() -> None:
    robot, system, state = arm()
    assembler = Assembler(system)
    reach = assembler.add_goal(Reach(robot, (5.0, 0.0)), 3.0)
    result = assembler.assemble(state)
    assert result.goal == pytest.approx(3.0 * 2.0**2 / 2, rel=1e-3)
    assert result.goal == pytest.approx(3.0 * reach.calc_goal(state))
    assert result.error_norm == 0.0


def test_a_condition_with_weight_0_is_ignored_and_not_evaluated() -> None:
    class Never(AssemblyCondition):
        def calc_errors(self, state: State) -> Array:
            raise AssertionError("it was evaluated")

    _, system, state = arm()
    assembler = Assembler(system)
    assembler.add_goal(Never("never"), 0.0)
    assert assembler.assemble(state).goal == 0.0
    assert assembler.statistics.num_goal_evals == 0


def test_goals_are_added_with_their_weights() -> None:
    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.lock_mobilizer(robot.angles)
    assembler.add_goal(QValue(robot.angles, 0, 0.0), 2.0)
    assembler.add_goal(QValue(robot.angles, 1, 0.0), 10.0)
    assembler.add_goal(Bend(robot))
    expected = 0.5 * (2.0 * 0.3**2 + 10.0 * 0.4**2) + np.sum(1 - np.cos([0.3, 0.4, 0.5]))
    assert assembler.calc_current_goal() == pytest.approx(expected)
    assert assembler.assemble(state).goal == pytest.approx(expected)


def test_between_two_goals_weights_decide() -> None:
    robot, system, state = arm()
    assembler = Assembler(system, accuracy=1e-6)
    assembler.add_goal(QValue(robot.angles, 0, 0.0), 1.0)
    assembler.add_goal(QValue(robot.angles, 0, 1.0), 3.0)
    assembler.assemble(state)
    assert robot.angles(state)[0] == pytest.approx(0.75)


def test_constraints_of_the_system_are_errors_at_first() -> None:
    _, system, state = four_bar()
    assembler = Assembler(system)
    assert assembler.system_constraints_weight == inf
    assert assembler.conditions == ()
    assert assembler.calc_current_error_norm() > 0.01
    assert assembler.assemble(state).error_norm <= 1e-4


def test_constraints_of_the_system_can_be_a_goal_or_be_ignored() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    assembler.add_error(QValue(linkage.crank, 0, 1.0))
    assembler.system_constraints_weight = 2.0
    goal = assembler.calc_current_goal()
    qerr = assembler.internal_state.qerr
    assert goal == pytest.approx(2.0 * qerr @ qerr / 2)
    result = assembler.assemble(state)
    assert result.goal < 1e-6
    assembler.system_constraints_weight = 0.0
    result = assembler.assemble(state)
    assert (result.goal, result.method) == (0.0, "unchanged")


def test_a_constraint_that_is_switched_off_is_not_satisfied() -> None:
    linkage, system, state = four_bar()
    linkage.is_closed.set(state, False)
    assembler = Assembler(system)
    assert assembler.assemble(state).method == "unchanged"
    linkage.is_closed.set(state, True)
    assert assembler.assemble(state).method == "Gauss-Newton"


def test_a_goal_can_become_an_error_and_back() -> None:
    linkage, system, state = four_bar()
    assembler = Assembler(system)
    target = assembler.add_goal(QValue(linkage.crank, 0, 1.0), 5.0)
    assembler.set_condition_weight(target, inf)
    result = assembler.assemble(state)
    assert (result.goal, result.error_norm <= 1e-4) == (0.0, True)
    assembler.set_condition_weight(target, 5.0)
    target.value = 1.5
    assert assembler.assemble(state).goal < 1e-6


def test_a_weight_that_stays_finite_needs_no_new_beginning() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system, accuracy=1e-8)
    one = assembler.add_goal(QValue(linkage.crank, 0, 0.0))
    assembler.add_goal(QValue(linkage.crank, 0, 1.0))
    assembler.assemble()
    assembler.set_condition_weight(one, 3.0)
    assert assembler.is_initialized
    assembler.track()
    assert linkage.crank(assembler.internal_state) == pytest.approx(0.25, abs=1e-4)
    for weight in (inf, 0.0, 1.0):
        assembler.initialize()
        assembler.set_condition_weight(one, weight)
        assert not assembler.is_initialized


# ---------------------------------------------------------------------- derivatives


@given(ANGLES)
def test_conditions_without_derivatives_come_to_the_same_as_those_with(angles: list[float]) -> None:
    found = []
    for reach, bend in ((Reach, Bend), (ReachWithJacobian, BendWithGradient)):
        robot, system, state = arm()
        robot.angles.set(state, angles)
        assembler = Assembler(system, accuracy=1e-6)
        assembler.initialize(state)
        assembler.add_error(reach(robot, (1.0, 1.2)))
        assembler.add_goal(bend(robot), 0.5)
        assembler.add_goal(reach(robot, (1.2, 1.2), "second"), 2.0)
        assembler.initialize()
        problem = assembler._prepared("the problem")
        point, derivatives = problem.move_to(problem.x), problem.derivatives()
        found.append((point, derivatives))
    for (one, by_one), (other, by_other) in [found]:
        assert one.goal == other.goal
        assert by_one.other_gradient is not None
        assert by_other.other_gradient is not None
        np.testing.assert_allclose(by_one.error_jacobian, by_other.error_jacobian, atol=1e-8)
        np.testing.assert_allclose(by_one.residual_jacobian, by_other.residual_jacobian, atol=1e-8)
        np.testing.assert_allclose(by_one.other_gradient, by_other.other_gradient, atol=1e-8)


def test_derivatives_are_found_by_differences_if_that_is_wanted() -> None:
    class Wrong(ReachWithJacobian):
        def calc_error_jacobian(self, state: State) -> Array:
            return -super().calc_error_jacobian(state)

    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.add_error(Wrong(robot, (1.0, 1.0)))
    assembler.force_numerical_jacobian = True
    assert assembler.assemble(state).method == "Gauss-Newton"
    assembler = Assembler(system)
    assembler.add_goal(Wrong(robot, (1.0, 1.0)))
    assembler.force_numerical_gradient = True
    assert assembler.assemble(state).goal < 1e-8


def test_a_goal_from_errors_is_the_mean_of_their_squares() -> None:
    robot, _, state = arm()
    reach = Reach(robot, (0.0, 0.0))
    errors = reach.calc_errors(state)
    assert reach.calc_goal(state) == pytest.approx(errors @ errors / 2)
    residuals = reach.calc_goal_residuals(state)
    assert residuals @ residuals / 2 == pytest.approx(reach.calc_goal(state))


def test_the_goal_of_a_q_value_is_half_the_square() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    target = assembler.add_goal(QValue(linkage.crank, 0, 1.0))
    assembler.initialize()
    assert target.calc_goal(assembler.internal_state) == pytest.approx(0.5 * 0.6**2)
    assert target.error_names(assembler.internal_state) == ["q 0 of four_bar.crank - 1"]
    assert target.calc_error_jacobian(assembler.internal_state).tolist() == [[1.0, 0.0, 0.0]]


def test_conditions_are_told_when_the_assembler_is_initialized() -> None:
    class Told(Reach):
        told: tuple[str, ...] = ()

        def initialize_condition(self) -> None:
            self.told += (f"{self.num_free_qs} free",)

        def uninitialize_condition(self) -> None:
            self.told += ("forget",)

        def check_observations(self) -> None:
            self.told += ("frame",)

    robot, system, _ = arm()
    assembler = Assembler(system)
    told = assembler.add_goal(Told(robot, (1.0, 1.0)))
    assembler.lock_q(robot.angles, 0)
    assembler.assemble()
    assembler.track()
    told.uninitialize_assembler()
    assert told.told == ("2 free", "frame", "frame", "forget")
    assert not assembler.is_initialized


def test_a_condition_whose_state_is_read_early_is_not_given_a_later_one() -> None:
    stages = []

    class Early(Reach):
        needs = QValue.needs

        def calc_errors(self, state: State) -> Array:
            stages.append(state.stage)
            return super().calc_errors(state)

    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.add_error(Early(robot, (1.0, 1.0)))
    assembler.assemble(state)
    assert max(stages) == QValue.needs


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("weight", [nan, -1.0, -inf])
def test_what_is_no_weight_is_refused_by_the_name_of_the_condition(weight: float) -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    with pytest.raises(OutOfRangeError, match="weight of condition 'QValue'"):
        assembler.add_goal(QValue(linkage.crank, 0, 1.0), weight)
    assert assembler.conditions == ()
    target = assembler.add_goal(QValue(linkage.crank, 0, 1.0))
    with pytest.raises(OutOfRangeError, match="weight of condition 'QValue'"):
        assembler.set_condition_weight(target, weight)
    with pytest.raises(OutOfRangeError, match="weight of condition 'system constraints'"):
        assembler.system_constraints_weight = weight
    assert assembler.condition_weight(target) == 1.0


def test_weights_that_are_no_numbers_are_refused() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    with pytest.raises(NotANumberError):
        assembler.add_goal(QValue(linkage.crank, 0, 1.0), "much")  # type: ignore[arg-type]  # is refused
    with pytest.raises(ShapeError):
        assembler.add_goal(QValue(linkage.crank, 0, 1.0), [1.0])  # type: ignore[arg-type]  # is refused


def test_a_condition_with_a_goal_only_is_no_error() -> None:
    robot, system, _ = arm()
    assembler = Assembler(system)
    with pytest.raises(ConditionError, match="'bend': has no errors"):
        assembler.add_error(Bend(robot))
    bend = assembler.add_goal(Bend(robot))
    with pytest.raises(ConditionError, match="'bend': has no errors"):
        assembler.set_condition_weight(bend, inf)
    assert assembler.condition_weight(bend) == 1.0
    with pytest.raises(ConditionError, match="'bend': has no errors"):
        bend.calc_errors(assembler.internal_state)


def test_a_condition_with_neither_errors_nor_goal_is_refused() -> None:
    _, system, _ = arm()
    with pytest.raises(ConditionError, match="neither errors nor a goal"):
        Assembler(system).add_goal(AssemblyCondition("nothing"))


@pytest.mark.parametrize("condition", [None, 3, "reach", QValue])
def test_what_is_no_condition_is_refused(condition: Any) -> None:
    _, system, _ = arm()
    assembler = Assembler(system)
    with pytest.raises(WrongTypeError):
        assembler.add_error(condition)
    with pytest.raises(WrongTypeError):
        assembler.condition_weight(condition)


def test_a_condition_is_in_one_assembler_only() -> None:
    linkage, system, _ = four_bar()
    first, second = Assembler(system), Assembler(system)
    target = first.add_goal(QValue(linkage.crank, 0, 1.0))
    with pytest.raises(ConditionError, match="is in an Assembler already"):
        second.add_goal(target)
    with pytest.raises(ConditionError, match="is in an Assembler already"):
        first.add_goal(target)
    with pytest.raises(WrongTypeError, match="one of another Assembler"):
        second.set_condition_weight(target, 1.0)


def test_a_condition_of_another_system_is_refused() -> None:
    linkage, _, _ = four_bar()
    _, other, _ = four_bar()
    assembler = Assembler(other)
    target = QValue(linkage.crank, 0, 1.0)
    with pytest.raises(ForeignNodeError, match="condition 'QValue': belongs to another System"):
        assembler.add_goal(target)
    assert not target.is_in_assembler
    assert assembler.conditions == ()


def test_a_q_value_of_what_is_not_there_is_refused() -> None:
    linkage, system, _ = four_bar()
    assembler = Assembler(system)
    with pytest.raises(UnknownMobilizerError, match="mobilizer of condition 'QValue'"):
        assembler.add_goal(QValue("crank", 0, 1.0))
    assembler.add_goal(QValue(linkage.crank, 1, 1.0))
    with pytest.raises(UnknownItemError):
        assembler.initialize()
    assert not assembler.is_initialized


@pytest.mark.parametrize("value", [nan, inf])
def test_a_q_value_that_is_not_finite_is_refused(value: float) -> None:
    linkage, _, _ = four_bar()
    target = QValue(linkage.crank, 0, 1.0)
    with pytest.raises(OutOfRangeError, match="value of condition 'QValue'"):
        target.value = value
    assert target.value == 1.0


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_condition_has_a_name(name: Any) -> None:
    with pytest.raises(InvalidNameError):
        AssemblyCondition(name)


def test_a_condition_in_no_assembler_knows_no_free_q() -> None:
    robot, system, _ = arm()
    reach = Reach(robot, (1.0, 1.0))
    with pytest.raises(StudyError, match="not in an Assembler"):
        _ = reach.assembler
    with pytest.raises(StudyError, match="the free q are not known"):
        _ = reach.num_free_qs
    Assembler(system).add_goal(reach)
    with pytest.raises(StudyError, match="call assembler"):
        reach.by_free_q(np.eye(3))
    with pytest.raises(ConditionError, match="observes nothing"):
        reach.move_all_observations([1.0])


class Returning(AssemblyCondition):
    """Whatever it is given."""

    def __init__(self, errors: Any, jacobian: Any = None) -> None:
        super().__init__("given")
        self.given = errors, jacobian

    def calc_errors(self, state: State) -> Array:
        return self.given[0]  # type: ignore[no-any-return]  # it may be anything

    def calc_error_jacobian(self, state: State) -> Array:
        return self.given[1]  # type: ignore[no-any-return]  # likewise


@pytest.mark.parametrize(
    ("errors", "jacobian"),
    [
        (0.0, None),
        ([0.0], None),
        (np.zeros((1, 1)), None),
        (np.zeros(1, int), None),
        (np.array([nan]), None),
        (np.zeros(1), np.zeros(3)),
        (np.zeros(1), np.zeros((1, 2))),
        (np.zeros(2), np.zeros((1, 3))),
        (np.zeros(1), np.full((1, 3), inf)),
    ],
)
def test_what_a_condition_returns_has_to_fit(errors: Any, jacobian: Any) -> None:
    _, system, state = arm()
    before = state.q.copy()
    for as_error in (True, False):
        assembler = Assembler(system)
        given = Returning(errors, jacobian)
        if not as_error and not isinstance(errors, np.ndarray):
            continue  # of which the residuals are computed
        assembler.add_error(given) if as_error else assembler.add_goal(given)
        with pytest.raises(ConditionError, match="condition 'given': calc_"):
            assembler.assemble(state)
        np.testing.assert_array_equal(state.q, before)
        np.testing.assert_array_equal(assembler.internal_state.q, before)


@pytest.mark.parametrize("errors", [0.0, [0.0], (0.0,)])
def test_numbers_that_are_in_no_array_are_told_to_be_put_in_one(errors: Any) -> None:
    _, system, state = arm()
    assembler = Assembler(system)
    assembler.add_error(Returning(errors, None))
    with pytest.raises(ConditionError, match="return a numpy array of floats; look at Returning"):
        assembler.assemble(state)


@pytest.mark.parametrize("goal", [-1.0, nan, "small", np.zeros(2)])
def test_a_goal_is_a_number_from_0_up(goal: Any) -> None:
    class Given(AssemblyCondition):
        def calc_goal(self, state: State) -> float:
            return goal  # type: ignore[no-any-return]  # it may be anything

    _, system, _ = arm()
    assembler = Assembler(system)
    assembler.add_goal(Given("given"))
    with pytest.raises((ConditionError, ValueError, TypeError)) as caught:
        assembler.assemble()
    assert isinstance(caught.value, ConditionError)
    assert "condition 'given': calc_goal()" in str(caught.value)


class Well(AssemblyCondition):
    """A goal that is negative farther down."""

    def __init__(self, arm: Arm, depth: float) -> None:
        super().__init__("well")
        self.arm, self.depth = arm, depth

    def calc_goal(self, state: State) -> float:
        return float(np.sum(1 - np.cos(self.arm.angles(state) - 1.0)) - self.depth)


@pytest.mark.parametrize("depth", [1e-6, 1e-3, 0.5])
@pytest.mark.parametrize("numerical", [False, True])
def test_a_goal_that_is_negative_where_it_leads_is_refused_by_name(
    depth: float, numerical: bool
) -> None:
    one, system, state = arm()
    one.angles.set(state, one.angles(state) + 0.5)
    before = state.q.copy()
    assembler = Assembler(system)
    assembler.force_numerical_gradient = numerical
    assembler.add_goal(Well(one, depth), 3.0)
    with pytest.raises(ConditionError, match=r"condition 'well': calc_goal\(\)") as caught:
        assembler.assemble(state)
    assert "add a constant" in str(caught.value)
    np.testing.assert_array_equal(state.q, before)
    np.testing.assert_array_equal(assembler.internal_state.q, before)


def test_a_goal_that_is_negative_by_rounding_only_is_taken_as_zero() -> None:
    one, system, state = arm()
    assembler = Assembler(system)
    assembler.add_goal(Well(one, 1e-15))
    result = assembler.assemble(state)
    assert 0.0 <= result.goal < 1e-6


def test_the_goal_of_a_condition_with_residuals_is_not_negative_either() -> None:
    class Both(Well):
        def calc_goal_residuals(self, state: State) -> Array:
            return np.asarray(self.arm.angles(state) - 1.0)

    one, system, state = arm()
    assembler = Assembler(system)
    assembler.add_goal(Both(one, 100.0))
    with pytest.raises(ConditionError, match=r"condition 'well': calc_goal\(\)"):
        assembler.assemble(state)


@pytest.mark.parametrize("errors", [np.ma.array([0.5, 1.0], mask=[False, True])])
def test_a_masked_array_that_a_condition_returns_is_refused_by_name(errors: Any) -> None:
    _, system, state = arm()
    assembler = Assembler(system)
    assembler.add_error(Returning(errors))
    with pytest.raises(NotANumberError, match=r"condition 'given': .*calc_errors.* masked"):
        assembler.assemble(state)


def test_what_a_condition_raises_comes_through_and_changes_nothing() -> None:
    class Fails(Reach):
        calls = 0

        def calc_errors(self, state: State) -> Array:
            self.calls += 1
            if self.calls > 5:
                raise ArithmeticError("too often")
            return super().calc_errors(state)

    robot, system, state = arm()
    before = state.q.copy()
    assembler = Assembler(system)
    assembler.add_error(Fails(robot, (1.0, 1.0)))
    with pytest.raises(ArithmeticError, match="too often"):
        assembler.assemble(state)
    np.testing.assert_array_equal(state.q, before)
    np.testing.assert_array_equal(assembler.internal_state.q, before)


def test_a_system_of_two_arms_is_told_apart() -> None:
    one, _, _ = arm()
    system = System(left=type(one)(), right=type(one)())
    state = system.new_state()
    assembler = Assembler(system)
    assembler.add_error(QValue("right.angles", 2, 1.0))
    assembler.assemble(state)
    np.testing.assert_allclose(state.q, [0.3, 0.4, 0.5, 0.3, 0.4, 1.0], atol=1e-4)


# ---------------------------------------------------------------------- careless conditions


class Reusing(Reach):
    """It returns the same array each time."""

    def __init__(self, one: Any) -> None:
        super().__init__(one, (1.0, 1.0))
        self.array = np.zeros(2)

    def calc_errors(self, state: State) -> Array:
        self.array[:] = super().calc_errors(state)
        return self.array


class Straight(Reach):
    """All angles are to be 0; it returns a view of the State."""

    def calc_errors(self, state: State) -> Array:
        return self.arm.angles(state)


@pytest.mark.parametrize("as_error", [True, False])
def test_arrays_that_change_later_are_copied(as_error: bool) -> None:
    robot, system, state = arm()
    for condition in (Reusing(robot), Straight(robot, (3.0, 0.0))):
        assembler = Assembler(system, accuracy=1e-6)
        assembler.add_error(condition) if as_error else assembler.add_goal(condition)
        start = state.copy()
        assembler.assemble(start)
        np.testing.assert_allclose(robot.tip(start), condition.place, atol=1e-4)


@pytest.mark.parametrize("name", ["q", "time"])
def test_a_condition_may_not_write_the_state(name: str) -> None:
    class Writes(Reach):
        is_writing = False

        def calc_errors(self, state: State) -> Array:
            if self.is_writing:
                setattr(state, name, 0.0 * getattr(state, name) + 3.0)
            return super().calc_errors(state)

    robot, system, state = arm()
    assembler = Assembler(system)
    writes = assembler.add_error(Writes(robot, (1.0, 1.0)))
    assembler.assemble(state)
    writes.is_writing = True
    with pytest.raises(ReadOnlyError, match="internal State"):
        assembler.track()
    np.testing.assert_array_equal(assembler.internal_state.q, state.q)
    with pytest.raises(ReadOnlyError, match="internal State") as caught:
        assembler.assemble(state)
    assert "in condition 'reach'" in caught.value.__notes__


def test_a_condition_of_another_system_that_does_not_check_it_is_named_when_it_is_read() -> None:
    robot, _, _ = arm()
    _, other, _ = arm()
    assembler = Assembler(other)
    assembler.add_error(Reach(robot, (1.0, 1.0)))
    for call in (assembler.assemble, assembler.track):
        with pytest.raises(ForeignNodeError) as caught:
            call()
        assert caught.value.__notes__ == ["in condition 'reach'"]


def test_what_a_condition_returns_has_to_fit_for_tracking_too() -> None:
    _, system, _ = arm()
    assembler = Assembler(system)
    assembler.add_error(Returning([0.0]))
    with pytest.raises(ConditionError, match="condition 'given': calc_errors"):
        assembler.track()


def test_a_condition_that_does_not_call_the_init_of_its_base_is_refused() -> None:
    class Nameless(AssemblyCondition):
        def __init__(self) -> None:
            pass

        def calc_errors(self, state: State) -> Array:
            return np.zeros(1)

    _, system, _ = arm()
    assembler = Assembler(system)
    with pytest.raises(ConditionError, match="class Nameless: has no name yet"):
        assembler.add_error(Nameless())
    assert assembler.conditions == ()


def test_a_condition_that_may_be_equal_to_another_is_refused() -> None:
    @dataclass
    class Data(AssemblyCondition):
        value: float

        def __post_init__(self) -> None:
            super().__init__("data")

        def calc_errors(self, state: State) -> Array:
            return np.array([self.value])

    _, system, _ = arm()
    assembler = Assembler(system)
    data = Data(0.0)
    with pytest.raises(ConditionError, match="'data': may be equal to another one"):
        assembler.add_error(data)
    assert not data.is_in_assembler


def test_differences_are_not_taken_beyond_bounds() -> None:
    class Root(AssemblyCondition):
        def __init__(self, index: int) -> None:
            super().__init__(f"root {index}")
            self.index = index

        def calc_errors(self, state: State) -> Array:
            return np.array([math.sqrt(state.q[self.index] - 0.3) - 0.2])

    robot, system, state = arm()
    assembler = Assembler(system)
    assembler.restrict_q(robot.angles, 1, 0.3, 0.5)
    assembler.restrict_q(robot.angles, 2, 0.0, 0.34)
    for index in (1, 2):
        assembler.add_error(Root(index))
    assembler.restrict_q(robot.angles, 0, 0.3, 0.3)
    assembler.assemble(state)
    np.testing.assert_allclose(robot.angles(state), (0.3, 0.34, 0.34), atol=1e-4)


def test_a_goal_that_cannot_be_evaluated_beside_the_start_is_not_called_independent() -> None:
    class Narrow(AssemblyCondition):
        def calc_goal_residuals(self, state: State) -> Array:
            if abs(state.q[0] - 0.3) > 0.01:
                raise ArithmeticError("too far")
            return state.q[:1] - 0.301

    _, system, _ = arm()
    assembler = Assembler(system)
    assembler.add_goal(Narrow("narrow"))
    result = assembler.assemble()
    assert result.independent_goals == ()
    assert result.goal <= 1e-12


def test_an_assembler_is_not_copied_with_its_conditions() -> None:
    _, system, _ = arm()
    with pytest.raises(ConditionError, match="assembler: cannot be copied"):
        copy.copy(Assembler(system))
