"""Columns of a trajectory as functions of the time, against interpolation and search by hand."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    Trajectory,
    cached,
    discrete,
    load_trajectory,
    q_variable,
)
from stagecache.errors import UnknownItemError, UnknownPathError
from tests.profiles import examples


class Ball(Subsystem):
    place = q_variable((0.0, 1.0))
    mode = discrete("rests", invalidates=Stage.REPORT)
    gain = discrete(0.0, invalidates=Stage.REPORT)

    @cached(prerequisites=(place,))
    def height(self, state: State) -> float:
        return float(self.place(state)[1])


def recorded(rows: list[tuple[float, float]]) -> tuple[Ball, Trajectory]:
    ball = Ball()
    state = System(ball).new_state()
    trajectory = Trajectory(state, record=(ball.height,))
    for time, value in rows:
        state.time = time
        ball.place.set(state, (-value, value))
        ball.gain.set(state, value)
        ball.mode.set(state, f"is at {value}")
        trajectory.append(state)
    return ball, trajectory


NUMBERS = st.integers(-5, 5).map(float)


@given(st.lists(st.tuples(st.integers(0, 6).map(float), NUMBERS), min_size=1, max_size=6), NUMBERS)
@examples(100)
def test_floats_are_interpolated_and_values_of_discrete_variables_held(
    rows: list[tuple[float, float]], offset: float
) -> None:
    rows.sort(key=lambda row: row[0])
    ball, trajectory = recorded(rows)
    times, values = np.array([time for time, _ in rows]), [value for _, value in rows]
    for time in (*times, *(times + 0.25), *(times - 0.25), offset):
        row = max(int(np.sum(times <= time)) - 1, 0)  # of two rows at one time, the later one
        expected = values[row]
        if row + 1 < len(rows) and time > times[row]:
            part = (time - times[row]) / (times[row + 1] - times[row])
            expected += part * (values[row + 1] - values[row])
        assert trajectory.curve(ball.height)(time) == pytest.approx(expected)
        assert trajectory.curve("ball.place")(time) == pytest.approx([-expected, expected])
        assert trajectory.curve("ball.place[1]")(time) == pytest.approx(expected)
        assert trajectory.curve(ball.gain)(time) == values[row]
        assert trajectory.curve(ball.mode)(time) == f"is at {values[row]}"


def test_a_curve_is_a_float_and_is_pickled_and_keeps_what_it_had() -> None:
    ball, trajectory = recorded([(0.0, 1.0), (2.0, 3.0)])
    curve = trajectory.curve(ball.height)
    twin = pickle.loads(pickle.dumps(curve))
    assert (type(curve(1.0)), curve(1.0), twin(1.0)) == (float, 2.0, 2.0)
    state = trajectory[-1]
    state.time = 4.0
    ball.place.set(state, (0.0, 9.0))
    trajectory.append(state)
    assert (curve(4.0), trajectory.curve(ball.height)(4.0)) == (3.0, 9.0)
    assert repr(curve) == "ColumnCurve('ball.height', 2 rows)"


def test_a_value_of_a_curve_is_not_a_way_into_it() -> None:
    class Notes(Subsystem):
        place = q_variable((0.0, 1.0))
        note = discrete(factory=lambda _: {"steps": 1}, invalidates=Stage.REPORT)

    notes = Notes()
    trajectory = Trajectory(System(notes).new_state())
    trajectory.append(trajectory.system.new_state())
    place, note = trajectory.curve(notes.place), trajectory.curve(notes.note)
    assert not np.shares_memory(place(0.0), place(0.0))
    note(0.0)["steps"] = 2
    assert note(0.0) == {"steps": 1}


def test_a_stored_trajectory_has_curves(tmp_path: Path) -> None:
    ball, trajectory = recorded([(0.0, 1.0), (2.0, 3.0)])
    trajectory.save(tmp_path / "run.arrow")
    loaded = load_trajectory(tmp_path / "run.arrow", trajectory.system)
    assert loaded.curve(ball.height)(0.5) == 1.5


def test_what_has_no_column_or_no_rows_is_refused() -> None:
    ball, trajectory = recorded([])
    with pytest.raises(UnknownItemError):
        trajectory.curve(ball.height)
    with pytest.raises(UnknownPathError):
        trajectory.curve("ball.nonsense")
