"""The advanced State of an integration: one step, with projection and event triggers.

::

    begin    derivatives at the start of the step      once for all steps that follow each other
    update   auto-update variables                     the step keeps these derivatives
    step     the method, with attempts of its own, whose ends are projected onto constraints
                                                       a shorter step if it fails
    look     event triggers, at the end and where they turn; the step is cut at the first event

After any error, the State is as it was before the step.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import ceil, inf
from typing import Any, Final, final

import numpy as np
from attrs import asdict

from stagecache.errors import MethodError, OutOfRangeError, ProjectionError, StepSizeError
from stagecache.graph.checkpoint import Checkpoint
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.integrate.constraint_keeper import ConstraintKeeper
from stagecache.study.integrate.localization import (
    MOST_HALVINGS,
    MOST_TURNS,
    Look,
    TriggerWatch,
    Window,
    rates,
)
from stagecache.study.integrate.options import IntegratorOptions
from stagecache.study.integrate.record import IntegratorRecord
from stagecache.study.integrate.signs import Signs
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.methods.derivatives import Derivatives, name_of_y
from stagecache.study.methods.method import (
    AbstractMethod,
    LastStart,
    Resting,
    StepFailed,
    StepSizes,
)
from stagecache.study.methods.step_polynomial import StepPolynomial
from stagecache.study.methods.tolerances import Tolerances, tolerances_of
from stagecache.system.core.system import System

INSTANCE, VELOCITY, ACCELERATION = Stage.INSTANCE, Stage.VELOCITY, Stage.ACCELERATION
MOST_RETRIES: Final = 12
"""Retries of a step, each of a quarter, from whose end the State cannot be projected."""

MOST_LOOKS: Final = 50
"""Looks at event triggers in one step of a System without y."""

SHORT: Final = 1e-6
"""Interval of differences for the slopes of triggers, as a part of a step."""

NEARLY: Final = 0.01
"""Tolerance for the beginning of a step, as a part of it: the window of an event."""


@final
class Advancer:
    """The advanced State of an integration.

    Parameters
    ----------
    system : System
    state : State
        The Advancer changes it.
    method_class : type
        Subclass of AbstractMethod.
    options : IntegratorOptions
    statistics : IntegratorStatistics
    record : IntegratorRecord, optional
        Record of the State, from which to go on; by default it begins.

    Attributes
    ----------
    state : State
        Its time and y may differ from these until `settle` is called.
    t_old, t : float
        Beginning and end of the last step.
    y : (ny,) float
        At its end; prescribed numbers may be older.
    signs : Signs
        Signs of event triggers at that time.
    has_updates : bool
        True if steps exchange auto-update variables.
    num_steps : int
        Steps that were taken.
    """

    def __init__(
        self,
        system: System,
        state: State,
        method_class: type[AbstractMethod],
        options: IntegratorOptions,
        statistics: IntegratorStatistics,
        record: IntegratorRecord | None = None,
    ) -> None:
        system.realize(state, INSTANCE)
        self.state = state
        self._system = system
        self._options = options
        self._statistics = statistics
        self.derivatives = Derivatives(system, state)
        self._keeper = ConstraintKeeper(system, options, statistics)
        self.signs = Signs.of_nothing()
        self._is_updated = False  # at this time
        self.num_steps = 0
        self._interpolant: StepPolynomial | None = None
        self._interpolated: tuple[float, Vector] | None = None
        self._method_class = method_class
        self._method: AbstractMethod | None = None
        self._last_start: LastStart | None = None
        if record is None:
            self.restart()
        else:
            self._go_on(record)

    # ------------------------------------------------------------------ beginning

    def restart(self) -> None:
        """Begin anew with the State, after `initialize` or an event handler.

        Raises
        ------
        ProjectionError
            Projection cannot satisfy the constraints.
        MethodError
            There are constraints, and the method cannot go on from a projected State.
        OutOfRangeError
            A weight is not positive, or a variable not finite.
        NotFiniteError
        """
        system, state, derivatives = self._system, self.state, self.derivatives
        system.realize(state, INSTANCE)
        if not np.isfinite(state.y).all():
            raise _not_finite(state)
        derivatives.look()
        if derivatives.is_driven:
            derivatives.drive()
        self._has_constraints = self._keeper.look(state)
        if self._has_constraints:
            if not self._method_class.takes_constraints:
                raise _without_constraints(self._method_class, system)
            system.realize(state, VELOCITY)
            self._keeper.keep(state, is_start=True)
        options = self._options
        tolerances = tolerances_of(
            system, state, options.accuracy, use_infinity_norm=options.use_infinity_norm
        )
        self._stand(np.array(state.y), tolerances)
        self._last_start = None
        watch = self._watch()
        self.signs = self.signs.written(watch, self.t, self._triggers_now(watch))

    def _stand(self, y: Vector, tolerances: Tolerances) -> None:
        """Be at the time of the State, between two steps."""
        state, sizes = self.state, self._step_sizes()
        if self._method is None or isinstance(self._method, Resting) is bool(state.ny):
            method_class = self._method_class if state.ny else Resting
            self._method = method_class(self.derivatives, tolerances, sizes)
        self._method.tolerances, self._method.sizes = tolerances, sizes
        self._method.project = self._project if self._has_constraints else None
        layout = state._contents.realization.layout
        self.has_updates = any(s.auto_update for s in layout.subsystems)
        self.t_old = self.t = state.time
        self.y = self.derivatives.y = y
        self.derivatives.time = self.t
        self._forget_step()
        self._is_begun = False

    def _watch(self) -> TriggerWatch:
        """Return the triggers to watch: the same object as long as these are the same."""
        system, state, watch = self._system, self.state, self.signs.watch
        infos = system.calc_event_trigger_info(state) if state.num_event_triggers else ()
        if infos is watch.infos:
            return watch
        return TriggerWatch(infos, self._options.accuracy * system.default_time_scale)

    # ------------------------------------------------------------------ records

    @property
    def is_updated(self) -> bool:
        """True if auto-update variables were exchanged at this time already."""
        return self._is_updated

    def record(self) -> IntegratorRecord:
        """Return a record of the advanced State, and of what the next step needs beside it.

        Raises
        ------
        UnsavableValueError
        """
        self.settle()
        method = self.method
        return IntegratorRecord(
            state=self.state.to_bytes(),
            y=self.y,
            atol=method.tolerances.atol,
            step_size=None if method.step_size is None else float(method.step_size),
            last_start=method.last_start if self._is_begun else self._last_start,
            signs=self.signs.record(),
            statistics=asdict(self._statistics),
        )

    def _go_on(self, record: IntegratorRecord) -> None:
        """Go on from a record, whose State neither a projection nor a prescribed motion moves."""
        options = self._options
        self.derivatives.look()
        self._has_constraints = self._keeper.look(self.state)
        self._stand(
            record.y, Tolerances(options.accuracy / 10, record.atol, options.use_infinity_norm)
        )
        self.method.step_size = record.step_size
        self._last_start = record.last_start
        self.signs = Signs.of_record(self._watch(), record.signs)

    def _step_sizes(self) -> StepSizes:
        options = self._options
        most = options.max_step or np.inf
        if self.state.num_event_triggers and not self.state.ny:
            most = min(most, MOST_LOOKS * self._system.default_time_scale)
        return StepSizes(options.initial_step, options.min_step or 0.0, most, options.fixed_step)

    def check_derivatives(self) -> None:
        """Refuse a State at which derivatives are not finite.

        Raises
        ------
        NotFiniteError
        Exception
            Any exception of a hook or an entry.
        """
        self.derivatives.check(self.derivatives(self.t, self.y))

    @property
    def method(self) -> AbstractMethod:
        """The method."""
        assert self._method is not None
        return self._method

    # ------------------------------------------------------------------ one step

    def take_step(self, bound: float) -> bool:
        """Take a step, which ends at the bound or before it.

        Returns
        -------
        bool
            False, if auto-update variables have changed the sign of a trigger: that is an event at
            the start of the step, which is not taken.

        Raises
        ------
        StepSizeError
            It would have to be shorter than allowed.
        NotFiniteError, ProjectionError
        Exception
            Any exception of a hook or an entry.
        """
        t, y, signs = self.t, self.y, self.signs
        method, derivatives, counts = self.method, self.derivatives, self._statistics
        derivatives.failure = None
        failures = derivatives.num_failures
        size = method.step_size
        mark: Checkpoint | None = None
        try:
            if not self._is_begun:
                method.begin(t, y, bound)
                if self._last_start is not None:
                    method.go_on_after(self._last_start)
                    self._last_start = None
                self._is_begun = True
                counts.num_restarts += 1
            if self.has_updates and not self._is_updated:
                derivatives.settle(t, y, ACCELERATION)
                mark = self.state.checkpoint()
                self._update()
                if self.signs.window is not None:
                    return False
            self._forget_step()
            if self._has_constraints:
                self._step_on_constraints(bound)
            else:
                self._step(bound)
            self.t_old, self.t, self.y = t, method.t, method.y
            if signs.watch:
                self._look()
                if self.signs.window is not None and size is not None:
                    assert method.step_size is not None
                    # Steps do not grow from event to event: a step that was cut tells nothing.
                    method.step_size = min(method.step_size, max(size, method.t - t))
            num_steps, num_taken = self.num_steps + 1, counts.num_steps_taken + 1
            self._is_updated, self.num_steps, counts.num_steps_taken = False, num_steps, num_taken
        except BaseException as error:
            self.signs = signs
            self._go_back(t, y, mark)
            method.step_size = size
            if isinstance(error, StepFailed):
                raise self._too_short(error) from None
            if isinstance(error, Exception):
                self._note(error)
            raise
        finally:
            if mark is not None:
                mark.release()
            counts.num_realization_failures += derivatives.num_failures - failures
        return True

    def _step(self, bound: float) -> None:
        """Take a step of the method, and count its attempts."""
        method = self.method
        try:
            method.step(bound)
        except ProjectionError:
            self._count_attempts()
            raise
        self._count_attempts()
        least = method.sizes.least
        if least and method.t < bound and method.t - method.t_old < least * (1 - 1e-9):
            raise StepFailed(f"min_step is {least:g}")

    def _count_attempts(self) -> None:
        """Count the attempts of a step, including the last one."""
        method, counts = self.method, self._statistics
        rejected, diverged = method.num_rejected, method.num_diverged
        counts.num_steps_attempted += 1
        if rejected or diverged:
            counts.num_steps_attempted += rejected + diverged
            counts.num_error_test_failures += rejected
            counts.num_convergence_test_failures += diverged
        counts.num_iterations += method.num_iterations

    def _step_on_constraints(self, bound: float) -> None:
        """Take a step from whose end the State can be projected onto the constraints."""
        t, y, method = self.t, self.y, self.method
        failure: ProjectionError | None = None
        for retries in range(MOST_RETRIES + 1):
            try:
                self._step(bound)
            except ProjectionError as error:
                failure = error
            except StepFailed as error:
                raise failure or error from None
            else:
                return
            size = (self._projected_to - t) / 4
            is_last = retries == MOST_RETRIES or size < method.sizes.least
            if is_last or method.sizes.fixed is not None:
                raise failure
            method.step_size = size
            method.begin(t, y, bound)

    def _project(self, t: float, y: Vector, errors: Vector | None) -> Vector:
        """Project the end of a step onto the constraints, as `method.Projection`."""
        self._projected_to = t
        self.derivatives.settle(t, y, VELOCITY)
        forced = self._options.project_every_step
        return self._moved() if self._keeper.keep(self.state, forced=forced, errors=errors) else y

    def _moved(self) -> Vector:
        """Return y of the State, which has been projected."""
        y = self.derivatives.y = np.array(self.state.y)
        return y

    def _update(self) -> None:
        """Exchange auto-update variables, in the State as it is at the start of the step."""
        self.state.auto_update_discrete_variables()
        self._is_updated = True
        watch = self.signs.watch
        if watch:
            self.state.time = self.t  # an exchange invalidates no stage; this does
            self.signs = self.signs.written(watch, self.t, self._triggers_now(watch))

    def finish(self) -> None:
        """Exchange auto-update variables at the end, since no further step does it.

        Raises
        ------
        Exception
            Any exception of a hook or an entry.
        """
        if self.has_updates and not self._is_updated:
            self.derivatives.settle(self.t, self.y, ACCELERATION)
            mark = self.state.checkpoint()
            try:
                self.state.auto_update_discrete_variables()
                self._is_updated = True
            except BaseException:
                self.state.rollback(mark)
                self._is_updated = False
                raise
            finally:
                mark.release()

    def shift(self, t: float) -> None:
        """Change the time by rounding only; y stays."""
        self._is_begun, self._last_start = False, None
        self.t = t

    # ------------------------------------------------------------------ events

    def _look(self) -> None:
        """Look for changes of triggers; cut the step at the earliest event.

        Triggers are evaluated at the end of the step, where they turn towards zero in it, and at
        intervals of `look_every`.
        """
        signs, length = self.signs, self.t - self.t_old
        values = self._triggers_now(signs.watch)
        speeds = signs.speeds_over(length, values)
        every = signs.watch.look_every
        if not self.state.ny:
            every = min(every, self._system.default_time_scale)
        is_far = every == inf and signs.are_far(length, values, speeds)
        if is_far and not self.method.has_long_steps:
            self.signs = signs.stepped(values, None, speeds)
            return
        has_inside = self.t_old + 1e-3 * SHORT * length > self.t_old  # else rounding hides it
        slopes = self._slopes_at_end(values) if has_inside else None
        if slopes is not None:
            speeds = np.maximum(speeds, np.abs(slopes))
        window = None
        if not (is_far and signs.are_far(length, values, speeds)):
            window = self._first_change(values, slopes, every)
        if window is None:
            self.signs = signs.stepped(values, slopes, speeds)
        else:
            self._cut(signs.watch.localize(window, self._triggers_at))

    def _first_change(self, values: Vector, slopes: Vector | None, every: float) -> Window | None:
        """Return the first window in the last step in which signs change, given its last values."""
        t, length, signs = self.t_old, self.t - self.t_old, self.signs
        if slopes is None:
            low, last = Look(t, signs.after, values), Look(self.t, values, values)
            return signs.watch.first_change(low, last, self._look_at, 0)
        low = Look(t, signs.after, self._slopes_after(t, signs.values))
        last = Look(self.t, values, slopes)
        halvings = MOST_HALVINGS if self.method.has_long_steps else 0
        count = max(ceil(length / every), 1)
        for i in range(1, count + 1):
            high = last if i == count else self._look_at(t + length * i / count)
            window = signs.watch.first_change(low, high, self._look_at, MOST_TURNS, halvings)
            if window is not None:
                return window
            low = high
        return None

    def _look_at(self, t: float) -> Look:
        """Look at the triggers at a time in the last step."""
        values = self._triggers_at(t)
        return Look(t, values, self._slopes_after(t, values))

    def _slopes_after(self, t: float, values: Vector) -> Vector:
        """Return the time derivatives of the triggers at a time in the last step."""
        if t == self.t_old and self.signs.slopes is not None:
            return self.signs.slopes
        later = t + SHORT * (self.t - self.t_old)
        return rates(values, self._triggers_at(later), later - t)

    def _slopes_at_end(self, values: Vector) -> Vector:
        """Return the time derivatives of the triggers at the end of the last step.

        Their values are those in the State now.
        """
        earlier = self.t - SHORT * (self.t - self.t_old)
        if self.state._contents.realization.machine.stage < ACCELERATION:
            then = self._triggers_at(earlier)
        else:  # y is known nearby without an interpolant
            y = self.y + (earlier - self.t) * self.state._contents.pools.whole["ydot"]
            then = self._triggers_with(earlier, y, self.signs.watch)
        return rates(then, values, self.t - earlier)

    def report_window(self) -> None:
        """Mark the window in which events were found as reported."""
        self.signs = self.signs.reported()

    def split_window(self, t: float) -> Window:
        """Narrow the window in which events were found to one side of a time in it."""
        window = self.signs.window
        assert window is not None
        return self._cut(self.signs.watch.split(window, t, self._triggers_at))

    def _cut(self, window: Window) -> Window:
        """Cut the last step at the end of a window."""
        values = window.after
        if window.high < self.t:
            y = self.interpolate(window.high)
            if self._has_constraints:
                self.derivatives.settle(window.high, y, VELOCITY)
                if self._keeper.keep(self.state):
                    y, found = self._moved(), self._last_step()
                    self._interpolant = found.through(found.y0, window.high, y)
                    self._interpolated = window.high, y
                    values = self._triggers_with(window.high, y, self.signs.watch)
            self._is_begun = False  # first: the method is elsewhere
            self.t, self.y = window.high, y
        self.signs = self.signs.triggered(window, values)
        return window

    def _triggers_at(self, t: float) -> Vector:
        return self._triggers_with(t, self.interpolate(t), self.signs.watch)

    def _triggers_now(self, watch: TriggerWatch) -> Vector:
        return self._triggers_with(self.t, self.y, watch)

    def _triggers_with(self, t: float, y: Vector, watch: TriggerWatch) -> Vector:
        """Return the triggers at a time and y, which the State has then."""
        if watch:
            self.derivatives.settle(t, y, watch.stage)
        return watch.values(self.state._contents.pools.whole["event_triggers"], t)

    # ------------------------------------------------------------------ in between

    def interpolate(self, t: float) -> Vector:
        """Return y at a time in the last step, by the interpolant of the method.

        The same array, if it is the time of the last call: the State may have it.
        """
        if self._interpolated is None or self._interpolated[0] != t:
            self._interpolated = t, self._last_step()(t)
        return self._interpolated[1]

    def _forget_step(self) -> None:
        """Forget the interpolant of the last step, and y that was interpolated last."""
        self._interpolant = self._interpolated = None

    def _last_step(self) -> StepPolynomial:
        if self._interpolant is None:
            self._interpolant = self.method.interpolant()
        return self._interpolant

    def curve(self) -> StepPolynomial:
        """Return y over the last step, with prescribed motion."""
        found: StepPolynomial = self._unguarded(self._curve)
        return found

    def _curve(self) -> StepPolynomial:
        if not self.derivatives.is_driven:
            return self._last_step()
        t, h = self.t_old, self.t - self.t_old
        return StepPolynomial.of_values(t, h, max(self.method.degree, 3), self._driven)

    def _driven(self, times: Vector) -> Vector:
        """Return y at times in the last step, with prescribed motion."""
        found = []
        for t in times.tolist():
            self.derivatives.settle(t, self.interpolate(t), Stage.TIME)
            found.append(self.state.y.copy())
        return np.array(found)

    def settle(self, stage: Stage = Stage.TIME) -> None:
        """Write the time and y at the end of the last step into the State, and realize it."""
        self._unguarded(partial(self.derivatives.settle, self.t, self.y, stage))

    def _unguarded(self, write: Callable[[], Any]) -> Any:
        """Call a function that writes the State, which is guarded between calls."""
        return self.state._contents.guarded(None, write)

    # ------------------------------------------------------------------ what can go wrong

    def _go_back(self, t: float, y: Vector, mark: Checkpoint | None) -> None:
        """Restore the State to its values before the step."""
        self.t, self.y = t, y
        self._forget_step()
        self._is_begun = False
        if mark is not None and not mark.is_released:
            self._is_updated = False
            self.state.rollback(mark)
            self.derivatives.look()
        self.derivatives.y = None
        with suppress(Exception):  # it was realized before; if not, the first error counts
            self.derivatives.settle(t, y, ACCELERATION)

    def _note(self, error: Exception) -> None:
        error.add_note(
            f"while {self._system.name} was integrated from t = {self.t:.9g}, "
            "to which the State has returned"
        )

    def _too_short(self, failed: StepFailed) -> Exception:
        """Return the error of a step that would be too short: the reason, if it is known."""
        error = self.derivatives.failure or _too_fast(
            self.method, self.derivatives, self.t, self.y, str(failed)
        )
        self._note(error)
        return error


def _not_finite(state: State) -> OutOfRangeError:
    """Return the error of a State with a variable that is not finite."""
    worst = int(np.argmin(np.isfinite(state.y)))
    name = name_of_y(state, worst)
    return OutOfRangeError(
        f"{name}: is not finite at t = {state.time:.9g}",
        "a finite number to go on from",
        f"{state.y[worst]}",
        "write another one; after an event, look at what its handler writes",
    )


def _without_constraints(method: type[AbstractMethod], system: System) -> MethodError:
    """Return the error of a method that cannot integrate Systems with constraints."""
    return MethodError(
        f"{method.name}: cannot integrate {system.name}, which has constraints",
        "a method that goes on from a State that was moved onto them: DOP853, RK45, RK23, Radau, "
        "BDF, Verlet, Euler",
        f"{method.name}, which begins anew after each projection, at order 1",
        "choose 'BDF' or 'Radau' for a stiff System, 'DOP853' for others",
    )


def _too_fast(
    method: AbstractMethod, derivatives: Derivatives, t: float, y: Vector, why: str
) -> StepSizeError:
    """Return the error of a step from t and y that would be too short; it names the fastest y.

    The State of the derivatives has another y afterwards.
    """
    if not y.size:
        return StepSizeError(
            f"the time of {derivatives.system.name}: cannot go on from t = {t:.9g}",
            "a finite end, or an event in the future",
            f"{why}; and there is nothing to integrate",
            "step to a finite time; or schedule an event that ends the simulation",
        )
    worst = _fastest(method, derivatives, t, y)
    name = name_of_y(derivatives.state, worst)
    return StepSizeError(
        f"{name}: changes too fast for a step from t = {t:.9g}",
        "a step that is long enough, with an error that is small enough",
        f"a shorter one would be needed: {why}; {name} = {y[worst]:.9g}",
        "allow a shorter min_step or less accuracy; or look for a jump or a pole of the model "
        "there, which needs an event trigger",
    )


def _fastest(method: AbstractMethod, derivatives: Derivatives, t: float, y: Vector) -> int:
    """Return the index of the derivative that changes most, measured by tolerances."""
    h = method.sizes.least or 1e-6
    sizes = method.tolerances.atol + method.tolerances.rtol * np.abs(y)
    derivatives.raises = False
    first = derivatives(t, y)
    changes = np.abs(derivatives(t + h, y + h * first) - first)
    ranks = np.nan_to_num(changes, nan=np.inf) / sizes
    return int(np.argmax(ranks if ranks.any() else np.abs(first) / sizes))
