"""Simulations in one call: which rows there are, what they have, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest

from stagecache import Stage, State, Subsystem, System, discrete, q_variable
from stagecache.errors import (
    EventHandlerError,
    ForeignStateError,
    NotANumberError,
    NotFiniteError,
    OutOfRangeError,
    ShapeError,
    StudyError,
    UnknownChoiceError,
    UnknownOptionError,
    UnknownPathError,
    WrongTypeError,
)
from stagecache.study.integrate.integrator import Integrator
from stagecache.study.integrate.step_status import TerminationReason
from stagecache.study.simulate import simulate
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.events.events import EventAction
from stagecache.system.events.handlers import (
    PeriodicEventHandler,
    ScheduledEventHandler,
    TriggeredEventHandler,
)
from tests.study.integrating import METHODS
from tests.study.models import REFERENCE_Q, REFERENCE_U, DoublePendulum, Oscillator
from tests.system.event_models import Ball


class Cart(Subsystem):
    clicks = discrete(0, invalidates=Stage.REPORT)
    speed = discrete(1.0, invalidates=Stage.DYNAMICS)
    place = q_variable(0.0)

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = 1.0

    def click(self, state: State) -> None:
        """Count."""
        self.clicks.set(state, self.clicks(state) + 1)


HINT = "set accuracy=..., the largest error of a step: rtol = atol = accuracy / 10"


def started(*subsystems: Subsystem) -> tuple[System, State]:
    """A new System, and a State of it."""
    system = System(*subsystems)
    return system, system.new_state()


@pytest.mark.parametrize("method", ["DOP853", "RK45", "BDF"])
def test_the_double_pendulum_agrees_with_simbody(method: str) -> None:
    system, state = started(DoublePendulum())
    trajectory = simulate(system, state, 10.0, method=method, accuracy=1e-6, every=10.0)
    assert trajectory.times.tolist() == [0.0, 10.0]
    assert trajectory.q[-1] == pytest.approx(REFERENCE_Q, abs=1e-4)
    assert trajectory.u[-1] == pytest.approx(REFERENCE_U, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interpolates", [True, False])
def test_rows_are_at_multiples_of_the_interval_and_at_the_end(
    method: str, interpolates: bool
) -> None:
    oscillator = Oscillator()
    system, state = started(oscillator)
    state.time = 0.5
    trajectory = simulate(
        system, state, 1.75, method=method, every=0.1, allow_interpolation=interpolates
    )
    assert trajectory.times.tolist() == [*[0.5 + k * 0.1 for k in range(13)], 1.75]
    assert state.time == 0.5
    assert state.stage == Stage.MODEL


def test_an_end_that_is_a_multiple_but_for_rounding_has_one_row() -> None:
    system, state = started(Oscillator())
    for end in (1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)):
        trajectory = simulate(system, state, end, every=0.25)
        assert trajectory.times.tolist() == [0.0, 0.25, 0.5, 0.75, end]


def test_without_an_interval_there_is_a_row_for_each_step() -> None:
    system, state = started(Oscillator())
    trajectory = simulate(system, state, 3.0, accuracy=1e-5)
    assert trajectory.statistics is not None
    assert len(trajectory) == trajectory.statistics.num_steps_taken + 1
    assert np.all(np.diff(trajectory.times) > 0)
    assert trajectory.times[[0, -1]].tolist() == [0.0, 3.0]
    solutions = [Oscillator.solution(t) for t in trajectory.times]
    assert trajectory.y == pytest.approx(np.array(solutions), abs=1e-4)
    assert trajectory.termination_reason is TerminationReason.REACHED_FINAL_TIME
    assert trajectory[1:3].statistics is trajectory.statistics


def test_there_are_rows_before_and_after_an_event() -> None:
    ball = Ball()
    system, state = started(ball)
    trajectory = simulate(system, state, 1.0, accuracy=1e-6, record=(ball.energy,))
    speeds = trajectory["ball.speed"]
    bounce = int(np.flatnonzero(np.diff(trajectory["ball.kicks"]))[0])
    assert trajectory["ball.kicks"].max() == 1
    assert speeds[bounce] < -4
    assert speeds[bounce + 1] == pytest.approx(-speeds[bounce], abs=1e-5)
    assert trajectory["ball.height"][bounce : bounce + 2] == pytest.approx([0.0, 0.0], abs=1e-5)
    assert 0 < trajectory.times[bounce + 1] - trajectory.times[bounce] < 1e-6
    assert np.all(np.diff(trajectory.times) > 0)
    assert np.ptp(trajectory["ball.energy"]) < 1e-8


def test_there_is_one_row_at_an_event_that_changes_nothing_and_two_at_others() -> None:
    cart = Cart()
    system = System(cart)
    system.add_event_handler(ScheduledEventHandler(cart.click, 0.5))
    system.add_event_handler(ScheduledEventHandler(lambda s: None, 0.25))
    trajectory = simulate(system, system.realize_topology(), 1.0)
    times = trajectory.times.tolist()
    assert (times.count(0.25), times.count(0.5)) == (1, 2)
    first = times.index(0.5)
    assert trajectory["cart.clicks"][first - 1 : first + 2].tolist() == [0, 0, 1]


def test_events_at_the_time_of_a_row_are_handled_before_it() -> None:
    cart = Cart()
    system = System(cart)
    system.add_event_handler(PeriodicEventHandler(0.25, cart.click))
    trajectory = simulate(system, system.realize_topology(), 1.0, every=0.5)
    assert trajectory["cart.clicks"].tolist() == [1, 3, 5]
    each = simulate(system, system.realize_topology(), 1.0)
    assert each["cart.clicks"][[0, 1, -2, -1]].tolist() == [0, 1, 4, 5]
    assert each.times[[0, 1, -2, -1]].tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("every", [None, 0.25])
@pytest.mark.parametrize("until", [5.0, math.inf])
def test_a_handler_ends_it(every: float | None, until: float) -> None:
    cart = Cart()
    system = System(cart)
    system.add_event_handler(
        TriggeredEventHandler(
            Stage.POSITION, lambda s: cart.place(s) - 0.6, lambda s: EventAction.TERMINATE
        )
    )
    trajectory = simulate(system, system.realize_topology(), until, every=every, max_step=1.0)
    reason = TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION
    assert trajectory.termination_reason is reason
    assert trajectory.times[-1] == pytest.approx(0.6, abs=1e-3)
    if every:
        assert trajectory.times[:-1].tolist() == [0.0, 0.25, 0.5]


def test_a_simulation_that_takes_no_time_has_its_first_state() -> None:
    cart = Cart()
    system = System(cart)
    system.add_event_handler(PeriodicEventHandler(0.25, cart.click))
    for every in (None, 0.5):
        trajectory = simulate(system, system.realize_topology(), 0.0, every=every)
        assert trajectory["cart.clicks"].tolist()[-1] == 1
        assert set(trajectory.times) == {0.0}


def test_rows_do_not_change_the_steps() -> None:
    system, state = started(Oscillator())
    ends = [simulate(system, state, 3.0, every=every).y[-1] for every in (3.0, 0.01)]
    assert (ends[0] == ends[1]).all()


def test_states_of_the_rows_can_be_integrated_on() -> None:
    system, state = started(Oscillator())
    whole = simulate(system, state, 2.0, accuracy=1e-7, every=1.0)
    rest = simulate(system, whole[1], 2.0, accuracy=1e-7, every=1.0)
    assert rest.times.tolist() == [1.0, 2.0]
    assert rest.y[-1] == pytest.approx(whole.y[-1], abs=1e-6)


def test_rows_can_be_added_to_a_trajectory_which_has_those_until_an_error() -> None:
    cart = Cart()
    system = System(cart)
    is_bad = True

    def kick(state: State) -> None:
        if is_bad:
            raise ValueError("no")

    system.add_event_handler(ScheduledEventHandler(kick, 0.5))
    state = system.realize_topology()
    trajectory = Trajectory(state, record=("cart.speed",))
    with pytest.raises(EventHandlerError):
        simulate(system, state, 1.0, every=0.2, into=trajectory)
    assert trajectory.times.tolist() == [0.0, 0.2, 0.4]
    assert trajectory.termination_reason is None
    is_bad = False
    assert simulate(system, trajectory[-1], 1.0, every=0.3, into=trajectory) is trajectory
    assert trajectory.times.tolist() == [0.0, 0.2, 0.4, 0.4, 0.7, 1.0]
    assert trajectory.record == ("cart.speed",)
    wrong: list[dict[str, Any]] = [
        {"into": []},
        {"into": Trajectory(started(Cart())[1])},
        {"into": trajectory, "record": ("cart.clicks",)},
    ]
    for options in wrong:
        with pytest.raises(StudyError, match=r"simulate\(into=\.\.\.\)"):
            simulate(system, state, 1.0, **options)
    assert len(trajectory) == 6


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Verlet", "Euler", "Radau", "BDF", "LSODA"])
def test_a_trajectory_with_rows_of_steps_can_be_continued_from_its_last_row(method: str) -> None:
    cart = Cart()
    system = System(cart)
    trajectory = simulate(system, system.realize_topology(), 1.0, method=method)
    simulate(system, trajectory[-1], 2.0, method=method, into=trajectory)
    assert trajectory.times[-1] == 2.0
    assert np.count_nonzero(trajectory.times == 1.0) == 2


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"until": 0.25}, OutOfRangeError),
        ({"until": math.nan}, OutOfRangeError),
        ({"until": "soon"}, NotANumberError),
        ({"until": [1.0]}, ShapeError),
        ({"every": 0.0}, OutOfRangeError),
        ({"every": -0.1}, OutOfRangeError),
        ({"every": math.inf}, OutOfRangeError),
        ({"every": math.nan}, OutOfRangeError),
        ({"every": "often"}, NotANumberError),
        ({"every": []}, ShapeError),
        ({"every": [[0.6, 0.7]]}, ShapeError),
        ({"every": ["now", "then"]}, NotANumberError),
        ({"every": [0.6, math.nan]}, OutOfRangeError),
        ({"every": [0.6, 0.6]}, OutOfRangeError),
        ({"every": [0.7, 0.6]}, OutOfRangeError),
        ({"every": [0.4, 0.6]}, OutOfRangeError),
        ({"every": [0.6, 1.1]}, OutOfRangeError),
        ({"method": "RK4"}, UnknownChoiceError),
        ({"accuracy": 0.0}, OutOfRangeError),
        ({"record": ("oscillator.plaice",)}, UnknownPathError),
        ({"state": "state"}, WrongTypeError),
        ({"state": State()}, ForeignStateError),
        ({"system": None}, WrongTypeError),
        ({"max_stepp": 0.1}, UnknownOptionError),
        ({"final_time": 3.0}, UnknownOptionError),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], error: type[Exception]) -> None:
    system, state = started(Oscillator())
    state.time = 0.5
    given: dict[str, Any] = {"system": system, "state": state, "until": 1.0} | options
    with pytest.raises(error):
        simulate(**given)
    assert state.time == 0.5


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("acuracy", "did you mean 'accuracy'?"),
        ("max_stepp", "did you mean 'max_step' or 'min_step' or 'fixed_step'?"),
        ("evry", "did you mean 'every'?"),
        ("final_time", "give the final time as until"),
        *((name, HINT) for name in ("rtol", "atol", "tol", "tolerance")),
        ("colour", "leave it out"),
    ],
)
def test_an_option_that_there_is_not_is_refused_with_a_suggestion(option: str, hint: str) -> None:
    system, state = started(Oscillator())
    given: dict[str, Any] = {option: 0.1}
    with pytest.raises(UnknownOptionError, match=rf"simulate\({option}=\.\.\.\)") as caught:
        simulate(system, state, 1.0, **given)
    assert caught.value.hint == hint


def test_tolerances_of_other_libraries_are_a_type_error_of_the_integrator_too() -> None:
    system, _ = started(Oscillator())
    with pytest.raises(TypeError, match=r"Integrator\(rtol=\.\.\.\)") as caught:
        Integrator(system, rtol=1e-6)
    assert isinstance(caught.value, UnknownOptionError)
    assert caught.value.hint == HINT


@pytest.mark.parametrize("times", [[0.1, 0.35, 2.0], (0, 1), np.array([2.0]), np.arange(0, 2, 0.3)])
def test_rows_are_at_given_times(times: Any) -> None:
    system, state = started(Oscillator())
    trajectory = simulate(system, state, 2.0, every=times, accuracy=1e-8)
    assert trajectory.times.tolist() == list(times)
    every = simulate(system, state, 2.0, every=0.05, accuracy=1e-8)
    for row, time in zip(trajectory.y, trajectory.times, strict=True):
        expected = [np.interp(time, every.times, column) for column in every.y.T]
        np.testing.assert_allclose(row, expected, atol=2e-3)


def test_the_last_row_is_where_a_handler_ends_it_between_given_times() -> None:
    system, state = started(Cart())
    system.add_event_handler(ScheduledEventHandler(lambda _: EventAction.TERMINATE, 0.5))
    state = system.new_state()
    trajectory = simulate(system, state, 2.0, every=[0.25, 1.0, 1.5])
    assert trajectory.times.tolist() == [0.25, 0.5]


def test_what_fails_says_when_and_the_state_stays_as_it_was() -> None:
    class Pole(Subsystem):
        place = q_variable(1.0)

        def realize_velocity(self, state: State) -> None:
            t = state.time
            state[self].upd_qdot()[0] = math.nan if t > 0.5 else 1.0

    system, state = started(Pole())
    with pytest.raises(NotFiniteError, match=r"pole\.place") as caught:
        simulate(system, state, 1.0)
    assert any("t = 0." in note for note in caught.value.__notes__)
    assert state.q.tolist() == [1.0]

    cart = Cart()
    system = System(cart)
    system.add_event_handler(ScheduledEventHandler(lambda s: 1 / 0, 0.5), "kick")  # type: ignore[arg-type, return-value]  # it raises
    with pytest.raises(EventHandlerError, match=r"kick.*at time 0\.5"):
        simulate(system, system.realize_topology(), 1.0)
