"""Plots of trajectories: what is drawn between rows was computed, and nothing else is."""

import pickle
from importlib import import_module
from pathlib import Path
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
    load_trajectory,
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

simulation = import_module("stagecache.study.simulate")  # the package has the function
figure = pytest.importorskip("matplotlib.figure", reason="the extra viz is not installed")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine gives the same curves."""
    monkeypatch.setattr("stagecache.study.trajectory.curves.PATIENCE", np.inf)


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


# ---------------------------------------------------------------------- rows at intervals


@pytest.mark.parametrize("every", [0.01, 0.2, 0.7, np.array([0.0, 0.1, 1.4, 2.9])])
def test_between_rows_at_intervals_the_ball_bounces(every: Any) -> None:
    """Also where a row is just before a bounce, and where two bounces lie between rows."""
    trajectory = bounced(every=every)
    line, speed = drawn(trajectory, "ball.height", "ball.speed")
    for shown in (line, speed):
        assert shown.get_linestyle() == "-"
        assert np.isfinite(shown.get_ydata()).all()
    x, y = points(line)
    np.testing.assert_allclose(y, 1 - 4 * ((x + 0.5) % 1.0 - 0.5) ** 2, atol=1e-5)
    x, y = points(speed)
    jumps = x[1:][np.diff(y) > 7]
    np.testing.assert_allclose(jumps, np.arange(0.5, x[-1], 1.0), atol=1e-6)


def test_the_curve_of_prescribed_motion_is_that_motion_between_rows_at_intervals() -> None:
    system, state = state_of(Driven())
    trajectory = simulate(system, state, 3.0, every=0.7)
    x, y = points(drawn(trajectory, "driven.driven")[0])
    assert len(x) > 500
    np.testing.assert_allclose(y, np.sin(x), atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", [Oscillator, DoublePendulum, Ball, Driven])
def test_rows_at_intervals_are_the_same_bit_for_bit_whether_curves_are_kept(
    method: str, model: type[Subsystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for most in (simulation.CURVES_OF_INTERVALS, 0):
        monkeypatch.setattr(simulation, "CURVES_OF_INTERVALS", most)
        system, state = state_of(model())
        trajectory = simulate(system, state, 2.0, method=method, every=0.3, accuracy=1e-2)
        assert most or not any(trajectory._kept.curves)
        found.append((trajectory.times.tolist(), trajectory.y.tolist()))
    assert found[0] == found[1]


def test_curves_of_intervals_take_no_more_memory_than_they_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(simulation, "CURVES_OF_INTERVALS", 1000)
    system, state = state_of(Oscillator())
    trajectory = simulate(system, state, 50.0, every=0.1)
    pieces = {id(p): p for row in trajectory._kept.curves for p in row or ()}
    sizes = [p.y0.nbytes + p.parts.nbytes for p in pieces.values()]
    assert 1000 <= sum(sizes) < 1000 + max(sizes)
    assert trajectory._kept.curves[-1] is None


def test_many_steps_between_two_rows_leave_a_gap_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rows that follow are in one step again."""
    system, state = state_of(Oscillator())
    times = [0.0, 10.0, *np.linspace(10.0, 11.0, 21)[1:]]
    trajectory = simulate(system, state, 11.0, every=times, method="RK45", accuracy=1e-6)
    curves = trajectory._kept.curves
    assert curves[0] is curves[1] is None
    assert all(curves[2:])


def test_discrete_variables_of_rows_at_intervals_are_steps_where_no_step_ends() -> None:
    """Two rows of the same bounce have the same number; when it changed is not kept."""
    trajectory = bounced(every=0.2)
    (line,) = drawn(trajectory, "ball.bounces")
    assert line.get_drawstyle() == "steps-post"
    x, y = line.get_data()
    connected = np.isfinite(y[1:]) & np.isfinite(y[:-1])
    assert connected.any()
    assert (np.diff(y)[connected] == 0.0).all()
    assert set(trajectory.times) <= set(x.tolist())


# ---------------------------------------------------------------------- cubics


