r"""The numerical problem of an Assembler: errors, residuals and goal as functions of the free q.

::

    x  --move_to-->  errors (m,), residuals (k,), goal       derivatives  -->  by x, at the same x
                     goal = 1/2 residuals . residuals + other_goal

Goals that have residuals contribute these, times the root of their weight; all others add up to
`other_goal`. Methods that solve the problem know this much, and nothing of States.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf, nan, sqrt
from typing import Any, Final, NamedTuple, final

import numpy as np

from stagecache.assembly.conditions.condition import AssemblyCondition, not_a_goal
from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.assembly.coordinates.scales import length_of, natural_scales
from stagecache.assembly.problem.differences import central_differences, differences_along
from stagecache.assembly.results import AssemblerStatistics
from stagecache.assembly.settings import AssemblerSettings
from stagecache.errors import KinematicsError
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage

ROUNDING: Final = 1e-12
"""Part of the largest value of a goal by which it may be negative."""

NONE: Final = np.empty(0)
NONE.flags.writeable = False


class Point(NamedTuple):
    """Values at some x.

    Attributes
    ----------
    x : (n,) float
        Free q.
    errors : (m,) float
    residuals : (k,) float
        Times the root of the weight of their goal.
    other_goal : float
        The weighted sum of goals that have no residuals.
    goal : float
        The weighted sum of all goals.
    error_norm : float
        The largest error, or the root of the mean of their squares.
    """

    x: Vector
    errors: Vector
    residuals: Vector
    other_goal: float
    goal: float
    error_norm: float


class Derivatives(NamedTuple):
    """Derivatives at some x.

    Attributes
    ----------
    error_jacobian : (m, n) float
    residual_jacobian : (k, n) float
    other_gradient : (n,) float, or None
        None where all goals have residuals.
    """

    error_jacobian: Vector
    residual_jacobian: Vector
    other_gradient: Vector | None


class Curvature(NamedTuple):
    """Second derivatives at some x, beside those that follow from the residual Jacobian.

    Attributes
    ----------
    known : (n, n) float, or None
        None where all of them are 0.
    rest : callable, or None
        Finds the others by differences, along directions (n, p): (n, p). None if all are known.
    """

    known: Vector | None
    rest: Callable[[Vector], Vector] | None


@final
class Problem:
    """The conditions of an Assembler as functions of the free q.

    Parameters
    ----------
    coordinates : FreeCoordinates
        Their State is moved.
    conditions : sequence of (AssemblyCondition, float)
        Conditions with their weights, which are not 0.
    settings : AssemblerSettings
    statistics : AssemblerStatistics
        Counters of evaluations.

    Attributes
    ----------
    errors : tuple of AssemblyCondition
        Conditions with an infinite weight.
    goals : tuple of (AssemblyCondition, float)
        All others, with their weights.
    damping : float
        Damping at the end of the quick method in the last frame.
    is_checked : bool
        True once the values that conditions return were checked.
    independent_goals : tuple of str
        Names of goals that no free q changes, if that was examined.
    """

    def __init__(
        self,
        coordinates: FreeCoordinates,
        conditions: Sequence[tuple[AssemblyCondition, float]],
        settings: AssemblerSettings,
        statistics: AssemblerStatistics,
    ) -> None:
        self.coordinates = coordinates
        self.damping = 0.0
        self.is_checked = False
        self.independent_goals: tuple[str, ...] = ()
        self.errors = tuple(condition for condition, weight in conditions if weight == inf)
        self.goals = tuple(one for one in conditions if one[1] < inf)
        self.settings = settings
        self._statistics = statistics
        self._state = coordinates.state
        self._realize = coordinates.system.realize
        self._needs = max((condition.needs for condition, _ in conditions), default=Stage.TIME)
        self._observing = [c for c, _ in conditions if c.checks_observations]
        self._sizes: list[int] = []  # of the errors, then of the residuals of conditions
        self._errors = [(c.calc_errors, c.calc_error_jacobian) for c in self.errors]
        self._squares: list[_Goal] = []
        self._others: list[_Goal] = []
        self._largest: list[float] = []  # value of each of these
        for c, weight in self.goals:
            if c.has_residuals:
                square = (c.calc_goal_residuals, c.calc_goal_residual_jacobian, sqrt(weight))
                self._squares.append(square)
            else:
                self._others.append((c.calc_goal, c.calc_goal_gradient, weight))
                self._largest.append(0.0)

    @property
    def lower(self) -> Vector:
        """Lower bounds of the free q, divided by their scales, (n,)."""
        return self._divided(self.coordinates.bounds[0])

    @property
    def upper(self) -> Vector:
        """Upper bounds, (n,)."""
        return self._divided(self.coordinates.bounds[1])

    @property
    def x(self) -> Vector:
        """Free q as they are, within the bounds, divided by their scales."""
        return self._divided(self.coordinates.x)

    def _divided(self, values: Vector) -> Vector:
        scales = self.coordinates.scales
        return values if scales is None else values / scales

    # ------------------------------------------------------------------ at a point

    def check_observations(self) -> None:
        """Refuse conditions that observe nothing; to be called at the beginning of a frame."""
        for condition in self._observing:
            condition.check_observations()

    def find_scales(self) -> None:
        """Find the natural scales of the free q, unless they are known."""
        coordinates = self.coordinates
        if coordinates.scales_are_known:
            return
        is_length, scales = natural_scales(coordinates)
        if is_length.any():
            coordinates.scales = scales
            point = self.begin()
            derivatives = self.derivatives()
            blocks = [
                (point.errors, derivatives.error_jacobian),
                (point.residuals, derivatives.residual_jacobian),
            ]
            if derivatives.other_gradient is not None:
                blocks.append((np.array([point.other_goal]), derivatives.other_gradient[None]))
            default = coordinates.system.default_length_scale
            scales[is_length] *= length_of(blocks, is_length, default)
        coordinates.set_scales(scales)

    def begin(self) -> Point:
        """Evaluate the conditions where the free q are."""
        x = self.x
        self.coordinates.written = x
        return self.evaluate(x)

    def be_at(self, x: Vector) -> None:
        """Move the free q back to an x, unless they are there."""
        if x is not self.coordinates.written:
            self.move(x)
            self.here()

    def move(self, x: Vector) -> None:
        """Move the free q without evaluating anything."""
        self.coordinates.write(x)

    def move_to(self, x: Vector) -> Point:
        """Move the free q there, and evaluate the conditions.

        Raises
        ------
        Exception
            Any exception of a condition, or of a realization.
        """
        self.coordinates.write(x)
        return self.evaluate(x)

    def evaluate(self, x: Vector) -> Point:
        """Evaluate the conditions at the free q as they are, which is x.

        Where a dependent q has no finite value, nothing has.
        """
        state, counts = self.here(), self._statistics
        sizes: list[int] = []
        errors, norm = NONE, 0.0
        if self._errors:
            counts.num_error_evals += 1
            parts = [calc(state) for calc, _ in self._errors]
            sizes += map(len, parts)
            errors = np.concatenate(parts)  # a copy
            norm = self.norm_of(errors)
        residuals, goal = NONE, 0.0
        if self.goals:
            counts.num_goal_evals += 1
        if self._squares:
            parts = [root * calc(state) for calc, _, root in self._squares]
            sizes += map(len, parts)
            residuals = _joined(parts)
            goal = 0.5 * float(residuals.dot(residuals))
        other = 0.0
        for place, (calc_goal, _, weight) in enumerate(self._others):
            value = float(calc_goal(state))
            if value < 0.0:
                value = self._rounded(value, place)
            elif value > self._largest[place]:
                self._largest[place] = value
            other += weight * value
        self._sizes = sizes
        if self.coordinates.undefined is not None:
            nothing = np.full_like(errors, nan), np.full_like(residuals, nan)
            return Point(x, *nothing, nan, nan, inf)
        return Point(x, errors, residuals, other, goal + other, norm)

    def _rounded(self, value: float, place: int) -> float:
        """Return 0 for a goal that is negative by rounding only; refuse any other."""
        if value >= -ROUNDING * self._largest[place]:
            return 0.0
        raise not_a_goal([c for c, _ in self.goals if not c.has_residuals][place], value)

    def norm_of(self, errors: Vector) -> float:
        """Return the norm of errors, as it is compared with the tolerance."""
        if not len(errors):
            return 0.0
        if self.settings.use_rms_error_norm:
            return sqrt(float(errors.dot(errors)) / len(errors))
        return float(np.abs(errors).max())

    def here(self) -> Any:
        """Return the State, realized as far as the conditions need."""
        state = self._state
        if self._needs > Stage.TIME:
            self._realize(state, self._needs)
        return state

    # ------------------------------------------------------------------ derivatives

    def derivatives(self) -> Derivatives:
        """Return the derivatives at the free q as they are, and as they stay.

        Where a condition has none, they are found by central differences, at the cost of twice as
        many evaluations as there are free q.

        Raises
        ------
        Exception
            Any exception of a condition, or of a realization.
        """
        state, counts, settings = self.here(), self._statistics, self.settings
        counts.num_error_jacobian_evals += bool(self._errors)
        counts.num_goal_gradient_evals += bool(self.goals)
        missing: list[tuple[list[Any], int, Any]] = []
        by_hand = settings.force_numerical_jacobian
        by_x, errors_by_x = self.coordinates.by_x, self.coordinates.errors_by_x
        errors = _derivatives(self._errors, state, missing, errors_by_x, by_hand=by_hand)
        by_hand = settings.force_numerical_gradient
        squares = _derivatives(self._squares, state, missing, by_x, by_hand=by_hand)
        others = _derivatives(self._others, state, missing, by_x, by_hand=by_hand)
        if missing:
            numerical = self._by_differences([calc for _, _, calc in missing])
            for (found, i, _), part in zip(missing, numerical, strict=True):
                found[i] = part[0] if found is others else part
        n = len(self.coordinates.independent)
        gradient = None
        if others:
            gradient = np.zeros(n)
            for part, (_, _, weight) in zip(others, self._others, strict=True):
                gradient += weight * part
        return Derivatives(
            np.concatenate(errors) if errors else np.zeros((0, n)),
            _joined([p * s[2] for p, s in zip(squares, self._squares, strict=True)])
            if squares
            else np.zeros((0, n)),
            gradient,
        )

    def curvature(self, residuals: Vector, multipliers: Vector) -> Curvature:
        """Return the second derivatives at the free q as they are, and as they stay.

        They are the sum over residuals and errors, each times a factor, and over other goals.

        Parameters
        ----------
        residuals : (k,) float
            Factors of residuals.
        multipliers : (m,) float
            Factors of errors.

        Raises
        ------
        Exception
            Any exception of a condition, or of a realization.
        """
        state, by_x = self.here(), self.coordinates.curvature_by_x
        known: Vector | None = None
        unknown: list[_Slope] = []
        for slope, bend in self._factored(residuals, multipliers):
            part = None if slope.by_hand or bend is None else derived(bend, state)
            if part is None:
                unknown.append(slope)
            else:
                part = by_x(part, partial(slope.gradient, state))
                known = part if known is None else known + part
        if not unknown:
            return Curvature(known, None)
        bounds = (self.lower, self.upper)

        def rest(directions: Vector) -> Vector:
            x = self.x
            found = differences_along(self._slope_of(unknown), x, directions, bounds)
            self.move(x)
            self.here()
            return found

        return Curvature(known, rest)

    def _factored(
        self, residuals: Vector, multipliers: Vector
    ) -> Iterator[tuple["_Slope", Callable[[Any], Any] | None]]:
        """Yield functions of the State with factors, and their second derivatives if offered."""
        settings, place = self.settings, 0
        sizes = iter(self._sizes)
        by_hand = settings.force_numerical_jacobian
        for c in self.errors:
            factors = multipliers[place : place + next(sizes)]
            place += len(factors)
            if factors.any():
                slope = _Slope(c.calc_errors, c.calc_error_jacobian, factors, by_hand=by_hand)
                yield slope, partial(c.calc_error_curvature, factors=factors)
        place, by_hand = 0, settings.force_numerical_gradient
        for c, weight in self.goals:
            if not c.has_residuals:
                yield _Slope(c.calc_goal, c.calc_goal_gradient, weight, by_hand=by_hand), None
                continue
            factors = sqrt(weight) * residuals[place : place + next(sizes)]
            place += len(factors)
            calc, derive = c.calc_goal_residuals, c.calc_goal_residual_jacobian
            slope = _Slope(calc, derive, factors, by_hand=by_hand)
            yield slope, partial(c.calc_goal_residual_curvature, factors=factors)

    def _slope_of(self, slopes: "Sequence[_Slope]") -> Callable[[Vector], Vector]:
        """Return the sum of gradients as a function of x, which moves the free q there."""
        counts, by_x = self._statistics, self.coordinates.by_x

        def slope_at(x: Vector) -> Vector:
            self.move(np.clip(x, self.lower, self.upper))
            state = self.here()
            counts.num_error_jacobian_evals += bool(self._errors)
            counts.num_goal_gradient_evals += bool(self.goals)
            found, missing = np.zeros(len(x)), []
            for one in slopes:
                part = None if one.by_hand else derived(one.derive, state)
                if part is None:
                    missing.append(one.product)
                else:
                    found += by_x(np.dot(one.factors, part))
            for part in self._by_differences(missing) if missing else ():
                found += part[0]
            values: Vector = self._where_defined(found)
            return values

        return slope_at

    def error_jacobian_by_differences(self, condition: AssemblyCondition) -> Vector:
        """Return the derivatives of the errors of a condition by differences only, (m, n).

        Raises
        ------
        Exception
            Any exception of the condition, or of a realization. The free q may be elsewhere then.
        """
        return self._by_differences([condition.calc_errors])[0]

    def _by_differences(self, functions: list[Any]) -> list[Vector]:
        """Return the derivatives of functions of the State, each (m, n)."""
        x, counts = self.x, self._statistics
        bounds = (self.lower, self.upper)

        def move(moved: Vector) -> Any:
            self.move(moved)
            counts.num_error_evals += bool(self._errors)
            counts.num_goal_evals += bool(self.goals)
            return self.here()

        defined = [lambda s, calc=calc: self._where_defined(calc(s)) for calc in functions]
        return central_differences(move, x, defined, bounds)

    def _where_defined(self, values: Any) -> Any:
        """Return values at the free q as they are, or NaN where a dependent q has no value."""
        return values if self.coordinates.undefined is None else np.multiply(values, nan)


class _Slope(NamedTuple):
    """A function of the State times factors, and its gradient."""

    calc: Callable[[Any], Any]
    derive: Callable[[Any], Any]
    factors: Any
    by_hand: bool

    def product(self, state: Any) -> Any:
        """Return the value times the factors, a number."""
        return np.dot(self.factors, self.calc(state))

    def gradient(self, state: Any) -> Any:
        """Return its derivatives by the free q, where there are some."""
        return np.dot(self.factors, self.derive(state))


_Goal = tuple[Any, Any, float]
"""Functions for residuals and their Jacobian, with the root of the weight; or for a goal and its
gradient, with the weight."""


def _derivatives(
    calcs: Sequence[tuple[Any, ...]],
    state: Any,
    missing: list[tuple[list[Any], int, Any]],
    by_x: Callable[[Vector], Vector],
    *,
    by_hand: bool,
) -> list[Any]:
    """Return derivatives, each by the second function; None is noted as missing, with its place."""
    found: list[Any] = []
    for calc in calcs:
        part = None if by_hand else derived(calc[1], state)
        if part is None:
            missing.append((found, len(found), calc[0]))
        else:
            part = by_x(part)
        found.append(part)
    return found


def derived(derive: Any, state: Any) -> Any:
    """Return the derivatives, or None if none are offered or the coordinates are singular."""
    try:
        return derive(state)
    except KinematicsError:
        return None


def _joined(parts: list[Any]) -> Vector:
    found: Vector = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return found
