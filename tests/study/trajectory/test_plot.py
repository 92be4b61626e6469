"""Plots of trajectories: what is drawn between rows was computed, and nothing else is."""

import pickle
from typing import Any

import numpy as np
import pytest

from stagecache import (
    Stage,
    State,
    Subsystem,
    cached,
    discrete,
    event_trigger,
    q_variable,
    simulate,
    u_variable,
)
from stagecache.errors import NotANumberError
from stagecache.state.handles import Vector
from stagecache.study.trajectory.trajectory import Trajectory
from tests.study.integrate.test_constraints import Driven
from tests.study.integrating import METHODS, POWERS
from tests.study.models import DoublePendulum, Oscillator, state_of
from tests.study.trajectory.test_trajectory import driven, filled

figure = pytest.importorskip("matplotlib.figure", reason="the extra viz is not installed")


def drawn(trajectory: Trajectory, *paths: Any) -> list[Any]:
    """The lines of a plot."""
    return list(trajectory.plot(*paths, ax=figure.Figure().add_subplot()).get_lines())


def points(line: Any) -> tuple[Vector, Vector]:
    """Those of a line that are finite."""
    x, y = line.get_data()
    return x[np.isfinite(y)], y[np.isfinite(y)]


def are_marks(line: Any, trajectory: Trajectory) -> bool:
    """Whether it shows the rows, and does not connect them."""
    is_alone = line.get_linestyle() == "None" and line.get_markevery() is None
    return bool(is_alone and np.array_equal(line.get_xdata(), trajectory.times))


class Ball(Subsystem):
    """A ball on a floor, from which it bounces with all of its speed."""

    height = q_variable(1.0)
    speed = u_variable(0.0)
    bounces = discrete(0, invalidates=Stage.REPORT)

    @cached(prerequisites=(height,))
    def square(self, state: State) -> float:
        return self.height(state) ** 2

    def realize_velocity(self, state: State) -> None:
        state[self].upd_qdot()[0] = self.speed(state)

    def realize_acceleration(self, state: State) -> None:
        state[self].upd_udot()[0] = -8.0

    @event_trigger(stage=Stage.POSITION, direction="falling")
    def floor(self, state: State) -> float:
        return self.height(state)

    @floor.handler
    def bounce(self, state: State) -> None:
        self.speed.set(state, -self.speed(state))
        self.bounces.set(state, self.bounces(state) + 1)


def bounced(**options: Any) -> Trajectory:
    """It bounces at 0.5 s, 1.5 s and 2.5 s."""
    system, state = state_of(Ball())
    return simulate(system, state, 3.0, accuracy=1e-6, **options)


# ---------------------------------------------------------------------- curves


@pytest.mark.parametrize("method", METHODS)
def test_the_curve_between_rows_is_what_the_method_computed(method: str) -> None:
    """As exact as its rows; between those of DOP853, a straight line is off by 0.3."""
    accuracy = 1e-3 if method == "Euler" else 1e-4
    system, state = state_of(Oscillator())
    trajectory = simulate(system, state, 3.0, method=method, accuracy=accuracy)
    lines = drawn(trajectory, "y")
    bound = 20 * accuracy ** POWERS.get(method, 1.0)
    for number, line in enumerate(lines):
        x, y = points(line)
        assert len(x) > 500
        assert line.get_linestyle() == "-"
        exact = np.array([Oscillator.solution(t)[number] for t in x])
        np.testing.assert_allclose(y, exact, atol=bound)
    assert all(np.isin(trajectory.times, line.get_xdata()).all() for line in lines)


def test_a_ball_that_bounces_does_not_lie_on_the_floor() -> None:
    """Although it is there in most rows."""
    trajectory = bounced()
    assert len(trajectory) < 15
    (line,) = drawn(trajectory)
    x, y = points(line)
    phase = (x + 0.5) % 1.0 - 0.5
    np.testing.assert_allclose(y, 1 - 4 * phase**2, atol=1e-5)
    np.testing.assert_array_less(np.diff(x), 0.01)
    (speed,) = drawn(trajectory, "ball.speed")
    assert np.abs(np.diff(speed.get_ydata())).max() == pytest.approx(8.0, abs=1e-5)  # at once


def test_discrete_variables_are_steps_between_the_rows_of_a_simulation() -> None:
    trajectory = bounced()
    (line,) = drawn(trajectory, "ball.bounces")
    assert line.get_drawstyle() == "steps-post"
    assert line.get_linestyle() == "-"
    x, y = points(line)
    np.testing.assert_allclose(x[1:][np.diff(y) > 0], [0.5, 1.5, 2.5], atol=1e-6)


def test_the_curve_of_prescribed_motion_is_that_motion() -> None:
    system, state = state_of(Driven())
    (line,) = drawn(simulate(system, state, 3.0), "driven.driven")
    x, y = points(line)
    assert len(x) > 500
    np.testing.assert_allclose(y, np.sin(x), atol=1e-5)