def test_rows_of_a_file_are_connected_where_the_model_says_so(tmp_path: Path) -> None:
    """With its System; heights are exact, and the jumps of the speed are there."""
    system, state = state_of(Ball())
    simulate(system, state, 3.0, accuracy=1e-6, into=tmp_path / "ball")
    line, speed = drawn(load_trajectory(tmp_path / "ball", system), "ball.height", "ball.speed")
    x, y = line.get_data()
    assert np.isfinite(y).all()
    np.testing.assert_allclose(y, 1 - 4 * ((x + 0.5) % 1.0 - 0.5) ** 2, atol=1e-5)
    assert np.isfinite(speed.get_ydata()).all()
    assert np.diff(speed.get_ydata()).max() == pytest.approx(8.0, abs=1e-4)


def test_rows_of_a_file_are_marks_without_the_model_and_where_there_are_many(
    tmp_path: Path,
) -> None:
    system, state = state_of(Ball())
    for name, every, model in (("few", 0.1, None), ("many", 0.002, system)):
        simulate(system, state, 3.0, every=every, into=tmp_path / name)
        trajectory = load_trajectory(tmp_path / name, model)
        assert are_marks(drawn(trajectory)[0], trajectory)


@pytest.mark.parametrize("every", [0.01, 0.05, 0.13, 0.2, 0.25, 0.4, 1.0])
def test_a_cubic_is_no_farther_from_the_solution_than_a_line_is_wide(
    every: float, tmp_path: Path
) -> None:
    """Rows of a ball that are a second apart are all the same: what happens between is unknown."""
    system, state = state_of(Ball())
    simulate(system, state, 3.0, every=every, accuracy=1e-8, into=tmp_path / "ball")
    trajectory = load_trajectory(tmp_path / "ball", system)
    line, speed = drawn(trajectory, "ball.height", "ball.speed")
    x, y = points(line)
    np.testing.assert_allclose(y, 1 - 4 * ((x + 0.5) % 1.0 - 0.5) ** 2, atol=0.006)
    x, y = points(speed)
    assert len(x) > 100 or every == 1.0
    phase = (x + 0.5) % 1.0 - 0.5
    near = np.abs(phase) < 0.49  # of a jump
    np.testing.assert_allclose(y[near], -8 * phase[near], atol=0.06)


def test_the_cubic_of_an_oscillator_is_refused_where_rows_are_far_apart() -> None:
    """Half a period apart, a cubic would be off by a third."""
    for every, is_close in ((0.1, True), (0.3, True), (np.pi / 2, False), (np.pi, False)):
        _, state = state_of(Oscillator())
        trajectory = Trajectory(state)
        for t in np.arange(0.0, 10.0, every).tolist():
            state.time, state.y = t, Oscillator.solution(t)
            trajectory.append(state)
        lines = drawn(trajectory, "y")
        for number, line in enumerate(lines):
            x, y = points(line)
            exact = np.array([Oscillator.solution(t)[number] for t in x])
            np.testing.assert_allclose(y, exact, atol=0.012 * 2)
            assert bool(np.isfinite(line.get_ydata()).all() and len(x) > 500) is is_close


def test_a_slow_model_is_not_asked_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stagecache.study.trajectory.curves.PATIENCE", 0.0)
    _, state = state_of(Oscillator())
    trajectory = Trajectory(state)
    for t in (0.0, 0.1, 0.2):
        state.time, state.y = t, Oscillator.solution(t)
        trajectory.append(state)
    assert are_marks(drawn(trajectory)[0], trajectory)


def test_a_model_that_cannot_move_is_drawn_as_marks() -> None:
    class Still(Subsystem):
        angle = q_variable(0.0)
        rate = u_variable(0.0)

        def realize_acceleration(self, state: State) -> None:
            raise ValueError("no forces")

    _, state = state_of(still := Still())
    trajectory = Trajectory(state)
    for t in (0.0, 0.1, 0.2):
        state.time = t
        still.angle.set(state, t)
        trajectory.append(state)
    assert are_marks(drawn(trajectory)[0], trajectory)


# ---------------------------------------------------------------------- marks


def test_values_of_recorded_entries_are_marks() -> None:
    trajectory = bounced(record=("ball.square",))
    (line,) = drawn(trajectory, "ball.square")
    assert are_marks(line, trajectory)


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
    assert trajectory[::2]._kept.curves == [None] * len(trajectory[::2])
    assert are_marks(drawn(trajectory[::-1])[0], trajectory[::-1])


def test_all_q_are_drawn_on_a_new_figure_if_nothing_is_named() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="the extra viz is not installed")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, trajectory = filled(3)
    ax = trajectory.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["chain.angles[0]", "chain.angles[1]", "chain.lift", "other.angle"]
    pyplot.close(ax.figure)


