r"""The numerical problem of an Assembler: what there is at some values of the free q.

::

    x  --move_to-->  errors (m,), residuals (k,), goal       derivatives  -->  by x, at the same x
                     goal = 1/2 residuals . residuals + other_goal

Residuals are those of the goals that have some, each times the root of its weight. What is no sum
of squares is `other_goal`. Methods that solve it know this much, and nothing of States.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import sqrt
from typing import Any, Final, NamedTuple, final

import numpy as np

from stagecache.assembly.assembler_statistics import AssemblerStatistics
from stagecache.assembly.conditions.condition import AssemblyCondition, not_a_goal
from stagecache.assembly.coordinates.free_coordinates import FreeCoordinates
from stagecache.assembly.coordinates.scales import length_of, natural_scales
from stagecache.assembly.problem.differences import central_differences, differences_along
from stagecache.assembly.settings import AssemblerSettings
from stagecache.errors import KinematicsError
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage

ROUNDING: Final = 1e-12
"""Part of the largest value of a goal by which it may be negative."""

NONE: Final = np.empty(0)
NONE.flags.writeable = False


class Point(NamedTuple):
    """What there is at some x.

    Attributes
    ----------
    x : (n,) float
        The free q.
    errors : (m,) float
    residuals : (k,) float
        Times the root of the weight of their goal.
    other_goal : float
        The weighted sum of goals that have no residuals.
    goal : float
        The weighted sum of all goals.
    error_norm : float
        Of the errors: the largest, or the root of the mean of their squares.
    """

    x: Vector
    errors: Vector
    residuals: Vector
    other_goal: float
    goal: float
    error_norm: float


class Derivatives(NamedTuple):
    """The derivatives at some x.

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
    """Second derivatives at some x that the residual Jacobian does not tell.

    Attributes
    ----------
    known : (n, n) float, or None
        None where all of them are 0.
    rest : callable, or None
        Finds the others by differences, along directions (n, p): (n, p). None where there are none.
    """

    known: Vector | None
    rest: Callable[[Vector], Vector] | None


