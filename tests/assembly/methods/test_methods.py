"""The methods that `assemble` tries one after the other, on problems of its own."""

import math

import numpy as np
import pytest

from stagecache import Assembler, AssemblyCondition, QValue, State, System
from stagecache.assembly.methods.assembling import assembled, is_better, tracked
from stagecache.assembly.methods.library import by_library, descent_of
from stagecache.assembly.methods.restarts import by_restarts
from stagecache.assembly.problem.problem import NONE, Point, Problem
from stagecache.numerics.sqp import Descent
from stagecache.numerics.sqp import Point as AnyPoint
from tests.assembly.models import Arm, Array, Bend, Reach, ReachWithJacobian, arm

TOLERANCE, ACCURACY = 1e-6, 1e-4


def prepared(*errors: AssemblyCondition, goals: tuple[AssemblyCondition, ...] = ()) -> Assembler:
    """An Assembler of the arm of the first condition."""
    robot = next(c for c in (*errors, *goals) if isinstance(c, Reach | Bend)).arm
    assert isinstance(robot.system, System)
    assembler = Assembler(robot.system, accuracy=ACCURACY, error_tolerance=TOLERANCE)
    for error in errors:
        assembler.add_error(error)
    for goal in goals:
        assembler.add_goal(goal)
    assembler.initialize()
    return assembler


def problem_of(assembler: Assembler) -> Problem:
    return assembler._prepared("the problem")


def descent(problem: Problem, point: AnyPoint) -> Descent:
    return Descent(problem, point, tolerance=TOLERANCE, accuracy=ACCURACY)


def robot() -> Arm:
    return arm()[0]


def test_a_library_method_makes_errors_small() -> None:
    one = robot()
    problem = problem_of(prepared(ReachWithJacobian(one, (-1.0, 1.5))))
    start = problem.move_to(np.array([0.0, 0.0, 0.0]))
    found = by_library(problem, start, descent_of(problem, None))
    assert found.point.error_norm <= TOLERANCE
    assert found.num_iterations > 0


def test_a_library_method_makes_the_goal_small_and_keeps_errors_so() -> None:
    one = robot()
    problem = problem_of(prepared(Reach(one, (1.0, 1.5)), goals=(Bend(one),)))
    start = problem.move_to(np.array([0.0, 0.0, 0.0]))
    closed = by_library(problem, start, descent_of(problem, None)).point
    far = descent(problem, problem.move_to(closed.x + 0.4)).run(1).point
    assert far.error_norm > TOLERANCE
    found = by_library(problem, closed, descent_of(problem, None))
    assert found.point.error_norm <= TOLERANCE
    assert found.point.goal <= closed.goal * (1 + 1e-9)


def test_a_library_method_keeps_bounds_and_what_they_fix() -> None:
    one = robot()
    assembler = prepared(Reach(one, (1.0, 1.5)))
    assembler.restrict_q(one.angles, 0, 0.7, 0.7)
    assembler.restrict_q(one.angles, 1, -2.0, 2.0)
    assembler.initialize()
    problem = problem_of(assembler)
    found = by_library(problem, problem.move_to(problem.x), descent_of(problem, None))
    assert found.point.error_norm <= TOLERANCE
    assert found.point.x[0] == 0.7
    assert -2.0 <= found.point.x[1] <= 2.0


def test_no_method_moves_anything_where_all_q_are_fixed_by_their_bounds() -> None:
    one = robot()
    assembler = prepared(Reach(one, (1.0, 1.5)))
    for i in range(3):
        assembler.restrict_q(one.angles, i, 0.1, 0.1)
    assembler.initialize()
    problem = problem_of(assembler)
    assert problem.coordinates.move_within_bounds()
    assert not problem.coordinates.move_within_bounds()
    np.testing.assert_array_equal(assembler.internal_state.q, [0.1] * 3)
    start = problem.begin()
    np.testing.assert_array_equal(start.x, [0.1] * 3)
    for method in (by_library, by_restarts):
        found = method(problem, start, descent_of(problem, None))
        np.testing.assert_array_equal(found.point.x, [0.1] * 3)
    assert assembled(problem, None).point.error_norm > TOLERANCE


def test_restarts_are_the_same_each_time() -> None:
    one = robot()
    problem = problem_of(prepared(Reach(one, (-1.0, 0.0))))
    start = problem.move_to(np.zeros(3))
    found = [by_restarts(problem, start, descent_of(problem, None)) for _ in range(2)]
    assert found[0].point.error_norm <= TOLERANCE
    np.testing.assert_array_equal(found[0].point.x, found[1].point.x)


def test_restarts_that_lead_nowhere_return_the_smallest_errors() -> None:
    one = robot()
    problem = problem_of(prepared(Reach(one, (5.0, 0.0))))
    start = problem.move_to(np.array([1.0, 1.0, 1.0]))
    found = by_restarts(problem, start, descent_of(problem, None))
    assert found.point.error_norm == pytest.approx(2.0, rel=1e-2)
    assert not found.has_converged


def test_derivatives_that_are_not_finite_are_no_error_of_a_method() -> None:
    class Sharp(Reach):
        def calc_error_jacobian(self, state: State) -> Array:
            return np.full((2, self.num_free_qs), np.nan)

    one = robot()
    problem = problem_of(prepared(Sharp(one, (1.0, 1.0))))
    start = problem.move_to(np.zeros(3))
    for method in (by_library, by_restarts):
        assert method(problem, start, descent_of(problem, None)).point.error_norm > TOLERANCE
    found = descent(problem, start).run(10)
    assert (found.point, found.num_iterations) == (start, 0)