class Watched(Oscillator):
    """Events that change nothing cut its steps."""

    @event_trigger(stage=Stage.POSITION)
    def middle(self, state: State) -> float:
        return self.place(state)


def test_a_curve_goes_on_over_events_that_change_nothing() -> None:
    system, state = state_of(Watched())
    trajectory = simulate(system, state, 5.0, accuracy=1e-2)
    (line,) = drawn(trajectory)
    x, y = line.get_data()
    assert np.isfinite(y).all()
    np.testing.assert_allclose(y, np.cos(2 * x), atol=0.02)


def test_one_number_of_a_vector_and_the_whole_have_the_same_curves() -> None:
    system, state = state_of(DoublePendulum())
    trajectory = simulate(system, state, 3.0)
    whole, all_of_y = drawn(trajectory, "double_pendulum.rates"), drawn(trajectory, "y")
    for number in (0, 1):
        (line,) = drawn(trajectory, f"double_pendulum.rates[{number}]")
        for other in (whole[number], all_of_y[2 + number]):
            np.testing.assert_array_equal(line.get_ydata(), other.get_ydata())


# ---------------------------------------------------------------------- marks


def test_rows_of_an_interval_are_marks() -> None:
    """A step of the method, or a bounce, may lie between them."""
    trajectory = bounced(every=0.2)
    for line in drawn(trajectory, "ball.height", "ball.bounces"):
        assert are_marks(line, trajectory)


def test_values_of_recorded_entries_are_marks() -> None:
    trajectory = bounced(record=("ball.square",))
    (line,) = drawn(trajectory, "ball.square")
    assert are_marks(line, trajectory)


def test_rows_between_which_several_steps_were_made_are_marks() -> None:
    system, state = state_of(Oscillator())
    trajectory = simulate(system, state, 3.0, return_every_step=False)
    assert len(trajectory) == 2
    assert are_marks(drawn(trajectory)[0], trajectory)


def test_the_legend_has_declared_units() -> None:
    ax = driven().plot("car.place", "car.speeds[1]", "car.wear", "car.price", "car.place[1]")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        "car.place[0] [m]",
        "car.place[1] [m]",
        "car.speeds[1] [m/s]",
        "car.wear",
        r"car.price [\$]",
        "car.place[1] [m]",
    ]


def test_appended_rows_are_marks_with_a_legend() -> None:
    chain, trajectory = filled(4)
    ax = figure.Figure().add_subplot()
    assert trajectory.plot("chain.angles", chain.clicks, ax=ax) is ax
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["chain.angles[0]", "chain.angles[1]", "chain.clicks"]
    assert ax.get_xlabel() == "time [s]"
    lines = ax.get_lines()
    assert all(are_marks(line, trajectory) for line in lines)
    assert points(lines[1])[1].tolist() == trajectory.y[:, 1].tolist()
    with pytest.raises(NotANumberError, match="plotted"):
        trajectory.plot("chain.mood", ax=ax)
    assert len(ax.get_lines()) == 3


def test_a_simulation_that_goes_on_elsewhere_is_not_connected_with_the_one_before() -> None:
    system, state = state_of(Oscillator())
    trajectory = simulate(system, state, 1.0)
    other = state.copy()
    other.time, other.q = 2.0, [5.0]
    simulate(system, other, 3.0, into=trajectory)
    (line,) = drawn(trajectory)
    x, y = line.get_data()
    assert x[np.isnan(y)].tolist() == [2.0]
    assert line.get_markevery() is None
    assert line.get_linestyle() == "-"


def test_slices_and_pickles_keep_the_curves_between_their_rows() -> None:
    trajectory = bounced()
    (line,) = drawn(pickle.loads(pickle.dumps(trajectory)))
    np.testing.assert_array_equal(line.get_data(), drawn(trajectory)[0].get_data())
    part = trajectory[2:6]
    x, y = points(drawn(part)[0])
    phase = (x + 0.5) % 1.0 - 0.5
    assert (x.min(), x.max()) == (part.times[0], part.times[-1])
    np.testing.assert_allclose(y, 1 - 4 * phase**2, atol=1e-5)
    for some in (trajectory[::2], trajectory[::-1]):
        assert are_marks(drawn(some)[0], some)


def test_all_q_are_drawn_on_a_new_figure_if_nothing_is_named() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="the extra viz is not installed")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, trajectory = filled(3)
    ax = trajectory.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["chain.angles[0]", "chain.angles[1]", "chain.lift", "other.angle"]
    pyplot.close(ax.figure)


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_can_be_drawn(rows: int) -> None:
    _, trajectory = filled(rows)
    assert all(len(line.get_xdata()) == rows for line in drawn(trajectory))
