"""The numerical method by itself, on problems that SciPy solves or whose solution is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, minimize

from stagecache.numerics.quadratic_model import QuadraticModel
from stagecache.numerics.sqp import Descent, Solution

Vector = NDArray[np.float64]


@frozen
class At:
    x: Vector
    errors: Vector
    residuals: Vector
    goal: float

    @property
    def error_norm(self) -> float:
        return float(np.max(np.abs(self.errors), initial=0.0))


@frozen
class Bends:
    known: Vector | None
    rest: Callable[[Vector], Vector] | None


@frozen
class Slopes:
    error_jacobian: Vector
    residual_jacobian: Vector
    other_gradient: Vector | None


def none_of(x: Vector) -> Vector:
    return np.empty(0)


class Given:
    """A problem in closed form, whose derivatives are computed by complex steps."""

    def __init__(
        self,
        n: int,
        errors: Callable[[Vector], Any] = none_of,
        residuals: Callable[[Vector], Any] = none_of,
        other: Callable[[Vector], Any] | None = None,
        bounds: tuple[Any, Any] = (-np.inf, np.inf),
    ) -> None:
        self.errors, self.residuals, self.other = errors, residuals, other
        self.lower, self.upper = (np.broadcast_to(np.asarray(b, float), n) for b in bounds)
        self.num_moves = 0
        self.x = np.zeros(n)

    def move_to(self, x: Vector) -> At:
        self.num_moves += 1
        self.x = x.copy()
        assert (self.lower <= x).all()
        assert (x <= self.upper).all()
        r = np.asarray(self.residuals(x), float)
        goal = 0.5 * float(r @ r) + (0.0 if self.other is None else float(self.other(x)))
        return At(self.x, np.asarray(self.errors(x), float), r, goal)

    def derivatives(self) -> Slopes:
        def by_x(function: Callable[[Vector], Any]) -> Vector:
            steps = self.x + 1e-30j * np.eye(len(self.x))
            return np.array([np.imag(np.asarray(function(x))) / 1e-30 for x in steps]).T

        other = None if self.other is None else by_x(self.other)
        shape = -1, len(self.x)
        return Slopes(by_x(self.errors).reshape(shape), by_x(self.residuals).reshape(shape), other)

    def curvature(self, residuals: Vector, multipliers: Vector) -> Bends:
        """All by central differences of first derivatives."""
        x = self.x

        def slope(at: Vector) -> Vector:
            self.x = at
            found = self.derivatives()
            other = 0.0 if found.other_gradient is None else found.other_gradient
            by_residuals = residuals @ found.residual_jacobian
            return np.asarray(by_residuals + multipliers @ found.error_jacobian + other)

        def rest(directions: Vector) -> Vector:
            ways = 1e-5 * directions.T
            found = np.array([(slope(x + way) - slope(x - way)) / 2e-5 for way in ways]).T
            self.x = x
            return found.reshape(directions.shape)

        return Bends(None, rest)


def solved(problem: Given, start: Any, tolerance: float = 1e-9, most: int = 200) -> Solution:
    point = problem.move_to(np.clip(np.asarray(start, float), problem.lower, problem.upper))
    return Descent(problem, point, tolerance=tolerance, accuracy=1e-12).run(most)


# ---------------------------------------------------------------------- known problems


def test_rosenbrocks_valley_is_followed_to_its_end() -> None:
    problem = Given(2, residuals=lambda x: np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]))
    found = solved(problem, [-1.2, 1.0])
    assert found.has_converged
    np.testing.assert_allclose(found.point.x, 1, atol=1e-8)


def test_a_goal_that_is_no_sum_of_squares_is_followed_as_well() -> None:
    """Hock and Schittkowski, problem 6, and 7, which has a logarithm for its goal."""
    found = solved(
        Given(
            2,
            errors=lambda x: np.array([(1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4]),
            other=lambda x: np.log(1 + x[0] ** 2) - x[1] + 10,
        ),
        [2.0, 2.0],
    )
    assert found.point.error_norm <= 1e-9
    np.testing.assert_allclose(found.point.x, [0, np.sqrt(3)], atol=1e-5)


def test_the_nearest_point_of_a_sphere_is_found_from_anywhere() -> None:
    centre = np.array([0.3, -2.0, 0.5])
    for start in np.random.default_rng(0).normal(size=(50, 3)) * 5:
        problem = Given(3, lambda x: np.array([x @ x - 1]), lambda x: x - centre)
        found = solved(problem, start)
        assert found.has_converged
        np.testing.assert_allclose(found.point.x, centre / np.linalg.norm(centre), atol=1e-5)


@pytest.mark.parametrize("weight", [1e2, 1e4, 1e6])
def test_residuals_of_little_weight_are_made_small_as_well(weight: float) -> None:
    """The first step is long, so it is damped: which leaves what weighs little where it is."""
    problem = Given(2, residuals=lambda x: np.array([weight**0.5 * (x[0] - 2), x[1] - 0.9]))
    point = problem.move_to(np.zeros(2))
    found = Descent(problem, point, tolerance=1e-9, accuracy=1e-3).run(100)
    assert found.has_converged
    assert found.point.goal < 1e-4


def test_a_bound_holds_the_solution_back() -> None:
    problem = Given(
        2,
        lambda x: np.array([x @ x - 1]),
        lambda x: x - np.array([2.0, 0.0]),
        bounds=([-2.0, -2.0], [0.6, 2.0]),
    )
    found = solved(problem, [-0.5, 0.7])
    np.testing.assert_allclose(found.point.x, [0.6, 0.8], atol=1e-8)
    assert found.has_converged


def test_a_number_leaves_its_bound_again() -> None:
    problem = Given(
        2, residuals=lambda x: np.array([x[0] - 0.5, 3 * (x[1] - x[0])]), bounds=(0.0, 2.0)
    )
    found = solved(problem, [0.0, 2.0])
    np.testing.assert_allclose(found.point.x, 0.5, atol=1e-8)


def test_rows_that_are_always_zero_do_no_harm() -> None:
    def errors(x: Vector) -> Any:
        return np.array([np.sin(x[0]) + np.sin(x[1]), 0 * x[0], 2 * (np.sin(x[0]) + np.sin(x[1]))])

    problem = Given(2, errors, lambda x: np.array([x[0] - 0.7]))
    found = solved(problem, [0.1, -0.1])
    assert found.has_converged
    np.testing.assert_allclose(found.point.x, [0.7, -0.7], atol=1e-7)


def test_errors_that_contradict_each_other_are_told_from_others() -> None:
    problem = Given(1, lambda x: np.array([x[0], x[0] - 1]), lambda x: x)
    found = solved(problem, [3.0])
    assert not found.has_converged
    assert found.point.error_norm == pytest.approx(0.5, abs=1e-6)


def test_a_start_that_is_the_solution_needs_no_derivatives() -> None:
    problem = Given(2, lambda x: x[:1] - 1, lambda x: x[1:])
    found = solved(problem, [1.0, 0.0])
    assert (found.num_iterations, found.has_converged, problem.num_moves) == (0, True, 1)


def test_what_nothing_depends_on_stays() -> None:
    found = solved(Given(3, lambda x: x[:1] - 1, lambda x: x[1:2] - 2), [0.0, 0.0, 5.0])
    np.testing.assert_allclose(found.point.x, [1, 2, 5], atol=1e-7)


# ---------------------------------------------------------------------- random ones


@given(st.integers(0, 2**32 - 1))
def test_linear_problems_with_bounds_are_solved_as_scipy_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 10))
    a, b = rng.normal(size=(k, n)), rng.normal(size=k)
    lower, upper = rng.uniform(-1, 0, n), rng.uniform(0, 1, n)
    found = solved(Given(n, residuals=lambda x: a @ x - b, bounds=(lower, upper)), np.zeros(n))
    best = lsq_linear(a, b, (lower, upper), tol=1e-14)
    assert found.point.goal <= best.cost + 1e-8


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_quadratic_programs_are_solved_as_scipy_does(seed: int, has_bounds: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    m, k = int(rng.integers(1, n)), int(rng.integers(1, 10))
    a, b = rng.normal(size=(k, n)), rng.normal(size=k)
    inside = rng.uniform(-0.5, 0.5, n)
    rows = rng.normal(size=(m, n))
    ends = (-1.0, 1.0) if has_bounds else (-np.inf, np.inf)
    problem = Given(n, lambda x: rows @ (x - inside), lambda x: a @ x - b, bounds=ends)
    found = solved(problem, rng.uniform(-1, 1, n))
    assert found.point.error_norm <= 1e-9
    best = minimize(
        lambda x: 0.5 * np.sum((a @ x - b) ** 2),
        inside,
        jac=lambda x: a.T @ (a @ x - b),
        bounds=[ends] * n,
        constraints={"type": "eq", "fun": lambda x: rows @ (x - inside), "jac": lambda x: rows},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.point.goal <= best.fun + 1e-6 * (1 + best.fun)


@given(st.integers(0, 2**32 - 1))
def test_a_start_without_errors_is_never_made_worse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    m = int(rng.integers(1, n + 1))
    start = rng.uniform(-1, 1, n)
    a, b, c = rng.normal(size=(m, n)), rng.normal(size=(m, n)), rng.normal(size=(4, n))

    def wavy(x: Vector) -> Any:
        return np.sin(a @ x) + np.cos(3 * b @ x)

    at_start = wavy(start)
    problem = Given(
        n, lambda x: wavy(x) - at_start, lambda x: np.sin(2 * c @ x) - 1, bounds=(-2.0, 2.0)
    )
    found = solved(problem, start, 1e-6, most=30)
    assert found.point.error_norm <= 1e-6
    assert found.point.goal <= problem.move_to(start).goal


def test_random_closed_curves_are_reached_from_far_away() -> None:
    """Intersections of two ellipsoids; of these starts none fails."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        axes = rng.uniform(0.7, 1.4, (2, 3))
        axes[1, 0], axes[1, 1] = axes[0, 0] * 1.2, axes[0, 1] / 1.2
        problem = Given(3, lambda x, axes=axes: ((x / axes) ** 2).sum(axis=1) - 1)  # type: ignore[misc]
        found = solved(problem, rng.normal(size=3) * 10)
        assert found.point.error_norm <= 1e-9


def test_reports_are_made_of_each_step() -> None:
    problem = Given(2, residuals=lambda x: np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]))
    goals: list[float] = []
    start = problem.move_to(np.array([-1.2, 1.0]))
    descent = Descent(
        problem, start, tolerance=1e-9, accuracy=1e-12, report=lambda p: goals.append(p.goal)
    )
    found = descent.run(100)
    assert goals == sorted(goals, reverse=True)
    assert len(goals) == found.num_iterations
    assert goals[-1] == found.point.goal


def test_the_step_of_a_linear_problem_is_the_shortest_that_solves_it() -> None:
    model = QuadraticModel(
        *(np.array([2.0]), np.array([[1.0, 1.0, 0.0]])),
        *(np.array([-3.0]), np.array([[0.0, 0.0, 1.0]])),
        *(None, None, None),
    )
    step, fall, rise = model.step(1e-12)
    np.testing.assert_allclose(step, [-1, -1, 3], atol=1e-9)
    assert fall == pytest.approx(4.5)
    assert rise == 0.0