def test_tracking_leaves_the_state_at_the_point_that_it_returns() -> None:
    one = robot()
    assembler = prepared(Reach(one, (1.0, 1.0)), goals=(Bend(one),))
    found = tracked(problem_of(assembler), None)
    np.testing.assert_array_equal(assembler.internal_state.q, found.point.x)


@pytest.mark.parametrize(
    ("one", "other", "is_so"),
    [
        ((0.0, 1.0), (0.5, 0.0), True),  # errors first
        ((0.5, 0.0), (0.0, 1.0), False),
        ((1e-7, 1.0), (0.0, 2.0), True),  # both satisfied: the goal
        ((0.0, 2.0), (1e-7, 1.0), False),
        ((0.4, 9.0), (0.5, 0.0), True),  # neither: the smaller errors
        ((0.0, 1.0), (0.0, 1.0), False),
        ((math.nan, 0.0), (0.5, 9.0), False),
    ],
)
def test_points_are_compared_by_errors_then_by_the_goal(
    one: tuple[float, float], other: tuple[float, float], is_so: bool
) -> None:
    points = [Point(NONE, NONE, NONE, 0.0, goal, norm) for norm, goal in (one, other)]
    assert is_better(points[0], points[1], TOLERANCE) is is_so


def test_a_result_says_if_it_has_not_converged() -> None:
    class Steep(AssemblyCondition):
        """A goal with a kink, which is no least value of a smooth function."""

        def __init__(self, one: Arm) -> None:
            super().__init__("steep")
            self.arm = one

        def calc_goal(self, state: State) -> float:
            return float(np.abs(self.arm.angles(state) - 0.123).sum())

    one, system, state = arm()
    assembler = Assembler(system)
    assembler.add_goal(Steep(one))
    before = float(np.abs(one.angles(state) - 0.123).sum())
    result = assembler.assemble(state)
    assert result.goal < before
    assert ("not converged" in str(result)) is not result.has_converged


def test_conditions_of_other_kinds_name_their_errors_by_number() -> None:
    one = robot()
    reach = Reach(one, (1.0, 1.0))
    assembler = prepared(reach)
    assert reach.error_names(assembler.internal_state) == ["reach[0]", "reach[1]"]
    reach = Reach(one, (1.0, 1.0))
    reach.uninitialize_assembler()
    assert not reach.is_in_assembler


def test_setting_a_weight_that_it_has_changes_nothing() -> None:
    one, system, _ = arm()
    assembler = Assembler(system)
    target = assembler.add_error(QValue(one.angles, 0, 1.0))
    assembler.initialize()
    assembler.set_condition_weight(target, math.inf)
    assembler.set_condition_weight(assembler.system_constraints, math.inf)
    assert assembler.is_initialized


@pytest.mark.parametrize("error", [ValueError, np.linalg.LinAlgError])
def test_what_a_condition_raises_within_a_method_comes_through(error: type[Exception]) -> None:
    class Fails(ReachWithJacobian):
        calls = 0

        def calc_errors(self, state: State) -> Array:
            self.calls += 1
            if self.calls > 1:
                raise error("of the condition")
            return super().calc_errors(state)

    for method in (by_library, by_restarts):
        problem = problem_of(prepared(Fails(robot(), (-1.0, 1.5))))
        start = problem.move_to(np.zeros(3))
        with pytest.raises(error, match="of the condition"):
            method(problem, start, descent_of(problem, None))
    problem = problem_of(prepared(Fails(robot(), (-1.0, 1.5))))
    start = problem.move_to(np.zeros(3))
    with pytest.raises(error, match="of the condition"):
        descent(problem, start).run(10)


def test_a_goal_that_is_no_sum_of_squares_comes_as_near_as_it_says() -> None:
    one, system, state = arm()
    random, least = np.random.default_rng(0), []
    for _ in range(40):
        one.angles.set(state, random.uniform(-1.0, 1.0, 3))
        goals = []
        for accuracy in (1e-3, 1e-9):
            assembler = Assembler(system, accuracy=accuracy)
            assembler.add_error(Reach(one, tuple(one.tip(state) - 0.1)))
            assembler.add_goal(Bend(one))
            goals.append(assembler.assemble(state.copy()).goal)
        least.append(goals[0] / goals[1] - 1)
    assert np.percentile(least, 90) < 1e-3


def test_a_start_beyond_its_bounds_is_not_called_unchanged() -> None:
    one, system, state = arm()
    assembler = Assembler(system)
    assembler.restrict_q(one.angles, 2, 0.8, 0.9)
    assert assembler.assemble(state).method == "Gauss-Newton"
    assert assembler.assemble(state).method == "unchanged"
    assert assembler.track().method == "unchanged"
    other = Assembler(system)
    other.restrict_q(one.angles, 2, 0.8, 0.9)
    assert other.track().method == "Gauss-Newton"


def test_reporters_see_restarts() -> None:
    seen = []
    one = robot()
    problem = problem_of(prepared(Reach(one, (5.0, 0.0))))
    start = problem.move_to(np.array([1.0, 1.0, 1.0]))
    by_restarts(problem, start, descent_of(problem, lambda point: seen.append(point.x)))
    assert len(seen) > 30