@final
class Problem:
    """The conditions of an Assembler as functions of the free q.

    Parameters
    ----------
    coordinates : FreeCoordinates
        Whose State is moved.
    errors : sequence of AssemblyCondition
        Those with weight infinity.
    goals : sequence of (AssemblyCondition, float)
        The others, each with its weight, which is neither 0 nor infinite.
    settings : AssemblerSettings
    statistics : AssemblerStatistics
        Where it is counted what is evaluated.

    Attributes
    ----------
    checks : tuple of callable
        To be called at the beginning of a frame; they raise if nothing is observed.
    damping : float
        With which the quick method ended in the last frame.
    is_checked : bool
        Whether it was checked what conditions return.
    independent_goals : tuple of str
        The names of goals that no free q changes, as far as it was looked for.
    """

    def __init__(
        self,
        coordinates: FreeCoordinates,
        errors: Sequence[AssemblyCondition],
        goals: Sequence[tuple[AssemblyCondition, float]],
        settings: AssemblerSettings,
        statistics: AssemblerStatistics,
    ) -> None:
        self.coordinates = coordinates
        self.damping = 0.0
        self.is_checked = False
        self.independent_goals: tuple[str, ...] = ()
        self.errors = tuple(errors)
        self.goals = tuple(goals)
        self._settings = settings
        self._statistics = statistics
        self._state = coordinates.state
        self._realize = coordinates.system.realize
        used = (*self.errors, *(condition for condition, _ in self.goals))
        self._needs = max((condition.needs for condition in used), default=Stage.TIME)
        self.checks = tuple(condition.check_observations for condition in used)
        self._sizes: list[int] = []  # of the errors, then of the residuals of conditions
        self._errors = [(c.calc_errors, c.calc_error_jacobian) for c in self.errors]
        self._squares: list[_Squares] = []
        self._others: list[_Other] = []
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
        """The least that each free q may be, divided by its scale, (n,)."""
        return self._divided(self.coordinates.lower)

    @property
    def upper(self) -> Vector:
        """The most, (n,)."""
        return self._divided(self.coordinates.upper)

    @property
    def x(self) -> Vector:
        """The free q where it was moved to last, within the bounds, divided by their scales."""
        return self._divided(self.coordinates.x)

    def _divided(self, values: Vector) -> Vector:
        scales = self.coordinates.scales
        return values if scales is None else values / scales

    # ------------------------------------------------------------------ at a point

    def find_scales(self) -> None:
        """Find out how far free q have to go to be felt, unless that was done before."""
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
        """Move the free q to where they were before, unless they are there."""
        if x is not self.coordinates.written:
            self.move(x)
            self.here()

    def move(self, x: Vector) -> None:
        """Move the free q, and evaluate nothing."""
        self.coordinates.write(x)

    def move_to(self, x: Vector) -> Point:
        """Move the free q there, and evaluate the conditions.

        Raises
        ------
        Exception
            Whatever a condition, or a realization, raises.
        """
        self.move(x)
        return self.evaluate(x)

    def evaluate(self, x: Vector) -> Point:
        """Evaluate the conditions where the free q are, which is x."""
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
        return Point(x, errors, residuals, other, goal + other, norm)

    def _rounded(self, value: float, place: int) -> float:
        """Take a goal that is negative for rounding only as zero, and refuse any other."""
        if value >= -ROUNDING * self._largest[place]:
            return 0.0
        raise not_a_goal([c for c, _ in self.goals if not c.has_residuals][place], value)

    def norm_of(self, errors: Vector) -> float:
        """The norm of errors that the tolerance is for."""
        if not len(errors):
            return 0.0
        if self._settings.use_rms_error_norm:
            return sqrt(float(errors.dot(errors)) / len(errors))
        return float(np.abs(errors).max())

    def here(self) -> Any:
        """The State, realized as far as the conditions need."""
        state = self._state
        if self._needs > Stage.TIME:
            self._realize(state, self._needs)
        return state

    # ------------------------------------------------------------------ derivatives

    def derivatives(self) -> Derivatives:
        """The derivatives where it was moved to last, where it still is afterwards.

        Where a condition has none, they are found by central differences, at the cost of twice as
        many evaluations as there are free q.

        Raises
        ------
        Exception
            Whatever a condition, or a realization, raises.
        """
        state, counts, settings = self.here(), self._statistics, self._settings
        counts.num_error_jacobian_evals += bool(self._errors)
        counts.num_goal_gradient_evals += bool(self.goals)
        missing: list[tuple[list[Any], int, Any]] = []
        by_hand = settings.force_numerical_jacobian
        scales = self.coordinates.scales
        errors = _derivatives(self._errors, state, missing, scales, by_hand=by_hand)
        by_hand = settings.force_numerical_gradient
        squares = _derivatives(self._squares, state, missing, scales, by_hand=by_hand)
        others = _derivatives(self._others, state, missing, scales, by_hand=by_hand)
        if missing:
            numerical = self._by_differences([calc for _, _, calc in missing])
            for (found, i, _), part in zip(missing, numerical, strict=True):
                found[i] = part[0] if found is others else part
        n = len(self.coordinates.index)
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
        """The second derivatives where it was moved to last, where it still is afterwards.

        Those of residuals and errors are added, each times a factor; and those of other goals.

        Parameters
        ----------
        residuals : (k,) float
            The factors of residuals.
        multipliers : (m,) float
            Those of errors.

        Raises
        ------
        Exception
            Whatever a condition, or a realization, raises.
        """
        state, scales = self.here(), self.coordinates.scales
        known: Vector | None = None
        unknown: list[_Slope] = []
        for slope, bend in self._factored(residuals, multipliers):
            part = None if slope.by_hand or bend is None else derived(bend, state)
            if part is None:
                unknown.append(slope)
            else:
                known = part if known is None else known + part
        if known is not None and scales is not None:
            known = known * scales * scales[:, None]
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
        """Functions of the State with their factors, and their second derivatives if offered."""
        settings, place = self._settings, 0
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
        """The function of x that is the sum of gradients; it moves there."""
        counts, scales = self._statistics, self.coordinates.scales

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
                    part = np.dot(one.factors, part)
                    found += part if scales is None else part * scales
            for part in self._by_differences(missing) if missing else ():
                found += part[0]
            return found

        return slope_at

    def scaled(self, jacobian: Vector | None) -> Vector | None:
        """Derivatives by the free q as derivatives by these, divided by their scales."""
        scales = self.coordinates.scales
        return jacobian if jacobian is None or scales is None else jacobian * scales

    def error_jacobian_by_differences(self, condition: AssemblyCondition) -> Vector:
        """The derivatives of the errors of a condition, (m, n), whatever it has of its own.

        Raises
        ------
        Exception
            Whatever the condition, or a realization, raises. The free q may be elsewhere then.
        """
        return self._by_differences([condition.calc_errors])[0]

    def _by_differences(self, functions: list[Any]) -> list[Vector]:
        """The derivatives of functions of the State, each (m, n)."""
        x, counts = self.x, self._statistics
        bounds = (self.lower, self.upper)

        def move(moved: Vector) -> Any:
            self.move(moved)
            counts.num_error_evals += bool(self._errors)
            counts.num_goal_evals += bool(self.goals)
            return self.here()

        return central_differences(move, x, functions, bounds)


class _Slope(NamedTuple):
    """A function of the State times factors, and its gradient."""

    calc: Callable[[Any], Any]
    derive: Callable[[Any], Any]
    factors: Any
    by_hand: bool

    def product(self, state: Any) -> Any:
        """The value times the factors, a number."""
        return np.dot(self.factors, self.calc(state))


_Squares = tuple[Any, Any, float]
"""What calculates residuals, and their Jacobian; the root of the weight."""

_Other = tuple[Any, Any, float]
"""What calculates a goal, and its gradient; the weight."""


def _derivatives(
    calcs: Sequence[tuple[Any, ...]],
    state: Any,
    missing: list[tuple[list[Any], int, Any]],
    scales: Vector | None,
    *,
    by_hand: bool,
) -> list[Any]:
    """What the second of each calculates; what is None is noted as missing, with its place."""
    found: list[Any] = []
    for calc in calcs:
        part = None if by_hand else derived(calc[1], state)
        if part is None:
            missing.append((found, len(found), calc[0]))
        elif scales is not None:
            part = part * scales
        found.append(part)
    return found


def derived(derive: Any, state: Any) -> Any:
    """Derivatives, or None where there are none, or none in coordinates that are singular."""
    try:
        return derive(state)
    except KinematicsError:
        return None


def _joined(parts: list[Any]) -> Vector:
    found: Vector = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return found