@pytest.mark.parametrize("options", [{}, {"every": 0.25}])
def test_any_two_rows_can_be_drawn_also_those_of_one_time(options: dict[str, Any]) -> None:
    trajectory = bounced(**options)
    for row in range(len(trajectory) - 1):
        some = trajectory[row : row + 2]
        x, y = points(drawn(some)[0])
        assert [x.min(), x.max()] == some.times.tolist()
        np.testing.assert_allclose(y, 1 - 4 * ((x + 0.5) % 1.0 - 0.5) ** 2, atol=1e-5)


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_can_be_drawn(rows: int) -> None:
    _, trajectory = filled(rows)
    assert all(len(line.get_xdata()) == rows for line in drawn(trajectory))


# ---------------------------------------------------------------------- axes and legend


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
    assert ax.get_ylabel() == r"[m], [m/s], [\$]"  # too many names


def test_a_single_column_is_named_on_the_axis_and_several_are_in_a_legend_beside_it() -> None:
    trajectory = driven()
    ax = figure.Figure().add_subplot()
    trajectory.plot("car.speeds[1]", ax=ax)
    assert ax.get_ylabel() == "car.speeds[1] [m/s]"
    assert ax.get_legend() is None
    trajectory.plot("car.place", ax=ax)
    assert ax.get_ylabel() == "speeds [m/s], place [m]"
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    assert legend.get_texts()[0].get_text() == "car.speeds[1] [m/s]"
    assert legend.get_window_extent().x0 >= ax.get_window_extent().x1
    trajectory.plot("car.place", ax=ax)
    assert ax.get_ylabel() == "speeds [m/s], place [m]"


def test_a_name_that_somebody_gave_to_the_axis_of_values_stays() -> None:
    trajectory = driven()
    ax = figure.Figure().add_subplot()
    trajectory.plot("car.place", ax=ax)
    assert ax.get_ylabel() == "place [m]"
    ax.set_ylabel("metres")
    trajectory.plot("car.speeds[0]", ax=ax)
    assert ax.get_ylabel() == "metres"


def test_all_of_a_new_figure_is_on_it() -> None:
    """Also a legend of long names."""
    import_module("matplotlib").use("agg")
    pyplot = import_module("matplotlib.pyplot")
    ax = driven().plot("car.place", "car.speeds[0]", "car.wear")
    ax.figure.draw_without_rendering()
    there, whole = ax.figure.get_tightbbox().padded(0.0), ax.figure.bbox_inches
    assert whole.x0 <= there.x0 < there.x1 <= whole.x1
    assert whole.y0 <= there.y0 < there.y1 <= whole.y1
    pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("until", "label", "ticks"),
    [
        (120.0, "time [s]", ["0", "20", "40", "60", "80", "100", "120"]),
        (3600.0, "time [min]", ["0", "10", "20", "30", "40", "50", "60"]),
        (86400.0, "time [h]", ["0", "3", "6", "9", "12", "15", "18", "21", "24"]),
        (864000.0, "time [d]", ["0", "2", "4", "6", "8", "10"]),
    ],
)
def test_times_are_shown_in_the_unit_that_fits_and_stay_in_seconds(
    until: float, label: str, ticks: list[str]
) -> None:
    _, state = state_of(still := Oscillator())
    trajectory = Trajectory(state)
    for state.time in (0.0, until):
        trajectory.append(state)
    ax = figure.Figure(figsize=(7, 3.5)).add_subplot()
    trajectory.plot(still.place, ax=ax)
    assert ax.get_xlabel() == label
    ax.figure.draw_without_rendering()
    low, high = ax.get_xlim()
    shown = [t for t in ax.get_xticklabels() if low <= t.get_position()[0] <= high]
    assert [text.get_text() for text in shown] == ticks
    assert ax.lines[0].get_xdata().tolist() == [0.0, until]


def test_truth_values_are_written_as_such() -> None:
    class Switch(Subsystem):
        is_on = discrete(False, invalidates=Stage.REPORT)

    system, state = state_of(switch := Switch())
    trajectory = simulate(system, state, 1.0)
    ax = figure.Figure().add_subplot()
    trajectory.plot(switch.is_on, ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["False", "True"]
