"""Stepping: what `step_to` returns and when, at which times, and what it leaves as it was."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import Stage, System, strict
from stagecache.errors import (
    ForeignStateError,
    NotANumberError,
    OutOfRangeError,
    ReadOnlyError,
    StudyError,
    TopologyVersionError,
    UnknownChoiceError,
    WrongTypeError,
)
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import StepStatus, TerminationReason
from stagecache.system.events.handlers import PeriodicEventReporter
from tests.profiles import examples
from tests.study.integrating import (
    END,
    LIMIT,
    METHODS,
    ONE_STEP,
    REPORT,
    SCHEDULED,
    START,
    STEP,
    integrating,
    run,
    run_to,
)
from tests.study.models import Oscillator, state_of

METHOD = pytest.mark.parametrize("method", METHODS)
FIXED = pytest.mark.parametrize("method", ONE_STEP)

TIMES = st.lists(st.just(0.0) | st.floats(1e-100, 2.0), min_size=1, max_size=8).map(sorted)


# ---------------------------------------------------------------------- times


@METHOD
@examples(8)
@given(times=TIMES, interpolates=st.booleans())
def test_a_step_to_a_time_ends_there_to_the_bit(
    method: str, times: list[float], interpolates: bool
) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-2, allow_interpolation=interpolates)
    for time in times:
        state = run_to(integrator, time)
        assert integrator.time == state.time == time
        if not interpolates:
            assert integrator.advanced_time == time
            assert not integrator.is_state_interpolated


@METHOD
@examples(8)
@given(times=TIMES)
def test_no_step_goes_beyond_a_scheduled_event(method: str, times: list[float]) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-2)
    assert integrator.step_to(5.0, times[0]) is START
    for time in times:
        assert integrator.step_to(5.0, time) is SCHEDULED
        assert integrator.time == integrator.advanced_time == integrator.state.time == time


@METHOD
@pytest.mark.parametrize("beyond", [0.5, math.inf])
def test_a_step_beyond_the_final_time_ends_the_simulation_there(method: str, beyond: float) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-2, final_time=1.5)
    assert [integrator.step_to(t) for t in (1.0, 1.0)] == [START, REPORT]
    assert not integrator.is_simulation_over
    assert integrator.step_to(1.5 + beyond) is END
    assert integrator.is_simulation_over
    assert integrator.termination_reason is TerminationReason.REACHED_FINAL_TIME
    with pytest.raises(StudyError, match="is over"):
        integrator.step_to(100.0)
    assert integrator.time == integrator.state.time == 1.5


@METHOD
def test_a_report_at_the_final_time_comes_once_and_then_the_end(method: str) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-2, final_time=1.5)
    assert [integrator.step_to(1.5) for _ in range(2)] == [START, REPORT]
    assert not integrator.is_simulation_over
    assert integrator.termination_reason is None
    assert integrator.step_to(1.5) is END
    assert integrator.termination_reason is TerminationReason.REACHED_FINAL_TIME


def test_a_scheduled_event_at_the_final_time_comes_before_the_end() -> None:
    integrator = integrating(Oscillator(), final_time=1.0)
    found = [integrator.step_to(1.0, 1.0) for _ in range(3)]
    assert found == [START, REPORT, SCHEDULED]
    assert integrator.step_to(1.0) is END


def test_a_report_at_the_time_of_a_scheduled_event_comes_before_it() -> None:
    integrator = integrating(Oscillator())
    assert [integrator.step_to(0.5, 0.5) for _ in range(2)] == [START, REPORT]
    assert integrator.step_to(1.0, 0.5) is SCHEDULED
    assert integrator.time == 0.5
    assert integrator.step_to(1.0, 1.0) is REPORT


@METHOD
def test_each_step_is_returned_once_if_that_is_wanted(method: str) -> None:
    plain = integrating(Oscillator(), method, accuracy=1e-2)
    each = integrating(Oscillator(), method, accuracy=1e-2, return_every_step=True)
    run_to(plain, 2.0)
    seen = [(status, each.time) for status in run(each, 2.0)]
    statuses = [status for status, _ in seen]
    assert statuses == [START, *[STEP] * (len(seen) - 2), REPORT]
    times = [time for _, time in seen]
    assert times == sorted(times)
    assert len(set(times[1:])) == len(times) - 1
    # the last step may go beyond the report; it is returned by the next call
    is_beyond = each.advanced_time > 2.0
    assert each.statistics.num_steps_taken == statuses.count(STEP) + is_beyond
    assert each.statistics.num_steps_taken == plain.statistics.num_steps_taken
    assert each.step_to(each.advanced_time + 1e-9) is (STEP if is_beyond else REPORT)


def test_a_step_that_ends_at_a_report_is_returned_first() -> None:
    integrator = integrating(Oscillator(), return_every_step=True, allow_interpolation=False)
    assert integrator.step_to(0.01) is START
    seen = list(run(integrator, 0.01))
    assert seen[-2:] == [STEP, REPORT]


@METHOD
@pytest.mark.parametrize("limit", [1, 3])
def test_the_step_limit_counts_the_steps_of_one_call(method: str, limit: int) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-4, step_limit=limit, max_step=0.1)
    integrator.step_to(10.0)
    for i in (1, 2):
        assert integrator.step_to(10.0) is LIMIT
        assert integrator.statistics.num_steps_taken == limit * i
        assert not integrator.is_state_interpolated
        assert integrator.time < 10.0
    statuses = list(run(integrator, 10.0))
    assert set(statuses[:-1]) == {LIMIT}
    assert integrator.time == 10.0


def test_an_interval_counts_from_the_state_that_is_seen() -> None:
    integrator = integrating(Oscillator())
    assert integrator.step_by(0.25) is START
    assert integrator.step_by(0.25) is REPORT
    assert integrator.step_by(0.25) is REPORT
    assert integrator.time == 0.5 < integrator.advanced_time


# ---------------------------------------------------------------------- sizes of steps


def sizes_of(integrator: Integrator, time: float) -> list[float]:
    """The steps up to a time; it has to return each."""
    found = []
    for status in run(integrator, time):
        if status is STEP:
            assert integrator.previous_step is not None
            found.append(integrator.previous_step)
    return found


@METHOD
@pytest.mark.parametrize("size", [0.01, 0.05])
def test_no_step_is_longer_than_the_maximum(method: str, size: float) -> None:
    integrator = integrating(
        Oscillator(), method, accuracy=1e-1, max_step=size, return_every_step=True
    )
    sizes = sizes_of(integrator, 1.0)
    assert max(sizes) <= size * (1 + 1e-12)
    assert len(sizes) >= 1.0 / size - 1


@METHOD
def test_the_first_step_is_what_it_is_to_be(method: str) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-2, initial_step=1e-4)
    assert integrator.actual_initial_step is None
    assert integrator.previous_step is None
    run_to(integrator, 1.0)
    assert integrator.actual_initial_step == pytest.approx(1e-4, rel=1e-6)
    assert integrator.previous_step is not None
    assert integrator.previous_step > 1e-3
    assert integrator.next_step is not None
    assert integrator.next_step > 1e-3


@FIXED
@examples(8)
@given(size=st.floats(0.01, 0.3))
def test_fixed_steps_are_all_of_that_size_but_the_last_before_a_bound(
    method: str, size: float
) -> None:
    integrator = integrating(
        Oscillator(),
        method,
        accuracy=1e-8,
        fixed_step=size,
        return_every_step=True,
        final_time=1.0,
    )
    sizes = sizes_of(integrator, 1.0)
    assert sizes[:-1] == pytest.approx([size] * (len(sizes) - 1), rel=1e-9)
    assert 1e-9 * size < sizes[-1] <= size * (1 + 1e-8)
    assert sum(sizes) == pytest.approx(1.0)
    assert integrator.statistics.num_error_test_failures == 0


@FIXED
def test_a_fixed_step_that_divides_the_time_needs_no_tiny_one_at_its_end(method: str) -> None:
    integrator = integrating(Oscillator(), method, fixed_step=0.1, final_time=1.0)
    run_to(integrator, 1.0)
    assert integrator.statistics.num_steps_taken == 10


@METHOD
def test_a_bound_that_cuts_a_step_short_is_forgotten_after_it(method: str) -> None:
    """Reports without interpolation, close to each other, cost their steps and few more."""
    plain = integrating(Oscillator(), method, accuracy=1e-3)
    run_to(plain, 4.0)
    cut = integrating(Oscillator(), method, accuracy=1e-3)
    cut.step_to(9.0)
    for i in range(1, 5):
        for offset in (-1e-5, 0.0):
            while cut.step_to(9.0, i + offset) is not SCHEDULED:
                pass
    factor = 8 if method in ("BDF", "LSODA") else 3  # which begin at a low order again
    assert cut.statistics.num_steps_taken <= factor * plain.statistics.num_steps_taken + 16


# ---------------------------------------------------------------------- what it leaves alone


@METHOD
def test_the_state_that_it_begins_with_stays_as_it_is(method: str) -> None:
    model = Oscillator()
    _, state = state_of(model)
    before = (
        state.y.tolist(),
        state.stage,
        state.stage_versions,
        state.variable("q").version(state),
    )
    run_to(integrating(model, method, state), 1.0)
    assert (
        state.y.tolist(),
        state.stage,
        state.stage_versions,
        state.variable("q").version(state),
    ) == before


@METHOD
def test_the_advanced_state_is_the_end_of_a_step_whatever_was_tried(method: str) -> None:
    """Attempts and interpolation happen in the same State."""
    integrator = integrating(Oscillator(), method, accuracy=1e-3, return_every_step=True)
    for status in run(integrator, 3.0):
        shown = integrator.state
        assert shown.time == integrator.time
        assert shown.time <= integrator.advanced_state.time == integrator.advanced_time
        if status is not REPORT:
            assert shown is integrator.advanced_state
    assert shown.time == 3.0
    y = integrator.advanced_state.y.copy()
    integrator.step_to(integrator.advanced_time)
    np.testing.assert_array_equal(integrator.state.y, y)


def test_the_state_that_is_shown_is_only_for_reading() -> None:
    integrator = integrating(Oscillator())
    with pytest.raises(ReadOnlyError, match="reinitialize"):  # before the first step
        integrator.state.q = [2.0]
    integrator.step_to(1.0)
    integrator.step_to(1.0)
    assert integrator.is_state_interpolated
    with pytest.raises(ReadOnlyError, match="only for reading"):
        integrator.state.q = [1.0]
    integrator.system.realize(integrator.state)
    integrator.step_to(integrator.advanced_time)
    assert not integrator.is_state_interpolated
    with pytest.raises(ReadOnlyError, match="reinitialize"):
        integrator.state.q = [1.0]
    integrator.system.realize(integrator.state)
    twin = integrator.state.copy()
    twin.q = [1.0]
    integrator.advanced_state.q = [1.0]
    integrator.reinitialize(Stage.POSITION)
    with pytest.raises(ReadOnlyError, match="reinitialize"):
        integrator.state.q = [1.0]


def test_a_change_of_the_advanced_state_has_to_be_told() -> None:
    integrator = integrating(Oscillator(), accuracy=1e-6)
    integrator.step_to(1.0, 1.0)
    integrator.step_to(1.0, 1.0)
    integrator.advanced_state.q = [2.0]
    with pytest.raises(StudyError, match=r"reinitialize\(Stage\.POSITION\)"):
        integrator.step_to(2.0)
    integrator.reinitialize(Stage.POSITION)
    assert integrator.step_to(2.0) is START
    assert integrator.state.q[0] == 2.0
    u0 = float(integrator.state.u[0])
    state = run_to(integrator, 2.0)
    assert state.q[0] == pytest.approx(2 * math.cos(2) + u0 / 2 * math.sin(2), abs=1e-5)


def test_reading_the_advanced_state_is_no_change() -> None:
    integrator = integrating(Oscillator())
    integrator.step_to(1.0)
    integrator.system.realize(integrator.advanced_state)
    assert integrator.step_to(1.0) is REPORT
    integrator.system.realize(integrator.advanced_state)
    integrator.reinitialize(Stage.INFINITY)
    assert integrator.step_to(2.0) is REPORT


@METHOD
def test_a_parameter_that_was_changed_counts_from_then_on(method: str) -> None:
    model = Oscillator()
    integrator = integrating(model, method, accuracy=1e-4)
    integrator.step_to(5.0, 1.0)
    assert integrator.step_to(5.0, 1.0) is SCHEDULED
    model.decay.set(integrator.advanced_state, 0.0)
    integrator.reinitialize(Stage.INSTANCE)
    assert integrator.step_to(5.0) is START
    state = run_to(integrator, 3.0)
    assert state.z[0] == pytest.approx(math.exp(-0.5), abs=1e-2)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_variable_that_is_no_finite_number_is_refused_by_its_name(value: float) -> None:
    system, state = state_of(Oscillator())
    state.u = [value]
    with pytest.raises(OutOfRangeError, match=r"oscillator\.speed: is not finite at t = 0"):
        Integrator(system).initialize(state)
    integrator = integrating(Oscillator())
    integrator.step_to(1.0, 0.5)
    integrator.step_to(1.0, 0.5)
    integrator.advanced_state.q = [value]
    with pytest.raises(OutOfRangeError, match=r"oscillator\.place: is not finite at t = 0.5"):
        integrator.reinitialize(Stage.POSITION)


@METHOD
def test_times_are_plain_floats(method: str) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-2, return_every_step=True)
    for _ in run(integrator, 1.0):
        times = [integrator.time, integrator.advanced_time, integrator.state.time]
        assert [type(time) for time in times] == [float] * 3


def test_a_handler_ends_the_simulation() -> None:
    integrator = integrating(Oscillator())
    integrator.step_to(1.0, 0.5)
    integrator.step_to(1.0, 0.5)
    integrator.reinitialize(Stage.INFINITY, should_terminate=True)
    assert integrator.is_simulation_over
    assert integrator.termination_reason is TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION
    assert integrator.step_to(1.0) is END
    assert integrator.time == 0.5


def test_it_can_be_initialized_again() -> None:
    model = Oscillator()
    _, state = state_of(model)
    integrator = integrating(model, state=state, final_time=1.0)
    assert list(run(integrator, 1.0)) == [START, REPORT]
    first = integrator.state.y.copy()
    assert integrator.step_to(1.0) is END
    integrator.initialize(state)
    assert not integrator.is_simulation_over
    assert integrator.time == 0.0
    assert list(run(integrator, 1.0)) == [START, REPORT]
    np.testing.assert_array_equal(integrator.state.y, first)
    assert integrator.statistics.num_initializations == 2


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Euler", "Verlet"])
def test_after_events_that_change_the_state_steps_are_as_long_as_before(method: str) -> None:
    """One step, or few, from one scheduled event to the next."""
    integrator = integrating(Oscillator(), method, accuracy=1e-1)
    while integrator.step_to(9.0, 1.0) is not SCHEDULED:
        pass
    before = integrator.statistics.num_steps_taken
    for i in range(1, 101):
        integrator.reinitialize(Stage.VELOCITY)
        while integrator.step_to(9.0, 1.0 + i * 1e-3) is not SCHEDULED:
            pass
    assert integrator.statistics.num_steps_taken - before <= 110
    assert integrator.statistics.num_restarts >= 100


def test_it_works_the_same_when_it_is_traced_or_watched() -> None:
    model = Oscillator()
    _, state = state_of(model)
    plain = run_to(integrating(model, state=state), 2.0).y.copy()
    with strict(state):
        watched = integrating(model, state=state)
        np.testing.assert_array_equal(run_to(watched, 2.0).y, plain)
    traced = integrating(model, state=state)
    with traced.advanced_state.trace() as trace:
        traced.reinitialize(Stage.INFINITY)
        np.testing.assert_array_equal(run_to(traced, 2.0).y, plain)
    assert trace.events


# ---------------------------------------------------------------------- statistics


@METHOD
def test_statistics_add_up(method: str) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-4)
    run_to(integrator, 10.0)
    counts = integrator.statistics
    failures = counts.num_error_test_failures + counts.num_convergence_test_failures
    assert counts.num_steps_taken > 0
    assert counts.num_steps_attempted == counts.num_steps_taken + failures
    assert counts.num_realizations > counts.num_steps_attempted
    realized = integrator.system.statistics.num_realizations(Stage.ACCELERATION)
    assert 0 < realized <= counts.num_realizations
    assert counts.num_projections == counts.num_projection_failures == 0
    assert counts.num_restarts == 1
    assert f"{counts.num_steps_taken:,}  steps taken" in repr(counts)
    counts.reset()
    assert counts.num_realizations == 0
    assert "nothing" in str(counts)


@pytest.mark.parametrize(("method", "stages"), [("RK23", 3), ("RK45", 6), ("DOP853", 12)])
def test_rejected_steps_of_explicit_methods_are_counted(method: str, stages: int) -> None:
    integrator = integrating(Oscillator(), method, accuracy=1e-8, initial_step=10.0)
    integrator.statistics.reset()
    integrator.step_to(1.0)
    integrator.step_to(1.0, 1.0)
    counts = integrator.statistics
    assert counts.num_error_test_failures > 0
    assert counts.num_realizations == pytest.approx(stages * counts.num_steps_attempted, abs=2)


# ---------------------------------------------------------------------- bad input


def test_it_needs_a_system_a_known_method_and_sensible_options() -> None:
    system = System(Oscillator())
    with pytest.raises(WrongTypeError, match="has no System"):
        Integrator(Oscillator())  # type: ignore[arg-type]  # is refused
    with pytest.raises(UnknownChoiceError, match="did you mean 'RK45'") as caught:
        Integrator(system, "rk45")
    assert "DOP853" in caught.value.expected
    with pytest.raises(UnknownChoiceError):
        Integrator(system, 3)  # type: ignore[arg-type]  # is refused


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("accuracy", value) for value in (0.0, -1.0, 1.0, 1e-14, math.nan)],
        *[("constraint_tolerance", value) for value in (0.0, math.inf)],
        *[("max_step", value) for value in (0.0, math.nan)],
        ("min_step", -1e-3),
        ("fixed_step", 0),
        ("step_limit", 0),
        ("final_time", math.nan),
    ],
)
def test_options_out_of_range_are_refused_by_name(name: str, value: float) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(OutOfRangeError, match=f"Integrator\\({name}="):
        Integrator(System(), **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("accuracy", "1e-3"), ("accuracy", None), ("max_step", True), ("step_limit", 1.5)],
        *[("return_every_step", 1), ("project_every_step", None)],
    ],
)
def test_options_of_another_type_are_refused_by_name(name: str, value: object) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises(NotANumberError, match=f"Integrator\\({name}="):
        Integrator(System(), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"fixed_step": 0.1, "max_step": 0.2},
        {"min_step": 0.2, "max_step": 0.1},
        {"initial_step": 0.3, "max_step": 0.1},
        {"initial_step": 0.1, "min_step": 0.2},
    ],
)
def test_step_sizes_that_contradict_each_other_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OutOfRangeError, match="_step"):
        Integrator(System(), **options)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_methods_that_take_no_fixed_steps_say_which_do(method: str) -> None:
    with pytest.raises(OutOfRangeError, match="cannot take fixed steps") as caught:
        Integrator(System(), method, fixed_step=0.1)
    assert "DOP853" in caught.value.expected
    assert method not in caught.value.expected


def test_nothing_can_be_asked_before_it_is_initialized() -> None:
    integrator = Integrator(System(Oscillator()))
    for act in (
        lambda: integrator.state,
        lambda: integrator.advanced_state,
        lambda: integrator.time,
        lambda: integrator.step_to(1.0),
        lambda: integrator.step_by(1.0),
        lambda: integrator.reinitialize(Stage.TIME),
        lambda: integrator.is_simulation_over,
        lambda: integrator.next_step,
    ):
        with pytest.raises(StudyError, match="not known"):
            act()
    assert "not initialized" in repr(integrator)


def test_only_states_of_the_system_are_taken() -> None:
    integrator = integrating(Oscillator())
    before = integrator.state
    with pytest.raises(WrongTypeError):
        integrator.initialize(3)  # type: ignore[arg-type]  # is refused
    with pytest.raises(ForeignStateError):
        integrator.initialize(state_of(Oscillator())[1])
    assert integrator.state is before


def test_a_state_after_the_final_time_is_refused() -> None:
    system, state = state_of(Oscillator())
    state.time = 2.0
    with pytest.raises(OutOfRangeError, match="later than the final time"):
        Integrator(system, final_time=1.0).initialize(state)


@pytest.mark.parametrize("time", [math.nan, -1.0])
def test_times_that_have_passed_are_refused(time: float) -> None:
    integrator = integrating(Oscillator())
    run_to(integrator, 1.0)
    y, advanced = integrator.state.y.copy(), integrator.advanced_time
    with pytest.raises(OutOfRangeError, match="report_time"):
        integrator.step_to(time)
    with pytest.raises(OutOfRangeError, match="scheduled_event_time"):
        integrator.step_to(2.0, time)
    with pytest.raises(NotANumberError):
        integrator.step_to("2")  # type: ignore[arg-type]  # is refused
    assert (integrator.time, integrator.advanced_time) == (1.0, advanced)
    np.testing.assert_array_equal(integrator.state.y, y)


def test_a_handler_may_not_change_the_time() -> None:
    integrator = integrating(Oscillator())
    integrator.step_to(1.0, 0.5)
    integrator.step_to(1.0, 0.5)
    integrator.advanced_state.time = 0.7
    with pytest.raises(StudyError, match="the time of the advanced State was changed"):
        integrator.reinitialize(Stage.TIME)


def test_statuses_say_what_has_happened_and_what_to_do() -> None:
    for member in (*StepStatus, *TerminationReason):
        assert member.message
        assert member.hint
        assert str(member) == member.name.lower().replace("_", " ")
        assert repr(member).endswith(f".{member.name}")


def test_a_study_knows_its_name_and_version() -> None:
    integrator = Integrator(System(Oscillator()), name="ahead", version="2")
    assert (integrator.name, integrator.version) == ("ahead", "2")
    assert (integrator.method_name, integrator.method_min_order) == ("DOP853", 8)
    assert integrator.constraint_tolerance_in_use == integrator.accuracy_in_use / 10
    assert isinstance(integrator.options.final_time, float)


def test_it_does_not_step_after_a_change_of_the_topology() -> None:
    integrator = integrating(Oscillator())
    run_to(integrator, 0.5)
    before = integrator.advanced_time
    integrator.system.add_event_reporter(PeriodicEventReporter(0.1, lambda _: None))
    with pytest.raises(TopologyVersionError):
        integrator.step_to(5.0)
    assert integrator.advanced_time == before
    integrator.initialize(integrator.system.realize_topology())
    assert run_to(integrator, 0.5).time == 0.5
